"""Sweeps for singular configurations are made by the first step that needs them, in the middle of a run."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.maximal.rattle_steps import LACKING, NEVER, RESCUE, THERE

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.Note")
ROOT = Path(__file__).parents[2]
STEPS = 1500  # of the squeezer: a singular configuration is among them


def squeezer(integrator="rattle"):
    return lw.Simulation(lw.scenes.get("squeezer"), dt=2e-3, integrator=integrator)


def mark(sim):
    return sim.integrator.plan.flags[RESCUE]


def test_nothing_is_made_until_a_step_needs_it():
    sim = squeezer()
    sim.step()
    assert mark(sim) == LACKING and "body ('land',)" not in sim.schedules._known
    assert mark(lw.Simulation(lw.scenes.get("pendulum"))) == NEVER


@pytest.mark.parametrize("integrator", ["rattle", "shake"])
def test_what_is_made_in_the_middle_gives_the_bits_of_what_was_there(integrator):
    asked, ready, single = (squeezer(integrator) for _ in range(3))
    ready.integrator.make_rescue()
    sims = (asked, ready)
    for sim in sims:
        sim.step(STEPS)
    for _ in range(STEPS):
        single.step()
    assert [mark(sim) for sim in (asked, ready, single)] == [THERE] * 3
    assert asked.work.tobytes() == ready.work.tobytes()
    assert asked.state.values.tobytes() == single.state.values.tobytes()


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_while_they_are_made_reaches_the_caller_and_the_run_goes_on(monkeypatch, failure):
    sim = squeezer()
    sim.step()

    def fail():
        raise failure("no")

    with monkeypatch.context() as patch:
        patch.setattr(sim.integrator, "projection", fail)
        with pytest.raises(failure, match="no"):
            sim.step(STEPS)
    assert mark(sim) == LACKING and np.isfinite(sim.work).all() and sim.drift() < 1e-8
    sim.step(STEPS)
    assert mark(sim) == THERE and sim.drift() < 1e-8


def test_plain_python_asks_too():
    program = ("import linkwork as lw; sim = lw.Simulation(lw.scenes.get('squeezer'), dt=2e-3); sim.step(3); plan = "
               "sim.integrator.plan; before = plan.flags[1]; from linkwork.engines.maximal.rattle_steps import can_be_rescued, rescued; "
               "there = can_be_rescued(sim.work, plan); rescued(sim.work, plan); "
               "print(before, there, sim.drift() < 1e-8)")  # fmt: skip
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert run.stdout.split() == [str(LACKING), "True", "True"], run.stderr[-2000:]
