"""Pictures of a recorded motion: solids as shaded facets, links as thin lines, in one plain matplotlib axes.

Every solid that moves is convex, so a picture is one pass over all bodies at once: move the vertices, turn them into the view
(right, up, towards the eye), leave out the facets that look away, and paint the rest from far to near. The view is
parallel. A motion that stays in one plane is seen straight on, with a scale; any other from above, with a floor.
"""

import itertools
import time

import numpy as np

from linkwork.elements.shapes.sphere import Sphere
from linkwork.viz.facets import join, mesh, moved, normals
from linkwork.viz.ground import INSIDE, floor_height, standing
from linkwork.viz.views import LOST, choose_view, colours, extent, pose, rotations, spread

PAPER, FLOOR, GRID, SHADOW, INK, PALE_INK = "#fbfaf7", "#f3f1ec", "#e2dfd7", "#dedad1", "#3f434a", "#8b8d90"
STONE = "#cfc9bd"
LIGHT = np.array([-0.42, 0.66, 0.62])  # in the view: from the left, above, in front
SLOW = 2.0  # s, before a progress bar appears
POSES = 6  # in a still
AROUND = 0.3  # part of the picture's size by which the ground is shown around bodies


class Scene:
    """A recording set up for drawing on one canvas of (width, height) pixels.

    rec: a Recording; frames: indexes (F,) of all frames that will be drawn; trace: names of bodies and frames to draw paths of.
    """

    def __init__(self, rec, frames, size, trace=()):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.rec = spread(rec)
        self.paths = [_path(self.rec, name) for name in trace]
        self.layer = itertools.count(1)  # what comes later lies above
        figure = Figure(figsize=(size[0] / 100, size[1] / 100), dpi=100, facecolor=PAPER)
        self.canvas = FigureCanvasAgg(figure)
        self.axes = figure.add_axes((0, 0, 1, 1), facecolor=PAPER)
        self._look(np.unique(frames))
        self._build()
        self._frame(np.array(size))
        self._draw_scale() if self.flat else self._draw_floor()
        for thing in self.standing:
            self._draw_standing(thing)
        self._draw_supports()
        self.canvas.draw()
        self.paper = self.canvas.copy_from_bbox(figure.bbox)  # what never changes is drawn once

    def draw(self, frames):
        """An RGB image of one frame, or of several over each other, the earlier ones paler."""
        from PIL import Image

        self.canvas.restore_region(self.paper)
        self._draw_traces(frames[-1])
        poses = [pose(self.rec, index) for index in frames]
        fades = [0.75 * (1 - k / (len(frames) - 1)) for k in range(len(frames) - 1)] + [0.0]
        if not self.flat and not self.standing:
            self._draw_shadow(*poses[-1])
        hidden = [self._hidden(*one) for one in poses]
        for k in range(min(h.min(initial=len(self.standing)) for h in hidden), len(self.standing) + 1):
            for one, fade, hider in zip(poses, fades, hidden, strict=True):
                self._draw_pose(one, fade, hider == k)
            if k < len(self.standing):
                self._draw_standing(self.standing[k], self._put)
        times = f"{self.rec.time[frames[0]]:.2f} to " if len(frames) > 1 else ""
        self._put(self._text(0.025, 0.965, f"{times}{self.rec.time[frames[-1]]:.2f} s", INK, va="top"))
        return Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3].copy())

    def _look(self, frames):
        """Choose the view by the frames, at most 200 of them, in which no body is lost."""
        poses = [pose(self.rec, i) for i in frames[:: 1 + len(frames) // 200]]
        n = len(self.rec.bodies)
        kept = [p for p in poses if np.isfinite(p[0]).all()] or [(np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)))]
        self.x, self.F = np.stack([p[0] for p in kept]), np.stack([p[1] for p in kept])
        self.view, self.flat = choose_view(self.x, self.F)

    def _build(self):
        """The mesh of all bodies, their colours, and the links as arrays."""
        from matplotlib.colors import to_rgb

        names, shapes = self.rec.bodies, [self.rec.shapes.get(name) for name in self.rec.bodies]
        detail = next(d for most, d in ((20, 24), (60, 16), (400, 12), (np.inf, 8)) if len(names) <= most)
        dot = Sphere(0.018 * max(extent(self.x), 1e-3))
        place = {name: i for i, name in enumerate(names)}
        self.colour = colours(len(names))
        seen = [(place[body], shape.painted(), at, q, colour) for _, body, shape, at, q, colour in self.rec.visuals if body]
        seen = [solid for solid in seen if solid[1] is not None]
        dressed = {body for body, *_ in seen}
        solids = [(place[body], shape, at, q, None) for _, body, shape, at, q in self.rec.colliders if body is not None]
        bare = {*range(len(names))} - {body for body, *_ in solids}
        still = (0.0,) * 3, (1.0, 0.0, 0.0, 0.0)
        solids += [(i, shape or dot, *still, None) for i, shape in enumerate(shapes) if shape or i in bare]
        solids = sorted([*seen, *(solid for solid in solids if solid[0] not in dressed)], key=lambda solid: solid[0])
        known = {shape: mesh(shape, detail) for shape in {shape for _, shape, *_ in solids}}
        pieces = [moved(known[shape], rotations(np.array(q)), np.array(at)) for _, shape, at, q, _ in solids]
        self.mesh, of_vertex, of_face = join(pieces or [mesh(None)])
        body = np.array([body for body, *_ in solids], int)
        fill = [self.colour[body] if colour is None else np.array(colour[:3]) for body, *_, colour in solids]
        self.of_vertex, self.of_face = body[of_vertex], body[of_face]
        self.fill = np.array(fill).reshape(-1, 3)[of_face]  # (M, 3): of faces
        self.starts = np.searchsorted(self.of_vertex, np.arange(len(names)))
        self.line = 0.8 if len(names) <= 30 else 0.5  # points
        self.ink, self.blank, self.stone = (np.array(to_rgb(colour)) for colour in (INK, PAPER, STONE))
        self.end = np.array([(place.get(a, -1), place.get(b, -1)) for _, a, _, b, _ in self.rec.links], int).reshape(-1, 2)
        self.local = np.array([(p, q) for _, _, p, _, q in self.rec.links], float).reshape(-1, 2, 3)

    def _frame(self, pixels):
        """The bounds of all that ever happens, and limits of the axes that show it, as wide as high."""
        ground = self.local[self.end < 0]
        low, high = [], []  # (frames, 6): in the world and in the view
        for x, F in zip(self.x, self.F, strict=True):
            points = np.concatenate([self._world(x, F), ground])
            points = points if len(points) else np.array([[-1.0, -1, -1], [1, 1, 1]])
            both = np.concatenate([points, points @ self.view.T], axis=1)
            low.append(both.min(axis=0))
            high.append(both.max(axis=0))
        self.low, self.high = np.min(low, axis=0), np.max(high, axis=0)
        for _, path in self.paths:
            both = np.concatenate([path, path @ self.view.T], axis=1)
            self.low, self.high = np.fmin(self.low, np.fmin.reduce(both)), np.fmax(self.high, np.fmax.reduce(both))
        self.size = max((self.high - self.low)[:3].max(), 1e-6)
        self.rests = len(low) > 1 and self.view[1, 2] > 0.99 and np.ptp(low, axis=0)[2] < 0.005 * self.size
        self._surround()
        left, right = self.low[3:5], self.high[3:5]
        if not self.flat:
            self.tile = step(0.2 * self.size)
            rim = self.low[:2] - 0.08 * self.size, self.high[:2] + 0.08 * self.size
            self.floor = self.tile * np.stack([np.floor(rim[0] / self.tile), np.ceil(rim[1] / self.tile)])
            ends = np.array([(x, y, self.low[2]) for x in self.floor[:, 0] for y in self.floor[:, 1]]) @ self.view[:2].T
            left, right = np.minimum(left, ends.min(axis=0)), np.maximum(right, ends.max(axis=0))
        margin = 56 if self.flat else 26
        self.pixel = max(((right - left) / np.maximum(pixels - 2 * margin, 16)).max(), 1e-9)  # m
        half = self.pixel * pixels / 2
        start, end = (left + right) / 2 - half, (left + right) / 2 + half
        self.axes.set(xlim=(start[0], end[0]), ylim=(start[1], end[1]))

    def _surround(self):
        """The ground's colliders around all that ever happens; a level plane near below is the floor."""
        still = [*self.rec.colliders, *(visual[:5] for visual in self.rec.visuals)]
        height = floor_height(still)
        if height is not None and self.low[2] - self.size < height < self.high[2]:
            self.low[2], self.rests = height, self.view[1, 2] > 0.99
            self.size = max((self.high - self.low)[:3].max(), 1e-6)
        rim = AROUND * self.size * np.array([1.0, 1.0, 0.0 if height is not None else 1.0])
        self.standing = standing(still, rotations, self.view[2], self.low[:3] - rim, self.high[:3] + rim)
        for thing in self.standing:
            both = np.concatenate([thing.corners, thing.corners @ self.view.T], axis=1)
            self.low, self.high = np.minimum(self.low, both.min(axis=0)), np.maximum(self.high, both.max(axis=0))
        self.size = max((self.high - self.low)[:3].max(), 1e-6)

    def _world(self, x, F):
        """(V, 3), m: where the vertices are."""
        return np.einsum("vij,vj->vi", F[self.of_vertex], self.mesh.vertices) + x[self.of_vertex]

    def _draw_scale(self):
        self.axes.grid(color=GRID, lw=0.6)
        self.axes.tick_params(length=0, labelsize=7.5, labelcolor=PALE_INK)
        self.axes.tick_params(axis="x", direction="in", pad=-14)
        self.axes.tick_params(axis="y", direction="in", pad=-4)
        for axis in (self.axes.xaxis, self.axes.yaxis):
            axis.set_major_formatter(_metres(*axis.get_view_interval(), margin=16 * self.pixel))
        for label in self.axes.get_yticklabels():
            label.set_horizontalalignment("left")
        self.axes.spines[:].set_visible(False)
        self.axes.set_axisbelow(True)
        if self.rests:
            left, right = self.axes.get_xlim()
            self.axes.fill_between((left, right), self.low[2], self.axes.get_ylim()[0], color=FLOOR, lw=0, zorder=0.3)
            self.axes.hlines(self.low[2], left, right, color=PALE_INK, lw=1.0, zorder=0.4)

    def _draw_floor(self):
        (x0, y0), (x1, y1) = self.floor
        z = self.low[2]
        xs, ys = np.arange(x0, x1 + self.tile / 2, self.tile), np.arange(y0, y1 + self.tile / 2, self.tile)
        lines = [((x, y0, z), (x, y1, z)) for x in xs] + [((x0, y, z), (x1, y, z)) for y in ys]
        rim = np.array([[(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)]])
        self._polygons(rim @ self.view[:2].T, facecolor=FLOOR, edgecolor=GRID, lw=1.0)
        self._lines(np.array(lines) @ self.view[:2].T, color=GRID, lw=0.6)
        self._text(0.975, 0.03, f"grid {self.tile:g} m", PALE_INK, ha="right")
        self.axes.axis("off")

    def _draw_supports(self):
        """Where something is fastened to the ground: a hatched line, above what hangs and below what stands."""
        at = np.unique(np.round(self.local[self.end < 0] @ self.view[:2].T, 9), axis=0)
        hangs = np.median(self.x @ self.view[1]) < at[:, 1:] if self.x.size else at[:, 1:] > 0
        unit = 9 * self.pixel * np.where(hangs, 1, -1) * np.ones((1, 2))  # (supports, 2): x, y
        unit[:, 0] = 9 * self.pixel
        strokes = [((0, 0), (-0.55, 0.9)), ((0, 0), (0.55, 0.9)), ((-1.1, 0.9), (1.1, 0.9))]
        strokes += [((x, 0.9), (x + 0.4, 1.4)) for x in (-1.0, -0.5, 0.0, 0.5)]
        lines = at[:, None, None] + unit[:, None, None] * np.array(strokes)
        self._lines(lines.reshape(-1, 2, 2), color=PALE_INK, lw=1.1, capstyle="round")

    def _draw_traces(self, last):
        for body, path in self.paths:
            colour = self.stone if body is None else self.colour[self.rec.bodies.index(body)]
            self._put(self._lines([path[: last + 1] @ self.view[:2].T], color=0.35 * self.blank + 0.65 * colour, lw=1.2))

    def _draw_standing(self, thing, put=lambda artist: None):
        """One collider of the ground, in stone."""
        shade = 0.5 + 0.56 * np.clip(0.5 + 0.5 * thing.outwards @ self.view.T @ LIGHT, 0, 1)
        colour = np.clip(shade[:, None] * self.stone, 0, 1)
        rim = colour if len(thing.planes) else 0.92 * colour  # a net shows hills and valleys
        put(self._polygons([f @ self.view[:2].T for f in thing.facets], facecolors=colour, edgecolors=rim, lw=0.35))
        put(self._lines([e @ self.view[:2].T for e in thing.edges], color=0.62 * self.stone, lw=0.8, capstyle="round"))

    def _draw_shadow(self, x, F):
        world = self._world(x, F)
        down = normals(world[self.mesh.faces])[:, 2] > 0
        shadow = np.concatenate([world[:, :2], np.full((len(world), 1), self.low[2])], axis=1) @ self.view[:2].T
        self._put(self._polygons(shadow[self.mesh.faces[down]], facecolor=SHADOW, edgecolor=SHADOW, lw=0.5))

    def _hidden(self, x, F):
        """(n,): the first of what stands around that hides each body, else their number."""
        hider, world = np.full(len(x), len(self.standing)), self._world(x, F)
        for k in reversed(range(len(self.standing))) if len(x) else ():
            hider[~self.standing[k].in_front(world, self.starts, INSIDE * self.size)] = k
        return hider

    def _draw_pose(self, pose, fade, drawn):
        """The bodies that are to be drawn (n,), and what links them."""
        x, F = pose
        if len(x) and not drawn.any():
            return
        x, F = np.where(drawn[:, None], x, np.nan), np.where(drawn[:, None, None], F, np.nan)
        anchors = self._anchors(x, F)
        quads, colour, width = self._painted(self._world(x, F) @ self.view.T, x @ self.view.T, anchors @ self.view.T)
        colour = (1 - fade) * colour + fade * self.blank
        self._put(self._polygons(quads, facecolors=colour, edgecolors=colour, linewidths=width, joinstyle="round"))
        if not fade and len(anchors):
            pins = anchors[np.linalg.norm(anchors[:, 0] - anchors[:, 1], axis=1) < 0.01 * self.size, 1]
            x, y = (pins @ self.view[:2].T).T
            dots = self.axes.scatter(x, y, s=12 if len(pins) <= 30 else 3, c=PAPER, edgecolors=INK, lw=self.line)
            self._put(dots)

    def _anchors(self, x, F):
        """(links, 2, 3), m: where the two anchors of each link are in the world."""
        moved = np.einsum("leij,lej->lei", F[self.end], self.local) + x[self.end] if len(x) else self.local
        return np.where((self.end < 0)[..., None], self.local, moved)

    def _painted(self, seen, centre, anchors):
        """Quads (N, 4, 2) from far to near, their colours (N, 3) and line widths (N,); a line is a quad without area.

        seen (V, 3), centre (n, 3), anchors (links, 2, 3): vertices, bodies and links as the view has them.
        """
        faces, edges, sides = self.mesh.faces, self.mesh.edges, self.mesh.sides
        normal, depth = normals(seen[faces]), seen[faces][..., 2].mean(axis=1)
        front = normal[:, 2] > 1e-9
        lit = front[sides]
        drawn = (lit[:, 0] != lit[:, 1]) | (self.mesh.crease & lit.any(axis=1))
        edge_depth = np.where(lit, depth[sides], -np.inf).max(axis=1)[drawn] + 1e-3 * self.size
        shade = 0.62 + 0.42 * np.clip(0.5 + 0.5 * normal @ LIGHT, 0, 1)
        base = self.fill
        face_fill = np.clip(shade[:, None] * (base + 0.28 * self.mesh.tone[:, None] * (1 - base)), 0, 1)
        arms = np.stack([centre[self.end], anchors], axis=2)[self.end >= 0] if len(centre) else np.zeros((0, 2, 3))
        lines = np.concatenate([arms, anchors])  # (lines, 2, 3): body to anchor, then anchor to anchor
        owner = np.concatenate([self.end[self.end >= 0], np.full(len(anchors), -1)])
        line_fill = np.where((owner < 0)[:, None], self.ink, 0.6 * self.colour[owner]) if len(lines) else np.zeros((0, 3))
        edge_fill = 0.5 * self.fill[sides[drawn, 0]]

        quads = np.concatenate([lines[:, (0, 1, 1, 0)], seen[faces[front]], seen[edges[drawn]][:, (0, 1, 1, 0)]])
        fill = np.concatenate([line_fill, face_fill[front], edge_fill])
        width = np.repeat([1.6 * self.line, 0.35, self.line], [len(lines), front.sum(), drawn.sum()])
        near = np.concatenate([lines[..., 2].mean(axis=1), depth[front], edge_depth])
        body = np.concatenate([owner, self.of_face[front], self.of_face[sides[drawn, 0]]])
        if self.flat:  # one body after the other; among those at one depth, in the order of their addition
            layer = np.append(np.round(centre[:, 2] / (1e-4 * self.size)), -np.inf)  # the last: links between anchors
            order = np.lexsort((near, body, layer[body]))
        else:
            order = np.argsort(near, kind="stable")
        order = order[np.isfinite(quads[order]).all(axis=(1, 2))]
        return quads[order][..., :2], fill[order], width[order]

    def _polygons(self, polygons, **options):
        from matplotlib.collections import PolyCollection

        return self.axes.add_collection(PolyCollection(polygons, zorder=next(self.layer), **options), autolim=False)

    def _lines(self, lines, **options):
        from matplotlib.collections import LineCollection

        return self.axes.add_collection(LineCollection(lines, zorder=next(self.layer), **options), autolim=False)

    def _text(self, x, y, text, colour, **options):
        return self.axes.text(x, y, text, color=colour, fontsize=9, transform=self.axes.transAxes, **options)

    def _put(self, artist):
        """Onto the canvas, but not for good."""
        self.axes.draw_artist(artist)
        artist.remove()


def _metres(low, high, margin):
    """A label for each tick, but none at the very rim, where it would be cut."""
    return lambda value, _: f"{value:.6g} m" if low + margin < value < high - margin else ""


def step(length):
    """The largest of 1, 2 and 5 times a power of ten that is not above length."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(k for k in (1, 2, 5) if k * power <= length * (1 + 1e-9)))


def _path(rec, name):
    """Of a body or frame: the body that carries it (None: the ground), and its path (T, 3), NaN where it is lost."""
    carrier = {frame: body for frame, body, *_ in rec.frames}
    path = rec[name].position
    return carrier.get(name, name), np.where(np.abs(path) < LOST, path, np.nan)


def still(rec, path, size, trace):
    """A PNG of a few poses over each other."""
    frames = np.unique(np.linspace(0, len(rec) - 1, POSES).round().astype(int))
    Scene(rec, frames, size, trace).draw(frames).save(path, format="PNG")


def gif(rec, path, fps, size, trace):
    """A GIF at the pace of the recorded time, each picture the nearest recorded frame."""
    from PIL import Image

    shots = rec.time[0] + np.arange(int((rec.time[-1] - rec.time[0]) * fps + 1e-6) + 1) / fps
    nearest = np.abs(np.searchsorted((rec.time[1:] + rec.time[:-1]) / 2, shots))
    frames, first = np.unique(nearest, return_index=True)
    starts = np.round(100 * np.append(first, len(shots)) / fps)  # the format counts hundredths of a second
    scene = Scene(rec, frames, size, trace)
    samples = [scene.draw([i]) for i in frames[[0, len(frames) // 2, -1]]]
    palette = Image.fromarray(np.concatenate([np.asarray(s) for s in samples])).quantize(256)
    images = (scene.draw([i]).quantize(palette=palette, dither=Image.Dither.NONE) for i in slow(frames, "drawing"))
    durations = [int(10 * d) for d in np.diff(starts)]
    next(images).save(path, "GIF", save_all=True, append_images=images, duration=durations, loop=0, optimize=False)


def slow(items, what):
    """The items; once they have taken more than SLOW seconds, with a progress bar on stderr."""
    start, bar = time.monotonic(), None
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - start > SLOW:
                from rich.console import Console
                from rich.progress import Progress

                console = Console(stderr=True)
                bar = Progress(console=console, transient=True, disable=not console.is_terminal)
                task = bar.add_task(what, total=len(items))
                bar.start()
            if bar is not None:
                bar.update(task, completed=done)
            yield item
    finally:
        if bar is not None:
            bar.stop()
