"""Joint pivots of implicit steps: a body and the joint to its parent eliminated together, with forces at the joint that
resist its rotation.

As in joint_elimination.py, with rows of positions at the end of the step, and w^T A w / 2 - t^T w added to the quadratic form,
w the spin of the child relative to its parent. A hinge or universal joint has w = S u + G r, whatever its parent does:
A and t are felt along its freedoms alone,

    K = S^T (D + A) S    f_a = f - Y^T L^-1 S^T (f + t - A G r)

A ball takes them to its bodies' own blocks, and couples these by B = -A. With L D L^T of the child's turning block C + A

    P = D^-1 L^-1 B    N = -(D_la C^-1) B    Q = B^T C^-1 B        (docs/papers-errata.md, section 3, Kd = A)
    parent:  D += X^T K X + X^T (0 N) + (0 N)^T X + A - Q    f += X^T (pf - K g) - (0, P^T z + N^T g + t)
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Trace
from linkwork.elements.bodies.rigid import RIGID
from linkwork.kernels.vocabulary import Iteration
from linkwork.symbolic import blocks
from linkwork.symbolic.blocks import cross, lower, rows, skew, symmetric
from linkwork.symbolic.views import load_global, note_worst
from linkwork.symbolic.vocabulary import Moment

HELD = {"A": 6, "t": 3}  # side by side


def fields(is_ball: bool) -> dict[str, int]:
    """Fields of the record beside those of a joint pivot of other steps."""
    return HELD | ({"P": 9, "N": 9} if is_ball else {})


def up(pivot, trace: Trace, mode: Iteration) -> None:
    """Rows, factors, forward sweep of the iteration. In FIRM rows ask for no motion, in DRAW for displacements
    that take no time, against no forces."""
    again = mode == Iteration.AGAIN
    derived, child, parent = pivot.rows(trace, Moment.END if again else Moment.NOW, load_global(trace, "time"))
    still = {Iteration.FIRM: SX.zeros(pivot.node.size), Iteration.DRAW: -derived.residual}
    r = still.get(mode, -derived.residual / load_global(trace, "step"))
    if again:
        note_worst(trace, derived.residual)
    D, f = symmetric(child.field("D"), 6), child.field("b")
    e = None
    if parent is not None:
        first = mode == Iteration.BEGIN
        meets = first and pivot.child_is_second  # both are taken hold of where b has the joint (implicit.py, `_met`)
        e = child.q[0:3] - parent.q[0:3] if meets else pivot.arm(trace, parent)
        if first and is_moved(pivot):
            D, f = _moved(D, f, derived.residual[0:3])
    if e is not None:
        pivot.save(trace, e=e)
    if pivot.is_ball:
        _up_ball(pivot, trace, D, f, e, r)
    else:
        _up_axes(pivot, trace, D, f, e, pivot.freedoms(trace, mode, child, parent, r))


def is_moved(pivot) -> bool:
    """Whether in a first iteration the child's motion is that of the point that meets b's anchor, not that of its origin."""
    return not (pivot.grounded or pivot.child_is_second)


def _moved(D, f, d) -> tuple[SX, SX]:
    """A front at the point d from the origin."""
    A, side, turn = D[0:3, 0:3], D[0:3, 3:6], D[3:6, 3:6]
    step = skew(d)
    carried = side + A @ step
    angular = turn + side.T @ step - step @ carried
    return ca.blockcat([[A, carried], [carried.T, symmetric(lower(angular), 3)]]), ca.vertcat(f[0:3], f[3:6] - cross(d, f[0:3]))


def _held(pivot, trace: Trace) -> tuple[SX, SX]:
    """A (3, 3) and t (3,)."""
    return symmetric(pivot.load(trace, "A"), 3), pivot.load(trace, "t")


def _up_ball(pivot, trace: Trace, D, f, e, r) -> None:
    A, t = _held(pivot, trace) if pivot.coupled else (SX(3, 3), SX(3, 1))
    L, reciprocal = blocks.ldl(D[3:6, 3:6] + A)
    Y = blocks.forward(L, D[3:6, 0:3])
    S = blocks.scale(reciprocal, Y)
    K = symmetric(lower(D[0:3, 0:3] - Y.T @ S), 3)
    z = blocks.forward(L, f[3:6] + t)
    pf = f[0:3] - S.T @ z
    pivot.save(trace, b=r, C=blocks.pack(L, reciprocal), S=S, K=lower(K))
    trace.store(2, RIGID.record.offset("b"), ca.vertcat(pf, reciprocal * z))
    if e is None:
        return
    g = pivot.sign * r
    if pivot.coupled:
        half = blocks.forward(L, -A)
        P = blocks.scale(reciprocal, half)
        N = -(Y.T @ P)
        pivot.save(trace, P=P, N=N)
        _ball_to_parent(trace, e, K, pf - K @ g, N, A - half.T @ P, P.T @ z + N.T @ g + t)
    else:
        pivot.to_parent(trace, e, K, pf - K @ g)


def _up_axes(pivot, trace: Trace, D, f, e, free) -> None:
    A, t = _held(pivot, trace) if pivot.coupled else (SX(3, 3), SX(3, 1))
    L, reciprocal, Y, Da = pivot.factor(trace, D, free, held=A)
    g = pivot.given_motion(free)
    fa = pivot.eliminated(trace, free.axes.T @ (f[3:6] + t - A @ g[3:6]), L, reciprocal, Y, f)
    if e is not None:
        pivot.to_parent(trace, e, Da, fa - Da @ g)


def _ball_to_parent(trace: Trace, e, K, force, N, turning, torque) -> None:
    """Add to the parent's front: X^T K X, X^T force, and what the coupling adds (N (3, 3), its own block, less a torque)."""
    E = skew(e)
    KE, carried = K @ E, E @ N
    side, angular = N - KE, carried + carried.T - E @ KE + turning
    record = RIGID.record
    added = lower(ca.blockcat([[K, side], [side.T, angular]]))
    trace.store(3, record.offset("D"), trace.load(3, *record["D"]) + added)
    added = ca.vertcat(force, cross(e, force) - torque)
    trace.store(3, record.offset("b"), trace.load(3, *record["b"]) + added)


def forward_alone(pivot, trace: Trace, moved: bool) -> None:
    """The forward sweep of forces alone, with the factors that are there: rows ask for nothing, and nothing holds the turn but
    what answers to it. `moved`: as in `backward`; the joint's right-hand side tells how far it has come apart."""
    f = trace.load(2, *RIGID.record["b"])
    e = None if pivot.grounded else pivot.load(trace, "e")
    if moved:
        f = ca.vertcat(f[0:3], f[3:6] + load_global(trace, "step") * cross(pivot.load(trace, "b")[0:3], f[0:3]))
    if not pivot.is_ball:
        free, factors = pivot.loaded(trace), pivot.loaded_factors(trace)
        fa = pivot.eliminated(trace, free.axes.T @ f[3:6], *factors, f)
        if e is not None:
            pivot.to_parent(trace, e, None, fa)
        return
    L, reciprocal = blocks.unpack(pivot.load(trace, "C"), 3)
    z = blocks.forward(L, f[3:6])
    pf = f[0:3] - rows(pivot.load(trace, "S"), 3, 3).T @ z
    trace.store(2, RIGID.record.offset("b"), ca.vertcat(pf, reciprocal * z))
    if e is not None:
        torque = -(rows(pivot.load(trace, "P"), 3, 3).T @ z) if pivot.coupled else SX(3, 1)
        pivot.to_parent(trace, e, None, ca.vertcat(pf, torque))


def backward(pivot, trace: Trace, moved: bool, multipliers: bool, alone: bool = False) -> None:
    """The child's displacement, and, where they are asked for, the multipliers. `moved`: the front was that of another point;
    `alone`: after `forward_alone`."""
    b, carried = trace.load(2, *RIGID.record["b"]), pivot.carried(trace)
    x, left = (_backward_ball if pivot.is_ball else _backward_axes)(pivot, trace, b, carried, alone)
    if moved:
        x = ca.vertcat(x[0:3] - load_global(trace, "step") * cross(pivot.load(trace, "b")[0:3], x[3:6]), x[3:6])
    trace.store(2, RIGID.record.offset("x"), x)
    if multipliers:
        pivot.save(trace, x=left)


def _backward_ball(pivot, trace: Trace, b, carried, alone: bool) -> tuple[SX, SX]:
    L, _ = blocks.unpack(pivot.load(trace, "C"), 3)
    S, K = rows(pivot.load(trace, "S"), 3, 3), symmetric(pivot.load(trace, "K"), 3)
    a, w = carried[0:3] + (SX(3, 1) if alone else pivot.sign * pivot.load(trace, "b")), carried[3:6]
    turning, left = b[3:6] - S @ a, b[0:3] - K @ a
    if pivot.coupled:
        turning -= rows(pivot.load(trace, "P"), 3, 3) @ w
        left -= rows(pivot.load(trace, "N"), 3, 3) @ w
    return ca.vertcat(a, blocks.backward(L, turning)), pivot.sign * left


def _backward_axes(pivot, trace: Trace, b, carried, alone: bool) -> tuple[SX, SX]:
    free = pivot.loaded(trace)
    g = SX(6, 1) if alone else pivot.given_motion(free)
    given = carried + g
    turn = pivot.turn(trace, free, given)
    left = b - symmetric(pivot.load(trace, "Da"), 6) @ given
    if pivot.coupled:
        A, t = _held(pivot, trace)
        left += ca.vertcat(SX(3, 1), (0 if alone else t) - A @ (g[3:6] + turn))
    return given + ca.vertcat(SX(3, 1), turn), pivot.multipliers(free, left)
