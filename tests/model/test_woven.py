"""Forces between bodies that are no neighbours: the order keeps the fill low, and results do not depend on it."""

import numpy as np
import pytest

import linkwork as lw


def ladder(n, stiffness=1e3):
    """Two hanging chains with a spring between every two links of the same height."""
    world = lw.World(gravity=(0, 0, -9.81))
    sides = []
    for side in range(2):
        above, links = world.ground, []
        for i in range(n):
            place, middle = (0.1 * i, 0.2 * side, 0), (0.1 * i + 0.05, 0.2 * side, 0)
            link = world.add(lw.RigidBody(0.1, shape=lw.Box(0.1, 0.02, 0.02), position=middle, name=f"{side}-{i}"))
            world.add(lw.Ball(above, link, at=place))
            links.append(link)
            above = link
        sides.append(links)
    world.add([lw.Spring(a, b, stiffness, on_a=(0, 0, 0.01), damping=0.1) for a, b in zip(*sides, strict=True)])
    return world


def braid(n):
    """One chain with a spring from every link to the one after the next."""
    world = lw.World(gravity=(0, 0, -9.81))
    above, links = world.ground, []
    for i in range(n):
        links.append(
            world.add(lw.RigidBody(0.1, shape=lw.Box(0.1, 0.02, 0.02), position=(0.1 * i + 0.05, 0, 0), name=f"0-{i}"))
        )
        world.add(lw.Ball(above, links[-1], at=(0.1 * i, 0, 0)))
        above = links[-1]
    world.add([lw.Spring(a, b, 50.0, on_a=(0, 0, 0.02)) for a, b in zip(links, links[2:], strict=False)])
    return world


@pytest.mark.parametrize("build", [ladder, braid])
def test_the_fill_does_not_grow_with_the_length(build):
    few, many = (lw.Simulation(build(n), dt=1 / 60, solver="implicit", iterations=1).model.summary() for n in (6, 40))
    assert many["neighbours"] == few["neighbours"] <= 4


@pytest.mark.parametrize("build", [ladder, braid])
@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
def test_implicit_steps_agree_with_small_explicit_ones(build, tangent):
    world = build(4)
    small = lw.Simulation(world, dt=1e-4)
    small.step(500)
    errors = []
    for steps in (10, 20):
        sim = lw.Simulation(world, dt=0.05 / steps, solver="implicit", tangent=tangent)
        sim.step(steps)
        assert sim.drift() < 1e-9
        errors.append(np.linalg.norm(sim.position("0-3") - small.position("0-3")))
    assert errors[1] < 0.6 * errors[0]
