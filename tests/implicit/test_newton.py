"""Newton's method on steps that are hard for it: none of these has to be cut."""

import warnings

import pytest

import linkwork as lw
from linkwork.engines.scalars import ITERATIONS
from tests.implicit.test_stability import network


def made(world, steps, dt=0.01, **options):
    """The most iterations that a step took; all are made at once, or the note is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, dt=dt, solver="implicit", **options)
        most = 0
        for _ in range(steps):
            sim.step()
            most = max(most, sim.work[ITERATIONS])
    assert not [text for text in sim.notes if "Newton" in text], sim.notes
    return most


def bent_links():
    """Two slender free links, bent by 1 rad: what the symmetric tangent leaves out is as large as what it has."""
    world = lw.scenes.get("bent-rod", n=2, stiffness=5.0, damping=0.0, bend=1.0)
    world.gravity = (0, 0, 0)
    world.remove("spring1")
    world.remove("joint1")
    for body in world.bodies:
        body.angular_velocity = (0.4, 0.3, 0.0)
    return world


def test_secants_help_where_the_symmetric_tangent_crawls():
    """Without them each iteration leaves 0.985 of what the last one left."""
    assert made(bent_links(), 10) < 30
    assert made(bent_links(), 10, tangent="exact") < 10
    thin = lw.scenes.get("chain", n=5, length=0.3, mass=1.0, width=0.02, speed=3.0)
    assert made(thin, 120, dt=1 / 60) < 40


def test_secants_help_stiff_springs_on_rods():
    for stiffness in (1e4, 1e6, 1e8):
        assert made(network("particles on rods", stiffness), 200, dt=1 / 60) < 20


@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
@pytest.mark.parametrize(("stiffness", "damping"), [(500.0, 3.0), (50.0, 0.3), (1e4, 5e-3)])
def test_a_flail_that_runs_into_damped_limits(stiffness, damping, tangent):
    """Fast, and damped so much that in the first two the dampers are held back much of the time."""
    world, above = lw.World(), None
    for k in range(4):
        link = world.add(lw.RigidBody(0.2, shape=lw.Box(0.2, 0.04, 0.04), position=(0.2 * k + 0.1, 0, 0)))
        hinge = world.add(lw.Hinge(above or world.ground, link, at=(0.2 * k, 0, 0), axis=(0, 1, 0)))
        world.add(lw.JointLimit(hinge, -0.2, 0.3, stiffness=stiffness, damping=damping))
        above = link
    assert made(world, 200, tangent=tangent) < 40
