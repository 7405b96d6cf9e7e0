"""Every integrator converges to references of their own at its order, for every kind of row and body."""

import math

import numpy as np
import pytest

import linkwork as lw
from tests.integrators.problems import FIRST_ORDER, PROBLEMS

NOISE = 3e-10  # errors below this are no longer of the steps


def slope(problem, integrator, dt, halvings=2, **options):
    """Order of convergence between dt and dt / 2^halvings, and the last error."""
    errors = [problem.error(integrator, dt, **options), problem.error(integrator, dt / 2**halvings, **options)]
    return math.log2(errors[0] / max(errors[1], 1e-16)) / halvings, errors


def converges(problem, integrator, order, dt, **options):
    found, errors = slope(problem, integrator, dt, **options)
    if errors[1] > NOISE:
        assert found > order - 0.25, (found, errors)
    return errors


@pytest.mark.parametrize("name", PROBLEMS)
def test_shake_is_of_order_one(name):
    p = PROBLEMS[name]
    assert converges(p, "shake", 1, p.dt / 4)[1] < 0.2


@pytest.mark.parametrize("name", PROBLEMS)
def test_rattle_is_of_order_two(name):
    p = PROBLEMS[name]
    assert converges(p, "rattle", 2, p.dt / 2)[1] < 0.05


@pytest.mark.parametrize("name", PROBLEMS)
def test_euler_is_of_order_one(name):
    p = PROBLEMS[name]
    converges(p, "euler", 1, p.dt / 4)


@pytest.mark.parametrize("name", PROBLEMS)
def test_rk4_is_of_order_four(name):
    p = PROBLEMS[name]
    assert converges(p, "rk4", 4, p.dt, halvings=1)[1] < 1e-3


@pytest.mark.parametrize("name", PROBLEMS)
def test_dopri5_follows_its_tolerance(name):
    """A thousandth of the tolerance: at least a hundredth of the error; and small enough for what was asked."""
    p = PROBLEMS[name]
    errors = [p.error("dopri5", p.seconds / 4, tolerance=tolerance) for tolerance in (1e-6, 1e-9)]
    assert errors[1] < max(errors[0] / 100, NOISE), errors
    assert errors[0] < 1e-2 and errors[1] < 1e-5


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_first_order_motion_is_of_order_one(name):
    p = FIRST_ORDER[name]
    assert converges(p, "first-order", 1, p.dt / 4)[1] < 0.02


@pytest.mark.parametrize("solver", ["fronts", "dense"])
@pytest.mark.parametrize("name", ["three rigid rods", "arm driven by a drive", "wobbling disc", "nailed jelly"])
def test_solvers_agree_on_a_run(name, solver):
    p = PROBLEMS[name]
    found = []
    for which in ("tree", solver):
        sim = lw.Simulation(p.world(), dt=p.dt, solver=which)
        sim.step(30)
        found.append(p.observe(sim))
    np.testing.assert_allclose(found[1], found[0], atol=1e-8)


@pytest.mark.parametrize("integrator", ["rattle", "rk4", "dopri5"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_hold_after_every_step(name, integrator):
    sim = lw.Simulation(PROBLEMS[name].world(), dt=5e-3, integrator=integrator)
    for _ in range(40):
        sim.step()
        assert sim.drift() < 1e-7 and sim.drift(velocity=True) < 1e-6
    # rk4 and dopri5 project twice; rattle lands on its tolerance
    assert integrator != "rattle" or sim.drift() < 1e-10


@pytest.mark.parametrize("name", ["three rigid rods", "carried pivot", "wobbling disc"])
def test_euler_keeps_rows_near(name):
    errors = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(PROBLEMS[name].world(), dt=dt, integrator="euler")
        worst = 0.0
        for _ in range(round(0.8 / dt)):
            sim.step()
            worst = max(worst, sim.drift())
        errors.append(worst)
    assert errors[1] < 0.4 * errors[0] + 1e-12, errors  # second order in dt


def test_a_fast_rotor_turns_as_often_as_it_should():
    """A symmetric wheel on an axle, 200 rad/s at dt = 1 ms: a flight turns it by its angle."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.6, 0.6, 1.0), angular_velocity=(0, 0, 200.0), name="wheel"))
    world.add(lw.Hinge(world.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(1000)
    assert sim.angle("axle") == pytest.approx(200.0, rel=1e-5)
