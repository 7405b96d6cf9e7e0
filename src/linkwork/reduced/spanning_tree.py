"""Which joints of a world make its tree, which close loops, and the links that follow, from the ground outwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.bodies.rigid import is_rigid
from linkwork.elements.core import checks
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.elements.core.registry import kind_type
from linkwork.elements.joints.free import FREE
from linkwork.errors import ModelError
from linkwork.model.massless import check_carrying
from linkwork.reduced import frames
from linkwork.reduced.frames import STILL, Pose, after, inverse

if TYPE_CHECKING:
    from linkwork.elements import RigidBody
    from linkwork.elements.core.element import Element
    from linkwork.util.array_types import FloatArray


ROOT = -1  # the parent of what stands on the ground or floats


@dataclass(frozen=True)
class LinkData:
    """One link: the bodies that move as one behind a joint."""

    kind: Mobilizer
    element: Any  # the joint, or the body that floats
    parent: int
    on_parent: Pose  # the joint's frame in the parent's
    beside: list[float]
    backwards: bool  # coordinates are in the other order than the kind's
    armature: FloatArray  # (nv,), kg m^2 or kg
    damping: FloatArray  # (nv,), N m s or N s/m


class SpanningTree:
    """Walks a world from the ground, then from each body that floats."""

    def __init__(self, world: Any, given: dict[str, dict[Any, Any]], loops: bool | None, wanted: set[Element]) -> None:
        self.world, self.given, self.loops, self.wanted = world, given, loops, wanted
        self.closing: set[Any] = set()
        self.rotors: dict[Any, list[Any]] = {}  # joint -> its armatures
        self.links: list[LinkData] = []
        self.starts: list[FloatArray] = []
        self.met: set[Any] = set()  # joints, and bodies that float
        self.home: dict[Any, tuple[int, Pose]] = {world.ground: (ROOT, STILL)}  # body -> its link, its frame there
        self._check()
        self.batches = frames.batches_of(world)
        self.joints: dict[Any, list[Any]] = {body: [] for body in (world.ground, *world.bodies)}
        for joint in self._candidates():
            self.joints[joint.a].append(joint)
            self.joints[joint.b].append(joint)

    def _check(self) -> None:
        check_carrying(self.world)
        if not self.world.bodies:
            raise ModelError("World: there is no body in it; add one, for example lw.RigidBody(1.0, (1, 1, 1))")
        for body in self.world.bodies:
            if not is_rigid(body):
                raise ModelError(f"{checks.label(body)}: joint coordinates are those of rigid bodies; give a RigidBody instead")
        for joint in self.world.constraints:
            if kind_type(joint).is_rotor:
                self.rotors.setdefault(joint.joint, []).append(joint)
            elif not isinstance(joint, Joint):
                self._leave_out(joint, "it has no joint coordinate")

    def _leave_out(self, constraint: Element, why: str) -> None:
        if not self.loops and not (self.loops is None and kind_type(constraint).couples_joints):
            others = 'solver="ltdl", or solver="tree", integrator="rattle"'
            raise ModelError(f"{checks.label(constraint)}: {why}; remove it, or simulate with {others}")
        self.closing.add(constraint)

    def _candidates(self) -> list[Any]:
        """Joints of the tree and those that close loops, in order of addition."""
        return [c for c in self.world.constraints if c not in self.closing and not kind_type(c).is_rotor]

    def walk(self) -> None:
        self._choose()
        self._branch(self.world.ground)
        for body in (*self._floating(), *self.world.bodies):
            if body not in self.home:
                U, x = frames.pose_of(body)
                start = np.concatenate([x, body.orientation])
                self._add(body, FREE, ROOT, STILL, STILL, body, [], start=start)
                self._branch(body)
        self.closing.update(rotor for joint, turned in self.rotors.items() if joint not in self.met for rotor in turned)
        for name, values in self.given.items():
            for element in values:
                if element not in self.met:
                    raise ModelError(
                        f"{checks.label(element)}: it is no joint and does not float, so it has no {name}; give a joint"
                    )

    def _choose(self) -> None:
        """Leave out what closes loops: of the joints around it the one that is met last, branch by branch, unless it is wanted
        in the tree."""
        named = {element for values in self.given.values() for element in values} | self.wanted
        pushed = {item for force in self.world.forces for _, _, item in force.references()}
        every = self._candidates()
        first = [joint for group in (named, self.rotors, pushed) for joint in every if joint in group]  # wanted, in this order
        met: set[Any] = set()
        last = [joint for body in self.joints for joint in self._met_first(body, met)]
        kept, part = set(), {body: body for body in self.joints}
        part |= dict.fromkeys(self._floating(), self.world.ground)  # as if each had a joint of six freedoms

        def root(body: Any) -> Any:
            while part[body] is not body:
                part[body] = body = part[part[body]]
            return body

        for joint in dict.fromkeys((*first, *last)):
            a, b = root(joint.a), root(joint.b)
            if a is not b:
                part[b] = a
                kept.add(joint)
        for joint in every:
            if joint not in kept:
                self._leave_out(joint, "it closes a loop, and joint coordinates are those of a tree")
        self.joints = {body: [joint for joint in joints if joint in kept] for body, joints in self.joints.items()}

    def _floating(self) -> list[Any]:
        """Bodies that are wanted with coordinates of their own."""
        return [body for body in self.world.bodies if body in self.wanted]

    def _met_first(self, start: Any, met: set[Any]) -> list[Any]:
        """Joints by which new bodies are met, branch by branch."""
        found, waiting = [], [(joint, start) for joint in reversed(self.joints[start])] if start not in met else []
        met.add(start)
        while waiting:
            joint, near = waiting.pop()
            far = joint.b if joint.a is near else joint.a
            if far not in met:
                met.add(far)
                found.append(joint)
                waiting += [(other, far) for other in reversed(self.joints[far]) if other is not joint]
        return found

    def _branch(self, start: Any) -> None:
        """Everything beyond a body, branch by branch."""
        waiting = [(joint, start) for joint in reversed(self.joints[start])]
        while waiting:
            joint, near = waiting.pop()
            far = joint.b if joint.a is near else joint.a
            self._join(joint, near, far)
            waiting += [(other, far) for other in reversed(self.joints[far]) if other is not joint]

    def _join(self, joint: Any, near: Any, far: Any) -> None:
        kind, (on_a, on_b) = kind_of_joint(joint), frames.joint_frames(joint, self.batches)
        on_near, on_far, mobilizer, swapped = on_a, on_b, kind.mobilizer, False
        if joint.a is far:
            on_near, on_far, seen = on_b, on_a, kind.mobilizer.reversed
            on_near, on_far = after(on_near, (seen.frame, np.zeros(3))), after(on_far, (seen.frame, np.zeros(3)))
            mobilizer, swapped = seen.mobilizer or mobilizer, seen.swapped
        link, pose = self.home[near]
        self._add(joint, mobilizer, link, after(pose, on_near), on_far, far, kind.constants(joint), swapped)

    def _add(self, element: Any, kind: Mobilizer, link: int, on_parent: Pose, on_child: Pose, body: Any, beside: list[float],
             swapped: bool = False, start: FloatArray | None = None) -> None:  # fmt: skip
        self.met.add(element)
        locked = [] if kind.nq == 0 else self._locked(element, kind)
        if locked is not None:
            q = locked[::-1] if swapped else locked
            self.home[body] = link, after(after(on_parent, frames.place(kind, q, beside)), inverse(on_child))
            return
        extra = [self._freedoms(element, kind, what) for what in ("armature", "damping")]
        self.links.append(LinkData(kind, element, link, on_parent, beside, swapped, *extra))
        self.starts.append(np.array(kind.neutral()) if start is None else start)
        self.home[body] = len(self.links) - 1, inverse(on_child)

    def _locked(self, element: Any, kind: Mobilizer) -> list[float] | None:
        value = self.given["lock"].get(element)
        if value is None:
            return None
        numbers = np.atleast_1d(np.asarray(value, dtype=float))
        if numbers.shape != (kind.nq,) or not np.isfinite(numbers).all():
            checks.fail(element, f"lock is {checks.show(value)}", f"give its {kind.nq} coordinate{'s' * (kind.nq > 1)}")
        for at in kind.quaternions:
            numbers[at] = checks.quaternion(element, "lock", numbers[at])
        return list(numbers)

    def _freedoms(self, element: Any, kind: Mobilizer, what: str) -> FloatArray:
        value = self.given[what].get(element, 0.0)
        numbers = np.asarray(value, dtype=float)
        if numbers.shape not in ((), (kind.nv,)) or not (np.isfinite(numbers) & (numbers >= 0)).all():
            one = "a number of at least 0" if kind.nv == 1 else f"one number of at least 0, or {kind.nv} of them"
            checks.fail(element, f"{what} is {checks.show(value)}", f"give {one}")
        turned = self.rotors.get(element, ()) if what == "armature" else ()
        return np.full(kind.nv, numbers) + sum(float(rotor.inertia) for rotor in turned)


def link_masses(bodies: list[tuple[RigidBody, int, Pose]], count: int) -> list[tuple[float, FloatArray, FloatArray]]:
    """Mass, centre, and inertia about the origin of each link, in its frame: of all bodies that move with it."""
    found = []
    members: list[list[tuple[Any, Pose]]] = [[] for _ in range(count)]
    for body, link, pose in bodies:
        if link != ROOT:
            members[link].append((body, pose))
    for group in members:
        parts = [(body.mass, x + Q @ body.com, Q @ body.inertia @ Q.T) for body, (Q, x) in group]
        mass = sum(m for m, _, _ in parts)
        centre = sum(m * c for m, c, _ in parts) / mass if mass > 0 else np.zeros(3)
        found.append((mass, centre, sum(I + m * _spread(c) for m, c, I in parts)))
    return found


def _spread(arm: FloatArray) -> FloatArray:
    """The inertia of a unit mass at `arm`."""
    return arm @ arm * np.eye(3) - np.outer(arm, arm)
