"""World -> Tree: a forest of rigid bodies in joint coordinates, numbered regularly (parents come first)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import RigidBody
from linkwork.elements.core import checks
from linkwork.elements.core.frame import Frame
from linkwork.elements.core.mobilizer import Mobilizer
from linkwork.elements.core.placement import matrices
from linkwork.errors import ModelError, Note
from linkwork.reduced.frames import Pose, after
from linkwork.reduced.operation_lists import TreeSchedules
from linkwork.reduced.parent_array import expanded
from linkwork.reduced.spanning_tree import ROOT, LinkData, SpanningTree, link_masses
from linkwork.reduced.tree_layout import order

if TYPE_CHECKING:
    from linkwork.elements.core.element import BodyLike, ElementLike
    from linkwork.elements.core.frame import FrameLike
    from linkwork.elements.core.joint import JointLike
    from linkwork.model.active_world import ActiveWorld
    from linkwork.util.array_types import FloatArray, IntArray
    from linkwork.world import World


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
    spanning = SpanningTree(world, given, options["loops"], {world.find(joint) for joint in options["keep"]})
    spanning.walk()
    if options["loops"] is None and spanning.closing:
        names = checks.labels([c for c in world.constraints if c in spanning.closing])
        warnings.warn(f"lw.reduced.compile: its coordinates leave {names} aside; loops=True says that this is meant, and lock= "
                      "fixes a joint", Note, stacklevel=3)  # fmt: skip
    links = spanning.links
    sizes_q, sizes_v = ([0, *(getattr(link.kind, n) for link in links)] for n in ("nq", "nv"))
    parent = np.array([link.parent for link in links], dtype=np.int64)
    bodies = [(body, *spanning.home[body]) for body in world.bodies]
    tree = Tree(
        world, options, np.array(world.gravity), links, parent, np.cumsum(sizes_q), np.cumsum(sizes_v),
        expanded(parent, sizes_v[1:]), bodies, link_masses(bodies, len(links)), np.concatenate([[], *spanning.starts]),
        [c for c in world.constraints if c in spanning.closing],
    )  # fmt: skip
    return tree


def _by_element(world: Any, values: Mapping[ElementLike, Any]) -> dict[Any, Any]:
    return {world.find(key): value for key, value in values.items()}
