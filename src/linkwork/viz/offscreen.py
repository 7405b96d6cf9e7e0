"""Pictures with light and shadow, and videos: VTK draws a recording off screen, through PyVista.

All that moves is one mesh, whose points are put anew in each frame: as quick with a thousand bodies as with ten, and a body may
stretch.
"""

import contextlib

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.viz.plot import INK, PALE_INK, slow, step
from linkwork.viz.scene import FIELD, GROUND, Stage, rgb
from linkwork.viz.views import pose, spread

SKY, HORIZON, PLATE, GROOVE = "#e3e9f0", "#fdfcfa", "#f4f1ea", "#d9d4c8"
SUN, LAMP = 0.58, 0.42  # how bright they are
MATT = {"ambient": 0.3, "diffuse": 1.0, "specular": 0.0}
GLOSSY = {"ambient": 0.36, "diffuse": 1.0, "specular": 0.15, "specular_power": 15}
PIXELS, SHADOW = 2048, 1024  # of the picture of the ground and of the shadows on it, each way
SOFT, DARK = 0.004, 0.35  # how far shadows are blurred, part of the ground; how much they take away
FAR, CLEAR = 1.6, 0.35  # of the ground around all that moves, in its sizes; the part of it that does not fade
OSMESA = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")  # the names by which VTK looks for it
NEAR = 0.1  # of the size of all that the camera was placed for: what moves out of it by no more than that stays in the picture
SIDES = 8  # of the prisms that lines are
INSTALL = 'pip install "linkwork[pictures]"'


def video(rec, path, fps, size):
    """An MP4 (H.264) at the pace of the recorded time."""
    writer_of = _needs("imageio.v2", "videos are written").get_writer
    span = float(rec.time[-1] - rec.time[0])
    shots = rec.time[0] + np.arange(int(span * fps + 1e-6) + 1) / fps
    even = tuple(pixels - pixels % 2 for pixels in size)  # what the format needs
    options = {"codec": "libx264", "quality": 8, "macro_block_size": 2, "pixelformat": "yuv420p"}
    with Picture(rec, even) as picture, contextlib.closing(writer_of(path, format="FFMPEG", fps=fps, **options)) as writer:
        for time in slow(shots, "rendering"):
            writer.append_data(picture.at(time))


def still(rec, path, time, size):
    """A PNG of one moment."""
    from PIL import Image

    with Picture(rec, size) as picture:
        Image.fromarray(picture.at(time)).save(path, format="PNG")


class Picture:
    """A recording set up before VTK's camera, off screen; size: width and height in pixels."""

    def __init__(self, rec, size):
        pyvista = _needs("pyvista", "pictures are drawn")
        self.rec, self.stage = rec, Stage(rec)
        with _silent():
            self.plotter = pyvista.Plotter(off_screen=True, window_size=size, lighting="none")
            _refuse_without_graphics(self.plotter)
            self.plotter.set_background(HORIZON, top=SKY)
            self._look(size)
            self._light(pyvista)
            self.movers = [_Mover(pyvista, self.plotter, solids) for solids in _by_opacity(self.stage)]
            self._string(pyvista)
            casting = [mover.mesh for mover in self.movers[:1]] + ([self.strings.mesh] if self.strings else [])
            self.floor = _Floor(pyvista, self.plotter, self.stage, self.sun, casting)
            self.plotter.add_text(f"tiles of {self.floor.tile:g} m", position="lower_right", font_size=7, color=PALE_INK)
            self.plotter.enable_anti_aliasing("ssaa")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.floor.close()
        self.plotter.close()

    def at(self, time):
        """(height, width, 3) uint8: the frame recorded nearest to that time."""
        frame = int(np.abs(self.rec.time - time).argmin())
        x, F = self.stage.pose(frame)
        for mover in self.movers:
            mover.put(x, F)
        if self.strings is not None:
            self.strings.put(frame)
        self.clock.set_text("upper_left", f"{self.rec.time[frame]:.2f} s")
        with _silent():
            self.floor.shade()
            return _shot(self.plotter)

    def sees(self, rec):
        """Whether the last frame of a recording of the same bodies lies near to what the camera was placed for."""
        stage, (x, _) = self.stage, pose(spread(rec), -1)
        x, room = x[np.isfinite(x).all(axis=1)], NEAR * self.stage.size
        return bool((x >= stage.low - room).all() and (x <= stage.high + room).all())

    def last(self, rec):
        """(height, width, 3) uint8: the last frame of a recording of the same bodies, before the camera where it stands."""
        self.rec, self.stage.rec = rec, spread(rec)
        return self.at(rec.time[-1])

    def _light(self, pyvista):
        """A sun over the left shoulder, whose shadows are on the ground, and a lamp beside the eye."""
        stage, eye, up = self.stage, np.array(self.plotter.camera.position), np.array([0.0, 0, 1])
        middle = (stage.low + stage.high) / 2
        towards = (eye - middle) / np.linalg.norm(eye - middle)
        left = np.cross(towards, up) if abs(towards[2]) < 0.99 else np.array([-1.0, 0, 0])
        self.sun = 0.35 * towards + 0.45 * left + 1.3 * up
        sun = pyvista.Light(position=middle + self.sun, focal_point=middle, intensity=SUN, light_type="scene light")
        sun.positional = False
        for light in (sun, pyvista.Light(light_type="headlight", intensity=LAMP)):
            self.plotter.add_light(light)

    def _string(self, pyvista):
        """Lines between what is linked, the clock and the scale."""
        self.strings = _Strings(pyvista, self.plotter, self.stage) if len(self.stage.line_bodies) else None
        self.clock = self.plotter.add_text("0 s", position="upper_left", font_size=9, color=INK)

    def _look(self, size):
        eye, target, up = self.stage.camera(wide=size[0] / size[1])
        camera = self.plotter.camera
        camera.position, camera.focal_point, camera.up, camera.view_angle = eye, target, up, FIELD
        self.plotter.reset_camera_clipping_range()


class _Mover:
    """Solids of one opacity as one mesh."""

    def __init__(self, pyvista, plotter, solids):
        sizes = [len(s.surface.vertices) for s in solids]
        self.body = np.repeat([s.body for s in solids], sizes)
        self.local = np.concatenate([s.of_body() for s in solids])
        self.outwards = np.concatenate([s.surface.normals @ s.turn.T for s in solids])
        starts = np.cumsum([0, *sizes[:-1]])
        faces = np.concatenate([s.surface.triangles + at for s, at in zip(solids, starts, strict=True)])
        self.mesh = pyvista.PolyData.from_regular_faces(self.local, faces)
        self.mesh.point_data["colour"] = np.repeat([np.round(255 * s.colour[:3]) for s in solids], sizes, axis=0).astype(
            np.uint8
        )
        self.mesh.point_data["Normals"] = self.outwards.astype(np.float32)
        self.mesh.point_data.active_normals_name = "Normals"
        self.moving = self.body != GROUND
        plotter.add_mesh(self.mesh, scalars="colour", rgb=True, opacity=float(solids[0].colour[3]), **GLOSSY)
        plotter.actors[list(plotter.actors)[-1]].prop.interpolation = "Phong"

    def put(self, x, F):
        """Where the bodies are; one that is not there shrinks to a point."""
        points, normals = self.local.copy(), self.outwards.copy()
        if len(x):
            body = self.body[self.moving]
            points[self.moving] = np.einsum("vij,vj->vi", F[body], self.local[self.moving]) + x[body]
            there = np.isfinite(F).all(axis=(1, 2))[body]
            inverse = np.linalg.inv(np.where(np.isfinite(F), F, np.eye(3))).transpose(0, 2, 1)  # normals of what stretches
            turned = np.einsum("vij,vj->vi", inverse[body], self.outwards[self.moving])
            normals[self.moving] = turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-300)
            points[self.moving] = np.where(there[:, None], points[self.moving], self.local[0])
        self.mesh.points = points
        self.mesh.point_data["Normals"] = normals.astype(np.float32)


class _Floor:
    """The ground: tiles that fade away, and soft shadows on them.

    What casts shadows is laid flat along the light, seen from straight above and blurred; that is the texture of a square just
    above the one with the tiles.
    """

    def __init__(self, pyvista, plotter, stage, sun, casting):
        self.stage, self.casting, self.slope = stage, casting, sun[:2] / sun[2]
        self.tile = step(0.2 * stage.size)
        self.half = 0.5 * float(np.linalg.norm((stage.high - stage.low)[:2])) + FAR * stage.size
        self.middle = (stage.low + stage.high)[:2] / 2
        x, y = (self.middle[k] + self.half * (2 * (np.arange(PIXELS, dtype=np.float32) + 0.5) / PIXELS - 1) for k in range(2))
        x, y = np.meshgrid(x.astype(np.float32), y.astype(np.float32))
        tiles = self._square(pyvista, plotter, PIXELS, stage.floor)
        tiles.point_data["paint"] = self._painted(x, y)
        self.shadow = self._square(pyvista, plotter, SHADOW, stage.floor + 4e-4 * stage.size)
        self.darkest = DARK * self._fade(x, y)[:: PIXELS // SHADOW, :: PIXELS // SHADOW]
        self.above = pyvista.Plotter(off_screen=True, window_size=(SHADOW, SHADOW), lighting="none")
        self.above.set_background("black")
        self.flat = [mesh.copy(deep=True) for mesh in casting]
        for mesh in self.flat:
            mesh.clear_data()
            self.above.add_mesh(mesh, color="white", lighting=False)
        camera = self.above.camera
        camera.position, camera.focal_point = (*self.middle, stage.floor + stage.size), (*self.middle, stage.floor)
        camera.up, camera.parallel_projection, camera.parallel_scale = (0, 1, 0), True, self.half

    def _square(self, pyvista, plotter, pixels, height):
        """The ImageData that is the texture of a square over the whole ground."""
        image = pyvista.ImageData(dimensions=(pixels, pixels, 1))
        image.point_data["paint"] = np.zeros((pixels * pixels, 4), np.uint8)
        texture = pyvista.Texture(image)
        texture.interpolate, texture.mipmap = True, True
        square = pyvista.Plane(center=(*self.middle, height), i_size=2 * self.half, j_size=2 * self.half,
                               i_resolution=1, j_resolution=1)  # fmt: skip
        plotter.add_mesh(square, texture=texture, lighting=False)
        return image

    def _painted(self, x, y):
        """(pixels, 4): the tiles."""
        groove = np.minimum(*(np.abs((v + self.tile / 2) % self.tile - self.tile / 2) for v in (x, y)))
        lines = np.clip(1.5 - groove / (0.006 * self.tile + self.half / PIXELS), 0, 1)[..., None]
        stone, gap = (255 * np.array(rgb(colour), np.float32) for colour in (PLATE, GROOVE))
        return _bytes(np.concatenate([stone + lines * (gap - stone), 255 * self._fade(x, y)[..., None]], axis=-1))

    def _fade(self, x, y):
        """How much is seen of the ground: all in the middle, nothing at the rim."""
        far = np.hypot(x - self.middle[0], y - self.middle[1]) / self.half
        return np.clip((1 - far) / (1 - CLEAR), 0, 1) ** 2

    def shade(self):
        """The shadows of this moment."""
        from scipy.ndimage import gaussian_filter

        for mesh, flat in zip(self.casting, self.flat, strict=True):
            points = np.array(mesh.points)
            height = np.maximum(points[:, 2:] - self.stage.floor, 0.0)
            flat.points = np.column_stack([points[:, :2] - height * self.slope, np.full(len(points), self.stage.floor)])
        self.above.camera.clipping_range = 0.1 * self.stage.size, 2 * self.stage.size
        seen = _shot(self.above)[::-1, :, 0].astype(np.float32)
        paint = np.zeros((SHADOW, SHADOW, 4), np.float32)
        paint[..., :3], paint[..., 3] = 255 * np.array(rgb(INK)), self.darkest * gaussian_filter(seen, SOFT * SHADOW)
        self.shadow.point_data["paint"] = _bytes(paint)
        self.shadow.Modified()

    def close(self):
        self.above.close()


def _shot(plotter):
    """(height, width, 3) uint8: what is before the camera now. A screenshot draws the first time, and up to PyVista 0.48 each
    time; later it copies what was drawn last."""
    plotter.render()
    return plotter.screenshot(return_img=True)


def _bytes(picture):
    return picture.astype(np.uint8).reshape(-1, picture.shape[-1])


def _by_opacity(stage):
    """The solids that show, opaque ones first."""
    groups: dict = {}
    for solid in stage.solids:
        if not solid.hidden and solid.colour[3] > 0:
            groups.setdefault(-float(solid.colour[3]), []).append(solid)
    return [groups[key] for key in sorted(groups)]


class _Strings:
    """Lines as thin prisms: VTK's own lines have no shadows."""

    def __init__(self, pyvista, plotter, stage):
        self.stage, self.radius = stage, 0.0035 * stage.size
        angle = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
        self.round = np.stack([np.cos(angle), np.sin(angle)], axis=-1)  # (sides, 2)
        here = np.arange(SIDES)
        there = np.roll(here, -1)
        sides = np.stack([here, there, there + SIDES, here + SIDES], axis=1)
        count = len(stage.line_bodies)
        faces = (sides + 2 * SIDES * np.arange(count)[:, None, None]).reshape(-1, 4)
        self.mesh = pyvista.PolyData.from_regular_faces(np.zeros((2 * SIDES * count, 3)), faces)
        self.put(0)
        plotter.add_mesh(self.mesh, color=INK, **MATT)

    def put(self, frame):
        ends = self.stage.lines(frame)
        ends = np.where(np.isfinite(ends).all(axis=(1, 2))[:, None, None], ends, 0.0)
        along = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(along, axis=1, keepdims=True)
        along = np.where(length > 1e-12, along / np.maximum(length, 1e-300), [0.0, 0, 1])
        other = np.where(np.abs(along[:, 2:]) < 0.9, [[0.0, 0, 1]], [[1.0, 0, 0]])
        u = np.cross(along, other)
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        rim = self.round @ np.stack([u, np.cross(along, u)], axis=1)  # (l, sides, 3)
        radius = np.where(length > 1e-12, self.radius, 0.0)[..., None]  # anchors that meet need no line
        self.mesh.points = (ends[:, :, None] + radius[..., None] * rim[:, None]).reshape(-1, 3)
        self.mesh.point_data["Normals"] = np.repeat(rim[:, None], 2, axis=1).reshape(-1, 3).astype(np.float32)
        self.mesh.point_data.active_normals_name = "Normals"


def _needs(module, what):
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise LinkworkError(f"render: {what} by {module.partition('.')[0]}; install it with {INSTALL}") from None


def _refuse_without_graphics(plotter):
    """VTK falls back on Mesa's off-screen library, and ends the process where that one is not there either."""
    if type(plotter.render_window).__name__ == "vtkOSOpenGLRenderWindow" and not any(map(_loads, OSMESA)):
        raise LinkworkError(
            "render: this machine has no OpenGL to draw with; install libegl1 and libgl1-mesa-dri, or libosmesa6"
        )


def _loads(library):
    from ctypes import CDLL

    try:
        CDLL(library)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _silent():
    """Without VTK's remarks about displays that are not there."""
    from vtkmodules.vtkCommonCore import vtkLogger

    before = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    try:
        yield
    finally:
        vtkLogger.SetStderrVerbosity(before)
