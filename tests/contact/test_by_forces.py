"""Contact on the level of accelerations: responses against dense solves, forces that know of curvature, impacts, refusals."""

import copy

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.acceleration_level import ContactByForces

FORCES = {"solver": "anticipation", "integrator": "euler"}
G = 9.81


def closed_loop():
    """A bar on two parallel arms that lean, on a floor that a ball below it touches: a loop through the ground."""
    lean = np.array([np.sin(0.6), 0, -np.cos(0.6)])
    turned = (np.cos(0.3), 0, -np.sin(0.3), 0)
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    top = np.array([0, 0, np.cos(0.6)])
    for side, x in (("left", 0.0), ("right", 1.0)):
        nail = top + np.array([x, 0, 0])
        world.add(lw.RigidBody(0.5, (0.01, 0.02, 0.03), position=nail + 0.5 * lean, orientation=turned, name=side))
        world.add(lw.Hinge(world.ground, side, at=nail, axis=(0, 1, 0), name=f"{side}-top"))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.1), position=top + lean + (0.5, 0, 0), name="bar"))
    world.add(lw.Hinge("left", "bar", at=top + lean, axis=(0, 1, 0), name="left-end"))
    world.add(lw.Ball("right", "bar", at=top + lean + (1, 0, 0), name="right-end"))
    world.add(lw.Collider("bar", lw.Sphere(0.1), position=(0.2, 0, 0.1), name="foot"))
    world.add(lw.RigidBody(2.0, shape=lw.Box(0.2, 0.2, 0.2), position=(4, 0, 0.1), name="apart"))
    world.add(lw.Contact(friction=0.4))
    return world


def test_responses_are_those_of_dense_solves():
    """Through the loop, too; by impulses on a simulation that eliminates nothing."""
    world = closed_loop()
    sim, dense = lw.Simulation(world, **FORCES), lw.Simulation(_without_contact(world), solver="dense", integrator="euler")
    touching = sim._system.contact
    sim.step()
    assert isinstance(touching, ContactByForces)
    touching._find(sim.work, sim.dt, 1.0, sim.dt)
    touching._take_slots()
    for operations in touching.forces_again:
        sim.integrator.run(sim.work, operations)
    R = touching._responses(sim.work)
    names = [sim.model.bodies.elements[b].name for b in touching.slots.body_of[: touching.used]]
    assert set(names) == {"bar", "apart"}
    for k, name in enumerate(names):
        for axis in range(3):
            dense.reset()
            before = {other: np.r_[dense.velocity(other), dense.angular_velocity(other)] for other in names}
            dense.strike(name, np.eye(3)[axis])
            for i, other in enumerate(names):
                change = np.r_[dense.velocity(other), dense.angular_velocity(other)] - before[other]
                np.testing.assert_allclose(R[6 * i : 6 * i + 6, 6 * k + axis], change, atol=2e-5)


def _without_contact(world):
    bare = copy.deepcopy(world)
    for element in bare.contacts:
        bare.remove(element)
    return bare


@pytest.mark.parametrize("speed", [0.0, 1.0, 2.0])
def test_a_ball_that_rolls_over_a_ball_presses_less(speed):
    """N = m (g - v^2 / (R + r)) at the top, in the very first step: J'v knows that the contact goes round both."""
    R, r = 1.0, 0.25
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Sphere(R), name="hill"))
    world.add(lw.RigidBody(2.0, shape=lw.Sphere(r), position=(0, 0, R + r), velocity=(speed, 0, 0), name="ball",
                           angular_velocity=(0, speed / r, 0)))  # fmt: skip
    world.add(lw.Contact(friction=0.3))
    sim = lw.Simulation(world, dt=1e-5, **FORCES)
    sim.step()
    (point,) = sim.contacts()
    assert np.isclose(point.force[2], 2.0 * (G - speed**2 / (R + r)), rtol=1e-4)


def test_a_rope_holds_what_goes_round():
    """m (g + v^2 / l), at once."""
    world = lw.World()
    world.add(lw.Particle(0.5, position=(0, 0, -2), velocity=(3, 0, 0), name="bob"))
    world.add(lw.Rope(world.ground, "bob", name="rope"))
    sim = lw.Simulation(world, dt=1e-5, **FORCES)
    sim.step()
    assert np.isclose(sim.impulse("rope")[0] / 1e-5, 0.5 * (G + 9 / 2), rtol=1e-4)


def test_motion_with_loops_is_that_of_the_level_of_velocities():
    world = closed_loop()
    world.add(lw.Wrench("bar", force=lambda t: (6.0 + 40 * t, 0.2, 0.0), name="push"))  # it is lifted off after a while
    world.add(lw.Wrench("apart", force=(-9.0, 1.0, 0.0), name="pull"))
    ends = []
    for way in ({"integrator": "euler"}, FORCES):
        sim = lw.Simulation(world, dt=1e-3, **way)
        sim.step(50)
        assert np.abs(sim.velocity("bar")).max() < 1e-6 < np.abs(sim.velocity("apart")).max()  # one is held, one slides
        sim.step(250)
        ends.append(np.r_[sim.position("bar"), sim.velocity("bar"), sim.position("apart"), sim.velocity("apart")])
    assert ends[0][2] > 0.01
    np.testing.assert_allclose(*ends, atol=1e-4)


def test_painleves_paradox_is_seen_and_forces_are_found_elsewhere():
    th, length = np.arctan(2.0), 1.0
    for mu, paradox in ((2.0, True), (0.5, False)):
        world = lw.World()
        world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
        world.add(lw.RigidBody(1.0, (length**2 / 12, length**2 / 12, 1e-6), position=(0, 0, length / 2 * np.sin(th) + 1e-6),
                               orientation=(np.cos((th - np.pi / 2) / 2), 0, np.sin((th - np.pi / 2) / 2), 0),
                               velocity=(3.0, 0, 0), name="rod"))  # fmt: skip
        world.add(lw.Collider("rod", lw.Sphere(1e-6), position=(0, 0, -length / 2), name="tip"))
        world.add(lw.Contact(friction=mu))
        sim = lw.Simulation(world, **FORCES)
        sim.step(3)
        assert (sim._system.contact.paradoxes > 0) == paradox


def test_a_state_that_is_put_back_gives_the_same_bits():
    sim = lw.Simulation(closed_loop(), **FORCES)
    sim.step(50)
    kept = sim.state.copy()
    sim.step(50)
    once = sim.state.values.tobytes()
    sim.state = kept
    sim.step(50)
    assert sim.state.values.tobytes() == once


def test_what_does_not_go_with_it_is_refused_by_name():
    with pytest.raises(
        lw.LinkworkError, match='Contact .*: the solver "anticipation" with the integrator "rattle" takes no contact'
    ):
        lw.Simulation(closed_loop(), solver="anticipation")
    world = closed_loop()
    world.add(lw.VelocityConstraint("apart", lambda a, t: a.velocity[0], force=lambda a, t: a.spin((0, 0, 1)), name="odd"))
    with pytest.raises(lw.LinkworkError, match='"odd": the force that it names cannot hold its rows'):
        lw.Simulation(world, **FORCES)
