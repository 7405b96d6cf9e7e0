"""Between joint coordinates and maximal ones: positions, orientations and velocities of all bodies, in order of addition."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.elements.core.placement import quaternions
from linkwork.errors import ElementError
from linkwork.reduced.kinematics import forward_kinematics, velocities
from linkwork.reduced.run_on_states import numbers_in, run, the_tree
from linkwork.reduced.tree import Tree

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, Numbers


class Bodies(NamedTuple):
    """Maximal coordinates, as a Simulation tells them; for arrays of states with one more axis in front."""

    position: FloatArray  # (bodies, 3), m
    orientation: FloatArray  # (bodies, 4): unit quaternions w, x, y, z
    velocity: FloatArray  # (bodies, 6), m/s and rad/s: of the reference point, angular; world's axes


class State(NamedTuple):
    """Joint coordinates and velocities."""

    q: FloatArray  # (nq,)
    qd: FloatArray  # (nv,)


def to_bodies(tree: Tree, q: Numbers, qd: Numbers | None = None) -> Bodies:
    """Where the bodies are and how they move. Without qd they are at rest.

    >>> import linkwork as lw
    >>> world = lw.World()
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> lw.reduced.to_bodies(lw.reduced.compile(world), [0.0], [3.0]).velocity.round(12)
    array([[0., 3., 0., 0., 0., 3.]])
    """
    poses = forward_kinematics(tree, q)
    speeds = np.zeros((*poses.position.shape[:-1], 6)) if qd is None else velocities(tree, q, qd)
    turns = quaternions(poses.rotation.reshape(-1, 3, 3)).reshape(*poses.position.shape[:-1], 4)
    return Bodies(poses.position, turns, speeds)


def from_bodies(tree: Tree, position: Numbers, orientation: Numbers, velocity: Numbers | None = None) -> State:
    """Joint coordinates of bodies that are where the joints allow: angles from -pi to pi, but that of a screw, whose travel
    counts the turns. What violates the joints is left out.

    >>> import linkwork as lw
    >>> tree = lw.reduced.compile(lw.scenes.get("double-pendulum"))
    >>> there = lw.reduced.to_bodies(tree, [0.3, -0.5], [1.0, 2.0])
    >>> q, qd = lw.reduced.from_bodies(tree, *there)
    >>> q.round(12), qd.round(12)
    (array([ 0.3, -0.5]), array([1., 2.]))
    """
    the_tree(tree)
    x, turn = numbers_in("position", position), numbers_in("orientation", orientation)
    v = np.zeros((*x.shape[:-1], 6)) if velocity is None else numbers_in("velocity", velocity)
    for name, given, size in (("position", x, 3), ("orientation", turn, 4), ("velocity", v, 6)):
        if given.shape != (*x.shape[:-2], len(tree.bodies), size):
            wanted = f"({len(tree.bodies)}, {size})"
            raise ElementError(
                f"{name} has the shape {checks.show(given.shape)}; give {wanted}, or that with the states in front"
            )
    together = np.concatenate([x, turn, v], axis=-1)
    found = run(tree, ("recover",), ("bodies",), (together.reshape(*together.shape[:-2], -1),), None)
    return State(found[..., : tree.nq], found[..., tree.nq :])
