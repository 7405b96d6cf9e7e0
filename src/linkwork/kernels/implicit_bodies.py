"""Kernels of implicit steps: backward Euler with positions on the constraints (hernandez11,
corrected: docs/papers-errata.md, section 1).

An iteration asks for displacements, divided by the step h, that make the linearised equations hold at the end of the step:

    first, at (q0, v0):   (M + h D + h^2 K) x + J^T y = M v0 + h f + h D v0            J x = -C(q0, t1) / h
    firm, at (q0, v0):    (M + h D + h^2 K + h G) x + J^T y = M v0 + h f + h D v0      J x = -(C(q0, t1) - C(q0, t0)) / h
    draw, at (q1, v1):    (M + h D + h^2 K) x + J^T y = 0                              J x = -C(q1, t1)
    again, at (q1, v1):   (M + h D + h^2 K + h G) x + J^T y = h f - (change of momentum)   J x = -C(q1, t1) / h

D = -df/dv, K = -df/dq, G the derivative of J^T y (geometric stiffness), y minus the impulses of the constraints. v1 is the
velocity with which q1 is reached from q0. *Exact* tangents are derived; *symmetric* ones are written by the laws (positive
semidefinite where they can be), without what gyroscopic forces add.

The iterate is the moment END of a body (q1, v1), the start of the step its moment NOW; R belongs to the iterate. The first
iteration is at the start, and counts the turns up to there.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Trace
from linkwork.elements.core.body_kind import BodyKind
from linkwork.kernels.vocabulary import ImplicitKernel, Iteration
from linkwork.symbolic import blocks
from linkwork.symbolic.views import PerturbedView, View, derivatives, load_global, note_worst
from linkwork.symbolic.vocabulary import Moment

BEGIN, FIRM, DRAW, AGAIN = Iteration
MOMENT = {BEGIN: Moment.NOW, FIRM: Moment.NOW, DRAW: Moment.NOW, AGAIN: Moment.END}


def body_kernel(kind: BodyKind, what: Iteration | ImplicitKernel, exact: bool = False) -> Kernel:
    """The front of a body in an iteration, or what follows from a solve."""
    write = _FRONTS[what] if isinstance(what, Iteration) else _KERNELS[what]
    name = f"implicit|{kind.key}|{what}|{exact}"
    return Kernel(name, lambda trace: write(trace, kind, exact), joining=Joining.SMALL)


def _store(trace: Trace, kind: BodyKind, **results) -> None:
    for name, value in results.items():
        trace.store(1, kind.record.offset(name), value)


def _store_front(trace: Trace, kind: BodyKind, A: SX, b: SX, exact: bool) -> None:
    _store(trace, kind, D=blocks.lower(A), b=b)
    if exact:
        _store(trace, kind, upper=blocks.upper(A))


def _begin(trace: Trace, kind: BodyKind, exact: bool) -> None:
    start, h = View(kind, trace, 1), load_global(trace, "step")
    A, b = (_exact_tangent if exact else _own_tangent)(trace, kind, start, h, load_global(trace, "gravity"))
    _store_front(trace, kind, A, b, exact)


def _draw(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """The matrix of a firm iteration, and no forces."""
    A, _ = _own_tangent(trace, kind, View(kind, trace, 1), load_global(trace, "step"), SX.zeros(3))
    _store_front(trace, kind, A, SX.zeros(kind.nv), exact)


def _firm(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """As `_begin`, without what the turning of the body itself would add to its momentum."""
    start, h = View(kind, trace, 1), load_global(trace, "step")
    A, b = _own_tangent(trace, kind, start, h, load_global(trace, "gravity"))
    _store_front(trace, kind, A, b - kind.momentum(start, h) + kind.momentum_alone(start), exact)


def _own_tangent(_trace: Trace, kind: BodyKind, start: View, h, gravity) -> tuple[SX, SX]:
    """Matrix and right-hand side of the first iteration: the mass, and the body's own forces."""
    A, b = kind.mass(start), kind.momentum(start, h) + h * kind.weight(start, gravity)
    if kind.elastic:
        stiffness, damping = kind.elasticity(start)
        A, b = A + h * damping + h * h * stiffness, b + h * damping @ start.v
    return A, b


def _exact_tangent(trace: Trace, kind: BodyKind, start: View, h, gravity) -> tuple[SX, SX]:
    """The same by derivatives, of the momentum too."""
    view = PerturbedView(kind, trace, 1, Moment.NOW)
    asked = kind.momentum_change(view, start, h) - h * kind.weight(view, gravity)
    [(value, by_shift, by_kick)] = derivatives([asked], [view])
    return by_kick + h * by_shift, by_kick @ start.v - value


def _again(trace: Trace, kind: BodyKind, exact: bool) -> None:
    before, now, h = View(kind, trace, 1), View(kind, trace, 1, Moment.END), load_global(trace, "step")
    gravity = load_global(trace, "gravity")
    b = h * kind.weight(now, gravity) - kind.momentum_change(now, before, h)
    if exact:
        view = PerturbedView(kind, trace, 1, Moment.END).reached(h)
        asked = kind.momentum_change(view, before, h) - h * kind.weight(view, gravity)
        [(_, by_shift, _)] = derivatives([asked], [view])
        A = h * by_shift
    else:
        A, turning = kind.mass(now), kind.restoring(now, before, gravity, h)
        A = A if turning is None else A + turning
        if kind.elastic:
            stiffness, damping = kind.elasticity(now)
            A = A + h * damping + h * h * stiffness
    _store_front(trace, kind, A, b, exact)


def _end(trace: Trace, kind: BodyKind, what: Iteration) -> tuple[View, SX, SX]:
    """The iterate after the displacement that was found, and the velocity with which it is reached."""
    view, h = View(kind, trace, 1, MOMENT[what]), load_global(trace, "step")
    start = trace.load(1, *kind.record["q"])
    q1 = kind.displaced(view, view.q, h * view.field("x"))
    return view, q1, kind.velocity_between(view, start, q1, h)


def _advance_once(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """Exact tangents have found the velocity at the end; symmetric ones the momentum, with the mass of the beginning."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    x = view.field("x")
    q1 = kind.displaced(view, view.q, h * x)
    v1 = kind.velocity_after(view, view.q, q1, x, h)
    _store(trace, kind, q=q1, v=v1 if exact else kind.carried(view, view.q, q1, v1, h), R=kind.pose(q1))


def _advance_firm(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """As `_advance_once`, with no kinetic energy from the body's own turning; where that leads is kept, and what backward Euler
    loses of energy, twice: the square of the change of velocity (first entry of qm)."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    x = view.field("x")
    q1 = kind.displaced(view, view.q, h * x)
    v1 = kind.calmed(view, view.q, q1, kind.velocity_after(view, view.q, q1, x, h), h)
    _store(trace, kind, q=q1, v=v1, R=kind.pose(q1), q1=q1)
    trace.store(1, kind.record.offset("qm"), ca.bilin(kind.mass(view), x - view.v, x - view.v))


def _lag(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """How fast a body was put from where its velocity led (v1); the kinetic energy, twice, that this has in common with its
    velocity (first entry of v0), and by itself (of vm); the work against gravity of being put there (of x), and the kinetic
    energy of the velocity, twice (of q1)."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    back = kind.velocity_between(view, trace.load(1, *kind.record["q1"]), view.q, h)
    momentum = kind.mass(view) @ back
    _store(trace, kind, v1=back)
    trace.store(1, kind.record.offset("v0"), ca.dot(momentum, view.v))
    trace.store(1, kind.record.offset("vm"), ca.dot(momentum, back))
    trace.store(1, kind.record.offset("x"), -h * ca.dot(kind.weight(view, load_global(trace, "gravity")), back))
    trace.store(1, kind.record.offset("q1"), ca.bilin(kind.mass(view), view.v, view.v))


def _reach(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """The squares, in the norm of the mass, of a displacement in x (first entry of v0) and of the way of the step (of vm)."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    M, x = kind.mass(view), view.field("x")
    trace.store(1, kind.record.offset("v0"), ca.bilin(M, x, x))
    trace.store(1, kind.record.offset("vm"), h * h * ca.bilin(M, view.v, view.v))


def _place_firm(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """A displacement that takes no time: the body keeps its momentum, and spins on as it is turned."""
    view = View(kind, trace, 1)
    q1 = kind.displaced(view, view.q, view.field("x"))
    _store(trace, kind, q=q1, v=kind.turned_velocity(view, view.q, q1), R=kind.pose(q1))


def _advance_first(trace: Trace, kind: BodyKind, exact: bool) -> None:
    _, q1, v1 = _end(trace, kind, BEGIN)
    _store(trace, kind, q1=q1, v1=v1, R=kind.pose(q1))


def _shift(trace: Trace, kind: BodyKind, exact: bool) -> None:
    """Move the iterate by a displacement that is not a solution of the equations."""
    _, q1, v1 = _end(trace, kind, AGAIN)
    _store(trace, kind, q1=q1, v1=v1, R=kind.pose(q1))


def _advance(trace: Trace, kind: BodyKind, exact: bool) -> None:
    view, q1, v1 = _end(trace, kind, AGAIN)
    _store(trace, kind, q1=q1, v1=v1, R=kind.pose(q1))
    note_worst(trace, load_global(trace, "step") * view.field("x"))


def _accept(trace: Trace, kind: BodyKind, exact: bool) -> None:
    view = View(kind, trace, 1, Moment.END)
    _store(trace, kind, q=view.q, v=view.v)


def _restore(trace: Trace, kind: BodyKind, exact: bool) -> None:
    _store(trace, kind, R=kind.pose(View(kind, trace, 1).q))


_FRONTS = {BEGIN: _begin, FIRM: _firm, DRAW: _draw, AGAIN: _again}
_KERNELS = {
    ImplicitKernel.ADVANCE_ONCE: _advance_once,
    ImplicitKernel.ADVANCE_FIRM: _advance_firm,
    ImplicitKernel.ADVANCE_FIRST: _advance_first,
    ImplicitKernel.ADVANCE: _advance,
    ImplicitKernel.SHIFT: _shift,
    ImplicitKernel.PLACE_FIRM: _place_firm,
    ImplicitKernel.LAG: _lag,
    ImplicitKernel.REACH: _reach,
    ImplicitKernel.ACCEPT: _accept,
    ImplicitKernel.RESTORE: _restore,
}
