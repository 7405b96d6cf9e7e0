"""Now: what sensors in Python may ask a simulation for. All that a Simulation can be asked, by the same names, and what follows
here: axes, what a joint transmits, what touches, rays, the motion of several bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.collision.rays import NONE, Ray, against, reach_of
from linkwork.contact.contact_build import model_com
from linkwork.elements.core.element import Body, ContactElement
from linkwork.elements.core.frame import Frame
from linkwork.elements.core.joint import Joint
from linkwork.elements.core.placement import matrices
from linkwork.elements.core.registry import kind_for

if TYPE_CHECKING:
    from linkwork.elements.core.element import Element
    from linkwork.elements.core.frame import FrameLike
    from linkwork.elements.core.shape import Shape
    from linkwork.simulation.query import Query
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray


class Touch(NamedTuple):
    """A contact as one side feels it: where (3,), m, the normal into that side (3,), and the force on it (3,), N."""

    point: FloatArray
    normal: FloatArray
    force: FloatArray


class Seen(NamedTuple):
    """A shape that rays meet."""

    ray: Ray
    body: Body
    position: FloatArray  # (3,), m, in the frame of the body
    axes: FloatArray  # (3, 3), in the frame of the body
    reach: float  # m


def _axes(q: FloatArray) -> FloatArray:
    found: FloatArray = matrices(np.asarray(q, dtype=float)[None])[0]
    return found


class Now:
    """A simulation at this moment, as sensors see it."""

    def __init__(self, system: System, query: Query) -> None:
        self.system, self.query = system, query
        self._inside: dict[int, list[Element]] = {}  # by the identity of a joint: what acts in it
        self._seen: list[Seen] | None = None
        self._zones: dict[int, Ray] = {}  # by the identity of a shape
        self._touches: tuple[int, list[Any]] = (-1, [])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.query, name)

    @property
    def time(self) -> float:
        """Seconds."""
        return self.system.time

    def rotation(self, frame: FrameLike) -> FloatArray:
        """(3, 3): the axes of a body or frame in the world."""
        return np.eye(3) if _still(frame) else self.query.rotation(frame)

    def position(self, frame: FrameLike) -> FloatArray:
        """(3,), m: the origin of a body or frame."""
        return np.zeros(3) if _still(frame) else self.query.position(frame)

    @staticmethod
    def arm(at: FloatArray, about: FloatArray, force: FloatArray) -> FloatArray:
        """The torque about a point of a force that acts at another one."""
        return crossed(at - about, force)

    # -- joints ----------------------------------------------------------------------------------------------------------
    def transmitted(self, joint: Joint, body: Body) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Force and torque about a point, and that point, that a joint and all that acts in it put on one of its bodies. Of
        what acts in other joints too, as a gear does, those on the bodies beyond count with it."""
        side = body if body.dim else next(b for b in (joint.a, joint.b) if b is not body)
        assert isinstance(side, Body)
        reaction = self.query.reaction(joint, side)
        force, torque, at = reaction.force.copy(), reaction.torque.copy(), reaction.at
        for element in self._in(joint):
            for one in self._beyond(element, joint, side):
                load = self._load(element, one)
                force += load[0]
                torque += load[1] + self.arm(load[2], at, load[0])
        return (force, torque, at) if side is body else (-force, -torque, at)

    def _in(self, joint: Joint) -> list[Element]:
        """What acts in a joint, and is in force."""
        if (found := self._inside.get(id(joint))) is None:
            world = self.system.active_world
            found = self._inside[id(joint)] = [
                element
                for element in (*world.constraints, *world.forces, *world.contacts)
                if element is not joint and any(one is joint for one in joints_of(element))
            ]
        return found

    @staticmethod
    def _beyond(element: Element, joint: Joint, side: Body) -> list[Body]:
        """The body on this side of a joint, and those that other joints of the element hang on it."""
        found, others = [side], [other for other in joints_of(element) if other is not joint]
        for body in found:  # which grows
            for other in others:
                ends = [end for end in (other.a, other.b) if isinstance(end, Body)]
                if body in ends:
                    found += [end for end in ends if end.dim and end not in found]
        return found

    def _load(self, element: Element, body: Body) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Force, torque and where, of something on a body."""
        if isinstance(element, ContactElement) and self.system.contact is None:
            return np.zeros(3), np.zeros(3), np.zeros(3)
        if element.sort == "force":
            return self.query.force(element, body)
        return self.query.reaction(element, body)[:3]

    # -- contact ---------------------------------------------------------------------------------------------------------
    def touching(self, on: Element, by: Element | None = None) -> Iterator[Touch]:
        """Contacts of the last step on a body or Collider, with another one if `by` says so."""
        for point in self._contacts():
            for side, sign in ((1, 1.0), (0, -1.0)):
                if _is(point, side, on) and (by is None or _is(point, 1 - side, by)):
                    yield Touch(point.point, sign * point.normal, sign * point.force)

    def _contacts(self) -> list[Any]:
        count = self.system.validity.count
        if self._touches[0] != count:
            self._touches = count, [] if self.system.contact is None else list(self.query.contacts())
        return self._touches[1]

    # -- rays ------------------------------------------------------------------------------------------------------------
    def meets(self, zone: Shape, frame: FrameLike, point: FloatArray, direction: FloatArray) -> bool:
        """Whether a ray from a point meets a shape that is where a frame is."""
        R = self.rotation(frame)
        if (ray := self._zones.get(id(zone))) is None:
            ray = self._zones[id(zone)] = against(zone)
        return ray(R.T @ (point - self.position(frame)), R.T @ direction) < NONE

    def first_met(self, origin: FloatArray, direction: FloatArray, without: Body | None = None) -> float:
        """How far it is (m) along a unit direction to the first shape that can be touched, of no body that is left out;
        infinite without one."""
        if self._seen is None:
            self._seen = list(_seen(self.system))
        nearest: float = NONE
        known: dict[int, tuple[FloatArray, FloatArray]] = {}
        for one in self._seen:
            if one.body is without:
                continue
            if (pose := known.get(id(one.body))) is None:
                pose = known[id(one.body)] = self.position(one.body), self.rotation(one.body)
            away = origin - pose[0] - pose[1] @ one.position
            ahead = -float(away @ direction)  # where along the ray its middle is nearest
            if ahead < -one.reach or ahead - one.reach > nearest or away @ away - ahead * ahead > one.reach**2 + 1e-12:
                continue
            R = pose[1] @ one.axes
            nearest = min(nearest, one.ray(R.T @ away, R.T @ direction))
        return nearest

    # -- several bodies --------------------------------------------------------------------------------------------------
    def angular_momentum(self, bodies: Sequence[Any]) -> FloatArray:
        """(3,), N m s: that of rigid bodies and particles about their centre of mass."""
        total, first, linear, angular = 0.0, np.zeros(3), np.zeros(3), np.zeros(3)
        for body in bodies:
            pose = self.query.pose(body)
            arm = pose.frame @ model_com(body)
            place, velocity = pose.position + arm, pose.velocity + crossed(pose.angular_velocity, arm)
            total += body.mass
            first += body.mass * place
            linear += body.mass * velocity
            angular += body.mass * crossed(place, velocity)
            if getattr(body, "inertia", None) is not None:
                angular += pose.frame @ (body.inertia @ (pose.frame.T @ pose.angular_velocity))
        found: FloatArray = angular - crossed(first, linear) / total
        return found


def crossed(a: FloatArray, b: FloatArray) -> FloatArray:
    """The cross product of two vectors: numpy's takes ten times as long."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


def joints_of(element: Element) -> list[Joint]:
    """The joints that an element speaks of, by itself or through others, as a motor does through its tendon."""
    found: list[Joint] = []
    for _, _, other in element.references():
        if isinstance(other, Joint):
            found.append(other)
        elif not isinstance(other, Body | Frame):
            found += joints_of(other)
    return found


def _still(frame: Any) -> bool:
    return getattr(frame, "dim", None) == 0


def _is(point: Any, side: int, element: Element) -> bool:
    """Whether one side of a contact is a body, or a Collider."""
    return point.bodies[side] is element or point.colliders[side] is element


def _seen(system: System) -> Iterator[Seen]:
    """All shapes that can be touched."""
    world = system.active_world
    for body in world.bodies:
        shape = getattr(body, "shape", None)
        if shape is not None:
            yield Seen(against(shape), body, model_com(body), np.eye(3), reach_of(shape))
    colliders: list[Any] = [one for one in world.contacts if one.touched]
    for one in colliders:
        if one.body.dim == 0 or kind_for(one.body).framed:
            yield Seen(against(one.shape), one.body, one.position, _axes(one.orientation), reach_of(one.shape))
