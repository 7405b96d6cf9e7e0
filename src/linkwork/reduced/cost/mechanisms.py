"""Worlds with a given joint tree, of general geometry and inertias: what algorithms are timed and compared on."""

from __future__ import annotations

import numpy as np

from linkwork.elements import Ball, Box, Hinge, RigidBody, Universal, Weld
from linkwork.errors import ArrayError
from linkwork.reduced.cost.counts import freedoms_of, parents_of
from linkwork.world import World

LENGTH = 0.2  # m, from a joint to the next
JOINTS = {0: "weld", 1: "hinge", 2: "universal", 3: "ball", 6: "nothing, at the ground: the body floats"}


def mechanism(parents, freedoms=None, seed: int = 0) -> World:
    """A world whose joint tree this is: bodies "body0", ... on joints "joint0", ... with so many freedoms; hinges unless told.

    >>> world = mechanism([-1, 0, 0], [6, 1, 3])
    >>> [type(joint).__name__ for joint in world.constraints]
    ['Hinge', 'Ball']
    """
    rng, world = np.random.default_rng(seed), World(gravity=(0, 0, -9.81))
    bodies: list[RigidBody] = []
    ends: list[np.ndarray] = []
    for i, (parent, n) in enumerate(zip(parents_of(parents, freedoms), freedoms_of(parents, freedoms), strict=True)):
        start = ends[parent] if parent >= 0 else np.zeros(3)
        end = start + LENGTH * _direction(rng)
        box, place = Box(*rng.uniform(0.05, 0.2, 3)), tuple((start + end) / 2)
        bodies.append(world.add(RigidBody(rng.uniform(1, 5), shape=box, position=place, name=f"body{i}")))
        ends.append(end)
        joint = _joint(int(n), bodies[parent] if parent >= 0 else world.ground, bodies[i], start, f"joint{i}", rng)
        if joint is not None:
            world.add(joint)
    return world


def _direction(rng) -> np.ndarray:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def _joint(freedoms: int, a, b, at, name: str, rng):
    """None for a body that floats."""
    place, axis = tuple(at), _direction(rng)
    across = np.cross(axis, _direction(rng))
    if freedoms == 1:
        return Hinge(a, b, at=place, axis=tuple(axis), name=name)
    if freedoms == 2:
        return Universal(a, b, at=place, first=tuple(axis), second=tuple(across / np.linalg.norm(across)), name=name)
    if freedoms == 3:
        return Ball(a, b, at=place, name=name)
    if freedoms == 0:
        return Weld(a, b, name=name)
    if freedoms == 6 and not isinstance(a, RigidBody):
        return None
    known = "; ".join(f"{n}: {what}" for n, what in JOINTS.items())
    raise ArrayError(f'freedoms: "{name}" has {freedoms}, for which there is no joint here; give one of {known}')
