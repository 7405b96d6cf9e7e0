"""Recording: what a run leaves behind, as plain arrays with names; to xarray, to files, to pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from linkwork.contact.points import TouchingPoint, TouchingPoints
from linkwork.elements.core import checks
from linkwork.errors import FileError
from linkwork.recording import exports
from linkwork.recording.fields import (
    EXTRA_UNITS,
    FIELDS,
    BodyRecord,
    JointRecord,
    RecordingError,
    fields_of,
    first_contacts,
    joined_contacts,
)
from linkwork.recording.files import NewerError, read_netcdf, read_npz, shape_of, write_npz
from linkwork.recording.frames import frame_of, frame_record
from linkwork.recording.sensors import check_sensors, sensor_of, sensor_record
from linkwork.recording.validation import (
    check_arrays,
    check_times,
    collider_of,
    index_of,
    link_of,
    names_in,
    numbers_in,
    visual_of,
)
from linkwork.util.atomic_io import whole
from linkwork.util.sealing import Sealed

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from linkwork.elements.core.element import Body, ElementLike
    from linkwork.elements.core.frame import Frame
    from linkwork.elements.core.joint import Joint
    from linkwork.elements.core.sensor import Sensor
    from linkwork.elements.core.shape import Shape
    from linkwork.recording.fields import ContactRecords, SensorRecord
    from linkwork.util.array_types import AnyArray, FilePath, FloatArray, Numbers


class MissingRecordingError(FileError, FileNotFoundError):
    """There is no such file."""


class Recording(Sealed):
    """The frames of a run: `rec = sim.run(2.0, record_every=0.01)`.

    time (T,), s; position, velocity, angular_velocity (T, n, 3) and orientation (T, n, 4) of the bodies, world frame;
    kinetic, potential (T,), J; drift (T,), m; angle (T, joints), rad or m; frame (T, n, 3, 3) if some body stretches;
    extra: name -> (T, ...), or a pair of that and its unit; shapes: body -> Shape or None; links: (name, body or None
    for the ground, point, body, point), points in the frame of their body; colliders: (name, body or None, shape, position,
    orientation), in the frame of the body; visuals: (name, body or None, shape, position, orientation, color (4,) or None),
    what pictures show in the place of a body's shape and colliders; frames: those of the world, (name, body or None, position,
    orientation); sensors: (name, [(what, unit), ...]), whose numbers are extras ("sensor imu"); touching: ContactRecords, None
    where nothing can touch; attributes: plain values about the run.

    >>> rec
    <Recording: 101 frames from 0 to 2 s, 1 body, 1 joint>
    >>> rec["rod"].position[0]
    array([1., 0., 0.])
    """

    OPEN = frozenset({"bodies", "joints", "time", *FIELDS, "extra", "extra_units", "shapes", "links", "colliders", "visuals",
                      "frames", "sensors", "touching", "attributes"})  # fmt: skip

    position: FloatArray
    orientation: FloatArray
    velocity: FloatArray
    angular_velocity: FloatArray
    kinetic: FloatArray
    potential: FloatArray
    drift: FloatArray
    angle: FloatArray
    frame: FloatArray | None

    def __init__(
        self, *, time: Numbers, bodies: Sequence[str], position: Numbers, orientation: Numbers, velocity: Numbers,
        angular_velocity: Numbers, kinetic: Numbers, potential: Numbers, drift: Numbers, joints: Sequence[str], angle: Numbers,
        frame: Numbers | None = None, extra: Mapping[str, Any] | None = None, shapes: Mapping[str, Shape | None] | None = None,
        links: Sequence[Sequence[Any]] | None = None, colliders: Sequence[Sequence[Any]] | None = None,
        visuals: Sequence[Sequence[Any]] | None = None, frames: Sequence[Sequence[Any]] | None = None,
        sensors: Sequence[Sequence[Any]] | None = None, touching: ContactRecords | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.bodies, self.joints = names_in("bodies", bodies), names_in("joints", joints)
        self.time = numbers_in("time", time)
        if self.time.ndim != 1 or not self.time.size:
            raise RecordingError(f"Recording: time has shape {self.time.shape}; give one number for each frame")
        if len(wrong := np.flatnonzero(~np.isfinite(self.time))):
            raise RecordingError(f"Recording: the time of frame {wrong[0]} is {self.time[wrong[0]]:g}; give finite times")
        given = {"position": position, "orientation": orientation, "velocity": velocity, "angular_velocity": angular_velocity,
                 "kinetic": kinetic, "potential": potential, "drift": drift, "angle": angle, "frame": frame}  # fmt: skip
        for name, value in given.items():
            setattr(self, name, None if name == "frame" and value is None else numbers_in(name, value))
        self.extra, self.extra_units = {}, {}
        for name, value in (extra or {}).items():
            pair = isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str)
            self.extra[name] = np.asarray(value[0] if pair else value)
            words = reversed(name.replace("_", " ").split())
            self.extra_units[name] = (
                value[1] if pair else next((EXTRA_UNITS[w] for w in words if w in EXTRA_UNITS), "not stated")
            )
        self.shapes = {name: (shapes or {}).get(name) for name in self.bodies}
        self.links = [link_of(*link) for link in links or []]
        self.colliders = [collider_of(*collider) for collider in colliders or []]
        self.visuals = [visual_of(*visual) for visual in visuals or []]
        self.frames = [frame_of(*frame) for frame in frames or []]
        self.sensors = [sensor_of(*sensor) for sensor in sensors or []]
        self.touching = touching
        self.attributes = dict(attributes or {})
        check_arrays(self)
        check_sensors(self)

    @property
    def energy(self) -> FloatArray:
        """(T,), J: kinetic and potential energy together.

        >>> float(np.ptp(rec.energy)) < 1e-9
        True
        """
        return self.kinetic + self.potential

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        counts = ((len(self.bodies), "body", "bodies"), (len(self.joints), "joint", "joints"))
        held = ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts)
        frames = f"{len(self)} frame{'' if len(self) == 1 else 's'} from {self.time[0]:g} to {self.time[-1]:g} s"
        return f"<Recording: {frames}, {held}>"

    @overload
    def __getitem__(self, item: Body | Frame) -> BodyRecord: ...
    @overload
    def __getitem__(self, item: Joint) -> JointRecord: ...
    @overload
    def __getitem__(self, item: Sensor) -> SensorRecord: ...
    @overload
    def __getitem__(self, item: str) -> Any: ...
    def __getitem__(self, item: ElementLike) -> Any:
        """The record of one body, frame, sensor or joint, by name or by the element itself.

        >>> rec["rod"].velocity.shape, rec["axle"].angle.shape
        ((101, 3), (101,))
        """
        name: Any = getattr(item, "name", item)
        if isinstance(name, str) and name in self.joints:  # in a world no two elements have the same name
            return JointRecord(name, self.time, self.angle[:, self.joints.index(name)])
        named, sensors = [frame[0] for frame in self.frames], [sensor[0] for sensor in self.sensors]
        if isinstance(name, str) and name in named + sensors:
            return frame_record(self, name) if name in named else sensor_record(self, name)
        i = index_of(name, "body, frame, sensor or joint", self.bodies + named + sensors + self.joints)
        frame = None if self.frame is None else self.frame[:, i]
        moving = self.position[:, i], self.orientation[:, i], self.velocity[:, i], self.angular_velocity[:, i]
        return BodyRecord(name, self.time, *moving, frame, self.shapes[name])

    def contacts(self, frame: int) -> TouchingPoints:
        """Where bodies touched in a frame (a number, -1 for the last): points as `sim.contacts()` has them, with names in the
        place of bodies and colliders; None is the ground.

        >>> import linkwork as lw
        >>> stack = lw.Simulation(lw.scenes.get("box-stack", n=2)).run(0.1, record_every=0.05)
        >>> stack.contacts(-1)[0].bodies, len(stack.contacts(-1))
        ((None, 'box0'), 8)
        >>> float(stack.contacts(-1).forces[:4, 2].sum().round(3))
        19.62
        """
        if not isinstance(frame, (int, np.integer)) or isinstance(frame, bool):
            raise RecordingError(f"Recording: frame is {checks.show(frame)}; give a number from 0 to {len(self) - 1}")
        if not -len(self) <= frame < len(self):
            raise RecordingError(f"Recording: there is no frame {frame}; give a number from 0 to {len(self) - 1}")
        table = self.touching
        if table is None:
            return TouchingPoints()
        begin = int(table.count[: frame % len(self)].sum())
        names = [*self.bodies, None]  # the last one, number -1, is the ground
        found = TouchingPoints()
        for k in range(begin, begin + int(table.count[frame])):
            numbers = {name: values[k].copy() for name, values in table.columns().items() if values.ndim == 2}
            ends: dict[str, Any] = {
                "bodies": tuple(names[i] for i in table.bodies[k]),
                "colliders": tuple(table.names[i] for i in table.colliders[k]),
            }
            found.append(TouchingPoint(**numbers | ends, gap=float(table.gap[k])))
        return found

    def first(self, frames: int) -> Recording:
        """A Recording of the first so many frames.

        >>> rec.first(10)
        <Recording: 10 frames from 0 to 0.18 s, 1 body, 1 joint>
        """
        frames = checks.whole(self, "frames", frames, least=1)
        return self._with(lambda name, value: value[:frames], first_contacts(self.touching, frames))

    def joined(self, other: Recording) -> Recording:
        """This recording and one that goes on where it ends, of the same bodies and joints, as one.

        >>> rec.first(10).joined(rec)
        <Recording: 111 frames from 0 to 2 s, 1 body, 1 joint>
        """
        if not isinstance(other, Recording):
            raise RecordingError(f"Recording: cannot join {checks.show(other)}; give a Recording")
        if (self.touching is None) != (other.touching is None):
            raise RecordingError("Recording: in one of the two nothing can touch; join those of one model")
        if (self.bodies, self.joints, list(self.extra)) != (other.bodies, other.joints, list(other.extra)):
            raise RecordingError("Recording: the two are of different bodies, joints or extras; join those of one model")
        later = fields_of(other) | {"time": other.time} | {f"extra {name}": value for name, value in other.extra.items()}
        touching = None
        if self.touching is not None and other.touching is not None:
            touching = joined_contacts(self.touching, other.touching)
        found = self._with(lambda name, value: np.concatenate([value, later[name]]), touching)
        found.attributes = dict(other.attributes)
        return found

    def _with(self, change: Callable[[str, AnyArray], AnyArray], touching: ContactRecords | None) -> Recording:
        """The same with all that has a frame changed: change(name, values (T, ...))."""
        fields = {name: change(name, value) for name, value in (fields_of(self) | {"time": self.time}).items()}
        extra = {name: (change(f"extra {name}", value), self.extra_units[name]) for name, value in self.extra.items()}
        return Recording(**fields, bodies=self.bodies, joints=self.joints, extra=extra, shapes=self.shapes, links=self.links,
                         colliders=self.colliders, visuals=self.visuals, frames=self.frames, sensors=self.sensors,
                         touching=touching, attributes=self.attributes)  # fmt: skip

    def _followed(self, item: ElementLike) -> str:
        """The name of a body or frame."""
        name: Any = getattr(item, "name", item)
        known: list[str] = [*self.bodies, *(frame[0] for frame in self.frames)]
        return known[index_of(name, "body or frame", known)]

    def to_xarray(self) -> Dataset:
        """An xarray Dataset with dimensions time, body, axis, quaternion and joint, units on every variable; with frames,
        `frame_position` and the like have the dimension frame_name.

        >>> data = rec.to_xarray()
        >>> float(data.position.sel(body="rod", axis="x")[0]), data.position.units
        (1.0, 'm')
        """
        return exports.dataset(self)

    def save(self, path: FilePath) -> Path:
        """Write a .nc (NetCDF, for any tool) or .npz (NumPy) file, whole or not at all; returns the path.

        >>> rec.save("run.nc").name
        'run.nc'
        """
        path = _ending(path, "save", ".nc", ".npz")
        check_times(self)
        with whole(path) as beside:
            if path.suffix == ".nc":
                self.to_xarray().to_netcdf(beside, engine="h5netcdf")
            else:
                write_npz(self, beside)
        return path

    @classmethod
    def load(cls, path: FilePath) -> Recording:
        """The recording that a file holds.

        >>> rec.save("run.npz").exists() and Recording.load("run.npz")
        <Recording: 101 frames from 0 to 2 s, 1 body, 1 joint>
        """
        path = _ending(path, "load", ".nc", ".npz")
        if not path.is_file():
            raise MissingRecordingError(f'load: there is no file "{path}"')
        try:
            found = cls._made_of(*(read_netcdf if path.suffix == ".nc" else read_npz)(path))
            check_times(found)
            return found
        except NewerError:
            raise
        except Exception as error:  # whatever a file that somebody has changed makes zipfile, numpy, h5py and json raise
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise RecordingError(f'load: "{path}" is no whole recording ({reason}); give one that save has written') from error

    @classmethod
    def _made_of(cls, facts: dict[str, Any], fields: dict[str, Any], arrays: Mapping[str, AnyArray]) -> Recording:
        """From what a file says."""
        known: dict[Any, Shape] = {}  # one object for all that have the same shape
        placed: dict[str, Any] = {
            kind: [
                (name, body, shape_of(f'{kind[:-1]} "{name}"', given, arrays, known), *pose)
                for name, body, given, *pose in facts.get(kind, [])
            ]
            for kind in ("colliders", "visuals")
        }
        shapes = {name: shape_of(f'body "{name}"', given, arrays, known) for name, given in facts["shapes"].items()}
        own = {name: facts.get(name, []) for name in ("frames", "sensors")}
        return cls(**fields, shapes=shapes, links=facts["links"], **placed, **own, attributes=facts["attributes"])

    def plot(self, body: ElementLike | None = None, path: FilePath | None = None) -> Figure:
        """A matplotlib Figure of the energies, drift and joint coordinates, or of the motion of one body or frame.

        With a path (.png, .pdf, .svg) it is saved there; without one `matplotlib.pyplot.show()` shows it.

        >>> len(rec.plot("rod", path="rod.png").axes), len(rec.plot(path="run.svg").axes)
        (3, 4)
        """
        name: Any = None if body is None else self._followed(body)
        path = None if path is None else _ending(path, "plot", ".png", ".pdf", ".svg")
        figure = exports.figure_of(self, None if name is None else self[name], shown=path is None)
        if path is not None:
            with whole(path) as beside:
                figure.savefig(beside, dpi=150)
        return figure

    def animate(self, path: FilePath, *, fps: float = 25, size: tuple[int, int] = (640, 480),
                trace: ElementLike | Sequence[ElementLike] | None = None) -> Path:  # fmt: skip
        """A moving .gif at the pace of the recorded time, or a still .png of a few poses; returns the path.

        size: width and height in pixels; trace: a body or frame, or several, whose path is drawn.

        >>> rec.animate("run.png", trace="rod").name
        'run.png'
        """
        from linkwork.viz import plot as drawing

        path = _ending(path, "animate", ".gif", ".png")
        if not 0 < fps <= 50:
            raise RecordingError(f"animate: fps is {fps}; give a number above 0 and up to 50, the most that a GIF shows")
        _check_size("animate", size)
        several: Sequence[Any] = trace if isinstance(trace, (list, tuple)) else [] if trace is None else [trace]
        traces = [self._followed(item) for item in several]
        with whole(path) as beside:
            if path.suffix == ".gif":
                drawing.gif(self, beside, fps, tuple(size), traces)
            else:
                drawing.still(self, beside, tuple(size), traces)
        return path

    def replay(self, path: FilePath) -> Path:
        """Write a page (.html) that plays the recording in a browser: one file, no server, no network. Returns the path.

        >>> rec.replay("run.html").name
        'run.html'
        """
        from linkwork.viz import replay_page

        path = _ending(path, "replay", ".html")
        with whole(path) as beside:
            replay_page.page(self, beside, self.attributes.get("scene") or path.stem)
        return path

    def render(self, path: FilePath, *, at: float | None = None, fps: float = 30, size: tuple[int, int] = (1280, 720)) -> Path:
        """A picture with light and shadow: a video (.mp4) at the pace of the recorded time, or a still (.png) of the frame that
        is nearest to `at` seconds, the last one unless told otherwise. size: width and height in pixels. Returns the path.

        >>> rec.render("rod.mp4", at=0.5)
        Traceback (most recent call last):
        linkwork.recording.fields.RecordingError: render: a video is of all that was recorded; leave at out, or end the path in .png
        """  # noqa: E501
        from linkwork.viz import offscreen

        path = _ending(path, "render", ".mp4", ".png")
        if not 0 < fps <= 240:
            raise RecordingError(f"render: fps is {fps}; give a number above 0 and up to 240")
        _check_size("render", size)
        if at is not None and not self.time[0] <= at <= self.time[-1]:
            span = f"{self.time[0]:g} to {self.time[-1]:g} s"
            raise RecordingError(f"render: at is {at:g} s; the recording is from {span}, give a time within it")
        if at is not None and path.suffix == ".mp4":
            raise RecordingError("render: a video is of all that was recorded; leave at out, or end the path in .png")
        with whole(path) as beside:
            if path.suffix == ".mp4":
                offscreen.video(self, beside, fps, tuple(size))
            else:
                offscreen.still(self, beside, self.time[-1] if at is None else at, tuple(size))
        return path


def _ending(path: FilePath, what: str, *endings: str) -> Path:
    try:
        path = Path(path)
    except TypeError:
        raise RecordingError(f"{what}: path is {checks.show(path)}; give that of a file") from None
    if path.suffix not in endings:
        wrong = f"ends in neither {' nor '.join(endings)}" if len(endings) > 1 else f"does not end in {''.join(endings)}"
        raise RecordingError(f'{what}: "{path}" {wrong}; give {"one of these endings" if len(endings) > 1 else "that ending"}')
    return path


def _check_size(what: str, size: tuple[int, int]) -> None:
    if len(size) != 2 or not all(32 <= pixels <= 8192 for pixels in size):
        raise RecordingError(f"{what}: size is {size}; give width and height in pixels, such as (640, 480)")
