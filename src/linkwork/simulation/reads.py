"""Reads: what of a System can be read now, by one compiled call when somebody asks, valid until the next change."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError
from linkwork.kernels.readings import LOAD, reaction_size
from linkwork.model.graph import GROUND
from linkwork.schedules.frame_readings import FrameReadings, frame_readings
from linkwork.simulation.coordinates import Coordinates
from linkwork.simulation.lookup import lookup, name_of
from linkwork.simulation.pose_readout import PoseReadout, Readout
from linkwork.simulation.reactions import least_pull, least_wrench, solve_accelerations, touched_at

if TYPE_CHECKING:
    from linkwork.elements.core.joint import JointLike
    from linkwork.schedules.readings import JointAt
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray, IntArray


class Load(NamedTuple):
    """What a force puts on a body: force (3, N) and torque (3, N m) about the point `at` (3, m), all in the world."""

    force: FloatArray
    torque: FloatArray
    at: FloatArray


class Loads(NamedTuple):
    """What forces put on bodies, a row each, as `Load` has it."""

    names: tuple[str, ...]
    force: FloatArray  # (k, 3), N
    torque: FloatArray  # (k, 3), N m
    at: FloatArray  # (k, 3), m


def _second(ends: tuple[int, ...]) -> int:
    """Which of its bodies a force is told of: the second, or the first where that moves alone."""
    return 1 if ends[1] != GROUND else 0


class Reads:
    """What of the motion can be read in a System."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._frame_accelerations: Readout | None = None
        self._joints: Readout | None = None
        self._motion: Readout | None = None
        self._forces: Readout | None = None
        self._rows: tuple[tuple[str, ...], IntArray] | None = None  # of forces: their names, and where they are read
        self._loads: tuple[int, Loads] | None = None  # at which count, and what was told
        self._solved: Readout | None = None
        self._reaction_at: dict[tuple[int, int], tuple[int, int, slice, bool]] = {}

    @cached_property
    def bodies(self) -> PoseReadout:
        """Of all bodies, in the order of the world."""
        readings = self.system.schedules.readings
        return PoseReadout(self.system, readings.poses, np.zeros(readings.size), readings.span)

    # -- frames ----------------------------------------------------------------------------------------------------------
    @cached_property
    def _frame_readings(self) -> FrameReadings:
        return frame_readings(self.system.schedules.readings)

    @cached_property
    def frames(self) -> PoseReadout:
        """Of all frames, in the order of the world."""
        found = self._frame_readings
        return PoseReadout(self.system, found.operations, found.start, found.span)

    @property
    def frame_number(self) -> dict[str, int]:
        """By name, in the order of the world."""
        return self._frame_readings.number

    def frame_acceleration(self, number: int, first: int) -> FloatArray:
        """The linear (first: 0) or angular (3) acceleration of a frame."""
        system, told = self.system, self._frame_accelerations
        if told is None:
            found = self._frame_readings
            told = self._frame_accelerations = Readout(
                system.schedules.readings, found.acceleration_operations, found.acceleration_start
            )
        if told.count != system.validity.count:
            solve_accelerations(system)
            told.fill(system.work, system.validity.count)
        return told.out[6 * number + first : 6 * number + first + 3].copy()

    # -- joints ----------------------------------------------------------------------------------------------------------
    def joints(self) -> FloatArray:
        """The readout of angles, travels and their rates, of now."""
        system, joints = self.system, self._joints
        if joints is None:
            readings = system.schedules.readings
            joints = self._joints = Readout(readings, readings.joints, np.zeros(readings.joints_size))
        if joints.count != system.validity.count:
            joints.fill(system.work, system.validity.count)
        return joints.out

    def joint(self, joint: JointLike, rate: bool) -> float:
        """The first coordinate of a joint, or its rate."""
        place = self._place(joint)
        return self.joints().item(place.rate if rate else place.value)

    def travel(self, joint: JointLike) -> float:
        """The travel of a joint that has one."""
        place = self._place(joint)
        if "travel" not in place.names:
            raise LinkworkError(f"{checks.label(self.system.world.find(joint))}: it does not travel; ask for its angle")
        return self.joints().item(place.value + place.names.index("travel"))

    # -- coordinates -----------------------------------------------------------------------------------------------------
    @cached_property
    def coordinates(self) -> Coordinates:
        return Coordinates(self.system.model, self.system.schedules.readings)

    def q(self) -> FloatArray:
        return self._moving(0, self.coordinates.nq)

    def qd(self) -> FloatArray:
        return self._moving(self.coordinates.nq, self.coordinates.nq + self.coordinates.nv)

    def _moving(self, first: int, last: int) -> FloatArray:
        motion, valid = self._motion, self.system.validity
        if motion is None:
            own = self.coordinates
            motion = self._motion = Readout(self.system.schedules.readings, own.operations, own.start)
        if motion.count != valid.count:
            motion.fill(self.system.work, valid.count)
        found = motion.out[first:last]
        found.flags.writeable = False
        return found

    # -- forces ----------------------------------------------------------------------------------------------------------
    def forces(self) -> FloatArray:
        """The readout of what all forces do, of now."""
        system, forces = self.system, self._forces
        if forces is None:
            operations, size, _ = system.schedules.readings.forces()
            forces = self._forces = Readout(system.schedules.readings, operations, np.zeros(size))
        if forces.count != system.validity.count:
            forces.fill(system.work, system.validity.count)
        return forces.out

    def force(self, number: int, end: int | None) -> Load:
        """What a force puts on one of its bodies, unless one is said the second, or the only one."""
        system, out = self.system, self.forces()
        force = system.model.forces[number]
        at = system.schedules.readings.forces()[2][str(force.element.name)][_second(force.ends) if end is None else end]
        load = out[at : at + LOAD].copy()
        return Load(load[:3], load[3:6], load[6:])

    def loads(self) -> Loads:
        """What all forces put on their second bodies, or their only ones."""
        if self._loads is not None and self._loads[0] == self.system.validity.count:
            return self._loads[1]
        out = self.forces()
        if self._rows is None:
            model, (_, _, where) = self.system.model, self.system.schedules.readings.forces()
            ends = [model.forces[model.names[name][1]].ends for name in where]
            first = [starts[_second(own)] for starts, own in zip(where.values(), ends, strict=True)]
            self._rows = tuple(where), np.array(first, dtype=np.int64) // LOAD
        names, rows = self._rows
        found = out.reshape(-1, LOAD)[rows]
        found.flags.writeable = False
        told = Loads(names, found[:, :3], found[:, 3:6], found[:, 6:])
        self._loads = self.system.validity.count, told
        return told

    # -- accelerations and reactions -------------------------------------------------------------------------------------
    def solved(self) -> FloatArray:
        """The readout of accelerations and reactions, of now: one refined solve for all of them."""
        system, solved = self.system, self._solved
        if solved is None:
            operations, size, _ = system.schedules.readings.reactions()
            solved = self._solved = Readout(system.schedules.readings, operations, np.zeros(size))
        if solved.count != system.validity.count:
            solve_accelerations(system)
            solved.fill(system.work, system.validity.count)
        return solved.out

    def acceleration(self, number: int, first: int) -> FloatArray:
        """The linear (first: 0) or angular (3) acceleration of a body."""
        return self.solved()[6 * number + first : 6 * number + first + 3].copy()

    def reaction(self, node: int, part: int, end: int | None) -> tuple[Any, ...]:
        """Force, torque, the point `at`, multipliers, and whether these are determined: of a constraint on a body of its node,
        unless one is said its second body, or its only one."""
        out, system = self.solved(), self.system
        known = self._reaction_at.get((node, part))
        if known is None:
            known = self._reaction_at[node, part] = self._place_of_reaction(node, part)
        first, second, rows, plain = known
        end = second if end is None else end
        at = first + LOAD * end
        if plain:
            load = out[at : at + LOAD].copy()
            told = load[:3], load[3:6], load[6:]
        else:
            told = self._other_reaction(node, part, end, out[at : at + LOAD])
        determined, item = True, system.model.nodes[node]
        if system.least_norm is not None:
            determined = system.least_norm.determined(node, item.rows_of(item.elements[part]))
        return *told, out[rows].copy(), determined

    def _place_of_reaction(self, node: int, part: int) -> tuple[int, int, slice, bool]:
        """Where the loads of a constraint begin in the readout, which end it is told of, where its multipliers are, and whether
        nothing else need be asked."""
        system, item = self.system, self.system.model.nodes[node]
        begin = system.schedules.readings.reactions()[2][node]
        a, b, *_ = item.kind.parts[part].arranged(item.ends)
        rows, size = item.rows_of(item.elements[part]), reaction_size(item.kind)
        first = begin + size - item.kind.size
        kinds = [kind for kind in item.kind.kinds if kind is not None]
        plain = all(kind.tells_wrench for kind in kinds) and touched_at(system, node, part) is None
        second = item.ends.index(b if b != GROUND else a)
        return begin + LOAD * len(item.ends) * part, second, slice(first + rows.start, first + rows.stop), plain

    def _other_reaction(self, node: int, part: int, end: int, load: FloatArray) -> tuple[Any, ...]:
        """On a body whose kind tells no wrench, or told where surfaces touch."""
        system, kind = self.system, self.system.model.nodes[node].kind.kinds[end]
        if kind is not None and not kind.tells_wrench:
            solve_accelerations(system)
            return least_pull(system, node, part, end) if not kind.framed else least_wrench(system, node, part, end)
        force, torque, at = load.reshape(3, 3)
        touched = touched_at(system, node, part)
        if touched is None:
            return force.copy(), torque.copy(), at.copy()
        return force.copy(), torque - np.cross(touched - at, force), touched

    def _place(self, joint: JointLike) -> JointAt:
        system = self.system
        place = system.schedules.readings.joint.get(name_of(joint))
        if place is None:
            node, part = lookup(system, joint, "constraint")
            label = checks.label(system.model.nodes[node].elements[part])
            raise LinkworkError(f"{label}: it has no angle or travel; ask a hinge, slider, cylinder or screw")
        return place
