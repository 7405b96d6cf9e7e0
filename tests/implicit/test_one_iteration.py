"""Steps of one iteration hold together at every moment, with two solves at most, and win no energy from nothing."""

from itertools import pairwise

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.scalars import ITERATIONS
from tests.implicit.systems import simulation
from tests.physics import linkages

TOGETHER = 1e-2  # m


def links(n, length, width, mass, *, tip=1.0, speed=0.0, hinges=False, stiffness=0.0, push=0.0):
    """A chain along x from the ground; `tip`: times the mass of a link; push N: for a tenth of a second."""
    world, above = lw.World(gravity=(0, 0, -9.81)), "ground"
    for k in range(n):
        name, rate = f"link{k}", speed / (n * length)
        world.add(lw.RigidBody(mass * (tip if k == n - 1 else 1.0), shape=lw.Box(length, width, width), name=name,
                               position=(length * (k + 0.5), 0, 0), velocity=(0, speed * (k + 0.5) / n, 0),
                               angular_velocity=(0, 0, rate)))  # fmt: skip
        at = (length * k, 0, 0)
        joint = lw.Hinge(above, name, at=at, axis=(0, 1, 0) if k % 2 else (0, 0, 1)) if hinges else lw.Ball(above, name, at=at)
        world.add(joint)
        if stiffness:
            world.add(lw.JointSpring(joint, stiffness, 1e-3 * stiffness))
        above = name
    if push:
        world.add(lw.Force(above, lambda body, t: push * lw.where(t < 0.1, 1.0, 0.0) * np.array([-1.0, 0.5, 0.3])))
    return world


def followed(world, dt, tangent="symmetric", seconds=1.0):
    """(largest |C| of any step, largest gain of energy over the largest kinetic energy, most solves of a step)."""
    sim = simulation(world, dt=dt, tangent=tangent, iterations=1)
    start, apart, won, fastest, solves = sim.energy().total, 0.0, 0.0, 0.0, 0.0
    for _ in range(round(seconds / dt)):
        sim.step()
        energy = sim.energy()
        apart, won, fastest = max(apart, sim.drift()), max(won, energy.total - start), max(fastest, energy.kinetic)
        solves = max(solves, sim.work[ITERATIONS])
    return apart, won / fastest, solves


HAIR = {"wind": {}, "calm": {"wind": 0.0}, "storm": {"wind": 12.0}, "limp": {"stiffness": 1e-5, "damping": 0.0}}


@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
@pytest.mark.parametrize("dt", [1 / 30, 1 / 60, 1 / 120])
@pytest.mark.parametrize("how", HAIR)
def test_hair_stays_together(how, dt, tangent):
    apart, _, solves = followed(lw.scenes.get("hair", strands=60, **HAIR[how]), dt, tangent)
    assert apart < TOGETHER and solves <= 2


@pytest.mark.slow
def test_the_hair_that_ships_stays_together():
    apart, _, _ = followed(lw.scenes.get("hair"), 1 / 60)
    assert apart < 1e-12


CHAINS = {
    "thin": lambda: links(20, 0.05, 0.002, 0.01, speed=3.0),
    "thin and fast": lambda: links(10, 0.1, 0.002, 0.01, speed=8.0),
    "stiff and thin": lambda: links(20, 0.05, 0.001, 0.01, stiffness=100.0, speed=5.0),
    "a heavy bob": lambda: links(10, 0.1, 0.01, 0.01, tip=1000.0, speed=1.0),
    "long links": lambda: links(4, 1.0, 0.05, 1.0, speed=10.0),
    "hinges": lambda: links(12, 0.1, 0.01, 0.05, hinges=True, speed=2.0),
    "rag doll": lambda: lw.scenes.get("rag-doll"),
    "tree": lambda: lw.scenes.get("tree", depth=4),
    "ladder": lambda: lw.scenes.get("ladder", n=4),
    "net": lambda: lw.scenes.get("net", rows=5, columns=5),
}


@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
@pytest.mark.parametrize("dt", [1 / 30, 1 / 60, 1 / 120])
@pytest.mark.parametrize("name", CHAINS)
def test_what_nothing_drives_wins_no_energy(name, dt, tangent):
    apart, won, solves = followed(CHAINS[name](), dt, tangent)
    assert apart < TOGETHER and won < 0.02 and solves <= 2


@pytest.mark.parametrize("hinges", [False, True])
@pytest.mark.parametrize("stiffness", [0.0, 1.0])
def test_a_sudden_push_breaks_nothing(stiffness, hinges):
    apart, _, solves = followed(links(10, 0.1, 0.01, 0.02, stiffness=stiffness, hinges=hinges, push=20.0), 1 / 60)
    assert apart < TOGETHER and solves <= 2


def test_a_fast_free_chain_keeps_its_linear_momentum():
    world = lw.scenes.get("star", rate=20.0)
    world.gravity = (0, 0, 0)
    sim = simulation(world, dt=1 / 60, iterations=1)
    momentum = [sum(b.mass * sim.velocity(b.name) for b in world.bodies)]
    sim.step(30)
    assert sim.work[ITERATIONS] == 2
    momentum.append(sum(b.mass * sim.velocity(b.name) for b in world.bodies))
    np.testing.assert_allclose(*momentum, rtol=0, atol=1e-12)


def test_a_firm_run_goes_on_from_its_state_to_the_bit():
    world = links(10, 0.1, 0.002, 0.01, speed=8.0)
    one, other = (simulation(world, dt=1 / 60, iterations=1) for _ in range(2))
    one.step(20)
    assert one.work[ITERATIONS] == 2
    other.state = one.state.copy()
    one.step(20)
    other.step(20)
    np.testing.assert_array_equal(one.state.values, other.state.values)


def test_gentle_steps_are_one_linear_solve():
    sim = simulation(links(5, 0.3, 0.05, 1.0), dt=1e-3, iterations=1)
    for _ in range(50):
        sim.step()
        assert sim.work[ITERATIONS] == 1


def between_nails(n=20, length=0.1, *, hinges=False, middle=1.0, slack=0.0):
    """A chain between two nails, straight, or hanging as a V that is shorter by a part of its length; middle: times the mass of
    a link."""
    half = n * length / 2
    drop = half * np.sqrt(1 - (1 - slack) ** 2)
    points = [np.array([2 * half * (1 - slack) * k / n, 0, -2 * drop * min(k, n - k) / n]) for k in range(n + 1)]
    world, above = lw.World(gravity=(0, 0, -9.81)), "ground"
    joint = (lambda a, b, at: lw.Hinge(a, b, at=at, axis=(0, 1, 0))) if hinges else (lambda a, b, at: lw.Ball(a, b, at=at))
    for k in range(n):
        (x, _, z), name = points[k + 1] - points[k], f"link{k}"
        turn = np.arctan2(-z, x) / 2
        world.add(lw.RigidBody(length * (middle if k == n // 2 else 1.0), shape=lw.Box(length, 0.02, 0.02), name=name,
                               position=(points[k] + points[k + 1]) / 2,
                               orientation=(np.cos(turn), 0, np.sin(turn), 0)))  # fmt: skip
        world.add(joint(above, name, points[k]))
        above = name
    world.add(joint(above, "ground", points[n]))
    return world


NAILED = {
    "twenty": {},
    "hinges": {"hinges": True},
    "fifty": {"n": 50, "length": 0.04},
    "a heavy link": {"middle": 100.0},
    "nearly taut": {"slack": 1e-4},
    "slack": {"slack": 1e-2},
}


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
@pytest.mark.parametrize("dt", [1 / 30, 1 / 60, 1 / 120])
@pytest.mark.parametrize("name", NAILED)
def test_a_chain_drawn_taut_between_two_nails_stays_together(name, dt, tangent):
    """Drawn straight it has redundant rows, and steps go on until they are done."""
    apart, won, solves = followed(between_nails(**NAILED[name]), dt, tangent)
    slack = "slack" in NAILED[name]
    assert apart < (TOGETHER if slack else 1e-9) and won < 0.02 and (solves <= 2 or not slack)


@pytest.mark.filterwarnings("ignore::linkwork.Note")
def test_a_taut_chain_comes_to_rest_and_its_nails_carry_its_weight():
    sim = simulation(between_nails(), dt=1 / 60, iterations=1)
    sim.step(120)
    assert sim.energy().kinetic < 1e-12
    held = [sim.impulse(sim.world.constraints[k])[2] / sim.dt for k in (0, -1)]
    assert abs(held[0] - held[1]) == pytest.approx(20 * 0.1 * 9.81, rel=1e-3)


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("tangent", ["symmetric", "exact"])
@pytest.mark.parametrize("make", [linkages.bennett, linkages.goldberg_six, linkages.myard])
def test_steps_go_on_where_rows_are_redundant(make, tangent):
    """A linear step ends beside the constraints, where redundant rows differ, and stand in the way of the motion."""
    one, done = (simulation(make(), dt=1 / 60, tangent=tangent, iterations=iterations) for iterations in (1, None))
    for sim in (one, done):
        sim.step(60)
    assert np.array_equal(one.state.values, done.state.values) and one.drift() < 1e-10
    assert any("one iteration does not hold redundant rows" in text for text in one.notes)
    assert not any("one iteration" in text for text in done.notes)


def random_tree(seed):
    """Up to 13 links of up to 3,000 times the mass of others, struck: (world, dt, tangent)."""
    r, world = np.random.default_rng(seed), lw.World(gravity=(0, 0, -9.81))
    length, kinds, ends = 10 ** r.uniform(-1.3, 0), r.permutation(["ball", "hinge", "universal"])[: r.integers(1, 4)], []
    width, speed = 10 ** r.uniform(-2, -0.7) * length, r.uniform(0, 5)
    for k in range(r.integers(2, 14)):
        above, at = ends[-1 - r.integers(0, min(3, len(ends)))] if ends else ("ground", np.zeros(3))
        along, first, name = *(d / np.linalg.norm(d) for d in r.normal(size=(2, 3))), f"link{k}"
        second = np.cross(first, along)
        half = np.array([1 + along[0], *np.cross((1, 0, 0), along)])
        world.add(lw.RigidBody(10 ** r.uniform(-3, 0.5), shape=lw.Box(length, width, width), position=at + along * length / 2,
                               orientation=half / np.linalg.norm(half), velocity=speed / 2 * r.normal(size=3),
                               angular_velocity=speed / length / 2 * r.normal(size=3), name=name))  # fmt: skip
        kind = r.choice(kinds)
        if kind == "ball":
            world.add(lw.Ball(above, name, at=at))
        elif kind == "hinge":
            world.add(lw.Hinge(above, name, at=at, axis=first))
        else:
            world.add(lw.Universal(above, name, at=at, first=first, second=second / np.linalg.norm(second)))
        ends.append((name, at + along * length))
    return world, r.choice([1 / 30, 1 / 60, 1 / 120]), str(r.choice(["symmetric", "exact"]))


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("seed", [*range(10), 68, 88, 101, 128, 139, 166, 171, 190, 201, 269, 291])
def test_random_trees_stay_together_and_win_no_energy_in_any_step(seed):
    """The later ones are lifted by being put back onto their constraints, by more than a step loses."""
    world, dt, tangent = random_tree(seed)
    sim = simulation(world, dt=dt, tangent=tangent, iterations=1)
    energies, apart = [sim.energy()], 0.0
    for _ in range(round(1 / dt)):
        sim.step()
        energies.append(sim.energy())
        apart = max(apart, sim.drift())
    won = max(after.total - before.total for before, after in pairwise(energies))
    assert apart < TOGETHER and won < 0.02 * max(energy.kinetic for energy in energies)
