"""Accelerations, multipliers and what constraints put on bodies, from one refined solve; impulses of the last step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.model import readout
from linkwork.model.graph import GROUND
from linkwork.model.least_norm import LeastNorm
from linkwork.model.nodes import blocks_of
from linkwork.simulation.body_points import carried_point
from linkwork.simulation.start import PROXIMAL
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem
    from linkwork.elements.contacts import ContactElement
    from linkwork.elements.core.element import Body, Element
    from linkwork.model.measures import Measure
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray

EXCESSIVE = 1e3  # times the shortest multipliers: longer ones come from rows that contradict each other
STIFFNESS, DAMPING, KICK = (GLOBALS.offset(name) for name in ("stiffness", "damping", "kick"))


class Reaction(NamedTuple):
    """What a constraint puts on a body: force (3, N) and torque (3, N m) about `at`, in the world; `generalised` are the
    multipliers of its rows. `determined`: not so where other constraints hold the same, as in most closed linkages of
    hinges; then this is its part when all of them together pull as little as they can (least norm, N and N m alike)."""

    force: FloatArray
    torque: FloatArray
    at: FloatArray
    generalised: FloatArray
    determined: bool = True


def solve_accelerations(system: System) -> None:
    """Accelerations and multipliers of this moment, without feedback; the next step starts from fresh factors."""
    if system.validity.accelerations:
        return
    complete_impulses(system)
    work, p = system.work, system.schedules
    kept = work.item(STIFFNESS), work.item(DAMPING)
    work[STIFFNESS] = work[DAMPING] = 0.0
    work[KICK] = 1.0
    refinements = PROXIMAL if system.model.soft and not p.iterates else 1
    if system.contact is None or not system.contact.before_count:
        system.run(p.accelerations(refinements))
    else:
        _solve_with_contact_forces(system, refinements)
    system.validity.placed()
    shared = system.model.redundant or (system.model.soft and not system.model.ranked)
    system.least_norm = LeastNorm(system.model, partial(node_jacobians, system)) if shared else None
    if system.least_norm is not None:
        found = system.work[system.least_norm.entries]
        system.work[system.least_norm.entries] = shortest = system.least_norm.shortest(found)
        if np.abs(found).max() > EXCESSIVE * (1.0 + np.abs(shortest).max()):
            _solve_what_can_be_met(system, system.least_norm)
    work[STIFFNESS], work[DAMPING] = kept
    system.validity.solved()


def _solve_with_contact_forces(system: System, refinements: int) -> None:
    """Solve for accelerations with the contact forces of the last step among the loads."""
    p = system.schedules
    system.run(p.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE))
    _add_contact_forces(system)
    system.run(p.up(RowMode.ACCELERATION), p.backward())
    for _ in range(refinements):
        defect, *rest = p.refine()
        system.run(defect)
        _add_contact_forces(system)
        system.run(*rest)


def _solve_what_can_be_met(system: System, least_norm: LeastNorm) -> None:
    """Refine once more where rows contradict each other: what no acceleration meets asks for multipliers without end, whose
    rounding errors are forces. It is left out, and reactions add up to mass times acceleration."""
    for _ in range(PROXIMAL):
        defect, defects, *rest = system.schedules.refine()
        system.run(defect, defects)
        _add_contact_forces(system)
        system.work[least_norm.rights] = least_norm.shortest(system.work[least_norm.rights])
        system.run(*rest)
        system.work[least_norm.entries] = least_norm.shortest(system.work[least_norm.entries])


def _add_contact_forces(system: System) -> None:
    """The mean contact forces of the last step, beside the other forces on each body."""
    if system.contact is not None and system.contact.before_count:
        system.contact.add_forces(system.work, system.dt)


def complete_impulses(system: System) -> None:
    """Make the impulses complete: when they are asked for, and before another solve."""
    if system.validity.impulses and not system.validity.complete:
        system.integrator.complete_impulses(system.work)
        system.validity.completed()


def no_impulses(system: System) -> str:
    """Why there are none."""
    traits = system.integrator.traits
    if not traits.keeps_impulses:
        return f"Simulation: {traits.integrator} keeps no impulses of its steps; use rattle, rk4, dopri5 or first-order"
    return "Simulation: there are no impulses, since no step or impact was made yet or the state was set; make a step first"


def node_jacobians(system: System, node: int) -> list[FloatArray]:
    """J of a node's rows, one block for each of its bodies."""
    return node_blocks(system, node, system.schedules.jacobian)


def node_blocks(system: System, node: int, sweep: Callable[[int], FloatArray]) -> list[FloatArray]:
    """What a sweep writes for a node, one block for each of its bodies: views, until the next one."""
    system.place()
    system.run(sweep(node))
    kind = system.model.nodes[node].kind
    return blocks_of(system.work[system.model.scratch :], kind.size, [body.nv if body else 0 for body in kind.kinds])


def touched_at(system: System, node_number: int, part: int) -> FloatArray | None:
    """Where surfaces touch, in the world, if a constraint is between such."""
    node = system.model.nodes[node_number]
    element_kind = node.kind.parts[part].kind
    if (touched := element_kind.touching_point(readout.numbers(system.model, system.work, node_number, part))) is None:
        return None
    end = system.model.bodies.ends(element_kind, node.elements[part])[touched[0]]
    return touched[1] if end == GROUND else readout.point(system.model, system.work, end, touched[1])


def least_pull(system: System, node_number: int, part: int, end: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(force, torque, at): the least force on the point by which a Lagrangian body is held that does the same as a
    constraint, whose multipliers were solved for."""
    node, body = system.model.nodes[node_number], system.model.nodes[node_number].ends[end]
    generalised = _generalised(system, node_number, part, end)
    ends = node.kind.parts[part].arranged(node.ends)
    local = readout.numbers(system.model, system.work, node_number, part).get(
        "on_a" if ends[0] == body else "on_b", np.zeros(3)
    )
    value, J, _, _ = readout.located(system.model, system.work, body, local)
    force = cast("FloatArray", np.linalg.lstsq(J.T, generalised, rcond=None)[0])
    return force, np.zeros(3), value


def least_wrench(system: System, node_number: int, part: int, end: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(force, torque, at) on a body whose kind does not tell the wrench of a generalised force: the least pair that does the
    same as a constraint, whose multipliers were solved for, about the point where its reaction is told."""
    body = system.model.nodes[node_number].ends[end]
    at = anchor_of(system, node_number, part)
    at = readout.poses(system.model, system.work, body).position[0] if at is None else at
    generalised = _generalised(system, node_number, part, end)
    return *readout.wrench(system.model, system.work, body, generalised, at), at


def anchor_of(system: System, node_number: int, part: int) -> FloatArray | None:
    """The point of the world where a reaction is told: where surfaces touch, the anchor on the second body, or on the first
    where that moves alone."""
    node = system.model.nodes[node_number]
    if (touched := touched_at(system, node_number, part)) is not None:
        return touched
    p, (a, b, *_) = readout.numbers(system.model, system.work, node_number, part), node.kind.parts[part].arranged(node.ends)
    local = p.get("on_a") if b == GROUND else p.get("on_b", p.get("centre"))
    return None if local is None else carried_point(system, a if b == GROUND else b, local)


def _generalised(system: System, node_number: int, part: int, end: int) -> FloatArray:
    """(nv,) What a constraint, whose multipliers were solved for, does to a body."""
    node = system.model.nodes[node_number]
    rows = node.rows_of(node.elements[part])
    pulls = node_blocks(system, node_number, system.schedules.pulls if node.kind.force_directed else system.schedules.jacobian)
    return pulls[end][rows].T @ -system.work[system.model.field_of_node(node_number, "x")][rows]


def in_contact(system: System) -> ContactSystem:
    """The contact of a System, refused where there is none."""
    if system.contact is None:
        raise LinkworkError("Simulation: nothing touches anything in this world; add a Contact")
    return system.contact


def refused_body(element: Element, body: Body) -> str:
    """The words for a body on which an element does not act."""
    return f'{checks.label(element)}: it does not act on "{body.name}"; name one of its bodies'


def mean_reaction(system: System, element: ContactElement, target: int | None) -> Reaction:
    """What a rope, a hard limit or dry friction put on a body in the last step. None: on the second one, or the only one."""
    from linkwork.contact.rows import BODY_B

    contact, model = in_contact(system), system.model
    measure = next((measure for measure in model.measures if measure.element is element), None)
    ends = contact.ends_of(element) if measure is None else measure.ends
    target = (ends[1] if ends[1] != GROUND else ends[0]) if target is None else target
    if target not in ends:
        raise LinkworkError(refused_body(element, model.bodies.elements[target]))
    if measure is not None:
        return _measured_reaction(system, element, measure, target)
    force, torque, value = np.zeros(3), np.zeros(3), np.zeros(contact.coordinates_of(element))
    at = readout.poses(system.model, system.work, target).position[0]
    for stop, rows, k in contact.of_element(element):
        J = (rows.Jb if contact.body_of(rows.labels[k, BODY_B]) == target else rows.Ja)[k, 0]
        pull = float(rows.total[k, 0]) / contact.duration(system.dt)
        force = force + J[:3] * pull
        value[stop.coordinate] += stop.told * pull
        torque = torque + (J[3:] * pull if not np.any(J[:3]) else 0.0)
        at = carried_point(system, target, contact.anchor_of(element, target))
    return Reaction(force, torque, at, value)


def _measured_reaction(system: System, element: ContactElement, measure: Measure, target: int) -> Reaction:
    """The same of what bounds numbers that a kernel measures: along their gradients as they are now, about the body's position.
    `generalised`: with what each bound pushes (N, N m; of a joint positive at the upper one), then friction."""
    contact, work, m = in_contact(system), system.work, measure.kind.size
    pulls, told, bounded = np.zeros(m), np.zeros(m), contact.coordinates_of(element)
    for stop, rows, k in contact.of_element(element):
        push, *rub = rows.total[k, : 2 + m - bounded] / contact.duration(system.dt)
        pulls[stop.coordinate] += push if element.rubs else -stop.sign * push
        told[stop.coordinate] += stop.told * push
        pulls[bounded:] += rub[: m - bounded]
    told[bounded:] = pulls[bounded:]
    system.run(system.schedules.material_points())
    J = work[dict(measure.members)[target] :][: m * system.model.bodies.kinds[target].nv].reshape(m, -1)
    at = readout.poses(system.model, work, target).position[0]
    force, torque = readout.wrench(system.model, work, target, J.T @ pulls, at)
    return Reaction(force, torque, at, told)
