"""Kernels of single bodies: fronts, drifts and steps. Pointer 1 is the body."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Joining, Kernel, Record, Trace
from linkwork.elements.core.body_kind import BodyKind
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.symbolic import blocks
from linkwork.symbolic.views import GLOBALS, View, load_global, note_worst
from linkwork.symbolic.vocabulary import Moment

UNRESOLVED = 1e300  # the residual of a drift that is not accurate: larger than any that corrections are tried for


def body_kernel(kind: BodyKind, what: BodyKernel) -> Kernel:
    """One of the kernels below."""
    return Kernel(f"body|{kind.key}|{what}", lambda trace: _BODY[what](trace, kind), joining=Joining.SMALL)


def point_record(kind: BodyKind) -> Record:
    """A point of a body that can be touched: its local coordinates, where it is, how it accelerates where the body's velocities
    stay, how fast it moves while the body does not (it does not), and J (3, nv) of its velocity."""
    return Record(local=3, place=3, bias=3, forcing=3, J=3 * kind.nv)


def touch_record(kind: BodyKind) -> Record:
    """A point at which the shape of a body that stretches touches: its local place, from there to the shape's surface, and the
    normal in the world; then as a `point_record` has it. The fourth row of J is the rate, along the normal, of the surface
    beside that of the point."""
    return Record(local=3, beside=3, normal=3, place=3, bias=4, forcing=4, J=4 * kind.nv)


def point_kernel(kind: BodyKind, moment: Moment = Moment.NOW) -> Kernel:
    """Where such a point is, its bias and J. Pointer 2: its record; `moment`: of the body."""

    def write(trace: Trace) -> None:
        record = point_record(kind)
        point = View(kind, trace, 1, moment).point(trace.load(2, *record["local"]))
        trace.store(2, record.offset("place"), point.value)
        trace.store(2, record.offset("bias"), point.bias)
        trace.store(2, record.offset("J"), point.jacobian)

    return Kernel(f"spot|{kind.key}" if moment == Moment.NOW else f"spot|{kind.key}|{moment}", write)


def _store(trace: Trace, kind: BodyKind, **results) -> None:
    for name, value in results.items():
        trace.store(1, kind.record.offset(name), value)


def _update_pose(trace, kind):
    """The derived pose from the coordinates."""
    _store(trace, kind, R=kind.pose(View(kind, trace, 1).q))


def _accelerate(trace, kind):
    """Front for accelerations: the mass block, all forces of the body itself."""
    view = View(kind, trace, 1)
    force = kind.weight(view, load_global(trace, "gravity")) + kind.inertial(view)
    _store(trace, kind, D=blocks.lower(kind.mass(view)), b=force)


def _defect(trace, kind):
    """The residual f - M x of the body's equation with the accelerations x that were found; these are kept in v0."""
    view = View(kind, trace, 1)
    force = kind.weight(view, load_global(trace, "gravity")) + kind.inertial(view)
    _store(trace, kind, b=force - kind.mass(view) @ view.field("x"), v0=view.field("x"))


def _refine(trace, kind):
    """Add the correction to the accelerations kept in v0."""
    view = View(kind, trace, 1)
    _store(trace, kind, x=view.field("v0") + view.field("x"))


def _kick(trace, kind):
    """Front for impulses: the mass block, the body's forces times the kick."""
    view = View(kind, trace, 1)
    _store(trace, kind, D=blocks.lower(kind.mass(view)))
    _load(trace, kind)


def _load(trace, kind):
    """Right-hand side alone: the body's forces (without inertial ones, which the drift has) times the kick."""
    view = View(kind, trace, 1)
    _store(trace, kind, b=load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity")))


def _open(trace, kind):
    """Begin a step: keep the velocity, in case the step is rejected; load the opening kick."""
    _store(trace, kind, v0=View(kind, trace, 1).v)
    _load(trace, kind)


def _restore(trace, kind):
    """Go back to the beginning of the step."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.field("v0"), R=kind.pose(view.q))


def _clear(trace, kind):
    _store(trace, kind, b=SX.zeros(kind.nv))


def _euler(trace, kind):
    """Semi-implicit Euler."""
    view = View(kind, trace, 1)
    q, v = kind.euler(view, view.field("x"), load_global(trace, "step"))
    _store(trace, kind, q=q, v=v, R=kind.pose(q))


def _drift(trace, kind):
    """Add the solved change to the velocity, and drift from where the step began to its end; clear b for a correction."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    q1, v1 = kind.drift(view, v, load_global(trace, "step"))
    _store(trace, kind, v=v, q1=q1, v1=v1, R=kind.pose(q1), b=SX.zeros(kind.nv))
    return view, v


def _first_drift(trace, kind):
    """The first drift of a step. A body that turns further than the drift is accurate for leaves a residual, so that the step
    is made in substeps."""
    view, v = _drift(trace, kind)
    note_worst(trace, ca.if_else(kind.unresolved(view, v, load_global(trace, "step")), UNRESOLVED, 0))


def _drift_in_halves(trace, kind):
    """The same in two halves. The middle is kept, since velocity rows hold there."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    half = 0.5 * load_global(trace, "step")
    qm, vm = kind.drift(view, v, half)
    middle = _At(view, qm, vm)
    q1, v1 = kind.drift(middle, vm, half)
    _store(trace, kind, v=v, qm=qm, vm=vm, q1=q1, v1=v1, R=kind.pose(q1), b=SX.zeros(kind.nv))


class _At(View):
    """A view of the same body with other coordinates and velocity."""

    def __init__(self, view: View, q: SX, v: SX):
        self.kind, self.trace, self.pointer, self.moment = view.kind, view.trace, view.pointer, Moment.MIDDLE
        self.q, self.v = q, v


def _start_implicit_drift(trace, kind):
    """First guess of an implicit drift: the velocity stays."""
    view = View(kind, trace, 1)
    v = view.v + view.field("x")
    _store(trace, kind, v=v, v1=v, b=SX.zeros(kind.nv))


def _refine_implicit_drift(trace, kind):
    """One sweep of v1 = v + h M(qm)^-1 f(qm, vm) at the middle of the drift: symmetric, second order."""
    view = View(kind, trace, 1)
    _store_refined(trace, kind, view, load_global(trace, "step"))


def _last_refinement(trace, kind):
    """The last of these sweeps. What it changes is noted as a residual: a step that leaves too much is made in substeps."""
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


def _end_implicit_drift(trace, kind):
    view = View(kind, trace, 1)
    q1 = kind.moved(view.q, load_global(trace, "step") * view.field("vm"))
    _store(trace, kind, q1=q1, R=kind.pose(q1))


def _accept_drift(trace, kind):
    """Make the end of the drift the state, and its front for the closing kick."""
    view = View(kind, trace, 1, Moment.END)
    force = load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity"))
    _store(trace, kind, q=view.q, v=view.v, D=blocks.lower(kind.mass(view)), b=force)


def _close(trace, kind):
    """v = velocity at the end of the drift + the solved change."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.field("v1") + view.field("x"))


def _velocity_iteration(trace, kind):
    """Right-hand side of another closing kick, with forces at the velocity found: M (v1 - v) + kick f(v)."""
    view = View(kind, trace, 1)
    force = load_global(trace, "kick") * kind.weight(view, load_global(trace, "gravity"))
    _store(trace, kind, b=kind.mass(view) @ (view.field("v1") - view.v) + force)


def _velocity_iteration_front(trace, kind):
    """The same with the mass block, for rows whose derivatives depend on the velocity found."""
    _store(trace, kind, D=blocks.lower(kind.mass(View(kind, trace, 1))))
    _velocity_iteration(trace, kind)


def _apply_impulse(trace, kind):
    """Add the solved change to the velocity."""
    view = View(kind, trace, 1)
    _store(trace, kind, v=view.v + view.field("x"))


def _correct_position(trace, kind):
    """Move the coordinates by the solved displacement."""
    view = View(kind, trace, 1)
    q = kind.moved(view.q, view.field("x"))
    _store(trace, kind, q=q, R=kind.pose(q))


def _first_order(trace, kind):
    """Take the solved velocity, and move with it for one step."""
    view = View(kind, trace, 1)
    v = view.field("x")
    q = kind.moved(view.q, load_global(trace, "step") * v)
    _store(trace, kind, v=v, q=q, R=kind.pose(q))


def _energy(trace, kind):
    view = View(kind, trace, 1)
    for name, value in (("kinetic", kind.kinetic(view)), ("potential", kind.potential(view, load_global(trace, "gravity")))):
        trace.store(0, GLOBALS.offset(name), load_global(trace, name) + value)


def _check_collapse(trace, kind):
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
    """Bring coordinates back onto their manifold (unit quaternions)."""
    view = View(kind, trace, 1)
    q = kind.normalised(view.q)
    _store(trace, kind, q=q, R=kind.pose(q))


def _rates(trace, kind):
    view = View(kind, trace, 1)
    trace.store(2, 0, ca.vertcat(kind.rate(view.q, view.v), view.field("x")))


_BODY = {
    BodyKernel.UPDATE_POSE: _update_pose,
    BodyKernel.ACCELERATE: _accelerate,
    BodyKernel.KICK: _kick,
    BodyKernel.OPEN: _open,
    BodyKernel.RESTORE: _restore,
    BodyKernel.LOAD: _load,
    BodyKernel.CLEAR: _clear,
    BodyKernel.EULER: _euler,
    BodyKernel.DRIFT: _drift,
    BodyKernel.FIRST_DRIFT: _first_drift,
    BodyKernel.DRIFT_IN_HALVES: _drift_in_halves,
    BodyKernel.START_IMPLICIT_DRIFT: _start_implicit_drift,
    BodyKernel.REFINE_IMPLICIT_DRIFT: _refine_implicit_drift,
    BodyKernel.LAST_REFINEMENT: _last_refinement,
    BodyKernel.END_IMPLICIT_DRIFT: _end_implicit_drift,
    BodyKernel.ACCEPT_DRIFT: _accept_drift,
    BodyKernel.CLOSE: _close,
    BodyKernel.VELOCITY_ITERATION: _velocity_iteration,
    BodyKernel.VELOCITY_ITERATION_FRONT: _velocity_iteration_front,
    BodyKernel.APPLY_IMPULSE: _apply_impulse,
    BodyKernel.CORRECT_POSITION: _correct_position,
    BodyKernel.FIRST_ORDER: _first_order,
    BodyKernel.ENERGY: _energy,
    BodyKernel.CHECK_COLLAPSE: _check_collapse,
    BodyKernel.DEFECT: _defect,
    BodyKernel.REFINE: _refine,
    BodyKernel.PACK: _pack,
    BodyKernel.UNPACK: _unpack,
    BodyKernel.NORMALISE: _normalise,
    BodyKernel.RATES: _rates,
}
