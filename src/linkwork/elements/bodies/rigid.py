"""Rigid bodies: the element, its mathematics, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.elements.bodies.filling import check_shape, fill_mass, fill_moment
from linkwork.elements.bodies.rigid_placement import RigidPlacement
from linkwork.elements.core import checks
from linkwork.elements.core.body_functions import skew_matrix
from linkwork.elements.core.body_kind import BodyKind, carried_over
from linkwork.elements.core.contact_parts import ContactParts, ContactPose
from linkwork.elements.core.element import Body
from linkwork.elements.core.field_types import MatrixField, ScalarField, VectorField, default
from linkwork.elements.core.placement import CONJUGATE, Placement, Poses, apply, matrices, product, quaternions
from linkwork.elements.core.registry import kind_class, kind_of
from linkwork.elements.core.shape import Shape
from linkwork.elements.core.units import ANGULAR_VELOCITY, POSITION, QUATERNION, VELOCITY
from linkwork.symbolic import rotation
from linkwork.symbolic.blocks import cross, skew
from linkwork.symbolic.views import (
    Primitive,
    ReadPose,
    carried_quaternion,
    matrix33,
    positive_part,
    symmetric_product,
    turned_axes,
)
from linkwork.symbolic.vocabulary import Moment

if TYPE_CHECKING:
    from linkwork.elements.core.element import Pose
    from linkwork.symbolic.views import View
    from linkwork.util.array_types import FloatArray


BENT = 0.05  # of (h l)^2 |1/I_1 - 1/I_2| |1/I_2 - 1/I_3|, l between the axes: what the drift of a rotor turns with an error
# of energy of some thousandths
WHOLE = 4.0  # of (h l / I_2)^2: how far the series of a half angle goes
FAR = 1.0  # of (h w)^2, over the ratio of the smallest moment of inertia to what the largest has more


@dataclass(eq=False, repr=False)
class RigidBody(Body):
    """A rigid body.

    `inertia` is about the centre of mass in the body's axes: three diagonal entries or a 3 by 3 matrix, kg m^2. A
    shape gives it (centred at the centre of mass), and with a density the mass too; what is given explicitly wins.

    With mass and inertia zero it is a massless link: it hangs on a joint and carries bodies that have mass, so that several
    joints in a row act between the two.

    >>> from linkwork.elements import Box
    >>> crank = RigidBody(mass=1.0, shape=Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank")
    >>> crank.inertia.shape, crank.dim
    ((3, 3), 6)
    >>> RigidBody(mass=0, inertia=(0, 0, 0), name="cross").massless
    True
    """

    kind: ClassVar[str] = "rigid"
    dim: ClassVar[int] = 6

    mass: ScalarField = default(None)  # kg
    inertia: MatrixField = default(None)  # (3, 3), kg m^2
    shape: Shape | None = None
    density: ScalarField = default(None)  # kg/m^3
    position: VectorField = default(checks.ZERO)  # (3,), m: the origin of the body's frame
    orientation: VectorField = default(checks.IDENTITY)  # (4,): unit quaternion w, x, y, z
    velocity: VectorField = default(checks.ZERO)  # (3,), m/s: of the point `position`
    angular_velocity: VectorField = default(checks.ZERO)  # (3,), rad/s
    com: VectorField = default(checks.ZERO)  # (3,), m: the centre of mass in the body's frame

    def __post_init__(self) -> None:
        super().__post_init__()
        if checks.is_zero(self.mass):
            _fill_massless(self)
        else:
            fill_mass(self)
            fill_moment(self, "inertia", checks.inertia)
        self.position = checks.vector(self, "position", self.position)
        self.velocity = checks.vector(self, "velocity", self.velocity)
        self.angular_velocity = checks.vector(self, "angular_velocity", self.angular_velocity)
        self.com = checks.vector(self, "com", self.com)
        self.orientation = checks.quaternion(self, "orientation", self.orientation)

    @property
    def massless(self) -> bool:
        """Whether it has neither mass nor inertia."""
        return self.mass == 0.0


def _fill_massless(body: RigidBody) -> None:
    """Neither mass nor inertia: a shape has none then, and a density would say otherwise."""
    check_shape(body, body.shape)
    if body.density is not None:
        checks.fail(body, f"mass is 0 but density is {checks.show(body.density)}", "leave one of them out")
    if body.inertia is None and body.shape is None:
        checks.fail(body, "mass is 0 but inertia is missing", "give inertia=(0, 0, 0) for a massless link, or a mass")
    if body.inertia is not None and np.any(checks.symmetric(body, "inertia", body.inertia)):
        problem = f"mass is 0 but inertia is {checks.show(body.inertia)}"
        checks.fail(body, problem, "give both, or neither for a massless link")
    body.mass, body.inertia = 0.0, np.zeros((3, 3))


@kind_of(RigidBody)
class Rigid(BodyKind):
    """6: x (origin), quaternion | velocity of the origin, angular velocity. Its frame is principal; the origin is
    where the compiler puts it (the centre of mass, or the joint to the parent), the centre of mass at `com`."""

    name, nq, nv = "RigidBody", 7, 6
    turns = movable_origin = posed = True
    constants = ("home", "turn")
    turning = slice(3, 6)
    tells_wrench = True
    read_names, read_rates = (*POSITION, *QUATERNION), (*VELOCITY, *ANGULAR_VELOCITY)

    def __init__(self) -> None:
        self.record = self.layout(9, {"home": 3, "turn": 9}, mass=1, com=3, inertia=3)

    def pose(self, q: SX) -> SX:
        return ca.reshape(rotation.matrix(q[3:7]).T, 9, 1)

    def rotation(self, view: View) -> SX:
        return rotation.matrix(view.q[3:7]) if view.moment == Moment.MIDDLE else matrix33(view.field("R"))

    def rate(self, q: SX, v: SX) -> SX:
        return ca.vertcat(v[0:3], rotation.quaternion_rate(q[3:7], v[3:6]))

    def moved(self, q: SX, step: SX) -> SX:
        return ca.vertcat(q[0:3] + step[0:3], rotation.turned(q[3:7], step[3:6]))

    def normalised(self, q: SX) -> SX:
        return ca.vertcat(q[0:3], rotation.normalised(q[3:7]))

    def _inertia(self, view: View) -> tuple[SX, SX]:
        """Arm to the centre of mass and inertia about it, in the world."""
        R, I = self.rotation(view), view.field("inertia")
        return R @ view.field("com"), symmetric_product(R, I)

    def mass(self, view: View) -> SX:
        m = view.field("mass")
        r, I = self._inertia(view)
        mr = m * r
        origin = I + m * (ca.sumsqr(r) * SX.eye(3) - r @ r.T)
        return ca.blockcat([[m * SX.eye(3), -skew(mr)], [skew(mr), origin]])

    def inertial(self, view: View) -> SX:
        w, D = view.v[3:6], self.mass(view)
        return -ca.vertcat(cross(w, D[0:3, 3:6] @ w), cross(w, D[3:6, 3:6] @ w))

    def weight(self, view: View, gravity: SX) -> SX:
        f = view.field("mass") * gravity
        return ca.vertcat(f, cross(self.rotation(view) @ view.field("com"), f))

    def potential(self, view: View, gravity: SX) -> SX:
        return -view.field("mass") * ca.dot(gravity, view.q[0:3] + self.rotation(view) @ view.field("com"))

    def euler(self, view: View, acceleration: SX, h: SX) -> tuple[SX, SX]:
        """The centre of mass moves, so that linear momentum is kept to rounding; the origin follows."""
        c, w0 = view.field("com"), view.v[3:6]
        r = self.rotation(view) @ c
        a, alpha = acceleration[0:3], acceleration[3:6]
        v = view.v[0:3] + cross(w0, r) + h * (a + cross(alpha, r) + cross(w0, cross(w0, r)))
        w = w0 + h * alpha
        q = rotation.turned(view.q[3:7], h * w)
        r1 = rotation.matrix(q) @ c
        return ca.vertcat(view.q[0:3] + r + h * v - r1, q), ca.vertcat(v - cross(w, r1), w)

    def drift(self, view: View, v: SX, h: SX) -> tuple[SX, SX]:
        c, inertia = view.field("com"), _turning(view)
        R = rotation.matrix(view.q[3:7])
        r, w = R @ c, v[3:6]
        view.rotor = inertia, inertia * (R.T @ w)  # in its own axes: `unresolved` asks for the same, once more would be slow
        L = R @ view.rotor[1]
        vc = v[0:3] + cross(w, r)
        q = rotation.rotor_flight(view.q[3:7], L, inertia, h)
        R1 = rotation.matrix(q)
        w1, r1 = R1 @ ((R1.T @ L) / inertia), R1 @ c
        return ca.vertcat(view.q[0:3] + r + h * vc - r1, q), ca.vertcat(vc - cross(w1, r1), w1)

    def unresolved(self, view: View, v: SX, h: SX) -> SX:
        inertia, l = view.rotor
        s, one = l * l, 1 / inertia
        bent = ca.fabs((one[0] - one[1]) * (one[1] - one[2]))
        side = s[0] + s[1]
        between, size, hh = s[0] * s[1] + s[2] * side, side + s[2], h * h
        return hh * ca.fmax(bent * between, (BENT / WHOLE) * one[1] * one[1] * size * size) > BENT * size

    def pose_rate(self, view: View, v: SX) -> SX:
        return turned_axes(view.field("R"), v[3:6])

    def displaced(self, view: View, q: SX, step: SX) -> SX:
        """The centre of mass moves straight on."""
        c = view.field("com")
        r, turned = rotation.matrix(q[3:7]) @ c, rotation.cayley(q[3:7], step[3:6])
        return ca.vertcat(q[0:3] + r + step[0:3] + cross(step[3:6], r) - rotation.matrix(turned) @ c, turned)

    def velocity_between(self, view: View, q0: SX, q1: SX, h: SX) -> SX:
        c = view.field("com")
        r0, r1 = (rotation.matrix(q[3:7]) @ c for q in (q0, q1))
        w = rotation.cayley_vector(q0[3:7], q1[3:7]) / h
        return ca.vertcat((q1[0:3] + r1 - q0[0:3] - r0) / h - cross(w, r1), w)

    def velocity_after(self, view: View, q0: SX, q1: SX, x: SX, h: SX) -> SX:
        c, w = view.field("com"), x[3:6]
        return ca.vertcat(x[0:3] + cross(w, rotation.matrix(q0[3:7]) @ c - rotation.matrix(q1[3:7]) @ c), w)

    def momentum_change(self, view: View, before: View, h: SX) -> SX:
        """In momenta, which free bodies keep to rounding: linear, and angular about the centre of mass."""
        R0 = rotation.matrix(before.q[3:7])
        w, r0 = before.v[3:6], R0 @ view.field("com")
        P0 = view.field("mass") * (before.v[0:3] + cross(w, r0))
        L0 = R0 @ (view.field("inertia") * (R0.T @ w))
        return self.mass(view) @ view.v - ca.vertcat(P0, L0 + cross(self.rotation(view) @ view.field("com"), P0))

    def momentum(self, view: View, h: SX) -> SX:
        """With the torque -w x L of the start: the displacement that follows is nearly that of the spin at its end."""
        return self.mass(view) @ view.v - ca.vertcat(SX(3, 1), h * self._precession(view))

    def _precession(self, view: View) -> SX:
        """w x L, in the world."""
        R, w = self.rotation(view), view.v[3:6]
        return cross(w, R @ (view.field("inertia") * (R.T @ w)))

    def restoring(self, view: View, before: View, gravity: SX, h: SX) -> SX | None:
        """The arm from the origin to the centre of mass turns against the impulse that changed its momentum."""
        m, c = view.field("mass"), view.field("com")
        r0, r1 = rotation.matrix(before.q[3:7]) @ c, self.rotation(view) @ c
        P0, P1 = (m * (v[0:3] + cross(v[3:6], r)) for v, r in ((before.v, r0), (view.v, r1)))
        return ca.diagcat(SX(3, 3), h * positive_part(r1, P1 - P0 - h * m * gravity))

    def carried(self, view: View, q0: SX, q1: SX, v1: SX, h: SX) -> SX:
        """The velocity of the centre of mass, and the angular momentum that was found, in the new orientation. Where a body
        turns so far in a step that this would feed its spin about a thin axis, I w1 = L + h L x w1 in its own axes: energy
        never grows by that."""
        c, inertia = view.field("com"), _turning(view)
        R0, R1 = rotation.matrix(q0[3:7]), rotation.matrix(q1[3:7])
        w, before = R0.T @ v1[3:6], R0.T @ view.v[3:6]
        L = inertia * w + h * cross(before, inertia * before)
        kept = (R1.T @ (R0 @ L)) / inertia
        far = h * h * ca.sumsqr(w) * (ca.mmax(inertia) - ca.mmin(inertia)) > FAR * ca.mmin(inertia)
        w1 = R1 @ (kept + far * (_calmed(inertia, L, h) - kept))
        return ca.vertcat(v1[0:3] + cross(v1[3:6] - w1, R1 @ c), w1)

    def inertia_across(self, view: View, r: SX) -> SX:
        """About the centre of mass, in the body's axes."""
        own, inertia = self.rotation(view).T @ r, view.field("inertia")
        return 0.5 * (ca.sum1(inertia) * ca.sumsqr(r) - ca.dot(inertia, own * own))

    def calmed(self, view: View, q0: SX, q1: SX, v1: SX, h: SX) -> SX:
        """As `carried`, by Euler's equations taken implicitly in the body's axes, whatever the turn."""
        c, R0, R1 = view.field("com"), rotation.matrix(q0[3:7]), rotation.matrix(q1[3:7])
        inertia = _turning(view)
        w1 = R1 @ _calmed(inertia, inertia * (R0.T @ v1[3:6]), h)
        return ca.vertcat(v1[0:3] + cross(v1[3:6] - w1, R1 @ c), w1)

    def turned_velocity(self, view: View, q0: SX, q1: SX) -> SX:
        c, R0, R1 = view.field("com"), rotation.matrix(q0[3:7]), rotation.matrix(q1[3:7])
        w = view.v[3:6]
        w1 = R1 @ (R0.T @ w)
        return ca.vertcat(view.v[0:3] + cross(w, R0 @ c) - cross(w1, R1 @ c), w1)

    def point(self, view: View, local: SX) -> Primitive:
        v, w = view.v[0:3], view.v[3:6]
        r = self.rotation(view) @ local
        return Primitive(view.q[0:3] + r, ca.horzcat(SX.eye(3), -skew(r)), v + cross(w, r), cross(w, cross(w, r)))

    def axis(self, view: View, local: SX) -> Primitive:
        w = view.v[3:6]
        d = self.rotation(view) @ local
        return Primitive(d, ca.horzcat(SX(3, 3), -skew(d)), cross(w, d), cross(w, cross(w, d)))

    def spin(self, view: View) -> Primitive:
        return Primitive(view.v[3:6], ca.horzcat(SX(3, 3), SX.eye(3)), SX(3, 1), SX(3, 1))

    def quaternion(self, view: View) -> Primitive:
        return carried_quaternion(view.q[3:7], self.spin(view))

    def read_pose(self, view: View) -> ReadPose:
        R, w, axes = self.rotation(view), view.v[3:6], matrix33(view.field("turn"))
        arm = R @ view.field("home")
        orientation = rotation.product(view.q[3:7], rotation.conjugate(rotation.quaternion(axes.T)))
        return ReadPose(view.q[0:3] + arm, orientation, view.v[0:3] + cross(w, arm), w, R @ axes)

    def read_acceleration(self, view: View, x: SX) -> tuple[SX, SX]:
        arm, w = self.rotation(view) @ view.field("home"), view.v[3:6]
        return x[0:3] + cross(x[3:6], arm) + cross(w, cross(w, arm)), x[3:6]

    def read_wrench(self, view: View, generalised: SX, at: SX) -> tuple[SX, SX]:
        return generalised[0:3], generalised[3:6] - cross(at - view.q[0:3], generalised[0:3])

    # -- numbers ---------------------------------------------------------------------------------------------
    def placement(self, bodies: Sequence[Any]) -> Placement:
        return RigidPlacement(bodies)

    def normalise(self, q: FloatArray) -> None:
        quaternions = q[:, 3:7]
        quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)

    def unturned(self, q: FloatArray) -> FloatArray:
        return np.array([*q[:3], 1, 0, 0, 0])

    def written(
        self, batch: Any, q: FloatArray, v: FloatArray, position: FloatArray, orientation: FloatArray, velocity: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        arm, spin = apply(matrices(orientation), batch.origin), velocity[:, 3:6]
        turned = product(orientation, quaternions(batch.axes))
        return np.hstack([position + arm, turned]), np.hstack([velocity[:, :3] + np.cross(spin, arm), spin])

    def poses(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> Poses:
        home, turn = constants
        found = Poses.blank(len(q))
        R, axes = matrices(q[:, 3:7]), turn.reshape(-1, 3, 3).transpose(0, 2, 1)
        arm = apply(R, home)
        found.orientation[:] = product(q[:, 3:7], quaternions(axes) * CONJUGATE)
        found.position[:], found.velocity[:] = q[:, :3] + arm, v[:, :3] + np.cross(v[:, 3:6], arm)
        found.angular_velocity[:], found.frame[:] = v[:, 3:6], R @ axes.transpose(0, 2, 1)
        return found

    def internal_frame(self, q: FloatArray, poses: Poses) -> tuple[FloatArray, FloatArray, FloatArray]:
        R = matrices(q[:, 3:7])
        return R, R, q[:, :3]

    def point_jacobian(self, q: FloatArray, pose: Poses, local: FloatArray, *constants: FloatArray) -> FloatArray:
        return np.hstack([np.eye(3), -skew_matrix(pose.position[0] + pose.frame[0] @ local - q[:3])])

    def from_users_velocity(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> tuple[FloatArray, FloatArray]:
        T, rate = super().from_users_velocity(q, v)
        arm = matrices(q[None, 3:7])[0] @ constants[0]
        T[:3, 3:6], rate[:3, 3:6] = skew_matrix(arm), skew_matrix(np.cross(v[3:6], arm))
        return T, rate

    def users_jacobian(self, J: FloatArray, pose: Poses, local: FloatArray) -> FloatArray:
        return np.hstack([np.eye(3), -skew_matrix(pose.frame[0] @ local)])

    def build_at(self, body: Any, pose: Pose) -> None:
        vars(body)["position"] = pose.position
        vars(body)["orientation"] = checks.quaternion(body, "orientation", pose.orientation)

    include_at = carried_over

    @property
    def contact(self) -> ContactParts:
        return ContactParts(ContactPose.RIGID, (0, 1, 2, 3, 4, 5))


def _turning(view: View) -> SX:
    """Moments of inertia for a free flight; a body without any keeps its spin, as a ball does."""
    inertia = view.field("inertia")
    return ca.if_else(inertia > 0, inertia, 1)


def _calmed(inertia: SX, L: SX, h: SX) -> SX:
    """w of (diag(I) - h [L]x) w = L: L.w falls unless it is kept, whatever the step."""
    pull, volume = inertia * L, inertia[0] * inertia[1] * inertia[2]
    return (volume / inertia * L + h * cross(pull, L) + h * h * ca.sumsqr(L) * L) / (volume + h * h * ca.dot(L, pull))


RIGID = Rigid._only()


def is_rigid(body: Any) -> bool:
    """Whether a body is one that joint coordinates and joint pivots take: it moves as one, and what moves it is known.

    >>> is_rigid(RigidBody(1.0, (1, 1, 1)))
    True
    """
    return kind_class(type(body)) is Rigid
