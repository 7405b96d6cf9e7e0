"""Where everything lies in a model's workspace: records, blocks, reports, and what of it is the state."""

from __future__ import annotations

import itertools

import numpy as np

from linkwork.codegen.trace import Space
from linkwork.elements.core.element import Element
from linkwork.errors import ModelError
from linkwork.kernels.loop_coupling import coupling_rows
from linkwork.kernels.node import parameter_record
from linkwork.model import states
from linkwork.model.cg_layout import CGArea
from linkwork.model.graph import moving
from linkwork.model.material_points import material_points_of
from linkwork.model.measures import place_measures
from linkwork.model.model import Model
from linkwork.model.nodes import Bodies
from linkwork.symbolic.views import GLOBALS

SCRATCH = 400  # entries for single reports, or more where the blocks and rows of a node need them


def lay_out(world, options, bodies, nodes, forces, measures, graph, order, items, later, joint_pivot_of) -> Model:
    """The model: records and blocks in the order of elimination, then what is laid out by number."""
    dims = [kind.nv for kind in bodies.kinds] + [node.kind.size for node in nodes]
    auxiliary = sorted(set(range(len(nodes))) - {item.node for item in items})
    at, body_at, node_at, slot_at, fronts = _place_records(options, bodies, nodes, items, later, auxiliary, dims)
    force_at, at = _starts(at, [force.kind.record.size for force in forces])
    report_at, at = _starts(at, [3 * node.kind.size for node in nodes])
    impulse_at, at = _starts(at, [node.kind.size for node in nodes])
    packed_at, packed_range, rates_range = np.zeros(len(bodies.kinds), dtype=np.int64), (at, 0), (at, 0)
    if options["packed"]:
        packed_at, end = _starts(at, [kind.nq + kind.nv for kind in bodies.kinds])
        packed_range, rates_range = (at, end - at), (end, end - at)
        at = end + end - at
    scratch = at
    at += max([SCRATCH, *[m.kind.size * (2 + sum(k.nv for k in m.kind.kinds if k)) for m in nodes]])
    gathering = at
    many = [(one.kind, one.kind.size) for one in (*nodes, *measures)] + [(force.kind, 1) for force in forces]
    at += max((_gathered(kind, rows, options["pairs"]) for kind, rows in many if len(kind.kinds) > 2), default=0)
    response_at, response_size = at, options["responses"] * sum(dims) if auxiliary else 0
    at += response_size
    area = CGArea.of(at, bodies, nodes) if options["gradients"] else None
    at += area.size if area else 0
    spots, stretched = material_points_of(world, bodies, at)
    at = place_measures(measures, spots[-1].end if spots else at)
    parts = _state_parts(bodies, nodes, forces, measures, body_at, node_at, force_at, joint_pivot_of, area)
    return Model(
        world, world.version, options, bodies, nodes, forces, graph, order.redundant, order.ranked, order.soft, items, fronts,
        auxiliary, joint_pivot_of, body_at, node_at, force_at, slot_at, report_at, impulse_at,
        _multipliers(nodes, node_at, impulse_at, joint_pivot_of), packed_at, packed_range, rates_range, scratch, gathering,
        response_at, area, at, np.array(world.gravity),
        np.concatenate([own for _, own in parts]), tuple((name, len(own)) for name, own in parts if len(own)),
        _commands(forces, force_at),
        _parameters(bodies, nodes, forces, measures, body_at, node_at, force_at, joint_pivot_of), _names(bodies, nodes, forces),
        any(force.kind.law.velocity_dependent for force in forces) or _damped(bodies), spots, measures, stretched,
    )  # fmt: skip


def _place_records(options, bodies, nodes, items, later, auxiliary, dims):
    """(end, offsets of bodies, of nodes, of blocks, vertices that each vertex has blocks with): records in the order of
    elimination, each with its blocks behind it; those of auxiliary nodes last."""
    n = len(bodies.kinds)
    body_at, node_at = np.zeros(n, dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
    slot_at = np.zeros(len(dims), dtype=np.int64)
    fronts: dict[int, list[int]] = {}
    space = Space(GLOBALS.size)
    for item in items:
        if item.body >= 0:
            space.place(bodies.kinds[item.body].record.size, body_at, item.body)
        if item.node >= 0:
            space.place((item.pivot or nodes[item.node].kind).record.size, node_at, item.node)
        vertex = item.body if item.body >= 0 else n + item.node
        if item.pivot is None:
            fronts[vertex] = later[vertex]
            space.place((1 + options["pairs"]) * dims[vertex] * sum(dims[other] for other in later[vertex]), slot_at, vertex)
        elif not item.pivot.coupled and len(later[vertex]) > 1:
            fronts[vertex] = later[vertex][1:]  # the first is the joint itself
            space.place(coupling_rows(item.pivot) * sum(dims[other] for other in fronts[vertex]), slot_at, vertex)
    for k in auxiliary:
        space.place(nodes[k].kind.record.size, node_at, k)
        fronts[n + k] = list(moving(nodes[k].ends))
        space.place(
            (1 + nodes[k].kind.force_directed) * dims[n + k] * sum(dims[body] for body in fronts[n + k]), slot_at, n + k
        )
    return space.close(), body_at, node_at, slot_at, fronts


def _starts(at: int, sizes: list[int]) -> tuple[np.ndarray, int]:
    """Offsets of pieces one after another from `at` on, and where they end."""
    ends = np.array([at, *sizes], dtype=np.int64).cumsum()
    return ends[:-1], int(ends[-1])


def _gathered(kind, rows: int, pairs: bool) -> int:
    """Entries that operations on a node or force and its many bodies copy together: all fields of these, blocks, reports."""
    bodies = [body for body in kind.kinds if body is not None]
    fields = sum(size for body in bodies for _, size in body.record.fields.values())
    velocities = sum(body.nv for body in bodies)
    return fields + (1 + pairs) * (rows * (velocities + 3) + velocities**2)


def _damped(bodies: Bodies) -> bool:
    return any(np.any(getattr(frames, "damping", 0.0)) for frames in bodies.frames.values())


def _state_parts(
    bodies, nodes, forces, measures, body_at, node_at, force_at, joint_pivot_of, area
) -> list[tuple[str, np.ndarray]]:
    """Entries that make up the state, and what they are: the names and their order are those of `states.Layout`."""
    parts = [("work", np.array([GLOBALS.offset("work")]))]
    parts.append(("pace", np.array([GLOBALS.offset(name) for name in ("pace", "calm")])))
    for members in bodies.members.values():
        kind = bodies.kinds[members[0]]
        record = kind.record
        span = np.arange(record.offset("q"), record.slice("v").stop)
        sort = states.RIGID if kind.movable_origin else "bodies"
        parts.append((sort, (body_at[np.array(members)][:, None] + span).ravel()))
    history_at, parameters_at = np.zeros_like(node_at), np.zeros_like(node_at)
    for record, members in _by_record(nodes, joint_pivot_of):
        history_at[members] = node_at[members] + record.offset("history")
        parameters_at[members] = node_at[members] + record.offset("parameters")
    for record, members in _by_record(nodes, {}):  # the order of a state does not depend on which joints have joint pivots
        parts.append(("history", (history_at[members][:, None] + np.arange(record["history"][1])).ravel()))
        spans = _turns(0, [part.kind for part in nodes[members[0]].kind.parts])
        parts += [(name, (parameters_at[members][:, None] + span).ravel()) for name, span in spans]
    if area is not None:
        parts.append(("warm", np.arange(*_bounds(0, area["warm"]))))
    for k, force in enumerate(forces):
        parts += _turns(force_at[k], [force.kind.law])
    for measure in measures:
        parts += _turns(measure.field("parameters"), [part.kind for part in measure.kind.parts])
    parts += [(states.COMMANDS, entries) for _, entries in _commands(forces, force_at)]
    return [(name, entries.astype(np.int64)) for name, entries in parts]


def _commands(forces, force_at) -> list[tuple[Element, np.ndarray]]:
    """What takes commands, and the entries that hold them: a number, a position (3), or that and a quaternion (7)."""
    found = []
    for k, force in enumerate(forces):
        layout, at = parameter_record(force.kind.law), int(force_at[k])
        if fields := [*force.kind.law.commands(force.element)]:
            found.append((force.element, np.arange(at + layout.offset(fields[0]), at + layout.slice(fields[-1]).stop)))
    return found


def _by_record(nodes, joint_pivot_of):
    """(record, nodes that have it), for all nodes."""
    groups: dict[tuple, list[int]] = {}
    for k, node in enumerate(nodes):
        groups.setdefault((id(node.kind), id(joint_pivot_of.get(k))), []).append(k)
    return [
        ((joint_pivot_of.get(members[0]) or nodes[members[0]].kind).record, np.array(members)) for members in groups.values()
    ]


def _multipliers(nodes, node_at, impulse_at, joint_pivot_of) -> np.ndarray:
    """Where the multipliers of all rows are, in the order of the impulses."""
    found = np.zeros(sum(node.kind.size for node in nodes), dtype=np.uint32)
    for record, members in _by_record(nodes, joint_pivot_of):
        offset, size = record["x"]
        rows = (impulse_at[members] - impulse_at[0])[:, None] + np.arange(size)
        found[rows] = node_at[members][:, None] + offset + np.arange(size)
    return found


def _bounds(base, where: slice) -> tuple[int, int]:
    return int(base + where.start), int(base + where.stop)


def _turns(offset, element_kinds) -> list[tuple[str, np.ndarray]]:
    found = []
    for element_kind in element_kinds:
        layout = parameter_record(element_kind)
        kept = [*(["turns"] if element_kind.counters else []), *element_kind.state_fields]
        found += [("turns" if name == "turns" else "kept", np.arange(*_bounds(offset, layout.slice(name)))) for name in kept]
        offset += layout.size
    return found


def _parameters(bodies, nodes, forces, measures, body_at, node_at, force_at, joint_pivot_of):
    places: dict[str, tuple] = {}

    def note(parameter, entry):
        if parameter.name is None:  # one that only a function knows of
            parameter.name = next(name for k in itertools.count(1) if (name := f"parameter{k}") not in places)
        known = places.setdefault(parameter.name, (parameter, []))
        if known[0] is not parameter:
            raise ModelError(f'Parameter "{parameter.name}": two parameters have this name; rename one of them')
        known[1].append(entry)

    for name, frames in bodies.frames.items():
        if frames.parameters is not None:
            members = bodies.members[name]
            offsets = body_at[np.array(members)] + bodies.kinds[members[0]].record.offset("user")
            for (k, entry), parameter in np.ndenumerate(frames.parameters):
                note(parameter, offsets[k] + entry)
    for k, node in enumerate(nodes):
        offset = node_at[k] + (joint_pivot_of.get(k) or node.kind).record.offset("parameters")
        for entry, parameter in node.slots:
            note(parameter, offset + entry)
    for k, force in enumerate(forces):
        for entry, parameter in force.slots:
            note(parameter, force_at[k] + entry)
    for measure in measures:
        for entry, parameter in measure.node.slots:
            note(parameter, measure.field("parameters") + entry)
    return {name: (parameter, np.array(entries, dtype=np.int64)) for name, (parameter, entries) in places.items()}


def _names(bodies, nodes, forces) -> dict[str, tuple[str, int, int]]:
    names = {body.name: ("body", k, 0) for k, body in enumerate(bodies.elements)}
    for k, node in enumerate(nodes):
        for part, element in enumerate(node.elements):
            names[element.name] = ("constraint", k, part)
    for k, force in enumerate(forces):
        names[force.element.name] = ("force", k, 0)
    return names
