"""Batches: what is read and set, worlds that fail, rollouts, and what is refused."""

import re

import numpy as np
import pytest

import linkwork as lw
from tests.batches.test_lockstep import pendulums, same


def stiff(k=20.0):
    """A particle on a spring that euler cannot follow where it is stiff."""
    world = lw.World()
    gain = lw.Parameter(k, "gain")
    bob = world.add(lw.Particle(1.0, position=(0, 0, -1.1), name="bob"))
    world.add(lw.Spring(world.ground, bob, stiffness=gain, rest=1.0, name="spring"))
    return world


def test_a_world_that_diverges_stays_where_it_was_and_the_others_go_on():
    batch = lw.Batch(stiff(), 3, 0.01, integrator="euler", threads=2)
    batch.set("gain", [20.0, 1e9, 30.0])
    batch.step(500)
    assert batch.failed.tolist() == [False, True, False]
    assert batch.steps[0] == batch.steps[2] == 500
    assert 0 < batch.steps[1] < 500
    one = lw.Simulation(stiff(), 0.01, integrator="euler")
    one.set("gain", 1e9)
    one.step(int(batch.steps[1]))
    assert same(batch, 1, one)
    with pytest.raises(lw.DivergenceError) as stopped:
        one.step()
    assert batch.reason(1) == str(stopped.value)
    assert batch.reason(0) is None
    before = batch.q
    batch.step(5)
    assert batch.steps.tolist() == [505, one.steps - 1, 505]
    assert np.array_equal(batch.q[1], before[1])
    batch.set("gain", 20.0, worlds=[1])
    batch.reset([1])
    batch.step(5)
    assert not batch.failed.any()
    assert batch.steps[1] == 5


def test_what_was_read_never_changes():
    batch = lw.Batch(lw.scenes.get("double-pendulum"), 3)
    batch.set_state(q=[0.5, 0.0])
    q, positions = batch.q, batch.positions
    before = q.copy(), positions.copy()
    batch.step(50)
    assert not np.array_equal(batch.q, q)
    assert np.array_equal(q, before[0])
    assert np.array_equal(positions, before[1])
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1.0


def test_a_world_goes_to_a_simulation_and_back():
    world = pendulums()
    batch = lw.Batch(world, 3)
    batch.set("damping", [1.0, 2.0, 3.0])
    batch.controls[:, 0] = [0.1, 0.2, 0.3]
    batch.step(20)
    one = batch.simulation(2)
    assert (one.get("damping"), one.control["motor"], one.steps) == (3.0, 0.3, 20)
    one.step(10)
    one.control["motor"] = 0.7
    batch.put([0], one)
    assert batch.get("damping").tolist() == [3.0, 2.0, 3.0]
    assert batch.controls[:, 0].tolist() == [0.7, 0.2, 0.3]
    assert same(batch, 0, one)


def test_states_of_other_solvers_are_taken():
    world = pendulums()
    other = lw.Simulation(world, 1e-3, solver="dense", integrator="rk4")
    other.step(100)
    batch = lw.Batch(world, 2)
    batch.put(None, other.state)
    assert np.allclose(batch.q, other.q, atol=1e-12)


def test_keyframes():
    world = pendulums()
    world.keyframes["up"] = lw.Keyframe(positions={"hinge": 1.0}, controls={"motor": 0.5})
    batch, one = lw.Batch(world, 2), lw.Simulation(world)
    batch.reset([1], keyframe="up")
    one.reset("up")
    batch.step(10)
    one.step(10)
    assert batch.controls[:, 0].tolist() == [0.0, 0.5]
    assert same(batch, 1, one)


def test_steps_that_are_interrupted_leave_each_world_before_or_behind(monkeypatch):
    batch = lw.Batch(lw.scenes.get("double-pendulum"), 64, threads=2)
    batch.step(1)
    step, calls = type(batch._threads.first).step, []

    def stops(lender, chosen, steps):
        calls.append(0)
        if len(calls) == 5:
            raise KeyboardInterrupt
        step(lender, chosen, steps)

    monkeypatch.setattr(type(batch._threads.first), "step", stops)
    with pytest.raises(KeyboardInterrupt):
        batch.step(10)
    monkeypatch.undo()
    assert set(batch.steps.tolist()) == {1, 11}
    one = lw.Simulation(lw.scenes.get("double-pendulum"))
    one.step(1)
    assert same(batch, int(np.argmin(batch.steps)), one)
    batch.step(10, worlds=batch.steps == 1)
    one.step(10)
    assert all(same(batch, i, one) for i in range(64))


def test_a_rollout_is_steps_and_reads():
    world, rng = pendulums(), np.random.default_rng(0)
    u = rng.uniform(-1, 1, (3, 7, 1))
    batch, sims = lw.Batch(world, 3), [lw.Simulation(world) for _ in range(3)]
    found = batch.rollout(u, hold=4, record=["q", "velocities", "time"])
    for i, sim in enumerate(sims):
        for k in range(7):
            sim.control["motor"] = u[i, k, 0]
            sim.step(4)
            assert np.array_equal(found["q"][i, k], sim.q)
            assert np.array_equal(found["velocities"][i, k], sim.velocities)
            assert found["time"][i, k] == sim.time
    data = batch.labelled(found, hold=4)
    assert data.q.dims == ("world", "step", "coordinate")
    assert data.step.values.tolist() == [4 * k for k in range(1, 8)]
    assert data.velocities.attrs["units"] == "m/s, rad/s"


def test_a_policy_commands_the_worlds_that_are_stepped():
    world = pendulums()
    batch = lw.Batch(world, 4)
    batch.set_state(qd=[[0.5, *np.zeros(6)]])
    out = {"q": np.zeros((2, 30, batch.q.shape[1]))}
    found = batch.rollout(lambda b: -0.5 * b.qd[:, :1], steps=30, record=["q"], worlds=[1, 3], out=out)
    assert found["q"] is out["q"]
    assert batch.steps.tolist() == [0, 30, 0, 30]
    one = lw.Simulation(world)
    one.set_state(qd=[0.5, *np.zeros(6)])
    for _ in range(30):
        one.control["motor"] = -0.5 * one.qd[0]
        one.step()
    assert same(batch, 3, one)


def test_where_one_world_is_refused_none_is_changed():
    batch = lw.Batch(lw.scenes.get("slider-crank"), 3, 1e-3)
    before = batch.positions
    wrong = np.array([batch.positions[0]] * 3)
    wrong[2, 0] += 0.1
    with pytest.raises(lw.LinkworkError, match="world 2: .* off by"):
        batch.set_state(positions=wrong)
    assert np.array_equal(batch.positions, before)


def test_solvers_that_call_python_step_one_world_at_a_time():
    batch = lw.Batch(lw.scenes.get("double-pendulum"), 3, solver="dense", threads=2)
    assert batch.threads == 1
    assert lw.Batch(lw.scenes.get("double-pendulum"), 3, threads=2).threads == 2


def refused(words, do):
    with pytest.raises(lw.LinkworkError, match=re.escape(words)):
        do()


def test_bad_input():
    world = pendulums()
    batch = lw.Batch(world, 3)
    refused("n is 0", lambda: lw.Batch(world, 0))
    refused("threads is 0", lambda: lw.Batch(world, 2, threads=0))
    refused('no solver is called "trea"', lambda: lw.Batch(world, 2, solver="trea"))
    refused("there is no world 3", lambda: batch.step(worlds=[3]))
    refused("world 1 is chosen twice", lambda: batch.step(worlds=[1, 1]))
    refused("worlds is a mask of the shape (2,)", lambda: batch.step(worlds=[True, False]))
    refused("worlds is 'all'", lambda: batch.step(worlds="all"))
    refused("n is -1", lambda: batch.step(-1))
    refused("q is of the shape (2,)", lambda: batch.set_state(q=[0.0, 1.0]))
    refused("qd[1, 0] is nan", lambda: batch.set_state(qd=[[0.0] * 7, [np.nan] * 7, [0.0] * 7]))
    refused('no parameter is called "dampin"; did you mean "damping"', lambda: batch.set("dampin", 1.0))
    refused("damping is of the shape (2,); give the shape (3,), or a number", lambda: batch.set("damping", [1.0, 2.0]))
    refused("damping", lambda: batch.set("damping", [1.0, -1.0, 1.0]))
    refused('no keyframe is called "up"', lambda: batch.reset(keyframe="up"))
    refused("state is 3", lambda: batch.put([0], 3))
    refused('nothing that is recorded is called "qq"', lambda: batch.rollout(steps=1, record=["qq"]))
    refused("a rollout needs steps", lambda: batch.rollout())
    refused("controls are of the shape (2, 5, 1)", lambda: batch.rollout(np.zeros((2, 5, 1))))
    refused("the policy gives an array of the shape (2,)", lambda: batch.rollout(lambda b: [0.0, 1.0], steps=1))
    refused("the policy gives 'fast'", lambda: batch.rollout(lambda b: "fast", steps=1))
    refused("nothing was recorded", lambda: batch.labelled({}))
    refused('out["q"] is', lambda: batch.rollout(steps=2, record=["q"], out={"q": np.zeros(3)}))
    refused('out has "qd", which is not recorded', lambda: batch.rollout(steps=2, record=["q"], out={"qd": np.zeros(3)}))
    batch.controls[1, 0] = np.nan
    refused('controls[1, 0] ("motor: torque, N m") is nan', batch.step)
    assert batch.steps.tolist() == [0, 0, 0]
    batch.controls[:] = 0.0
    world.add(lw.Particle(1.0, name="late"))
    refused("its world was changed after it was made", batch.step)


def test_a_state_that_is_refused_changes_no_parameter():
    batch, other = lw.Batch(pendulums(), 2), pendulums()
    other.add(lw.Particle(1.0, position=(3, 0, 0), name="more"))
    sim = lw.Simulation(other)
    sim.set("damping", 2.0)
    refused("a state of", lambda: batch.put([0], sim))
    assert batch.get("damping").tolist() == [0.1, 0.1]


def test_ctrl_c_in_steps_that_call_python_takes_the_world_back(monkeypatch):
    from linkwork.simulation.system import System

    world = lw.scenes.get("double-pendulum")
    batch, one = (lw.Batch(world, 3, solver="dense"), lw.Simulation(world, solver="dense"))
    batch.step(2)
    one.step(2)
    advance, calls = System.advance, []

    def stops(system, n):
        calls.append(0)
        if len(calls) == 2:
            advance(system, 1)
            raise KeyboardInterrupt
        return advance(system, n)

    monkeypatch.setattr(System, "advance", stops)
    with pytest.raises(KeyboardInterrupt):
        batch.step(3)
    monkeypatch.undo()
    assert batch.steps.tolist() == [5, 2, 2]
    assert same(batch, 1, one)


def test_a_batch_of_a_world_that_was_changed_makes_no_simulation_of_it():
    world = pendulums()
    batch = lw.Batch(world, 4, threads=2)
    world.add(lw.Particle(1.0, name="late"))
    refused("its world was changed after it was made", lambda: batch.q)
    refused("its world was changed after it was made", lambda: batch.simulation(0))
