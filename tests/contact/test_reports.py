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
    for wall in ("left", "right"):
        for box in ("box0", "box1"):
            assert sum(f'Collider "{wall}" and RigidBody "{box}"' in text for text in told) == 1, (
                told
            )  # pair by pair, once each
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


def noted(world, steps=300, **options):
    """A simulation that has made steps, its notes unheard."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, dt=2e-3, **options)
        for _ in range(10):
            sim.step(steps // 10)
    return sim


@pytest.mark.parametrize("integrator", ["rattle", "euler"])
def test_flush_surfaces_that_joints_hold_are_named_pair_by_pair(integrator):
    """Four boxes on vertical hinges; bosses of the first two lie flush on those after the next, and can not leave them."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k in range(4):
        place = (0.3 * (k % 2), 0, 0.05 + 0.0998 * k)
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.4, 0.2, 0.1), position=place, angular_velocity=(0, 0, 1), name=f"box{k}"))
    for k in range(3):
        world.add(lw.Hinge(f"box{k}", f"box{k + 1}", at=(0.15, 0, 0.1 * (k + 1)), axis=(0, 0, 1)))
    for k in range(2):
        world.add(lw.Collider(f"box{k}", lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.0998), name=f"boss{k}"))
    world.add(lw.Contact(friction=0.5))
    sim = noted(world, integrator=integrator)
    told = [text for text in sim.notes if "joints or motions hold them" in text]
    for k in range(2):
        assert sum(f'Collider "boss{k}" and RigidBody "box{k + 2}"' in text for text in told) == 1, told
    assert sim.contact_report().converged and sim.position("box3")[2] == pytest.approx(0.05 + 0.0998 * 3, abs=1e-3)


@pytest.mark.parametrize("integrator", ["rattle", "euler"])
def test_limits_that_cannot_hold_together_are_all_named_and_the_run_goes_on(integrator):
    world = lw.World()
    for k in range(2):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, k, 0), name=f"arm{k}"))
        world.add(lw.Hinge(world.ground, f"arm{k}", at=(0, k, 0), axis=(0, 1, 0), name=f"elbow{k}"))
        world.add(lw.HardLimit(f"elbow{k}", upper=-0.1, name=f"high{k}"))
        world.add(lw.HardLimit(f"elbow{k}", lower=0.1, name=f"low{k}"))
    world.add(lw.Particle(1.0, position=(0, 5, 0), name="bead"))
    world.add(lw.Inequality("bead", lambda b, t: b.position[0] - 0.05, name="right"))
    world.add(lw.Inequality("bead", lambda b, t: -0.05 - b.position[0], name="left"))
    sim = noted(world, integrator=integrator)
    told = [text for text in sim.notes if "from both sides" in text]
    for name in ('HardLimit "high0"', 'HardLimit "low0"', 'HardLimit "high1"', 'HardLimit "low1"', 'Inequality "right"'):
        assert sum(name in text for text in told) == 1, told
    beyond = sim.contact_report().beyond
    assert all(beyond[name] == pytest.approx(0.1, abs=0.02) for name in ("high0", "low0", "high1", "low1"))
    assert all(beyond[name] == pytest.approx(0.05, abs=0.02) for name in ("left", "right"))
    assert abs(sim.angle("elbow0")) < 0.02 and np.isfinite(sim.state.values).all()


def test_bounds_that_motions_hold_are_named():
    world = lw.World()
    for k in range(2):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, k, 0), name=f"arm{k}"))
        world.add(lw.Hinge(world.ground, f"arm{k}", at=(0, k, 0), axis=(0, 1, 0), name=f"elbow{k}"))
        world.add(lw.Drive(f"elbow{k}", lambda t: 1.0))
        world.add(lw.HardLimit(f"elbow{k}", upper=0.1, name=f"stop{k}"))
    sim = noted(world, steps=100)
    told = [text for text in sim.notes if "hold its bodies" in text]
    assert all(sum(f'HardLimit "stop{k}"' in text for text in told) == 1 for k in range(2)), told
