"""Limbs of implicit steps: a body and the joint to its parent eliminated together, with a force that couples their turning.

As in limbs.py, with x_c^T B x_p added to the quadratic form: B couples the child's turning with the parent's (3 x 3), and
the rows are those of positions at the end of the step. With L D L^T of the child's turning block C

    P = D^-1 L^-1 B    N = -(D_la C^-1) B    Q = B^T C^-1 B        (ball: ALGORITHMS section 5, Kd = -B)
    parent:  D += X^T K X + X^T (0 N) + (0 N)^T X - Q    f += X^T (pf - K g) - (0, P^T t + N^T g)

and for a hinge, with one freedom s and k = 1 / (s^T D s), the same with N = B - (D s) k s^T B, Q = B^T s k s^T B.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Trace
from linkwork.symbolic import blocks
from linkwork.symbolic.blocks import cross, lower, rows, skew, symmetric
from linkwork.symbolic.bodies import load_global, note_worst
from linkwork.symbolic.kinds import RIGID

FIELDS = {"Ball": {"P": 9, "N": 9, "B": 9}, "Hinge": {"kb": 3, "N": 18, "B": 9}}  # beside those of a limb


def up(limb, trace: Trace, again: bool) -> None:
    """Rows, factors, forward sweep."""
    derived, child, parent = limb.rows(trace, "next", load_global(trace, "time"))
    r = -derived.residual / load_global(trace, "step")
    if again:
        note_worst(trace, derived.residual)
    D, f = symmetric(child.field("D"), 6), child.field("b")
    e = None
    if parent is not None:
        meets = not again and limb.child_is_second  # both are taken hold of where b has the joint (implicit.py, `_met`)
        e = child.q[0:3] - parent.q[0:3] if meets else limb.arm(trace, parent)
        if is_moved(limb) and not again:
            D, f = _moved(D, f, derived.residual[0:3])
    B = rows(limb.load(trace, "B"), 3, 3) if limb.coupled else None
    limb.save(trace, b=r)
    if e is not None:
        limb.save(trace, e=e)
    (_up_ball if limb.is_ball else _up_hinge)(limb, trace, D, f, e, r, B, (child, parent), again)


def is_moved(limb) -> bool:
    """Whether in a first iteration the child's motion is that of the point that meets b's anchor, not that of its origin."""
    return not (limb.grounded or limb.child_is_second)


def _moved(D, f, d) -> tuple[SX, SX]:
    """A front at the point d from the origin."""
    A, side, turn = D[0:3, 0:3], D[0:3, 3:6], D[3:6, 3:6]
    step = skew(d)
    carried = side + A @ step
    angular = turn + side.T @ step - step @ carried
    return ca.blockcat([[A, carried], [carried.T, symmetric(lower(angular), 3)]]), ca.vertcat(f[0:3], f[3:6] - cross(d, f[0:3]))


def _up_ball(limb, trace: Trace, D, f, e, r, B, _views, _again) -> None:
    L, reciprocal = blocks.ldl(D[3:6, 3:6])
    Y = blocks.forward(L, D[3:6, 0:3])
    S = blocks.scale(reciprocal, Y)
    K = symmetric(lower(D[0:3, 0:3] - Y.T @ S), 3)
    t = blocks.forward(L, f[3:6])
    pf = f[0:3] - S.T @ t
    limb.save(trace, C=blocks.pack(L, reciprocal), S=S, K=lower(K))
    trace.store(2, RIGID.record.offset("b"), ca.vertcat(pf, reciprocal * t))
    if e is None:
        return
    g = limb.sign * r
    inertia, force = ca.diagcat(K, SX(3, 3)), ca.vertcat(pf - K @ g, SX(3, 1))
    if B is not None:
        YB = blocks.forward(L, B)
        P = blocks.scale(reciprocal, YB)
        N = -(Y.T @ P)
        limb.save(trace, P=P, N=N)
        _to_parent(trace, e, inertia, force, ca.vertcat(N, SX(3, 3)), YB.T @ P, P.T @ t + N.T @ g)
    else:
        _to_parent(trace, e, inertia, force)


def _up_hinge(limb, trace: Trace, D, f, e, r, B, views, again) -> None:
    child, parent = views
    axis, dual, turning = limb.turning_rows(trace, "again" if again else "begin", child, parent)
    r = ca.vertcat(r[0:3], turning)
    U = D[:, 3:6] @ axis
    k = 1 / ca.dot(axis, U[3:6])
    Da = symmetric(lower(D - (U * k) @ U.T), 6)
    along = ca.dot(axis, f[3:6])
    fa = f - U * (k * along)
    limb.save(trace, b=r, axis=axis, U=U, k=k, u=k * along, dual=ca.vertcat(dual[0], dual[1]), Da=lower(Da))
    trace.store(2, RIGID.record.offset("b"), fa)
    if e is None:
        return
    g = limb.given_motion(r, dual)
    force = fa - Da @ g
    if B is not None:
        sB = B.T @ axis  # (3,): s^T B
        kb = k * sB
        N = ca.vertcat(SX(3, 3), B) - U @ kb.T
        limb.save(trace, kb=kb, N=N)
        _to_parent(trace, e, Da, force, N, sB @ kb.T, kb * along + N.T @ g)
    else:
        _to_parent(trace, e, Da, force)


def _to_parent(trace: Trace, e, inertia, force, N=None, Q=None, turn=None) -> None:
    """Add to the parent's front: X^T inertia X, X^T force, and what the coupling adds (N (6, 3), Q and a torque)."""
    E = skew(e)
    A = inertia[0:3, 0:3]
    side = inertia[0:3, 3:6] - A @ E
    angular = E @ side + inertia[3:6, 3:6] - inertia[3:6, 0:3] @ E
    torque = cross(e, force[0:3]) + force[3:6]
    if N is not None:
        carried = E @ N[0:3, :] + N[3:6, :]
        side = side + N[0:3, :]
        angular = angular + carried + carried.T - Q
        torque = torque - turn
    record = RIGID.record
    added = lower(ca.blockcat([[A, side], [side.T, angular]]))
    trace.store(3, record.offset("D"), trace.load(3, *record["D"]) + added)
    trace.store(3, record.offset("b"), trace.load(3, *record["b"]) + ca.vertcat(force[0:3], torque))


def backward(limb, trace: Trace, moved: bool) -> None:
    """The child's displacement, and the multipliers."""
    b, r = trace.load(2, *RIGID.record["b"]), limb.load(trace, "b")
    parent = SX(6, 1) if limb.grounded else trace.load(3, *RIGID.record["x"])
    e = SX(3, 1) if limb.grounded else limb.load(trace, "e")
    w = parent[3:6]
    carried = ca.vertcat(parent[0:3] + cross(w, e), w)
    if limb.is_ball:
        L, _ = blocks.unpack(limb.load(trace, "C"), 3)
        S, K = rows(limb.load(trace, "S"), 3, 3), symmetric(limb.load(trace, "K"), 3)
        a = carried[0:3] + limb.sign * r
        turning, left = b[3:6] - S @ a, b[0:3] - K @ a
        if limb.coupled:
            turning -= rows(limb.load(trace, "P"), 3, 3) @ w
            left -= rows(limb.load(trace, "N"), 3, 3) @ w
        x, multipliers = ca.vertcat(a, blocks.backward(L, turning)), limb.sign * left
    else:
        axis, U, k, u = (limb.load(trace, name) for name in ("axis", "U", "k", "u"))
        dual, Da = limb.loaded_dual(trace), symmetric(limb.load(trace, "Da"), 6)
        given = carried + limb.given_motion(r, dual)
        rate, left = u - k * ca.dot(U, given), b - Da @ given
        if limb.coupled:
            rate -= ca.dot(limb.load(trace, "kb"), w)
            left -= rows(limb.load(trace, "N"), 6, 3) @ w
        x = given + ca.vertcat(SX(3, 1), axis * rate)
        multipliers = ca.vertcat(limb.sign * left[0:3], ca.dot(dual[0], left[3:6]), ca.dot(dual[1], left[3:6]))
    if moved:
        x = ca.vertcat(x[0:3] - load_global(trace, "step") * cross(r[0:3], x[3:6]), x[3:6])
    trace.store(2, RIGID.record.offset("x"), x)
    limb.save(trace, x=multipliers)
