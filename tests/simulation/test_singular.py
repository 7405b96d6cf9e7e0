"""A constraint that is singular where a step fails is named, and dt is not blamed."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation import diagnose


def sled(velocity=(0, 0, 0), spin=(0, 0, 0), at=None, contact=False):
    """With a blade along x; it is singular where that stands upright."""
    world, box = lw.World(gravity=(0, 0, -9.81 if contact else 0)), lw.Box(0.3, 0.1, 0.05)
    world.add(lw.RigidBody(1.0, shape=box, position=(0, 0, 0.25), velocity=velocity, angular_velocity=spin, name="sled"))
    world.add(lw.Skate("sled", (1, 0, 0), at=at, name="blade"))
    if contact:
        world.add([lw.Collider(world.ground, lw.Plane()), lw.Collider("sled", box), lw.Contact(friction=0.5)])
    return world


def test_a_row_that_has_vanished_is_found():
    sim = lw.Simulation(sled(spin=(0, np.pi / 2, 0)), dt=0.01, solver="implicit")
    assert diagnose.vanishing(sim, sim.work) is None
    sim.step(50)
    assert diagnose.vanishing(sim, sim.work) is None
    sim.step(50)
    element, left = diagnose.vanishing(sim, sim.work)
    assert element.name == "blade" and left < 1e-3


def test_a_blade_that_stands_upright_is_named_where_steps_fail():
    rng, stopped = np.random.default_rng(0), 0
    for number in range(1, 67):
        velocity, spin = rng.normal(size=3) * 2, rng.normal(size=3) * np.array([1, 6, 1])
        dt, ahead = rng.choice([0.005, 0.01, 1 / 60]), rng.random() < 0.5
        if number not in (19, 27, 33, 60, 64, 66):  # the others land without standing upright
            continue
        world = sled(velocity, spin, (0.15, 0, 0.25) if ahead else None, contact=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            sim = lw.Simulation(world, dt=dt, solver="implicit")
            try:
                sim.step(int(1.5 / dt))
            except lw.DivergenceError as error:
                stopped += 1
                assert str(error).startswith('Skate "blade": it is singular in step') and "dt" not in str(error)
                assert str(error).endswith("keep its blade from standing along its normal, or remove it before that")
                assert error.worst is world.find("blade")
    assert stopped > 0


@pytest.mark.parametrize("iterations", [1, None])
def test_a_blade_may_pass_upright_in_the_air(iterations):
    sim = lw.Simulation(sled(spin=(0.1, 8.0, 0.2)), dt=0.01, solver="implicit", iterations=iterations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim.step(60)
    assert np.isfinite(sim.position("sled")).all()
