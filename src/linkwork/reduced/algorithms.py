"""The dynamics of a tree in joint coordinates: H qdd + C = tau.

q (nq,), qd, qdd and tau (nv,): SI units, in the order of the tree's joints (`tree.coordinates`, `tree.velocities`). Every
function takes one state, or arrays of states with one a row; the numbers are the same to the last bit. `wrenches` (bodies, 6)
are forces and torques on the bodies from outside: in the world's axes, torques about the bodies' reference points, bodies in
order of addition. `out=` takes the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import ElementError
from linkwork.reduced.run_on_states import numbers_in, run, the_tree
from linkwork.reduced.tree import Tree

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, Numbers


def rnea(
    tree: Tree, q: Numbers, qd: Numbers, qdd: Numbers, *, wrenches: Numbers | None = None, out: FloatArray | None = None
) -> FloatArray:
    """tau = H qdd + C, (nv,): the recursive Newton-Euler algorithm.

    Outwards each link's acceleration, and the force f that it takes; inwards tau = S^T f, and f goes to the parent. With
    qdd = 0 it is the bias C(q, qd), with qd = 0 too the joint forces that hold the tree up.

    >>> import linkwork as lw, numpy as np
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, -1, 0)))
    >>> tree = lw.reduced.compile(world)
    >>> lw.reduced.rnea(tree, [0.0], [0.0], [0.0]).round(12)
    array([5.])
    """
    if wrenches is None:
        return run(tree, ("rnea", False), ("q", "qd", "qdd"), (q, qd, qdd), out)
    together = _side_by_side("qdd", qdd, wrenches, len(the_tree(tree).bodies))
    return run(tree, ("rnea", True), ("q", "qd", "qdd with wrenches"), (q, qd, together), out)


def aba(
    tree: Tree, q: Numbers, qd: Numbers, tau: Numbers, *, wrenches: Numbers | None = None, out: FloatArray | None = None
) -> FloatArray:
    """qdd = H^-1 (tau - C), (nv,): the articulated-body algorithm, in time linear in the number of links.

    Outwards velocities; inwards the articulated inertias I^A and bias forces p^A; outwards qdd.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.15, 0.1), position=(0.5, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, -1, 0)))
    >>> tree = lw.reduced.compile(world)
    >>> lw.reduced.aba(tree, [[0.0], [0.0]], [[0.0], [1.0]], [[5.0], [9.0]]).round(12)
    array([[ 0.],
           [10.]])
    """
    if wrenches is None:
        return run(tree, ("aba", False), ("q", "qd", "tau"), (q, qd, tau), out)
    together = _side_by_side("tau", tau, wrenches, len(the_tree(tree).bodies))
    return run(tree, ("aba", True), ("q", "qd", "tau with wrenches"), (q, qd, together), out)


def crba(tree: Tree, q: Numbers, *, packed: bool = False, out: FloatArray | None = None) -> FloatArray:
    """H, (nv, nv): the composite-rigid-body algorithm. Only what can differ from zero is computed: H_ij with j = i or an
    ancestor of i in `tree.expanded_parents`.

    `packed`: those of the lower triangle alone, in the order of `tree.pattern`.

    >>> import linkwork as lw
    >>> tree = lw.reduced.compile(lw.scenes.get("double-pendulum"))
    >>> lw.reduced.crba(tree, [0.0, 0.0]).shape, lw.reduced.crba(tree, [0.0, 0.0], packed=True).shape
    ((2, 2), (3,))
    """
    if packed is not True and packed is not False:
        checks.flag("crba", "packed", packed)
    return run(tree, ("crba", packed), ("q",), (q,), out)


def gravity_torques(tree: Tree, q: Numbers, *, out: FloatArray | None = None) -> FloatArray:
    """tau, (nv,), that holds the tree up against gravity: `rnea` at rest, at a third of its cost.

    >>> import linkwork as lw
    >>> world = lw.World(gravity=(0, 0, -10))
    >>> bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0)))
    >>> axle = world.add(lw.Hinge(world.ground, bar, at=(0, 0, 0), axis=(0, -1, 0)))
    >>> lw.reduced.gravity_torques(lw.reduced.compile(world), [0.0]).round(12)
    array([5.])
    """
    return run(tree, ("gravity",), ("q",), (q,), out)


def _side_by_side(name: str, x: Numbers, wrenches: Numbers, bodies: int) -> FloatArray:
    """One input of both, for one state or for each of an array."""
    x, loads = numbers_in(name, x), numbers_in("wrenches", wrenches)
    if loads.shape[-2:] != (bodies, 6):
        raise ElementError(f"wrenches have the shape {loads.shape}; give ({bodies}, 6), or that with the states in front")
    loads = loads.reshape(*loads.shape[:-2], -1)
    try:
        front = np.broadcast_shapes(loads.shape[:-1], x.shape[:-1])
    except ValueError:
        raise ElementError(f"wrenches are of {loads.shape[0]} states, {name} of {x.shape[0]}; give as many of both") from None
    return np.concatenate([np.broadcast_to(part, (*front, part.shape[-1])) for part in (x, loads)], axis=-1)
