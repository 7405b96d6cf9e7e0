"""Recorder: samples a running simulation and makes a Recording of what it has."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.contact.points import TouchingPoints
from linkwork.elements.bodies.ground import Ground
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.registry import kind_for
from linkwork.errors import LinkworkError
from linkwork.model import readout
from linkwork.model.graph import GROUND
from linkwork.model.model import Model
from linkwork.simulation.progress import watch
from linkwork.util import resources

if TYPE_CHECKING:
    from linkwork.recording.fields import ContactRecords
    from linkwork.recording.recording import Recording
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray, IntArray


A_POSE = 44  # numbers of a body in a frame: pose, velocities and axes, and the same once more while a recording is made
A_FRAME = 600  # bytes of a frame beside its numbers
PART = 0.1  # of memory that a recording may well take


PLACE, RATE = 0, 2  # of what kinds tell of points


@dataclass(frozen=True, eq=False)
class _Track:
    """What is recorded of a point of a body, beside poses."""

    extra: str  # its name in the recording
    unit: str
    body: Any
    local: FloatArray
    what: int


class Chapter:
    """The states of a run while its model was the same one, and so were the Parameters on which places of bodies depend."""

    def __init__(self, model: Model, work: FloatArray) -> None:
        self.model, self.work = model, work
        self.entries = _placing(model)
        self.values = work[self.entries]
        self.states: list[FloatArray] = []
        self.joints = [(str(e.name), k, part) for k, node in enumerate(model.nodes) for part, e in enumerate(node.elements)
                       if isinstance(e, Joint) and kind_of_joint(e).reading]  # fmt: skip

    def goes_on(self, model: Model, work: FloatArray) -> bool:
        return self.model is model and np.array_equal(work[self.entries], self.values)

    def numbers(self) -> FloatArray:
        """A workspace with the Parameters of the time."""
        if not len(self.entries):
            return self.work
        found = self.work.copy()
        found[self.entries] = self.values
        return found

    @property
    def bodies(self) -> list[str]:
        return [str(body.name) for body in self.model.bodies.elements]


def _placing(model: Model) -> IntArray:
    """Entries of Parameters on which places of bodies depend."""
    fields = [model.field_of_body(k, "user") for k, kind in enumerate(model.bodies.kinds) if kind.users_function]
    return np.array([entry for field in fields for entry in range(field.start, field.stop)], dtype=np.int64)


class Recorder:
    """Keeps the state, energies and drift of each sample; poses and angles are computed once, at the end. Of bodies and joints
    that come or go while it runs there is no number (NaN) where they are not."""

    def __init__(self, sim: Simulation, reactions: list[str]) -> None:
        self.sim = sim
        self.chapters: list[Chapter] = []
        self.reactions = reactions
        touches = sim._editor.follow().contact is not None
        for name in reactions:
            sim.reaction(name)
        self.samples: list[tuple[Any, ...]] = []
        self.told: list[tuple[tuple[Any, ...], FloatArray]] = []  # of sensors: what there are, and their numbers
        self.touched: list[TouchingPoints] | None = [] if touches else None
        self.note: str | None = None

    def take(self) -> None:
        """One sample, now."""
        sim = self.sim
        energy, drift = sim.energy(), sim.drift()
        with np.errstate(over="ignore", invalid="ignore"):  # the last frames of a run that blew up hold huge numbers
            pulls = [sim.reaction(name) for name in self.reactions]
        if not self.chapters or not self.chapters[-1].goes_on(sim.model, sim.work):
            self.chapters.append(Chapter(sim.model, sim.work))
        self.chapters[-1].work = sim.work
        self.chapters[-1].states.append(sim.work[sim.model.state_index])
        self.samples.append((sim.time, energy.kinetic, energy.potential, drift, pulls))
        if sim.world.sensors or self.told:
            with np.errstate(over="ignore", invalid="ignore"):
                self.told.append((sim.world.sensors, sim.sensors.values))
        if self.touched is not None:
            self.touched.append(sim.contacts() if sim._system.contact is not None else TouchingPoints())

    def refuse_too_many(self, frames: int, seconds: float) -> None:
        """Refuse more frames than memory can hold, before the first is taken."""
        model = self.sim.model
        bodies, joints = len(model.bodies.elements), len(Chapter(model, self.sim.work).joints)
        numbers = 3 * len(model.state_index) + A_POSE * bodies + joints + 6 * len(self.reactions)
        size = frames * (8 * numbers + A_FRAME)
        need = resources.too_large(size)
        if need is not None:
            longer = seconds / frames * size / (PART * (resources.installed() or size))
            remedy = f"give a longer record_every, such as {float(f'{longer:.1g}'):g}, or None for the two ends alone"
            raise LinkworkError(f"Simulation: {frames:.3g} frames need {need}; {remedy}")

    @contextmanager
    def watch(self, total: int, progress: bool | None) -> Iterator[Callable[..., Any]]:
        """A function of the steps done that shows a bar when the run takes long."""
        with watch(total, sys.stderr.isatty() if progress is None else progress) as watched:
            yield watched

    def recording(self) -> Recording:
        from linkwork.recording.recording import Recording

        sim = self.sim
        times, kinetic, potential, drift, pulls = zip(*self.samples, strict=True)
        bodies, joints, poses, angles, tracks = self._motion()
        stretching = any(kind.stretches for kind in sim.model.bodies.kinds)
        extra: dict[str, Any] = {track.extra: (values, track.unit) for track, values in tracks.items()}
        for k, name in enumerate(self.reactions):
            extra[f"reaction {name}"] = np.array([p[k].force for p in pulls])
            extra[f"torque {name}"] = np.array([p[k].torque for p in pulls])
        sensors, told = self._sensors()
        extra |= told
        attributes = {"dt": sim.dt, "solver": sim.solver, "integrator": sim.integrator_name, "steps": sim.steps}
        if self.note:
            attributes["note"] = self.note
        shapes = {b.name: getattr(b, "shape", None) for chapter in self.chapters for b in chapter.model.bodies.elements}
        return Recording(
            time=np.array(times), bodies=bodies, position=poses.position, orientation=poses.orientation,
            velocity=poses.velocity, angular_velocity=poses.angular_velocity, kinetic=np.array(kinetic),
            potential=np.array(potential), drift=np.array(drift), joints=joints, angle=angles,
            frame=poses.frame if stretching else None, extra=extra, shapes=shapes, links=self._links(),
            colliders=self._colliders(), visuals=self._visuals(), frames=self._frames(), sensors=sensors,
            touching=self._contacts(), attributes=attributes,
        )  # fmt: skip

    def _motion(self) -> tuple[list[str], list[str], readout.Poses, FloatArray, dict[_Track, FloatArray]]:
        """Names of all bodies and of joints with an angle or travel; poses (samples, bodies, ...), angles (samples, joints);
        what poses do not tell of points (samples, 3)."""
        bodies = list(dict.fromkeys(name for chapter in self.chapters for name in chapter.bodies))
        joints = list(dict.fromkeys(name for chapter in self.chapters for name, _, _ in chapter.joints))
        of_body, of_joint = ({name: k for k, name in enumerate(names)} for names in (bodies, joints))
        shape = (len(self.samples), len(bodies))
        blank = readout.Poses.blank(shape[0] * shape[1])
        poses = readout.Poses(*(np.full((*shape, *value.shape[1:]), np.nan) for value in vars(blank).values()))
        angles, first = np.full((len(self.samples), len(joints)), np.nan), 0
        tracks = {track: np.full((len(self.samples), 3), np.nan) for track in self._tracked()}
        for chapter in self.chapters:
            with np.errstate(over="ignore", invalid="ignore"):  # the last frames of a run that blew up hold huge numbers
                motion = _Motion(chapter.model, chapter.numbers(), np.array(chapter.states))
                found = [motion.coordinate(node, part) for _, node, part in chapter.joints]
            frames, first = slice(first, first + len(chapter.states)), first + len(chapter.states)
            columns = [of_body[name] for name in chapter.bodies]
            for field, values in vars(motion.poses).items():
                getattr(poses, field)[frames, columns] = values
            for (name, _, _), values in zip(chapter.joints, found, strict=True):
                angles[frames, of_joint[name]] = values
            for track, values in tracks.items():
                if (number := chapter.model.bodies.number.get(id(track.body))) is not None:
                    values[frames] = motion.located(number, track.local)[track.what]
        return bodies, joints, poses, angles, tracks

    def _tracked(self) -> Iterator[_Track]:
        """Places of colliders that move as no frame does, and velocities of frames on what stretches."""
        from linkwork.recording.frames import velocity_of

        touching: list[Any] = [c for c in self.sim.world.contacts if c.touched]
        for c in touching:
            if not (isinstance(c.body, Ground) or kind_for(c.body).framed) and c.position.any():
                yield _Track(f"place {c.name}", "m", c.body, c.position, PLACE)
        frames: list[Any] = list(self.sim.world.frames)
        for f in frames:
            if not isinstance(f.body, Ground) and kind_for(f.body).stretches:
                yield _Track(velocity_of(str(f.name)), "m/s", f.body, f.position, RATE)

    def _links(self) -> list[tuple[Any, ...]]:
        """Anchors of joints and rods, in the users' frames."""
        sim, found, local_of = self.sim, [], self._to_users_frames()
        for k, node in enumerate(sim.model.nodes):
            for part, element in enumerate(node.elements):
                piece = node.kind.parts[part]
                if not piece.kind.anchored:
                    continue
                p = readout.numbers(sim.model, sim.work, k, part)
                ends = piece.arranged(node.ends)
                if any(b != GROUND and not sim.model.bodies.kinds[b].framed for b in ends):
                    continue  # whose points move as no frame does
                local = [local_of(body, anchor) for body, anchor in zip(ends, (p["on_a"], p["on_b"]), strict=True)]
                names = [None if b == GROUND else sim.model.bodies.elements[b].name for b in ends]
                if names[1] is None:  # drawings have the ground first
                    names, local = names[::-1], local[::-1]
                found.append((element.name, names[0], local[0], names[1], local[1]))
        return found

    def _colliders(self) -> list[tuple[Any, ...]]:
        """Shapes beside those of bodies, and where they are on them."""
        touching: list[Any] = [c for c in self.sim.world.contacts if c.touched]
        return [(c.name, c.body.name if c.body.dim else None, c.shape, c.position, c.orientation) for c in touching]

    def _visuals(self) -> list[tuple[Any, ...]]:
        """What is shown in the place of shapes, and where it is on its body."""
        seen: list[Any] = list(self.sim.world.visuals)
        return [(v.name, v.body.name if v.body.dim else None, v.shape, v.position, v.orientation, v.color) for v in seen]

    def _frames(self) -> list[tuple[Any, ...]]:
        """The frames of the world, and where they are on their bodies."""
        frames: list[Any] = list(self.sim.world.frames)
        return [(f.name, f.body.name if f.body.dim else None, f.position, f.orientation) for f in frames]

    def _sensors(self) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
        """All sensors that there were with their channels, and the extras that have their numbers: NaN where they were not."""
        from linkwork.recording.sensors import extras

        known = {str(s.name): (s, kind_for(s).channels(s)) for there, _ in self.told for s in there}
        names = [(name, [tuple(channel) for channel in channels]) for name, (_, channels) in known.items()]
        ends = np.cumsum([0, *(len(channels) for _, channels in names)]).tolist()
        values = np.full((len(self.samples), ends[-1]), np.nan)
        place = {id(known[name][0]): slice(*pair) for (name, _), pair in zip(names, pairwise(ends), strict=True)}
        missing = len(self.samples) - len(self.told)
        for k, (there, numbers) in enumerate(self.told, start=missing):
            first = 0
            for sensor in there:
                at = place.get(id(sensor), slice(0, 0))
                count = len(kind_for(sensor).channels(sensor))
                values[k, at] = numbers[first : first + count][: at.stop - at.start]
                first += count
        return names, extras(names, values)

    def _contacts(self) -> ContactRecords | None:
        """The contacts of all samples, one after another, with numbers in the place of bodies and colliders."""
        from linkwork.recording.fields import ContactRecords

        if self.touched is None:
            return None
        found = [point for points in self.touched for point in points]
        number = {id(body): k for k, body in enumerate(self.sim.model.bodies.elements)}
        names = list(dict.fromkeys(element.name for point in found for element in point.colliders))
        place = {name: k for k, name in enumerate(names)}
        count = np.array([len(points) for points in self.touched], dtype=np.int64)
        bodies = np.array([[number.get(id(body), GROUND) for body in p.bodies] for p in found], dtype=np.int64)
        colliders = np.array([[place[element.name] for element in p.colliders] for p in found], dtype=np.int64)
        every = TouchingPoints(found)
        return ContactRecords(names, count, bodies.reshape(-1, 2), colliders.reshape(-1, 2), every.points, every.normals,
                              every.gaps, every.forces, every.impulses, every.torques)  # fmt: skip

    def _to_users_frames(self) -> Callable[..., Any]:
        """local(body, point): a point of a body's internal frame, as users have it. The two differ where the compiler moves the
        origin."""
        model, work = self.sim.model, self.sim.work
        where: dict[int, tuple[FloatArray, FloatArray]] = {}  # of these bodies: axes and origin of the user's frame in it
        for some in model.bodies.members.values():
            if (kind := model.bodies.kinds[some[0]]).movable_origin:
                home, turn = readout.fields(model, work, kind, np.array(some, dtype=np.int64), "home", "turn")
                where |= dict(zip(some, zip(turn.reshape(-1, 3, 3).transpose(0, 2, 1), home, strict=True), strict=True))

        def local(body: int, point: FloatArray) -> FloatArray:
            if body not in where:
                return point.copy()
            axes, home = where[body]
            found: FloatArray = axes @ (point - home)
            return found

        return local


class _Motion:
    """Poses of all bodies over all samples, from their states."""

    def __init__(self, model: Model, work: FloatArray, states: FloatArray) -> None:
        self.model, self.work, self.states = model, work, states
        samples, _ = states.shape
        self.column = {int(entry): k for k, entry in enumerate(model.state_index)}
        self.coordinates: dict[str, FloatArray] = {}  # kind -> (samples, bodies of the kind, nq + nv)
        shape = (samples, len(model.bodies.kinds))
        blank = readout.Poses.blank(shape[0] * shape[1])
        self.poses = readout.Poses(*(value.reshape(*shape, *value.shape[1:]) for value in vars(blank).values()))
        for name, members in model.bodies.members.items():
            kind, numbers = model.bodies.kinds[members[0]], np.array(members)
            width = kind.nq + kind.nv
            first = self.column[int(model.body_at[members[0]]) + kind.record.offset("q")]
            block = states[:, first : first + len(members) * width].reshape(samples, len(members), width)
            self.coordinates[name] = block
            flat = block.reshape(-1, width)
            constants = readout.fields(model, work, kind, numbers, *kind.constants)
            repeated = [np.tile(x, (samples, 1)) for x in constants]
            found = kind.poses(flat[:, : kind.nq], flat[:, kind.nq :], *repeated)
            for field, values in vars(found).items():
                getattr(self.poses, field)[:, numbers] = values.reshape(samples, len(members), *values.shape[1:])

    def located(self, body: int, local: FloatArray) -> list[FloatArray]:
        """Of a point of a body over the samples: PLACE (samples, 3), Jacobian, RATE (samples, 3), bias."""
        kind: Any = self.model.bodies.kinds[body]
        found = self.coordinates[kind.name][:, self.model.bodies.place[body]]
        same = [np.tile(x, (len(found), 1)) for x in (local, *readout.of_body(self.model, self.work, body))]
        result: list[FloatArray] = kind.located(found[:, : kind.nq], found[:, kind.nq :], *same)
        return result

    def _internal(self, body: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Axes, deformations and origins of a body's internal frame over the samples."""
        model, samples = self.model, len(self.states)
        if body == GROUND:
            still = np.tile(np.eye(3), (samples, 1, 1))
            return still, still, np.zeros((samples, 3))
        kind = model.bodies.kinds[body]
        own = readout.Poses(*(values[:, body] for values in vars(self.poses).values()))
        return kind.internal_frame(self.coordinates[kind.name][:, model.bodies.place[body]], own)

    def coordinate(self, node_number: int, part: int) -> FloatArray:
        """The angle or travel of a joint over the samples."""
        node = self.model.nodes[node_number]
        piece, p = node.kind.parts[part], readout.numbers(self.model, self.work, node_number, part)
        a, b = piece.arranged(node.ends)
        (Ra, Fa, xa), (Rb, Fb, xb) = self._internal(a), self._internal(b)
        if piece.kind.counters:
            start = (p["turns"].__array_interface__["data"][0] - self.work.__array_interface__["data"][0]) // 8
            return readout.angle(Ra, Rb, p, self.states[:, [self.column[start], self.column[start + 1]]])
        apart = xb + Fb @ p["on_b"] - xa - Fa @ p["on_a"]
        found: FloatArray = np.sum((Ra @ p["axis_a"]) * apart, axis=1)
        return found
