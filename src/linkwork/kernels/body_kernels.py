"""Kernels of single bodies: fronts, flights and steps. Pointer 1 is the body."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Record, Trace
from linkwork.elements.core.body_kind import BodyKind
from linkwork.symbolic import blocks
from linkwork.symbolic.views import GLOBALS, View, load_global, note_worst

UNRESOLVED = 1e300  # a residual that no correction makes smaller, beyond all that a flight can leave


def body_kernel(kind: BodyKind, what: str) -> Kernel:
    """One of the kernels below, by name."""
    return Kernel(f"body|{kind.key}|{what}", lambda trace: _BODY[what](trace, kind), joining=Joining.SMALL)


def spot_record(kind: BodyKind) -> Record:
    """A point of a body that can be touched: its local coordinates, where it is, how it accelerates where the body's velocities
    stay, and J (3, nv) of its velocity."""
    return Record(local=3, place=3, bias=3, J=3 * kind.nv)


def spot_kernel(kind: BodyKind, stage: str = "now") -> Kernel:
    """Where such a point is, its bias and J. Pointer 2: its record; `stage`: of the body."""

    def write(trace: Trace) -> None:
        record = spot_record(kind)
        point = View(kind, trace, 1, stage).point(trace.load(2, *record["local"]))
        trace.store(2, record.offset("place"), point.value)
        trace.store(2, record.offset("bias"), point.bias)
        trace.store(2, record.offset("J"), point.jacobian)

    return Kernel(f"spot|{kind.key}" if stage == "now" else f"spot|{kind.key}|{stage}", write)


def _store(trace: Trace, kind: BodyKind, **results) -> None:
    for name, value in results.items():
        trace.store(1, kind.record.offset(name), value)


def _place(trace, kind):
    """The derived pose from the coordinates."""
    _store(trace, kind, R=kind.pose(View(kind, trace, 1).q))


def _accelerate(trace, kind):
    """Front for accelerations: the mass block, all forces of the body itself."""
    view = View(kind, trace, 1)
    force = kind.weight(view, load_global(trace, "gravity")) + kind.inertial(view)
    _store(trace, kind, D=blocks.lower(kind.mass(view)), b=force)


def _defect(trace, kind):
    """What is left of the body's equation with the accelerations found, which are put aside: f - M x."""
    view = View(kind, trace, 1)
    force = kind.weight(view, load_global(trace, "gravity")) + kind.inertial(view)
    _store(trace, kind, b=force - kind.mass(view) @ view.field("x"), v0=view.field("x"))


def _mend(trace, kind):
    """The accelerations put aside plus the correction."""
    view = View(kind, trace, 1)
    _store(trace, kind, x=view.field("v0") + view.field("x"))


def _kick(trace, kind):
    """Front for impulses: the mass block, the body's forces times the kick."""
    view = View(kind, trace, 1)
    _store(trace, kind, D=blocks.lower(kind.mass(view)))
    _impulse(trace, kind)


def _impulse(trace, kind):
    """Right-hand side alone: the body's forces (without inertial ones, which the flight has) times the kick."""
    view = View(kind, trace, 1)
    _store(trace, kind, b=load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity")))


def _open(trace, kind):
    """A step begins: its velocity is kept in case it must be made again in smaller ones; the opening kick."""
    _store(trace, kind, v0=View(kind, trace, 1).v)
    _impulse(trace, kind)


def _retry(trace, kind):
    """Back to the beginning of the step."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.field("v0"), R=kind.pose(view.q))


def _clear(trace, kind):
    _store(trace, kind, b=SX.zeros(kind.nv))


def _euler(trace, kind):
    """Semi-implicit Euler."""
    view = View(kind, trace, 1)
    q, v = kind.euler(view, view.field("x"), load_global(trace, "step"))
    _store(trace, kind, q=q, v=v, R=kind.pose(q))


def _fly(trace, kind):
    """Add the solved change to the velocity; fly to the end of the step from where it began; ready for a correction."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    q1, v1 = kind.flight(view, v, load_global(trace, "step"))
    _store(trace, kind, v=v, q1=q1, v1=v1, R=kind.pose(q1), b=SX.zeros(kind.nv))
    return view, v


def _first_fly(trace, kind):
    """The same, the first of a step: one that turns further than it is good for leaves a residual, so that the step is made
    in parts."""
    view, v = _fly(trace, kind)
    note_worst(trace, ca.if_else(kind.unresolved(view, v, load_global(trace, "step")), UNRESOLVED, 0))


def _fly_halves(trace, kind):
    """The same in two halves, the middle kept: velocity rows hold there."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    half = 0.5 * load_global(trace, "step")
    qm, vm = kind.flight(view, v, half)
    middle = _At(view, qm, vm)
    q1, v1 = kind.flight(middle, vm, half)
    _store(trace, kind, v=v, qm=qm, vm=vm, q1=q1, v1=v1, R=kind.pose(q1), b=SX.zeros(kind.nv))


class _At(View):
    """A view of the same body with other coordinates and velocity."""

    def __init__(self, view: View, q: SX, v: SX):
        self.kind, self.trace, self.pointer, self.stage = view.kind, view.trace, view.pointer, "middle"
        self.q, self.v = q, v


def _start_flight(trace, kind):
    """First guess of an implicit flight: the velocity stays."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    _store(trace, kind, v=v, v1=v, b=SX.zeros(kind.nv))


def _refine_flight(trace, kind):
    """One sweep of v1 = v + h M(qm)^-1 f(qm, vm) at the middle of the flight: symmetric, second order."""
    view = View(kind, trace, 1)
    _store_refined(trace, kind, view, load_global(trace, "step"))


def _last_refinement(trace, kind):
    """The last of them: what it still changes is a residual, and a step that leaves too much of it is made in parts."""
    view, h = View(kind, trace, 1), load_global(trace, "step")
    note_worst(trace, h * (_store_refined(trace, kind, view, h) - view.field("v1")))


def _store_refined(trace, kind, view, h):
    vm = 0.5 * (view.v + view.field("v1"))
    middle = _At(view, kind.moved(view.q, 0.5 * h * vm), vm)
    L, reciprocal = blocks.ldl(kind.mass(middle))
    change = blocks.backward(L, reciprocal * blocks.forward(L, kind.inertial(middle)))
    v1 = view.v + h * change
    _store(trace, kind, v1=v1, qm=middle.q, vm=vm)
    return v1


def _end_flight(trace, kind):
    view = View(kind, trace, 1)
    q1 = kind.moved(view.q, load_global(trace, "step") * view.field("vm"))
    _store(trace, kind, q1=q1, R=kind.pose(q1))


def _land(trace, kind):
    """The end of the flight becomes the state; its front for the closing kick."""
    view = View(kind, trace, 1, "next")
    force = load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity"))
    _store(trace, kind, q=view.q, v=view.v, D=blocks.lower(kind.mass(view)), b=force)


def _close(trace, kind):
    """v = velocity at landing + the solved change."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.field("v1") + view.field("x"))


def _settle(trace, kind):
    """Right-hand side of another closing kick, with forces at the velocity found: M (landing v - v) + kick f(v)."""
    view = View(kind, trace, 1)
    force = load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity"))
    _store(trace, kind, b=kind.mass(view) @ (view.field("v1") - view.v) + force)


def _settle_front(trace, kind):
    """The same with the mass block, for rows whose derivatives depend on the velocity found."""
    _store(trace, kind, D=blocks.lower(kind.mass(View(kind, trace, 1))))
    _settle(trace, kind)


def _strike(trace, kind):
    """v + the solved change."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.v + view.field("x"))


def _nudge(trace, kind):
    """Move the coordinates by the solved displacement."""
    view = View(kind, trace, 1)
    q = kind.moved(view.q, view.field("x"))
    _store(trace, kind, q=q, R=kind.pose(q))


def _first_order(trace, kind):
    """The solved velocity, and the motion of one step with it."""
    view = View(kind, trace, 1)
    v = view.field("x")
    q = kind.moved(view.q, load_global(trace, "step") * v)
    _store(trace, kind, v=v, q=q, R=kind.pose(q))


def _energy(trace, kind):
    view = View(kind, trace, 1)
    for name, value in (("kinetic", kind.kinetic(view)), ("potential", kind.potential(view, load_global(trace, "gravity")))):
        trace.store(0, GLOBALS.offset(name), load_global(trace, name) + value)


def _look(trace, kind):
    """Note a body that has collapsed."""
    volume = kind.volume(View(kind, trace, 1))
    trace.store(0, GLOBALS.offset("fault"), ca.if_else(volume > 0, load_global(trace, "fault"), 1))


# pointer 2 is the body's part of a packed vector (q, v)
def _pack(trace, kind):
    view = View(kind, trace, 1)
    trace.store(2, 0, ca.vertcat(view.q, view.v))


def _unpack(trace, kind):
    q, v = trace.load(2, 0, kind.nq), trace.load(2, kind.nq, kind.nv)
    _store(trace, kind, q=q, v=v, R=kind.pose(q))


def _normalise(trace, kind):
    """Coordinates back onto their manifold (unit quaternions)."""
    view = View(kind, trace, 1)
    q = kind.normalised(view.q)
    _store(trace, kind, q=q, R=kind.pose(q))


def _rates(trace, kind):
    view = View(kind, trace, 1)
    trace.store(2, 0, ca.vertcat(kind.rate(view.q, view.v), view.field("x")))


_BODY = {
    "place": _place, "accelerate": _accelerate, "kick": _kick, "open": _open, "retry": _retry, "impulse": _impulse,
    "clear": _clear,
    "euler": _euler,
    "fly": _fly, "first-fly": _first_fly,
    "fly-halves": _fly_halves, "start-flight": _start_flight, "refine-flight": _refine_flight,
    "last-refinement": _last_refinement,
    "end-flight": _end_flight, "land": _land, "close": _close, "settle": _settle, "settle-front": _settle_front,
    "strike": _strike, "nudge": _nudge,
    "first-order": _first_order, "energy": _energy, "look": _look, "defect": _defect, "mend": _mend,
    "pack": _pack, "unpack": _unpack, "normalise": _normalise,
    "rates": _rates,
}  # fmt: skip
