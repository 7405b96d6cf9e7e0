"""A recording as solids in space, for pictures that have a camera: triangles with colours, what carries them, and where the
ground lies.

What stands for a body are its visuals; without any its colliders and its shape; without these a dot, unless others have
visuals: then it is a frame between links.
"""

from dataclasses import dataclass

import numpy as np

from linkwork.elements.shapes.sphere import Sphere
from linkwork.viz.facets import meshed
from linkwork.viz.ground import floor_height
from linkwork.viz.plot import STONE
from linkwork.viz.views import choose_view, colours, pose, rotations, spread

GROUND = -1
DETAIL = ((20, 40), (60, 28), (400, 20), (np.inf, 12))  # most bodies, facets around a round solid
DOT = 0.018  # radius of a body without a shape, part of the size of the motion
LIGHTER = 0.3  # by which every other field of a round solid is nearer to white
CREASE = np.cos(np.radians(35))  # facets that meet at more than this have an edge between them
LOOKED_AT = 200  # frames by which the bounds are found
FIELD = 34.0  # degrees that the camera sees, upright
AROUND = 1.12  # by which it stands farther off than it must
MOST_POINTS = 2000  # of one frame by which it is placed
MARGIN = 0.35  # of the ground around all that moves, part of the size


@dataclass(frozen=True)
class Surface:
    """Triangles; vertices are apart where an edge is sharp, so that normals at vertices look right."""

    vertices: np.ndarray  # (v, 3) m
    triangles: np.ndarray  # (t, 3)
    normals: np.ndarray  # (v, 3)


@dataclass(frozen=True)
class Solid:
    """A Surface of one colour, and what carries it."""

    name: str
    body: int  # in rec.bodies, or GROUND
    surface: Surface
    position: np.ndarray  # (3,) m, in the frame of the body
    turn: np.ndarray  # (3, 3), likewise
    colour: np.ndarray  # (4,): red, green, blue, opacity
    hidden: bool = False  # stands behind visuals, to be shown when asked for

    def of_body(self):
        """(v, 3) m: its vertices in the frame of the body."""
        return self.surface.vertices @ self.turn.T + self.position


class Stage:
    """The solids of a recording, lines between what is linked, and the bounds of all that happens."""

    def __init__(self, rec):
        self.rec = rec = spread(rec)
        frames = np.unique(np.linspace(0, len(rec) - 1, LOOKED_AT).round().astype(int))
        self.seen = [pose(rec, k) for k in frames]
        places = np.array([x for x, _ in self.seen]).reshape(-1, 3)
        places = places[np.isfinite(places).all(axis=1)]
        self.extent = max(float(np.ptp(places, axis=0).max()) if len(places) else 0.0, 1e-3)
        self._surfaces: dict = {}
        self.solids = self._solids()
        self._bound()
        self.solids += self._ground()
        self._link()

    def pose(self, frame):
        """Positions (n, 3) and frames (n, 3, 3) of the bodies, NaN of those that are not there."""
        return pose(self.rec, frame)

    def _solids(self):
        """What moves, and the ground's own that has bounds."""
        rec = self.rec
        place = {name: k for k, name in enumerate(rec.bodies)} | {None: GROUND}
        own, stone = colours(len(rec.bodies)), rgb(STONE)
        dressed = {place[body] for _, body, *_ in rec.visuals}
        bare = set() if rec.visuals else {*range(len(rec.bodies))} - {place[body] for _, body, *_ in rec.colliders}
        self.dots = {k for k in bare if rec.shapes[rec.bodies[k]] is None}
        found = []
        for name, body, shape, position, q, colour in rec.visuals:
            k = place[body]
            if not shape.bounded:
                continue
            fill = (*(own[k] if k != GROUND else stone), 1.0) if colour is None else colour
            found += self._pieces(name, k, shape, position, q, fill, plain=colour is not None)
        for name, body, shape, position, q in rec.colliders:
            k = place[body]
            if shape.bounded:
                fill = (*(own[k] if k != GROUND else stone), 1.0)
                hidden = k != GROUND and k in dressed
                found += self._pieces(name, k, shape, position, q, fill, plain=k == GROUND, hidden=hidden)
        for k, name in enumerate(rec.bodies):
            shape = Sphere(DOT * self.extent) if k in self.dots else rec.shapes[name]
            if shape is not None:
                found += self._pieces(name, k, shape, (0, 0, 0), (1, 0, 0, 0), (*own[k], 1.0), hidden=k in dressed)
        return found

    def _pieces(self, name, body, shape, position, q, colour, *, plain=False, hidden=False):
        """The Solids of a shape: a round one has fields of two tones, which show that it turns, unless it is plain."""
        turn, position, colour = rotations(np.array(q, float)), np.array(position, float), np.array(colour, float)
        detail = next(d for most, d in DETAIL if len(self.rec.bodies) <= most)
        if (shape, plain) not in self._surfaces:
            self._surfaces[shape, plain] = surfaces(shape, detail, toned=not plain)
        light = colour + np.array([*(LIGHTER * (1 - colour[:3])), 0.0])
        return [
            Solid(name if k == 0 else f"{name} (light)", body, surface, position, turn, light if k else colour, hidden)
            for k, surface in enumerate(self._surfaces[shape, plain])
        ]

    def _bound(self):
        """low, high (3,), m: around all that ever happens; size: of the longest side."""
        low, high, seen = [], [], []
        boxes = [(s.body, _corners(s.of_body())) for s in self.solids if not s.hidden]
        body = np.array([b for b, _ in boxes], int)
        local = np.array([corners for _, corners in boxes]).reshape(-1, 8, 3)
        fixed = local[body == GROUND].reshape(-1, 3)
        for x, F in self.seen:
            moving = body != GROUND
            points = np.einsum("sij,scj->sci", F[body[moving]], local[moving]) + x[body[moving], None]
            points = points.reshape(-1, 3)
            points = points[np.isfinite(points).all(axis=1)]
            if len(points):
                low.append(points.min(axis=0))
                high.append(points.max(axis=0))
                seen.append(points[:: 1 + len(points) // MOST_POINTS])
        moved = bool(low)
        ends = [p for _, a, p, b, q in self.rec.links for body, p in ((a, p), (b, q)) if body is None]
        around = np.array([*low, *high, *ends]).reshape(-1, 3)
        if not moved and len(fixed):
            around = np.concatenate([around, fixed])
        around = around if len(around) else np.array([[-1.0, -1, -1], [1, 1, 1]])
        self.low, self.high = around.min(axis=0), around.max(axis=0)
        height = floor_height(self._placed())
        self.size = max(float((self.high - self.low).max()), 1e-6)
        self.rests = height is not None and self.low[2] - self.size < height < self.high[2]
        if self.rests:
            self.low[2] = height
            self.size = max(float((self.high - self.low).max()), 1e-6)
        near = np.clip(fixed, self.low - self.size, self.high + self.size)  # what stands still may be as large as a landscape
        self.points = np.concatenate([*seen, near if len(near) or moved else around])
        self.floor = float(self.low[2]) if self.rests else float(self.low[2] - 0.03 * self.size)  # m

    def _ground(self):
        """Planes that lean, as large as what moves before them."""
        found, middle, stone = [], (self.low + self.high) / 2, (*rgb(STONE), 1.0)
        for name, body, shape, position, q in self._placed():
            turn, position = rotations(np.array(q)), np.array(position)
            if body is None and not shape.bounded and not abs(turn[2, 2]) > 1 - 1e-9:
                across = middle - position
                near = position + across - turn[:, 2] * (turn[:, 2] @ across)
                half = 0.75 * self.size
                square = np.array([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)])
                up = np.tile([0.0, 0, 1], (4, 1))
                surface = Surface(square, np.array([(0, 1, 2), (0, 2, 3)]), up)
                found.append(Solid(name, GROUND, surface, near, turn, np.array(stone)))
        return found

    def _placed(self):
        """Colliders and visuals alike: name, body, shape, position, orientation."""
        return [*self.rec.colliders, *(visual[:5] for visual in self.rec.visuals)]

    def _link(self):
        """Lines: from dots to their anchors, and between the two anchors of each link."""
        place = {name: k for k, name in enumerate(self.rec.bodies)} | {None: GROUND}
        ends = []
        for _, a, p, b, q in self.rec.links:
            a, b = place[a], place[b]
            for body, local in ((a, p), (b, q)):
                if body in self.dots and np.any(local):
                    ends.append(((body, (0.0, 0, 0)), (body, local)))
            ends.append(((a, p), (b, q)))
        self.line_bodies = np.array([[body for body, _ in line] for line in ends], int).reshape(-1, 2)
        self.line_locals = np.array([[local for _, local in line] for line in ends], float).reshape(-1, 2, 3)

    def lines(self, frame):
        """(l, 2, 3), m: the lines in a frame; NaN where a body is not there."""
        x, F = self.pose(frame)
        if not len(x):
            return self.line_locals.copy()
        moved = np.einsum("leij,lej->lei", F[self.line_bodies], self.line_locals) + x[self.line_bodies]
        return np.where((self.line_bodies == GROUND)[..., None], self.line_locals, moved)

    def camera(self, wide=1.0):
        """Eye, point looked at and up (3,), m: all that ever happens is in a picture `wide` times as wide as high."""
        kept = [(x, F) for x, F in self.seen if np.isfinite(x).all()]
        still = [(np.zeros((len(self.rec.bodies), 3)), np.tile(np.eye(3), (len(self.rec.bodies), 1, 1)))]
        view, flat = choose_view(*(np.array(values) for values in zip(*(kept or still), strict=True)))
        towards = view[2]
        if flat and abs(towards[2]) < 0.9:  # a little from above and from the side, so that the ground shows
            towards = towards + np.array([0, 0, 0.3]) + 0.25 * view[0]
        towards = towards / np.linalg.norm(towards)
        up = np.array([0.0, 0, 1]) if abs(towards[2]) < 0.99 else np.array([0.0, 1, 0])
        right = np.cross(up, towards) / np.linalg.norm(np.cross(up, towards))
        over, slope = np.cross(towards, right), np.tan(np.radians(FIELD / 2)) / AROUND
        depth, across, upright = (self.points @ axis for axis in (towards, right, over))
        ends = [((p + k * depth).max(), (-p + k * depth).max(), k) for p, k in ((across, wide * slope), (upright, slope))]
        far = max((one + other) / (2 * k) for one, other, k in ends)  # where the picture's sides touch the outermost points
        aside, above = ((one - other) / 2 for one, other, _ in ends)
        eye = aside * right + above * over + max(far, depth.max() + 1e-6) * towards
        return eye, eye - (eye @ towards - (depth.max() + depth.min()) / 2) * towards, up

    @property
    def floor_rim(self):
        """((x, y), (x, y)), m: two corners of the ground that is shown."""
        rim = MARGIN * self.size
        return self.low[:2] - rim, self.high[:2] + rim


def surfaces(shape, detail, toned=True):
    """One Surface of a shape, or two: its darker and its lighter fields."""
    drawn = shape.facets(detail)
    if not drawn.closed:
        return [smooth(drawn.vertices, drawn.faces[:, :3])]
    found = meshed(drawn)
    halves = np.concatenate([found.faces[:, (0, 1, 2)], found.faces[:, (0, 2, 3)]])
    tone = np.tile(found.tone, 2)
    whole = (halves[:, 0] != halves[:, 1]) & (halves[:, 1] != halves[:, 2]) & (halves[:, 2] != halves[:, 0])
    all_of_it = smooth(found.vertices, halves[whole])
    tone = tone[whole] if toned else np.zeros(whole.sum(), int)
    return [_part(all_of_it, tone == k) for k in np.unique(tone)]


def smooth(vertices, triangles):
    """A Surface whose vertices are shared by the triangles around them as far as no edge between these is sharp."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    flat = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    _, same = np.unique(np.round(vertices / max(np.abs(vertices).max(), 1e-300), 7), axis=0, return_inverse=True)
    corner = same.reshape(-1)[triangles]  # (t, 3): vertices at one place are one
    count = len(triangles)
    sides = np.concatenate([corner[:, (0, 1)], corner[:, (1, 2)], corner[:, (2, 0)]])
    ends = np.concatenate([np.arange(count) * 3 + k for k in range(3)])  # where a side begins, as a corner of all 3 t
    others = np.concatenate([np.arange(count) * 3 + (k + 1) % 3 for k in range(3)])
    order = np.lexsort((sides.max(axis=1), sides.min(axis=1)))
    here, there = order[:-1], order[1:]
    joined = (np.sort(sides[here], axis=1) == np.sort(sides[there], axis=1)).all(axis=1)
    joined &= np.einsum("ij,ij->i", flat[here % count], flat[there % count]) > CREASE
    here, there = here[joined], there[joined]
    turned = sides[here, 0] != sides[there, 0]
    pairs = np.concatenate([
        np.stack([ends[here], np.where(turned, others[there], ends[there])]),
        np.stack([others[here], np.where(turned, ends[there], others[there])]),
    ], axis=1)  # fmt: skip
    graph = coo_array((np.ones(pairs.shape[1]), pairs), shape=(3 * count, 3 * count))
    _, of_corner = connected_components(graph, directed=False)
    _, first, of_corner = np.unique(of_corner, return_index=True, return_inverse=True)
    normals = np.zeros((len(first), 3))
    np.add.at(normals, of_corner.reshape(-1), np.repeat(across, 3, axis=0))  # weighed by area
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return Surface(vertices[triangles.reshape(-1)[first]], of_corner.reshape(-1, 3), normals)


def _part(surface, kept):
    """Some triangles of a Surface, with its normals."""
    used, triangles = np.unique(surface.triangles[kept], return_inverse=True)
    return Surface(surface.vertices[used], triangles.reshape(-1, 3), surface.normals[used])


def _corners(points):
    """(8, 3): of the box around points."""
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def rgb(colour):
    """(3,): red, green, blue of a colour's name or number."""
    from matplotlib.colors import to_rgb

    return to_rgb(colour)
