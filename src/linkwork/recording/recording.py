"""Recording: what a run leaves behind, as plain arrays with names; to xarray, to files, to pictures."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from linkwork.contact.points import TouchingPoint, TouchingPoints
from linkwork.elements.core import checks
from linkwork.errors import FileError, UnknownNameError, printable
from linkwork.recording.fields import (
    CONTACT_FIELDS,
    COORDINATES,
    EXTRA_UNITS,
    FIELDS,
    BodyRecord,
    JointRecord,
    RecordingError,
    first_contacts,
    joined_contacts,
)
from linkwork.recording.files import FORMAT, Described, NewerError, read_netcdf, read_npz, shape_of
from linkwork.util.atomic_io import whole
from linkwork.util.sealing import Sealed

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from linkwork.elements.core.element import Body, ElementLike
    from linkwork.elements.core.joint import Joint
    from linkwork.elements.core.shape import Shape
    from linkwork.recording.fields import ContactRecords
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
    what pictures show in the place of a body's shape and colliders; touching: ContactRecords, None where nothing can touch;
    attributes: plain values about the run.

    >>> rec
    <Recording: 101 frames from 0 to 2 s, 1 body, 1 joint>
    >>> rec["rod"].position[0]
    array([1., 0., 0.])
    """

    OPEN = frozenset({"bodies", "joints", "time", *FIELDS, "extra", "extra_units", "shapes", "links", "colliders", "visuals",
                      "touching", "attributes"})  # fmt: skip

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
        visuals: Sequence[Sequence[Any]] | None = None, touching: ContactRecords | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.bodies, self.joints = _names("bodies", bodies), _names("joints", joints)
        self.time = _numbers("time", time)
        if self.time.ndim != 1 or not self.time.size:
            raise RecordingError(f"Recording: time has shape {self.time.shape}; give one number for each frame")
        if len(wrong := np.flatnonzero(~np.isfinite(self.time))):
            raise RecordingError(f"Recording: the time of frame {wrong[0]} is {self.time[wrong[0]]:g}; give finite times")
        given = {"position": position, "orientation": orientation, "velocity": velocity, "angular_velocity": angular_velocity,
                 "kinetic": kinetic, "potential": potential, "drift": drift, "angle": angle, "frame": frame}  # fmt: skip
        for name, value in given.items():
            setattr(self, name, None if name == "frame" and value is None else _numbers(name, value))
        self.extra, self.extra_units = {}, {}
        for name, value in (extra or {}).items():
            pair = isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str)
            self.extra[name] = np.asarray(value[0] if pair else value)
            words = reversed(name.replace("_", " ").split())
            self.extra_units[name] = (
                value[1] if pair else next((EXTRA_UNITS[w] for w in words if w in EXTRA_UNITS), "not stated")
            )
        self.shapes = {name: (shapes or {}).get(name) for name in self.bodies}
        self.links = [_link(*link) for link in links or []]
        self.colliders = [_collider(*collider) for collider in colliders or []]
        self.visuals = [_visual(*visual) for visual in visuals or []]
        self.touching = touching
        self.attributes = dict(attributes or {})
        self._check()

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
    def __getitem__(self, item: Body) -> BodyRecord: ...
    @overload
    def __getitem__(self, item: Joint) -> JointRecord: ...
    @overload
    def __getitem__(self, item: str) -> Any: ...
    def __getitem__(self, item: ElementLike) -> Any:
        """The record of one body or joint, by name or by the element itself.

        >>> rec["rod"].velocity.shape, rec["axle"].angle.shape
        ((101, 3), (101,))
        """
        name: Any = getattr(item, "name", item)
        if isinstance(name, str) and name in self.joints:  # in a world no two elements have the same name
            return JointRecord(name, self.time, self.angle[:, self.joints.index(name)])
        i = self._index(name, "body or joint", self.bodies + self.joints)
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
            ends = {
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
        later = other._fields() | {"time": other.time} | {f"extra {name}": value for name, value in other.extra.items()}
        touching = None
        if self.touching is not None and other.touching is not None:
            touching = joined_contacts(self.touching, other.touching)
        found = self._with(lambda name, value: np.concatenate([value, later[name]]), touching)
        found.attributes = dict(other.attributes)
        return found

    def _with(self, change: Callable[[str, AnyArray], AnyArray], touching: ContactRecords | None) -> Recording:
        """The same with all that has a frame changed: change(name, values (T, ...))."""
        fields = {name: change(name, value) for name, value in (self._fields() | {"time": self.time}).items()}
        extra = {name: (change(f"extra {name}", value), self.extra_units[name]) for name, value in self.extra.items()}
        return Recording(**fields, bodies=self.bodies, joints=self.joints, extra=extra, shapes=self.shapes, links=self.links,
                         colliders=self.colliders, visuals=self.visuals, touching=touching,
                         attributes=self.attributes)  # fmt: skip

    def to_xarray(self) -> Dataset:
        """An xarray Dataset with dimensions time, body, axis, quaternion and joint, units on every variable.

        >>> data = rec.to_xarray()
        >>> float(data.position.sel(body="rod", axis="x")[0]), data.position.units
        (1.0, 'm')
        """
        import xarray

        values = {"time": self.time, "axis": list("xyz"), "quaternion": list("wxyz"), "local_axis": list("xyz")}
        values |= {"body": np.array(self.bodies, str), "joint": np.array(self.joints, str)}
        fields = self._fields()
        if self.frame is None:
            del values["local_axis"]
        coordinates = {name: (name, value, _says(*COORDINATES[name])) for name, value in values.items()}
        variables = {name: (FIELDS[name][0], value, _says(*FIELDS[name][1:])) for name, value in fields.items()}
        facts, arrays = self._facts()
        for name, value in arrays.items():
            variables[name] = (tuple(f"{name}_{k}" for k in range(value.ndim)), value, _says("m or 1", "of a shape"))
        for name, value in self.extra.items():
            safe = name.replace("/", ".")  # a slash would be a group in the file
            while safe in variables or safe in coordinates:
                safe += "_"
            inner = ["axis" if size == 3 else f"entry{size}" for size in value.shape[1:]]
            inner = [d if d not in inner[:k] else f"{d}_{k}" for k, d in enumerate(inner)]  # each dimension once
            variables[safe] = (("time", *inner), value, _says(self.extra_units[name], name) | {"extra": name})
        if self.touching is not None:
            coordinates["collider"] = ("collider", np.array(self.touching.names, str), _says(*COORDINATES["collider"]))
            variables["contact_count"] = (("time",), self.touching.count, _says("1", "number of contacts"))
            for name, value in self.touching.columns().items():
                dimensions, *says = CONTACT_FIELDS[name]
                variables[f"contact_{name}"] = (dimensions, value, _says(*says))
        plain = {k: v for k, v in self.attributes.items() if _fits_netcdf(v)}
        return xarray.Dataset(variables, coordinates, {**plain, "linkwork": facts})

    def save(self, path: FilePath) -> Path:
        """Write a .nc (NetCDF, for any tool) or .npz (NumPy) file, whole or not at all; returns the path.

        >>> rec.save("run.nc").name
        'run.nc'
        """
        path = _ending(path, "save", ".nc", ".npz")
        self._check_times()
        with whole(path) as beside:
            if path.suffix == ".nc":
                self.to_xarray().to_netcdf(beside, engine="h5netcdf")
            else:
                arrays = self._fields() | {f"extra{i}": value for i, value in enumerate(self.extra.values())}
                extra = [(name, self.extra_units[name]) for name in self.extra]
                facts, solids = self._facts(bodies=self.bodies, joints=self.joints, extra=extra)
                arrays |= solids
                if self.touching is not None:
                    touching = self.touching.columns() | {
                        "count": self.touching.count,
                        "names": np.array(self.touching.names, str),
                    }
                    arrays |= {f"contact_{name}": value for name, value in touching.items()}
                np.savez(beside, time=self.time, facts=np.array(facts), **arrays)
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
            found._check_times()
            return found
        except NewerError:
            raise
        except Exception as error:  # whatever a file that somebody has changed makes zipfile, numpy, h5py and json raise
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise RecordingError(f'load: "{path}" is no whole recording ({reason}); give one that save has written') from error

    @classmethod
    def _made_of(cls, facts, fields, arrays):
        """From what a file says."""
        known: dict = {}  # one object for all that have the same shape
        placed: dict[str, Any] = {
            kind: [
                (name, body, shape_of(f'{kind[:-1]} "{name}"', given, arrays, known), *pose)
                for name, body, given, *pose in facts.get(kind, [])
            ]
            for kind in ("colliders", "visuals")
        }
        shapes = {name: shape_of(f'body "{name}"', given, arrays, known) for name, given in facts["shapes"].items()}
        return cls(**fields, shapes=shapes, links=facts["links"], **placed, attributes=facts["attributes"])

    def plot(self, body: ElementLike | None = None, path: FilePath | None = None) -> Figure:
        """A matplotlib Figure of the energies, drift and joint coordinates, or of the motion of one body.

        With a path (.png, .pdf, .svg) it is saved there; without one `matplotlib.pyplot.show()` shows it.

        >>> len(rec.plot("rod", path="rod.png").axes), len(rec.plot(path="run.svg").axes)
        (3, 4)
        """
        name: Any = getattr(body, "name", body)
        if name is not None:
            self._index(name, "body", self.bodies)
        path = None if path is None else _ending(path, "plot", ".png", ".pdf", ".svg")
        figure = _figure(shown=path is None)
        self._plot_run(figure) if name is None else self._plot_body(figure, self[name])
        figure.align_ylabels()
        if path is not None:
            with whole(path) as beside:
                figure.savefig(beside, dpi=150)
        return figure

    def animate(self, path: FilePath, *, fps: float = 25, size: tuple[int, int] = (640, 480),
                trace: ElementLike | Sequence[ElementLike] | None = None) -> Path:  # fmt: skip
        """A moving .gif at the pace of the recorded time, or a still .png of a few poses; returns the path.

        size: width and height in pixels; trace: a body, or several, whose path is drawn.

        >>> rec.animate("run.png", trace="rod").name
        'run.png'
        """
        from linkwork.viz import plot as drawing

        path = _ending(path, "animate", ".gif", ".png")
        if not 0 < fps <= 50:
            raise RecordingError(f"animate: fps is {fps}; give a number above 0 and up to 50, the most that a GIF shows")
        _check_size("animate", size)
        several = trace if isinstance(trace, (list, tuple)) else [] if trace is None else [trace]
        bodies = [self._index(getattr(item, "name", item), "body", self.bodies) for item in several]
        with whole(path) as beside:
            if path.suffix == ".gif":
                drawing.gif(self, beside, fps, tuple(size), bodies)
            else:
                drawing.still(self, beside, tuple(size), bodies)
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

    def _plot_run(self, figure):
        reactions = {name.removeprefix("reaction "): v for name, v in self.extra.items() if name.startswith("reaction ")}
        rows = 3 + bool(self.joints) + bool(reactions)
        if rows > 4:
            figure.set_size_inches(7, 8.5)
        energy, error, drift, *more = figure.subplots(rows, 1, sharex=True)
        energies = np.stack([self.kinetic, self.potential, self.energy], axis=1)
        _lines(energy, self.time, energies, ("kinetic", "potential", "total"))
        _dress(energy, "energy, J", legend=True)
        error.plot(self.time, self.energy - self.energy[0], color="#b86f7a", lw=1.3)
        _dress(error, "energy error, J")
        positive = self.drift > 0
        if positive.any():  # a logarithm has no place for zeros: they leave gaps
            gaps = {} if positive.all() else {"marker": ".", "ms": 2}
            drift.semilogy(self.time, np.where(positive, self.drift, np.nan), color="#8f7fa8", lw=1.3, **gaps)
        else:
            drift.plot(self.time, self.drift, color="#8f7fa8")
        _dress(drift, "drift, m")
        if self.joints:
            _lines(more[0], self.time, self.angle, self.joints)
            _dress(more[0], "joints, rad or m", legend=len(self.joints) <= 8)
        if reactions:
            forces = np.stack([np.linalg.norm(v, axis=1) for v in reactions.values()], axis=1)
            _lines(more[-1], self.time, forces, list(reactions))
            _dress(more[-1], "reactions, N", legend=len(reactions) <= 8)
        (more or [drift])[-1].set_xlabel("time, s")
        figure.suptitle(str(self.attributes.get("scene") or "run"), fontsize=11)

    def _plot_body(self, figure, record):
        labels = ("position, m", "velocity, m/s", "angular velocity, rad/s")
        panels = figure.subplots(3, 1, sharex=True)
        for axes, values, label in zip(
            panels, (record.position, record.velocity, record.angular_velocity), labels, strict=True
        ):
            _lines(axes, record.time, values, "xyz")
            _dress(axes, label, legend=axes is panels[0])
        panels[-1].set_xlabel("time, s")
        figure.suptitle(record.name, fontsize=11)

    def _check(self):
        sizes = {"time": len(self.time), "body": len(self.bodies), "joint": len(self.joints), "quaternion": 4}
        for name, value in self._fields().items():
            wanted = tuple(sizes.get(d, 3) for d in FIELDS[name][0])
            if value.shape != wanted:
                remedy = f"{len(self.time)} frames, {len(self.bodies)} bodies and {len(self.joints)} joints need {wanted}"
                raise RecordingError(f"Recording: {name} has shape {value.shape}; {remedy}")
        named = {body for link in self.links for body in (link[1], link[3])} | {
            body for _, body, *_ in (*self.colliders, *self.visuals)
        }
        for body in named - {None, *self.bodies}:
            self._index(body, "body", self.bodies)  # raises
        if self.touching is not None:
            self._check_touching()
            sizes |= {"contact": int(self.touching.count.sum()), "end": 2}
            for name, value in self.touching.columns().items():
                wanted = tuple(sizes.get(d, 3) for d in CONTACT_FIELDS[name][0])
                if value.shape != wanted or len(self.touching.count) != len(self.time):
                    raise RecordingError(f"Recording: contact_{name} has shape {value.shape}; its counts need {wanted}")
        for name, value in self.extra.items():
            if value.ndim == 0 or len(value) != len(self.time):
                raise RecordingError(f'Recording: extra "{name}" has shape {value.shape}; give {len(self.time)} frames')

    def _check_times(self):
        """In a file times increase."""
        back = np.flatnonzero(np.diff(self.time) <= 0)
        if len(back):
            k = int(back[0])
            raise RecordingError(f"Recording: time goes from {self.time[k]:g} s to {self.time[k + 1]:g} s in frame {k + 1}, "
                                 "and should increase; record parts that begin anew on their own")  # fmt: skip

    def _check_touching(self):
        """Counts, and numbers of bodies and colliders that are there."""
        table, frames = self.touching, len(self.time)
        assert table is not None
        for name, most in (("count", None), ("bodies", len(self.bodies)), ("colliders", len(table.names))):
            numbers, least = getattr(table, name), -1 if name == "bodies" else 0
            if numbers.dtype.kind not in "iu" or (numbers.size and numbers.min() < least):
                raise RecordingError(f"Recording: contact_{name} is {checks.show(numbers)}; give whole numbers from {least} on")
            if most is not None and numbers.size and numbers.max() >= most:
                raise RecordingError(f"Recording: contact_{name} has {numbers.max()}, and there are {most} {name}")
        if table.count.shape != (frames,):
            raise RecordingError(f"Recording: contact_count has shape {table.count.shape}; {frames} frames need ({frames},)")

    def _fields(self):
        return {name: getattr(self, name) for name in FIELDS if getattr(self, name) is not None}

    def _index(self, name: Any, sort: str, names: list[str]) -> int:
        if isinstance(name, str) and name in names:
            return names.index(name)
        near = difflib.get_close_matches(str(name), names, n=1)
        hint = f'did you mean "{near[0]}"?' if near else "it has " + (", ".join(names[:5]) or "none")
        raise UnknownNameError(f'Recording: there is no {sort} named "{name}"; {hint}')

    def _facts(self, **more):
        """What is no array, as JSON; and the arrays that shapes are made of, by the names that it has for them."""
        known = Described()
        facts = {
            "format": FORMAT,
            "shapes": {name: known(shape) for name, shape in self.shapes.items()},
            "links": self.links,
            "colliders": [(name, body, known(shape), *pose) for name, body, shape, *pose in self.colliders],
            "visuals": [(name, body, known(shape), *pose) for name, body, shape, *pose in self.visuals],
            "attributes": self.attributes,
        }
        text = json.dumps(facts | more, default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value))
        return text, known.arrays


def _ending(path: FilePath, what: str, *endings: str) -> Path:
    try:
        path = Path(path)
    except TypeError:
        raise RecordingError(f"{what}: path is {checks.show(path)}; give that of a file") from None
    if path.suffix not in endings:
        wrong = f"ends in neither {' nor '.join(endings)}" if len(endings) > 1 else f"does not end in {endings[0]}"
        raise RecordingError(f'{what}: "{path}" {wrong}; give {"one of these endings" if len(endings) > 1 else "that ending"}')
    return path


def _check_size(what, size):
    if len(size) != 2 or not all(32 <= pixels <= 8192 for pixels in size):
        raise RecordingError(f"{what}: size is {size}; give width and height in pixels, such as (640, 480)")


def _names(what, given):
    names = list(given)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise RecordingError(f"Recording: {what} are {checks.show(names)}; give names, each once")
    return names


def _numbers(name, given):
    """An array of floats; numbers that are written as text are none."""
    found = np.asarray(given)
    if found.dtype.kind not in "fiu":
        raise RecordingError(f"Recording: {name} is {checks.show(found)}; give real numbers")
    return found.astype(float, copy=False)


def _link(name, body_a, point_a, body_b, point_b):
    return (name, body_a, tuple(map(float, point_a)), body_b, tuple(map(float, point_b)))


def _collider(name, body, shape, position, orientation):
    return (name, body, shape, tuple(map(float, position)), tuple(map(float, orientation)))


def _visual(name, body, shape, position, orientation, color):
    return (*_collider(name, body, shape, position, orientation), None if color is None else tuple(map(float, color)))


def _fits_netcdf(value):
    """Whether it can stand as an attribute of its own; all of them are in the JSON besides."""
    return isinstance(value, (str, float)) or (type(value) is int and abs(value) < 2**63)


def _says(unit, text):
    return {"units": unit, "long_name": text}


def _figure(shown):
    """One that pyplot shows, or one of its own that is only saved."""
    if shown:
        from matplotlib import pyplot

        return pyplot.figure(figsize=(7, 7), layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 7), layout="constrained")


def _lines(axes, time, values, labels):
    from linkwork.viz.views import colours

    for column, label, colour in zip(values.T, labels, colours(len(labels)), strict=False):
        axes.plot(time, column, label=printable(label), color=colour, lw=1.3)


def _dress(axes, label, legend=False):
    axes.set_ylabel(label, fontsize=9)
    axes.grid(color="#e2dfd7", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", labelsize=8)
    axes.yaxis.get_offset_text().set_fontsize(8)
    axes.margins(x=0.01)
    if legend:
        for label in axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1)).get_texts():
            label.set_parse_math(False)  # a name with dollar signs is no formula
