"""Steps on which Newton's method does not converge: they are cut, with a note; what cannot be done stops by name."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.symbolic.views import GLOBALS
from tests.implicit.test_stability import network

WHOLE = 4096.0  # what `pace` is where steps are made at once
CUT = re.compile(r"Simulation: Newton's method did not converge in \d+ iterations at t = [\d.e+-]+ s "
                 r'\(largest residual [\d.e+-]+ at \w+ "[\w-]+"\); this step was made in (\d+) parts')  # fmt: skip
STIFF = {"tangent": "exact", "solver": "implicit", "dt": 1 / 60}


def quietly(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **options)


def stiff():
    """Exact tangents of pressed springs are not definite: some steps must be cut."""
    return quietly(network("rigid bodies on balls", 1e8), **STIFF)


def told(sim):
    return [text for text in sim.notes if "Newton" in text]


def pace(sim):
    return sim.work[GLOBALS.offset("pace")]


def test_a_step_that_is_cut_is_told_once():
    sim = stiff()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.step(300)
    assert sim.steps == 300 and sim.time == pytest.approx(5.0)
    [text] = told(sim)
    assert [str(w.message) for w in caught] == [text] and caught[0].category is lw.Note
    assert caught[0].filename == __file__
    assert int(CUT.fullmatch(text)[1]) >= 2


def test_cut_steps_have_the_same_bits_one_by_one():
    together, apart = stiff(), stiff()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        together.step(100)
        for _ in range(100):
            apart.step()
    assert len(told(together)) == len(told(apart)) == 1 and told(together) == told(apart)
    assert together.state.values.tobytes() == apart.state.values.tobytes() and together.time == apart.time


def first_cut(sim):
    """Steps until one has been cut."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        while not told(sim):
            sim.step()
    return sim


def test_after_calm_parts_steps_are_whole_again():
    sim = first_cut(stiff())
    assert 0 < pace(sim) < WHOLE
    for _ in range(200):
        sim.step()
        if pace(sim) == WHOLE:
            return
    raise AssertionError("steps stay cut")


def test_the_constraints_hold_after_cut_steps_and_energy_falls():
    sim = first_cut(stiff())
    before = sim.energy().total
    for _ in range(50):
        sim.step()
        after = sim.energy().total
        assert sim.drift() < 1e-8 and after < before
        before = after


def test_states_keep_how_steps_are_cut():
    sim = first_cut(stiff())
    kept = sim.state.copy()
    sim.step(40)
    end = sim.state.values.tobytes()
    sim.state = kept
    assert 0 < pace(sim) < WHOLE
    sim.step(40)
    assert sim.state.values.tobytes() == end


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))], ids=["deepcopy", "pickle"])
def test_a_copy_does_not_tell_again(clone):
    sim = first_cut(stiff())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twin = clone(sim)
        for one in (sim, twin):
            one.step(40)
    assert twin.notes == sim.notes and twin.state.values.tobytes() == sim.state.values.tobytes()


def test_after_a_reset_nothing_is_told_again():
    sim = first_cut(stiff())
    sim.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(60)
    assert len(told(sim)) == 1


# -- what cannot be done ------------------------------------------------------------------------------------------------------


def chattering():
    """A force that jumps by 2e8 N: no step is short enough."""
    world = lw.World()
    world.add(lw.Particle(1.0, (1, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    world.add(lw.Force("bob", lambda b, t: (0, lw.where(b.position[1] > 0.05, -1e8, 1e8), 0)))
    return world


def unreachable():
    """A bob that is to go further than its rod is long, from 0.9 s on."""
    world = lw.World()
    world.add(lw.Particle(1.0, (0.1, 0, -np.sqrt(0.99)), (1, 0, 0.1 / np.sqrt(0.99)), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    world.add(lw.Constraint("bob", lambda b, t: b.position[0] - 0.1 - t, name="pull"))
    return world


STUCK = re.compile(
    r"Simulation: Newton's method did not converge in step (\d+) at ([\d.e+-]+) s, not even in 4096 parts of it "
    r'\(largest residual [\d.e+-]+ at \w+ "(\w+)"\); smaller steps do not get past it, and Particle "bob" had .*'
)
EXCLUDED = re.compile(r"Simulation: it could not be brought back onto its constraints in step (\d+) at ([\d.e+-]+) s, since Distance "
                      r'"(rod)" and Constraint "pull" contradict each other by .* or ask for what can be met')  # fmt: skip


@pytest.mark.parametrize(("world", "tangent", "says"), [
    (chattering, "symmetric", STUCK), (unreachable, "symmetric", EXCLUDED), (unreachable, "exact", EXCLUDED),
])  # fmt: skip
def test_what_does_not_converge_stops_by_name(world, tangent, says):
    sim = quietly(world(), solver="implicit", dt=1 / 60, tangent=tangent)
    start = sim.state.copy()
    with pytest.raises(lw.DivergenceError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim.step(120)
    error, found = caught.value, says.fullmatch(str(caught.value))
    assert found and found[3] == error.worst.name == "rod"
    assert int(found[1]) == error.step == sim.steps and float(found[2]) == pytest.approx(error.time) == pytest.approx(sim.time)
    assert np.isfinite(sim.state.values).all() and sim.drift() < 1e-8  # the last good part
    sim.state = start
    sim.step(0)
    assert sim.steps == 0 and sim.time == 0


@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
def test_single_iterations_that_do_not_hold_a_constraint_are_told_once(tangent):
    sim = quietly(unreachable(), solver="implicit", dt=1 / 60, tangent=tangent, iterations=1)
    says = r'^Simulation: one iteration a step leaves \w+ "(pull|rod)" off by [\d.]+ at t = 2 s; Distance "rod" and Constraint "pull" contradict'
    with pytest.warns(lw.Note, match=says):
        sim.run(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(1.0)
        copy.deepcopy(sim).step(2000)
    held = quietly(lw.scenes.get("chain", n=3), solver="implicit", dt=1 / 60, iterations=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held.run(5.0)
    assert not [text for text in held.notes if "one iteration" in text]


@pytest.mark.parametrize("iterations", [1, None])
@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
def test_what_is_not_finite_is_named(tangent, iterations):
    world = lw.World()
    world.add(lw.Particle(1.0, (1, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    world.add(lw.Force("bob", lambda b, t: (0, 0, lw.sqrt(0.5 - t)), name="culprit"))
    sim = lw.Simulation(world, dt=1 / 60, solver="implicit", tangent=tangent, iterations=iterations)
    with pytest.raises(
        lw.DivergenceError, match=r'in step 31 at 0\.5\d* s, since Force "culprit" gives nan at 0\.5\d* s; write'
    ):
        sim.step(60)
    assert sim.steps == 31


@pytest.mark.parametrize("iterations", [1, None])
@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
def test_a_body_that_collapses_is_named(tangent, iterations):
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.ScalableBody(1.0, shape=lw.Box(1, 1, 1), stretch_rate=(-3.0, 0, 0), name="jelly"))
    sim = lw.Simulation(world, dt=1 / 60, solver="implicit", tangent=tangent, iterations=iterations)
    with pytest.raises(lw.DivergenceError, match=r'^ScalableBody "jelly": it has collapsed'):
        sim.step(60)
