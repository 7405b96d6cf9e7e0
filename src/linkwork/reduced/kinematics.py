"""Where the bodies of a tree are, how they move, and what they weigh together. World's axes, SI units."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from linkwork.elements.core.frame import ALIGNED
from linkwork.reduced.frame_places import ORIGIN
from linkwork.reduced.run_on_states import frame_places, run, run_program, schedules_of
from linkwork.reduced.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linkwork.elements.core.frame import FrameLike
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
    program = schedules_of(tree).get(("poses",))
    found = run_program(program, ("q",), (q,), out)
    array, known = program.last
    if found is array and isinstance(known, Poses):
        return known
    poses = Poses(found[..., 0:3], found[..., 3:12].reshape(*found.shape[:-1], 3, 3))
    if found is out:
        program.last = found, poses
    return poses


def frame_names(tree: Tree) -> tuple[str, ...]:
    """What `frame_poses` is of: all bodies of the tree, then all frames of its world.

    >>> import linkwork as lw
    >>> world = lw.scenes.get("double-pendulum")
    >>> tip = world.add(lw.Frame(world.bodies[-1], position=(0, 0, -0.5), name="tip"))
    >>> lw.reduced.frame_names(lw.reduced.compile(world))[-1]
    'tip'
    """
    return frame_places(tree).names


def frame_poses(
    tree: Tree, q: Numbers, frames: Iterable[FrameLike] | FrameLike | None = None, *, out: FloatArray | None = None
) -> Poses:
    """Position and rotation of bodies and frames, in the order in which they are named; of all without names.
    `out` (frames, 12) takes both, as that of `forward_kinematics` does.

    >>> import linkwork as lw, numpy as np
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> tool = world.add(lw.Frame(bar, position=(1, 0, 0), name="tool"))
    >>> lw.reduced.frame_poses(lw.reduced.compile(world), [np.pi / 2], "tool").position.round(12)
    array([[0., 2., 0.]])
    """
    return forward_kinematics(frame_places(tree).several(frames), q, out=out)


def frame_twists(
    tree: Tree, q: Numbers, qd: Numbers, frames: Iterable[FrameLike] | FrameLike | None = None, *, out: FloatArray | None = None
) -> FloatArray:
    """(frames, 6): the velocity of their origins and their angular velocity, in the world's axes; frames as in `frame_poses`.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> tool = world.add(lw.Frame(bar, position=(1, 0, 0), name="tool"))
    >>> lw.reduced.frame_twists(lw.reduced.compile(world), [0.0], [2.0], ["tool"]).round(12)
    array([[0., 4., 0., 0., 0., 2.]])
    """
    return velocities(frame_places(tree).several(frames), q, qd, out=out)


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
    tree: Tree, q: Numbers, frame: FrameLike, point: Vector = ORIGIN, axes: str = ALIGNED, *, out: FloatArray | None = None
) -> FloatArray:
    """(6, nv): the velocity of a body or frame and its angular velocity, by qd. Of its origin, or of a point in its axes.

    `axes` says how they are told: in the world's axes ("aligned"), in its own ("local"), or in the world's axes of the point
    that it would carry along at the world's origin ("world"), as `sim.frame_jacobian` does.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> tool = world.add(lw.Frame(bar, position=(1, 0, 0), name="tool"))
    >>> tree = lw.reduced.compile(world)
    >>> lw.reduced.jacobian(tree, [0.0], "tool")[[1, 5], 0].round(12)
    array([2., 1.])
    >>> lw.reduced.jacobian(tree, [0.0], bar, (1, 0, 0))[[1, 5], 0].round(12)
    array([2., 1.])
    """
    program, place = frame_places(tree).jacobian(frame, point, axes, False)
    return run_program(program, ("q", "point"), (q, place), out)


def jacobian_rate(
    tree: Tree, q: Numbers, qd: Numbers, frame: FrameLike, point: Vector = ORIGIN, *, out: FloatArray | None = None
) -> FloatArray:
    """(6, nv): the time derivative of `jacobian` in the world's axes. The point's acceleration is J qdd + J' qd.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> lw.reduced.jacobian_rate(lw.reduced.compile(world), [0.0], [3.0], bar)[:, 0].round(12)
    array([-3.,  0.,  0.,  0.,  0.,  0.])
    """
    program, place = frame_places(tree).jacobian(frame, point, ALIGNED, True)
    return run_program(program, ("q", "qd", "point"), (q, qd, place), out)


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
