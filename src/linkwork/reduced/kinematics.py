"""Where the bodies of a tree are, how they move, and what they weigh together. World's axes, SI units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from linkwork.elements.core import checks
from linkwork.reduced.run_on_states import run, the_tree
from linkwork.reduced.tree import Tree

if TYPE_CHECKING:
    from linkwork.elements.core.element import BodyLike
    from linkwork.util.array_types import FloatArray, Numbers, Vector


class Poses(NamedTuple):
    """Of all bodies, in order of addition; for arrays of states with one more axis in front."""

    position: FloatArray  # (bodies, 3), m
    rotation: FloatArray  # (bodies, 3, 3): from the body's axes to the world's


def forward_kinematics(tree: Tree, q: Numbers, *, out: FloatArray | None = None) -> Poses:
    """Position and rotation of every body. `out` (bodies, 12) takes both: the position, then the rotation row by row.

    >>> import linkwork as lw, numpy as np
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> tree = lw.reduced.compile(world)
    >>> lw.reduced.forward_kinematics(tree, [np.pi / 2]).position.round(12)
    array([[0., 1., 0.]])
    """
    found = run(tree, ("poses",), ("q",), (q,), out)
    return Poses(found[..., 0:3], found[..., 3:12].reshape(*found.shape[:-1], 3, 3))


def velocities(tree: Tree, q: Numbers, qd: Numbers, *, out: FloatArray | None = None) -> FloatArray:
    """Of every body (bodies, 6): the velocity of its reference point, then its angular velocity.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> lw.reduced.velocities(lw.reduced.compile(world), [0.0], [2.0]).round(12)
    array([[0., 2., 0., 0., 0., 2.]])
    """
    return run(tree, ("velocities",), ("q", "qd"), (q, qd), out)


def jacobian(
    tree: Tree, q: Numbers, body: BodyLike, point: Vector = (0.0, 0.0, 0.0), *, out: FloatArray | None = None
) -> FloatArray:
    """(6, nv): the velocity of a point of a body (in its frame), then the body's angular velocity, by qd.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> lw.reduced.jacobian(lw.reduced.compile(world), [0.0], bar, (1, 0, 0))[[1, 5], 0].round(12)
    array([2., 1.])
    """
    return run(tree, _probing(tree, body, point, False), ("q",), (q,), out)


def jacobian_rate(
    tree: Tree, q: Numbers, qd: Numbers, body: BodyLike, point: Vector = (0.0, 0.0, 0.0), *, out: FloatArray | None = None
) -> FloatArray:
    """(6, nv): the time derivative of `jacobian`. The point's acceleration is J qdd + J' qd.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> lw.reduced.jacobian_rate(lw.reduced.compile(world), [0.0], [3.0], bar)[:, 0].round(12)
    array([-3.,  0.,  0.,  0.,  0.,  0.])
    """
    return run(tree, _probing(tree, body, point, True), ("q", "qd"), (q, qd), out)


def _probing(tree: Tree, body: BodyLike, point: Vector, rate: bool) -> tuple[Any, ...]:
    """The program for a body, its point put in place."""
    number = the_tree(tree).body(body)
    element, link, (Q, o) = tree.bodies[number]
    key = ("jacobian", link, rate)
    tree.schedules.get(key).fix(tree.schedules.layout.probe, o + Q @ checks.vector(element, "point", point))
    return key


def centre_of_mass(tree: Tree, q: Numbers, *, out: FloatArray | None = None) -> FloatArray:
    """(3,), of all bodies that move.

    >>> import linkwork as lw
    >>> tree = lw.reduced.compile(lw.scenes.get("double-pendulum"))
    >>> lw.reduced.centre_of_mass(tree, lw.reduced.neutral(tree)).shape
    (3,)
    """
    return run(tree, ("sums", ("h",), False), ("q",), (q,), out)


def centroidal_momentum(tree: Tree, q: Numbers, qd: Numbers, *, out: FloatArray | None = None) -> FloatArray:
    """(6,): momentum, then angular momentum about the centre of mass, of all bodies that move.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> stone = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1)))
    >>> tree = lw.reduced.compile(world)
    >>> lw.reduced.centroidal_momentum(tree, lw.reduced.neutral(tree), [1, 0, 0, 0, 0, 5]).round(12)
    array([2. , 0. , 0. , 0. , 0. , 0.5])
    """
    return run(tree, ("sums", ("P", "L"), True), ("q", "qd"), (q, qd), out)


def centroidal_momentum_matrix(tree: Tree, q: Numbers, *, out: FloatArray | None = None) -> FloatArray:
    """A, (6, nv): the centroidal momentum is A qd.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> stone = world.add(lw.RigidBody(2.0, (0.1, 0.2, 0.3)))
    >>> tree = lw.reduced.compile(world)
    >>> lw.reduced.centroidal_momentum_matrix(tree, lw.reduced.neutral(tree)).diagonal().round(12)
    array([2. , 2. , 2. , 0.1, 0.2, 0.3])
    """
    return run(tree, ("momentum",), ("q",), (q,), out)


def energy(tree: Tree, q: Numbers, qd: Numbers, *, out: FloatArray | None = None) -> FloatArray:
    """(2,): kinetic energy (of armatures, too), then potential energy (zero at the world's origin), J.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> stone = world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), position=(0, 0, 3)))
    >>> tree = lw.reduced.compile(world)
    >>> lw.reduced.energy(tree, lw.reduced.neutral(tree), [1, 0, 0, 0, 0, 0]).round(12)
    array([ 1., 60.])
    """
    return run(tree, ("sums", ("kinetic", "potential"), True), ("q", "qd"), (q, qd), out)
