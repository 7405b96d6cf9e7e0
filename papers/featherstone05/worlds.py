"""The paper's mechanisms as worlds: rigid bodies on hinges, general geometry and inertias, a base that floats."""

import numpy as np

import linkwork as lw

LENGTH = 0.2  # m, from a joint to the next


def world(tree, seed=0):
    """A World whose joint tree is `tree`: hinges, and six freedoms for a body that floats."""
    rng = np.random.default_rng(seed)
    made = lw.World(gravity=(0, 0, -9.81))
    bodies, ends = [], []
    for i, (parent, freedoms) in enumerate(zip(tree.parents, tree.freedoms, strict=True)):
        start = ends[parent] if parent >= 0 else np.zeros(3)
        step = rng.normal(size=3)
        end = start + LENGTH * step / np.linalg.norm(step)
        box = lw.Box(*rng.uniform(0.05, 0.2, 3))
        body = made.add(lw.RigidBody(rng.uniform(1, 5), shape=box, position=tuple((start + end) / 2), name=f"body{i}"))
        if freedoms == 1:
            axis = rng.normal(size=3)
            held = bodies[parent] if parent >= 0 else made.ground
            made.add(lw.Hinge(held, body, at=tuple(start), axis=tuple(axis / np.linalg.norm(axis)), name=f"joint{i}"))
        bodies.append(body)
        ends.append(end)
    return made
