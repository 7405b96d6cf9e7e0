"""What closes the loops of a tree, from a model to the arrays of compiled steps (`loop_closure.py`)."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import OPERANDS
from linkwork.elements.core.element import ConstraintElement
from linkwork.elements.core.registry import kind_type
from linkwork.engines.joint_coordinates.loop_closure import LoopRows
from linkwork.engines.maximal.regularised_projection import size
from linkwork.kernels.node import parameter_record
from linkwork.model.graph import GROUND
from linkwork.reduced.workspace import TreeWorkspace
from linkwork.schedules.schedules import Schedules
from linkwork.symbolic.autodiff import POSITION

VANISHING = 1e-6  # of all entries of a row beside what they could be, where rows depend on others: it is left out


def loop_rows(schedules: Schedules, own: TreeWorkspace, touched: list[int]) -> LoopRows:
    """Rows of what the tree leaves open, if it leaves anything; `touched`: numbers of the bodies of those constraints."""
    model, by_matrix = schedules.model, "up" in own.names  # else by responses
    joints = own.inertia.joints if by_matrix else own.tau  # x of the joints, in the order of J
    chosen: dict[int, list] = {}  # node -> constraints of it
    for constraint in own.tree.closing:
        chosen.setdefault(model.names[constraint.name][1], []).append(constraint)
    nodes: list[tuple] = []
    taken: list[tuple] = []
    ends: list[list[int]] = []
    for number, constraints in chosen.items():
        node = model.nodes[number]
        nodes.append((node.kind.size, model.report_at[number], len(taken)))
        for c in constraints:
            rows, inertia = node.rows_of(c), inertia_entry(model, c) if kind_type(c).is_rotor else -1
            taken += [(k, node.kind.levels[k] == POSITION, inertia) for k in range(rows.start, rows.stop)]
        ends.append([touched.index(b) for b in node.ends if b != GROUND])
    columns = _columns(own, touched, joints)
    making = [own.sweep(f"columns {b}") for b in touched]
    turning = [own.of_body(b, "wrench") for b in touched]
    n, m = len(taken), own.tree.nv
    operations = [schedules.loop(number) for number in chosen]
    turned, rest, response = ("turning", "", "") if by_matrix else ("turning", "rest", "response")
    if not chosen:
        turned = rest = response = ""
    limits = np.array([VANISHING, size(model)] if model.redundant else [0.0, 0.0])
    return LoopRows(
        schedules.table, own.table, stacked(operations), firsts(operations), table(nodes, 3), table(taken, 3), firsts(ends),
        flat(ends), firsts(columns), table([column for part in columns for column in part], 3), firsts(making), stacked(making),
        flat([turning]), own.sweep(turned), own.sweep(rest), own.sweep(response), joints, np.zeros((n, m)), np.zeros(n),
        np.zeros((n, n)), np.zeros(n), np.zeros((n, m)), np.zeros(n), np.zeros(n), limits, np.ones(n),
        np.array([model.scratch], dtype=np.int64),
    )  # fmt: skip


def _columns(own: TreeWorkspace, touched: list[int], joints: np.ndarray) -> list[list[tuple[int, int, int]]]:
    """Of each touched body: offset of a column, distance from row to row, freedom in the order of elimination."""
    found = list[list[tuple[int, int, int]]]()
    place = {int(at): k for k, at in enumerate(joints)}
    for b in touched:
        found.append([])
        for i in own.path(b):
            x, J = own.field(i, "x"), own.field(i, "J")
            n = x.stop - x.start
            found[-1] += [(J.start + k, n, place[x.start + k]) for k in range(n)]
    return found


def inertia_entry(model, rotor: ConstraintElement) -> int:
    """Where the inertia of a rotor stands in the workspace of the model."""
    _, number, part = model.names[str(rotor.name)]
    layouts = [parameter_record(other.kind) for other in model.nodes[number].kind.parts]
    return model.parameters_at(number) + sum(layout.size for layout in layouts[:part]) + layouts[part].offset("inertia")


def flat(parts) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


def firsts(parts) -> np.ndarray:
    """Where each part begins once they stand one after another, and the end."""
    return np.cumsum([0, *map(len, parts)])


def table(rows: list, width: int) -> np.ndarray:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def stacked(operations: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros((0, 1 + OPERANDS), dtype=np.int32), *operations])
