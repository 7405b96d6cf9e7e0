"""Mechanisms with more joints than they need run for long: what no row can meet does not add up."""

import numpy as np

import linkwork as lw


def three_parallel_cranks():
    """A bar on three cranks of the same length: two would hold it."""
    world, length, angle = lw.World(), 0.5, 0.7
    tilted = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    up = length * np.array([np.sin(angle), 0, np.cos(angle)])
    feet = [np.array([x, 0, 0]) for x in (0.0, 0.5, 1.1)]
    bar = lw.RigidBody(2.0, shape=lw.Box(1.1, 0.05, 0.05), position=(feet[0] + feet[2]) / 2 + up, name="bar")
    world.add(bar)
    for foot in feet:
        crank = world.add(lw.RigidBody(1.0, shape=lw.Box(0.05, 0.05, length), position=foot + up / 2, orientation=tilted))
        world.add(lw.Hinge(world.ground, crank, at=foot, axis=(0, 1, 0)))
        world.add(lw.Hinge(crank, bar, at=foot + up, axis=(0, 1, 0)))
    return world


def a_rod_beside_a_hinge():
    """Two bodies on a hinge, and rods from its pin: each holds what the hinge holds already."""
    world, shape = lw.World(), lw.Box(0.4, 0.1, 0.1)
    world.add([lw.RigidBody(1.0, shape=shape, position=(0.2 + 0.4 * k, 0, 0), name=name) for k, name in enumerate("ab")])
    world.add(lw.Hinge(world.ground, "a", at=(0, 0, 0), axis=(0, 1, 0)))
    world.add(lw.Hinge("a", "b", at=(0.4, 0, 0), axis=(0, 1, 0)))
    world.add([lw.Distance("a", "b", on_a=(0.2, 0, 0), on_b=(0.1, 0, 0)) for _ in range(2)])
    return world


def test_three_parallel_cranks_keep_their_energy():
    sim = lw.Simulation(three_parallel_cranks(), dt=1e-3)
    start, off = sim.energy().total, []
    for _ in range(20):
        sim.step(500)
        off.append(abs(sim.energy().total - start))
    assert max(off) < 1e-3 and max(off[10:]) < 2 * max(off[:10])


def test_a_rod_beside_a_hinge_keeps_its_energy():
    sim = lw.Simulation(a_rod_beside_a_hinge(), dt=1e-3)
    start = sim.energy().total
    sim.step(10_000)
    assert abs(sim.energy().total - start) < 0.1 and sim.drift() < 1e-10
