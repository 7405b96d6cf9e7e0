"""Body kinds joined to one another: constraints do not mind what they hold."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import AffineBody, Ball, Box, Distance, Ellipsoid, Hinge, Particle, PlanarBody, ScalableBody
from linkwork.scenes.layout import along, matrix, rod
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation


GRAVITY = 9.81  # m/s^2


def _scalable_facts(sim: Simulation, *, damping: float, **_: Any) -> list[Fact]:
    """All lie at the height zero as built, unstretched and at rest; damping takes energy away."""
    return [] if damping else [Fact("energy, J", float(sim.energy().total), 0.0, 0.005)]


@scene("scalable", seconds=3.0, facts=_scalable_facts)
def scalable(*, size: float = 0.3, mass: float = 0.5, stiffness: float = 60.0, damping: float = 0.0) -> World:
    """Soft bodies in a row, scalable, affine and rigid ones, hung at one end and let go from the horizontal.

    size m and mass kg of each; stiffness N m and damping N m s of the soft ones.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    pose = along((1, 0, 0))  # each body's z lies along the row
    soft: dict[str, Any] = {"stiffness": stiffness, "damping": damping}
    egg, brick = Ellipsoid(size / 2, size / 2, size), Box(size / 2, size / 2, size)
    ends = [np.array([k * size, 0, 0]) for k in range(5)]
    centres = [(a + b) / 2 for a, b in pairwise(ends)]
    row = [
        ScalableBody(mass=mass, shape=egg, position=centres[0], orientation=pose, name="jelly", **soft),
        AffineBody(mass=mass, shape=brick, position=centres[1], deformation=matrix(pose), name="rubber", **soft),
        rod(ends[2], ends[3], size / 8, mass, name="rod"),
        ScalableBody(mass=mass, shape=egg, position=centres[3], orientation=pose, name="drop", **soft),
    ]
    for k, body in enumerate(row):
        world.add(body)
        world.add(Ball(row[k - 1] if k else world.ground, body, at=ends[k], name=f"joint{k + 1}"))
    return world


def _mixed_facts(sim: Simulation, *, length: float, mass: float, thread: float) -> list[Fact]:
    """As built only the bob lies below the height zero, and all is at rest."""
    return [Fact("energy, J", float(sim.energy().total), -mass * GRAVITY * thread, 1e-3 * mass * GRAVITY * length)]


@scene("mixed", seconds=5.0, facts=_mixed_facts)
def mixed(*, length: float = 0.5, mass: float = 1.0, thread: float = 0.3) -> World:
    """A planar arm, a rigid rod on its end that swings out of the plane, and a particle on a thread.

    length m and mass kg of the arm and of the rod; thread m: how far the bob, of the same mass, hangs below.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    world.add(PlanarBody(mass=mass, shape=Box(length, 0.05, 0.05), position=(length / 2, 0, 0), name="arm"))
    elbow = np.array([length, 0.0, 0.0])
    tip = elbow + length * np.array([0.6, 0.8, 0.0])
    world.add(rod(elbow, tip, 0.02, mass, name="rod"))
    world.add(Particle(mass, position=tip - (0, 0, thread), name="bob"))
    world.add(Hinge(world.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(Ball("arm", "rod", at=elbow, name="elbow"))
    world.add(Distance("rod", "bob", thread, on_a=(0, 0, length / 2), name="thread"))
    return world
