"""Why a run stopped: a body that collapsed, a force or constraint that is not finite, a constraint that is singular, or a step
that is too long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.elements.core.registry import kind_for, kind_type
from linkwork.engines.implicit.backward_euler import BackwardEuler
from linkwork.engines.step_driver import DIVERGED, FINEST, STUCK
from linkwork.errors import DivergenceError, ModelError
from linkwork.kernels.body_kernels import body_kernel
from linkwork.kernels.node_kernels import node_jacobian_kernel
from linkwork.kernels.vocabulary import BodyKernel, ImplicitKernel
from linkwork.model import readout
from linkwork.model.graph import GROUND
from linkwork.model.model import Model, State
from linkwork.model.nodes import Evaluator
from linkwork.model.nonfinite import NonFiniteSearch
from linkwork.model.states import RIGID
from linkwork.simulation import contradictions
from linkwork.simulation.residuals import worst as worst_of
from linkwork.simulation.shorter_steps import last_states, looking_back, short_enough, short_enough_to_hold
from linkwork.symbolic.views import GLOBALS
from linkwork.symbolic.vocabulary import Level

if TYPE_CHECKING:
    from linkwork.elements.constraints import Motion, Skate
    from linkwork.elements.core.element import Body
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray


NOT_CONVERGED = "Simulation: Newton's method did not converge"
LOOSE = "Simulation: one iteration a step leaves"
SLACK = "Simulation: first-order motion leaves"
FAR_OFF = 0.1  # m or rad: single iterations that hold a constraint no better than this do not hold it
LOST = 1e30  # m, m/s: beyond this a run has blown up, and what is made of such numbers is nobody's fault
VANISHED = 0.05  # of the size of a row of J as built: what is left of one that is called singular where a step fails
FALLEN_APART = 0.01  # of a mechanism's size: constraints that are off by more were lost before, and their rows tell nothing
NEARLY_LOST = 1e-2  # of the mass along coordinates as built: what is left of it before a body that lost its rank did so
# where a value that is not finite is looked for: parts of a step by which coordinates and time are ahead of the last state
AHEAD = ((0.0, 0.0), (0.0, 0.5), (0.0, 1.0), (0.5, 0.5), (1.0, 1.0))


@dataclass(frozen=True)
class Culprit:
    """What is not finite, and when."""

    element: Element
    value: float
    time: float  # s
    moved: bool = False  # not where the bodies last were, but where they went next

    def __str__(self) -> str:
        return f"{checks.label(self.element)} gives {self.value:g} at {self.time:.6g} s"

    @property
    def remedy(self) -> str:
        if _has_function(self.element):
            return "write its function so that it is finite there, for example with lw.where"
        return "keep its bodies away from there"


def _has_function(element: Element) -> bool:
    return any(callable(value) for name, value in vars(element).items() if not name.startswith("_"))


def reason(system: System, status: int, start: State) -> DivergenceError:
    """The error that says why a system stopped with this status; the system stays as it is. `start`: where it began."""
    found = _collapsed(system, start) or _not_finite(system, status, start) or _lost_rank(system) or _singular(system, status)
    found = found or _led_too_far(system, status, start) or _contradicting(system, status)
    worst, problem, remedy = found or _too_long(system, status, start)
    return DivergenceError(f"{problem}; {remedy}", step=system.steps, time=system.time, worst=worst)


def refuse_start(system: System) -> None:
    """Name the force that is not finite as built, if any is."""
    found = NonFiniteSearch(system.model).first_not_finite(system.work)
    if found is not None:
        culprit = Culprit(*found, system.time)
        label, rest = checks.label(culprit.element), f"it gives {culprit.value:g} at {culprit.time:.6g} s"
        raise ModelError(f"{label}: {rest}, where the simulation starts; {culprit.remedy}")


def _what(system: System, status: int) -> str:
    what = {DIVERGED: "diverged", STUCK: "could not be brought back onto its constraints"}[status]
    return f"Simulation: it {what} in step {system.steps} at {system.time:.6g} s"


def _collapsed(system: System, start: State) -> tuple[Body, str, str] | None:
    """The body whose stretch has passed zero."""
    if system.work[GLOBALS.offset("fault")] == 0.0:
        return None
    system.work[GLOBALS.offset("fault")] = 0.0
    number = _nearest_to_collapse(system)
    body = system.model.bodies.elements[number]
    if system.model.bodies.kinds[number].generalised:
        return _lost_rank(system)
    problem = (
        f"{checks.label(body)}: it has collapsed (its stretch has passed zero) in step {system.steps} at {system.time:.6g} s"
    )
    remedy = "give it more stiffness or a smaller load"
    return (
        body,
        problem,
        f"{remedy}, or take a smaller dt: {h:g} s gets past it" if (h := short_enough(system, start)) else remedy,
    )


def _lost_rank(system: System) -> tuple[Body, str, str] | None:
    """The generalised body whose coordinates came near to where they move no mass, if any did."""
    bodies = [(k, kind) for k, kind in enumerate(system.model.bodies.kinds) if kind.generalised]
    if not bodies:
        return None
    with looking_back(system):
        last = last_states(system)[-1]
        system.work[system.model.state_index] = last.values
        records = [
            {name: system.work[system.model.field_of_body(k, name)].copy() for name in kind.record.fields} for k, kind in bodies
        ]
    elements = system.model.bodies.elements
    found = [(kind.rank_left(elements[k], at), k, at["q"]) for (k, kind), at in zip(bodies, records, strict=True)]
    left, number, u = min(found, key=lambda entry: entry[0])
    if left > NEARLY_LOST:
        return None
    body = system.model.bodies.elements[number]
    when = f"in step {system.steps} at {system.time:.6g} s"
    problem = f"{checks.label(body)}: dq/du loses rank near u = {checks.show(u)}, where it came {when}"
    return body, problem, "keep it away from there, or describe it by other coordinates"


def _singular(system: System, status: int) -> tuple[Skate, str, str] | None:
    """The constraint whose rows have all but vanished where a step could not be made, if there is one."""
    if status != STUCK:
        return None
    found = vanishing(system, system.work)
    if found is None:
        return None
    element, left = found
    when = f"in step {system.steps} at {system.time:.6g} s"
    problem = f"{checks.label(element)}: it is singular {when} (a row of its Jacobian has {left:.2g} of its size as built)"
    return element, problem, kind_for(element).remedy(element)


def vanishing(system: System, work: FloatArray) -> tuple[Element, float] | None:
    """The constraint with the row of J that is the smallest part of what it is as built, and that part, where there is next to
    nothing left of one."""
    model, built, found = system.model, system.model.workspace(), list[tuple[float, Element]]()
    system.integrator.run(built, system.schedules.body(BodyKernel.UPDATE_POSE))
    for number, node in enumerate(model.nodes):
        start = model.parameters_at(number) - int(model.node_at[number])
        jacobian = Evaluator(node_jacobian_kernel(node.kind, start), node.kind.behind)
        sizes = []
        for space in (built, work):
            bodies = {2 + k: space[model.body_at[b] :] for k, b in enumerate(node.ends) if b != GROUND}
            entries = jacobian({0: space, 1: space[model.node_at[number] :], **bodies})
            blocks, offset = [], 0
            for kind in node.kind.kinds:
                width = 0 if kind is None else kind.nv
                blocks.append(entries[offset : offset + node.kind.size * width].reshape(node.kind.size, width))
                offset += node.kind.size * width
            sizes.append(np.linalg.norm(np.hstack(blocks), axis=1))
        left = np.divide(sizes[1], sizes[0], out=np.ones(node.kind.size), where=sizes[0] > 0)
        for element in node.elements:
            rows = node.rows_of(element)
            found.append((float(left[rows].min(initial=1.0)), element))
    least, element = min(found, key=lambda pair: pair[0], default=(1.0, None))
    return (element, least) if element is not None and least < VANISHED else None


def _nearest_to_collapse(system: System) -> int:
    """A body that has collapsed; where none has now, as after a step that came back from it, the one with the least volume."""
    able = [k for k, kind in enumerate(system.model.bodies.kinds) if kind.collapses]
    volumes = np.linalg.det(readout.poses(system.model, system.work, able).frame)
    return next((k for k in able if _has_collapsed(system, k)), able[int(np.argmin(volumes))])


def _has_collapsed(system: System, body: int) -> bool:
    kind = system.model.bodies.kinds[body]
    if not kind.collapses:
        return False
    look = Evaluator(body_kernel(kind, BodyKernel.CHECK_COLLAPSE), 0)
    return bool(look({1: system.work[system.model.body_at[body] :]})[GLOBALS.offset("fault")])


def _not_finite(system: System, status: int, start: State) -> tuple[Element, str, str] | None:
    with looking_back(system):
        culprit = _culprit(system, last_states(system))
    if culprit is None:
        return None
    h = short_enough(system, start) if culprit.moved else None
    remedy = f"{culprit.remedy}, or take a smaller dt: {h:g} s gets past it" if h else culprit.remedy
    return culprit.element, f"{_what(system, status)}, since {culprit}", remedy


def _culprit(system: System, states: list[State]) -> Culprit | None:
    last = states[-1]
    change = (last.values - states[0].values) / max(1, last.steps - states[0].steps)  # in a step
    if not (np.abs(last.values) < LOST).all() or not np.isfinite(change).all():
        return None
    suspects = NonFiniteSearch(system.model)
    for part, later in AHEAD:
        system.work[system.model.state_index] = last.values + part * change
        system.work[0] = last.time + later * system.dt
        system.integrator.run(system.work, system.schedules.body(BodyKernel.UPDATE_POSE))
        found = suspects.first_not_finite(system.work)
        if found is not None:
            return Culprit(*found, system.time, moved=part > 0)
    return None


def not_converged(system: System) -> str:
    """The first words of a note on a step that must be made in parts; the failed attempt is still in the workspace."""
    residual, element = _largest_residual(system, system.dt)
    iterations = system.work[GLOBALS.offset("iterations")]
    return (f"{NOT_CONVERGED} in {iterations:.0f} iterations at t = {system.time:.6g} s (largest residual {residual:.3g} at "
            f"{checks.label(element)})")  # fmt: skip


def loose(system: System) -> str | None:
    """A note on the constraint that single iterations do not hold, if any."""
    off, element = worst_of(system, velocity=False)
    if element is None or not off > FAR_OFF:
        return None
    where = f"{checks.label(element)} off by {off:.3g} at t = {system.time:.6g} s"
    first_order = system.options.first_order
    begin = SLACK if first_order else LOOSE
    if found := contradictions.found(system):
        return f"{begin} {where}; {found[0]}: remove one of them, or ask for what can be met"
    if first_order:
        h = short_enough_to_hold(system, off)
        remedy = f"take a smaller dt: {h:g} s holds it better" if h else "smaller steps do not hold it better"
        return f"{begin} {where}; {remedy}"
    return f"{LOOSE} {where}; take iterations=None, which says whether it can hold at all"


def _largest_residual(system: System, h: float) -> tuple[float, Element]:
    """(m or rad, element): of the constraints at the last iterate of a step h; where these hold, a body's last correction."""
    kept = system.work.copy()
    system.integrator.run(system.work, system.schedules.body(ImplicitKernel.ACCEPT, BodyKernel.UPDATE_POSE))
    system.work[0] += h
    system.integrator.run(system.work, system.schedules.check())
    off = [(_off(system, k, element, h), element) for k, node in enumerate(system.model.nodes) for element in node.elements]
    system.work[:] = kept
    bodies = range(len(system.model.bodies.elements))
    corrections = [h * np.abs(system.work[system.model.field_of_body(k, "x")]).max() for k in bodies]
    violated = [pair for pair in off if not pair[0] <= system.integrator.tolerance]
    found = violated or list(zip(corrections, system.model.bodies.elements, strict=True))
    return max(found, key=lambda pair: np.nan_to_num(pair[0], nan=np.inf))


def _off(system: System, k: int, element: Element, h: float) -> float:
    """The largest residual of one constraint of node k that was just checked."""
    node, rows = system.model.nodes[k], system.model.nodes[k].rows_of(element)
    weights = [1.0 if level == Level.POSITION else h for level in node.kind.levels[rows]]
    found: float = np.abs(weights * system.work[system.model.report_at[k] :][rows]).max(initial=0.0)
    return found


def _led_too_far(system: System, status: int, start: State) -> tuple[Motion, str, str] | None:
    """The Motion that asks for a longer way in the next step than from one end of the world to the other, or than half a turn,
    if one does: no step is good for that, and a shorter one fails later."""
    model = system.model
    motions = [(k, e) for k, node in enumerate(model.nodes) for e in node.elements if kind_type(e).leads]
    if not motions:
        return None
    far = max(np.pi, _extent(model))
    with looking_back(system):
        last = last_states(system)[-1]
        values = last.values.copy()
        for sort in (RIGID, "bodies"):  # where they are does not matter, and may be nowhere
            values[system.layout.where(sort)] = start.values[system.layout.where(sort)]
        system.work[model.state_index], seen = values, []
        for time in (last.time, last.time + system.dt):
            system.work[0] = time
            system.integrator.run(system.work, system.schedules.body(BodyKernel.UPDATE_POSE), system.schedules.check())
            seen.append([system.work[model.report_at[k] :][model.nodes[k].rows_of(e)].copy() for k, e in motions])
    ways = [float(np.abs(after - before).max()) for before, after in zip(*seen, strict=True)]
    way, motion = max(zip(ways, (e for _, e in motions), strict=True), key=lambda pair: np.nan_to_num(pair[0]))
    if not far < way < np.inf:
        return None
    asks = f"{checks.label(motion)} asks for a way of {way:.3g} m or rad in a step of {system.dt:g} s"
    return motion, f"{_what(system, status)}, since {asks}", kind_type(motion).slower


def _extent(model: Model) -> float:
    """m: from one end of the world to the other, as built; a metre where all is in one place."""
    places = np.array([np.resize(getattr(body, "position", 0.0), 3) for body in model.bodies.elements])
    return float(np.ptp(places, axis=0).max()) or 1.0


def _contradicting(system: System, status: int) -> tuple[Element | None, str, str] | None:
    """Constraints that cannot all hold where it stopped, or within the next step, and by how much they disagree."""
    what = _what(system, status)
    with looking_back(system):
        last = last_states(system)[-1]
        for ahead in (0.0, 1.0, 2.0):
            system.work[system.model.state_index] = last.values
            system.work[0] = last.time + ahead * system.dt
            if np.isfinite(last.values).all() and (found := contradictions.found(system)):
                worst = next((element for element in found[0].elements if isinstance(element, Element)), None)
                return (
                    worst,
                    f"{what}, since {found[0]} at {system.time:.6g} s",
                    "remove one of them, or ask for what can be met",
                )
    return None


def _too_long(system: System, status: int, start: State) -> tuple[Element | None, str, str]:
    if system.arrangement.drawn:
        name, draw = max(system.arrangement.drawn, key=lambda pair: pair[1].left(system.time))
        element = system.world.find(name)
        about = f"while {checks.label(element)} was drawn in, which is still off by {draw.left(system.time):.3g}"
        return element, f"{_what(system, status)}, {about}", "others may keep it from ever being met; remove one of them"
    if status == STUCK and isinstance(system.integrator, BackwardEuler):
        residual, element = _largest_residual(system, system.dt / FINEST)
        where = f"in step {system.steps} at {system.time:.6g} s, not even in {FINEST} parts of it"
        problem = f"{NOT_CONVERGED} {where} (largest residual {residual:.3g} at {checks.label(element)})"
    else:
        worst, element = worst_of(system, velocity=False)
        about = f"; the worst constraint is {checks.label(element)}, off by {worst:.3g}" if element is not None else ""
        problem = f"{_what(system, status)}{about}"
    return element, problem, _remedy(system, start)


def _remedy(system: System, start: State) -> str:
    """What helps, as far as it can be found out by trying."""
    with looking_back(system):
        last = last_states(system)[-1]
        system.work[system.model.state_index] = last.values
        system.integrator.run(system.work, system.schedules.body(BodyKernel.UPDATE_POSE))
        held = np.isfinite(last.values).all() and worst_of(system, velocity=False)[0] < FALLEN_APART * _extent(system.model)
        alike = contradictions.singular(system) if held else ()
        speeds = [(float(np.abs(system.work[system.model.field_of_body(k, "v")]).max()), body)
                  for k, body in enumerate(system.model.bodies.elements)]  # fmt: skip
    if alike:
        row = "its rows vanish or" if len(alike) == 1 else "their rows"
        return f"{checks.labels(alike)}: {row} depend on each other there (singular), start elsewhere or keep away from there"
    if h := short_enough(system, start):
        return f"take a smaller dt: {h:g} s gets past it"
    speed, body = max(speeds, key=lambda pair: np.nan_to_num(pair[0], nan=np.inf))
    fastest = f", and {checks.label(body)} had {speed:.3g} m/s or rad/s before" if np.isfinite(speed) else ""
    return f"smaller steps do not get past it{fastest}: look at what acts there"
