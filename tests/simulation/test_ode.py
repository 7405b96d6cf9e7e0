"""A simulation as an ordinary differential equation: SciPy drives it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw


def swinging():
    """A rigid body on a hinge, a ball on it, a particle on a rope, a wheel that a motor turns, a moving support."""
    world = lw.World()
    arm = world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(0.5, 0, 0), name="arm"))
    hand = world.add(
        lw.RigidBody(
            0.5,
            (0.05, 0.04, 0.03),
            position=(1.2, 0.1, 0),
            velocity=(-0.05, 0.1, -0.3),
            angular_velocity=(1, 2, 0.5),
            name="hand",
        )
    )
    world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(lw.Ball(arm, hand, at=(1, 0, 0)))
    bead = world.add(lw.Particle(0.2, position=(1.2, 0.1, -0.5), name="bead"))
    world.add(lw.Distance(hand, bead))
    world.add(lw.Spring(world.ground, bead, lw.Parameter(5.0, name="k"), rest=0.3, damping=0.2))
    world.add(lw.Motor("shoulder", kind="velocity", kd=0.4, name="drive"))
    return world


def placed(sim):
    return np.concatenate([[*sim.position(b), *sim.velocity(b)] for b in sim.world.bodies])


@pytest.mark.parametrize("solver, integrator", [("tree", "rattle"), ("fronts", "euler"), ("implicit", "backward-euler")])
def test_scipy_finds_the_motion(solver, integrator):
    sim = lw.Simulation(swinging(), solver=solver, integrator=integrator)
    reference = lw.Simulation(swinging(), integrator="dopri5", tolerance=1e-12)
    for one in (sim, reference):
        one.set("k", 20.0)
        one.control["drive"] = 2.0
    found = solve_ivp(sim.derivative, (0, 0.4), sim.pack(), method="DOP853", rtol=1e-11, atol=1e-12)
    sim.unpack(found.y[:, -1])
    sim.time = 0.4
    reference.run(0.4, record_every=None)
    assert np.allclose(placed(sim), placed(reference), atol=1e-8)
    assert sim.drift() < 1e-8


def test_joint_coordinates_have_the_same_view():
    sim, maximal = (lw.Simulation(lw.scenes.get("double-pendulum"), solver=solver) for solver in ("aba", "tree"))
    assert np.array_equal(sim.pack(), maximal.pack())
    assert np.array_equal(sim.derivative(0.0, sim.pack()), maximal.derivative(0.0, maximal.pack()))


def test_packing_and_unpacking_changes_nothing():
    sim = lw.Simulation(swinging())
    sim.step(50)
    before, time = placed(sim), sim.time
    sim.unpack(sim.pack())
    assert np.allclose(placed(sim), before, atol=1e-15) and sim.time == time
    sim.step(5)


def test_the_derivative_is_that_of_the_motion():
    sim = lw.Simulation(swinging())
    y = sim.pack()
    rate, h = sim.derivative(0.0, y), 1e-6
    fine = solve_ivp(sim.derivative, (0, h), y, rtol=1e-12).y[:, -1]
    assert np.allclose((fine - y) / h, rate, atol=1e-4)
    assert np.array_equal(sim.pack(), y)  # asking changes nothing


def test_feedback_draws_constraints_in():
    sim = lw.Simulation(lw.scenes.get("double-pendulum"), integrator="euler", stiffness=400.0, damping=40.0)
    loose = lw.Simulation(lw.scenes.get("double-pendulum"))
    ends = []
    for one in (sim, loose):
        found = solve_ivp(one.derivative, (0, 3.0), one.pack(), rtol=1e-4, atol=1e-6)
        one.unpack(found.y[:, -1])
        ends.append(one.drift())
    assert ends[0] < 0.1 * ends[1]


def test_a_vector_of_another_length_is_refused():
    sim = lw.Simulation(lw.scenes.get("pendulum"))
    with pytest.raises(lw.LinkworkError, match=r"Simulation: y has the shape \(3,\); give \(13,\), as pack\(\) does"):
        sim.derivative(0.0, np.zeros(3))
