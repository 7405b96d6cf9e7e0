"""Replay pages: a recording as one HTML file that any browser plays, without a server and without a network.

viser's client, which is one file, and its serialised scene are in it. Solids of one surface are one node with an instance for
each body, so that a frame is a few arrays, whatever the number of bodies; of bodies that stretch the vertices are sent.
"""

import contextlib
import io
import itertools

import numpy as np

from linkwork.errors import LinkworkError, printable
from linkwork.viz.plot import INK, slow, step
from linkwork.viz.scene import FIELD, GROUND, Stage, rgb

MOST_FRAMES = 1800
MOST_NUMBERS = 6_000_000  # of all frames, 4 bytes each before they are compressed
STRETCHED = 1e-6  # how much a frame may differ from a rotation
FLOOR, GRID = (236, 233, 226), (214, 209, 199)


def page(rec, path, title):
    """Write the page of a recording."""
    try:
        import viser
    except ImportError:
        raise LinkworkError('replay: pages are made by viser; install it with pip install "linkwork[studio]"') from None
    with _server(viser) as server:
        html = _played(rec, server).as_html()
    path.write_text(html.replace("<title>Viser</title>", f"<title>{_escaped(title)}</title>"), encoding="utf-8")


@contextlib.contextmanager
def _server(viser):
    """One that nobody connects to: it only serialises. It listens at this machine's own address for that moment, and what it
    prints of that goes nowhere."""
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", verbose=False)
        try:
            yield server
        finally:
            server.stop()


def _played(rec, server):
    """The serialiser of the whole scene in motion."""
    stage = Stage(rec)
    _set(server, stage)
    players = [*_solids(server.scene, stage), *_lines(server.scene, stage)]
    frames = _frames(rec, sum(player.numbers for player in players))
    first = frames[0]
    poses = stage.pose(first)
    for player in players:
        player.show(first, *poses)
    serializer = server.get_scene_serializer()
    for before, frame in slow(list(itertools.pairwise(frames)), "replay"):
        serializer.insert_sleep(float(rec.time[frame] - rec.time[before]))
        poses = stage.pose(frame)
        for player in players:
            player.show(frame, *poses)
    return serializer


def _frames(rec, numbers):
    """Which frames are in the page: all, or as many, equally far apart, as keep it small."""
    most = int(max(2, min(MOST_FRAMES, MOST_NUMBERS // max(numbers, 1))))
    return np.unique(np.linspace(0, len(rec) - 1, min(most, len(rec))).round().astype(int))


def _set(server, stage):
    """Light, ground and camera."""
    scene, (low, high) = server.scene, stage.floor_rim
    scene.set_up_direction("+z")
    middle, extent = (low + high) / 2, high - low
    tile = step(0.2 * stage.size)
    scene.add_grid("/grid", *np.ceil(extent / tile) * tile, cell_size=tile, section_size=tile, cell_color=GRID,
                   section_color=GRID, plane_color=FLOOR, plane_opacity=1.0, position=(*middle, stage.floor),
                   shadow_opacity=0.3)  # fmt: skip
    eye, target, up = stage.camera()
    server.initial_camera.up_direction = up
    server.initial_camera.look_at = target
    server.initial_camera.position = eye
    server.initial_camera.fov = float(np.radians(FIELD))


class _Instances:
    """Solids of one surface on rigid bodies: one node of the scene, moved by two arrays a frame."""

    def __init__(self, scene, name, solids):
        self.body = np.array([s.body for s in solids])
        self.position, self.turn = np.array([s.position for s in solids]), np.array([s.turn for s in solids])
        self.numbers = 7 * len(solids) if (self.body != GROUND).any() else 0
        surface, alpha = solids[0].surface, float(solids[0].colour[3])
        still = np.tile([1.0, 0, 0, 0], (len(solids), 1)), np.zeros((len(solids), 3))
        self.handle = scene.add_batched_meshes_simple(
            name, surface.vertices, surface.triangles, *still, batched_scales=np.ones(len(solids)), lod="off",
            batched_colors=_bytes([s.colour[:3] for s in solids]), opacity=None if alpha == 1 else alpha, side="double",
            visible=not solids[0].hidden)  # fmt: skip
        self.there = np.ones(len(solids), bool)
        if not self.numbers:
            self._place(np.zeros((len(solids), 3)), np.tile(np.eye(3), (len(solids), 1, 1)))

    def show(self, frame, x, F):
        if self.numbers:
            fixed = (self.body == GROUND)[:, None]
            self._place(np.where(fixed, 0.0, x[self.body]), np.where(fixed[..., None], np.eye(3), F[self.body]))

    def _place(self, x, F):
        there = np.isfinite(x).all(axis=1)
        x, F = np.where(there[:, None], x, 0.0), np.where(there[:, None, None], F, np.eye(3))
        self.handle.batched_positions = (np.einsum("nij,nj->ni", F, self.position) + x).astype(np.float32)
        self.handle.batched_wxyzs = quaternions(F @ self.turn).astype(np.float32)
        if (there != self.there).any():
            self.there, self.handle.batched_scales = there, there.astype(np.float32)


class _Stretching:
    """A solid on a body that stretches: its vertices, each frame anew."""

    def __init__(self, scene, name, solid):
        self.solid, self.local = solid, solid.of_body()
        self.numbers = self.local.size
        alpha = float(solid.colour[3])
        self.handle = scene.add_mesh_simple(name, self.local, solid.surface.triangles, color=tuple(_bytes(solid.colour[:3])),
                                            opacity=None if alpha == 1 else alpha, side="double",
                                            visible=not solid.hidden)  # fmt: skip

    def show(self, frame, x, F):
        where = self.local @ F[self.solid.body].T + x[self.solid.body]
        self.handle.vertices = np.nan_to_num(where).astype(np.float32)  # all in one point where it is not there


class _Lines:
    """What links bodies, as lines."""

    def __init__(self, scene, stage):
        self.stage, self.numbers = stage, 6 * len(stage.line_bodies)
        blank = np.zeros((len(stage.line_bodies), 2, 3))
        self.handle = scene.add_line_segments("/links", blank, _bytes(rgb(INK)), thickness=0.006 * stage.size)

    def show(self, frame, x, F):
        self.handle.points = np.nan_to_num(self.stage.lines(frame)).astype(np.float32)


def _solids(scene, stage):
    """Those who show the solids: one for each surface, opacity and folder, and one for each that stretches."""
    stretching = _stretching(stage)
    groups: dict = {}
    for solid in stage.solids:
        if solid.body in stretching:
            groups[id(solid)] = [solid]
        else:
            groups.setdefault((id(solid.surface), float(solid.colour[3]), solid.hidden), []).append(solid)
    found = []
    for k, solids in enumerate(groups.values()):
        folder = "colliders" if solids[0].hidden else "ground" if all(s.body == GROUND for s in solids) else "bodies"
        more = f" and {len(solids) - 1} more" if len(solids) > 1 else ""
        name = f"/{folder}/{k} {printable(solids[0].name).replace('/', ' ')}{more}"
        one = solids[0].body in stretching
        found.append(_Stretching(scene, name, solids[0]) if one else _Instances(scene, name, solids))
    return found


def _lines(scene, stage):
    return [_Lines(scene, stage)] if len(stage.line_bodies) else []


def _stretching(stage):
    """The bodies whose frame is ever no rotation."""
    frame = stage.rec.frame
    if frame is None:
        return set()
    off = np.abs(np.einsum("tnij,tnik->tnjk", frame, frame) - np.eye(3)).max(axis=(0, 2, 3))
    return set(np.flatnonzero(~(off < STRETCHED)).tolist())


def quaternions(R):
    """(n, 4), w x y z, of rotations (n, 3, 3): the largest component is found first, so none is lost to rounding.

    >>> quaternions(np.eye(3)[None]).tolist()
    [[1.0, 0.0, 0.0, 0.0]]
    """
    xx, yy, zz = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=1)  # 4 w^2, ...
    a, b, c = R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]  # 4 w x, 4 w y, 4 w z
    d, e, f = R[:, 0, 1] + R[:, 1, 0], R[:, 0, 2] + R[:, 2, 0], R[:, 1, 2] + R[:, 2, 1]  # 4 x y, 4 x z, 4 y z
    rows = np.stack([squares[:, 0], a, b, c, a, squares[:, 1], d, e, b, d, squares[:, 2], f, c, e, f, squares[:, 3]], axis=1)
    found = rows.reshape(-1, 4, 4)[np.arange(len(R)), squares.argmax(axis=1)]
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def _bytes(colour):
    return np.round(255 * np.asarray(colour)).astype(np.uint8)


def _escaped(text):
    from html import escape

    return escape(printable(text))
