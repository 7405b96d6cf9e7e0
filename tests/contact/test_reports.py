"""What contact reports: which pair is the worst, overlap and limits in their own units, targets that no motion meets."""

import warnings

import numpy as np
import pytest

import linkwork as lw


def squeezed(clearance):
    """Two boxes on each other between two fixed walls; clearance: m, negative where they have no room."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for side, name in ((-1, "left"), (1, "right")):
        shape, at = lw.Box(0.4, 1.0, 1.0), (side * (0.3 + clearance / 2), 0, 0.5)
        world.add(lw.Collider(world.ground, shape, position=at, name=name))
    for k in range(2):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.2), position=(0, 0, 0.1 + 0.2 * k), name=f"box{k}"))
    world.add(lw.Contact(friction=0.5))
    return world


@pytest.mark.parametrize("integrator", ["rattle", "euler"])
def test_overlap_that_nothing_can_take_back_is_named_and_the_run_goes_on(integrator):
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        sim = lw.Simulation(squeezed(-2e-3), dt=2e-3, integrator=integrator)
        sim.step(200)
    told = [text for text in sim.notes if "from both sides" in text]
    assert len(told) == 1 and "box" in told[0] and any(wall in told[0] for wall in ("left", "right"))
    for k in range(2):
        assert np.abs(sim.position(f"box{k}") - (0, 0, 0.1 + 0.2 * k)).max() < 2e-3
        assert np.linalg.norm(sim.velocity(f"box{k}")) < 1e-3
    assert sim.contact_report().penetration == pytest.approx(1e-3, rel=0.2)


def test_what_has_room_is_not_named():
    sim = lw.Simulation(squeezed(1e-6), dt=2e-3)
    sim.step(200)
    assert not [text for text in sim.notes if "from both sides" in text]
    assert sim.contact_report().converged


def test_overlap_is_in_metres_and_limits_are_told_by_name_in_their_own_unit():
    world = lw.World()
    arm = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0), name="arm"))
    world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="elbow"))
    world.add(lw.HardLimit("elbow", lower=0.05, upper=1.0, name="stop"))
    world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=(3, 0, 0.098), name="ball"))
    world.add(lw.Collider(world.ground, lw.Plane(), position=(0, 0, -5), name="deep"))
    world.add(lw.Collider(world.ground, lw.Box(1, 1, 0.2), position=(3, 0, -0.1), name="slab"))
    world.add(lw.Contact())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, dt=1e-3, integrator="euler")
        sim.step()
    report = sim.contact_report()
    assert report.beyond == {"stop": pytest.approx(0.05, rel=0.05)} and report.penetration == pytest.approx(2e-3, rel=0.05)


def test_the_worst_contact_is_named():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    ball = world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=(0, 0, 0.1), velocity=(3, 0, 0), name="ball"))
    world.add(lw.Contact(friction=0.5))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step()
    report = sim.contact_report()
    assert report.converged and report.residual < 1e-6
    if report.residual > 0.0:
        assert {element.name for element in report.worst} == {"floor", "ball"} and sim.world.find("ball") is ball
