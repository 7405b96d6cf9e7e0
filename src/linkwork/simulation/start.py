"""The start: constraints as built are checked, velocities made consistent, turn counters started, and notes given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements import Joint
from linkwork.elements.contacts.contact import RECOVERY
from linkwork.elements.core import checks
from linkwork.elements.core.element import Body, Element
from linkwork.elements.core.joint import kind_of_joint
from linkwork.errors import ModelError
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.model.state_transfer import counters, named_number
from linkwork.simulation import diagnose
from linkwork.simulation.residuals import worst
from linkwork.simulation.watch import INCONSISTENT, VIOLATED, note_redundant
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray

TOLD = 1e-6  # metres or radians a second that are put right with a note
IMPULSES = 2  # that put them right: the second takes what rounding, and rows not linear in velocities, left of the first
DRAWN_IN = 1.0 * RECOVERY  # m, rad: by which an inequality may be violated as built: what recovery takes back in a second
PROXIMAL = 5  # refinements where pivots were made regular: each takes away the part of the error that this left


def begin(system: System) -> None:
    """Check the constraints as built; make velocities consistent; start the turn counters."""
    options, watch, note = system.options, system.watch, system.notes.add
    system.run(system.schedules.body(BodyKernel.UPDATE_POSE))
    system.validity.placed()
    start_counters(system)
    start = system.work[system.model.state_index]
    if len(wrong := np.flatnonzero(~np.isfinite(start))):
        whose = named_number(system.model, system.layout, system.layout, int(wrong[0]))
        raise ModelError(f"World: {whose} is {start[wrong[0]]:g} as built; give finite numbers")
    far, element = worst(system, velocity=False)
    if not far <= VIOLATED:
        off = f"{checks.label(element)}: it is off by {far:.3g} as built"
        if not _fed_back(system) or not np.isfinite(far):
            raise ModelError(f"{off}; place its bodies so that it holds, or let world.assemble() do it")
        how = "first-order motion" if options.first_order else _feedback_in_words(system)
        note(f"{off}; {how} draws it in")
    if not options.first_order:
        make_velocities_consistent(system, *worst(system, velocity=True))
    check_factors(system)
    _refuse_violated(system)
    note_redundant(system, found=watch.note_contradictions(system, "as built"))
    watch.note_unmet(system)
    for text in system.integrator.remarks + (system.integrator.cautions if options.choice is None else []):
        note(text)
    stiffness = options.stiffness
    if options.first_order and stiffness is not None and stiffness * system.dt > 1.0:
        most = 1.0 / system.dt
        note(f"Simulation: stiffness is {stiffness:g} 1/s, of which {most:g} 1/s are taken: all that is off goes "
             f"away in a step of {system.dt:g} s with these, and more would bring it back")  # fmt: skip
    system.validity.changed()
    system.starting = True


def _refuse_violated(system: System) -> None:
    """Name an inequality without a value as built, or one that is violated by more than its recovery takes back in a second."""
    model, work = system.model, system.work
    if model.measures:
        system.run(system.schedules.material_points())
    for measure in model.measures:
        values, label = work[measure.field("value") :][: measure.kind.size], checks.label(measure.element)
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise ModelError(f"{label}: its value is {bad:g} as built; write it so that it is finite there")
        slopes = np.concatenate([work[at : at + width] for at, width in measure.slopes])
        if not np.isfinite(slopes).all():
            bad = slopes[~np.isfinite(slopes)][0]
            raise ModelError(f"{label}: its derivative is {bad:g} as built; write it so that it is finite there")
        if measure.element.refuses_violation and values.min() < -DRAWN_IN:
            raise ModelError(f"{label}: it is violated by {-values.min():.3g} as built, of which {DRAWN_IN:g} can be drawn "
                             "in; place its bodies so that it holds")  # fmt: skip


def _fed_back(system: System) -> bool:
    """Whether steps draw violated constraints in, so that a start may violate them."""
    feeds = system.options.integrator == "euler" and system.integrator.traits.takes_feedback
    fed = feeds and system.work[GLOBALS.offset("stiffness")] > 0.0
    return fed or system.options.first_order


def _feedback_in_words(system: System) -> str:
    stiffness, damping = (system.work[GLOBALS.offset(name)] for name in ("stiffness", "damping"))
    return f"the feedback of euler (k_s = {stiffness:.3g} 1/s^2, k_d = {damping:.3g} 1/s)"


def make_velocities_consistent(system: System, off: float, element: Element | None, when: str = "as built") -> None:
    """Make velocities consistent with the constraints by impulses; the rates of `element` are the farthest off."""
    if not off > INCONSISTENT:
        return
    for _ in range(IMPULSES + PROXIMAL if system.model.soft else IMPULSES):
        system.factor()
        if not system.multipliers_finite():
            _refuse_start(system)
        system.run(system.schedules.body(BodyKernel.APPLY_IMPULSE))
        system.validity.changed()
    if off > TOLD and worst(system, velocity=True)[0] <= TOLD:  # else something contradicts, which is told
        system.notes.add(f"{checks.label(element)}: velocities {when} were off by {off:.3g}; an impulse made them consistent")


def check_factors(system: System) -> None:
    """Rows that depend on each other show as a solution that is not finite, or as huge multipliers."""
    system.factor()
    if not (np.isfinite(system.work[system.integrator.sentinels]).all() and system.multipliers_finite()):
        _refuse_start(system)


def _refuse_start(system: System) -> None:
    """Name what is not finite as built, or a constraint that cannot be held."""
    diagnose.refuse_start(system)
    model = system.model
    bad = [k for k in range(len(model.nodes)) if not np.isfinite(system.work[model.field_of_node(k, "x")]).all()]
    for node in (model.nodes[k] for k in bad if model.nodes[k].kind.force_directed):
        raise ModelError(f"{checks.label(node.elements[0])}: the force that it names cannot hold its rows as built; "
                         "name one that moves what they speak of")  # fmt: skip
    if bad:
        element = model.nodes[bad[0]].elements[-1]
        raise ModelError(f"{checks.label(element)}: its rows cannot be told from those of other constraints as built "
                         "(redundant); remove it or take a constraint with fewer rows")  # fmt: skip


def start_counters(system: System, known: Collection[int] | None = None) -> None:
    """The first count of a turn counter sets its sine, and whatever it counted as a crossing is none. While running, those
    of the elements with the ids `known` go on, and what counts the turns of joints begins with the joints'. Joints
    that are as built have not turned, and those of joint pivots need no count then: they are counted on their way up."""
    model, work, schedules = system.model, system.work, system.schedules
    fresh = [(element, entries) for element, entries in counters(model) if id(element) not in (known or ())]
    if not fresh:
        return
    counted = work.copy()
    as_built = known is None and not any(element.poses() for element, _ in fresh)
    system.integrator.run(counted, schedules.count() if as_built else schedules.count_all())
    for _, entries in fresh:
        work[entries] = counted[entries]
        work[entries[::2]] = 0.0
    if known is not None:
        of_joints = {id(element): entries for element, entries in counters(model)}
        for element, entries in fresh:
            for own, (joint, k) in zip(entries.reshape(-1, 2), _counted(element, len(entries) // 2), strict=True):
                there = of_joints.get(id(joint), entries[:0])
                if joint is not element and len(there) >= 2 * k + 2:
                    work[own] = work[there[2 * k : 2 * k + 2]]


def start_turns(system: System, angles: Mapping[int, FloatArray]) -> None:
    """Counters where the bodies are now, with the turns that make up the angles (rad) of joints, by id. Joints without one
    have turned by less than half a turn."""
    counting = list(counters(system.model))
    if not counting:
        return
    entries = np.concatenate([entries for _, entries in counting])
    found = []
    for side in (1.0, -1.0):  # from where an angle beyond a quarter turn counts a crossing, from one side or the other
        work = system.work.copy()
        work[entries[::2]], work[entries[1::2]] = 0.0, side
        system.integrator.run(work, system.schedules.count_all())
        found.append(work[entries])
    sine = found[0][1::2]
    angle = np.arcsin(np.clip(sine, -1.0, 1.0))
    angle = np.where(found[0][::2] != found[1][::2], np.copysign(np.pi, sine) - angle, angle)
    joints = [pair for element, own in counting for pair in _counted(element, len(own) // 2)]
    wanted = [angles[id(joint)][k] if id(joint) in angles else now for (joint, k), now in zip(joints, angle, strict=True)]
    system.work[entries[::2]], system.work[entries[1::2]] = np.round((wanted - angle) / (2 * np.pi)), sine


def _counted(element: Element, count: int) -> list[tuple[Element, int]]:
    """Whose angles an element counts: joints, and which of their angles."""
    turning = [joint for joint in _joints(element) if not kind_of_joint(joint).slides]
    return [(turning[0], k) for k in range(count)] if len(turning) == 1 else [(joint, 0) for joint in turning]


def _joints(element: Element) -> list[Joint]:
    """A joint, or those that an element speaks of, in order: of tendons theirs."""
    if isinstance(element, Joint):
        return [element]
    return [joint for _, _, other in element.references() if not isinstance(other, Body) for joint in _joints(other)]
