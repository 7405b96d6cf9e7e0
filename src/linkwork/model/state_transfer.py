"""States of one model for another of a world that has changed: what both have keeps its numbers, to the bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.element import Element
from linkwork.elements.core.placement import apply, matrices
from linkwork.kernels.node import parameter_record
from linkwork.model.cg_layout import REMEMBERED, WARM, CGArea
from linkwork.model.model import Model
from linkwork.model.readout import fields
from linkwork.model.states import COMMANDS, JOINTS, Layout, command_places
from linkwork.model.states import RIGID as ORIGINS

GLOBAL_STATE = 3  # entries that open a state: see `layout._state_parts`


def transferred(old: Model, new: Model, values: np.ndarray) -> np.ndarray:
    """A state's values, of the old model, as the new one has them. New bodies are as built, new constraints have no warm
    starts (of conjugate gradients: start from nothing), counters that are new have counted nothing, and commands that are new
    are none."""
    before, work = np.zeros(old.size), new.workspace()
    before[old.state_index] = values
    work[new.state_index[:GLOBAL_STATE]] = values[:GLOBAL_STATE]
    _carry_bodies(old, new, before, work)
    if old.gradients is not None and new.gradients is not None:
        work[_known(new.gradients)] = before[_known(old.gradients)]
    for find in (histories, counters, kept, remembered, lambda model: model.commands):
        known = {id(element): entries for element, entries in find(old)}
        for element, entries in find(new):
            if (there := known.get(id(element))) is not None and there.shape == entries.shape:
                work[entries] = before[there]
    return work[new.state_index]


def counters(model: Model) -> Iterator[tuple[Element, np.ndarray]]:
    """The elements that count turns, and the entries that hold their turns and last sines."""
    for k, node in enumerate(model.nodes):
        if node.kind.counters:
            start = model.parameters_at(k)
            for part, element in zip(node.kind.parts, node.elements, strict=True):
                layout = parameter_record(part.kind)
                if part.kind.counters:
                    yield element, start + np.arange(layout.offset("turns"), layout.slice("turns").stop)
                start += layout.size
    for k, force in enumerate(model.forces):
        if force.kind.law.counters:
            where = parameter_record(force.kind.law).slice("turns")
            yield force.element, model.force_at[k] + np.arange(where.start, where.stop)
    for measure in model.measures:
        if measure.kind.counters:
            where = parameter_record(measure.kind.parts[0].kind).slice("turns")
            yield measure.element, measure.field("parameters") + np.arange(where.start, where.stop)


def kept(model: Model) -> Iterator[tuple[Element, np.ndarray]]:
    """Constraints and forces that keep what they find from step to step, and the entries that hold it."""
    for k, node in enumerate(model.nodes):
        if not any(part.kind.state_fields for part in node.kind.parts):
            continue
        start = model.parameters_at(k)
        for part, element in zip(node.kind.parts, node.elements, strict=True):
            layout = parameter_record(part.kind)
            if part.kind.state_fields:
                entries = [layout.offset(name) + np.arange(size) for name, size in part.kind.state_fields.items()]
                yield element, start + np.concatenate(entries)
            start += layout.size
    for k, force in enumerate(model.forces):
        if fields := force.kind.law.state_fields:
            layout = parameter_record(force.kind.law)
            entries = [layout.offset(name) + np.arange(size) for name, size in fields.items()]
            yield force.element, model.force_at[k] + np.concatenate(entries)


def histories(model: Model) -> Iterator[tuple[Element, np.ndarray]]:
    """Constraints, and the entries (3, rows) of their last three position stages."""
    for k, node in enumerate(model.nodes):
        past = model.field_of_node(k, "history").start + np.arange(3 * node.kind.size).reshape(3, -1)
        row = 0
        for part, element in zip(node.kind.parts, node.elements, strict=True):
            yield element, past[:, row : row + len(part.kept)]
            row += len(part.kept)


def remembered(model: Model) -> Iterator[tuple[Element, np.ndarray]]:
    """Constraints, and the entries (what is remembered, rows) of the multipliers that conjugate gradients start from."""
    if model.gradients is None:
        return
    area = model.gradients
    past = (_known(area)[:, None] + 1 + area.rows * np.arange(REMEMBERED)).reshape(-1, 1) + np.arange(area.rows)
    row = 0
    for node in model.nodes:
        for part, element in zip(node.kind.parts, node.elements, strict=True):
            yield element, past[:, row : row + len(part.kept)]
            row += len(part.kept)


def _known(area: CGArea) -> np.ndarray:
    """The entries that say how much each solve remembers."""
    return area["warm"].start + area.memory * np.arange(WARM)


def _carry_bodies(old: Model, new: Model, before: np.ndarray, work: np.ndarray) -> None:
    """Coordinates and velocities. The origins of rigid bodies may be elsewhere now: neighbours decide whether a body and its
    joint are a joint pivot."""
    for members in new.bodies.members.values():
        pairs = [(old.bodies.number[key], k) for k in members if (key := id(new.bodies.elements[k])) in old.bodies.number]
        if not pairs:
            continue
        was, now = np.array(pairs, dtype=np.int64).T
        kind = new.bodies.kinds[now[0]]
        q, v = fields(old, before, kind, was, "q", "v")
        if kind.movable_origin:
            _move_origins(_homes(old, was), _homes(new, now), q, v)
        for name, values in (("q", q), ("v", v)):
            where = kind.record.slice(name)
            work[new.body_at[now][:, None] + np.arange(where.start, where.stop)] = values


def _homes(model: Model, numbers: np.ndarray) -> np.ndarray:
    """(k, 3): from the origins of rigid bodies to their users' ones."""
    return model.bodies.rigid.start()["home"][model.bodies.place[numbers]]


def _move_origins(was: np.ndarray, now: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
    moved = np.flatnonzero((was != now).any(axis=1))
    arm = apply(matrices(q[moved, 3:7]), (was - now)[moved])
    q[moved, :3] += arm
    v[moved, :3] += np.cross(v[moved, 3:6], arm)


def named_number(model: Model, own: Layout, theirs: Layout, number: int) -> str:
    """Whose a number of a state is, and what, in words; `own`: the model's layout, `theirs`: the state's, which fits it."""
    name, place = theirs.named(number)
    if name == COMMANDS:
        owner = next(owner for owner, where in command_places(theirs).items() if number in where)
        return f'the command of "{owner}"'
    if name in (ORIGINS, "bodies"):
        kinds = model.bodies.kinds
        for k in [k for some in model.bodies.members.values() for k in some if kinds[k].movable_origin == (name == ORIGINS)]:
            kind = kinds[k]
            if place < kind.nq + kind.nv:
                what = f"coordinate {place + 1}" if place < kind.nq else f"velocity {place - kind.nq + 1}"
                return f"{what} of {checks.label(model.bodies.elements[k])}"
            place -= kind.nq + kind.nv
    if name in ("turns", "kept"):
        entry = int(model.state_index[own.where(name)[place]])
        element = next(element for element, entries in (*counters(model), *kept(model)) if entry in entries)
        return f"a {'count of turns' if name == 'turns' else 'place that is sought'} of {checks.label(element)}"
    return {
        "work": "the work of prescribed motion",
        "pace": "the pace of the integrator",
        JOINTS: "a coordinate of a joint",
    }.get(name, "a warm start")
