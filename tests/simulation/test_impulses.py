"""Impulses of steps and impacts: they are what momentum gains, to rounding, whatever a step is made of."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.symbolic.views import GLOBALS

SOLVERS = ["tree", "fronts", "dense"]
WEIGHT = np.array([0, 0, -9.81])


def swinging(joint="ball", spin=(1, 2, 3)):
    """Two bodies that hang on each other, turning as one; masses 2 and 1."""
    world = lw.World()
    spin = np.array((0, spin[1], 0) if joint == "hinge" else spin, dtype=float)
    moving = {"angular_velocity": spin}
    world.add(
        lw.RigidBody(2.0, (0.3, 0.2, 0.1), position=(1, 0, 0.3), velocity=np.cross(spin, (1, 0, 0.3)), name="upper", **moving)
    )
    world.add(
        lw.RigidBody(1.0, (0.1, 0.2, 0.2), position=(2, 0, 0.3), velocity=np.cross(spin, (2, 0, 0.3)), name="lower", **moving)
    )
    turning = {"axis": (0, 1, 0)} if joint == "hinge" else {}
    make = lw.Hinge if joint == "hinge" else lw.Ball
    world.add(make(world.ground, "upper", at=(0, 0, 0), name="nail", **turning))
    world.add(make("upper", "lower", at=(1.5, 0, 0.3), name="link", **turning))
    return world


def quietly(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **options)


def balance(sim, steps):
    """What the joints gave less what momentum gained beside the weight: of both bodies, and of the lower one."""

    def momenta():
        upper, lower = 2 * sim.velocity("upper"), sim.velocity("lower")
        return np.array([upper + lower, lower])

    before, start, given = momenta(), sim.time, np.zeros((2, 3))
    for _ in range(steps):
        sim.step()
        given += [sim.impulse("nail")[:3], sim.impulse("link")[:3]]
    assert np.abs(given).max() > 0.1
    return given - (momenta() - before - np.outer([3, 1], WEIGHT) * (sim.time - start))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("joint", ["ball", "hinge"])
def test_the_kicks_of_rattle_are_what_momentum_gains(solver, joint):
    assert np.abs(balance(quietly(swinging(joint), dt=5e-3, solver=solver), 100)).max() < 1e-12


def test_corrections_and_cut_steps_are_added_up():
    sim = quietly(swinging(spin=(10, 20, 30)), dt=4e-2)
    assert np.abs(balance(sim, 60)).max() < 1e-10
    assert 0 < sim.work[GLOBALS.offset("pace")] < 4096  # steps were cut


def test_kicks_that_are_made_again_count_once():
    """Forces that depend on velocity, and rows that are not linear in it: the last closing kick replaces the one before."""
    world = swinging()
    world.add(lw.Force("upper", lambda b, t: -0.7 * b.angular_velocity, torque=True))
    assert np.abs(balance(quietly(world, dt=5e-3), 100)).max() < 1e-12
    world.add(lw.Particle(1.0, velocity=(2, 0, 0), name="bead"))
    world.add(lw.VelocityConstraint("bead", lambda b, t: lw.dot(b.velocity, b.velocity) - 4))
    assert np.abs(balance(quietly(world, dt=5e-3), 100)).max() < 1e-12


@pytest.mark.parametrize("solver", ["fronts", "dense"])
@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_stages_and_projections_are_added_up(solver, integrator):
    assert np.abs(balance(quietly(swinging(), dt=2e-2, solver=solver, integrator=integrator), 50)).max() < 1e-12


@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_at_the_joints_they_are_exact_to_the_order_of_the_scheme(integrator):
    """With `tree` the velocities that are integrated are those at the joints, in which momentum is not linear."""
    assert np.abs(balance(quietly(swinging(), dt=1e-2, integrator=integrator), 50)).max() < 1e-4


@pytest.mark.parametrize("solver", ["fronts", "dense"])
def test_first_order_motion(solver):
    """f = m v: the joint gives what speed there is, less what weight asks for."""
    sim = lw.Simulation(swinging(spin=(0, 0, 0)), dt=1e-2, solver=solver, integrator="first-order")
    for _ in range(5):
        sim.step()
        carried = 2 * sim.velocity("upper") + sim.velocity("lower")
        np.testing.assert_allclose(sim.impulse("nail"), (carried - 3 * WEIGHT) * sim.dt, atol=1e-12)


@pytest.mark.parametrize("integrator", ["rattle", "rk4", "dopri5", "first-order"])
def test_many_steps_at_once_leave_the_impulse_of_the_last(integrator):
    first, second = (quietly(swinging("hinge", spin=(0, 0, 0)), integrator=integrator) for _ in range(2))
    first.step(20)
    for _ in range(20):
        second.step()
    assert first.state.values.tobytes() == second.state.values.tobytes()
    for name in ("nail", "link"):
        assert first.impulse(name).tobytes() == second.impulse(name).tobytes()


def test_a_lamp_at_rest():
    world = lw.World()
    world.add(lw.RigidBody(2.0, (1, 1, 1), name="lamp"))
    world.add(lw.Weld(world.ground, "lamp", at=(0, 0, 0.5), name="chain"))
    sim = lw.Simulation(world, dt=1e-2)
    sim.step()
    np.testing.assert_allclose(sim.impulse("chain"), sim.reaction("chain").generalised * sim.dt, atol=1e-14)


@pytest.mark.parametrize("integrator", ["rattle", "rk4", "dopri5", "first-order"])
def test_it_does_not_matter_whether_reports_come_first(integrator):
    first, second = (quietly(swinging(spin=(0, 0, 0)), integrator=integrator, dt=1e-2) for _ in range(2))
    for _ in range(3):
        for sim in (first, second):
            sim.step(2)
        second.reaction("link")
        second.drift()
        assert first.impulse("nail").tobytes() == second.impulse("nail").tobytes()
        assert first.impulse("nail").tobytes() == second.impulse("nail").tobytes()  # asking changes nothing
        first.reaction("link")  # so that both go on from fresh factors


def test_impulses_outlast_reports_and_not_states():
    sim = quietly(swinging(), dt=1e-2)
    with pytest.raises(lw.LinkworkError, match=r"^Simulation: there are no impulses, .*; make a step first$"):
        sim.impulse("nail")
    start = sim.state.copy()
    sim.step(3)
    before = sim.impulse("nail").copy()
    sim.reaction("nail"), sim.energy(), sim.drift(), sim.acceleration("lower"), sim.step(0)
    assert sim.impulse("nail").tobytes() == before.tobytes()
    sim.strike("lower", (1, 0, 0))
    struck = sim.impulse("nail")
    assert not np.allclose(struck, before)
    sim.reaction("nail")
    assert sim.impulse("nail").tobytes() == struck.tobytes()
    sim.state = start
    with pytest.raises(lw.LinkworkError, match=r"make a step first"):
        sim.impulse("nail")


def test_euler_refuses_by_name():
    sim = quietly(swinging(), dt=1e-3, integrator="euler")
    sim.strike("lower", (1, 0, 0))
    assert np.abs(sim.impulse("nail")).max() > 0  # of the impact
    sim.step()
    with pytest.raises(lw.LinkworkError, match=r"^Simulation: euler keeps no impulses of its steps; use rattle, rk4, dopri5"):
        sim.impulse("nail")


def test_impulses_without_constraints():
    world = lw.World()
    world.add(lw.Particle(1.0))
    sim = lw.Simulation(world)
    sim.step(2)
    with pytest.raises(lw.UnknownNameError):
        sim.impulse("nail")
