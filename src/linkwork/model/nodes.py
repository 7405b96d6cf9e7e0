"""From elements to constraint nodes: their kinds, refusals by name, rows kept, constraints stacked where they share bodies."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import casadi as ca
import numpy as np

from linkwork.codegen.trace import Evaluated, Kernel
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.constraints.ramped import Ramp, RampedKind
from linkwork.elements.core import checks
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.joint_kind import JointKind
from linkwork.elements.core.parameter import Parameter
from linkwork.elements.core.placement import BESIDE, Fixed, Placement
from linkwork.elements.core.registry import kind_for
from linkwork.errors import ModelError
from linkwork.kernels.force_kernels import ForceNodeKind
from linkwork.kernels.node import NodeKind, Part, parameter_record
from linkwork.kernels.node_kernels import node_check_kernel, node_jacobian_kernel
from linkwork.model.graph import GROUND

if TYPE_CHECKING:
    from linkwork.elements.bodies.rigid_placement import RigidPlacement

TIMES = (0.0, 0.37, 1.1)  # s, at which rows that no body feels must hold


@dataclass
class Group:
    """Elements of one kind between bodies of the same kinds: their numbers are computed in one batch."""

    kind: Any  # a ConstraintKind or a ForceKind
    kinds: tuple[BodyKind | None, ...]
    elements: list = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of the elements, in the world's order
    ends: list[tuple[int, ...]] = field(default_factory=list)  # body numbers in the order of their kind
    parameters: list[tuple] = field(default_factory=list)  # of each element: the Parameters of its function


class Bodies:
    """All bodies of a world, batched by kind."""

    def __init__(self, elements: Sequence, kinds: list[BodyKind], frames: dict[str, Placement]):
        self.elements, self.kinds, self.frames = elements, kinds, frames
        self.number = {id(body): k for k, body in enumerate(elements)}
        self.place = np.zeros(len(elements), dtype=np.int64)  # of a body within its kind's batch
        self.members: dict[str, list[int]] = {name: [] for name in frames}
        for k, kind in enumerate(kinds):
            self.place[k] = len(self.members[kind.name])
            self.members[kind.name].append(k)

    @property
    def rigid(self) -> RigidPlacement:
        """The rigid bodies, of which there are some."""
        return cast("RigidPlacement", self.frames[RIGID.name])

    def batch(self, kind: BodyKind | None, numbers: list[int]) -> Placement:
        """Placement of these bodies; all are of this kind (None: the ground)."""
        if kind is None:
            return Fixed(len(numbers))
        return self.frames[kind.name].pick(self.place[np.array(numbers, dtype=np.int64)])

    def ends(self, element_kind, element) -> tuple[int, ...]:
        bodies = element_kind.bodies(element)
        return tuple(GROUND if body is None or body.dim == 0 else self.number[id(body)] for body in bodies)


def grouped(
    elements: Sequence, bodies: Bodies, drawn: Mapping[str, Ramp] = MappingProxyType({}), kind: Any = None
) -> list[Group]:
    """Elements by their kind and the kinds of bodies; each is checked against what its kind needs. `drawn`: those that are
    drawn in, by name; `kind`: that of all of them, if it is not the one that their class has."""
    by_key: dict[tuple, Group] = {}
    for number, element in enumerate(elements):
        element_kind = kind_for(element) if kind is None else kind
        if element.name in drawn:
            element_kind = RampedKind(element_kind, drawn)
        ends = bodies.ends(element_kind, element)
        if len(ends) == 2 and ends[0] == ends[1] != GROUND:
            checks.fail(element, f"both its ends move {checks.label(bodies.elements[ends[0]])}", "give two different bodies")
        kinds = tuple(None if end == GROUND else bodies.kinds[end] for end in ends)
        key = (element_kind.key, kinds)
        group = by_key.get(key)
        if group is None:
            _check_kinds(element, element_kind, kinds)
            group = by_key[key] = Group(element_kind, kinds)
        group.elements.append(element)
        group.numbers.append(number)
        group.ends.append(ends)
        group.parameters.append(element_kind.user_parameters)
    return list(by_key.values())


def _check_kinds(element, element_kind, kinds) -> None:
    ends = zip(kinds, element_kind.needs_directions, element_kind.rigid_only, element_kind.bodies(element), strict=True)
    for end, (kind, needs, rigid, body) in enumerate(ends):
        if kind is None:
            continue
        if needs and not kind.directions:
            checks.fail(element, f"{checks.label(body)} has no directions, and {type(element).__name__} needs them",
                        "use a RigidBody, or a constraint of points such as Ball or Distance")  # fmt: skip
        if kind.is_a_point and element_kind.points_beside(end):
            checks.fail(element, f"its function asks for a point beside {checks.label(body)}, which is a point itself",
                        "use its position")  # fmt: skip
        if not kind.framed:
            for local in element_kind.points_of(end):
                check_named(element, kind, body, np.array(local))
        if rigid and kind.stretches:
            checks.fail(element, f"{checks.label(body)} stretches, and {type(element).__name__} needs a body that does not",
                        "use a RigidBody")  # fmt: skip


def check_named(element, kind: BodyKind, body, local: np.ndarray) -> None:
    """Some place of a body is called so."""
    if (remedy := kind.unknown_point(local)) is not None:
        where = f"no particle of {checks.label(body)} is there" if np.isnan(local).any() else \
            f"{checks.label(body)} has no point {checks.show(local)}"  # fmt: skip
        checks.fail(element, where, remedy)


@dataclass
class Numbers:
    """Parameters of one group: values (k, size), and the Parameters that stand in them."""

    values: np.ndarray
    slots: list[tuple[int, int, Parameter]]  # (element within the group, entry, parameter)


def numbers_of(group: Group, bodies: Bodies) -> Numbers:
    """The parameter records of all elements of a group, turn counters included (turns 0, sine as built)."""
    frames = [bodies.batch(kind, [ends[k] for ends in group.ends]) for k, kind in enumerate(group.kinds)]
    poses = [element.poses() for element in group.elements]
    if any(poses):
        for k, batch in enumerate(frames):
            if group.kinds[k] is not None:
                batch.put([own.get(bodies.elements[ends[k]].name) for own, ends in zip(poses, group.ends, strict=True)])
    layout = parameter_record(group.kind)
    values = np.zeros((len(group.elements), layout.size))
    slots: list[tuple[int, int, Parameter]] = []
    found = group.kind.parameters(group.elements, *frames)
    if group.kind.user_parameters:
        found["user"] = np.array(group.parameters, dtype=object)
    _check_points(group, found)
    for name, array in found.items():
        where = layout.slice(name)
        if array.dtype == object:
            entries: list[tuple[int, int, Any]] = [(k, j, array[k, j]) for k, j in np.ndindex(*array.shape)]
            slots += [(k, where.start + j, x) for k, j, x in entries if isinstance(x, Parameter)]
            array = np.array([[float(x) for x in row] for row in array]).reshape(array.shape)
        values[:, where] = array
    return Numbers(values, slots)


def _check_points(group: Group, found: dict[str, np.ndarray]) -> None:
    """An anchor on a particle is where the particle is; on a Lagrangian body it is one of its points."""
    for end, (kind, name) in enumerate(zip(group.kinds, ("on_a", "on_b"), strict=False)):
        if kind is not None and not kind.framed and name in found:
            for element, local in zip(group.elements, found[name], strict=True):
                check_named(element, kind, group.kind.bodies(element)[end], local)
        if kind is not None and kind.is_a_point and name in found:
            away = np.linalg.norm(found[name], axis=1)
            for element, distance in zip(group.elements, away, strict=True):
                if distance > BESIDE:
                    body = checks.label(group.kind.bodies(element)[end])
                    checks.fail(element, f"its anchor lies {distance:.3g} m beside {body}, which is a point",
                                "put the anchor at its position")  # fmt: skip


MOST_KEPT = 256  # evaluators of a thread
_KEPT = threading.local()  # they have places for what they are given, so that threads share none


def evaluator(kernel: Kernel, pointer: int) -> Evaluator:
    """An Evaluator that was made before, if there is one: a world that is changed is compiled again and again."""
    known = _KEPT.__dict__
    key = f"{pointer} {kernel.key}"
    if key not in known:
        if len(known) >= MOST_KEPT:
            known.clear()
        known[key] = Evaluator(kernel, pointer)
    return known[key]


class Evaluator:
    """Runs a kernel of one node or force as its CasADi function, outside of any workspace."""

    def __init__(self, kernel: Kernel, pointer: int):
        trace = kernel.trace()
        sources = [place for source in trace.sources for place in source]
        self._sources = {p: np.array([(i, k) for i, (q, k) in enumerate(sources) if q == p]).T for p in {p for p, _ in sources}}
        targets = [place for target in trace.targets for place in target]
        self._stored = np.array([i for i, (p, _) in enumerate(targets) if p == pointer], dtype=np.int64)
        self._stored_at = np.array([k for p, k in targets if p == pointer], dtype=np.int64)
        results = [ca.densify(ca.vertcat(ca.SX(0, 1), *trace.results))]
        self._function = Evaluated(ca.Function("kernel", [ca.vertcat(ca.SX(0, 1), *trace.symbols)], results))

    def __call__(self, records: dict[int, np.ndarray]) -> np.ndarray:
        """records: pointer -> entries; what is not given is zero. Returns what the kernel stores at its `pointer`."""
        return self.many(1, {pointer: entries[None] for pointer, entries in records.items()})[0]

    def many(self, count: int, records: dict[int, np.ndarray]) -> np.ndarray:
        """The same for so many records (count, entries) of each pointer, one after another."""
        given = np.zeros((count, len(self._function.given)))
        for pointer, (places, entries) in self._sources.items():
            if pointer in records:
                there = entries < records[pointer].shape[1]
                given[:, places[there]] = records[pointer][:, entries[there]]
        out = np.zeros((count, 1 + self._stored_at.max(initial=-1)))
        for k in range(count):
            self._function.given[:] = given[k]
            out[k, self._stored_at] = self._function()[self._stored]
        return out


def kept_rows(group: Group, numbers: Numbers, records) -> list[tuple[int, ...]]:
    """For each element the rows that its bodies can feel; rows that vanish identically are dropped if C = 0 there.

    Only bodies that live in a plane can have such rows. `records(body, jitter)` is a body's record.
    """
    whole = tuple(range(len(group.kind.levels)))
    if not any(kind is not None and kind.may_be_flat for kind in group.kinds):
        return [whole] * len(group.elements)
    node = NodeKind((Part(group.kind, tuple(range(len(group.kinds))), whole),), group.kinds)
    jacobian, residual = (evaluator(make(node, 0), node.behind) for make in (node_jacobian_kernel, node_check_kernel))
    sizes = [kind.nv if kind else 0 for kind in group.kinds]
    kept = []
    for element, values, ends in zip(group.elements, numbers.values, group.ends, strict=True):
        felt = np.zeros(len(whole))
        for jitter in (0, 1, 2):
            given = {1: values, **{2 + k: records(end, jitter) for k, end in enumerate(ends) if end != GROUND}}
            for block in blocks_of(jacobian(given), len(whole), sizes):
                felt = np.maximum(felt, np.nan_to_num(np.abs(block), nan=np.inf).max(axis=1, initial=0.0))
        rows = tuple(int(k) for k in np.flatnonzero(felt > 1e-12))
        given = {1: values, **{2 + k: records(end, 0) for k, end in enumerate(ends) if end != GROUND}}
        C = max((residual({0: np.array([time]), **given})[: len(whole)] for time in TIMES), key=lambda c: np.abs(c).max())
        for row in set(whole) - set(rows):
            if abs(C[row]) > 1e-9:
                checks.fail(element, f"row {row + 1} is off by {C[row]:.3g} out of the plane that its bodies live in",
                            "move its anchor or axis into the plane")  # fmt: skip
        if not rows:
            checks.fail(element, "nothing of it lies in the plane that its bodies live in", "remove it")
        kept.append(rows)
    return kept


def blocks_of(flat: np.ndarray, rows: int, widths: list[int]) -> list[np.ndarray]:
    """Blocks (rows, width) that lie one after another."""
    stops = np.cumsum(np.array(widths) * rows)
    return [flat[stop - rows * width : stop].reshape(rows, width) for stop, width in zip(stops, widths, strict=True)]


@dataclass
class Node:
    """One constraint node: its kind, its bodies (the ground first), its elements in order."""

    kind: NodeKind
    ends: tuple[int, ...]
    elements: list
    values: np.ndarray  # (parameters,)
    slots: list[tuple[int, Parameter]]  # (entry, parameter)
    members: list[tuple[int, int]]  # (group, element within it) of each element

    def rows_of(self, element) -> slice:
        start = 0
        for part, e in zip(self.kind.parts, self.elements, strict=True):
            if e is element:
                return slice(start, start + len(part.kept))
            start += len(part.kept)
        raise KeyError(element)


def stacked(groups: list[Group], numbers: list[Numbers], kept: list[list[tuple[int, ...]]], count: int) -> list[Node]:
    """Nodes in the order in which their first element stands in the world."""
    entries: list = [None] * count
    for place, (group, values, rows) in enumerate(zip(groups, numbers, kept, strict=True)):
        slots: dict[int, list] = {}
        for k, entry, parameter in values.slots:
            slots.setdefault(k, []).append((entry, parameter))
        for k, (number, ends) in enumerate(zip(group.numbers, group.ends, strict=True)):
            entries[number] = (group, k, ends, rows[k], values.values[k], slots.get(k, ()), place)
    by_ends: dict[tuple[tuple[int, ...], bool], list] = {}
    for entry in entries:
        by_ends.setdefault((tuple(sorted(entry[2])), entry[0].kind.force_directed), []).append(entry)
    kinds: dict[tuple, NodeKind] = {}
    nodes = []
    for (together, _), members in by_ends.items():
        orders = [tuple(together.index(end) for end in ends) for _, _, ends, *_ in members]
        signature = tuple((id(m[0].kind), order, m[3], m[0].kinds) for m, order in zip(members, orders, strict=True))
        kind = kinds.get(signature)
        if kind is None:
            parts = tuple(Part(m[0].kind, order, m[3]) for m, order in zip(members, orders, strict=True))
            own = dict(zip(orders[0], members[0][0].kinds, strict=True))
            kind = kinds[signature] = NodeKind(parts, tuple(own[k] for k in range(len(together))))
        offset, joined_slots = 0, []
        for _, _, _, _, values, own, _ in members:
            joined_slots += [(offset + entry, parameter) for entry, parameter in own]
            offset += len(values)
        joined = members[0][4] if len(members) == 1 else np.concatenate([m[4] for m in members])
        elements, places = [m[0].elements[m[1]] for m in members], [(m[6], m[1]) for m in members]
        nodes.append(Node(kind, together, elements, joined, joined_slots, places))
    return nodes


def renumber(nodes: list[Node], numbers: list[Numbers]) -> None:
    """Put newly computed numbers into the nodes."""
    for node in nodes:
        parts = [numbers[group].values[k] for group, k in node.members]
        node.values = parts[0] if len(parts) == 1 else np.concatenate(parts)


@dataclass
class ForceNode:
    kind: ForceNodeKind
    ends: tuple[int, ...]
    element: Any
    values: np.ndarray
    slots: list[tuple[int, Parameter]]


def force_nodes(groups: list[Group], numbers: list[Numbers]) -> list[ForceNode]:
    """Forces in the world's order."""
    found: list = []
    for group, values in zip(groups, numbers, strict=True):
        kind = ForceNodeKind(group.kind, group.kinds)  # type: ignore[arg-type]
        slots: dict[int, list] = {}
        for k, entry, parameter in values.slots:
            slots.setdefault(k, []).append((entry, parameter))
        for k, number in enumerate(group.numbers):
            node = ForceNode(kind, group.ends[k], group.elements[k], values.values[k], slots.get(k, []))
            found.append((number, node))
    return [node for _, node in sorted(found, key=lambda pair: pair[0])]


def always_full_rank(kind: NodeKind) -> bool:
    """Whether a node has full row rank on any of its bodies, whatever the configuration."""
    element_kind = kind.parts[0].kind
    return (len(kind.parts) == 1 and isinstance(element_kind, JointKind) and element_kind.full_rank
            and all(k is None or k is RIGID for k in kind.kinds))  # fmt: skip


def lacking_rank(nodes: Sequence[Node], whole: np.ndarray) -> np.ndarray:
    """(nodes,) Whether the stacked rows (nodes, rows, columns) of one node depend on each other; an element with a row that
    nothing can change is refused."""
    largest = np.abs(whole).max(axis=(1, 2), initial=0.0)
    lacks = np.linalg.matrix_rank(whole, tol=1e-9 * np.maximum(1.0, largest)) < whole.shape[1]
    for k in np.flatnonzero(lacks).tolist():
        for element in nodes[k].elements:
            rows = nodes[k].rows_of(element)
            flat = [row + 1 for row in range(rows.start, rows.stop) if np.abs(whole[k, row]).max(initial=0.0) < 1e-9]
            if flat:
                raise ModelError(
                    f"{checks.label(element)}: row {flat[0] - rows.start} does not change when its bodies move (it is "
                    "constant, or singular as built); write it so that its derivative is not zero where it holds"
                )
    return lacks
