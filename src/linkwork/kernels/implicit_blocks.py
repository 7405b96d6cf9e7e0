"""What rows and forces of implicit steps share: bodies that can be displaced, and matrices added to the bodies' blocks."""

from __future__ import annotations

from itertools import combinations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Trace
from linkwork.kernels.implicit_bodies import AGAIN, MOMENT
from linkwork.kernels.vocabulary import Iteration
from linkwork.symbolic import blocks
from linkwork.symbolic.views import PerturbedView, load_global


def shaped(A: SX, exact: bool) -> SX:
    return A if exact else 0.5 * (A + A.T)


def shifted_views(trace: Trace, kinds, what: Iteration, follow: bool = True) -> list[PerturbedView | None]:
    """Bodies at pointers 2, 3, ... that can be displaced; but for the first iteration their velocities may follow."""
    views = [None if kind is None else PerturbedView(kind, trace, 2 + k, MOMENT[what]) for k, kind in enumerate(kinds)]
    if what != AGAIN or not follow:
        return list(views)
    return [None if view is None else view.reached(load_global(trace, "step")) for view in views]


def add_blocks(trace: Trace, kinds, A: SX, turned: tuple[bool, ...], exact: bool) -> None:
    """Add a matrix on bodies to their blocks: pointers 2, 3, ..., and behind these the ones between pairs of moving bodies, of
    the first with the second, or the other way round where they are turned."""
    parts = add_own_blocks(trace, kinds, A, exact)
    for k, (pair, back) in enumerate(zip(combinations(parts, 2), turned, strict=False)):
        one, other = pair[::-1] if back else pair
        pointer = 2 + len(kinds) + k
        add_to(trace, pointer, 0, ca.reshape(A[one, other].T, -1, 1))
        if exact:
            add_to(trace, pointer, (one.stop - one.start) * (other.stop - other.start), ca.reshape(A[other, one], -1, 1))


def add_own_blocks(trace: Trace, kinds, A: SX, exact: bool) -> list[slice]:
    """Add the diagonal blocks of a matrix on bodies to these; returns which part of it each has."""
    parts, offset = [], 0
    for pointer, kind in enumerate(kinds, start=2):
        if kind is not None:
            own = slice(offset, offset := offset + kind.nv)
            parts.append(own)
            add_to(trace, pointer, kind.record.offset("D"), blocks.lower(A[own, own]))
            if exact:
                add_to(trace, pointer, kind.record.offset("upper"), blocks.upper(A[own, own]))
    return parts


def add_to(trace: Trace, pointer: int, offset: int, values: SX) -> None:
    values = ca.densify(values)
    trace.store(pointer, offset, trace.load(pointer, offset, values.shape[0]) + values)
