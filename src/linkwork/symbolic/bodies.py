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
from linkwork.symbolic import rotation
from linkwork.symbolic.blocks import cross, rows, skew, symmetric, triangle_size

GLOBALS = Record(
    time=1, half=1, step=1, kick=1, share=1, stiffness=1, damping=1, gravity=3, extrapolate=3, worst=1, kinetic=1,
    potential=1, work=1, pace=1, calm=1, fault=1, damp=1, iterations=1, parts=1
)  # fmt: skip
"""time s; half: the time at which velocity rows of the position stage hold; step h s; kick: the factor on forces (1, or
a time); share: the factor on the power of prescribed motion; stiffness, damping: Baumgarte's k_s 1/s^2 and k_d 1/s;
gravity m/s^2; extrapolate: weights of the last three position stages; worst: the largest residual of the last landing;
energies and the work of prescribed motion J; pace: the last step of an adaptive integrator s, or the part of a step that
rattle or an implicit step makes at once; calm: such parts made since that changed; fault: not zero once a body has
collapsed; damp: the part of a Newton step that is taken; iterations and parts: of the last implicit step."""


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
    directions = True  # has lines, normals and axes
    elastic = False  # has forces of its own that depend on its configuration
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

    def volume(self, q) -> SX | None:
        """What must stay positive, or the body has collapsed; None where nothing can."""
        return None

    # -- dynamics --------------------------------------------------------------------------------------------
    def mass(self, view: View) -> SX:
        raise NotImplementedError

    def inertial(self, view: View) -> SX:
        """The force -M'v ... that the motion itself asks for."""
        return SX(self.nv, 1)

    def weight(self, view: View, gravity) -> SX:
        """Gravity and elastic forces."""
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

    def displaced(self, view: View, q, step) -> SX:
        """q after a displacement; `velocity_between` finds the velocity of such a one."""
        return q + step

    def velocity_between(self, view: View, q0, q1, h) -> SX:
        """The velocity with which q1 was reached from q0 in h."""
        return (q1 - q0) / h

    def momentum_change(self, view: View, before: View, h) -> SX:
        """What the step from `before` to `view` asks of the forces: M(q1) v1 less what the start had."""
        return self.mass(view) @ (view.v - before.v) - h * self.inertial(view)

    def momentum(self, view: View, h) -> SX:
        """What a body brings into a step of length h: M v, and its inertial force where that is kept apart."""
        return self.mass(view) @ view.v + h * self.inertial(view)

    def restoring(self, view: View, before: View, gravity, h) -> SX | None:
        """What the turning of the body under its impulses adds to the symmetric tangent; None: nothing."""
        return None

    def carried(self, view: View, q0, q1, v1) -> SX:
        """The velocity at q1 of a body that was found to move with v1 as seen from q0."""
        return v1

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

    def point(self, view, local) -> Primitive:
        raise NotImplementedError


def carried_quaternion(q, spin: Primitive) -> Primitive:
    """The primitive of a unit quaternion q (4,) that turns with the spin w of a body: q' = (0, w) q / 2."""
    w = spin.value
    by_spin = 0.5 * ca.vertcat(-q[1:4].T, q[0] * SX.eye(3) - skew(q[1:4]))  # (4, 3)
    return Primitive(q, by_spin @ spin.jacobian, by_spin @ w, by_spin @ spin.bias - 0.25 * ca.sumsqr(w) * q)


def matrix33(column) -> SX:
    return rows(column, 3, 3)


class Rigid(BodyKind):
    """6: x (origin), quaternion | velocity of the origin, angular velocity. Its frame is principal; the origin is
    where the compiler puts it (the centre of mass, or the joint to the parent), the centre of mass at `com`."""

    name, nq, nv = "RigidBody", 7, 6

    def __init__(self):
        self.record = self.layout(9, {"home": 3, "turn": 9}, mass=1, com=3, inertia=3)

    def pose(self, q):
        return ca.reshape(rotation.matrix(q[3:7]).T, 9, 1)

    def rotation(self, view):
        return rotation.matrix(view.q[3:7]) if view.stage == "middle" else matrix33(view.field("R"))

    def rate(self, q, v):
        return ca.vertcat(v[0:3], rotation.quaternion_rate(q[3:7], v[3:6]))

    def moved(self, q, step):
        return ca.vertcat(q[0:3] + step[0:3], rotation.turned(q[3:7], step[3:6]))

    def normalised(self, q):
        return ca.vertcat(q[0:3], rotation.normalised(q[3:7]))

    def _inertia(self, view):
        """Arm to the centre of mass and inertia about it, in the world."""
        R, I = self.rotation(view), view.field("inertia")
        return R @ view.field("com"), symmetric_product(R, I)

    def mass(self, view):
        m = view.field("mass")
        r, I = self._inertia(view)
        mr = m * r
        origin = I + m * (ca.sumsqr(r) * SX.eye(3) - r @ r.T)
        return ca.blockcat([[m * SX.eye(3), -skew(mr)], [skew(mr), origin]])

    def inertial(self, view):
        w, D = view.v[3:6], self.mass(view)
        return -ca.vertcat(cross(w, D[0:3, 3:6] @ w), cross(w, D[3:6, 3:6] @ w))

    def weight(self, view, gravity):
        f = view.field("mass") * gravity
        return ca.vertcat(f, cross(self.rotation(view) @ view.field("com"), f))

    def potential(self, view, gravity):
        return -view.field("mass") * ca.dot(gravity, view.q[0:3] + self.rotation(view) @ view.field("com"))

    def euler(self, view, acceleration, h):
        """The centre of mass moves, so that linear momentum is kept to rounding; the origin follows."""
        c, w0 = view.field("com"), view.v[3:6]
        r = self.rotation(view) @ c
        a, alpha = acceleration[0:3], acceleration[3:6]
        v = view.v[0:3] + cross(w0, r) + h * (a + cross(alpha, r) + cross(w0, cross(w0, r)))
        w = w0 + h * alpha
        q = rotation.turned(view.q[3:7], h * w)
        r1 = rotation.matrix(q) @ c
        return ca.vertcat(view.q[0:3] + r + h * v - r1, q), ca.vertcat(v - cross(w, r1), w)

    def flight(self, view, v, h):
        c, inertia = view.field("com"), view.field("inertia")
        R = rotation.matrix(view.q[3:7])
        r, w = R @ c, v[3:6]
        L = R @ (inertia * (R.T @ w))
        vc = v[0:3] + cross(w, r)
        q = rotation.rotor_flight(view.q[3:7], L, inertia, h)
        R1 = rotation.matrix(q)
        w1, r1 = R1 @ ((R1.T @ L) / inertia), R1 @ c
        return ca.vertcat(view.q[0:3] + r + h * vc - r1, q), ca.vertcat(vc - cross(w1, r1), w1)

    def pose_rate(self, view, v):
        return turned_axes(view.field("R"), v[3:6])

    def displaced(self, view, q, step):
        """The centre of mass moves straight on."""
        c = view.field("com")
        r, turned = rotation.matrix(q[3:7]) @ c, rotation.cayley(q[3:7], step[3:6])
        return ca.vertcat(q[0:3] + r + step[0:3] + cross(step[3:6], r) - rotation.matrix(turned) @ c, turned)

    def velocity_between(self, view, q0, q1, h):
        c = view.field("com")
        r0, r1 = (rotation.matrix(q[3:7]) @ c for q in (q0, q1))
        w = rotation.cayley_vector(q0[3:7], q1[3:7]) / h
        return ca.vertcat((q1[0:3] + r1 - q0[0:3] - r0) / h - cross(w, r1), w)

    def momentum_change(self, view, before, h):
        """In momenta, which free bodies keep to rounding: linear, and angular about the centre of mass."""
        R0 = rotation.matrix(before.q[3:7])
        w, r0 = before.v[3:6], R0 @ view.field("com")
        P0 = view.field("mass") * (before.v[0:3] + cross(w, r0))
        L0 = R0 @ (view.field("inertia") * (R0.T @ w))
        return self.mass(view) @ view.v - ca.vertcat(P0, L0 + cross(self.rotation(view) @ view.field("com"), P0))

    def momentum(self, view, h):
        return self.mass(view) @ view.v

    def restoring(self, view, before, gravity, h):
        """The arm from the origin to the centre of mass turns against the impulse that changed its momentum."""
        m, c = view.field("mass"), view.field("com")
        r0, r1 = rotation.matrix(before.q[3:7]) @ c, self.rotation(view) @ c
        P0, P1 = (m * (v[0:3] + cross(v[3:6], r)) for v, r in ((before.v, r0), (view.v, r1)))
        return ca.diagcat(SX(3, 3), h * raised(r1, P1 - P0 - h * m * gravity))

    def carried(self, view, q0, q1, v1):
        """The angular momentum that was found is kept: w = I(q1)^-1 I(q0) w1; and the velocity of the centre of mass."""
        c, inertia = view.field("com"), view.field("inertia")
        R0, R1 = rotation.matrix(q0[3:7]), rotation.matrix(q1[3:7])
        w = R1 @ ((R1.T @ (R0 @ (inertia * (R0.T @ v1[3:6])))) / inertia)
        r1 = R1 @ c
        return ca.vertcat(v1[0:3] + cross(v1[3:6] - w, r1), w)

    def point(self, view, local):
        v, w = view.v[0:3], view.v[3:6]
        r = self.rotation(view) @ local
        return Primitive(view.q[0:3] + r, ca.horzcat(SX.eye(3), -skew(r)), v + cross(w, r), cross(w, cross(w, r)))

    def axis(self, view, local):
        w = view.v[3:6]
        d = self.rotation(view) @ local
        return Primitive(d, ca.horzcat(SX(3, 3), -skew(d)), cross(w, d), cross(w, cross(w, d)))

    def spin(self, view):
        return Primitive(view.v[3:6], ca.horzcat(SX(3, 3), SX.eye(3)), SX(3, 1), SX(3, 1))

    def quaternion(self, view):
        return carried_quaternion(view.q[3:7], self.spin(view))


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


PLANES = {"xz": (0, 2, 1), "xy": (0, 1, 2), "yz": (1, 2, 0)}  # in-plane axes, normal
HANDED = {"xz": -1.0, "xy": 1.0, "yz": 1.0}  # first x second = handed * (right-handed normal axis)


class Plane:
    """The embedding of a plane of the world: unit vectors along its two coordinates and its normal."""

    def __init__(self, plane: str):
        first, second, normal = PLANES[plane]
        self.in_plane = SX(3, 2)
        self.in_plane[first, 0], self.in_plane[second, 1] = 1, 1
        self.normal = SX(3, 1)
        self.normal[normal] = 1
        self.quarter = HANDED[plane] * ca.blockcat([[0, -1], [1, 0]])  # d/d(angle) of an in-plane vector


class Planar(BodyKind):
    """3: two coordinates of the plane, angle about its normal."""

    nq, nv = 3, 3

    def __init__(self, plane: str):
        self.plane, self.name = Plane(plane), f"PlanarBody-{plane}"
        self.record = self.layout(2, mass=1, inertia=1)

    def pose(self, q):
        return ca.vertcat(ca.cos(q[2]), ca.sin(q[2]))

    def pose_rate(self, view, v):
        cs = view.field("R")
        return v[2] * ca.vertcat(-cs[1], cs[0])

    def _cos_sin(self, view):
        return self.pose(view.q) if view.stage == "middle" else view.field("R")

    def mass(self, view):
        m = view.field("mass")
        return ca.diag(ca.vertcat(m, m, view.field("inertia")))

    def weight(self, view, gravity):
        return ca.vertcat(view.field("mass") * (self.plane.in_plane.T @ gravity), 0)

    def _turned(self, view, local):
        """The body's vector `local` (3) in the plane: the two coordinates, and those of its derivative by angle."""
        cs, flat = self._cos_sin(view), self.plane.in_plane.T @ local
        r = cs[0] * flat + cs[1] * (self.plane.quarter @ flat)
        return r, self.plane.quarter @ r

    def point(self, view, local):
        E, w = self.plane.in_plane, view.v[2]
        r, dr = self._turned(view, local)
        value = E @ (view.q[0:2] + r) + self.plane.normal * ca.dot(self.plane.normal, local)
        return Primitive(value, ca.horzcat(E, E @ dr), E @ (view.v[0:2] + w * dr), -(w**2) * (E @ r))

    def axis(self, view, local):
        E, w = self.plane.in_plane, view.v[2]
        r, dr = self._turned(view, local)
        value = E @ r + self.plane.normal * ca.dot(self.plane.normal, local)
        return Primitive(value, ca.horzcat(SX(3, 2), E @ dr), w * (E @ dr), -(w**2) * (E @ r))

    def spin(self, view):
        n = self.plane.normal
        return Primitive(n * view.v[2], ca.horzcat(SX(3, 2), n), SX(3, 1), SX(3, 1))

    def quaternion(self, view):
        half, n = 0.5 * view.q[2], self.plane.normal
        return carried_quaternion(ca.vertcat(ca.cos(half), ca.sin(half) * n), self.spin(view))


class Particle(BodyKind):
    """3: position."""

    name, nq, nv, directions = "Particle", 3, 3, False

    def __init__(self):
        self.record = self.layout(0, mass=1)

    def mass(self, view):
        return view.field("mass") * SX.eye(self.nv)

    def weight(self, view, gravity):
        return view.field("mass") * gravity

    def point(self, view, local):
        return Primitive(view.q, SX.eye(3), view.v, SX(3, 1))


class PlanarParticle(BodyKind):
    """2: two coordinates of the plane."""

    nq, nv, directions = 2, 2, False

    def __init__(self, plane: str):
        self.plane, self.name = Plane(plane), f"PlanarParticle-{plane}"
        self.record = self.layout(0, mass=1)

    mass = Particle.mass

    def weight(self, view, gravity):
        return view.field("mass") * (self.plane.in_plane.T @ gravity)

    def point(self, view, local):
        E = self.plane.in_plane
        return Primitive(E @ view.q, E, E @ view.v, SX(3, 1))


class Stretching(BodyKind):
    """Bodies whose points are linear in their local coordinates, so that mass needs only the second moment Sigma."""

    def _moments(self, view):
        """Sigma, and the Jacobian and bias of the points 0, e_1, e_2, e_3."""
        at = [view.point(SX.zeros(3)), *[view.point(SX.eye(3)[:, k]) for k in range(3)]]
        J = [at[0].jacobian, *[at[k].jacobian - at[0].jacobian for k in (1, 2, 3)]]
        bias = [at[k].bias for k in (1, 2, 3)]
        return symmetric(view.field("sigma"), 3), J, bias

    def mass(self, view):
        sigma, J, _ = self._moments(view)
        total = view.field("mass") * (J[0].T @ J[0])
        for k in range(3):
            for l in range(3):
                total += sigma[k, l] * (J[1 + k].T @ J[1 + l])
        return total

    def inertial(self, view):
        sigma, J, bias = self._moments(view)
        return -sum(sigma[k, l] * (J[1 + k].T @ bias[l]) for k in range(3) for l in range(3))


class Scalable(Stretching):
    """9: x, quaternion, stretch | velocity, angular velocity, stretch rate. Points are x + R diag(s) p."""

    name, nq, nv = "ScalableBody", 10, 9
    elastic = True

    def __init__(self):
        self.record = self.layout(9, mass=1, sigma=6, stiffness=1, damping=1)

    def pose(self, q):
        return ca.reshape(rotation.matrix(q[3:7]).T, 9, 1)

    def rotation(self, view):
        return rotation.matrix(view.q[3:7]) if view.stage == "middle" else matrix33(view.field("R"))

    def normalised(self, q):
        return ca.vertcat(q[0:3], rotation.normalised(q[3:7]), q[7:10])

    def pose_rate(self, view, v):
        return turned_axes(view.field("R"), v[3:6])

    def displaced(self, view, q, step):
        return ca.vertcat(q[0:3] + step[0:3], rotation.cayley(q[3:7], step[3:6]), q[7:10] + step[6:9])

    def velocity_between(self, view, q0, q1, h):
        return ca.vertcat(q1[0:3] - q0[0:3], rotation.cayley_vector(q0[3:7], q1[3:7]), q1[7:10] - q0[7:10]) / h

    def volume(self, q):
        return ca.fmin(ca.fmin(q[7], q[8]), q[9])

    def rate(self, q, v):
        return ca.vertcat(v[0:3], rotation.quaternion_rate(q[3:7], v[3:6]), v[6:9])

    def moved(self, q, step):
        return ca.vertcat(q[0:3] + step[0:3], rotation.turned(q[3:7], step[3:6]), q[7:10] + step[6:9])

    def weight(self, view, gravity):
        elastic = -view.field("stiffness") * (view.q[7:10] - 1) - view.field("damping") * view.v[6:9]
        return ca.vertcat(view.field("mass") * gravity, SX.zeros(3), elastic)

    def potential(self, view, gravity):
        elastic = 0.5 * view.field("stiffness") * ca.sumsqr(view.q[7:10] - 1)
        return elastic - view.field("mass") * ca.dot(gravity, view.q[0:3])

    def _carried(self, view, local, scale, scale_rate, scale_bias, by_stretch) -> Primitive:
        """R diag(scale) local, where scale is a function of the stretch."""
        R, w = self.rotation(view), view.v[3:6]
        r, dr = R @ (scale * local), R @ (scale_rate * local)
        bias = cross(w, cross(w, r)) + 2 * cross(w, dr) + R @ (scale_bias * local)
        return Primitive(r, ca.horzcat(SX(3, 3), -skew(r), R @ ca.diag(by_stretch * local)), cross(w, r) + dr, bias)

    def point(self, view, local):
        arm = self.line(view, local)
        shift = ca.horzcat(SX.eye(3), SX(3, 6))
        return Primitive(view.q[0:3] + arm.value, shift + arm.jacobian, view.v[0:3] + arm.rate, arm.bias)

    def line(self, view, local):
        one = SX.ones(3)
        return self._carried(view, local, view.q[7:10], view.v[6:9], SX(3, 1), one)

    def normal(self, view, local):
        s, ds = view.q[7:10], view.v[6:9]
        return self._carried(view, local, 1 / s, -ds / s**2, 2 * ds**2 / s**3, -1 / s**2)

    def axis(self, view, local):
        one = SX.ones(3)
        return self._carried(view, local, one, SX(3, 1), SX(3, 1), SX(3, 1))

    def spin(self, view):
        return Primitive(view.v[3:6], ca.horzcat(SX(3, 3), SX.eye(3), SX(3, 3)), SX(3, 1), SX(3, 1))

    quaternion = Rigid.quaternion


class Affine(Stretching):
    """12: x, F (row by row) | their rates. Points are x + F p; the mass block is constant."""

    name, nq, nv = "AffineBody", 12, 12
    elastic = True
    counts_turns = False  # its quaternion comes from a matrix

    def __init__(self):
        self.record = self.layout(9, mass=1, sigma=6, stiffness=1, damping=1)

    def pose(self, q):
        return ca.reshape(rotation.polar(matrix33(q[3:12])).T, 9, 1)

    def pose_rate(self, view, v):
        F, R = matrix33(view.q[3:12]), matrix33(view.field("R"))
        return turned_axes(view.field("R"), rotation.polar_spin(F, R, matrix33(v[3:12])))

    def volume(self, q):
        return ca.det(matrix33(q[3:12]))

    def _polar(self, view):
        return matrix33(self.pose(view.q) if view.stage == "middle" else view.field("R"))

    def weight(self, view, gravity):
        """Elastic energy k/4 |F^T F - 1|^2, damping d/2 |F'|^2 without what is a rotation, to first order."""
        F, dF = matrix33(view.q[3:12]), matrix33(view.v[3:12])
        strain = F.T @ F - SX.eye(3)
        strain_rate = dF.T @ F + F.T @ dF
        force = -view.field("stiffness") * (F @ strain) - view.field("damping") * (F @ strain_rate)
        return ca.vertcat(view.field("mass") * gravity, ca.reshape(force.T, 9, 1))

    def potential(self, view, gravity):
        F = matrix33(view.q[3:12])
        elastic = 0.25 * view.field("stiffness") * ca.sumsqr(F.T @ F - SX.eye(3))
        return elastic - view.field("mass") * ca.dot(gravity, view.q[0:3])

    def line(self, view, local):
        J = ca.horzcat(SX(3, 3), ca.kron(SX.eye(3), ca.transpose(SX(local))))
        return Primitive(matrix33(view.q[3:12]) @ local, J, matrix33(view.v[3:12]) @ local, SX(3, 1))

    def point(self, view, local):
        arm = self.line(view, local)
        shift = ca.horzcat(SX.eye(3), SX(3, 9))
        return Primitive(view.q[0:3] + arm.value, shift + arm.jacobian, view.v[0:3] + arm.rate, SX(3, 1))

    def _derived(self, view, expression, F, dF, R=None, polar=None) -> Primitive:
        """A primitive from its value as a function of fresh symbols F (and R, the polar rotation of F)."""
        column, rate_column = ca.reshape(F.T, 9, 1), ca.reshape(dF.T, 9, 1)
        J = ca.jacobian(expression, column)
        if R is not None:
            spin = ca.jacobian(rotation.polar_spin(F, R, dF), rate_column)  # (3, 9), linear in dF
            turn = ca.jacobian(expression, ca.reshape(R.T, 9, 1))
            generators = ca.horzcat(*[ca.reshape((skew(SX.eye(3)[:, k]) @ R).T, 9, 1) for k in range(3)])
            J += turn @ generators @ spin
        rate = J @ rate_column
        bias = ca.jtimes(rate, column, rate_column)
        if R is not None:
            R_rate = skew(rotation.polar_spin(F, R, dF)) @ R
            bias += ca.jtimes(rate, ca.reshape(R.T, 9, 1), ca.reshape(R_rate.T, 9, 1))
        results = [expression, ca.horzcat(SX(J.shape[0], 3), J), rate, bias]
        symbols, values = [F, dF], [matrix33(view.q[3:12]), matrix33(view.v[3:12])]
        if R is not None:
            symbols, values = [*symbols, R], [*values, polar]
        return Primitive(*ca.substitute(results, symbols, values))

    def normal(self, view, local):
        F, dF, n = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("n", 3)
        primitive = self._derived(view, rotation.inverse_transpose(F) @ n, F, dF)
        parts = ca.substitute([primitive.value, primitive.jacobian, primitive.rate, primitive.bias], [n], [SX(local)])
        return Primitive(*parts)

    def axis(self, view, local):
        F, dF, R = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("R", 3, 3)
        return self._derived(view, R @ local, F, dF, R, self._polar(view))

    def spin(self, view):
        F, dF, R = SX.sym("F", 3, 3), SX.sym("dF", 3, 3), SX.sym("R", 3, 3)
        w = rotation.polar_spin(F, R, dF)
        J = ca.jacobian(w, ca.reshape(dF.T, 9, 1))
        bias = ca.jtimes(w, ca.reshape(F.T, 9, 1), ca.reshape(dF.T, 9, 1))
        bias += ca.jtimes(w, ca.reshape(R.T, 9, 1), ca.reshape((skew(w) @ R).T, 9, 1))
        values = [matrix33(view.q[3:12]), matrix33(view.v[3:12]), self._polar(view)]
        w, J, bias = ca.substitute([w, J, bias], [F, dF, R], values)
        return Primitive(w, ca.horzcat(SX(3, 3), J), SX(3, 1), bias)

    def quaternion(self, view):
        return carried_quaternion(rotation.quaternion(self._polar(view)), self.spin(view))


def _kinds() -> dict[str, BodyKind]:
    kinds: list[BodyKind] = [Rigid(), Particle(), Scalable(), Affine()]
    for plane in PLANES:
        kinds += [Planar(plane), PlanarParticle(plane)]
    return {kind.name: kind for kind in kinds}


KINDS = _kinds()
RIGID: Rigid = KINDS["RigidBody"]  # type: ignore[assignment]


def kind_of(body) -> BodyKind:
    """The kind of a body element."""
    name = type(body).__name__
    return KINDS[f"{name}-{body.plane}" if name in ("PlanarBody", "PlanarParticle") else name]
