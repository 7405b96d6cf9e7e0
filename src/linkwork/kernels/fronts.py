"""Kernels of the elimination: a node with its later neighbours, unrolled whole or in pieces."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Trace
from linkwork.kernels.vocabulary import Piece, Sweep
from linkwork.symbolic import blocks


def _front(trace: Trace, d: int) -> tuple[SX, SX]:
    size = blocks.triangle_size(d)
    return trace.load(1, 0, size), trace.load(1, size, d)


def _slots(trace: Trace, d: int, neighbours: tuple[int, ...]) -> list[SX]:
    """Blocks to the later neighbours, one after the other, at pointer 2."""
    found, offset = [], 0
    for m in neighbours:
        found.append(blocks.rows(trace.load(2, offset, d * m), d, m))
        offset += d * m
    return found


def front_kernel(d: int, neighbours: tuple[int, ...], sweep: Sweep) -> Kernel:
    """Pointer 1: D, b, x of the node; 2: its blocks; 3 (and 4): D, b, x of its one or two later neighbours; 5: the
    block between these two. FACTOR has the forward sweep."""
    tri = blocks.triangle_size

    def factor(trace: Trace) -> None:
        D, b = _front(trace, d)
        L, reciprocal = blocks.ldl(blocks.symmetric(D, d))
        z = blocks.forward(L, b)
        trace.store(1, 0, blocks.pack(L, reciprocal))
        trace.store(1, tri(d), z)
        Y = [blocks.forward(L, H) for H in _slots(trace, d, neighbours)]
        if Y:
            trace.store(2, 0, ca.vertcat(*[ca.reshape(y.T, -1, 1) for y in Y]))
        U = [blocks.scale(reciprocal, y) for y in Y]
        for j, m in enumerate(neighbours):
            trace.store(3 + j, 0, trace.load(3 + j, 0, tri(m)) - blocks.lower(Y[j].T @ U[j]))
            trace.store(3 + j, tri(m), trace.load(3 + j, tri(m), m) - U[j].T @ z)
        if len(neighbours) == 2:
            m, n = neighbours
            trace.store(5, 0, blocks.rows(trace.load(5, 0, m * n), m, n) - Y[0].T @ U[1])

    def forward(trace: Trace) -> None:
        D, b = _front(trace, d)
        L, reciprocal = blocks.unpack(D, d)
        z = blocks.forward(L, b)
        trace.store(1, tri(d), z)
        for j, (m, Y) in enumerate(zip(neighbours, _slots(trace, d, neighbours), strict=True)):
            trace.store(3 + j, tri(m), trace.load(3 + j, tri(m), m) - Y.T @ (reciprocal * z))

    def backward(trace: Trace) -> None:
        D, z = _front(trace, d)
        L, reciprocal = blocks.unpack(D, d)
        for j, (m, Y) in enumerate(zip(neighbours, _slots(trace, d, neighbours), strict=True)):
            z = z - Y @ trace.load(3 + j, tri(m) + m, m)
        trace.store(1, tri(d) + d, blocks.backward(L, reciprocal * z))

    write = {Sweep.FACTOR: factor, Sweep.FORWARD: forward, Sweep.BACKWARD: backward}[sweep]
    return Kernel(f"front|{d}|{neighbours}|{sweep}", write)


def piece_kernel(what: Piece, d: int, m: int = 0, n: int = 0) -> Kernel:
    """Fronts with many or large neighbours, in pieces (pointer 1: D, b of the node).

    pivot(d):          factor D, z = L^-1 b
    panel(d, m):       2: one block H -> Y
    update(d, m, m):   2: Y of a neighbour, 3: its D, b; with z
    cross(d, m, n):    2, 3: Y of two neighbours, 4: the block between them
    solve(d):          z = L^-1 b;   push(d, m): 2: Y, 3: the neighbour's D, b
    begin(d):          x = z;  pull(d, m): x -= Y x of a neighbour;   finish(d): x = L^-T D^-1 x
    """
    tri = blocks.triangle_size

    def write(trace: Trace) -> None:
        D, b = _front(trace, d)
        if what == Piece.PIVOT:
            L, reciprocal = blocks.ldl(blocks.symmetric(D, d))
            trace.store(1, 0, blocks.pack(L, reciprocal))
            trace.store(1, tri(d), blocks.forward(L, b))
            return
        L, reciprocal = blocks.unpack(D, d)
        if what == Piece.SOLVE:
            trace.store(1, tri(d), blocks.forward(L, b))
        elif what == Piece.BEGIN:
            trace.store(1, tri(d) + d, b)
        elif what == Piece.FINISH:
            trace.store(1, tri(d) + d, blocks.backward(L, reciprocal * trace.load(1, tri(d) + d, d)))
        else:
            Y = blocks.rows(trace.load(2, 0, d * m), d, m)
            if what == Piece.PANEL:
                trace.store(2, 0, blocks.forward(L, Y))
            elif what == Piece.UPDATE:
                trace.store(3, 0, trace.load(3, 0, tri(m)) - blocks.lower(Y.T @ blocks.scale(reciprocal, Y)))
                trace.store(3, tri(m), trace.load(3, tri(m), m) - Y.T @ (reciprocal * b))
            elif what == Piece.CROSS:
                other = blocks.rows(trace.load(3, 0, d * n), d, n)
                product = Y.T @ blocks.scale(reciprocal, other)
                trace.store(4, 0, blocks.rows(trace.load(4, 0, m * n), m, n) - product)
            elif what == Piece.PUSH:
                trace.store(3, tri(m), trace.load(3, tri(m), m) - Y.T @ (reciprocal * b))
            elif what == Piece.PULL:
                trace.store(1, tri(d) + d, trace.load(1, tri(d) + d, d) - Y @ trace.load(3, tri(m) + m, m))

    return Kernel(f"piece|{what}|{d}|{m}|{n}", write)


def response_kernel(d: int, neighbours: tuple[int, ...], sweep: Sweep) -> Kernel:
    """A sweep over responses, many in lanes with factors that all share. Pointer 1: the factored front, 2: its blocks; 3: its
    part of the responses; 4 and 5: those of its later neighbours, of which there are at most two. In place."""

    def forward(trace: Trace) -> None:
        L, reciprocal = blocks.unpack(trace.load(1, 0, blocks.triangle_size(d)), d)
        z = blocks.forward(L, trace.load(3, 0, d))
        trace.store(3, 0, z)
        for j, (m, Y) in enumerate(zip(neighbours, _slots(trace, d, neighbours), strict=True)):
            trace.store(4 + j, 0, trace.load(4 + j, 0, m) - Y.T @ (reciprocal * z))

    def backward(trace: Trace) -> None:
        L, reciprocal = blocks.unpack(trace.load(1, 0, blocks.triangle_size(d)), d)
        z = trace.load(3, 0, d)
        for j, (m, Y) in enumerate(zip(neighbours, _slots(trace, d, neighbours), strict=True)):
            z = z - Y @ trace.load(4 + j, 0, m)
        trace.store(3, 0, blocks.backward(L, reciprocal * z))

    write = {Sweep.FORWARD: forward, Sweep.BACKWARD: backward}[sweep]
    return Kernel(f"response|{d}|{neighbours}|{sweep}", write, shared=(1, 2))


def response_piece_kernel(what: Piece, d: int, m: int = 0) -> Kernel:
    """The same in pieces, for any number of later neighbours: solve(d) and finish(d) on pointers 1 and 3; push(d, m) and
    pull(d, m) with one block at 2 and one neighbour at 4."""

    def write(trace: Trace) -> None:
        z = trace.load(3, 0, d)
        if what != Piece.PULL:
            L, reciprocal = blocks.unpack(trace.load(1, 0, blocks.triangle_size(d)), d)
        if what == Piece.SOLVE:
            trace.store(3, 0, blocks.forward(L, z))
        elif what == Piece.FINISH:
            trace.store(3, 0, blocks.backward(L, reciprocal * z))
        elif what == Piece.PUSH:
            Y = blocks.rows(trace.load(2, 0, d * m), d, m)
            trace.store(4, 0, trace.load(4, 0, m) - Y.T @ (reciprocal * z))
        elif what == Piece.PULL:
            Y = blocks.rows(trace.load(2, 0, d * m), d, m)
            trace.store(3, 0, z - Y @ trace.load(4, 0, m))

    return Kernel(f"response piece|{what}|{d}|{m}", write, shared=(1, 2))


def felt_kernel(m: int, d: int, first: bool) -> Kernel:
    """What m rows feel of responses of a body of dimension d. Pointer 1: J, which all lanes share; 2: the responses; 3: the
    rows, to which is added unless this is the first of their bodies."""

    def write(trace: Trace) -> None:
        felt = blocks.rows(trace.load(1, 0, m * d), m, d) @ trace.load(2, 0, d)
        trace.store(3, 0, felt if first else trace.load(3, 0, m) + felt)

    return Kernel(f"felt|{m}|{d}|{first}", write, shared=(1,))


def exact_piece_kernel(what: Piece, d: int, upper: int, m: int = 0, other_upper: int = 0, n: int = 0) -> Kernel:
    """The same pieces for matrices that are not symmetric: D = L U, blocks in pairs (H_ij, and H_ji transposed), each kept as
    Y = L^-1 H_ij and Z = (H_ji U^-1)^T. `upper`: from a front to what it has above its diagonal."""
    tri = blocks.triangle_size

    def pair(trace: Trace, pointer: int, r: int, c: int) -> tuple[SX, SX]:
        return blocks.rows(trace.load(pointer, 0, r * c), r, c), blocks.rows(trace.load(pointer, r * c, r * c), r, c)

    def store_pair(trace: Trace, pointer: int, first: SX, second: SX) -> None:
        trace.store(pointer, 0, first)
        trace.store(pointer, first.shape[0] * first.shape[1], second)

    def write(trace: Trace) -> None:
        D, b = _front(trace, d)
        A = blocks.full(D, trace.load(1, upper, tri(d - 1)), d)
        if what == Piece.PIVOT:
            LU = blocks.lu(A)
            trace.store(1, 0, blocks.lower(LU))
            trace.store(1, upper, blocks.upper(LU))
            trace.store(1, tri(d), blocks.forward(LU, b))
        elif what == Piece.SOLVE:
            trace.store(1, tri(d), blocks.forward(A, b))
        elif what == Piece.BEGIN:
            trace.store(1, tri(d) + d, b)
        elif what == Piece.FINISH:
            trace.store(1, tri(d) + d, blocks.upper_backward(A, trace.load(1, tri(d) + d, d)))
        elif what == Piece.PANEL:
            H, T = pair(trace, 2, d, m)
            store_pair(trace, 2, blocks.forward(A, H), blocks.upper_forward(A, T))
        elif what == Piece.UPDATE:
            Y, Z = pair(trace, 2, d, m)
            change = Z.T @ Y
            trace.store(3, 0, trace.load(3, 0, tri(m)) - blocks.lower(change))
            trace.store(3, other_upper, trace.load(3, other_upper, tri(m - 1)) - blocks.upper(change))
            trace.store(3, tri(m), trace.load(3, tri(m), m) - Z.T @ b)
        elif what == Piece.CROSS:
            (Y1, Z1), (Y2, Z2) = pair(trace, 2, d, m), pair(trace, 3, d, n)
            H, T = pair(trace, 4, m, n)
            store_pair(trace, 4, H - Z1.T @ Y2, T - Y1.T @ Z2)
        elif what == Piece.PUSH:
            _, Z = pair(trace, 2, d, m)
            trace.store(3, tri(m), trace.load(3, tri(m), m) - Z.T @ b)
        elif what == Piece.PULL:
            Y, _ = pair(trace, 2, d, m)
            trace.store(1, tri(d) + d, trace.load(1, tri(d) + d, d) - Y @ trace.load(3, tri(m) + m, m))

    return Kernel(f"exact|{what}|{d}|{upper}|{m}|{other_upper}|{n}", write)


def zero_kernel(size: int, offset: int = 0, joining: Joining = Joining.NEVER) -> Kernel:
    """Pointer 1: entries set to zero."""
    return Kernel(f"zero|{size}|{offset}", lambda trace: trace.store(1, offset, SX.zeros(size)), joining=joining)
