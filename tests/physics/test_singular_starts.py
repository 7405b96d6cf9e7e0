"""Mechanisms that begin, or stay, where rows depend on each other for the moment (baraff96, footnote 5)."""

import itertools
import math

import numpy as np
import pytest

import linkwork as lw
from tests.physics.linkages import flat_parallelogram, straight_chain

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.Note")
PAIRS = [("tree", "rattle"), ("tree", "euler"), ("tree", "rk4"), ("tree", "dopri5"), ("fronts", "euler"), ("fronts", "rk4"),
         ("anticipation", "euler"), ("anticipation", "rk4"), ("dense", "euler"), ("cg", "euler"), ("cg", "rk4"),
         ("ltdl", "joint-rk4"), ("ltdl", "joint-euler"), ("anticipation", "joint-rk4")]  # fmt: skip


def off_the_line(sim, count, length=0.1, slope=0.0):
    """m: how far links are from where they were built."""
    way = np.array([math.cos(slope), 0.0, -math.sin(slope)])
    return max(np.abs(np.asarray(sim.position(f"link{k}")) - (k + 0.5) * length * way).max() for k in range(count))


def stays(world, count, dt=1e-3, steps=60, length=0.1, slope=0.0, **options):
    sim = lw.Simulation(world, dt=dt, **options)
    for _ in range(6):
        sim.step(steps // 6)
        assert off_the_line(sim, count, length, slope) < 1e-4
    weight = 9.81 * sum(body.mass for body in world.bodies)
    assert (
        sim.energy().kinetic < 1e-3 * weight * count * length
    )  # no more than it would gain by falling a thousandth of its length


@pytest.mark.parametrize("solver,integrator", PAIRS)
def test_a_straight_chain_stays_straight(solver, integrator):
    stays(straight_chain(), 6, solver=solver, integrator=integrator)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_a_straight_chain_without_inertia(dt):
    sim = lw.Simulation(straight_chain(), dt=dt, integrator="first-order")
    sim.step(100)
    assert off_the_line(sim, 6) < 1e-5


@pytest.mark.parametrize("dt,steps", [(1e-2, 3), (1e-3, 6), (1e-4, 40)])
def test_a_long_straight_chain_without_inertia(dt, steps):
    """A whole step would take it so far from its line that it does not come back."""
    sim, other = (lw.Simulation(straight_chain(20), dt=dt, integrator="first-order") for _ in range(2))
    for _ in range(steps):
        sim.step()
        assert off_the_line(sim, 20) < 1e-4 and sim.drift() < 1e-9
    other.step(steps)
    assert sim.time == pytest.approx(steps * dt) and sim.state.values.tobytes() == other.state.values.tobytes()


@pytest.mark.parametrize("dt", [1e-2, 1 / 60])
@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4"])
def test_a_long_straight_chain_in_long_steps(integrator, dt):
    stays(straight_chain(20), 20, dt, solver="tree", integrator=integrator)


@pytest.mark.parametrize("dt", [1e-2, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("solver,integrator", [("tree", "euler"), ("tree", "rk4"), ("ltdl", "joint-rk4")])
def test_whatever_the_step(solver, integrator, dt):
    stays(straight_chain(), 6, dt, solver=solver, integrator=integrator)


VARIANTS = {
    "two": {"count": 2}, "three": {"count": 3}, "twenty": {"count": 20}, "hinges": {"joint": lw.Hinge},
    "twenty hinges": {"joint": lw.Hinge, "count": 20}, "small": {"length": 0.01, "mass": 1e-3},
    "sloping": {"slope": 0.8}, "pushed": {"push": (0, 5.0, 0)}, "pulled": {"push": (50.0, 0, 0)},
}  # fmt: skip


@pytest.mark.parametrize("solver,integrator", [("tree", "euler"), ("tree", "rk4"), ("ltdl", "joint-rk4")])
@pytest.mark.parametrize("name", VARIANTS)
def test_other_chains(name, solver, integrator):
    given = VARIANTS[name]
    known = {key: given[key] for key in ("length", "slope") if key in given}
    stays(straight_chain(**given), given.get("count", 6), solver=solver, integrator=integrator, **known)


@pytest.mark.parametrize("solver,integrator", PAIRS)
def test_a_dead_point_is_left(solver, integrator):
    """Without gravity a parallelogram goes on at the same speed, as one or crossed."""
    sim = lw.Simulation(flat_parallelogram(), solver=solver, integrator=integrator)
    before = sim.energy().total
    sim.step(300)
    assert sim.energy().total == pytest.approx(before, rel=2e-2) and sim.drift() < 1e-9
    assert abs(sim.position("bar0")[2]) > 0.2


@pytest.mark.parametrize(
    "solver,integrator", [("tree", "euler"), ("tree", "rk4"), ("anticipation", "rk4"), ("ltdl", "joint-rk4")]
)
def test_a_slider_crank_starts_at_its_dead_centre(solver, integrator):
    """As the scene is built; it is singular for the piston alone, not for the rows."""
    sim = lw.Simulation(lw.scenes.get("slider-crank"), solver=solver, integrator=integrator)
    assert not sim.model.redundant
    sim.step(300)
    angle = sim.angle("axle")
    place = 0.2 * math.cos(angle) + math.sqrt(0.25 - (0.2 * math.sin(angle)) ** 2)
    assert sim.position("piston")[0] == pytest.approx(place, abs=1e-4)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_the_same_bits_again_and_from_a_state_in_between(integrator):
    one, two = (lw.Simulation(straight_chain(), integrator=integrator) for _ in range(2))
    one.step(40)
    for steps in itertools.repeat(10, 4):
        two.step(steps)
        two.state = two.state
    assert one.state.values.tobytes() == two.state.values.tobytes()
