"""What every kind of body offers: the layout of its record, its mathematics as expressions, and its numbers.

A kind gives its mass block, its inertial force, how velocity moves its coordinates, and primitives (`symbolic/views.py`).
Velocities are world-frame: a rigid body's are (velocity of its origin, angular velocity).

What mechanics needs is abstract: `mass`, `weight`, `point`, `placement`, `build_at`. What a flag promises must be there too:
`directions` asks for `axis`, `spin` and `quaternion`, `elastic` for `elasticity`, `collapses` for `volume`, `turns` for
`unresolved`. `kind_of` refuses a kind that lacks any of it. What is read of a body (poses, accelerations, forces) is derived
from its primitives, unless a kind has a shorter way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import casadi as ca
import numpy as np
from casadi import SX

from linkwork.codegen.trace import Record
from linkwork.elements.core.body_functions import SymbolicBody, about, evaluated
from linkwork.elements.core.contact_parts import ContactParts
from linkwork.elements.core.element import Body, Pose
from linkwork.elements.core.placement import Placement, Poses, matrices
from linkwork.elements.core.registry import outside_digest
from linkwork.elements.core.units import Quantity
from linkwork.symbolic.blocks import triangle_size
from linkwork.symbolic.views import Primitive, ReadPose, Unsupported, View, upright

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray


class BodyKind(ABC):
    """One instance stands for all bodies of one name."""

    name: str  # never changed: states are saved by it
    nq: int
    nv: int
    record: Record
    constants: tuple[str, ...] = ()  # fields of the record besides q and v that `point` and the other primitives read
    directions = True  # has lines, normals and axes
    framed = True  # a local point p is at position + frame @ p; else each point has a function of its own
    is_a_point = False  # has no other points than its position
    stretches = False  # its frame is no rotation
    elastic = False  # has forces of its own that depend on its configuration
    collapses = False  # `volume` may vanish
    turns = False  # has an orientation, and `unresolved`
    implicit_drift = False  # its mass depends on its configuration: free drifts are found by iteration
    may_be_flat = False  # some rows of constraints may not feel it
    tells_wrench = False  # a generalised force is a force and a torque, which `read_wrench` gives
    counts_turns = True  # its quaternion keeps its sign where the body turns on and on
    generalised = False  # points moved by coordinates of its own, which a user reads; they may come to where they move no mass
    posed = False  # any position goes with any orientation: commands can place it as a whole
    movable_origin = False  # the compiler chooses where its origin is (`RigidPlacement.place`)
    users_function = False  # its expressions are a user's: they may give what is not finite
    turning = slice(0, 0)  # velocity components in rad/s
    PROMISES: ClassVar[dict[str, tuple[str, ...]]] = {
        "directions": ("axis", "spin", "quaternion"), "elastic": ("elasticity",), "collapses": ("volume",),
        "turns": ("unresolved",), "tells_wrench": ("read_wrench",), "generalised": ("coordinates", "rank_left")}  # fmt: skip

    @classmethod
    @cache
    def _only(cls) -> Self:
        return cls()

    @classmethod
    def of(cls, body: Any) -> BodyKind:
        """The instance that a body belongs to; kinds with a parameter of their own have several."""
        return cls._only()

    @cached_property
    def key(self) -> str:
        """Of kernels that are kept on disk: the name, and for a kind from outside the digest of its file."""
        return self.name + outside_digest(type(self))

    def layout(self, derived: int, reported: dict[str, int] | None = None, **parameters: int) -> Record:
        """What every step touches: coordinates, velocity, derived pose, parameters, the front (D, b, x). Cold: a step's
        beginning, end and middle, what only reports need, and what a front that is not symmetric has above its diagonal."""
        cold = {"v0": self.nv, "q1": self.nq, "v1": self.nv, "qm": self.nq, "vm": self.nv, **(reported or {}),
                "upper": triangle_size(self.nv - 1)}  # fmt: skip
        front = {"D": triangle_size(self.nv), "b": self.nv, "x": self.nv}
        return Record(cold, q=self.nq, v=self.nv, R=derived, **parameters, **front)

    # -- kinematics ------------------------------------------------------------------------------------------
    def pose(self, q: SX) -> SX:
        """What is derived from q once and kept (field R), as a column."""
        return SX(0, 1)

    def pose_rate(self, view: View, v: SX) -> SX:
        """The derivative of the pose for a motion with velocity v."""
        return SX(0, 1)

    def rate(self, q: SX, v: SX) -> SX:
        """dq/dt."""
        return v

    def moved(self, q: SX, step: SX) -> SX:
        """q after the motion `step` = velocity times time."""
        return q + step

    def normalised(self, q: SX) -> SX:
        """q back on its manifold."""
        return q

    def volume(self, view: View) -> SX:
        """What must stay positive, or the body has collapsed."""
        raise NotImplementedError

    # -- dynamics --------------------------------------------------------------------------------------------
    @abstractmethod
    def mass(self, view: View) -> SX:
        """The mass block (nv, nv)."""

    def inertial(self, view: View) -> SX:
        """The force -M'v ... that the motion itself asks for."""
        return SX(self.nv, 1)

    @abstractmethod
    def weight(self, view: View, gravity: SX) -> SX:
        """Gravity and elastic forces."""

    def elasticity(self, view: View) -> tuple[SX, SX]:
        """How elastic forces answer, -df/dq and -df/dv: symmetric, positive semidefinite."""
        raise NotImplementedError

    def kinetic(self, view: View) -> SX:
        return 0.5 * ca.bilin(self.mass(view), view.v, view.v)

    def potential(self, view: View, gravity: SX) -> SX:
        return -view.field("mass") * ca.dot(gravity, view.point(SX.zeros(3)).value)

    # -- integration ---------------------------------------------------------------------------------------
    def euler(self, view: View, acceleration: SX, h: SX) -> tuple[SX, SX]:
        """(q, v) after one semi-implicit Euler step."""
        v = view.v + h * acceleration
        return self.moved(view.q, h * v), v

    def drift(self, view: View, v: SX, h: SX) -> tuple[SX, SX]:
        """(q, v) after the free flight of duration h that starts with velocity v: exact where v stays constant."""
        return self.moved(view.q, h * v), v

    def unresolved(self, view: View, v: SX, h: SX) -> SX:
        """Of a kind that `turns`, after `drift`: whether that goes further than it is good for."""
        raise NotImplementedError

    def displaced(self, view: View, q: SX, step: SX) -> SX:
        """q after a displacement; `velocity_between` finds the velocity of such a one."""
        return q + step

    def velocity_between(self, view: View, q0: SX, q1: SX, h: SX) -> SX:
        """The velocity with which q1 was reached from q0 in h."""
        return (q1 - q0) / h

    def velocity_after(self, view: View, q0: SX, q1: SX, x: SX, h: SX) -> SX:
        """The same for a body that was displaced by h x."""
        return self.velocity_between(view, q0, q1, h)

    def momentum_change(self, view: View, before: View, h: SX) -> SX:
        """What the step from `before` to `view` asks of the forces: M(q1) v1 less what the start had."""
        return self.mass(view) @ (view.v - before.v) - h * self.inertial(view)

    def momentum(self, view: View, h: SX) -> SX:
        """What a body brings into a step of length h: M v, and its inertial force where that is kept apart."""
        return self.mass(view) @ view.v + h * self.inertial(view)

    def restoring(self, view: View, before: View, gravity: SX, h: SX) -> SX | None:
        """What the turning of the body under its impulses adds to the symmetric tangent; None: nothing."""
        return None

    def carried(self, view: View, q0: SX, q1: SX, v1: SX, h: SX) -> SX:
        """The velocity at q1 of a body that was found to move with v1 as seen from q0."""
        return v1

    def inertia_across(self, view: View, r: SX) -> SX:
        """The mean moment of inertia about axes across r, times |r|^2."""
        spin = view.spin().jacobian
        inertia = spin @ self.mass(view) @ spin.T
        return 0.5 * (ca.trace(inertia) * ca.sumsqr(r) - ca.bilin(inertia, r, r))

    def momentum_alone(self, view: View) -> SX:
        """What a body brings into a firm step: no more kinetic energy than it has."""
        return self.mass(view) @ view.v

    def calmed(self, view: View, q0: SX, q1: SX, v1: SX, h: SX) -> SX:
        """As `carried`, and kinetic energy does not grow."""
        return self.carried(view, q0, q1, v1, h)

    def turned_velocity(self, view: View, q0: SX, q1: SX) -> SX:
        """The velocity of a body that was put from q0 to q1 in no time: its kinetic energy and linear momentum are kept."""
        return view.v

    def rank_left(self, body: Any, fields: Mapping[str, FloatArray]) -> float:
        """Of a `generalised` body whose record has these fields: its mass matrix's least eigenvalue, by its masses as built."""
        raise NotImplementedError

    # -- what users read -------------------------------------------------------------------------------------
    @property
    def read_names(self) -> tuple[Quantity, ...]:
        """What its coordinates q are ..."""
        return tuple(Quantity(f"coordinate {k}", "") for k in range(self.nq))

    @property
    def read_rates(self) -> tuple[Quantity, ...]:
        """... and its velocities v."""
        return tuple(Quantity(f"velocity {k}", "") for k in range(self.nv))

    def read_pose(self, view: View) -> ReadPose:
        """Where the body is and how it moves, as users see it."""
        origin = self.point(view, SX.zeros(3))
        if not self.directions:
            return upright(origin.value, origin.rate)
        frame = ca.horzcat(*[self.line(view, SX.eye(3)[:, k]).value for k in range(3)])
        return ReadPose(origin.value, self.quaternion(view).value, origin.rate, self.spin(view).value, frame)

    def read_acceleration(self, view: View, x: SX) -> tuple[SX, SX]:
        """Of the body's `position` (3,), and angular (3,; zero where it has none), from its accelerations x (nv,)."""
        origin = self.point(view, SX.zeros(3))
        linear = origin.jacobian @ x + origin.bias
        if not self.directions:
            return linear, SX.zeros(3)
        spin = self.spin(view)
        return linear, spin.jacobian @ x + spin.bias

    def read_wrench(self, view: View, generalised: SX, at: SX) -> tuple[SX, SX]:
        """Of a kind that `tells_wrench`: a generalised force (nv,) as force and torque about the point `at` of the world."""
        raise NotImplementedError

    # -- primitives ------------------------------------------------------------------------------------------
    def _no_direction(self) -> Any:
        raise Unsupported(f"a {self.name} has no directions")

    def line(self, view: View, local: SX) -> Primitive:
        return self.axis(view, local)

    def normal(self, view: View, local: SX) -> Primitive:
        return self.axis(view, local)

    def axis(self, view: View, local: SX) -> Primitive:
        self._no_direction()
        raise AssertionError

    def spin(self, view: View) -> Primitive:
        self._no_direction()
        raise AssertionError

    def quaternion(self, view: View) -> Primitive:
        self._no_direction()
        raise AssertionError

    def coordinates(self, view: View) -> Primitive:
        """The coordinates themselves, of a kind whose velocity is their rate."""
        raise Unsupported(f"a {self.name} has no generalised coordinates")

    @abstractmethod
    def point(self, view: View, local: SX) -> Primitive: ...

    # -- numbers ---------------------------------------------------------------------------------------------
    @abstractmethod
    def placement(self, bodies: Sequence[Any]) -> Placement:
        """Bodies of this kind as built."""

    @abstractmethod
    def build_at(self, body: Any, pose: Pose) -> None:
        """Build a body elsewhere: change its fields."""

    def include_at(self, body: Any, move: Any) -> str | None:
        """Move the fields of a body with a part of a world; or say why that cannot be."""
        return "nothing is known of how it could be moved"

    @property
    def contact(self) -> ContactParts | None:
        """None: contact refuses bodies of this kind."""
        return None

    def followed(self, point: FloatArray) -> FloatArray:
        """The point of the world that its position can reach, instead of the one given."""
        return point

    def unknown_point(self, local: FloatArray) -> str | None:
        """How to name a point of the body, if none is called so."""
        return None

    def normalise(self, q: FloatArray) -> None:
        """Coordinates (k, nq) back on their manifold, in place."""
        if type(self).normalised is not BodyKind.normalised:
            q[:] = self._normalised(q.T).full().T

    def unturned(self, q: FloatArray) -> FloatArray:
        """Coordinates (nq,) of the same place with no turn and no deformation."""
        return q.copy()

    def probes(self, body: Any) -> list[FloatArray]:
        """Points of a body, as many as tell how all of them move."""
        return [np.zeros(3), *([] if self.is_a_point else np.eye(3))]

    def located(self, q: FloatArray, v: FloatArray, local: FloatArray, *constants: FloatArray) -> list[FloatArray]:
        """Value (k, 3), jacobian (k, 3, nv), rate (k, 3) and bias (k, 3) of points of k bodies, or of k states of one."""
        return evaluated(self._point, len(q), q, v, local, *constants)

    def poses(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> Poses:
        """Poses in users' frames from coordinates and velocities (k, nq), (k, nv) and the kind's constants."""
        found = Poses.blank(len(q))
        found.position[:], _, found.velocity[:], _ = self.located(q, v, np.zeros((len(q), 3)), *constants)
        if self.directions:
            turned, spin, _, _, *lines = evaluated(self._turn, len(q), q, v, *constants)
            found.orientation[:], found.angular_velocity[:] = turned, spin
            found.frame[:] = np.stack(lines, axis=2)
        return found

    def internal_frame(self, q: FloatArray, poses: Poses) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Axes (k, 3, 3), deformations (k, 3, 3) and origins (k, 3) of the internal frame."""
        return matrices(poses.orientation), poses.frame, poses.position

    def written(self, batch: Placement, q: FloatArray, v: FloatArray, position: FloatArray, orientation: FloatArray,
                velocity: FloatArray) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Coordinates and velocities (k, nq), (k, nv) of bodies that are put where these say, as near as their kind can be:
        position (k, 3), unit quaternions (k, 4), linear and angular velocity (k, 6). q and v: what they were."""
        batch.put([Pose(*pose) for pose in zip(position, orientation, matrices(orientation), strict=True)])
        start = batch.start()
        given = start["q"], np.zeros_like(v), *(start[name] for name in self.constants)
        J = self.located(*given[:2], np.zeros((len(q), 3)), *given[2:])[1]
        if self.directions:
            J = np.concatenate([J, evaluated(self._turn, len(q), *given)[2]], axis=1)
        return start["q"], np.stack([np.linalg.lstsq(A, u[: len(A)], rcond=None)[0] for A, u in zip(J, velocity, strict=True)])

    def point_jacobian(self, q: FloatArray, pose: Poses, local: FloatArray, *constants: FloatArray) -> FloatArray:
        """(3, nv): the velocity of a point of the user's frame by the body's velocity components."""
        given = [x[None] for x in (q, np.zeros(self.nv), np.asarray(local, dtype=float), *constants)]
        found: FloatArray = self.located(*given)[1][0]
        return found

    def spin_jacobian(self, q: FloatArray, *constants: FloatArray) -> FloatArray:
        """(3, nv): the angular velocity by the body's velocity components, of a kind with directions."""
        found: FloatArray = evaluated(self._turn, 1, *(x[None] for x in (q, np.zeros(self.nv), *constants)))[2][0]
        return found

    def from_users_velocity(self, q: FloatArray, v: FloatArray, *constants: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T and dT/dt (nv, nv): the velocity components are T times those that a user knows."""
        return np.eye(self.nv), np.zeros((self.nv, self.nv))

    def users_jacobian(self, J: FloatArray, pose: Poses, local: FloatArray) -> FloatArray:
        """That matrix by the velocity components that a user knows."""
        return J

    def wrench(
        self, q: FloatArray, generalised: FloatArray, at: FloatArray, *constants: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """A generalised force as (force, torque about the world point `at`): the least pair that does the same, the torque
        about axes about which the body can turn."""
        given = [y[None] for y in (q, np.zeros(self.nv), *constants)]
        place, J, _, _ = self.located(*given[:2], np.zeros((1, 3)), *given[2:])
        if not self.directions:
            return about(at, np.linalg.lstsq(J[0].T, generalised, rcond=None)[0], np.zeros(3), at)
        _, _, S, _, *_ = evaluated(self._turn, 1, *given)
        both = np.linalg.lstsq(np.hstack([J[0].T, S[0].T]), generalised, rcond=None)[0]
        force, torque = about(at, both[:3], both[3:], place[0])
        return force, S[0] @ np.linalg.lstsq(S[0], torque, rcond=None)[0]

    # -- primitives as functions of numbers --------------------------------------------------------------------
    def _symbols(self) -> tuple[SymbolicBody, list[SX]]:
        view = SymbolicBody(self)
        return view, [view.q, view.v, *(view.known[name] for name in self.constants)]

    @cached_property
    def _point(self) -> ca.Function:
        view, (q, v, *constants) = self._symbols()
        local = SX.sym("local", 3)
        found = self.point(view, local)
        values = [found.value, found.jacobian, found.rate, found.bias]
        return ca.Function("point", [q, v, local, *constants], [ca.densify(SX(x)) for x in values])

    @cached_property
    def _turn(self) -> ca.Function:
        """Quaternion, spin, its Jacobian and bias, and the three axes as lines."""
        view, given = self._symbols()
        spin, lines = self.spin(view), [self.line(view, SX.eye(3)[:, k]).value for k in range(3)]
        values = [self.quaternion(view).value, spin.value, spin.jacobian, spin.bias, *lines]
        return ca.Function("turn", given, [ca.densify(SX(x)) for x in values])

    @cached_property
    def _normalised(self) -> ca.Function:
        q = SX.sym("q", self.nq)
        return ca.Function("normalised", [q], [ca.densify(self.normalised(q))])


def carried_over(self: BodyKind, body: Body, move: Any) -> None:
    """`include_at` of kinds that may be put anywhere: positions, velocities, orientation and deformation move along."""
    turned = ("velocity", "angular_velocity", "deformation", "deformation_rate")
    changes = {"position": move.point, "orientation": move.orientation, **dict.fromkeys(turned, move.direction)}
    for name, change in changes.items():
        if vars(body).get(name) is not None:
            vars(body)[name] = change(vars(body)[name])
