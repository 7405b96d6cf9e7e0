"""What a simulation reports, against differences, balances and sums by hand."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.lookup import body_number
from tests.simulation.worlds import SOLVERS, G, crank_and_rod, make, zoo


@pytest.mark.parametrize("solver", SOLVERS)
def test_accelerations_are_the_rates_of_velocities(solver):
    h = 1e-4
    sim = make("rk4", dt=h, solver=solver)
    bodies = ["crank", "rod", "wheel1", "ball", "jelly", "bead"]
    sim.step(100)
    behind = {b: (sim.velocity(b), sim.angular_velocity(b)) for b in bodies}
    sim.step()
    found = {b: (sim.acceleration(b), sim.angular_acceleration(b)) for b in bodies}
    sim.step()
    ahead = {b: (sim.velocity(b), sim.angular_velocity(b)) for b in bodies}
    for b in bodies:
        for k in (0, 1):
            np.testing.assert_allclose((ahead[b][k] - behind[b][k]) / (2 * h), found[b][k], atol=2e-4, rtol=1e-5, err_msg=b)


@pytest.mark.parametrize("body", ["rod", "wheel1", "jelly", "bead", "flat", "blob"])
def test_jacobians_and_points_against_differences(body):
    """The point's velocity is J times the body's velocities, and the rate of where it is."""
    world = zoo()
    world.add(lw.PlanarBody(1.0, 0.2, position=(3, 3), angle=0.4, velocity=(0.1, 0.2), angular_velocity=1.5, name="flat"))
    rate = np.random.default_rng(1).normal(size=(3, 3))
    world.add(lw.AffineBody(1.0, shape=lw.Box(1, 1, 1), deformation_rate=rate, velocity=(1, 2, 3), name="blob"))
    h, local = 1e-5, np.array([0.2, 0.0 if body == "flat" else -0.3, 0.1])
    if body == "bead":
        local[:] = 0.0
    sim = make("rk4", world, dt=h)
    sim.step(50)
    J = sim.jacobian(body, local)
    if body == "jelly":
        rates = sim.work[sim.model.field_of_body(body_number(sim._system, "jelly"), "v")]
    elif body == "flat":
        rates = np.array([*sim.velocity("flat")[[0, 2]], sim.angular_velocity("flat")[1]])
    elif body == "bead":
        rates = sim.velocity("bead")
    elif body == "blob":
        rates = sim.work[sim.model.field_of_body(body_number(sim._system, "blob"), "v")]
    else:
        rates = np.concatenate([sim.velocity(body), sim.angular_velocity(body)])
    before = sim.point(body, local)
    velocity = J @ rates
    sim.step(2)
    middle = (sim.point(body, local) - before) / (2 * h)
    np.testing.assert_allclose(velocity, middle, atol=2e-3, rtol=1e-3)


def test_angles_and_rates_of_joints_between_moving_bodies():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), angular_velocity=(1, 2, 3), name="a"))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), position=(1, 0, 0), name="b"))
    world.add(lw.Cylindrical("a", "b", at=(0.5, 0, 0), axis=(1, 1, 0), name="sleeve"))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), position=(2, 0, 0), velocity=(0, 0, 0.5), name="c"))
    world.add(lw.Slider("c", "b", at=(1.5, 0, 0), axis=(1, 0, 1), name="rail"))
    with pytest.warns(lw.Note):
        sim = lw.Simulation(world, dt=1e-5, integrator="rk4")
    for joint in ("sleeve", "rail"):
        assert sim.angle(joint) == pytest.approx(0, abs=1e-12)
    sim.step(1000)
    before = {j: sim.angle(j) for j in ("sleeve", "rail")}
    sim.step()
    rates = {j: sim.rate(j) for j in before}
    sim.step()
    for joint, rate in rates.items():
        assert (sim.angle(joint) - before[joint]) / 2e-5 == pytest.approx(rate, abs=1e-6)
    with pytest.raises(lw.LinkworkError, match=r'"nail".*no angle'):
        make("rattle").angle("nail")


@pytest.mark.parametrize("solver", SOLVERS)
def test_reactions_balance_each_body(solver):
    """m a = weight + all reactions, and about the centre of mass the torques make L'."""
    world = crank_and_rod()
    world.add(lw.Wrench("rod", torque=(0.3, -0.2, 0.1), force=(1, 2, 3), at=(0, 0, 0.2)))
    sim = make("rattle", world, solver=solver)
    for _ in range(3):
        for name, ends in (("crank", [("axle", 1), ("pin", -1)]), ("rod", [("pin", 1)])):
            body = world.find(name)
            force, torque = np.zeros(3), np.zeros(3)
            for joint, sign in ends:
                reaction = sim.reaction(joint) if sign == 1 else sim.reaction(joint, body=name)
                force += reaction.force
                torque += reaction.torque + np.cross(reaction.at - sim.position(name), reaction.force)
            if name == "rod":
                force += (1, 2, 3)
                torque += np.array([0.3, -0.2, 0.1]) + np.cross(sim.frame("rod") @ (0, 0, 0.2), (1, 2, 3))
            force += body.mass * np.array([0, 0, -G])
            R, w = sim.frame(name), sim.angular_velocity(name)
            inertia = R @ body.inertia @ R.T
            np.testing.assert_allclose(body.mass * sim.acceleration(name), force, atol=1e-10)
            momentum = inertia @ sim.angular_acceleration(name) + np.cross(w, inertia @ w)
            np.testing.assert_allclose(momentum, torque, atol=1e-10)
        sim.step(173)


def test_the_reaction_on_the_other_body_is_opposite():
    sim = make("rattle")
    sim.step(20)
    for joint, first in (("pin", "crank"),):
        a, b = sim.reaction(joint, body=first), sim.reaction(joint)
        np.testing.assert_allclose(a.force, -b.force, atol=1e-12)
        np.testing.assert_allclose(a.at, b.at, atol=1e-9)
        np.testing.assert_allclose(a.torque, -b.torque, atol=1e-9)
    with pytest.raises(lw.LinkworkError, match=r'"pin".*"ball"'):
        sim.reaction("pin", body="ball")


def test_reactions_do_not_feel_baumgarte():
    """Euler's feedback is no force of the mechanism."""
    world = crank_and_rod()
    one, two = make("rattle", world), make("euler", world, stiffness=1e5, damping=1e3)
    two.state = one.state
    np.testing.assert_allclose(two.reaction("pin").force, one.reaction("pin").force, rtol=1e-10)


def test_drift_is_the_largest_residual():
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), velocity=(0, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    sim = lw.Simulation(world)
    s = sim.state.copy()
    q = sim.model.field_of_body(0, "q")
    sim.work[q] = (1.25, 0, 0)
    sim._system.changed()
    assert sim.drift() == pytest.approx(0.25, rel=1e-12)
    sim.work[sim.model.field_of_body(0, "v")] = (-0.5, 3, 0)
    assert sim.drift(velocity=True) == pytest.approx(0.5, rel=1e-12)
    sim.state = s
    assert sim.drift() == 0.0


def test_energy_against_a_sum_by_hand():
    sim = make("rattle", crank_and_rod())
    sim.step(400)
    kinetic = potential = 0.0
    for name in ("crank", "rod"):
        body = sim.world.find(name)
        w = sim.frame(name).T @ sim.angular_velocity(name)
        kinetic += 0.5 * body.mass * sim.velocity(name) @ sim.velocity(name) + 0.5 * w @ body.inertia @ w
        potential += body.mass * G * sim.position(name)[2]
    energy = sim.energy()
    assert energy.kinetic == pytest.approx(kinetic, rel=1e-12)
    assert energy.potential == pytest.approx(potential, rel=1e-12) and energy.work == 0.0
