"""Loops in joint coordinates: the spanning tree's inertia matrix and the rows that it leaves open."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.joint_coordinates.loop_closure import solve_by_largest_pivots

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.Note")
SOLVERS = ("ltdl", "anticipation")  # by the inertia matrix, and by responses of the articulated-body algorithm
SCENES = ("slider-crank", "stewart", "scissor-lift", "four-bars", "ladder")


def placed(sim):
    return np.array([[*sim.position(b), *sim.velocity(b), *sim.angular_velocity(b)] for b in sim.world.bodies])


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_scenes_with_loops_move_as_in_maximal_coordinates(solver, name):
    sim, reference = (lw.Simulation(lw.scenes.get(name), dt=1e-3, solver=solver, integrator=integrator)
                      for solver, integrator in ((solver, "joint-rk4"), ("tree", "rk4")))  # fmt: skip
    for one in (sim, reference):
        one.step(150)
    assert np.allclose(placed(sim), placed(reference), rtol=1e-6, atol=1e-7)
    assert sim.drift() < 2e-12 and sim.drift(velocity=True) < 1e-11


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_has_no_joint_coordinate_becomes_a_row(solver):
    """A rope between trees, a gear, a driven joint stacked on its hinge, a skate: against maximal coordinates."""

    def world():
        made = lw.World()
        arms = []
        for k in range(2):
            arm = made.add(lw.RigidBody(1.0 + k, (0.1, 0.1, 0.1), position=(0.5, k, 0), name=f"arm{k}"))
            hand = made.add(lw.RigidBody(0.5, (0.05, 0.05, 0.05), position=(1.3, k, 0), name=f"hand{k}"))
            made.add(lw.Hinge(made.ground, arm, at=(0, k, 0), axis=(0, 1, 0), name=f"shoulder{k}"))
            made.add(lw.Ball(arm, hand, at=(1, k, 0)))
            arms.append(hand)
        made.add(lw.Distance(*arms, name="rope"))
        wheels = [
            made.add(lw.RigidBody(1.0, (0.2, 0.2, 0.2), position=(k, 5, 0), angular_velocity=(0, 0, (1, -2)[k])))
            for k in (0, 1)
        ]
        for k, wheel in enumerate(wheels):
            made.add(lw.Hinge(made.ground, wheel, at=(k, 5, 0), axis=(0, 0, 1)))
        made.add(lw.VelocityConstraint(
            *wheels, lambda a, b, t: 2 * a.spin((0, 0, 1)) + b.spin((0, 0, 1))))  # fmt: skip
        made.add(lw.Drive("shoulder0", lambda t: 0.3 * lw.sin(4 * t)))
        return made

    sims = [lw.Simulation(world(), dt=1e-3, solver=s, integrator=i) for s, i in ((solver, "joint-rk4"), ("tree", "rk4"))]
    for sim in sims:
        sim.run(0.3, record_every=None)
    assert np.allclose(placed(sims[0]), placed(sims[1]), rtol=1e-8, atol=1e-8)
    assert sims[0].drift() < 2e-12 and sims[0].drift(velocity=True) < 1e-11
    assert np.isclose(sims[0].energy().work, sims[1].energy().work, rtol=1e-8) and abs(sims[0].energy().work) > 1e-3
    assert np.allclose(sims[0].reaction("rope").force, sims[1].reaction("rope").force, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_doubled_joints_do_no_harm(solver):
    world = lw.scenes.get("double-pendulum")
    hinge = world.constraints[1]
    world.add(lw.Hinge(hinge.a, hinge.b, at=tuple(hinge.at), axis=tuple(hinge.axis)))
    twin = lw.Simulation(lw.scenes.get("double-pendulum"), solver="aba")
    sim = lw.Simulation(world, solver=solver, integrator="joint-rk4")
    sim.step(500)
    twin.step(500)
    assert np.allclose(placed(sim), placed(twin), atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_many_bodies_in_one_row(solver):
    """The mean height of three pendulums stays: a row of three bodies."""

    def world():
        made = lw.World()
        for k in range(3):
            bob = made.add(lw.RigidBody(1.0 + k, (0.1, 0.1, 0.1), position=(0.5, k, 0), name=f"bob{k}"))
            made.add(lw.Hinge(made.ground, bob, at=(0, k, 0), axis=(0, 1, 0)))
        made.add(lw.Constraint(*made.bodies, lambda a, b, c, t: a.position[2] + b.position[2] + c.position[2]))
        return made

    sims = [lw.Simulation(world(), solver=s, integrator=i) for s, i in ((solver, "joint-rk4"), ("tree", "rk4"))]
    for sim in sims:
        sim.run(0.5, record_every=None)
    assert np.allclose(placed(sims[0]), placed(sims[1]), rtol=1e-8, atol=1e-8)
    assert sims[0].drift() < 2e-12


def test_aba_names_what_closes_a_loop():
    world = lw.scenes.get("double-pendulum")
    world.add(lw.Ball(world.ground, world.bodies[-1], at=tuple(world.bodies[-1].position), name="nail"))
    with pytest.raises(
        lw.ModelError, match='it closes a loop, .* simulate with solver="ltdl", or solver="tree", integrator="rattle"$'
    ):
        lw.Simulation(world, solver="aba")


@pytest.mark.parametrize("seed", range(20))
def test_dependent_rows_are_left_out(seed):
    rng = np.random.default_rng(seed)
    m, rank = 6, 1 + seed % 6
    Y = rng.normal(size=(m, rank)) * 10.0 ** rng.uniform(-3, 3, size=(m, 1))
    W, known, y = Y @ Y.T, rng.normal(size=m), np.empty(m)
    right = W @ known
    solve_by_largest_pivots(W.copy(), right.copy(), y, np.ones(len(y)), 0.0)
    assert np.count_nonzero(y) <= rank
    assert np.allclose(Y.T @ y, Y.T @ known, rtol=1e-6, atol=1e-8 * np.abs(Y.T @ known).max())


def test_auto_takes_the_way_that_was_measured_to_be_faster(monkeypatch):
    from linkwork.reduced.cost import choice
    from linkwork.reduced.cost.prediction import STAGES, Rate

    rates = dict.fromkeys(STAGES, Rate(0.0, 1.0))
    monkeypatch.setattr(choice, "known", lambda: rates)
    chain = lw.scenes.get("chain", n=12)
    assert lw.Simulation(chain, solver="auto", integrator="joint-euler", method="measured").solver == "aba"
    rates["aba"] = Rate(0.0, 100.0)
    sim = lw.Simulation(chain, solver="auto", integrator="joint-euler", method="measured")
    assert (sim.solver, sim.integrator_name) == ("ltdl", "joint-euler")
    assert lw.Simulation(lw.scenes.get("slider-crank"), solver="auto", integrator="joint-euler").solver == "ltdl"
    with pytest.raises(lw.LinkworkError, match='no solver is called "atuo"; did you mean "auto"'):
        lw.Simulation(chain, solver="atuo")


def test_forces_that_constraints_name_are_refused_by_name():
    world = lw.scenes.get("double-pendulum")
    lower = world.bodies[-1]
    world.add(
        lw.Constraint(lower, lambda b, t: b.position[0] - lower.position[0], force=lambda b, t: b.spin((0, 1, 0)), name="held")
    )
    with pytest.raises(
        lw.ModelError, match='^Constraint "held": it names the force that holds it, which joint coordinates do not'
    ):
        lw.Simulation(world, solver="anticipation", integrator="joint-rk4")
