"""A plant that sways in the wind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements import Ball, Ellipsoid, Force, Hinge, JointSpring, RigidBody
from linkwork.scenes import winds
from linkwork.scenes.layout import along, compose, rod, rotate, turn
from linkwork.scenes.registry import scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.elements.core.element import Body
    from linkwork.util.array_types import FloatArray


GRAVITY, WOOD = 9.81, 600.0  # m/s^2, kg/m^3
GOLDEN = math.pi * (3 - math.sqrt(5))  # rad: from one branch to the next, around the stem
LENGTHS, RADII = 0.72, 0.6  # of a branch to its parent's
LEAF, LEAF_MASS = Ellipsoid(0.06, 0.008, 0.13), 0.002  # m and kg
LEAF_STIFFNESS, LEAF_DAMPING = 0.02, 0.001  # N m/rad, N m s


def _count(depth: int, branches: int) -> float:
    """Twigs, as many leaves, and about as many thicker branches at most."""
    found: float = 3.0 * min(branches ** min(depth - 1, 64), 10**30)
    return found


@scene("plant", dt=0.01, seconds=6.0, bodies=_count, solver="implicit")
def plant(
    *,
    depth: int = 4,
    branches: int = 3,
    length: float = 0.5,
    radius: float = 0.015,
    spread: float = 0.6,
    stiffness: float = 40.0,
    damping: float = 0.02,
    wind: float = 5.0,
) -> World:
    """A plant of branches on stiff ball joints, with a hinged leaf at the end of each twig, in a gusty wind.

    depth: how often it branches, the stem included; branches at each place; length m and radius m of the stem; spread
    (rad) between a branch and its parent; stiffness N m/rad of the stem's joint, of others as their radius to the fourth
    power over their length; damping s: that of a joint over its stiffness; wind m/s.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    shoots: list[tuple[Body, FloatArray, FloatArray]] = [
        (world.ground, np.zeros(3), along((0, 0, 1)))
    ]  # what it grows on, where, and which way
    for level in range(depth):
        long, thick = length * LENGTHS**level, radius * RADII**level
        hold = stiffness * RADII ** (4 * level) / LENGTHS**level
        blow = winds.force(lambda body, t, area=2 * thick * long: winds.drag(wind, area, body, t))
        springs = {"stiffness": hold, "damping": damping * hold}
        grown = [_grow(world, shoot, f"{level + 1}.{k + 1}", long, thick, springs) for k, shoot in enumerate(shoots)]
        world.add([Force(branch, blow, name=f"wind-{branch.name}") for branch, _, _ in grown])
        shoots = [(b, end, compose(pose, _part(k, branches, spread))) for b, end, pose in grown for k in range(branches)]
    _add_leaves(world, grown, wind)
    return world


def _part(k: int, branches: int, spread: float) -> FloatArray:
    """The turn from a branch to the k-th of those that grow on it; the last one of several goes on almost straight."""
    out = spread / 3 if branches > 1 and k == branches - 1 else spread
    return compose(turn((0, 0, 1), 2 * math.pi * k / max(branches - 1, 1) + GOLDEN), turn((1, 0, 0), out))


def _grow(
    world: World, shoot: tuple[Body, FloatArray, FloatArray], name: str, length: float, radius: float, springs: dict[str, float]
) -> tuple[RigidBody, FloatArray, FloatArray]:
    """A branch, its far end and the way it points."""
    parent, place, pose = shoot
    end = place + rotate(pose, (0, 0, length))
    branch = rod(place, end, radius, WOOD * math.pi * radius**2 * length, name=f"branch{name}")
    joint = Ball(parent, branch, at=place, name=f"joint{name}")
    world.add([branch, joint, JointSpring(joint, **springs, name=f"spring{name}")])
    return branch, end, pose


def _add_leaves(world: World, twigs: list[tuple[RigidBody, FloatArray, FloatArray]], wind: float) -> None:
    blow = winds.force(lambda body, t: winds.drag(wind, 0.7 * LEAF.x * LEAF.z, body, t))
    for number, (twig, end, pose) in enumerate(twigs, start=1):
        pose = compose(pose, turn((1, 0, 0), 0.5))
        place = end + rotate(pose, (0, 0, LEAF.z / 2))
        leaf = RigidBody(mass=LEAF_MASS, shape=LEAF, position=place, orientation=pose, name=f"leaf{number}")
        stalk = Hinge(twig, leaf, at=end, axis=rotate(pose, (1, 0, 0)), name=f"stalk{number}")
        spring = JointSpring(stalk, LEAF_STIFFNESS, LEAF_DAMPING, name=f"stalk-spring{number}")
        world.add([leaf, stalk, spring, Force(leaf, blow, name=f"wind-{leaf.name}")])
