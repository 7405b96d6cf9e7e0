"""Runs that go wrong: what they say, and that one can go back."""

import math

import numpy as np
import pytest

import linkwork as lw
from tests.simulation.worlds import crank_and_rod, same


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5"])
def test_a_run_that_blows_up_says_where(integrator):
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    world.add(lw.Force("bob", lambda b, t: 1e3 * lw.exp(40 * t) * lw.dot(b.velocity, b.velocity) * b.velocity + (0, 1, 0)))
    sim = lw.Simulation(world, dt=1e-2, integrator=integrator)
    with pytest.raises(lw.DivergenceError) as caught:
        sim.run(20.0, record_every=0.02)
    error = caught.value
    assert error.step == sim.steps and 0 < error.step < 2000 and error.time == sim.time
    assert error.recording is not None and len(error.recording) >= 1 and np.isfinite(error.recording.position).all()
    assert f"step {error.step}" in str(error) and "\n" not in str(error)
    assert error.worst is None or error.worst.name == "rod"


def test_a_run_that_blows_up_names_the_worst_constraint_and_can_go_back():
    world = crank_and_rod()
    world.add(lw.Wrench("crank", torque=lambda t: (0, lw.exp(200 * t), 0)))
    sim = lw.Simulation(world, dt=1e-2)
    start = sim.state.copy()
    with pytest.raises(lw.DivergenceError, match=r"worst constraint is") as caught:
        sim.run(5.0)
    assert caught.value.worst is not None and caught.value.worst.name in str(caught.value)
    sim.state = start
    same(sim.state, start)
    assert sim.drift() < 1e-10 and math.isfinite(sim.energy().total)


def test_stretching_through_zero_stops_by_name():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.ScalableBody(1.0, shape=lw.Box(1, 1, 1), stretch_rate=(-3.0, 0, 0), name="jelly"))
    sim = lw.Simulation(world, dt=1e-2)
    with pytest.raises(lw.LinkworkError, match=r"jelly"):
        sim.run(2.0)
