"""`cg` against `tree`, dense algebra and least squares; its starts, its notes, what it refuses."""

import copy
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.maximal.cg import PRECISE
from linkwork.engines.solvers import METHODS
from linkwork.engines.traits import TABLE
from linkwork.model.state_transfer import remembered
from tests.simulation.worlds import make, same
from tests.solvers import forests
from tests.solvers.gradients import judged, quiet, solved

ROOT = Path(__file__).parents[2]


def interpreted(begin, end, **options):
    """Random mechanisms in another process that runs kernels as CasADi functions: nothing is compiled."""
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.solvers.gradients", str(begin), str(end), json.dumps(options)]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return [found for line in run.stdout.splitlines() if (found := json.loads(line)) is not None]


def noted(world, steps=5, **options):
    """A simulation after some steps, and the notes that it gave."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, **options)
        sim.step(steps)
    return sim, " | ".join(sim.notes)


def net(rows, columns):
    return lw.scenes.get("net", rows=rows, columns=columns)


def assert_met(reports):
    """Forces and rows to the tolerance, and conflicts as least squares have them."""
    for found in reports:
        assert found["pulled"] < 1e-10, found
        assert found["left"] < 10 * PRECISE + 1e-6 * found["least"], found
        assert abs(found["conflict"] - found["least"]) < 10 * PRECISE, found
    assert any(found["rank"] < found["rows"] for found in reports)


def test_random_nets_of_particles():
    reports = [judged(seed, kinds=["particle"], loops=10, largest=12) for seed in range(30)]
    assert_met([found for found in reports if found])


def test_random_mechanisms_of_all_kinds():
    assert_met(interpreted(0, 12, loops=2, spread=1.0))


@pytest.mark.slow
def test_scenes_agree_with_tree():
    """Accelerations of all scenes as built; scenes with contact are refused."""
    compared = 0
    for name in lw.scenes.names():
        scene = lw.scenes.find(name)
        if any(element.acts for element in scene().contacts):
            with pytest.raises(lw.LinkworkError, match='the solver "cg" with the integrator "euler" takes no contact'):
                lw.Simulation(scene(), solver="cg", integrator="euler")
            continue
        sims = [quiet(scene(), solver=solver, integrator="euler", dt=scene.dt) for solver in ("fronts", "cg")]
        for sim in sims:
            forests.accelerations(sim)
        tree, found = (forests.motion(sim) for sim in sims)
        assert np.abs(found - tree).max() < 1e-11 * max(9.81, np.abs(tree).max()), name
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5"])
def test_motion_agrees_with_tree(integrator):
    """A net with ripples, and loops of linkages."""
    for world in (lambda: net(4, 5), lambda: lw.scenes.get("four-bars"), lambda: lw.scenes.get("stewart")):
        sims = [quiet(world(), solver=solver, integrator=integrator, dt=1e-3) for solver in ("fronts", "cg")]
        for sim in sims:
            sim.step(100)
        apart = max(np.abs(sims[0].position(body) - sims[1].position(body.name)).max() for body in sims[0].world.bodies)
        assert apart < 1e-8
        assert sims[1].drift() < 2 * sims[0].drift() + 1e-11
        assert sims[1].solver_report().at is None


def test_a_start_from_the_step_before_saves_iterations():
    """The same steps with the multipliers of the last step thrown away."""
    sim, cold = (quiet(net(8, 8), solver="cg", integrator="euler", dt=1e-3) for _ in range(2))
    sim.step(30)
    for _ in range(30):
        cold.work[cold.model.gradients["warm"]] = 0.0
        cold.step()
    spent, without = (each.solver_report().iterations for each in (sim, cold))
    assert spent < 0.9 * without
    assert np.allclose(sim.position("knot7-7"), cold.position("knot7-7"), atol=1e-9)


def test_a_change_of_the_world_keeps_what_solves_start_from():
    """A weight is hung on a net: the multipliers of all other constraints are where they were."""
    sim = quiet(net(6, 6), solver="cg", integrator="euler", dt=1e-3)
    sim.step(5)
    before = {e.name: sim.work[at].copy() for e, at in remembered(sim.model)}
    weight = sim.world.add(lw.Particle(0.1, position=sim.position("knot5-5") - (0, 0, 0.1), name="weight"))
    sim.world.add(lw.Distance("knot5-5", weight, 0.1, name="thread"))
    sim.energy()  # follows the world
    after = {e.name: sim.work[at] for e, at in remembered(sim.model)}
    assert not after.pop("thread").any() and list(after) == list(before)
    assert all(np.array_equal(after[name], before[name]) and before[name].any() for name in before)
    sim.step(5)
    assert sim.solver_report().at is None


@pytest.mark.parametrize("integrator", list(TABLE["cg"]))
def test_resumed_runs_have_the_same_bits(integrator):
    """From a state, and with reports asked for in between, which solve for themselves."""
    sim = make(integrator, solver="cg")
    sim.step(7)
    state = sim.state.copy()
    sim.step(9)
    end = sim.state.copy()
    sim.state = state
    for _ in range(9):
        sim.reaction("pin")
        sim.step()
    same(sim.state, end)


def test_a_copy_goes_on_with_the_same_bits():
    sim = quiet(net(5, 4), solver="cg", dt=1e-3)
    sim.step(5)
    twin = copy.deepcopy(sim)
    for each in (sim, twin):
        each.step(5)
    same(sim.state, twin.state)


def test_a_chain_of_many_links_converges():
    sim = quiet(lw.scenes.get("chain", n=300), solver="cg", integrator="euler", dt=1e-3)
    J, W, force, right, multipliers, acceleration = solved(sim)
    assert np.abs(right - J @ acceleration).max() < 1e-6 * np.abs(right - J @ W @ force).max()
    assert sim.solver_report().at is None


def test_many_loops_are_not_searched_for_redundant_rows():
    world = net(16, 16)
    sim = quiet(world, solver="cg", integrator="euler")
    assert not sim.model.ranked and sim.model.redundant == {}
    assert quiet(net(4, 5), solver="cg").model.ranked
    extra = world.add(lw.Distance("knot3-4", "knot3-5"))  # once more
    sim = quiet(world, solver="cg", integrator="euler")
    assert not sim.reaction(extra).determined and sim.reaction("warp9-9").determined


# -- least squares, as printed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_least_squares_find_what_the_default_finds(seed):
    """Random nets, redundant rows among them: the same accelerations, and multipliers of least norm in either's own scale."""
    found = []
    for method in METHODS:
        sim = quiet(
            forests.forest(seed, kinds=["particle"], loops=10, largest=12), solver="cg", integrator="euler", method=method
        )
        J, W, force, right, multipliers, acceleration = solved(sim)
        assert np.allclose(acceleration, W @ (force + J.T @ multipliers), rtol=1e-9, atol=1e-9)
        found.append(J @ acceleration - right)
    possible = np.linalg.matrix_rank(J) == len(J)
    if possible:
        assert max(np.abs(left).max() for left in found) < 1e-7 * max(1.0, np.abs(right).max())


def test_least_squares_go_the_same_way_with_more_iterations():
    sims = [quiet(net(6, 6), solver="cg", integrator="euler", dt=1e-3, method=method) for method in METHODS]
    for sim in sims:
        sim.step(50)
    apart = max(np.abs(sims[0].position(b) - sims[1].position(b.name)).max() for b in sims[0].world.bodies)
    assert apart < 1e-8
    assert sims[1].solver_report().iterations > sims[0].solver_report().iterations
    assert sims[1].solver_report().at is None


def test_least_squares_bear_redundant_rows():
    def doubled():
        world = net(3, 3)
        world.add(lw.Distance("knot1-1", "knot1-2", name="once more"))
        return world

    sims = [quiet(doubled(), solver="cg", integrator="rattle", dt=1e-3, method=method) for method in METHODS]
    for sim in sims:
        sim.step(20)
        assert sim.drift() < 1e-10 and not sim.solver_report().conflict
    assert np.allclose(sims[0].position("knot2-2"), sims[1].position("knot2-2"), atol=1e-9)


def test_least_squares_of_rows_as_they_are():
    """Of residuals x-1, y-2 and x-y: x = 4/3, y = 5/3; the default weighs rows by what a unit force moves."""
    sim, notes = noted(tied(), solver="cg", integrator="euler", method="least-squares")
    assert np.allclose([sim.velocity(name)[0] for name in "ab"], [4 / 3, 5 / 3])
    assert '"slow", VelocityConstraint "fast" and VelocityConstraint "tie" contradict each other by 1' in notes
    assert sim.solver_report().conflict


def test_the_method_is_kept_and_refused_by_name():
    sim = quiet(net(4, 4), solver="cg", method="least-squares")
    twin = copy.deepcopy(sim)
    for each in (sim, twin):
        each.step(3)
    same(sim.state, twin.state)
    assert twin.schedules.variant == "least-squares"
    with pytest.raises(lw.LinkworkError, match='no method is called "least-square"; did you mean "least-squares"'):
        lw.Simulation(net(3, 3), solver="cg", method="least-square")
    with pytest.raises(lw.LinkworkError, match='the solver "tree" takes no method; use solver="cg", or leave it out'):
        lw.Simulation(net(3, 3), method="least-squares")


# -- conflicts ---------------------------------------------------------------------------------------------------------


def tied():
    """Two particles that are told two speeds, and to have the same: nothing can be done, 1/2 of it is met."""
    world = lw.World(gravity=(0, 0, 0))
    a, b = (world.add(lw.Particle(1.0, (x, 0, 0), name=name)) for x, name in ((0.0, "a"), (1.0, "b")))
    world.add(lw.VelocityConstraint(a, lambda a, t: a.velocity[0] - 1.0, name="slow"))
    world.add(lw.VelocityConstraint(b, lambda b, t: b.velocity[0] - 2.0, name="fast"))
    world.add(lw.VelocityConstraint(a, b, lambda a, b, t: a.velocity[0] - b.velocity[0], name="tie"))
    return world


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4"])
def test_conflicting_rows_are_met_by_least_squares_and_named(integrator):
    """Of residuals x-1, y-2 and (x-y)/sqrt 2 (rows count by what a unit force moves): x = 5/4, y = 7/4."""
    sim, notes = noted(tied(), solver="cg", integrator=integrator)
    assert np.allclose([sim.velocity(name)[0] for name in "ab"], [1.25, 1.75])
    who = (
        'VelocityConstraint "slow", VelocityConstraint "fast" and VelocityConstraint "tie" contradict each other by 1 as built'
    )
    assert who in notes
    assert notes.count("contradict") == 1
    report = sim.solver_report()
    assert report.conflict and report.at.name == "tie" and report.worst >= 0.5 - 1e-12


def test_conflicting_drives_of_one_joint():
    world = lw.World(gravity=(0, 0, 0))
    wheel = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="wheel"))
    world.add(lw.Hinge(world.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    for speed in (1.0, 2.0):
        world.add(lw.Drive("axle", speed, name=f"drive at {speed:g}"))
    sim, notes = noted(world, solver="cg", integrator="euler")
    assert np.isclose(sim.rate("axle"), 1.5)
    assert 'Drive "drive at 1" and Drive "drive at 2" contradict each other by 1 rad/s as built' in notes


def test_a_row_that_is_not_finite_is_named():
    world = lw.World()
    world.add(lw.Particle(1.0, name="bead"))
    world.add(lw.Particle(1.0, name="other"))
    world.add(lw.Constraint("bead", lambda b, t: b.position[2] * lw.sqrt(0.05 - t), name="odd"))
    sim = quiet(world, solver="cg", integrator="euler")
    with pytest.raises(lw.DivergenceError, match='Constraint "odd" gives nan'):
        sim.step(200)


def test_what_it_does_not_go_with_is_named():
    world = lw.scenes.get("pendulum")
    with pytest.raises(
        lw.LinkworkError, match='"cg" does not go with the integrator "backward-euler".*rattle, shake, euler, rk4'
    ):
        lw.Simulation(world, solver="cg", integrator="backward-euler")
    with pytest.raises(lw.LinkworkError, match='the solver "tree" does not iterate'):
        lw.Simulation(world).solver_report()


def test_a_world_without_constraints():
    world = lw.World()
    world.add(lw.Particle(1.0, name="stone"))
    sim = lw.Simulation(world, solver="cg", dt=0.1)
    sim.step(10)
    assert np.isclose(sim.position("stone")[2], -9.81 / 2)
