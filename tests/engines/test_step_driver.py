"""The loop that makes steps: substeps against a slow twin; what it keeps, gives back and feeds; every engine is driven by it."""

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.codegen.jit import INTERPRETED, compiled_address, jit
from linkwork.codegen.struct import Struct
from linkwork.engines import step_driver
from linkwork.engines.engine import Engine
from linkwork.engines.integrators import INTEGRATORS
from linkwork.engines.scalars import GOOD_SUBSTEPS, STEP, SUBSTEP, SUBSTEPS, TIME, WORK_DONE
from linkwork.engines.solvers import SOLVERS
from linkwork.engines.step_driver import CUT, DIVERGED, OK, REJECTED, STUCK, Cutting, StepTable
from linkwork.engines.traits import PAIRS, TABLE, TRAITS

IMPULSE, MULTIPLIER, SENTINEL, TARGET, SIZE = 50, 51, 52, 53, 60  # entries of the workspaces below
MOST, PASSED = range(2)  # numbers of a plan


class Script(Struct):
    """Of an engine that rejects all substeps that are longer than a part of dt, from some time on."""

    numbers: np.ndarray  # (2,) s: the longest substep, and one that is passed in another way
    until: np.ndarray  # (1,) s: after that all are good
    seen: np.ndarray  # (k, 3) start and length of the substeps that were made, and the target
    count: np.ndarray  # (1,) int64
    steps: StepTable


@jit
def attempt(work, plan, h, start):
    work[WORK_DONE] += h
    work[MULTIPLIER] = h
    work[TIME] = start + h
    if plan.steps.now[step_driver.IS_LAST] and plan.steps.now[step_driver.IS_FIRST]:
        work[IMPULSE] = 0.0
    if h > plan.numbers[MOST] and start < plan.until[0]:
        return REJECTED
    k = plan.count[0]
    plan.seen[k, 0], plan.seen[k, 1], plan.seen[k, 2] = start, h, work[TARGET]
    plan.count[0] = k + 1
    return OK


@jit
def reject(work, plan, h, start):
    return OK if h <= plan.numbers[PASSED] else REJECTED


def engine(most, until, passed=0.0, finest=16, cutting=Cutting.LONGER_IN_TIME, good=2, stops=0):
    """A table, its plan and a workspace: dt = 1 s."""
    rules = np.array([finest, cutting, good, 1, stops, 0, IMPULSE], dtype=np.int64)
    calls: Any = [None] * 6 if INTERPRETED else np.zeros(6, dtype=np.int64)
    entries = [np.array([k], dtype=np.int64) for k in (MULTIPLIER, SENTINEL, TARGET)]
    table = StepTable(
        calls, rules, np.zeros(4, dtype=np.int64), entries[0], np.zeros(1), entries[1], entries[2], np.zeros((0, 0))
    )
    plan = Script(np.array([most, passed]), np.array([until]), np.zeros((1000, 3)), np.zeros(1, dtype=np.int64), table)
    for place, function in ((step_driver.ATTEMPT, attempt), (step_driver.REJECT, reject)):
        calls[place] = compiled_address(function, np.zeros(0), plan, 0.0, 0.0)
    calls[step_driver.PLAN] = plan if INTERPRETED else plan.address
    calls[step_driver.WHOLE_STEP] = compiled_address(step_driver.make_in_substeps, np.zeros(0), table, 0.0, 0.0)
    calls[step_driver.STEP_ARGUMENT] = table if INTERPRETED else table.address
    work = np.zeros(SIZE)
    work[STEP] = 1.0
    return table, plan, work


def twin(steps, most, until, finest, cutting, good):
    """Substeps in rational numbers, as plainly as can be: (starts and lengths, in parts of the finest)."""
    found, length, well = [], finest, 0
    for step in range(steps):
        done = 0
        if cutting is Cutting.LONGER_EACH_STEP and step:
            length = min(finest, 2 * length)
        while done < finest:
            at = step + done / finest
            while length / finest > most and at < until:
                length, well = length // 2, 0
            found.append((at, length / finest))
            done += length
            if length < finest and cutting is Cutting.LONGER_IN_TIME:
                well += 1
                if well >= good and done % (2 * length) == 0:
                    length, well = 2 * length, 0
    return np.array(found)


@pytest.mark.parametrize("cutting", [Cutting.LONGER_IN_TIME, Cutting.LONGER_EACH_STEP])
@pytest.mark.parametrize(("most", "until"), [(2.0, 9.0), (0.5, 9.0), (0.2, 1.6), (0.07, 0.3), (0.13, 2.3)])
@pytest.mark.parametrize("good", [1, 2, 5])
def test_substeps_are_those_of_a_slow_twin(cutting, most, until, good):
    table, plan, work = engine(most, until, cutting=cutting, good=good)
    made, status, _ = step_driver.drive(work, table, 4, 0)
    seen = plan.seen[: plan.count[0], :2]
    assert (made, status) == (4, OK) and work[TIME] == 4.0 and work[STEP] == 1.0
    assert np.array_equal(seen, twin(4, most, until, 16, cutting, good))
    assert work[WORK_DONE] == pytest.approx(4.0, abs=0), "what rejected substeps did counts"
    last = seen[seen[:, 0] >= 3.0]
    assert work[SUBSTEPS] == len(last) and work[SUBSTEP] in 16 / 2.0 ** np.arange(5)
    assert work[IMPULSE] + work[MULTIPLIER] == 1.0  # the last solve is left to `complete_impulses`


def test_how_steps_are_divided_into_calls_changes_nothing():
    one, other = engine(0.2, 2.1), engine(0.2, 2.1)
    _, _, age = step_driver.drive(one[2], one[0], 6, 0)
    again = 0
    for _ in range(6):
        again = step_driver.drive(other[2], other[0], 1, again)[2]
    assert again == age and np.array_equal(one[1].seen, other[1].seen) and one[2].tobytes() == other[2].tobytes()


def test_what_cannot_be_made_shorter_is_stuck_and_what_is_not_finite_has_diverged():
    for velocity, status in ((0.0, STUCK), (np.inf, DIVERGED)):
        table, _, work = engine(0.0, 9.0)
        work[SENTINEL] = velocity
        assert step_driver.drive(work, table, 3, 7) == (1, status, 0)
        assert work[TIME] == 0.0 and work[STEP] == 1.0 and work[SUBSTEP] == 0.0 and work[WORK_DONE] == 0.0


def test_an_engine_may_pass_a_substep_in_another_way():
    table, plan, work = engine(0.0, 9.0, passed=0.25)
    assert step_driver.drive(work, table, 2, 0)[:2] == (2, OK)
    assert plan.count[0] == 0 and work[TIME] == 2.0 and work[GOOD_SUBSTEPS] == 0.0 and work[SUBSTEP] == 4.0


def test_a_run_stops_before_the_first_step_that_must_be_cut():
    table, plan, work = engine(0.5, 9.0, stops=1)
    plan.numbers[MOST] = 1.0
    step_driver.drive(work, table, 2, 0)
    plan.numbers[MOST] = 0.5
    assert step_driver.drive(work, table, 3, 0)[:2] == (0, CUT) and work[TIME] == 2.0 and work[STEP] == 1.0


def test_targets_are_fed_step_by_step():
    table, plan, work = engine(0.5, 9.0)
    table.renew(feed=np.array([[3.0], [5.0], [7.0]]))
    step_driver.drive(work, table, 3, 0)
    assert plan.seen[: plan.count[0], 2].tolist() == [3.0, 3.0, 5.0, 5.0, 7.0, 7.0]


def test_every_engine_is_driven_by_the_loop_and_stands_in_the_table():
    assert all(engine.advance is Engine.advance for engine in INTEGRATORS.values())
    assert list(TABLE) == list(SOLVERS) and list(TRAITS) == list(INTEGRATORS)
    assert {integrator for _, integrator in PAIRS} == set(INTEGRATORS)
    for solver, integrator in PAIRS:
        traits = TABLE[solver][integrator]
        assert (traits.solver, traits.integrator) == (solver, integrator)
        assert INTEGRATORS[integrator].traits.order == traits.order


def followed():
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0), name="arm"))
    world.add(lw.Hinge(world.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    times = np.linspace(0.0, 0.2, 30)
    circle = np.column_stack([0.5 * np.cos(20 * times), 0 * times, 0.5 * np.sin(20 * times)])
    world.add(lw.Follow("arm", lw.Trajectory(times, circle), stiffness=500.0, damping=20.0))
    return world


@pytest.mark.parametrize(("solver", "integrator"), [("tree", "rattle"), ("tree", "euler"), ("tree", "dopri5"),
                                                    ("implicit", "backward-euler"), ("aba", "joint-rk4")])  # fmt: skip
def test_recorded_motions_are_followed_within_one_call(solver, integrator, monkeypatch):
    one, other = (lw.Simulation(followed(), solver=solver, integrator=integrator, dt=1e-3) for _ in range(2))
    for _ in range(150):
        one.step()
    calls = []
    advance = Engine.advance
    monkeypatch.setattr(
        Engine, "advance", lambda self, work, steps, age: calls.append(steps) or advance(self, work, steps, age)
    )
    other.step(150)
    assert sum(calls) == 150 and len(calls) < 10
    assert one.state.values.tobytes() == other.state.values.tobytes() and abs(one.angle("hinge")) > 0.1


def test_an_iteration_knows_nothing_of_contacts_long_past():
    """The tolerance of Newton's method in contact is that of the iteration at hand: a state says all of what follows."""

    def falling():
        world = lw.World()
        world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.3, 0.1), position=(0, 0, 5), angular_velocity=(5, 3, 1), name="box"))
        world.add(lw.Contact())
        return lw.Simulation(world, solver="implicit", dt=1e-2)

    one, other = falling(), falling()
    other._system.contact.noise[0] = 1e3
    one.step(20)
    other.step(20)
    assert one.state.values.tobytes() == other.state.values.tobytes()
