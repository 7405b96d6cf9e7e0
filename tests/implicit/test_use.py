"""Implicit simulations in use: states, copies, reports, impacts, options, turns; interpreted kernels."""

import copy
import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from tests.implicit import worlds
from tests.implicit.test_order import gears
from tests.integrators.problems import PROBLEMS

ROOT = Path(__file__).parents[2]
FORMS = {
    "symmetric": {}, "symmetric, once": {"iterations": 1}, "exact": {"tangent": "exact"},
    "exact, twice": {"tangent": "exact", "iterations": 2, "tolerance": 1e-9},
}  # fmt: skip
WORLDS = {
    "sprung": worlds.sprung, "geared": worlds.geared, "jelly": PROBLEMS["nailed jelly"].world,
    "disc": PROBLEMS["wobbling disc"].world,
}  # fmt: skip
forms = pytest.mark.parametrize("form", FORMS)
tangents = pytest.mark.parametrize("tangent", ["symmetric", "exact"])


def quietly(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **{"dt": 1 / 60, "solver": "implicit"} | options)


def same(one, other):
    assert (one.time, one.steps, one.age) == (other.time, other.steps, other.age)
    assert one.values.tobytes() == other.values.tobytes()


# -- states and copies ----------------------------------------------------------------------------------------------------------


@forms
@pytest.mark.parametrize("name", WORLDS)
def test_states_bring_the_same_bits_again(name, form):
    sim = quietly(WORLDS[name](), **FORMS[form])
    start = sim.state.copy()
    sim.step(5)
    middle = sim.state.copy()
    sim.step(7)
    end = sim.state.copy()
    for state, steps in ((middle, 7), (start, 12)):
        sim.state = state
        sim.step(steps)
        same(sim.state, end)
    sim.reset()
    same(sim.state, start)
    for _ in range(12):
        sim.step()
    same(sim.state, end)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))], ids=["deepcopy", "pickle"])
@forms
def test_copies_go_on_bit_for_bit(form, clone):
    sim = quietly(worlds.sprung(), **FORMS[form])
    sim.step(5)
    twin = clone(sim)
    assert twin._system.options == sim._system.options and twin.integrator.tolerance == sim.integrator.tolerance
    for one in (sim, twin):
        one.step(9)
    same(sim.state, twin.state)
    assert sim.energy() == twin.energy()


@forms
def test_looking_does_not_change_the_motion(form):
    alone, watched = (quietly(worlds.sprung(), **FORMS[form]) for _ in range(2))
    for _ in range(10):
        alone.step()
        watched.step()
        watched.energy(), watched.drift(), watched.drift(velocity=True)
        watched.reaction(watched.world.constraints[0]), watched.acceleration(watched.world.bodies[2])
        watched.angle(watched.world.constraints[2])
    same(alone.state, watched.state)


# -- reports ---------------------------------------------------------------------------------------------------------------------


@tangents
@pytest.mark.parametrize("name", WORLDS)
def test_reports_are_those_of_other_solvers(name, tangent):
    found = []
    for options in ({"solver": "dense", "integrator": "euler"}, {"tangent": tangent}):
        sim = quietly(WORLDS[name](), **options)
        reactions = [sim.reaction(c) for c in sim.world.constraints]
        found.append(np.concatenate([
            *[[*sim.acceleration(b), *sim.angular_acceleration(b), *sim.velocity(b)] for b in sim.world.bodies],
            *[[*r.force, *r.torque, *r.at, *r.generalised] for r in reactions],
            [sim.energy().kinetic, sim.energy().potential, sim.drift(), sim.drift(velocity=True)],
        ]))  # fmt: skip
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-9 * np.abs(found[0]).max())


@tangents
def test_impacts_are_those_of_other_solvers(tangent):
    found = []
    for options in ({"solver": "dense", "integrator": "euler"}, {"tangent": tangent}):
        sim = quietly(worlds.sprung(), **options)
        sim.strike(sim.world.bodies[2], (1, 2, 3), at=(0.1, 0.2, 0.3))
        found.append([[*sim.velocity(b), *sim.angular_velocity(b)] for b in sim.world.bodies])
        assert sim.drift(velocity=True) < 1e-12
        sim.step()
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-10)


@tangents
def test_reactions_follow_the_motion(tangent):
    """Of a lamp on a chain: the weight; and impulses of steps are reactions times dt where nothing moves."""
    world = lw.World()
    world.add(lw.RigidBody(2.0, (1, 1, 1), name="lamp"))
    world.add(lw.Weld(world.ground, "lamp", at=(0, 0, 0.5), name="chain"))
    sim = quietly(world, tangent=tangent)
    sim.step(5)
    np.testing.assert_allclose(sim.reaction("chain").force, (0, 0, 2 * 9.81), atol=1e-12)
    np.testing.assert_allclose(sim.impulse("chain")[:3], (0, 0, 2 * 9.81 / 60), atol=1e-12)


@tangents
@pytest.mark.parametrize("iterations", [1, None])
def test_turns_are_counted(tangent, iterations):
    """Two geared wheels, one of which makes many turns; springs of joints that are wound up push back."""
    p = gears()
    sim = quietly(p.world(), dt=1e-2, tangent=tangent, iterations=iterations)
    sim.step(300)
    assert sim.angle("axle b") < -4 * np.pi and abs(sim.angle("axle a") + 0.31 * sim.angle("axle b")) < 0.1
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.2), angular_velocity=(0, 0, 9.0), name="wheel"))
    world.add(lw.Hinge(world.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.JointSpring("axle", 0.05, name="spring"))
    sim = quietly(world, dt=1e-3, tangent=tangent, iterations=iterations)
    sim.step(2000)
    w = np.sqrt(0.05 / 0.2)  # of the oscillation
    assert sim.angle("axle") == pytest.approx(9.0 / w * np.sin(2 * w), rel=2e-3) and sim.angle("axle") > 4 * np.pi


# -- options ---------------------------------------------------------------------------------------------------------------------

REFUSED = {
    "solver tree, a tangent": ({"solver": "tree", "tangent": "exact"}, 'the solver "tree" takes no tangent'),
    "solver dense, iterations": ({"solver": "dense", "iterations": 1}, 'the solver "dense" takes no iterations'),
    "rattle": ({"integrator": "rattle"}, 'the solver "implicit" does not go with the integrator "rattle"'),
    "solver tree, backward-euler": ({"solver": "tree", "integrator": "backward-euler"}, 'the solver "tree" does not go with'),
    "tangent": ({"tangent": "exakt"}, 'no tangent is called "exakt"; did you mean "exact"'),
    "no tangent": ({"tangent": ""}, 'no tangent is called ""'),
    **{f"iterations {x!r}": ({"iterations": x}, "iterations is") for x in (0, -1, "2", True, 1.0, 1.5, float("nan"))},
    "no tolerance": ({"tolerance": 0.0}, "tolerance is 0"),
    "a tolerance of nothing": ({"iterations": 1, "tolerance": 1e-9}, "one iteration meets no tolerance"),
    "stiffness": ({"stiffness": 3.0}, "backward-euler takes no stiffness"),
    "damping": ({"damping": 3.0}, "backward-euler takes no damping"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_mean_nothing_are_refused(case):
    options, says = REFUSED[case]
    with pytest.raises(lw.LinkworkError) as caught:
        lw.Simulation(lw.scenes.get("pendulum"), **{"solver": "implicit"} | options)
    assert says in str(caught.value) and str(caught.value).startswith("Simulation: ") and "\n" not in str(caught.value)


def test_options_that_are_taken():
    for options in ({}, {"iterations": np.int64(3)}, {"iterations": 3, "tolerance": 1e-6}, {"integrator": "backward-euler"}):
        sim = quietly(lw.scenes.get("pendulum"), **options)
        sim.step(3)
        assert sim.integrator_name == "backward-euler" and sim.steps == 3


# -- kernels as CasADi functions ---------------------------------------------------------------------------------------------------


def ends():
    found = {}
    for name, world in WORLDS.items():
        for form, options in FORMS.items():
            sim = quietly(world(), **options)
            sim.step(4)
            values = [[*sim.position(b), *sim.velocity(b), *sim.orientation(b)] for b in sim.world.bodies]
            found[f"{name}, {form}"] = [*np.ravel(values).tolist(), sim.energy().total, sim.energy().work]
    return found


def test_interpreted_kernels_are_the_compiled_ones():
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": paths}
    code = "import json; from tests.implicit.test_use import ends; print(json.dumps(ends()))"
    run = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    interpreted, compiled = json.loads(run.stdout), ends()
    assert interpreted.keys() == compiled.keys()
    for name, values in compiled.items():
        np.testing.assert_allclose(interpreted[name], values, rtol=0, atol=1e-9, err_msg=name)
