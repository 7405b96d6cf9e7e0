"""Setting everything at once: coordinates and velocities of all joints, or poses and velocities of all bodies.

Everything is written and looked at before it counts: what is off the constraints is refused, and then nothing has changed, or
projected, by the least displacement (simulation/assembly.py) and the least impulse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Body
from linkwork.errors import LinkworkError
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.model.model import State
from linkwork.model.state_transfer import transferred
from linkwork.simulation.residuals import worst as worst_of
from linkwork.simulation.start import start_turns

if TYPE_CHECKING:
    from linkwork.simulation.coordinates import Coordinate
    from linkwork.simulation.reads import Reads
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray, Numbers

OFF = 1e-6  # m, rad, m/s, rad/s: by which constraints may be off
CONSISTENT = 1e-10  # m/s, rad/s: velocities that need no more impulses
ELSEWHERE = 1e-9  # m, rad, m/s, rad/s: between where a body was told to be and where it can be
ROUNDS = 8  # impulses that make velocities consistent, at most


def set_state(reads: Reads, given: Mapping[str, Numbers | None], project: bool) -> None:
    """`Simulation.set_state`, which says what it does."""
    system = reads.system
    arrays = {name: _array(system, reads, name, value) for name, value in given.items() if value is not None}
    by_joints, by_bodies = [name for name in arrays if name in ("q", "qd")], [n for n in arrays if n not in ("q", "qd")]
    if by_joints and by_bodies:
        raise LinkworkError(f"Simulation: both {by_joints[0]} and {by_bodies[0]} are given; set joints or bodies, not both")
    if not arrays:
        return
    before = system.state()
    try:
        if by_joints:
            _write_coordinates(system, reads, arrays)
        else:
            _write_bodies(system, reads, arrays)
        if project:
            _project(system)
        _refuse_violated(system)
        values = system.work[system.model.state_index]
    finally:  # the state that is taken below begins as any other does
        system.work[system.model.state_index] = before.values
        system.changed()
    system.take(State(values, before.time, before.steps, 0, before.layout, None, before.arrangement))


def _array(system: System, reads: Reads, name: str, value: Any) -> FloatArray:
    """One of the arrays, of the shape and the numbers that it must have."""
    own, n = reads.coordinates if name in ("q", "qd") else None, len(system.model.bodies.elements)
    shapes = {"positions": (n, 3), "orientations": (n, 4), "velocities": (n, 6)}
    shape = shapes[name] if own is None else (own.nq if name == "q" else own.nv,)
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise LinkworkError(f"Simulation: {name} is {checks.show(value)}; give an array of the shape {shape}") from None
    if found.shape != shape:
        raise LinkworkError(f"Simulation: {name} has the shape {found.shape}; give {shape}, as sim.{name} has it")
    if not np.isfinite(found).all():
        wrong = tuple(int(k) for k in np.argwhere(~np.isfinite(found))[0])
        whose = checks.label(system.model.bodies.elements[wrong[0]]) if own is None else str(
            (own.q_names if name == "q" else own.qd_names)[wrong[0]])  # fmt: skip
        where = ", ".join(map(str, wrong))
        raise LinkworkError(f"Simulation: {name}[{where}] is {found[wrong]:g} ({whose}); give finite numbers")
    return found


def _write_coordinates(system: System, reads: Reads, arrays: Mapping[str, FloatArray]) -> None:
    own, model = reads.coordinates, system.model
    q = arrays.get("q", reads.q()).copy()
    qd = arrays.get("qd", reads.qd())
    for name, (where, _) in own.at.items():
        _normalise(f"q of {checks.label(system.world.find(name))}", q[where], own.q_names[where])
    for number in own.others:
        where, rates = own.at[str(model.bodies.elements[number].name)]
        system.work[model.field_of_body(number, "q")] = q[where]
        system.work[model.field_of_body(number, "v")] = qd[rates]
    angles: dict[int, FloatArray] = _angles(system, reads)
    if own.tree is not None:
        from linkwork.reduced.convert import to_bodies

        nq, nv = own.tree.nq, own.tree.nv
        there = to_bodies(own.tree, q[:nq], qd[:nv])
        numbers = [model.bodies.number[id(body)] for body, _, _ in own.tree.bodies]
        meant = reads.bodies.array("orientations", 4).copy()  # of the two quaternions of a turn: as given, else the nearer one
        for link in own.tree.links:
            where, _ = own.at[str(link.element.name)]
            if isinstance(link.element, Body):
                meant[model.bodies.number[id(link.element)]] = q[where][3:]
            turns = [name.unit == "rad" for name in own.q_names[where]]
            angles[id(link.element)] = q[where][turns]
        _put(system, numbers, there.position, _signed(there.orientation, meant[numbers]), there.velocity)
    _written(system, angles)


def _signed(quaternions: FloatArray, like: FloatArray) -> FloatArray:
    """Quaternions (k, 4) of the same turns, with the signs of others."""
    return quaternions * np.where(np.sum(quaternions * like, axis=1, keepdims=True) < 0, -1.0, 1.0)


def _normalise(who: str, q: FloatArray, names: tuple[Coordinate, ...]) -> None:
    """Make quaternions among the coordinates of one element unit ones, in place."""
    at = [k for k, name in enumerate(names) if name.what.startswith("quaternion")]
    if at:
        q[at] = checks.quaternion("Simulation", who, q[at])


def _write_bodies(system: System, reads: Reads, arrays: Mapping[str, FloatArray]) -> None:
    elements, angles = system.model.bodies.elements, _angles(system, reads)
    wanted = {name: arrays.get(name, reads.bodies.array(name, width))
              for name, width in (("positions", 3), ("orientations", 4), ("velocities", 6))}  # fmt: skip
    if "orientations" in arrays:
        wanted["orientations"] = np.array([checks.quaternion("Simulation", f"orientations of {checks.label(body)}", row)
                                           for body, row in zip(elements, wanted["orientations"], strict=True)])  # fmt: skip
    for members in system.model.bodies.members.values():
        _put(system, members, *(array[members] for array in wanted.values()))
    _written(system, angles)
    for name, array in wanted.items():
        found = reads.bodies.array(name, array.shape[1])
        if name == "orientations":  # of the two quaternions of a turn either will do
            found = _signed(found, array)
        off = np.abs(found - array).max(axis=1)
        if not (off <= ELSEWHERE * (1 + np.abs(array).max(axis=1))).all():
            k = int(np.argmax(off))
            told = f"{name}[{k}] is {checks.show(array[k])}, {off[k]:.3g} away from what a body of its kind can have"
            raise LinkworkError(f"{checks.label(elements[k])}: {told}; give another, or set its coordinates by q")


def _put(system: System, numbers: list[int], position: FloatArray, orientation: FloatArray, velocity: FloatArray) -> None:
    """Bodies of one kind, by number, as near to these poses as their kind can be."""
    model = system.model
    kind = model.bodies.kinds[numbers[0]]
    batch = model.bodies.batch(kind, list(numbers))
    q, v = (np.array([system.work[model.field_of_body(number, name)] for number in numbers]) for name in ("q", "v"))
    for name, values in zip(("q", "v"), kind.written(batch, q, v, position, orientation, velocity), strict=True):
        for number, row in zip(numbers, values, strict=True):
            system.work[model.field_of_body(number, name)] = row


def _angles(system: System, reads: Reads) -> dict[int, FloatArray]:
    """Angles (rad, turns counted) of joints now, by id: the turns of a joint that is set elsewhere are the nearest."""
    return {id(system.world.find(name)): np.array([reads.joint(name, rate=False)])
            for name, place in system.schedules.readings.joint.items() if place.names[0] == "angle"}  # fmt: skip


def _written(system: System, angles: Mapping[int, FloatArray]) -> None:
    system.validity.changed()
    system.place()
    start_turns(system, angles)
    system.validity.changed()


def _project(system: System) -> None:
    """Positions, then velocities, onto the constraints."""
    from linkwork.simulation.assembly import Assembler  # which few need

    model = system.model
    if worst_of(system, velocity=False)[0] > 0.0:
        assembler = Assembler(system.active_world)
        assembler.work[0] = system.time
        for name, (_, entries) in model.parameters.items():
            assembler.work[assembler.model.parameters[name][1]] = system.work[entries[0]]
        assembler.work[assembler.model.state_index] = transferred(model, assembler.model, system.work[model.state_index])
        assembler.run(*assembler.look)
        assembler.come_together()
        system.work[model.state_index] = transferred(assembler.model, model, assembler.work[assembler.model.state_index])
        system.validity.changed()
        system.place()
        system.integrator.run(system.work, system.schedules.count_all())
        system.validity.changed()
    if system.options.first_order:
        return
    for _ in range(ROUNDS):
        if not worst_of(system, velocity=True)[0] > CONSISTENT:
            return
        system.factor()
        system.integrator.run(system.work, system.schedules.body(BodyKernel.APPLY_IMPULSE))
        system.validity.changed()


def _refuse_violated(system: System) -> None:
    levels = (False,) if system.options.first_order else (False, True)
    for velocity in levels:
        worst, element = worst_of(system, velocity)
        if not worst <= OFF:
            what = "velocities are off by" if velocity else "it is off by"
            raise LinkworkError(f"{checks.label(element)}: {what} {worst:.3g} in the state that was given; give one on the "
                                "constraints, or project=True")  # fmt: skip
