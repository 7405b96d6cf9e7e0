"""Refined accelerations are as good as those of an elimination with pivoting, at any ratio of masses."""

import numpy as np
import pytest

import linkwork as lw


def heavy_tip(ratio, n=40):
    """A crooked chain of balls at rest, its last link `ratio` times as heavy."""
    rng, world = np.random.default_rng(1), lw.World()
    before, end = world.ground, np.zeros(3)
    for k in range(n):
        step = rng.normal(size=3)
        start, end = end, end + 0.1 * step / np.linalg.norm(step)
        mass = 0.1 * (ratio if k == n - 1 else 1.0)
        inertia = mass * 1e-3 * np.array([1.0, 1.2, 1.1])
        link = world.add(lw.RigidBody(mass, inertia, position=(start + end) / 2, name=f"link{k}"))
        world.add(lw.Ball(before, link, at=start))
        before = link
    return world


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("solver", ["tree", "fronts"])
def test_a_heavy_tip_costs_no_digits(ratio, solver):
    world = heavy_tip(ratio)
    found, reference = (lw.Simulation(world, solver=name) for name in (solver, "dense"))
    for body in world.bodies:
        np.testing.assert_allclose(found.acceleration(body), reference.acceleration(body), rtol=0, atol=1e-10)
    for joint in world.constraints:
        np.testing.assert_allclose(found.reaction(joint).force, reference.reaction(joint).force, rtol=1e-11, atol=1e-11)
