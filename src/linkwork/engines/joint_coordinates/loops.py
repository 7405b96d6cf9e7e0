"""Loops in joint coordinates: rows that the spanning tree leaves open, solved with the factors of its inertia matrix.

    H qdd + C = tau + J^T y,   J qdd = r,   H = L^T D L
    Y = L^-T J^T,   W = Y^T D^-1 Y,   W y = r - Y^T D^-1 L^-T (tau - C)

(featherstone05, closing remark), or by responses Z = H^-1 J^T of the articulated-body algorithm, W = J Z (baraff96 section
8). J of a row is its Jacobian by the bodies' velocities times theirs by the joints'. Rows that depend on others are left out: W
is eliminated by its largest pivots, and stops where none is left.

A rotor of inertia a at a joint that closes a loop is a row, too, x - angle = 0 with x the joint's coordinate: a angle'' = -y,
so that the row gives way by y / a, and W has 1 / a more on its diagonal. It asks for no velocity and for no place: H + a J^T J
is the inertia that projections keep to.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import OPERANDS, jit, sweep
from linkwork.elements import Armature
from linkwork.engines.maximal.settling import size
from linkwork.kernels.node import parameter_record
from linkwork.model.graph import GROUND
from linkwork.schedules.schedules import Programs
from linkwork.symbolic.autodiff import POSITION

ACCELERATION, VELOCITY, PLACE = 0.0, 1.0, 2.0  # what rows are asked for; of integers each would be compiled apart
ROUNDING = 1e-12  # an entry of J that is so small beside what it could be is zero: the tree holds that row already
DEPENDENT = 1e-11  # a pivot of W, with ones on its diagonal, that is this small is none
VANISHING = 1e-6  # the same of all entries of a row, where rows depend on others: it is left out, as soft pivots would do
LEAST, LENGTH, WEIGHTS = range(
    3
)  # limits: VANISHING or nothing; m, the size of a mechanism in which rows depend on others, else
# zero; from here on how much rows weigh when pivots are chosen: of those that say the same the larger one has more digits


@jit
def copied(source, places, target, there):
    for i in range(places.shape[0]):
        target[there[i]] = source[places[i]]


@jit
def find_rows(work, table, own, own_table, loops, what):
    """J (rows, nv), in the order of elimination, and right of J x = right, in the room of the loops (`Loops`), and by how much
    rows of rotors give way; the largest of `right`."""
    arrays, _, (J, right, _, _, _, give), limits = loops
    scratch, operations, first, nodes, taken, first_end, ends, first_column, first_operation, turning, columns, making = arrays
    worst = 0.0
    for n in range(nodes.shape[0]):
        size, report, begin = nodes[n]
        count = (nodes[n + 1, 2] if n + 1 < nodes.shape[0] else taken.shape[0]) - begin
        sweep(work, table, operations[first[n] : first[n + 1]])
        bias = scratch + 6 * size * (first_end[n + 1] - first_end[n])
        largest = np.zeros(count)  # that an entry of a row could be
        for k in range(count):
            row, of_place, inertia = taken[begin + k]
            J[begin + k] = 0.0
            give[begin + k] = 1 / work[inertia] if inertia >= 0 else 0.0
            if what == ACCELERATION:
                right[begin + k] = -work[bias + row]
            elif what == VELOCITY:
                right[begin + k] = -work[report + size + row]
            else:
                right[begin + k] = -work[report + row] if of_place else 0.0
        for e in range(first_end[n], first_end[n + 1]):
            body, block = ends[e], scratch + 6 * size * (e - first_end[n])
            sweep(own, own_table, making[first_operation[body] : first_operation[body + 1]])
            for k in range(count):
                at = block + 6 * taken[begin + k, 0]
                if what == ACCELERATION:
                    for i in range(6):
                        right[begin + k] -= work[at + i] * own[turning[body] + i]
                for c in range(first_column[body], first_column[body + 1]):
                    offset, stride, freedom = columns[c]
                    total, size_of_row, size_of_column = 0.0, 0.0, 0.0
                    for i in range(6):
                        total += work[at + i] * own[offset + i * stride]
                        size_of_row += abs(work[at + i])
                        size_of_column += abs(own[offset + i * stride])
                    J[begin + k, freedom] += total
                    largest[k] = max(largest[k], size_of_row * size_of_column)
        for k in range(count):
            most = 0.0
            for i in range(J.shape[1]):
                if abs(J[begin + k, i]) < ROUNDING * largest[k]:
                    J[begin + k, i] = 0.0
                most = max(most, abs(J[begin + k, i]))
            if limits[LEAST] > 0.0:
                limits[WEIGHTS + begin + k] = (most / largest[k]) ** 2 if largest[k] > 0.0 else 0.0
                if most < limits[LEAST] * largest[k]:
                    J[begin + k] = 0.0
            worst = max(worst, abs(right[begin + k])) if right[begin + k] == right[begin + k] else np.inf
    return worst


@jit
def factor(own, own_table, inertia):
    """H of links that are in place, and L^T D L of it."""
    (blocks, factoring, _, _), (blocks_at, tiles_at, _, _, _) = inertia
    sweep(own, own_table, blocks)
    copied(own, blocks_at, own, tiles_at)
    sweep(own, own_table, factoring)


@jit
def solve(own, own_table, inertia, loops, softness=0.0):
    """x of the joints: H x = b + J^T y and J x = right, with b = -x as it is there. J becomes Y^T. `softness`: of
    the rows, a part of what they would give."""
    (_, _, up, down), (_, _, _, right_at, joints_at) = inertia
    if loops is not None:
        lift_rows(own, own_table, up, right_at, loops[2])
    for i in range(right_at.shape[0]):
        own[right_at[i]] = -own[joints_at[i]]
    sweep(own, own_table, up)
    if loops is not None:
        respond(own, inertia[1], loops[2], loops[3][WEIGHTS:], softness)
    sweep(own, own_table, down)
    copied(own, right_at, own, joints_at)


@jit
def lift_rows(own, own_table, up, right_at, room):
    """Y = L^-T J^T, in the place of J."""
    J = room[0]
    for k in range(J.shape[0]):
        for i in range(J.shape[1]):
            own[right_at[i]] = J[k, i]
        sweep(own, own_table, up)
        for i in range(J.shape[1]):
            J[k, i] = own[right_at[i]]


@jit
def respond(own, places, room, weights, softness):
    """Add Y y to L^-T b, with y that makes J x = right."""
    _, _, pivots_at, right_at, _ = places
    J, right, W, y, _, give = room
    m, n = J.shape
    for k in range(m):
        for i in range(n):
            right[k] -= J[k, i] * own[pivots_at[i]] * own[right_at[i]]
        for j in range(k + 1):
            total = 0.0
            for i in range(n):
                total += J[k, i] * own[pivots_at[i]] * J[j, i]
            W[k, j] = W[j, k] = total
        W[k, k] += give[k]
    solve_by_largest_pivots(W, right, y, weights, softness)
    for k in range(m):
        for i in range(n):
            own[right_at[i]] += J[k, i] * y[k]


@jit
def answer(own, own_table, loops, softness=0.0):
    """x of the joints changed so that J x changes by `right`, by responses: links must be at rest, factors there."""
    _, (_, _, response, joints_at), (J, right, W, y, Z, give), limits = loops
    m, n = J.shape
    x = np.empty(n)
    for i in range(n):
        x[i] = own[joints_at[i]]
    for k in range(m):
        for i in range(n):
            own[joints_at[i]] = J[k, i]
        sweep(own, own_table, response)
        for i in range(n):
            Z[k, i] = own[joints_at[i]]
    for k in range(m):
        for j in range(k + 1):
            total = 0.0
            for i in range(n):
                total += J[k, i] * Z[j, i]
            W[k, j] = W[j, k] = total
        W[k, k] += give[k]
    solve_by_largest_pivots(W, right, y, limits[WEIGHTS:], softness)
    for k in range(m):
        for i in range(n):
            x[i] += Z[k, i] * y[k]
    for i in range(n):
        own[joints_at[i]] = x[i]


@jit
def power(work, loops):
    """Of prescribed motion: the rows ask for J v = -forcing, and push with J^T y."""
    nodes, taken, y = loops[0][3], loops[0][4], loops[2][3]
    total = 0.0
    for n in range(nodes.shape[0]):
        size, report, begin = nodes[n]
        end = nodes[n + 1, 2] if n + 1 < nodes.shape[0] else taken.shape[0]
        for k in range(begin, end):
            total -= y[k] * work[report + 2 * size + taken[k, 0]]
    return total


@jit
def solve_by_largest_pivots(W, right, y, weights, softness=0.0):
    """y of W y = right; W (m, m) is symmetric and positive semidefinite, and changed; so is right. y of rows that depend on
    others is zero. `weights` (m,): of rows when pivots are compared; `softness` is added to the ones on the diagonal."""
    m = W.shape[0]
    scale, left, order, count = np.empty(m), np.ones(m, np.bool_), np.empty(m, np.int64), 0
    for k in range(m):
        scale[k] = 1 / np.sqrt(W[k, k]) if W[k, k] > 0 else 0.0
    for k in range(m):
        for j in range(m):
            W[k, j] *= scale[k] * scale[j]
        right[k] *= scale[k]
        y[k] = 0.0
        if softness > 0.0 and scale[k] > 0.0:
            W[k, k] += softness
    while count < m:
        p, largest = -1, 0.0
        for k in range(m):
            if left[k] and W[k, k] > DEPENDENT and W[k, k] * weights[k] > largest:
                p, largest = k, W[k, k] * weights[k]
        if p < 0:
            break
        left[p] = False
        order[count] = p
        count += 1
        for k in range(m):
            if left[k]:
                factor = W[k, p] / W[p, p]
                for j in range(m):
                    if left[j]:
                        W[k, j] -= factor * W[p, j]
                right[k] -= factor * right[p]
    for place in range(count - 1, -1, -1):
        p = order[place]
        total = right[p]
        for later in range(place + 1, count):
            total -= W[p, order[later]] * y[order[later]]
        y[p] = total / W[p, p]
    for k in range(m):
        y[k] *= scale[k]


class Loops:
    """What a tree leaves open, for `find_rows`, and room for it. `touched`: numbers of the bodies of those constraints."""

    def __init__(self, programs: Programs, stepper, touched: list[int]):
        model, self.stepper, self.touched = programs.model, stepper, touched
        self.by_matrix = "up" in stepper.names  # else by responses
        self.joints = stepper.inertia.joints if self.by_matrix else stepper.tau  # x of the joints, in the order of J
        self.chosen: dict[int, list] = {}  # node -> constraints of it
        for constraint in stepper.tree.closing:
            self.chosen.setdefault(model.names[constraint.name][1], []).append(constraint)
        nodes: list[tuple] = []  # rows of the node, offset of their residuals, rows taken before
        taken: list[tuple] = []  # row of the node, whether it is one of places, where its rotor's inertia is (-1: it has none)
        ends: list[list[int]] = []  # bodies of each node, by their place in `touched`
        for number, constraints in self.chosen.items():
            node = model.nodes[number]
            nodes.append((node.kind.size, model.report_at[number], len(taken)))
            for c in constraints:
                rows, inertia = node.rows_of(c), inertia_entry(model, c) if isinstance(c, Armature) else -1
                taken += [(k, node.kind.levels[k] == POSITION, inertia) for k in range(rows.start, rows.stop)]
            ends.append([touched.index(b) for b in node.ends if b != GROUND])
        columns = self._columns()
        listed = [column for part in columns for column in part]
        making = [stepper.sweep(f"columns {b}") for b in touched]  # operations that make the columns
        turning = [stepper.of_body(b, "wrench") for b in touched]  # where accelerations lie
        n, m = len(taken), stepper.tree.nv
        room = tuple(np.zeros(shape) for shape in ((n, m), n, (n, n), n, (n, m), n))  # for J, right, W, y, Z, give
        operations = [programs.loop(number) for number in self.chosen]
        arrays = (model.scratch, stacked(operations), firsts(operations), table(nodes, 3), table(taken, 3), firsts(ends),
                  flat(ends), firsts(columns), firsts(making), flat([turning]), table(listed, 3), stacked(making))  # fmt: skip
        names = ("turning", "", "") if self.by_matrix else ("turning", "rest", "response")
        limits = np.array([*((VANISHING, size(model)) if model.redundant else (0.0, 0.0)), *[1.0] * n])
        self.parts = arrays, (*(stepper.sweep(name) for name in names), self.joints), room, limits

    def _columns(self) -> list[list[tuple[int, int, int]]]:
        """Of each touched body: offset of a column, distance from row to row, freedom in the order of elimination."""
        own, found = self.stepper, list[list[tuple[int, int, int]]]()
        place = {int(at): k for k, at in enumerate(self.joints)}
        for b in self.touched:
            found.append([])
            for i in own.path(b):
                x, J = own.field(i, "x"), own.field(i, "J")
                n = x.stop - x.start
                found[-1] += [(J.start + k, n, place[x.start + k]) for k in range(n)]
        return found


def inertia_entry(model, rotor: Armature) -> int:
    """Where the inertia of a rotor stands in the workspace of the model."""
    _, number, part = model.names[str(rotor.name)]
    layouts = [parameter_record(other.relation) for other in model.nodes[number].kind.parts]
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
