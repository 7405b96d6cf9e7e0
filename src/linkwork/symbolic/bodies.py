"""Body kinds: what a record holds, and the mathematics of one body as expressions.

A kind gives its mass block, its inertial force, how velocity moves its coordinates, and *primitives*: a point, a
line, a normal, an axis of the body in the world, each with its Jacobian, rate and bias acceleration. Constraints
and forces are written with those alone (baraff96 section 2.2: black boxes).

Velocities are world-frame: a rigid body's are (velocity of its origin, angular velocity).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Record, Trace
from linkwork.symbolic.blocks import rows, skew, symmetric, triangle_size

GLOBALS = Record(
    time=1, half=1, step=1, kick=1, share=1, stiffness=1, damping=1, gravity=3, extrapolate=3, worst=1, kinetic=1,
    potential=1, work=1, pace=1, calm=1, fault=1, iterations=1, parts=1, softness=1
)  # fmt: skip
"""time s; half: the time at which velocity rows of the position stage hold; step h s; kick: the factor on forces (1, or
a time); share: the factor on the power of prescribed motion; stiffness, damping: Baumgarte's k_s 1/s^2 and k_d 1/s;
gravity m/s^2; extrapolate: weights of the last three position stages; worst: the largest residual of the last landing;
energies and the work of prescribed motion J; pace: the last step of an adaptive integrator s, or the part of a step that
rattle or an implicit step makes at once; calm: such parts made since that changed; fault: not zero once a body has
collapsed; iterations and parts: of the last implicit step; softness: the part by which pivots are made regular, of what rows
would give to unit multipliers."""


def load_global(trace: Trace, name: str) -> SX:
    return trace.load(0, *GLOBALS[name])


def note_worst(trace: Trace, values: SX) -> None:
    """Keep the largest residual."""
    worst = load_global(trace, "worst")
    for k in range(values.shape[0]):
        worst = ca.fmax(worst, ca.fabs(values[k]))
    trace.store(0, GLOBALS.offset("worst"), worst)


@dataclass
class Primitive:
    """A vector of the world that a body carries."""

    value: SX  # (k,)
    jacobian: SX  # (k, nv): rate = jacobian @ v
    rate: SX  # (k,)
    bias: SX  # (k,): acceleration where the body's own velocity does not change


class Unsupported(Exception):
    """A body kind has no such primitive."""


class View:
    """A body's symbols inside one kernel: coordinates and velocity at a stage, and its primitives."""

    def __init__(self, kind: BodyKind, trace: Trace, pointer: int, stage: str = "now"):
        self.kind, self.trace, self.pointer, self.stage = kind, trace, pointer, stage
        self.q = self.field({"now": "q", "next": "q1", "middle": "qm"}[stage])
        self.v = self.field({"now": "v", "next": "v1", "middle": "vm"}[stage])

    def field(self, name: str) -> SX:
        return self.trace.load(self.pointer, *self.kind.record[name])

    def point(self, local) -> Primitive:
        return self.kind.point(self, local)

    def line(self, local) -> Primitive:
        return self.kind.line(self, local)

    def normal(self, local) -> Primitive:
        return self.kind.normal(self, local)

    def axis(self, local) -> Primitive:
        return self.kind.axis(self, local)

    def spin(self) -> Primitive:
        return self.kind.spin(self)

    def quaternion(self) -> Primitive:
        return self.kind.quaternion(self)

    def coordinates(self) -> Primitive:
        return self.kind.coordinates(self)


class Shifted(View):
    """A view whose coordinates and velocity carry symbols for a small displacement (`shift`, in the units of velocity) and a
    small change of velocity (`kick`): what is written with it can be differentiated by them, at zero."""

    def __init__(self, kind: BodyKind, trace: Trace, pointer: int, stage: str):
        super().__init__(kind, trace, pointer, stage)
        self.shift, self.kick = SX.sym("shift", kind.nv), SX.sym("kick", kind.nv)
        self._pose = View.field(self, "R") + kind.pose_rate(View(kind, trace, pointer, stage), self.shift)
        self.q = self.q + kind.rate(self.q, self.shift)
        self.v = self.v + self.kick

    def field(self, name: str) -> SX:
        return self._pose if name == "R" and hasattr(self, "_pose") else super().field(name)

    def reached(self, h) -> Shifted:
        """This view with the velocity with which its coordinates are reached from those of stage "now" in h."""
        still = View(self.kind, self.trace, self.pointer, self.stage)
        self.v = self.kind.velocity_between(still, View(self.kind, self.trace, self.pointer).q, self.q, h)
        return self


def derivatives(expressions: list[SX], views: list[Shifted]) -> list[list[SX]]:
    """Expressions, and their derivatives by all shifts and by all kicks, at zero."""
    shift, kick = (ca.vertcat(*[getattr(v, name) for v in views]) for name in ("shift", "kick"))
    found = [[e, ca.jacobian(e, shift), ca.jacobian(e, kick)] for e in expressions]
    flat = ca.substitute([x for group in found for x in group], [shift, kick], [SX.zeros(shift.shape), SX.zeros(kick.shape)])
    return [flat[3 * k : 3 * k + 3] for k in range(len(expressions))]


class BodyKind:
    name: str
    nq: int
    nv: int
    record: Record
    components: tuple[tuple[str, str], ...]  # name and unit of each component of its velocity
    directions = True  # has lines, normals and axes
    is_a_point = False  # has no other points than its position
    elastic = False  # has forces of its own that depend on its configuration
    collapses = False  # `volume` may vanish
    turns = False  # has an orientation, and `unresolved`
    iterated_flight = False  # its mass depends on its configuration: free flights are found by iteration
    may_be_flat = False  # some rows of constraints may not feel it
    counts_turns = True  # its quaternion keeps its sign where the body turns on and on

    def layout(self, derived: int, reported: dict[str, int] | None = None, **parameters: int) -> Record:
        """What every step touches: coordinates, velocity, derived pose, parameters, the front (D, b, x). Cold: a step's
        beginning, end and middle, what only reports need, and what a front that is not symmetric has above its diagonal."""
        cold = {"v0": self.nv, "q1": self.nq, "v1": self.nv, "qm": self.nq, "vm": self.nv, **(reported or {}),
                "upper": triangle_size(self.nv - 1)}  # fmt: skip
        front = {"D": triangle_size(self.nv), "b": self.nv, "x": self.nv}
        return Record(cold, q=self.nq, v=self.nv, R=derived, **parameters, **front)

    # -- kinematics ------------------------------------------------------------------------------------------
    def pose(self, q) -> SX:
        """What is derived from q once and kept (field R), as a column."""
        return SX(0, 1)

    def pose_rate(self, view: View, v) -> SX:
        """The derivative of the pose for a motion with velocity v."""
        return SX(0, 1)

    def rate(self, q, v) -> SX:
        """dq/dt."""
        return v

    def moved(self, q, step) -> SX:
        """q after the motion `step` = velocity times time."""
        return q + step

    def normalised(self, q) -> SX:
        """q back on its manifold."""
        return q

    def volume(self, view: View) -> SX:
        """What must stay positive, or the body has collapsed."""
        raise NotImplementedError

    # -- dynamics --------------------------------------------------------------------------------------------
    def mass(self, view: View) -> SX:
        raise NotImplementedError

    def inertial(self, view: View) -> SX:
        """The force -M'v ... that the motion itself asks for."""
        return SX(self.nv, 1)

    def weight(self, view: View, gravity) -> SX:
        """Gravity and elastic forces."""
        raise NotImplementedError

    def elasticity(self, view: View) -> tuple[SX, SX]:
        """How elastic forces answer, -df/dq and -df/dv: symmetric, positive semidefinite."""
        raise NotImplementedError

    def kinetic(self, view: View) -> SX:
        return 0.5 * ca.bilin(self.mass(view), view.v, view.v)

    def potential(self, view: View, gravity) -> SX:
        return -view.field("mass") * ca.dot(gravity, view.point(SX.zeros(3)).value)

    # -- integration ---------------------------------------------------------------------------------------
    def euler(self, view: View, acceleration, h) -> tuple[SX, SX]:
        """(q, v) after one semi-implicit Euler step."""
        v = view.v + h * acceleration
        return self.moved(view.q, h * v), v

    def flight(self, view: View, v, h) -> tuple[SX, SX]:
        """(q, v) after the free flight of duration h that starts with velocity v: exact where v stays constant."""
        return self.moved(view.q, h * v), v

    def unresolved(self, view: View, v, h) -> SX:
        """Of a kind that `turns`, after `flight`: whether that goes further than it is good for."""
        raise NotImplementedError

    def displaced(self, view: View, q, step) -> SX:
        """q after a displacement; `velocity_between` finds the velocity of such a one."""
        return q + step

    def velocity_between(self, view: View, q0, q1, h) -> SX:
        """The velocity with which q1 was reached from q0 in h."""
        return (q1 - q0) / h

    def velocity_after(self, view: View, q0, q1, x, h) -> SX:
        """The same for a body that was displaced by h x."""
        return self.velocity_between(view, q0, q1, h)

    def momentum_change(self, view: View, before: View, h) -> SX:
        """What the step from `before` to `view` asks of the forces: M(q1) v1 less what the start had."""
        return self.mass(view) @ (view.v - before.v) - h * self.inertial(view)

    def momentum(self, view: View, h) -> SX:
        """What a body brings into a step of length h: M v, and its inertial force where that is kept apart."""
        return self.mass(view) @ view.v + h * self.inertial(view)

    def restoring(self, view: View, before: View, gravity, h) -> SX | None:
        """What the turning of the body under its impulses adds to the symmetric tangent; None: nothing."""
        return None

    def carried(self, view: View, q0, q1, v1, h) -> SX:
        """The velocity at q1 of a body that was found to move with v1 as seen from q0."""
        return v1

    def inertia_across(self, view: View, r) -> SX:
        """The mean moment of inertia about axes across r, times |r|^2."""
        spin = view.spin().jacobian
        inertia = spin @ self.mass(view) @ spin.T
        return 0.5 * (ca.trace(inertia) * ca.sumsqr(r) - ca.bilin(inertia, r, r))

    def momentum_alone(self, view: View) -> SX:
        """What a body brings into a firm step: no more kinetic energy than it has."""
        return self.mass(view) @ view.v

    def calmed(self, view: View, q0, q1, v1, h) -> SX:
        """As `carried`, and kinetic energy does not grow."""
        return self.carried(view, q0, q1, v1, h)

    def turned_velocity(self, view: View, q0, q1) -> SX:
        """The velocity of a body that was put from q0 to q1 in no time: its kinetic energy and linear momentum are kept."""
        return view.v

    # -- primitives ------------------------------------------------------------------------------------------
    def _no_direction(self):
        raise Unsupported(f"a {self.name} has no directions")

    def line(self, view, local) -> Primitive:
        return self.axis(view, local)

    def normal(self, view, local) -> Primitive:
        return self.axis(view, local)

    def axis(self, view, local) -> Primitive:
        self._no_direction()
        raise AssertionError

    def spin(self, view) -> Primitive:
        self._no_direction()
        raise AssertionError

    def quaternion(self, view) -> Primitive:
        self._no_direction()
        raise AssertionError

    def coordinates(self, view) -> Primitive:
        """The coordinates themselves, of a kind whose velocity is their rate."""
        raise Unsupported(f"a {self.name} has no generalised coordinates")

    def point(self, view, local) -> Primitive:
        raise NotImplementedError


def carried_quaternion(q, spin: Primitive) -> Primitive:
    """The primitive of a unit quaternion q (4,) that turns with the spin w of a body: q' = (0, w) q / 2."""
    w = spin.value
    by_spin = 0.5 * ca.vertcat(-q[1:4].T, q[0] * SX.eye(3) - skew(q[1:4]))  # (4, 3)
    return Primitive(q, by_spin @ spin.jacobian, by_spin @ w, by_spin @ spin.bias - 0.25 * ca.sumsqr(w) * q)


def named(names: str, unit: str) -> tuple[tuple[str, str], ...]:
    """Components of one unit.

    >>> named("vx vz", "m/s")
    (('vx', 'm/s'), ('vz', 'm/s'))
    """
    return tuple((name, unit) for name in names.split())


LINEAR, ANGULAR = named("vx vy vz", "m/s"), named("wx wy wz", "rad/s")


def matrix33(column) -> SX:
    return rows(column, 3, 3)


def raised(r: SX, mu: SX) -> SX:
    """The symmetric part of d(r x mu)/d(turn) = r mu^T - (r.mu) 1, plus (r.mu + |r||mu|)/2: its least eigenvalue is zero."""
    lengths = ca.sqrt(ca.sumsqr(r) * ca.sumsqr(mu))
    return 0.5 * (r @ mu.T + mu @ r.T) + 0.5 * (lengths - ca.dot(r, mu)) * SX.eye(3)


def turned_axes(pose, w) -> SX:
    """The derivative of a rotation matrix, given and returned as a column row by row, for an angular velocity."""
    return ca.reshape((skew(w) @ matrix33(pose)).T, 9, 1)


def symmetric_product(R, diagonal) -> SX:
    """R diag(d) R^T, each entry of its lower triangle computed once."""
    scaled = R * ca.repmat(ca.transpose(diagonal), 3, 1)
    return symmetric(ca.vertcat(*[ca.dot(scaled[i, :], R[j, :]) for i in range(3) for j in range(i + 1)]), 3)
