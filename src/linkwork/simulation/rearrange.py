"""How new constraints come into force: what they violate is drawn in, and velocities are made consistent by an impulse."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from linkwork.elements.constraints.ramped import Ramp, ramp
from linkwork.elements.core import checks
from linkwork.elements.core.element import Element, Pose
from linkwork.errors import LinkworkError, ModelError
from linkwork.kernels.node import parameter_record
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.model.graph import Order
from linkwork.model.model import Arrangement, Model
from linkwork.model.poses import poses_of
from linkwork.model.state_transfer import counters, transferred
from linkwork.simulation import contradictions
from linkwork.simulation.choice import chosen
from linkwork.simulation.options import Options
from linkwork.simulation.start import check_factors, make_velocities_consistent, start_counters
from linkwork.simulation.system import System, active_world
from linkwork.simulation.watch import VIOLATED, note_redundant
from linkwork.symbolic.vocabulary import Level

CONFLICTING = 1e-3  # m/s, rad/s: where impulses leave more than that, other constraints are in the way


def rearranged(old: System, arrangement: Arrangement, settles: bool = True) -> System:
    """A System of the world as it is, arranged like this, in the state of the old one; `settles`: new constraints are taken up
    by what is moving. The old one is not changed. Where its solver was chosen and cannot take the change, one that can is."""
    try:
        return _rearranged(old, arrangement, old.options, settles)
    except LinkworkError:
        options = old.options.chosen_anew(active_world(old.world, arrangement), chosen)
        if options == old.options:
            raise
        found = _rearranged(old, arrangement, options, settles)
        old.notes.add(f"Simulation: it goes on with {options.choice}")
        return found


def _rearranged(old: System, arrangement: Arrangement, options: Options, settles: bool) -> System:
    same = options == old.options and _same_graph(old, arrangement)
    order = old.model.order if same else None
    poses = poses_of(old.model, old.work) if order is None else old.compiled_at
    new = _rebuilt(old, arrangement, options, poses, order)
    if settles and (fresh := added(old.model, new.model)):
        new = settled(new, fresh)
    new.changed()
    return new


def added(old: Model, new: Model) -> list[Element]:
    """Constraints that another model of the world did not have."""
    if new is old:
        return []
    known = {id(element) for element in constraints_of(old)}
    return [element for element in constraints_of(new) if id(element) not in known]


def start_clocks(system: System, known: Collection[int]) -> None:
    """What begins with the time at which an element comes into force, of all but those with the ids `known`."""
    for number, force in enumerate(system.model.forces):
        if force.kind.law.clocks and id(force.element) not in known:
            layout, at = parameter_record(force.kind.law), int(system.model.force_at[number])
            system.work[[at + layout.offset(name) for name in force.kind.law.clocks]] = system.time


def forces_of(model: Model) -> list[Element]:
    return [force.element for force in model.forces]


def constraints_of(model: Model) -> list[Element]:
    return [element for node in model.nodes for element in node.elements]


def _same_graph(old: System, arrangement: Arrangement) -> bool:
    """Whether a model would have the nodes and bodies of the old one, by number: then its configuration and order serve."""
    there, model = active_world(old.world, arrangement), old.model
    place = {id(element): k for k, element in enumerate(there.constraints)}
    nodes = [[place.get(id(element), -1) for element in node.elements] for node in model.nodes]
    known = sorted(k for node in nodes for k in node) == list(range(len(place)))
    ordered = nodes == sorted(map(sorted, nodes))
    return known and ordered and list(map(id, model.bodies.elements)) == list(map(id, there.bodies))


def _rebuilt(
    old: System, arrangement: Arrangement, options: Options, compiled_at: Mapping[str, Pose], order: Order | None
) -> System:
    """The System of a changed world, in the state that the old one is in."""
    options.refuse_contact(active_world(old.world, arrangement))
    new = System.create(old.world, arrangement, options, old.notes, like=old, compiled_at=compiled_at, order=order)
    state = old.state()
    new.put(old.values(), old.commands.entries(old.work))
    new.work[new.model.state_index] = transferred(old.model, new.model, state.values)
    new.work[0] = state.time
    new.run(new.schedules.body(BodyKernel.UPDATE_POSE))
    start_counters(new, known={id(element) for element, _ in counters(old.model)})
    start_clocks(new, known={id(element) for element in (*constraints_of(old.model), *forces_of(old.model))})
    if new.contact is not None and old.contact is not None and state.contact is not None:
        new.contact.recall(state.contact, old.contact)
    for element in arrangement.own:
        new.write_own(element)
    return new


def settled(system: System, fresh: list[Element]) -> System:
    """The System in which new constraints hold from now on, but for what is drawn in, with velocities that are consistent with
    them: the given one, or another where something is drawn in."""
    if violated := _violated(system, fresh):
        arrangement = replace(system.arrangement, drawn=(*system.arrangement.drawn, *violated))
        system = _rebuilt(system, arrangement, system.options, system.compiled_at, system.model.order)
    _foresee(system)
    system.validity.placed()
    system.age = 0  # multipliers are not extrapolated: those of new rows have no past
    if not system.options.first_order:
        make_velocities_consistent(system, *_fastest(system, fresh), "when it came into force")
        _refuse_conflict(system, fresh)
    check_factors(system)
    if any(element in system.world for element in fresh):
        note_redundant(system, "where its bodies are now")
    return system


def _violated(system: System, fresh: list[Element]) -> list[tuple[str, Ramp]]:
    """The new constraints that do not hold now, by name, with the ramps that draw them in."""
    system.run(system.schedules.body(BodyKernel.UPDATE_POSE), system.schedules.check())
    found, told, farthest = [], list[tuple[Element, str]](), 0.0
    model = system.model
    for element in fresh:
        _, k, part = model.names[str(element.name)]
        node = model.nodes[k]
        piece, rows = node.kind.parts[part], node.rows_of(element)
        offset = np.zeros(len(piece.kind.levels))
        offset[list(piece.kept)] = system.work[model.report_at[k] :][rows]
        offset[[level != Level.POSITION for level in piece.kind.levels]] = 0.0
        if not np.isfinite(offset).all():
            wrong = offset[~np.isfinite(offset)][0]
            raise ModelError(f"{checks.label(element)}: it gives {wrong:g} where its bodies are now; move them, or write "
                             "it so that it is finite there")  # fmt: skip
        if not (worst := float(np.abs(offset).max())) > VIOLATED:
            continue
        off, drawn = f"{checks.label(element)}: it is off by {worst:.3g} where its bodies are now", ramp(offset, system.time)
        farthest = max(farthest, worst)
        if not system.integrator.traits.draws_in:
            raise ModelError(f'{off}, which joint coordinates cannot draw in; move them, or use solver="tree"')
        told.append((element, f"{off}; it is drawn in until {drawn.ends:.6g} s"))
        found.append((str(element.name), drawn))
    if len(told) == 1:
        system.notes.add(told[0][1])
    elif told:
        ends = max(drawn.ends for _, drawn in found)
        system.notes.add(f"{checks.labels([element for element, _ in told])}: they are off where their bodies are now, by "
                          f"{farthest:.3g} at most; they are drawn in until {ends:.6g} s")  # fmt: skip
    return found


def _foresee(system: System) -> None:
    """Make all sweeps that are used from here to the end of the next step, in one compilation."""
    p = system.schedules
    with p.at_once():
        p.check()
        p.body(BodyKernel.APPLY_IMPULSE)
        p.up(RowMode.VELOCITY, first=(BodyKernel.KICK,))
        p.backward()
        p.body(BodyKernel.UPDATE_POSE)
        getattr(system.integrator, "sweeps", None)


def _fastest(system: System, fresh: list[Element]) -> tuple[float, Element]:
    """The largest rate (m/s, rad/s) at which one of the new constraints changes, and that constraint."""
    system.run(system.schedules.check())
    found = []
    for element in fresh:
        _, k, _ = system.model.names[str(element.name)]
        node = system.model.nodes[k]
        rates = system.work[system.model.report_at[k] + node.kind.size :][node.rows_of(element)]
        found.append((float(np.abs(rates).max()), element))
    return max(found, key=lambda pair: np.nan_to_num(pair[0], nan=np.inf))


def _refuse_conflict(system: System, fresh: list[Element]) -> None:
    """Rates that no impulse has put right are those of constraints that exclude each other."""
    off, element = _fastest(system, fresh)
    if not off <= CONFLICTING:
        found = contradictions.found(system)
        why = str(found[0]) if found else "it contradicts other constraints"
        raise ModelError(f"{checks.label(element)}: no impulse can make velocities consistent with it, {off:.3g} are left; "
                         f"{why}, remove one of them")  # fmt: skip
