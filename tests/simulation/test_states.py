"""States: the same bits again, whoever looks on and however the steps are cut."""

import copy
import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.step_driver import FINEST, substep_of
from tests.simulation.worlds import INTEGRATORS, crank_and_rod, make, same, zoo


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("solver", ["tree", "dense"])
def test_a_state_brings_the_same_bits_again(integrator, solver):
    sim = make(integrator, solver=solver)
    sim.step(7)
    before = sim.state.copy()
    sim.step(20)
    after = sim.state.copy()
    assert after.values.tobytes() != before.values.tobytes()
    sim.state = before
    same(sim.state, before)
    sim.step(20)
    same(sim.state, after)
    other = make(integrator, solver=solver)  # another world, the same model
    other.state = before
    other.step(20)
    same(other.state, after)
    third = make(integrator, world=sim.world, solver=solver)
    third.step(3)
    third.state = before.copy()
    third.run(20 * 2e-3)
    same(third.state, after)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_looking_changes_nothing(integrator):
    blind, looking = make(integrator), make(integrator)
    blind.step(30)
    for k in range(30):
        looking.step()
        if k % 3 == 0:
            looking.energy()
            looking.drift()
        if k % 4 == 1:
            looking.reaction("pin")
            looking.reaction("told")
            looking.drift(velocity=True)
        if k % 5 == 2:
            looking.acceleration("jelly")
            looking.jacobian("rod")
            looking.angle("axle1")
        if k % 7 == 3:
            looking.control["servo"] = looking.control["servo"]
            looking.set("k", looking.get("k"))
    for sim in (blind, looking):
        sim.step()  # a hinge's counter may lag until somebody looks: the next step is what counts
    same(blind.state, looking.state)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_stretch_of_steps_is_the_same_as_single_ones(integrator):
    whole, single, recorded = (make(integrator) for _ in range(3))
    whole.step(40)
    for _ in range(40):
        single.step()
    recorded.run(40 * 2e-3, record_every=0.006, record=["pin", "contact"], until=lambda s: False)
    same(whole.state, single.state)
    for sim in (whole, recorded):
        sim.step()
    same(whole.state, recorded.state)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_reset_goes_back_to_the_start(integrator):
    sim = make(integrator)
    start, first = sim.state.copy(), []
    for _ in range(2):
        sim.step(15)
        first.append(sim.state.copy())
        sim.reset()
        same(sim.state, start)
        assert sim.time == 0.0 and sim.steps == 0
    same(*first)


def test_a_copy_of_a_state_is_independent():
    sim = make("rattle")
    s = sim.state
    kept = s.copy()
    sim.step(3)
    same(s, kept)
    s.values[:] = 0.0
    assert not np.all(sim.state.values == 0.0) and not np.all(kept.values == 0.0)


def test_a_state_of_another_model_is_refused():
    with pytest.raises(lw.ModelError, match=r"state of .* numbers"):
        make("rattle").state = make("rattle", crank_and_rod()).state


def test_a_state_holds_turns_beyond_one():
    sim = make("rattle", dt=1e-3)
    sim.step(2000)
    turned, s = sim.angle("axle2"), sim.state.copy()
    assert turned == pytest.approx(40 * (1 - math.cos(2.0)), abs=1e-6)
    sim.step(1000)
    sim.state = s
    assert sim.angle("axle2") == turned


def test_a_copied_world_moves_the_same():
    world = zoo()
    twin = copy.deepcopy(world)
    first, second = make("rattle", world), make("rattle", twin)
    first.step(20)
    second.step(20)
    same(first.state, second.state)


def swinging():
    """Two hinges, of which one has a spring that counts turns."""
    world = lw.World()
    for k, name in enumerate("ab"):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(k, 0, 0), name=name))
        world.add(lw.Hinge(world.ground, name, at=(k, 0, 0.3), axis=(0, 1, 0), name=f"pin {name}"))
    world.add(lw.JointSpring("pin a", 1.0, name="spring"))
    return world


def test_a_state_from_before_a_counting_force_was_exchanged_is_refused():
    """It has as many numbers as one from after it."""
    world = swinging()
    sim = lw.Simulation(world)
    before = sim.state.copy()
    world.remove("spring")
    world.add(lw.JointSpring("pin b", 1.0, name="other"))
    sim.step()
    assert len(before.values) == len(sim.state.values)
    with pytest.raises(
        lw.ModelError,
        match=r"^Simulation: the state is one of another model, or from before bodies, constraints or a force that counts",
    ):
        sim.state = before
    sim.reset()
    assert sim.steps == 0


def test_states_are_taken_from_like_models_and_from_before_forces_that_count_nothing():
    world = swinging()
    sim, twin = lw.Simulation(world), lw.Simulation(swinging())
    sim.step(3)
    twin.state = before = sim.state.copy()
    world.add(lw.Drag("a", 0.1))
    sim.step(3)
    sim.state = before
    assert sim.steps == twin.steps == 3 and sim.position("a") == pytest.approx(twin.position("a"), abs=0)


PACES = {
    "rattle": [(1e300, 0.0), (-1.0, 0.0), (3.0, 0.0), (0.5, 0.0), (8192.0, 0.0), (64.0, -1e300), (64.0, 1e300)],
    "backward-euler": [(1e300, 0.0), (100.0, 0.0)],
    "dopri5": [(-1e-3, 0.0)],
    "first-order": [(1e300, 0.0), (-1.0, 0.0), (0.3, 0.0), (3.0, 0.0), (2048.0, 0.0)],
}


@pytest.mark.parametrize("integrator", PACES)
def test_a_pace_that_no_step_leaves_is_refused(integrator):
    sim = lw.Simulation(
        lw.scenes.get("pendulum"), solver="implicit" if integrator == "backward-euler" else "tree", integrator=integrator
    )
    sim.step(3)
    for pace in PACES[integrator]:
        changed = sim.state.copy()
        changed.values[changed.layout.where("pace")] = pace
        with pytest.raises(lw.ModelError, match=rf"the pace of the integrator is .* as {integrator} never leaves it"):
            sim.state = changed
    before = sim.state
    before.values[before.layout.where("pace")] = {"dopri5": (1e-4, 0.0)}.get(integrator, (64.0, 3.0))
    sim.state = before
    sim.step()
    assert sim.steps == 4


@pytest.mark.parametrize("field", ["steps", "age"])
def test_a_state_that_counts_too_far_is_refused(field):
    sim = lw.Simulation(lw.scenes.get("pendulum"))
    state = sim.state
    setattr(state, field, 10**30)
    with pytest.raises(lw.LinkworkError, match=r"of the state is 10{30}; give a whole number"):
        sim.state = state


@pytest.mark.parametrize("pace", [1e300, -1e300, math.inf, -math.inf, math.nan, 1e-300, 5000.0, 3.5, 4096.0, 64.0, 1.0, 0.0])
def test_parts_of_a_step_add_up_whatever_the_pace(pace):
    part = substep_of(pace)
    assert 1 <= part <= FINEST and FINEST % part == 0
    if pace in (1.0, 64.0, 4096.0):
        assert part == pace
