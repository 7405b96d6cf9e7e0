"""Why a run stopped: a body that collapsed, a force or constraint that is not finite, a constraint that is singular, or a step
that is too long."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from linkwork.elements import Motion, Skate
from linkwork.elements.bodies.lagrangian import Lagrangian
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.engines.engine import CUT, DIVERGED, FINEST, OK, STUCK
from linkwork.engines.implicit.backward_euler import BackwardEuler
from linkwork.errors import DivergenceError, ModelError
from linkwork.kernels.body_kernels import body_kernel
from linkwork.kernels.node import node_jacobian_kernel
from linkwork.model.graph import GROUND
from linkwork.model.model import State
from linkwork.model.nodes import Evaluator
from linkwork.model.nonfinite import Suspects
from linkwork.model.states import RIGID
from linkwork.simulation import contradictions
from linkwork.symbolic.views import GLOBALS

NOT_CONVERGED = "Simulation: Newton's method did not converge"
LOOSE = "Simulation: one iteration a step leaves"
SLACK = "Simulation: first-order motion leaves"
FAR_OFF = 0.1  # m or rad: single iterations that hold a constraint no better than this do not hold it
LOST = 1e30  # m, m/s: beyond this a run has blown up, and what is made of such numbers is nobody's fault
VANISHED = 0.05  # of the size of a row of J as built: what is left of one that is called singular where a step fails
NEARLY_LOST = 1e-2  # of the mass along coordinates as built: what is left of it before a body that lost its rank did so
FINER = (16, 256)  # parts of a step that are tried where one failed
LEAST_TRIED, MOST_TRIED = 600, 150_000_000  # of them, and entries of workspaces that more may go through
CALM = 1e6  # times as fast as it was, or as a metre a second: what grows more than this is no success
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


def reason(sim, status: int) -> DivergenceError:
    """The error that says why a simulation stopped with this status; the simulation stays as it is."""
    found = _collapsed(sim) or _not_finite(sim, status) or _lost_rank(sim) or _singular(sim, status)
    worst, problem, remedy = found or _led_too_far(sim, status) or _contradicting(sim, status) or _too_long(sim, status)
    return DivergenceError(f"{problem}; {remedy}", step=sim.steps, time=sim.time, worst=worst)


def refuse_start(sim) -> None:
    """Name the force that is not finite as built, if any is."""
    found = Suspects(sim.model).first_not_finite(sim.work)
    if found is not None:
        culprit = Culprit(*found, sim.time)
        label, rest = checks.label(culprit.element), f"it gives {culprit.value:g} at {culprit.time:.6g} s"
        raise ModelError(f"{label}: {rest}, where the simulation starts; {culprit.remedy}")


def _what(sim, status: int) -> str:
    what = {DIVERGED: "diverged", STUCK: "could not be brought back onto its constraints"}[status]
    return f"Simulation: it {what} in step {sim.steps} at {sim.time:.6g} s"


def _collapsed(sim):
    """The body whose stretch has passed zero."""
    if sim.work[GLOBALS.offset("fault")] == 0.0:
        return None
    sim.work[GLOBALS.offset("fault")] = 0.0
    number = next(k for k in range(len(sim.model.bodies.elements)) if _has_collapsed(sim, k))
    body = sim.model.bodies.elements[number]
    if isinstance(sim.model.bodies.kinds[number], Lagrangian):
        return _lost_rank(sim)
    problem = f"{checks.label(body)}: it has collapsed (its stretch has passed zero) in step {sim.steps} at {sim.time:.6g} s"
    remedy = "give it more stiffness or a smaller load"
    return body, problem, f"{remedy}, or take a smaller dt: {h:g} s gets past it" if (h := _short_enough(sim)) else remedy


def _lost_rank(sim):
    """The Lagrangian body whose coordinates came near to where they move no mass, if any did."""
    bodies = [(k, kind) for k, kind in enumerate(sim.model.bodies.kinds) if isinstance(kind, Lagrangian)]
    if not bodies:
        return None
    with _looking_back(sim):
        last = _last_states(sim)[-1]
        sim.work[sim.model.state_index] = last.values
        places = [[sim.work[sim.model.field_of_body(k, name)].copy() for name in ("q", "user", "built")] for k, _ in bodies]
    elements = sim.model.bodies.elements
    found = [(kind.rank_left(elements[k], *at), k, at[0]) for (k, kind), at in zip(bodies, places, strict=True)]
    left, number, u = min(found, key=lambda entry: entry[0])
    if left > NEARLY_LOST:
        return None
    body = sim.model.bodies.elements[number]
    when = f"in step {sim.steps} at {sim.time:.6g} s"
    problem = f"{checks.label(body)}: dq/du loses rank near u = {checks.show(u)}, where it came {when}"
    return body, problem, "keep it away from there, or describe it by other coordinates"


def _singular(sim, status: int):
    """The constraint whose rows have all but vanished where a step could not be made, if there is one."""
    if status != STUCK:
        return None
    found = vanishing(sim, sim.work)
    if found is None:
        return None
    element, left = found
    when = f"in step {sim.steps} at {sim.time:.6g} s"
    problem = f"{checks.label(element)}: it is singular {when} (a row of its Jacobian has {left:.2g} of its size as built)"
    return element, problem, _away_from(element)


def _away_from(element: Element) -> str:
    if isinstance(element, Skate):
        return "keep its blade from standing along its normal, or remove it before that"
    return "keep its bodies away from there, or remove it before that"


def vanishing(sim, work: np.ndarray) -> tuple[Element, float] | None:
    """The constraint with the row of J that is the smallest part of what it is as built, and that part, where there is next to
    nothing left of one."""
    model, built, found = sim.model, sim.model.workspace(), list[tuple[float, Element]]()
    sim.integrator.run(built, sim.programs.body("place"))
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


@contextmanager
def _looking_back(sim):
    """The simulation afterwards is as it was."""
    stopped, counted, past, watched = sim.work.copy(), (sim.steps, sim.age), sim._past, sim.integrator.watched
    try:
        yield
    finally:
        sim.integrator.watched = watched
        sim.work[:] = stopped
        vars(sim).update(zip(("steps", "age"), counted, strict=True))
        sim._past = past
        sim._touched()


def _has_collapsed(sim, body: int) -> bool:
    kind = sim.model.bodies.kinds[body]
    if not kind.collapses:
        return False
    look = Evaluator(body_kernel(kind, "look"), 0)
    return bool(look({1: sim.work[sim.model.body_at[body] :]})[GLOBALS.offset("fault")])


def _not_finite(sim, status: int):
    with _looking_back(sim):
        culprit = _culprit(sim, _last_states(sim))
    if culprit is None:
        return None
    h = _short_enough(sim) if culprit.moved else None
    remedy = f"{culprit.remedy}, or take a smaller dt: {h:g} s gets past it" if h else culprit.remedy
    return culprit.element, f"{_what(sim, status)}, since {culprit}", remedy


def _last_states(sim) -> list[State]:
    """The last one or two states before the stop: the steps since the simulation last kept one are made again."""
    end, states = sim.steps, list(sim._past)
    sim._take(states[-1])
    sim._prepare()
    while sim.steps < end:
        _, status = sim._advance(1)
        if status != OK:
            break
        states = [states[-1], sim.state]
    return states


def _culprit(sim, states: list[State]) -> Culprit | None:
    last = states[-1]
    change = (last.values - states[0].values) / max(1, last.steps - states[0].steps)  # in a step
    if not (np.abs(last.values) < LOST).all() or not np.isfinite(change).all():
        return None
    suspects = Suspects(sim.model)
    for part, later in AHEAD:
        sim.work[sim.model.state_index] = last.values + part * change
        sim.work[0] = last.time + later * sim.dt
        sim.integrator.run(sim.work, sim.programs.body("place"))
        found = suspects.first_not_finite(sim.work)
        if found is not None:
            return Culprit(*found, sim.time, moved=part > 0)
    return None


def not_converged(sim) -> str:
    """The first words of a note on a step that must be made in parts; the failed attempt is still in the workspace."""
    residual, element = _largest_residual(sim, sim.dt)
    iterations = sim.work[GLOBALS.offset("iterations")]
    return (f"{NOT_CONVERGED} in {iterations:.0f} iterations at t = {sim.time:.6g} s (largest residual {residual:.3g} at "
            f"{checks.label(element)})")  # fmt: skip


def loose(sim) -> str | None:
    """A note on the constraint that single iterations do not hold, if any."""
    off, element = sim._worst(velocity=False)
    if element is None or not off > FAR_OFF:
        return None
    where = f"{checks.label(element)} off by {off:.3g} at t = {sim.time:.6g} s"
    first_order = sim.integrator_name == "first-order"
    begin = SLACK if first_order else LOOSE
    if found := contradictions.found(sim):
        return f"{begin} {where}; {found[0]}: remove one of them, or ask for what can be met"
    if first_order:
        h = _short_enough_to_hold(sim, off)
        remedy = f"take a smaller dt: {h:g} s holds it better" if h else "smaller steps do not hold it better"
        return f"{begin} {where}; {remedy}"
    return f"{LOOSE} {where}; take iterations=None, which says whether it can hold at all"


def _largest_residual(sim, h: float) -> tuple[float, Element]:
    """(m or rad, element): of the constraints at the last iterate of a step h; where these hold, a body's last correction."""
    kept = sim.work.copy()
    sim.integrator.run(sim.work, sim.programs.body("accept", "place"))
    sim.work[0] += h
    sim.integrator.run(sim.work, sim.programs.check())
    off = [(_off(sim, k, element, h), element) for k, node in enumerate(sim.model.nodes) for element in node.elements]
    sim.work[:] = kept
    corrections = [h * np.abs(sim.work[sim.model.field_of_body(k, "x")]).max() for k in range(len(sim.model.bodies.elements))]
    violated = [pair for pair in off if not pair[0] <= sim.integrator.tolerance]
    found = violated or list(zip(corrections, sim.model.bodies.elements, strict=True))
    return max(found, key=lambda pair: np.nan_to_num(pair[0], nan=np.inf))


def _off(sim, k: int, element: Element, h: float) -> float:
    """The largest residual of one constraint of node k that was just checked."""
    node, rows = sim.model.nodes[k], sim.model.nodes[k].rows_of(element)
    weights = [1.0 if level == "position" else h for level in node.kind.levels[rows]]
    return np.abs(weights * sim.work[sim.model.report_at[k] :][rows]).max(initial=0.0)


def _led_too_far(sim, status: int):
    """The Motion that asks for a longer way in the next step than from one end of the world to the other, or than half a turn,
    if one does: no step is good for that, and a shorter one fails later."""
    model = sim.model
    motions = [(k, e) for k, node in enumerate(model.nodes) for e in node.elements if isinstance(e, Motion)]
    if not motions:
        return None
    places = np.array([np.resize(getattr(body, "position", 0.0), 3) for body in model.bodies.elements])
    far = max(np.pi, float(np.ptp(places, axis=0).max()))
    with _looking_back(sim):
        last, start = _last_states(sim)[-1], sim._start_here()
        values = last.values.copy()
        for sort in (RIGID, "bodies"):  # where they are does not matter, and may be nowhere
            values[sim._layout.where(sort)] = start.values[sim._layout.where(sort)]
        sim.work[model.state_index], seen = values, []
        for time in (last.time, last.time + sim.dt):
            sim.work[0] = time
            sim.integrator.run(sim.work, sim.programs.body("place"), sim.programs.check())
            seen.append([sim.work[model.report_at[k] :][model.nodes[k].rows_of(e)].copy() for k, e in motions])
    ways = [float(np.abs(after - before).max()) for before, after in zip(*seen, strict=True)]
    way, motion = max(zip(ways, (e for _, e in motions), strict=True), key=lambda pair: np.nan_to_num(pair[0]))
    if not far < way < np.inf:
        return None
    asks = f"{checks.label(motion)} asks for a way of {way:.3g} m or rad in a step of {sim.dt:g} s"
    remedy = "give it a nearer place or more time (within=)" if motion.live else "let its function change more slowly"
    return motion, f"{_what(sim, status)}, since {asks}", remedy


def _contradicting(sim, status: int):
    """Constraints that cannot all hold where it stopped, or within the next step, and by how much they disagree."""
    what = _what(sim, status)
    with _looking_back(sim):
        last = _last_states(sim)[-1]
        for ahead in (0.0, 1.0, 2.0):
            sim.work[sim.model.state_index] = last.values
            sim.work[0] = last.time + ahead * sim.dt
            if np.isfinite(last.values).all() and (found := contradictions.found(sim)):
                worst = next((element for element in found[0].elements if isinstance(element, Element)), None)
                return worst, f"{what}, since {found[0]} at {sim.time:.6g} s", "remove one of them, or ask for what can be met"
    return None


def _too_long(sim, status: int):
    if sim._arrangement.drawn:
        name, draw = max(sim._arrangement.drawn, key=lambda pair: pair[1].left(sim.time))
        element = sim.world.find(name)
        about = f"while {checks.label(element)} was drawn in, which is still off by {draw.left(sim.time):.3g}"
        return element, f"{_what(sim, status)}, {about}", "others may keep it from ever being met; remove one of them"
    if status == STUCK and isinstance(sim.integrator, BackwardEuler):
        residual, element = _largest_residual(sim, sim.dt / FINEST)
        where = f"in step {sim.steps} at {sim.time:.6g} s, not even in {FINEST} parts of it"
        problem = f"{NOT_CONVERGED} {where} (largest residual {residual:.3g} at {checks.label(element)})"
    else:
        worst, element = sim._worst(velocity=False)
        about = f"; the worst constraint is {checks.label(element)}, off by {worst:.3g}" if element is not None else ""
        problem = f"{_what(sim, status)}{about}"
    return element, problem, _remedy(sim, element)


def _remedy(sim, element: Element | None) -> str:
    """What helps, as far as it can be found out by trying."""
    with _looking_back(sim):
        last = _last_states(sim)[-1]
        sim.work[sim.model.state_index] = last.values
        sim.integrator.run(sim.work, sim.programs.body("place"))
        alike = contradictions.singular(sim) if np.isfinite(last.values).all() else ()
        speeds = [(float(np.abs(sim.work[sim.model.field_of_body(k, "v")]).max()), body)
                  for k, body in enumerate(sim.model.bodies.elements)]  # fmt: skip
    if alike:
        row = "its rows vanish or" if len(alike) == 1 else "their rows"
        return f"{checks.labels(alike)}: {row} depend on each other there (singular), start elsewhere or keep away from there"
    if h := _short_enough(sim):
        return f"take a smaller dt: {h:g} s gets past it"
    speed, body = max(speeds, key=lambda pair: np.nan_to_num(pair[0], nan=np.inf))
    fastest = f", and {checks.label(body)} had {speed:.3g} m/s or rad/s before" if np.isfinite(speed) else ""
    return f"smaller steps do not get past it{fastest}: look at what acts there"


def _short_enough(sim) -> float | None:
    """s: of some shorter steps the longest that gets past the stop, from a state that was kept before or from the start, and
    without anything becoming much faster than it was there; None where none does."""
    dt, end, states = sim._dt, sim.time, [*sim._past, sim._start_here()]
    with _looking_back(sim):
        states.append(_last_states(sim)[-1])
    for parts in FINER:
        for first in states:
            steps = parts * (2 + 2 * int(max(0.0, end - first.time) / dt))  # twice as far: what only comes later is no success
            calm = np.isfinite(first.values).all() and first.arrangement == sim._arrangement
            if not calm or steps * sim.model.size > max(MOST_TRIED, LEAST_TRIED * sim.model.size):
                continue
            with _looking_back(sim):
                if _made_in_parts(sim, first, parts, steps):
                    return dt / parts
    return None


def _short_enough_to_hold(sim, off: float) -> float | None:
    """s: the longest of some shorter steps that leave less than half of what a constraint is off by."""
    for parts in FINER:
        with _looking_back(sim):
            if _made_in_parts(sim, sim.state, parts, 4 * parts) and sim._worst(velocity=False)[0] < 0.5 * off:
                return sim._dt / parts
    return None


def _made_in_parts(sim, first: State, parts: int, steps: int) -> bool:
    dt = sim._dt
    feedback = [GLOBALS.offset(name) for name in ("stiffness", "damping")]
    powers = (1 if sim.integrator_name == "first-order" else 2, 1)
    sim.state = first
    speeds = np.concatenate([np.r_[sim.model.field_of_body(k, "v")] for k in range(len(sim.model.bodies.kinds))])
    limit = CALM * (1.0 + np.abs(sim.work[speeds]).max())
    try:
        sim._dt = sim.integrator.dt = sim.work[GLOBALS.offset("step")] = dt / parts
        for entry, given, power in zip(feedback, sim._given[1:], powers, strict=True):
            if given is None:
                sim.work[entry] *= parts**power
        sim._prepare()
        made = 0
        while made < steps:
            more, status = sim._advance(min(parts, steps - made))
            made += more
            if status not in (OK, CUT) or not np.abs(sim.work[speeds]).max() < limit:
                return False
            if status == CUT:
                sim.integrator.watched = False
        return True
    finally:
        sim._dt = sim.integrator.dt = dt
