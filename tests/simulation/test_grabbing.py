"""Hands on bodies: how they pull, what they report, how strong they are, and that nothing is left of them."""

import copy

import numpy as np
import pytest

import linkwork as lw
from tests.simulation.worlds import same

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.Note")
WAYS = pytest.mark.parametrize("by", ["spring", "constraint"])


def dangling(n=4, gravity=9.81):
    world = lw.World(gravity=(0, 0, -gravity))
    before = world.ground
    for k in range(n):
        body = world.add(lw.RigidBody(0.5, shape=lw.Box(0.05, 0.05, 0.2), position=(0, 0, -0.2 * k - 0.1), name=f"link{k}"))
        world.add(lw.Ball(before, body, at=(0, 0, -0.2 * k), name=f"joint{k}"))
        before = body
    return world


@WAYS
@pytest.mark.parametrize("integrator", ["rattle", "euler", "first-order"])
def test_a_held_point_comes_to_its_goal(by, integrator):
    sim = lw.Simulation(dangling(gravity=0.0), dt=2e-3, integrator=integrator)
    end = sim.point("link3", (0, 0, -0.1))
    hand = sim.grab("link3", end, by=by)
    np.testing.assert_allclose(hand.point, end, atol=1e-14)
    goal = end + np.array([0.3, 0.1, 0.2])
    hand.to(goal)
    sim.step(2000)
    assert np.linalg.norm(hand.point - goal) < (0.03 if integrator != "first-order" else 1e-6)


@WAYS
def test_the_force_is_what_holds_the_body(by):
    """A lamp that is held still: its weight, upwards."""
    world = lw.World(gravity=(0, 0, -10))
    lamp = world.add(lw.Particle(2.0, position=(0, 0, 1), name="lamp"))
    sim = lw.Simulation(world)
    hand = sim.grab(lamp, by=by)
    sim.step(3000)
    np.testing.assert_allclose(hand.force, (0, 0, 20), atol=1e-3)
    np.testing.assert_allclose(sim.acceleration(lamp), 0, atol=1e-3)


@WAYS
@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4"])
def test_the_force_is_bounded(by, integrator):
    """Out of reach: it pulls with its limit, and momentum changes by no more than that."""
    sim = lw.Simulation(dangling(gravity=0.0), integrator=integrator)
    sim.step(10)
    hand = sim.grab("link3", by=by, limit=7.0)
    hand.to((5, 0, 0))
    strongest, slipped, farthest = 0.0, False, 0.0
    for _ in range(100):
        sim.step(10)
        strongest, slipped = max(strongest, float(np.linalg.norm(hand.force))), slipped or hand.slipping
        farthest = max(farthest, hand.point[0])
        assert sim.drift() < 1e-3
    assert 6.5 < strongest <= 7.0 * (1 + 1e-12) and slipped == (by == "constraint")
    assert farthest > 0.6


def test_a_free_body_gains_what_the_hand_gives():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(2.0, (0.1, 0.1, 0.1), name="block"))
    sim = lw.Simulation(world)
    hand, given = sim.grab("block", by="constraint", limit=1e3), np.zeros(3)
    hand.to((0.4, -0.2, 0.1))
    for _ in range(100):
        sim.step()
        given += hand.force * sim.dt
        np.testing.assert_allclose(2.0 * sim.velocity("block"), given, atol=1e-9)


@WAYS
def test_taking_hold_is_no_jerk(by):
    """A body that moves is led on from where it is, as it moves."""
    sim = lw.Simulation(dangling())
    sim.strike("link3", (0.3, 0.2, 0))
    sim.step(100)
    before = sim.velocity("link3")
    with sim.grab("link3", by=by):
        np.testing.assert_allclose(sim.velocity("link3"), before, atol=1e-9)
        sim.step()
        assert np.linalg.norm(sim.velocity("link3") - before) < 0.1
    assert not any("impulse" in note for note in sim.notes)


@WAYS
def test_nothing_is_left_of_it(by):
    world = dangling()
    sim = lw.Simulation(world)
    sim.step(50)
    version, model, twin = world.version, sim.model, copy.deepcopy(sim)
    hand = sim.grab("link2", by=by)
    sim.grab("link0").release()
    hand.release()
    same(sim.state, twin.state)
    assert world.version == version and sim.model is model and not sim._hands.held
    sim.step(50)
    twin.step(50)
    same(sim.state, twin.state)


def test_it_is_the_simulation_s_own():
    world = dangling()
    one, other = lw.Simulation(world), lw.Simulation(world)
    one.grab("link3").to((1, 1, 1))
    one.step(10)
    other.step(10)
    assert one.position("link3")[0] > 0 == other.position("link3")[0]


def test_the_world_may_change_under_a_hand():
    world = dangling()
    sim = lw.Simulation(world)
    hand = sim.grab("link1", by="constraint")
    hand.to((0.2, 0, -0.2))
    sim.step(20)
    world.remove("link3", cascade=True)
    sim.step(400)
    assert hand.held and np.linalg.norm(hand.point - (0.2, 0, -0.2)) < 0.05
    world.remove("link1", cascade=True)
    sim.step(10)
    assert not hand.held and not sim._hands.held


def test_states_and_hands():
    """A state says nothing of hands: they go on from there."""
    sim = lw.Simulation(dangling())
    start = sim.state.copy()
    hand = sim.grab("link3", by="spring")
    hand.to((0.3, 0, -0.5))
    sim.step(100)
    sim.state = start
    assert hand.held and sim.time == 0
    sim.step(100)
    sim.reset()
    assert hand.held


@WAYS
def test_planar_bodies_are_pulled_in_their_plane(by):
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.PlanarBody(1.0, 0.1, name="puck"))
    sim = lw.Simulation(world)
    sim.grab("puck", by=by).to((0.3, 7.0, 0.2))
    sim.step(3000)
    np.testing.assert_allclose(sim.position("puck"), (0.3, 0, 0.2), atol=1e-4)


def test_bad_input():
    world = dangling()
    world.add(lw.Particle(1.0, position=(3, 0, 0), name="dot"))
    sim = lw.Simulation(world)
    with pytest.raises(lw.LinkworkError, match=r"""^Simulation: by is 'rope'; give "spring" or "constraint"$"""):
        sim.grab("link1", by="rope")
    with pytest.raises(lw.LinkworkError, match=r'^Particle "dot": it is a point; leave `point` out$'):
        sim.grab("dot", (0, 0, 0))
    with pytest.raises(lw.LinkworkError, match="limit"):
        sim.grab("link1", limit=-1.0)
    with pytest.raises(lw.UnknownNameError, match=r'no body is called "link9"'):
        sim.grab("link9")
    hand = sim.grab("link1")
    with pytest.raises(lw.LinkworkError, match="point"):
        hand.to((0, 0, np.nan))
    with pytest.raises(lw.LinkworkError, match=r"^Simulation: 1 hands? hold"):
        copy.deepcopy(sim)
    hand.release()
    for use in (hand.release, lambda: hand.to((0, 0, 0)), lambda: hand.force):
        with pytest.raises(lw.LinkworkError, match=r'^Handle "hand1": it has been released; grab the body again$'):
            use()
    slow = lw.Simulation(dangling(), integrator="first-order")
    with pytest.raises(
        lw.LinkworkError, match=r"^Simulation: damping is 1, which first-order motion does not have; leave it out$"
    ):
        slow.grab("link1", damping=1.0)


def parallelogram():
    """Four bars on four hinges, one freedom: its coupler of 1 m stands 1 m above the ground."""
    world, across = lw.World(gravity=(0, 0, -9.81)), (0, 1, 0)
    for name, x in (("left", 0.0), ("right", 1.0)):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.05, 0.05, 1.0), position=(x, 0, 0.5), name=name))
        world.add(lw.Hinge("ground", name, at=(x, 0, 0), axis=across))
    world.add(lw.RigidBody(1.0, shape=lw.Box(1.0, 0.05, 0.05), position=(0.5, 0, 1.0), name="coupler"))
    for name, x in (("left", 0.0), ("right", 1.0)):
        world.add(lw.Hinge(name, "coupler", at=(x, 0, 1), axis=across))
    return world


IN_LOOPS = [{}, {"integrator": "euler"}, {"integrator": "rk4"}, {"solver": "cg", "integrator": "rk4"}, {"solver": "ltdl"},
            {"solver": "ltdl", "integrator": "joint-euler"}, {"solver": "anticipation", "integrator": "joint-rk4"},
            {"solver": "implicit"}, {"solver": "implicit", "iterations": 1}]  # fmt: skip


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("how", IN_LOOPS, ids=str)
@pytest.mark.parametrize("goal", [(0.8, 0, 1.2), (0.5, 0.5, 1.0)])
def test_a_hand_that_asks_for_what_a_loop_does_not_have_gives_way(how, goal):
    sim = lw.Simulation(parallelogram(), dt=2e-3, **how)
    hand = sim.grab("coupler", by="constraint")
    hand.to(goal)
    slipped = False
    for _ in range(500):
        sim.step()
        slipped = slipped or hand.slipping
    x, y, z = sim.position("coupler")
    assert slipped and abs(y) < 1e-9 and np.hypot(x - 0.5, z) == pytest.approx(1.0, abs=1e-6)
    assert (x > 0.7) == (goal[0] > 0.5)
    assert not any("contradict" in note for note in sim.notes)


def test_what_contradicts_without_a_hand_still_stops():
    world = parallelogram()
    hinges = list(world.constraints)
    for hinge, speed in zip(hinges[:2], (1.0, -1.0), strict=True):
        world.add(lw.Drive(hinge, rate=speed))
    sim = lw.Simulation(world, dt=2e-3, solver="ltdl")
    sim.grab("coupler", by="constraint").to((0.5, 0, 1.5))
    with pytest.raises(lw.DivergenceError, match="contradict each other"):
        sim.run(1.0)
