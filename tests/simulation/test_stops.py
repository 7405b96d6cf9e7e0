"""Runs that go wrong: what they say, and that one can go back."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.kernels.vocabulary import BodyKernel
from linkwork.simulation import contradictions
from linkwork.symbolic.views import GLOBALS
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


# -- values that are not finite -----------------------------------------------------------------------------------
STEPPERS = ["rattle", "euler", "rk4", "dopri5"]


def pendulum(*more, dt=1e-2, **options):
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    world.add(lw.Drag("bob", 0.1, name="air"))
    for element in more:
        world.add(element)
    return lw.Simulation(world, dt=dt, **options)


def stepwise(sim, steps):
    for _ in range(steps):
        sim.step()


WAYS = {"run": lambda sim, n: sim.run(n * sim.dt), "step": lambda sim, n: sim.step(n), "single steps": stepwise}
CULPRITS = {  # how to make the element, and whether a smaller dt might help
    "force of time": (lambda: lw.Force("bob", lambda b, t: (0, 0, lw.sqrt(0.5 - t)), name="culprit"), False),
    "force of place": (lambda: lw.Force("bob", lambda b, t: (0, 0, lw.log(b.position[2] + 0.5)), name="culprit"), True),
    "wrench": (lambda: lw.Wrench("bob", force=lambda t: (0, lw.log(0.5 - t), 0), name="culprit"), False),
    "constraint": (
        lambda: lw.Constraint("bob", lambda b, t: b.position[1] - lw.sqrt(1 - 2 * t) + (1 - t), name="culprit"),
        False,
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CULPRITS)
@pytest.mark.parametrize("integrator", STEPPERS)
def test_what_is_not_finite_first_is_named(case, integrator, way):
    element, dt_helps = CULPRITS[case]
    sim = pendulum(element(), integrator=integrator)
    with pytest.raises(
        lw.DivergenceError, match=r"since \w+ \"culprit\" gives (nan|-inf) at 0\.\d+ s; write its function"
    ) as caught:
        WAYS[way](sim, 200)
    error = caught.value
    assert error.worst.name == "culprit" and error.step == sim.steps < 60 and error.time == sim.time
    assert "smaller dt" not in str(error) or dt_helps


@pytest.mark.parametrize("integrator", STEPPERS)
def test_it_is_named_where_something_is_set_before_each_step(integrator):
    k = lw.Parameter(1.0, name="k")
    sim = pendulum(lw.Force("bob", lambda b, t: (0, k * lw.sqrt(0.5 - t), 0), name="culprit"), integrator=integrator)
    with pytest.raises(lw.DivergenceError, match=r'Force "culprit" gives nan at 0\.5\d* s'):
        sim.run(1.0, control=lambda s: s.set("k", 1.0 + s.time))


@pytest.mark.parametrize("integrator", STEPPERS)
def test_a_force_that_is_not_finite_at_the_start_is_named(integrator):
    world = lw.World()
    world.add(lw.Particle(1.0, name="bob"))
    world.add(lw.Force("bob", lambda b, t: (0, 0, lw.log(t)), name="culprit"))
    sim = lw.Simulation(world, integrator=integrator)
    with pytest.raises(lw.DivergenceError, match=r'in step 1 .* since Force "culprit" gives -inf at 0 s; write') as caught:
        sim.step()
    assert "smaller dt" not in str(caught.value)
    with pytest.raises(lw.ModelError, match=r'^Force "culprit": it gives -inf at 0 s, where the simulation starts; write'):
        pendulum(lw.Force("bob", lambda b, t: (0, 0, lw.log(t)), name="culprit"), integrator=integrator)


def test_a_singular_joint_is_named_without_a_word_of_functions():
    """Two points that a force pulls into one: the direction of their distance has no value there."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, position=(1, 0, 0), name="bob"))
    length = lw.Parameter(1.0, name="length")
    world.add(lw.Distance(world.ground, "bob", length, name="rod"))
    sim = lw.Simulation(world)
    sim.work[sim.model.field_of_body(0, "q")] = 0.0
    sim._system.changed()
    with pytest.raises(lw.DivergenceError, match=r'since Distance "rod" gives nan at 0 s; keep its bodies away from there'):
        sim.step()


def test_looking_into_a_stop_leaves_the_simulation_as_it_stopped():
    sim = pendulum(lw.Force("bob", lambda b, t: (0, 0, lw.sqrt(0.5 - t)), name="culprit"))
    start = sim.state.copy()
    with pytest.raises(lw.DivergenceError):
        sim.step(100)
    stopped = sim.state.copy()
    assert stopped.steps == sim.steps == 50 and not np.isfinite(stopped.values).all()
    sim.state = start
    sim.step(49)
    before = sim.state.copy()
    assert np.isfinite(before.values).all()
    with pytest.raises(lw.DivergenceError):
        sim.step()
    same_bits = sim.state.values.tobytes() == stopped.values.tobytes()
    assert same_bits and sim.time == stopped.time


# -- what helps ---------------------------------------------------------------------------------------------------------
def on_a_stiff_spring():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, (1, 0, 0), name="bead"))
    world.add(lw.Spring(world.ground, "bead", 1e8, rest=0.5, name="spring"))
    return world


def pushed_away():
    """A force that grows with the cube of the distance: at infinity in finite time."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, (1, 0, 0), name="bead"))
    world.add(lw.Force("bead", lambda b, t: 1e4 * lw.dot(b.position, b.position) * b.position, name="push"))
    return world


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4"])
def test_a_smaller_dt_is_advised_with_one_that_was_tried(integrator):
    with pytest.raises(lw.DivergenceError, match=r"take a smaller dt: \S+ s gets past it$") as caught:
        lw.Simulation(on_a_stiff_spring(), integrator=integrator).run(1.0, record_every=None)
    h = float(str(caught.value).split("dt: ")[1].split(" s ")[0])
    sim = lw.Simulation(on_a_stiff_spring(), dt=h, integrator=integrator)
    sim.run(0.1, record_every=None)
    assert np.abs(sim.position("bead")).max() < 1.01


@pytest.mark.parametrize("integrator", STEPPERS)
def test_no_smaller_dt_is_advised_where_none_helps(integrator):
    sim = lw.Simulation(pushed_away(), integrator=integrator)
    with pytest.raises(lw.DivergenceError) as caught:
        sim.run(1.0, record_every=None)
    said = str(caught.value)
    assert "take a smaller dt" not in said and "look at what acts there" in said and 'Particle "bead"' in said


def test_looking_for_a_remedy_leaves_no_trace():
    sim = lw.Simulation(on_a_stiff_spring(), integrator="euler")
    start = sim.state.copy()
    with pytest.raises(lw.DivergenceError):
        sim.step(1000)
    stopped, dt = sim.state.copy(), sim.dt
    sim.state = start
    with pytest.raises(lw.DivergenceError):
        sim.step(1000)
    assert sim.state.values.tobytes() == stopped.values.tobytes() and sim.dt == dt == sim.integrator.dt
    assert sim.work[GLOBALS.offset("step")] == dt


def test_what_an_explicit_step_has_torn_apart_is_not_called_singular():
    """A robot whose fingers hold things by friction, steps of 1 ms without projection: joints are apart by many metres before
    numbers end, and any rows of such a place depend on each other."""
    sim = lw.Simulation(lw.scenes.get("robot-drag"), dt=1e-3, integrator="euler")
    with pytest.raises(lw.DivergenceError, match=r"take a smaller dt: \S+ s gets past it$"):
        sim.step(100)


@pytest.mark.parametrize("solver", ["tree", "dense", "implicit", "cg"])
def test_constraints_that_have_become_singular_are_named(solver):
    """A blade that stands upright has no direction in the plane; bars in line hold one row twice."""
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="shoe"))
    world.add(lw.Skate("shoe", direction=(1, 0, 0), name="blade"))
    world.add(lw.PointOnPlane(world.ground, "shoe", at=(0, 0, 0), normal=(0, 0, 1), name="ice"))
    sim = lw.Simulation(world, solver=solver)
    assert contradictions.singular(sim) == ()
    sim.work[sim.model.field_of_body(0, "q")][3:] = (np.cos(np.pi / 4), 0, -np.sin(np.pi / 4), 0)
    sim._system.changed()
    sim.integrator.run(sim.work, sim.schedules.body(BodyKernel.UPDATE_POSE))
    assert [element.name for element in contradictions.singular(sim)] == ["blade"]


def test_bars_that_fall_into_line_are_named():
    world = lw.World()
    for k, place in enumerate([(1, 0, 0.5), (2, 0, 0)]):
        world.add(lw.Particle(1.0, place, name=f"pin{k}"))
    world.add(lw.Distance(world.ground, "pin0", name="first"))
    world.add(lw.Distance("pin0", "pin1", name="second"))
    world.add(lw.Ball(world.ground, "pin1", at=(2, 0, 0), name="nail"))
    sim = lw.Simulation(world)
    assert contradictions.singular(sim) == ()
    sim.work[sim.model.field_of_body(0, "q")] = (1, 0, 0)
    sim._system.changed()
    sim.integrator.run(sim.work, sim.schedules.body(BodyKernel.UPDATE_POSE))
    assert {element.name for element in contradictions.singular(sim)} == {"first", "second", "nail"}


@pytest.mark.parametrize("function, integrator, remedy", [
    (None, "rattle", "nearer place or more time"),
    (None, "euler", "nearer place or more time"),
    (None, "rk4", "nearer place or more time"),
    (lambda t: (1 + 1e9 * t, 0, 0), "rattle", "change more slowly"),
])  # fmt: skip
def test_a_motion_that_asks_for_too_much_is_named(function, integrator, remedy):
    """A command of 1e9 m, and a function of as much."""
    world = lw.World()
    for k, name in enumerate("bc"):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1 + k, 0, 0), name=name))
    world.add(lw.Ball("b", "c", at=(1.5, 0, 0), name="link"))
    world.add(lw.Motion("b", function, name="hand"))
    sim = lw.Simulation(world, integrator=integrator)
    if function is None:
        sim.control["hand"] = (1e9, 0, 0)
    pattern = rf'since Motion "hand" asks for a way of \d.*e\+0\d m or rad in a step of 0.001 s; .*{remedy}'
    with pytest.raises(lw.DivergenceError, match=pattern) as caught:
        sim.step(200)
    assert caught.value.worst is world.find("hand") and not any("contradict" in note for note in sim.notes)


def test_a_body_that_collapsed_within_a_step_that_was_taken_back_is_named():
    sim = lw.Simulation(lw.scenes.get("scalable"), dt=0.016, solver="tree", integrator="shake")
    with pytest.raises(lw.DivergenceError, match=r'^ScalableBody ".*": it has collapsed .* in step 4'):
        sim.step(20)
