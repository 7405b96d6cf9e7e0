"""Loops that close exactly, constraints that say the same twice, and configurations in which rows depend on each other."""

import copy
import itertools
import math
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from tests.simulation.worlds import SOLVERS

INTEGRATORS = ("rattle", "euler", "rk4", "dopri5")
G = 9.81


def quiet(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **options)


def hinge(a, b, at, name, axis=(0, 1, 0)):
    return lw.Hinge(a, b, at=at, axis=axis, name=name)


def linkage(points, spatial, **options):
    """Bars from point to point (x, z), the first and the last point on the ground; hinges about y."""
    world = lw.World()
    bars = []
    for k, ((x0, z0), (x1, z1)) in enumerate(itertools.pairwise(points)):
        length, angle = math.hypot(x1 - x0, z1 - z0), -math.atan2(z1 - z0, x1 - x0)
        middle, moment, name = ((x0 + x1) / 2, (z0 + z1) / 2), length**2 / 12, f"bar{k}"
        if spatial:
            bar = lw.RigidBody(1.0, (moment / 50, moment, moment), position=(middle[0], 0, middle[1]), name=name,
                               orientation=(math.cos(angle / 2), 0, math.sin(angle / 2), 0))  # fmt: skip
        else:
            bar = lw.PlanarBody(1.0, moment, position=middle, angle=angle, name=name)
        bars.append(world.add(bar))
    ends = [world.ground, *bars, world.ground]
    for k, (x, z) in enumerate(points):
        a, b, at = ends[k], ends[k + 1], (x, 0, z)
        world.add(hinge(a, b, at, f"pin{k}") if spatial else lw.Ball(a, b, at=at, name=f"pin{k}"))
    return world


FOUR_BAR = [(0, 0), (0, 1), (2, 1.5), (2.5, 0)]


def rocker_tip(crank, points):
    """Where the pin between coupler and rocker is by the law of cosines, on the side where it was built."""
    ground, tip = np.array(points[3], dtype=float), np.asarray(crank, dtype=float)
    coupler, rocker = (math.dist(points[k], points[k + 1]) for k in (1, 2))
    across = ground - tip
    d = np.linalg.norm(across)
    along = (coupler**2 - rocker**2 + d**2) / (2 * d)
    high = math.sqrt(coupler**2 - along**2)
    return tip + along * across / d + high * np.array([-across[1], across[0]]) / d


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_four_bar_closes_as_geometry_says(solver, spatial):
    sim = quiet(linkage(FOUR_BAR, spatial), solver=solver)
    before = sim.energy().total
    for _ in range(5):
        sim.step(150)
        tip = sim.point("bar0", _far_end(sim, "bar0", FOUR_BAR[0]))
        found = sim.point("bar2", _far_end(sim, "bar2", FOUR_BAR[3]))
        assert np.allclose(found[[0, 2]], rocker_tip(tip[[0, 2]], FOUR_BAR), atol=1e-9)
    assert sim.drift() < 1e-10
    assert abs(sim.energy().total - before) < 1e-3


def _far_end(sim, body, fixed):
    """The local place of a bar's end that is not at a fixed point."""
    pose = sim.frame(body)
    arm = np.asarray(sim.position(body)) - np.array([fixed[0], 0, fixed[1]])
    return pose.T @ arm


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_hinges_in_space_move_as_bodies_in_a_plane(integrator):
    flat, deep = (quiet(linkage(FOUR_BAR, spatial), integrator=integrator) for spatial in (False, True))
    assert deep.model.summary()["redundant"] == 3
    for sim in (flat, deep):
        sim.step(300)
    for k in range(3):
        assert np.allclose(flat.position(f"bar{k}"), deep.position(f"bar{k}"), atol=1e-7)


def test_a_four_bar_is_its_equation_of_one_angle():
    """Against the motion of the crank angle alone, with inertia and weight found by differences along the closed curve."""
    world = linkage(FOUR_BAR, spatial=False)
    sim = lw.Simulation(world, dt=1e-3, integrator="dopri5")

    def places(angle):  # of the three bars: (x, z, angle)
        tip = np.array([math.sin(angle), math.cos(angle)])
        far = rocker_tip(tip, FOUR_BAR)
        ends = [(np.zeros(2), tip), (tip, far), (far, np.array(FOUR_BAR[3]))]
        return np.array([[*((a + b) / 2), math.atan2(*(b - a)[::-1])] for a, b in ends])

    moments = np.array([math.dist(a, b) ** 2 / 12 for a, b in itertools.pairwise(FOUR_BAR)])
    step = 1e-5

    def inertia(angle):
        rate = (places(angle + step) - places(angle - step)) / (2 * step)
        return float((rate[:, :2] ** 2).sum() + (moments * rate[:, 2] ** 2).sum())

    def slope(f, angle):
        return (f(angle + step) - f(angle - step)) / (2 * step)

    def rates(_, y):
        push = -slope(lambda a: G * places(a)[:, 1].sum(), y[0])
        return [y[1], (push - 0.5 * slope(inertia, y[0]) * y[1] ** 2) / inertia(y[0])]

    end = solve_ivp(rates, (0, 0.6), [0.0, 0.0], rtol=1e-8, atol=1e-10).y[0, -1]
    sim.step(600)
    assert np.allclose(sim.position("bar0")[[0, 2]], [math.sin(end) / 2, math.cos(end) / 2], atol=1e-6)


def ladder(count):
    """Two stiles of `count` bars side by side with rungs between them, hanging from the ground."""
    world = lw.World()
    sides = [[world.add(lw.Particle(1.0, (0.5 * k, y, 0.0))) for k in range(count + 1)] for y in (0.0, 0.4)]
    for side in sides:
        world.add(lw.Ball(world.ground, side[0], at=side[0].position))
        for a, b in itertools.pairwise(side):
            world.add(lw.Distance(a, b))
    for a, b in zip(*(side[1:] for side in sides), strict=True):
        world.add(lw.Distance(a, b))
    return world


def test_a_ladder_has_few_neighbours_however_long_it_is():
    short, long = (quiet(ladder(count)).model.summary() for count in (5, 60))
    assert long["loops"] == 60
    assert long["neighbours"] == short["neighbours"] <= 4


def test_four_bars_in_series_have_few_neighbours():
    """One bar of each loop is the ground of the next."""

    def series(count):
        world = lw.World()
        low = [world.add(lw.RigidBody(1.0, shape=lw.Box(1, 0.1, 0.1), position=(k + 0.5, 0, 0))) for k in range(count)]
        posts = [world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 1), position=(k, 0, 0.5))) for k in range(count + 1)]
        high = [world.add(lw.RigidBody(1.0, shape=lw.Box(1, 0.1, 0.1), position=(k + 0.5, 0, 1))) for k in range(count)]
        for k in range(count):
            for bar, z in ((low[k], 0), (high[k], 1)):
                for post, x in ((posts[k], k), (posts[k + 1], k + 1)):
                    world.add(hinge(post, bar, (x, 0, z), None))
        return quiet(world)

    short, long = (series(count) for count in (3, 12))
    assert long.model.summary()["redundant"] == 3 * 12
    assert long.model.summary()["neighbours"] == short.model.summary()["neighbours"]
    long.step(100)
    assert long.drift() < 1e-10


REDUNDANT = {
    "doubled": [hinge("ground", "a", (0, 0, 0), "h1"), hinge("ground", "a", (0, 0, 0), "h2")],
    "coaxial": [hinge("ground", "a", (0, 0, 0), "h1"), hinge("ground", "a", (0, 1, 0), "h2")],
    "over-held": [lw.Weld("ground", "a", name="h1"), lw.Distance("ground", "a", name="h2")],
    "two bodies": [
        hinge("ground", "a", (0, 0, 0), "h1"),
        hinge("a", "b", (0, 1, 0), "h2"),
        hinge("ground", "b", (0, 0, 0), "h3"),
    ],
}


def two_bodies(*more):
    world = lw.World()
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(1, 0, 0), name="a"))
    world.add(lw.RigidBody(1.0, (1, 2, 2), position=(2, 0, 0), name="b"))
    for element in more:
        world.add(element)
    return world


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", REDUNDANT)
def test_redundant_rows_run_with_a_note_that_names_an_element(solver, case):
    world = two_bodies(*copy.deepcopy(REDUNDANT[case]))
    with pytest.warns(lw.Note, match=r'"h[123]": \d+ of the \d+ rows between its bodies are redundant as built'):
        sim = lw.Simulation(world, solver=solver)
    assert len(sim.notes[0]) < 320 and "\n" not in sim.notes[0]
    sim.step(50)
    assert sim.drift() < 1e-10


def test_a_doubled_hinge_is_a_hinge():
    once, twice = (two_bodies(*[hinge("ground", "a", (0, 0, 0), f"h{k}") for k in range(n)]) for n in (1, 2))
    once, twice = lw.Simulation(once), quiet(twice)
    for sim in (once, twice):
        sim.step(500)
    assert np.allclose(once.position("a"), twice.position("a"), atol=1e-11)
    assert np.allclose(once.reaction("h0").force, twice.reaction("h0").force + twice.reaction("h1").force, atol=1e-9)
    assert once.reaction("h0").determined and not twice.reaction("h0").determined


def test_two_posts_share_a_load_by_halves():
    """A plank on two hinges of one axis, in the middle between them."""
    world = lw.World()
    world.add(lw.RigidBody(3.0, shape=lw.Box(0.1, 2, 0.1), name="plank"))
    for name, y in (("left", -1), ("right", 1)):
        world.add(hinge(world.ground, "plank", (0, y, 0), name))
    sim = quiet(world)
    for name in ("left", "right"):
        found = sim.reaction(name)
        assert np.allclose(found.force, (0, 0, 1.5 * G), atol=1e-9) and not found.determined


def test_a_free_body_beside_a_redundant_mechanism_keeps_its_motion():
    def world(doubled):
        made = two_bodies(*[hinge("ground", "a", (0, 0, 0), f"h{k}") for k in range(1 + doubled)])
        made.add(lw.Ball("ground", "b", at=(3, 0, 0)))
        return quiet(made)

    alone, beside = world(False), world(True)
    for sim in (alone, beside):
        sim.step(200)
    assert np.abs(alone.position("b") - beside.position("b")).max() < 1e-12  # it is corrected as often as the mechanism


def test_a_parallelogram_passes_through_the_flat_configuration():
    points = [(0, 0), (0, 1), (2, 1), (2, 0)]
    world = linkage(points, spatial=False)
    world.find("bar0").angular_velocity = world.find("bar2").angular_velocity = 2.0
    world.find("bar0").velocity = world.find("bar2").velocity = (1.0, 0.0)
    world.find("bar1").velocity = (2.0, 0.0)
    sim = quiet(world, dt=1e-3)
    before, lowest = sim.energy().total, 0.0
    for _ in range(40):
        sim.step(100)
        lowest = min(lowest, float(sim.position("bar0")[2]))
        assert sim.drift() < 2e-9
    assert lowest < -0.45  # it went round
    assert abs(sim.energy().total - before) < 1e-2


@pytest.mark.parametrize("count", [2, 6])
@pytest.mark.parametrize("options", [{}, {"tolerance": 1e-8}, {"solver": "implicit", "dt": 1 / 60}])
def test_a_straight_chain_held_at_both_ends_stays(count, options):
    """But for what its middle may sag by where every joint is off by the tolerance: sqrt(length / 2 times their sum)."""
    world = lw.World()
    previous = world.ground
    for k in range(count):
        link = world.add(lw.RigidBody(1.0, shape=lw.Box(0.5, 0.1, 0.1), position=(0.5 * k + 0.25, 0, 0), name=f"link{k}"))
        world.add(lw.Ball(previous, link, at=(0.5 * k, 0, 0)))
        previous = link
    world.add(lw.Ball(world.ground, previous, at=(0.5 * count, 0, 0)))
    sim = quiet(world, **options)
    sim.step(120)
    sag = max(1e-4, math.sqrt(0.25 * count * (count + 1) * options.get("tolerance", 0.0)))
    assert abs(sim.position("link1")[2]) < sag and sim.drift() < 1e-8


def test_a_stretched_toggle_stays():
    """Two bars in line between two nails."""
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), name="knee"))
    world.add(lw.Distance(world.ground, "knee", name="left"))
    world.add(lw.Distance(world.ground, "knee", on_a=(2, 0, 0), name="right"))
    with pytest.warns(lw.Note, match=r'Distance "(left|right)": 1 of the 2 rows'):
        sim = lw.Simulation(world)
    sim.step(100)
    assert abs(sim.position("knee")[2]) < 1e-4


@pytest.mark.parametrize("count", [3, 6])
def test_a_ring_of_rods_keeps_its_momenta(count):
    world = lw.World(gravity=(0, 0, 0))
    rng = np.random.default_rng(count)
    for k in range(count):
        world.add(lw.Particle(1.0 + k, (math.cos(k), math.sin(k), k % 2), rng.normal(size=3), name=f"p{k}"))
    for k in range(count):
        world.add(lw.Distance(f"p{k}", f"p{(k + 1) % count}"))
    sim = quiet(world)

    def momenta():
        p = [(1.0 + k) * np.asarray(sim.velocity(f"p{k}")) for k in range(count)]
        return np.concatenate([sum(p), sum(np.cross(sim.position(f"p{k}"), p[k]) for k in range(count))])

    before = momenta()
    sim.step(1000)
    assert np.allclose(momenta(), before, atol=1e-10) and sim.drift() < 1e-10


def test_a_loop_that_cannot_close_is_refused_as_built():
    world = two_bodies(lw.Ball("a", "b", at=(1.5, 0, 0)), lw.Ball("ground", "a", at=(0, 0, 0)))
    world.add(lw.Ball("ground", "b", on_a=(4, 0, 0), on_b=(1, 0, 0), name="gap"))
    with pytest.raises(lw.ModelError, match='Ball "gap": it is off by 1 as built'):
        lw.Simulation(world)
