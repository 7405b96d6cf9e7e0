"""lw.check: a user's constraint, force or body against finite differences, as built and elsewhere, moving and at rest.

Everything that linkwork derives of an element is compared with differences of what the element gives: rows with their J, rate,
bias and derivatives by time; forces with their tangents and energies; bodies with their points, mass, bias and weight. Nothing
is compiled to machine code.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.codegen.trace import Trace
from linkwork.elements import Ground
from linkwork.elements.core import checks
from linkwork.elements.core.constraint_kind import ConstraintKind
from linkwork.elements.core.element import Body, ConstraintElement, ContactElement, Element, ForceElement
from linkwork.elements.core.registry import kind_for
from linkwork.elements.core.traced import Traced
from linkwork.errors import LinkworkError
from linkwork.kernels.force_kernels import ForceNodeKind
from linkwork.kernels.implicit_bodies import BEGIN
from linkwork.kernels.implicit_forces import linearised
from linkwork.kernels.node import NodeKind, Part, parameter_record
from linkwork.kernels.node_kernels import node_count_kernel
from linkwork.model import nodes as stacking
from linkwork.model.compile_model import bodies_of
from linkwork.model.graph import GROUND
from linkwork.model.nodes import Bodies, Evaluator
from linkwork.symbolic.autodiff import VELOCITY
from linkwork.symbolic.views import View, load_global
from linkwork.symbolic.vocabulary import Moment
from linkwork.verify.check_report import CheckReport, Naming
from linkwork.verify.finite_differences import STEPS, Bench, Place, Slopes
from linkwork.world import World

KINKED = 1e-3  # by which derivatives from both sides may differ: rounding is larger there
VIOLATED = 1e-6  # m, rad: by which a row may be off as built
NO_CHANGE = 1e-9  # a derivative that is none
NO_RANK = 1e-12  # of a mass matrix whose diagonal is made one
BRINGS = 20  # times that what a constraint keeps is brought up to date
REMEDY = "write it so that it is finite there, for example with lw.norm or lw.where"


def check(element: Element) -> CheckReport:
    """Test a body, joint, constraint, force or inequality against finite differences: as built and at other places, moving and
    at rest, and with all bodies unturned. Says what is wrong, a sentence each. The element knows its bodies: it has been added
    to a world.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bead = world.add(lw.Particle(1.0, position=(1, 0, 0), name="bead"))
    >>> hoop = world.add(lw.Constraint(bead, lambda b, t: lw.dot(b.position, b.position) - 1 - t, name="hoop"))
    >>> lw.check(hoop).ok
    True
    >>> bad = world.add(lw.Constraint(bead, lambda b, t: lw.sqrt(b.position[1]), name="bad"))
    >>> print(lw.check(bad).problems[0])
    the rate of row 1 is nan as built, at rest; write it so that it is finite there, for example with lw.norm or lw.where
    """
    if not isinstance(element, Element):
        raise LinkworkError(f"check: it was given {checks.show(element)}; give a body, joint, constraint or force")
    sorts = Body, ConstraintElement, ForceElement
    if isinstance(element, Ground) or not (isinstance(element, sorts) or _is_measured(element)):
        raise LinkworkError(
            f"{checks.label(element)}: it is no body, joint, constraint, force or inequality; check one of these"
        )
    report = CheckReport(checks.label(element))
    _check_functions(element, report)
    if report.ok:
        try:
            twin, bodies = _alone(element)
            _CHECKS[twin.sort](twin, bodies, report)
        except LinkworkError as error:
            report.tell(str(error).removeprefix(f"{report.label}: "))
    return report


def _check_functions(element: Element, report: CheckReport) -> None:
    """Functions can be traced, and give the same expression each time."""
    for where in element.FUNCTIONS:
        function = getattr(element, where)
        if not callable(function) or isinstance(function, Traced):
            continue
        try:
            twice = [element.traced(where).digest for _ in range(2)]
        except LinkworkError as error:
            report.tell(str(error).removeprefix(f"{report.label}: "))
            continue
        if twice[0] != twice[1]:
            report.tell(
                f"its {where} gives another expression each time that it is called; let it depend on its arguments alone"
            )


def _alone(element: Element) -> tuple[Element, Bodies]:
    """A copy of the element in a world of its own, with copies of what it speaks of, and the bodies there."""
    home = element._world()
    named = [item for _, _, item in element.references() if isinstance(item, str)]
    if named:
        checks.fail(element, f'it is in no world, so that "{named[0]}" is not known', "add it to a world first")
    world = World(gravity=home.gravity if home is not None else (0, 0, -9.81))
    known: dict[int, Element] = {}

    def twin_of(one: Element) -> Element:
        if isinstance(one, Ground):
            return world.ground
        if id(one) not in known:
            twin = known[id(one)] = copy.copy(one)
            twin.replace_references([twin_of(other) for _, _, other in one.references()])
            world.add(twin)
        return known[id(one)]

    return twin_of(element), bodies_of(world)


# -- constraints -------------------------------------------------------------------------------------------------------


def _is_measured(element: Element) -> bool:
    """Whether it bounds something that is derived: an inequality."""
    return isinstance(element, ContactElement) and element.is_stop and bool(element.FUNCTIONS)


def _check_inequality(element: Element, bodies: Bodies, report: CheckReport) -> None:
    _check_constraint(element, bodies, report, kind_for(element).measured(element))


def _check_constraint(element: Element, bodies: Bodies, report: CheckReport, bounded: ConstraintKind | None = None) -> None:
    """`bounded`: of an inequality, the kind of its rows, which need not be zero."""
    [group] = stacking.grouped([element], bodies, kind=bounded)
    values = stacking.numbers_of(group, bodies).values[0]
    rows = tuple(range(len(group.kind.levels)))
    kind = NodeKind((Part(group.kind, tuple(range(len(group.kinds))), rows),), group.kinds)
    record = np.zeros(kind.record.span)
    record[kind.record.slice("parameters")] = values

    def write(trace: Trace) -> list[SX]:
        found = kind.write_rows(trace, Moment.NOW, load_global(trace, "time"))
        return [found.residual, found.rate, found.bias, found.forcing, ca.horzcat(*found.jacobians)]

    ends = group.ends[0]
    moving = [k for k, end in enumerate(ends) if end != GROUND]
    bench = Bench(bodies, [ends[k] for k in moving], [2 + k for k in moving], record, write, kind.behind)
    position = np.array([level != VELOCITY for level in kind.levels])[:, None]
    bring = _bringing(bench, kind)
    changes, flat, rank = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool), 0
    for place in bench.places():
        report.states += 1
        bring(place)
        residual, rate, bias, forcing, J = bench.results(place)
        as_built = place.name == "as built, at rest"
        for k in np.flatnonzero(as_built & (bounded is None) & position[:, 0] & (np.abs(residual[:, 0]) > VIOLATED)):
            report.tell(f"row {k + 1} is off by {residual[k, 0]:.3g} as built; place its bodies so that it holds")
        named = {"row {}": residual, "the rate of row {}": rate, "the derivative of row {}": J, "the bias of row {}": bias}
        if not all([_finite(report, place, what, values) for what, values in named.items()]):
            continue
        flat |= as_built & (np.abs(J).max(axis=1, initial=0.0) < NO_CHANGE) & (np.abs(residual[:, 0]) <= VIOLATED)
        changes, rank = np.maximum(changes, np.abs(J).max(axis=1, initial=0.0)), max(rank, np.linalg.matrix_rank(J, NO_CHANGE))
        _check_rows(report, bench, place, position, (rate, bias, forcing, J))
    constant = changes < NO_CHANGE
    for k in np.flatnonzero(constant):
        what = "move" if position[k] else "change their speed"
        report.tell(f"row {k + 1} does not change when its bodies {what}, whatever the state: it has no derivative; write it "
                    "as an expression of its bodies without rounding and signs")  # fmt: skip
    for k in np.flatnonzero(flat & ~constant):
        report.tell(f"row {k + 1} has the derivative zero as built, so that no force can hold it there; write it so that it "
                    "passes through zero, such as lw.norm(d) - length for a square")  # fmt: skip
    if 0 < rank < len(rows) and not constant.any() and bounded is None:
        report.tell(f"its {len(rows)} rows depend on each other in every state (rank {rank}); leave out what the others say")


def _bringing(bench: Bench, kind: NodeKind) -> Callable[[Place], None]:
    """Brings what a constraint keeps from step to step, such as where surfaces touch, to what it is at a place."""
    [part], start = kind.parts, kind.record.offset("parameters")
    layout = parameter_record(part.kind)
    kept = [k for name in part.kind.state_fields for k in range(start + layout.offset(name), start + layout.slice(name).stop)]
    built, count = bench.record[kept], Evaluator(node_count_kernel(kind, start), 1) if kind.counters and kept else None

    def bring(place: Place) -> None:
        bench.record[kept] = built
        for _ in range(BRINGS if count else 0):
            bench.record[kept] = count(bench.records(place))[kept]  # type: ignore[misc]

    return bring


def _check_rows(report: CheckReport, bench: Bench, place: Place, position: np.ndarray,
                derived: Sequence[np.ndarray]) -> None:  # fmt: skip
    rate, bias, forcing, J = derived

    def along(here: Place, h: float) -> Place:
        return bench.shifted(here, [h * v for v in here.v], h)

    def of_row(what: str) -> Naming:
        return lambda at: f"the {what} of row {at[0] + 1}"

    def chosen(by_place: Slopes, by_velocity: Slopes) -> Slopes:
        def differences(h: float) -> np.ndarray:
            parts = [slopes(h) if wanted.any() else 0.0 for slopes, wanted in ((by_place, position), (by_velocity, ~position))]
            return np.where(position, *parts)

        return differences

    speed = bench.slopes(place, along, 0)
    report.compare("rate", rate, lambda h: np.where(position, speed(h), rate), place, of_row("rate"))
    if not any(v.any() for v in place.v):
        report.compare(
            "derivative by time", forcing, lambda h: np.where(position, speed(h), forcing), place, of_row("derivative by time")
        )
    report.compare("bias", bias, bench.slopes(place, along, 1), place, of_row("bias"))
    report.compare("J", J, chosen(bench.columns(place, bench.shifted, 0), bench.columns(place, bench.kicked, 0)), place,
                   of_row("derivative"))  # fmt: skip
    if not place.special:
        return
    apart = np.where(position[:, 0], *[bench.kink(place, step, 0) if wanted.any() else 0.0
                                       for step, wanted in ((bench.shifted, position), (bench.kicked, ~position))])  # fmt: skip
    for k in np.flatnonzero(apart > KINKED):
        text = f"row {k + 1} has a kink {place.name}: derivatives from both sides differ by {apart[k]:.3g}; write a smooth one"
        report.tell(text, (f"the derivative of row {k + 1}", "kink"), note=not place.serious)


def _finite(report: CheckReport, place: Place, what: str, values: np.ndarray) -> bool:
    """Whether all values are finite; `what` has a place for the number of a row, if rows are told apart."""
    rows = values if "{}" in what else values.reshape(1, -1)
    for k in np.flatnonzero(~np.isfinite(rows).all(axis=1)):
        value = rows[k][~np.isfinite(rows[k])][0]
        report.tell(f"{what.format(k + 1)} is {value:g} {place.name}; {REMEDY}", ("finite", int(k)), note=not place.serious)
    return bool(np.isfinite(values).all())


# -- forces ------------------------------------------------------------------------------------------------------------


def _check_force(element: Element, bodies: Bodies, report: CheckReport) -> None:
    [group] = stacking.grouped([element], bodies)
    kind = ForceNodeKind(group.kind, group.kinds)
    record = stacking.numbers_of(group, bodies).values[0]

    def write(trace: Trace) -> list[SX]:
        f, stiffness, damping = linearised(trace, kind, BEGIN, True)
        return [f, stiffness, damping, kind.write_law(trace)[1]]

    ends = group.ends[0]
    moving = [k for k, end in enumerate(ends) if end != GROUND]
    bench = Bench(bodies, [ends[k] for k in moving], [2 + k for k in moving], record, write, 2 + len(ends))
    for place in bench.places():
        report.states += 1
        f, stiffness, damping, potential = bench.results(place)
        named = {"it": f, "its energy": potential, "its derivative by place": stiffness, "its derivative by velocity": damping}
        if not all([_finite(report, place, what, values) for what, values in named.items()]):
            continue
        for what, tangent, step in (("place", stiffness, bench.shifted), ("velocity", damping, bench.kicked)):
            report.compare(f"derivative by {what}", -tangent, bench.columns(place, step, 0), place,
                           _of_component(f"the derivative by {what} of its component"))  # fmt: skip
        if not kind.law.velocity_dependent:
            _check_energy(report, place, "energy", f, bench.columns(place, bench.shifted, 3))


def _of_component(what: str) -> Naming:
    return lambda at: f"{what} {at[0] + 1}"


def _check_energy(report: CheckReport, place: Place, name: str, force: np.ndarray, gradient: Slopes) -> None:
    """A force (n, 1) is how its energy falls; where it has none there is nothing to say."""
    if gradient(STEPS[0]).any():
        report.compare(name, force, lambda h: -gradient(h).T, place, _of_component("against its energy, its component"))


# -- bodies ------------------------------------------------------------------------------------------------------------


def _check_body(element: Element, bodies: Bodies, report: CheckReport) -> None:
    [number] = bodies.number.values()
    kind, gravity = bodies.kinds[number], SX(ca.DM([0.3, -0.5, -9.0]))

    def write(trace: Trace) -> list[SX]:
        view = View(kind, trace, 1)
        found = [view.point(SX(ca.DM(local))) for local in kind.probes(element)]
        stacked = [ca.vertcat(*[getattr(point, name) for point in found]) for name in ("value", "jacobian", "rate", "bias")]
        own = [
            kind.mass(view),
            kind.inertial(view),
            kind.weight(view, gravity),
            kind.potential(view, gravity),
            kind.kinetic(view),
        ]
        return [*stacked, *own]

    bench = Bench(bodies, [number], [1], np.zeros(0), write, 2)
    for place in bench.places():
        report.states += 1
        value, J, rate, bias, M, inertial, weight, potential, _ = bench.results(place)
        named = {"a point of it": value, "the derivative of a point of it": J, "the bias of a point of it": bias, "its mass": M,
                 "its inertial force": inertial, "its weight": weight, "its energy": potential}  # fmt: skip
        if not all([_finite(report, place, what, values) for what, values in named.items()]):
            continue
        scale = np.sqrt(np.abs(M.diagonal()))
        meant = getattr(element, "massless", False)
        if not meant and (not scale.all() or np.linalg.eigvalsh(M / np.outer(scale, scale))[0] <= NO_RANK):
            report.tell(f"its mass matrix has no inverse {place.name}: some coordinate moves no mass; keep it away from there",
                        "rank", note=not place.serious)  # fmt: skip
        _check_points(report, bench, place, J, rate, bias)
        _check_mechanics(report, bench, place, element, (M, inertial, weight))


def _along(bench: Bench) -> Callable[[Place, float], Place]:
    return lambda here, h: bench.shifted(here, [h * v for v in here.v])


def _check_points(report: CheckReport, bench: Bench, place: Place, J: np.ndarray, rate: np.ndarray, bias: np.ndarray) -> None:
    def of_point(what: str) -> Naming:
        return lambda at: f"the {what} of its point {at[0] // 3}"

    report.compare("velocity of points", rate, bench.slopes(place, _along(bench), 0), place, of_point("velocity"))
    report.compare("bias of points", bias, bench.slopes(place, _along(bench), 2), place, of_point("bias"))
    report.compare("J of points", J, bench.columns(place, bench.shifted, 0), place, of_point("derivative"))


def _check_mechanics(report: CheckReport, bench: Bench, place: Place, element: Element,
                     derived: Sequence[np.ndarray]) -> None:  # fmt: skip
    M, inertial, weight = derived
    if kind_for(element).generalised:  # eqs. 12 and 13 of witkin97, with J and J' u' by differences
        by_u, biases = bench.columns(place, bench.shifted, 0), bench.slopes(place, _along(bench), 2)
        m = np.repeat(element.masses, 3)[:, None]  # type: ignore[attr-defined]
        report.compare("mass", M, lambda h: by_u(h).T @ (m * by_u(h)), place, lambda at: f"its mass {list(at)}")
        report.compare("inertial force", inertial, lambda h: -by_u(h).T @ (m * biases(h)), place,
                       lambda at: f"its inertial force {at[0] + 1}")  # fmt: skip
    gained = bench.slopes(place, _along(bench), 8)
    report.compare("power of the inertial force", np.array([[place.v[0] @ inertial[:, 0]]]), lambda h: -gained(h), place,
                   lambda at: "the power of its inertial force")  # fmt: skip
    if not place.v[0].any():
        _check_energy(report, place, "weight", weight, bench.columns(place, bench.shifted, 7))


_CHECKS: dict[str, Callable[[Any, Bodies, CheckReport], None]] = {
    "body": _check_body,
    "joint": _check_constraint,
    "constraint": _check_constraint,
    "contact": _check_inequality,
    "force": _check_force,
}
