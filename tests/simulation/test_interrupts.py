"""Ctrl-C: runs that would take very long end, and so does compilation; how steps are divided into calls changes no bit."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.codegen import interrupts, jit
from linkwork.codegen.waiting import INTERRUPTS_DEFERRED, interruptible, safe_point, stop_if_abandoned
from linkwork.engines.maximal.dense import Dense
from linkwork.simulation import system

HANGS = 120  # s: no press of a key takes that long
BEGIN = """
import linkwork as lw
from linkwork.simulation.system import System

silent = System._advance_a_piece

def told(self, n, made):
    found = silent(self, n, made)
    if made == 0 and n > 5:
        print("begins", flush=True)
    return found

System._advance_a_piece = told
sim = lw.Simulation(lw.scenes.get({scene!r}))
sim.step(5)
"""


def interrupted(script, tmp_path=None, until="begins"):
    """(exit code, what it printed) of a script that got SIGINT after it printed `until`, which is said by what is to be
    interrupted. It listens to it even where the tests run in the background of a shell, which has its children ignore it."""
    script = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{script}"
    env = dict(os.environ) if tmp_path is None else {**os.environ, "LINKWORK_CACHE": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-u", "-c", script], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:  # fmt: skip
        printed = []
        for line in process.stdout:
            printed.append(line)
            if until in line:
                break
        process.send_signal(signal.SIGINT)
        try:
            rest, _ = process.communicate(timeout=HANGS)
        finally:
            process.kill()
    return process.returncode, "".join(printed) + rest


@pytest.mark.parametrize("scene", ["pendulum", "box-stack"])
def test_a_thousand_million_steps_end(scene):
    code, printed = interrupted(BEGIN.format(scene=scene) + "sim.step(10**9); print('finished')")
    assert code != 0 and "KeyboardInterrupt" in printed and "finished" not in printed


def test_a_run_of_a_year_ends_after_a_whole_step():
    asks = "rec = sim.run(3e7, record_every=None); print(rec.attributes['note'], 0.0 < sim.time < 3e7, len(rec))"
    code, printed = interrupted(BEGIN.format(scene="pendulum") + asks)
    assert code == 0 and "interrupted at" in printed and "True 2" in printed


@pytest.mark.slow
def test_compilation_ends(tmp_path):
    script = "import linkwork as lw; sim = lw.Simulation(lw.scenes.get('box-stack')); sim.run(0.01); print('finished')"
    code, printed = interrupted(script, tmp_path, until="and others (kept for next time)")
    assert code != 0 and "KeyboardInterrupt" in printed and "finished" not in printed


@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="presses are made in forked processes")
@pytest.mark.parametrize("scene", ["pendulum", pytest.param("box-stack", marks=pytest.mark.slow)])
def test_a_press_at_any_call_of_the_first_step_is_raised_and_leaves_a_simulation(scene):
    presses = [sys.executable, Path(__file__).with_name("presses.py"), scene, "20"]
    made = subprocess.run(presses, capture_output=True, text=True, check=True)
    assert made.stdout.splitlines() == ["20 raised"]


@pytest.fixture
def heard():
    """Signals that a handler of the user's has heard; it raises as Python's own does."""
    found = []

    def handler(number, frame):
        found.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    yield found
    signal.signal(signal.SIGINT, before)


def press():
    signal.raise_signal(signal.SIGINT)


def test_deferred_interrupts_are_handled_at_safe_points_and_at_the_end(heard):
    with pytest.raises(KeyboardInterrupt), INTERRUPTS_DEFERRED, INTERRUPTS_DEFERRED:
        press()
        press()
        assert not heard
        with pytest.raises(KeyboardInterrupt):
            safe_point()
        assert len(heard) == 1, "several at once are one"
        safe_point()
        press()
    assert len(heard) == 2
    with pytest.raises(KeyboardInterrupt):
        press()
    assert len(heard) == 3, "the user's handler is there again"


def test_what_somebody_ignores_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with INTERRUPTS_DEFERRED:
            press()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_work_that_takes_forever_is_left_and_stops(heard):
    ended = threading.Event()

    def work():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        try:
            while True:
                stop_if_abandoned()
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert heard and ended.wait(HANGS)


LONG_STEP = """
import signal, threading, time
import linkwork as lw
from linkwork.codegen import interrupts
from linkwork.codegen.waiting import INTERRUPTS_DEFERRED

signal.signal(signal.SIGINT, signal.default_int_handler)
main = threading.main_thread().ident
sim = lw.Simulation(lw.scenes.get("chain", n=1000), dt=2.0, integrator="dopri5")  # more than ten seconds a step
sim._editor.system.prepare()

def press():
    begin = interrupts._done.value
    while interrupts._done.value == begin:  # until compiled code is under way
        time.sleep(1e-3)
    signal.pthread_kill(main, signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
before = sim.state
try:
    {go}
    print("ended", sim.steps, sim.time, (sim.state.values == before.values).all())
except KeyboardInterrupt:
    print("taken back", sim.steps, sim.time, (sim.state.values == before.values).all())
"""


@pytest.mark.skipif(jit.INTERPRETED, reason="compiled code alone looks for signals")
@pytest.mark.parametrize(
    ("go", "end"),
    [
        ("sim.step()", "taken back 0 0.0 True"),
        ("sim.run(100.0)", "ended 0 0.0 True"),
        ("with INTERRUPTS_DEFERRED: sim.step()", "taken back 0 0.0 True"),
    ],
)
def test_a_step_of_many_seconds_is_taken_back(go, end):
    made = subprocess.run([sys.executable, "-c", LONG_STEP.format(go=go)], capture_output=True, text=True, check=True)
    assert made.stdout.splitlines() == [end]


MIDDLE = [("tree", "rattle"), ("tree", "dopri5"), ("tree", "first-order"), ("fronts", "shake"), ("dense", "euler"),
          ("anticipation", "rattle"), ("cg", "rattle"), ("implicit", "backward-euler")]  # fmt: skip  # of parts or iterations


@pytest.mark.parametrize(("solver", "integrator"), MIDDLE)
@pytest.mark.parametrize("n", [1, 7])
def test_what_is_raised_in_the_middle_of_a_step_takes_it_back(solver, integrator, n):
    sim, twin = (lw.Simulation(lw.scenes.get("chain", n=30), dt=1e-3, solver=solver, integrator=integrator) for _ in range(2))
    before = sim.state
    interrupts.stop()
    with pytest.raises(KeyboardInterrupt):
        sim.step(n)
    assert sim.steps == 0 and not interrupts.stopped()
    assert np.array_equal(sim.state.values, before.values)
    sim.step(5)
    twin.step(5)
    assert np.array_equal(sim.state.values, twin.state.values)


@pytest.mark.parametrize("n", [1, 7])
def test_python_in_the_middle_of_a_step_loses_no_interrupt(n, monkeypatch):
    sim = lw.Simulation(lw.scenes.get("double-pendulum"), solver="dense")
    start = sim.state
    sim.step(2)

    def pressed(self, work):
        raise KeyboardInterrupt

    monkeypatch.setattr(Dense, "_solve", pressed)
    with pytest.raises(KeyboardInterrupt):
        sim.step(n)
    assert sim.steps == 0 and np.array_equal(sim.state.values, start.values), "the last state that was kept"


WAYS = [("tree", "rattle"), ("tree", "euler"), ("implicit", "backward-euler"), ("aba", "joint-euler")]


@pytest.mark.parametrize(
    ("scene", "solver", "integrator"),
    [(scene, *way) for scene in ("double-pendulum", "box-stack") for way in WAYS] + [("double-pendulum", "tree", "rk4")],
)
def test_pieces_change_no_bit(scene, solver, integrator, monkeypatch):
    states = []
    for growth in (1, 1000):  # one step in each call, and all in two
        monkeypatch.setattr(system, "GROWTH", growth)
        monkeypatch.setattr(system, "PIECE", 1e6)
        sim = lw.Simulation(lw.scenes.get(scene), dt=2e-3, solver=solver, integrator=integrator)
        sim.step(60)
        states.append(sim.state.values.copy())
    assert np.array_equal(*states)
