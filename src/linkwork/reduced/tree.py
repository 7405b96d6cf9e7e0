"""World -> Tree: a forest of rigid bodies in joint coordinates, numbered regularly (parents come first)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import RigidBody
from linkwork.elements.bodies.rigid import is_rigid
from linkwork.elements.core import checks
from linkwork.elements.core.frame import Frame
from linkwork.elements.core.joint import Joint, kind_of_joint
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.elements.core.placement import matrices
from linkwork.elements.core.registry import kind_type
from linkwork.elements.joints.free import FREE
from linkwork.errors import ModelError, Note
from linkwork.model.massless import check_carrying
from linkwork.reduced import frames
from linkwork.reduced.frames import STILL, Pose, after, inverse
from linkwork.reduced.operation_lists import TreeSchedules
from linkwork.reduced.parent_array import expanded
from linkwork.reduced.tree_layout import order

if TYPE_CHECKING:
    from linkwork.elements.core.element import BodyLike, Element, ElementLike
    from linkwork.elements.core.frame import FrameLike
    from linkwork.elements.core.joint import JointLike
    from linkwork.model.active_world import ActiveWorld
    from linkwork.util.array_types import FloatArray, IntArray
    from linkwork.world import World


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


@dataclass(frozen=True, eq=False)
class Tree:
    """A mechanism in joint coordinates, frozen: arrays, and the programs that run on them.

    Links are numbered so that a parent comes before its children, along each branch in turn; `parent[i]` is that of link i, -1
    for the ground. The paper (featherstone05) numbers bodies from 1 with 0 for the root: its parent array is ours plus one.
    `expanded_parents` (nv,) is the parent array with each joint of several freedoms as a chain of joints of one: the
    sparsity of H. One thread at a time may work with a tree: it holds the workspace.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    >>> shoulder = world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    >>> drone = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 0, 5), name="drone"))
    >>> tree = lw.reduced.compile(world)
    >>> tree
    <Tree: 2 links, nq 8, nv 7>
    >>> tree.parent.tolist(), tree.expanded_parents.tolist()
    ([-1, -1], [-1, -1, 1, 2, 3, 4, 5])
    >>> tree.coordinates("shoulder"), tree.velocities("drone")
    (slice(0, 1, None), slice(1, 7, None))
    """

    world: World | ActiveWorld
    options: dict[str, Any]  # as given to `compile`
    gravity: FloatArray  # (3,), m/s^2
    links: list[LinkData]
    parent: IntArray  # (n,)
    q_at: IntArray  # (n + 1,): where the coordinates of link i begin; the last is nq
    v_at: IntArray  # (n + 1,): its velocities
    expanded_parents: IntArray  # (nv,)
    bodies: list[tuple[RigidBody, int, Pose]]  # in order of addition: body, its link (-1: fixed to the ground), its frame there
    masses: list[tuple[float, FloatArray, FloatArray]]  # of each link: kg, centre (3,), inertia about its origin (3, 3)
    start: FloatArray  # (nq,): the configuration as built
    closing: list[Any]  # constraints that the tree leaves out: those that close loops, or have no joint coordinate
    schedules: TreeSchedules = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schedules", TreeSchedules(self))

    def __repr__(self) -> str:
        count = len(self.links)
        return f"<Tree: {count} link{'' if count == 1 else 's'}, nq {self.nq}, nv {self.nv}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _compiled, (self.world, self.options)

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return int(self.q_at[-1])

    @property
    def nv(self) -> int:
        """The number of freedoms."""
        return int(self.v_at[-1])

    @cached_property
    def pattern(self) -> IntArray:
        """(2, m): rows and columns of H that can differ from zero, of its lower triangle: joint by joint, the block with itself
        and then those with the joints before it, upwards."""
        rows, columns = [], []
        for i in range(len(self.links)):
            j = i
            while j >= 0:
                n, m = (np.arange(self.v_at[k], self.v_at[k + 1])[order(self.links[k])] for k in (i, j))
                block = [(a, b) for k, a in enumerate(n) for b in (n[: k + 1] if i == j else m)]
                rows += [max(pair) for pair in block]
                columns += [min(pair) for pair in block]
                j = self.links[j].parent
        return np.array([rows, columns], dtype=np.int64).reshape(2, -1)

    def coordinates(self, joint: JointLike | BodyLike) -> slice:
        """Where the coordinates of a joint (of a floating body) stand in q."""
        i = self._link(joint)
        return slice(int(self.q_at[i]), int(self.q_at[i + 1]))

    def velocities(self, joint: JointLike | BodyLike) -> slice:
        """Where its velocities stand in qd, its forces in tau."""
        i = self._link(joint)
        return slice(int(self.v_at[i]), int(self.v_at[i + 1]))

    def kind(self, joint: JointLike | BodyLike) -> Mobilizer:
        """What its coordinates are: their freedoms, with units."""
        return self.links[self._link(joint)].kind

    def body(self, body: BodyLike) -> int:
        """The number of a body in arrays with a row for each."""
        found = self.world.find(body)
        for number, (other, _, _) in enumerate(self.bodies):
            if other is found:
                return number
        raise ModelError(f"{checks.label(found)}: it is no body of this tree; give a body that was there when it was compiled")

    def placed(self, frame: FrameLike) -> tuple[Frame | RigidBody, int, Pose]:
        """A frame, or the own frame of a body: the element, its link (-1: fixed to the ground), and where it is in the frame of
        that link: axes Q (3, 3) and origin (3, m)."""
        found = self.world.find(frame)
        if not isinstance(found, Frame):
            return self.bodies[self.body(found)]
        here = matrices(found.orientation[None])[0], found.position
        if found.body is self.world.ground:
            return found, ROOT, here
        _, link, pose = self.bodies[self.body(found.body)]
        return found, link, after(pose, here)

    def _link(self, joint: ElementLike) -> int:
        found = self.world.find(joint)
        for number, link in enumerate(self.links):
            if link.element is found:
                return number
        raise ModelError(
            f"{checks.label(found)}: it has no coordinate in this tree; give a joint that is neither a weld nor locked"
        )


def compile(world: World | ActiveWorld, *, lock: Mapping[JointLike, Any] | None = None,
            armature: Mapping[JointLike, float] | None = None, damping: Mapping[JointLike, float] | None = None,
            loops: bool | None = None, keep: Iterable[ElementLike] = ()) -> Tree:  # fmt: skip
    """A world of rigid bodies and joints in joint coordinates.

    A body that no joints connect with the ground floats (of several connected ones, the first). `lock` fixes joints, or
    floating bodies, at coordinates; `armature` (rotor inertia, added to the diagonal of H, as that of the world's Armatures is)
    and `damping` (a force -damping qd) are by joint, one number or one for each freedom. Forces of the world other than gravity
    are left out: give them as tau, or as wrenches.

    A world that is no tree is refused, unless `loops` asks for a spanning tree of it: constraints that close loops, and those
    that have no joint coordinate, are left out and stand in `Tree.closing`, with the Armatures of such joints. Where a loop
    leaves the choice, joints stay in the tree that `keep` or another option names, then those that turn rotors, then those at
    which a force acts; bodies that `keep` names float. Gears, which are mimic joints of robots, are left out with a Note,
    unless `loops` is False.

    >>> import linkwork as lw
    >>> tree = lw.reduced.compile(lw.scenes.get("double-pendulum"))
    >>> tree.nq, tree.nv
    (2, 2)
    >>> tree = lw.reduced.compile(lw.scenes.get("slider-crank"), loops=True)
    >>> tree.nv, len(tree.closing)
    (3, 1)
    """
    for name, given in (("lock", lock), ("armature", armature), ("damping", damping)):
        if given is not None and not isinstance(given, Mapping):
            raise ModelError(
                f"lw.reduced.compile: {name} is {checks.show(given)}; give numbers by joint, such as {{joint: 0.1}}"
            )
    if not hasattr(world, "constraints"):
        raise ModelError(f"lw.reduced.compile: world is {checks.show(world)}; give a World")
    options = {
        "lock": dict(lock or {}),
        "armature": dict(armature or {}),
        "damping": dict(damping or {}),
        "loops": None if loops is None else checks.flag("lw.reduced.compile", "loops", loops),
        "keep": tuple(checks.several("lw.reduced.compile", "keep", keep, "joints")),
    }
    return _compiled(world, options)


def _compiled(world: Any, options: dict[str, Any]) -> Tree:
    getattr(world, "whole", world)._use()
    given = {name: _by_element(world, options[name]) for name in ("lock", "armature", "damping")}
    builder = _Builder(world, given, options["loops"], {world.find(joint) for joint in options["keep"]})
    builder.walk()
    if options["loops"] is None and builder.closing:
        names = checks.labels([c for c in world.constraints if c in builder.closing])
        warnings.warn(f"lw.reduced.compile: its coordinates leave {names} aside; loops=True says that this is meant, and lock= "
                      "fixes a joint", Note, stacklevel=3)  # fmt: skip
    links = builder.links
    sizes_q, sizes_v = ([0, *(getattr(link.kind, n) for link in links)] for n in ("nq", "nv"))
    parent = np.array([link.parent for link in links], dtype=np.int64)
    bodies = [(body, *builder.home[body]) for body in world.bodies]
    tree = Tree(
        world, options, np.array(world.gravity), links, parent, np.cumsum(sizes_q), np.cumsum(sizes_v),
        expanded(parent, sizes_v[1:]), bodies, _masses(bodies, len(links)), np.concatenate([[], *builder.starts]),
        [c for c in world.constraints if c in builder.closing],
    )  # fmt: skip
    return tree


def _by_element(world: Any, values: Mapping[ElementLike, Any]) -> dict[Any, Any]:
    return {world.find(key): value for key, value in values.items()}


class _Builder:
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


def _masses(bodies: list[tuple[RigidBody, int, Pose]], count: int) -> list[tuple[float, FloatArray, FloatArray]]:
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
