"""witkin97: equations 1 to 11, the bead, the tinkertoy, iterations; nothing that depends on the machine's speed."""

import copy
import json

import numpy as np
import pytest

import linkwork as lw
from benchmarks.tables import filled
from linkwork.simulation.residuals import residuals
from linkwork.symbolic.views import GLOBALS
from papers.witkin97 import bead, feedback, growth, lagrangian, readme, tinkertoy
from tests.solvers import forests
from tests.solvers.gradients import quiet

RESULT = json.loads((readme.FOLDER / "results.json").read_text(encoding="utf-8"))


# -- equations 1 to 8: the bead ----------------------------------------------------------------------------------------


def thrown(angle=0.7, spin=1.3, force=(0.4, -2.0), off=0.0):
    """A bead on (or `off`) the circle, moving along it, under a force: the simulation, x, x', f (in the plane)."""
    x = (1 + off) * np.array([np.cos(angle), np.sin(angle)])
    v = spin * np.array([-np.sin(angle), np.cos(angle)])
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.PlanarParticle(bead.MASS, position=x, velocity=v, name="bead"))
    world.add(lw.Constraint("bead", bead.circle, name="wire"))
    world.add(lw.Wrench("bead", force=(force[0], 0, force[1])))
    return quiet(world, solver="cg", integrator="euler"), x, v, np.array(force)


def acceleration(sim):
    return sim.acceleration("bead")[[0, 2]]


def test_equations_1_to_3_are_derivatives_of_each_other():
    """C of the path x + v t + a t^2/2: its value, rate and second derivative at t = 0 by differences."""
    sim, x, v, _ = thrown()
    a, h = acceleration(sim), 1e-4
    C = [0.5 * (p @ p - 1) for p in (x + v * t + a * t**2 / 2 for t in (-h, 0.0, h))]
    sim.integrator.run(sim.work, sim.schedules.check())
    residual, rate = (residuals(sim._system, velocity)[0][0] for velocity in (False, True))
    assert abs(C[1] - residual) < 1e-15
    assert abs((C[2] - C[0]) / (2 * h) - rate) < 10 * h**2
    assert abs((C[2] - 2 * C[1] + C[0]) / h**2) < 1e-6  # legal
    assert abs(a @ x + v @ v) < 1e-12  # equation 3


def test_equations_4_to_7_give_the_force_of_the_wire():
    for angle, spin in ((0.7, 1.3), (2.0, -4.0), (-1.1, 0.2)):
        sim, x, v, f = thrown(angle, spin)
        found = sim.reaction("wire")
        force = found.force[[0, 2]]
        assert np.allclose(acceleration(sim), (f + force) / bead.MASS)  # 4
        assert np.isclose((f + force) @ x / bead.MASS + v @ v, 0.0, atol=1e-12)  # 5
        assert np.isclose(force @ x, -f @ x - bead.MASS * v @ v)  # 6
        assert np.isclose(found.generalised[0], (-f @ x - bead.MASS * v @ v) / (x @ x))  # 7
        assert np.allclose(force, found.generalised[0] * x) and np.isclose(force @ v, 0.0)  # it does no work


def test_equation_8_projects_the_force_of_a_bead_at_rest():
    sim, x, _, f = thrown(spin=0.0)
    assert np.allclose(sim.reaction("wire").force[[0, 2]], -(f @ x) / (x @ x) * x)


# -- equations 9 to 11: any mechanism ----------------------------------------------------------------------------------


def random_net(seed=0):
    rng = np.random.default_rng(seed)
    world = lw.World()
    knots = [
        world.add(lw.Particle(rng.uniform(0.5, 2), rng.normal(size=3), rng.normal(size=3), name=f"p{k}")) for k in range(6)
    ]
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (1, 4), (4, 5), (5, 2)):
        world.add(lw.Distance(knots[a], knots[b]))
    return world


def system(sim):
    """J, W, Q, -J'q', and C and C' of all rows."""
    H, r = forests.assembled(sim)
    n = sim.model.velocities
    return (
        H[n:, :n],
        np.linalg.inv(H[:n, :n]),
        r[:n],
        r[n:],
        *(residuals(sim._system, velocity)[0] for velocity in (False, True)),
    )


def test_equations_9_and_10_give_the_forces_of_a_net():
    sim = quiet(random_net(), solver="cg", integrator="euler")
    J, W, Q, minus_bias, _, _ = system(sim)
    forests.accelerations(sim)
    x = forests.solution(sim)
    multipliers = -x[len(Q) :]
    assert np.allclose(J @ W @ (J.T @ multipliers), minus_bias - J @ W @ Q, rtol=1e-10, atol=1e-10)  # 9 and 10
    assert np.allclose(x[: len(Q)], W @ (Q + J.T @ multipliers))


def test_equation_11_draws_rows_back():
    """After a shove off the constraints: J a = -J'q' - k_s C - k_d C' in the very solve that a step of `euler` makes."""
    ks, kd = 50.0, 7.0
    sim = quiet(random_net(1), solver="cg", integrator="euler", dt=1e-4, stiffness=ks, damping=kd)
    rng = np.random.default_rng(2)
    for k in range(len(sim.model.bodies.elements)):
        for field in ("q", "v"):
            sim.work[sim.model.field_of_body(k, field)] += 1e-3 * rng.normal(size=3)
    sim._system.changed()
    J, _, _, minus_bias, C, rate = system(sim)
    velocity = np.concatenate([sim.work[sim.model.field_of_body(k, "v")] for k in range(6)])
    sim.step()
    moved = np.concatenate([sim.work[sim.model.field_of_body(k, "v")] for k in range(6)])
    assert np.abs(C).max() > 1e-4
    assert np.allclose(J @ (moved - velocity) / sim.dt, minus_bias - ks * C - kd * rate, rtol=1e-8, atol=1e-8)
    assert sim.work[GLOBALS.offset("stiffness")] == ks


# -- what the page says ------------------------------------------------------------------------------------------------


def test_feedback_keeps_the_bead_on_the_wire():
    held = {name: bead.run(bead.constrained, solver="cg", integrator="euler", **options)["largest"]
            for name, options in (("fed", {}), ("free", {"stiffness": 0.0, "damping": 0.0}))}  # fmt: skip
    assert held["fed"] < 2e-4 and held["free"] > 0.01


def test_springs_are_as_good_as_they_are_stiff_until_they_diverge():
    soft, stiff, lost = (bead.run(bead.sprung(k), solver="cg", integrator="euler") for k in (1e3, 1e5, 1e7))
    assert 50 < soft["largest"] / stiff["largest"] < 200
    assert lost["lost"] and bead.limit(1e7) > 2 > bead.limit(1e5)


def test_the_tinkertoy_goes_on_where_it_was():
    found = tinkertoy.measure(lambda text: None, seconds=0.05)["stages"]
    hung = [row for row in found if row["stage"].startswith(("a second", "a third", "a fourth", "a box", "a rod"))]
    assert len(hung) == 5 and max(row["jump"] for row in hung) < 1e-9
    assert max(row["drift"] for row in found) < 1e-10
    assert found[-1]["redundant"] == 1 and not any(row["conflict"] for row in found)


def test_a_double_pendulum_as_one_body_goes_where_two_particles_on_rods_go():
    found = {row["integrator"]: row for row in lagrangian.measure(lambda text: None, seconds=0.5)["rows"]}
    assert found["dopri5, to 1e-11"]["apart"] < 1e-9 and found["rattle"]["apart"] < 1e-4
    assert max(found["dopri5, to 1e-11"]["energy"]) < 1e-9


@pytest.mark.parametrize("structure", ["chain", "net"])
def test_the_papers_form_takes_more_iterations(structure):
    found = growth.iterations(structure, 20 if structure == "chain" else 5)
    assert found["ours"] <= found["plain"] <= found["paper"]
    assert abs(found["printed"] - found["paper"]) <= 1 + 0.1 * found["paper"]  # linkwork's option is the paper's form


def test_the_system_of_the_paper_is_the_one_that_is_solved():
    sim = quiet(growth.world("net", 4), solver="cg", integrator="euler")
    m = sim.matrices
    A, b = growth.system(m)
    multipliers = np.concatenate([sim.reaction(name).generalised for name in m.constraints])
    assert np.allclose(A @ multipliers, b, rtol=1e-8, atol=1e-8 * np.abs(b).max())


def test_the_page_has_the_numbers_of_its_results():
    text = (readme.FOLDER / "README.md").read_text(encoding="utf-8")
    assert filled(text, readme.blocks(RESULT)) == text, "run python -m papers.witkin97.readme"


def test_drift_goes_with_damping_over_stiffness():
    firm, soft, damped = (feedback.drift(*pair, 2.0) for pair in ((0.04, 0.4), (0.01, 0.4), (0.04, 1.0)))
    assert 3 < soft / firm < 5 and 2 < damped / firm < 3
    assert feedback.drift(4.0, 0.4, 2.0) is None


def test_a_bead_off_the_wire_is_drawn_in():
    times, off = feedback.drawn_in(*feedback.DEFAULT)
    assert off[0] == feedback.OFF and max(x for t, x in zip(times, off, strict=True) if t > 0.1) < 1e-3


def test_verdicts_follow_the_numbers():
    claims = "results.json: claims"
    changed = copy.deepcopy(RESULT)
    for row in changed["feedback"]["varied"]:
        row["largest"] = 1e-4
    for row in changed["growth"]:
        row["paper"] = row["rows"]
    told = readme.blocks(changed)[claims]
    assert "k_s and k_d are not critical | true" in told and "O(n) iterations | true" in told
    assert readme.blocks(RESULT)[claims].count("**not so here**") == 2
    for row in changed["bead"]["springs"]:
        row["lost"] = False
    assert "flies off" not in readme.blocks(changed)["results.json: springs in words"]
