"""Operations of fronts: what a sweep does at every vertex that is eliminated as one, whole or in pieces.

Which kernel an operation has follows from what it is called and from the forms of up to three vertices; its records are the
vertex's own, its blocks, and those of its later neighbours. Nets have millions of these, so they are written by a driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from linkwork.codegen.jit import OPERANDS, jit, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.kernels.vocabulary import Piece, Sweep
from linkwork.model.model import Model

NONE: Mapping = MappingProxyType({})
UNROLLED = 2500  # multiplications of a front that is unrolled whole
SWEEPS, PIECES = list(Sweep), list(Piece)  # compiled code has their numbers
FACTOR, FORWARD, BACKWARD = range(3)
WHOLE, PIVOT, PANEL, UPDATE, CROSS, SOLVE, PUSH, BEGIN, PULL, FINISH = range(10)


class Form(NamedTuple):
    """What kernels need to know of a vertex."""

    dim: int
    upper: int  # from its front to what that has above its diagonal, where the matrix is not symmetric


class Layout(Struct):
    """Where fronts and their blocks lie."""

    vertices: np.ndarray  # (fronts,), in the order of elimination
    whole: np.ndarray  # (fronts,), whether it is unrolled
    at: np.ndarray  # (vertices,), offset of each front
    form: np.ndarray  # (vertices,), number of the form, from 1 on
    first: np.ndarray  # (vertices,), where in `others` its later neighbours begin
    count: np.ndarray  # (vertices,), how many they are
    others: np.ndarray  # later neighbours, each list in the order of elimination
    slots: np.ndarray  # offsets of the blocks with them


@dataclass
class Operations:
    """Rows (kernel, offsets) whose kernels are numbers of `signatures`, and the front that each belongs to."""

    rows: np.ndarray
    fronts: np.ndarray
    signatures: list[tuple[Piece, list[Form]]]  # (what it is called, forms of the vertices that it takes)


class Fronts:
    """The fronts of a model. `chosen`: (position in the elimination, vertex) of each; later: the neighbours of each, and of
    joint pivots in loops; `loop_coupled`: rows of the blocks of these."""

    def __init__(self, model: Model, chosen: Iterable[tuple[int, int]], later: Mapping[int, list[int]],
                 loop_coupled: Mapping[int, int] = NONE):  # fmt: skip
        chosen = list(chosen)
        self.positions = np.array([position for position, _ in chosen], dtype=np.int64)
        vertices = np.array([vertex for _, vertex in chosen], dtype=np.int64)
        self.forms, self.at = _forms_of(model)
        self.dims = np.array([form.dim for form in self.forms], dtype=np.int64)
        first, count = self._find_blocks(model, later, loop_coupled)
        width = np.bincount(self.owners, weights=self.dims[self.others], minlength=len(self.dims))[vertices]
        d = self.dims[vertices]
        small = d**3 / 3 + d * d * width + d * width**2 / 2 < UNROLLED
        whole = small & (count[vertices] <= 2) & (not model.pairs)
        self._kinds = sorted(set(self.forms))
        number = {form: k for k, form in enumerate(self._kinds, start=1)}
        kinds = np.array([number[form] for form in self.forms], dtype=np.int64)
        self.layout = Layout(vertices, whole, self.at, kinds, first, count, self.others, self.slots)

    def _find_blocks(self, model: Model, later: Mapping[int, list[int]], loop_coupled: Mapping[int, int]):
        """All blocks (owner, other, size, offset); where those of each vertex begin, and how many they are."""
        keys = np.array(list(later), dtype=np.int64)
        lengths = np.array([len(others) for others in later.values()], dtype=np.int64)
        first, count = np.zeros(len(self.dims), dtype=np.int64), np.zeros(len(self.dims), dtype=np.int64)
        first[keys], count[keys] = np.cumsum(lengths) - lengths, lengths
        self.owners = np.repeat(keys, lengths)
        self.others = np.array([other for several in later.values() for other in several], dtype=np.int64)
        rows = (1 + model.pairs) * self.dims
        self.sizes = rows[self.owners] * self.dims[self.others]
        rows[list(loop_coupled)] = list(loop_coupled.values())
        room = rows[self.owners] * self.dims[self.others]
        before = np.cumsum(room) - room
        self.slots = model.slot_at[self.owners] + before - before[first[self.owners]]
        return first, count

    def operations(self, sweep: Sweep) -> Operations:
        """Of all fronts, one after another."""
        base = 1 + len(self._kinds)
        codes, rows, fronts = _written(self.layout, SWEEPS.index(sweep), base)
        found, which = np.unique(codes, return_inverse=True)
        rows[:, 0] = which
        return Operations(rows, fronts, [self._signature(int(code), base) for code in found])

    def _signature(self, code: int, base: int) -> tuple[Piece, list[Form]]:
        rest, third = divmod(code, base)
        rest, second = divmod(rest, base)
        piece, first = divmod(rest, base)
        return PIECES[piece], [self._kinds[k - 1] for k in (first, second, third) if k]


def _forms_of(model: Model) -> tuple[list[Form], np.ndarray]:
    """The form of each vertex, and the offset of its front."""
    records = [kind.record for kind in model.bodies.kinds] + [node.kind.record for node in model.nodes]
    dims = [kind.nv for kind in model.bodies.kinds] + [node.kind.size for node in model.nodes]
    fronts = np.array([record.offset("D") for record in records], dtype=np.int64)
    upper = [record.offset("upper") - record.offset("D") for record in records]
    return list(map(Form, dims, upper)), np.concatenate([model.body_at, model.node_at]) + fronts


@jit
def _written(g, sweep, base):
    """(what each operation is called, and of which forms; rows; the front of each)."""
    total = 0
    for f in range(g.vertices.shape[0]):
        total += _length(g, sweep, f)
    codes, rows, fronts = np.empty(total, np.int64), np.zeros((total, 1 + OPERANDS), np.int32), np.empty(total, np.int64)
    end = 0
    for f in range(g.vertices.shape[0]):
        begin, end = end, end + _length(g, sweep, f)
        fronts[begin:end] = f
        v = g.vertices[f]
        if g.whole[f]:
            _write_whole(g, v, codes[begin:end], rows[begin:end], base)
        elif sweep == FACTOR:
            _write_factor(g, v, codes[begin:end], rows[begin:end], base)
        else:
            _write_solve(g, sweep, v, codes[begin:end], rows[begin:end], base)
    return codes, rows, fronts


@jit_inner
def _length(g, sweep, f):
    """Operations of one front."""
    count = g.count[g.vertices[f]]
    if g.whole[f]:
        return 1
    if sweep == FACTOR:
        return 1 + 2 * count + count * (count - 1) // 2
    return 1 + count if sweep == FORWARD else 2 + count


@jit_inner
def _write_whole(g, v, codes, rows, base):
    first, count = g.first[v], g.count[v]
    codes[0] = (WHOLE * base + g.form[v]) * base * base
    rows[0, 1] = g.at[v]
    if count > 0:
        codes[0] += g.form[g.others[first]] * base
        rows[0, 2], rows[0, 3] = g.slots[first], g.at[g.others[first]]
    if count > 1:
        codes[0] += g.form[g.others[first + 1]]
        rows[0, 4] = g.at[g.others[first + 1]]
        rows[0, 5] = g.slots[_place(g, g.others[first], g.others[first + 1], g.first[g.others[first]])]


@jit_inner
def _place(g, vertex, other, begin):
    """Where among the later neighbours of a vertex, from one of them on, another one is."""
    while g.others[begin] != other:
        begin += 1
    return begin


@jit_inner
def _write_factor(g, v, codes, rows, base):
    """The pivot; the panels; of each neighbour its own update and the blocks with those after it."""
    first, count, k = g.first[v], g.count[v], 0
    codes[0], rows[0, 1] = (PIVOT * base + g.form[v]) * base * base, g.at[v]
    for i in range(first, first + count):
        k += 1
        codes[k] = ((PANEL * base + g.form[v]) * base + g.form[g.others[i]]) * base
        rows[k, 1], rows[k, 2] = g.at[v], g.slots[i]
    for i in range(first, first + count):
        k += 1
        other = g.others[i]
        codes[k] = ((UPDATE * base + g.form[v]) * base + g.form[other]) * base
        rows[k, 1], rows[k, 2], rows[k, 3] = g.at[v], g.slots[i], g.at[other]
        place = g.first[other]
        for j in range(i + 1, first + count):
            k += 1
            place = _place(g, other, g.others[j], place)
            codes[k] = ((CROSS * base + g.form[v]) * base + g.form[other]) * base + g.form[g.others[j]]
            rows[k, 1], rows[k, 2], rows[k, 3], rows[k, 4] = g.at[v], g.slots[i], g.slots[j], g.slots[place]


@jit_inner
def _write_solve(g, sweep, v, codes, rows, base):
    """The vertex alone, its neighbours, and on the sweep back itself once more."""
    first, count = g.first[v], g.count[v]
    codes[0], rows[0, 1] = ((SOLVE if sweep == FORWARD else BEGIN) * base + g.form[v]) * base * base, g.at[v]
    for k in range(1, 1 + count):
        other = g.others[first + k - 1]
        codes[k] = (((PUSH if sweep == FORWARD else PULL) * base + g.form[v]) * base + g.form[other]) * base
        rows[k, 1], rows[k, 2], rows[k, 3] = g.at[v], g.slots[first + k - 1], g.at[other]
    if sweep == BACKWARD:
        codes[1 + count], rows[1 + count, 1] = (FINISH * base + g.form[v]) * base * base, g.at[v]
