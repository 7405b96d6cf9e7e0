"""Parts that are placed roughly come together, or what cannot be met is named."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwork as lw
from linkwork.simulation.assembly import Assembler

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.Note")


def linkage(rng, n, scatter, closed=False):
    """A chain on hinges whose axes take turns, its parts thrown about; closed: its end on a point that it can reach."""
    world, before, end = lw.World(), None, (0, 0, 0)
    for k in range(n):
        turn = np.array([1.0, 0, 0, 0]) + scatter * rng.normal(size=4)
        place = np.array([0.2 * k + 0.1, 0, 0]) + scatter * rng.normal(size=3)
        body = world.add(lw.RigidBody(rng.uniform(0.5, 2), shape=lw.Box(0.2, 0.05, 0.05), position=place,
                                      orientation=turn / np.linalg.norm(turn), name=f"part{k}"))  # fmt: skip
        axis = (0, 1, 0) if k % 2 else (0, 0, 1)
        world.add(
            lw.Hinge(before or world.ground, body, on_a=end, on_b=(-0.1, 0, 0), axis_a=axis, axis_b=axis, name=f"hinge{k}")
        )
        before, end = body, (0.1, 0, 0)
    if closed:
        world.add(lw.Ball(world.ground, before, on_a=(0.1 * n, 0.02, 0.1), on_b=end, name="end"))
    return world


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_random_linkages_come_together(seed, closed):
    rng = np.random.default_rng(seed)
    world = linkage(rng, int(rng.integers(3, 12)), rng.choice([0.03, 0.2, 0.6]), closed)
    assert world.assemble().met
    sim = lw.Simulation(world)
    assert sim.drift() < 1e-11
    sim.step(20)


def test_bodies_go_no_farther_than_they_must():
    """A displacement of least kinetic norm, where it is small: the light part comes to the heavy one."""
    world = lw.World()
    for name, mass, x in (("heavy", 9.0, 0.0), ("light", 1.0, 1e-4)):
        world.add(lw.Particle(mass, position=(x, 0, 0), name=name))
    world.add(lw.Ball("heavy", "light", on_a=(0, 0, 0), on_b=(0, 0, 0)))
    world.assemble()
    np.testing.assert_allclose([body.position[0] for body in world.bodies], 1e-5, rtol=1e-9)


def test_what_cannot_be_met_is_named_and_nothing_moves():
    world = lw.World()
    bob = world.add(lw.Particle(1.0, position=(1, 0.1, 0), name="bob"))
    world.add(lw.Distance(world.ground, bob, 1.0, name="near"))
    world.add(lw.Distance(world.ground, bob, 1.0, on_a=(3, 0, 0), name="far"))
    version = world.version
    with pytest.raises(
        lw.ModelError,
        match=r'^World: it cannot be assembled from where its bodies are, Distance "(near|far)" is off by 0.5, Distance "(near|far)" is off by 0.5; ',
    ):
        world.assemble()
    np.testing.assert_array_equal(bob.position, (1, 0.1, 0))
    assert world.version == version
    found = world.assemble(partly=True)
    assert found.off == pytest.approx({"near": 0.5, "far": 0.5}, abs=1e-6) and not found.met
    np.testing.assert_allclose(bob.position, (1.5, 0, 0), atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_least_squares_are_those_of_scipy(seed):
    """Too many rods hold one bead: the oracle minimises the same sum."""
    rng = np.random.default_rng(seed)
    posts, lengths, start = rng.normal(size=(6, 3)), rng.uniform(0.5, 1.5, 6), rng.normal(size=3)
    world = lw.World()
    bead = world.add(lw.Particle(1.0, position=start, name="bead"))
    for k, (post, length) in enumerate(zip(posts, lengths, strict=True)):
        world.add(lw.Distance(world.ground, bead, length, on_a=post, name=f"rod{k}"))
    world.assemble(partly=True)
    oracle = least_squares(lambda x: np.linalg.norm(x - posts, axis=1) - lengths, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    left = np.linalg.norm(bead.position - posts, axis=1) - lengths
    assert left @ left <= 2 * oracle.cost * (1 + 1e-6)


def test_it_never_gets_worse():
    assembler = Assembler(linkage(np.random.default_rng(3), 8, 0.6, closed=True))
    before = assembler.residuals @ assembler.residuals
    assembler.come_together()
    assert assembler.residuals @ assembler.residuals < 1e-22 < before


def test_anchors_stay_where_they_were_said_to_be():
    """`at` is of the world as it was built, though its bodies are built elsewhere now."""
    world = lw.World()
    arm = world.add(lw.RigidBody(1.0, shape=lw.Box(1, 0.1, 0.1), position=(0.5, 0, 0), name="arm"))
    world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="pivot"))
    world.add(lw.Rope(world.ground, arm, on_a=(0, 0, 2), on_b=(0.5, 0, 0), name="rope"))
    world.add(lw.PointOnPlane(world.ground, arm, normal=(0, 0, 1), on_a=(0, 0, -0.3), on_b=(0.5, 0, 0), name="floor"))
    world.assemble()
    assert world.find("rope").length == pytest.approx(np.sqrt(5))
    sim = lw.Simulation(world, off=["floor"])
    assert sim.drift() < 1e-12 and sim.angle("pivot") == pytest.approx(np.arcsin(0.3))
    assert sim.point("arm", (0.5, 0, 0))[2] == pytest.approx(-0.3)


@pytest.mark.parametrize(
    "body",
    [
        lw.PlanarBody(1.0, 0.1, position=(0.3, 0.4), angle=0.5, name="part"),
        lw.PlanarParticle(1.0, position=(0.3, 0.4), name="part"),
        lw.ScalableBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), position=(0.3, 0, 0.4), name="part"),
        lw.AffineBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), position=(0.3, 0, 0.4), name="part"),
    ],
    ids=lambda body: type(body).__name__,
)
def test_every_kind_of_body_is_moved(body):
    world = lw.World()
    world.add(body)
    beside = (0, 0, 0) if isinstance(body, lw.PlanarParticle) else (0.1, 0, 0)
    world.add(lw.Ball(world.ground, body, on_a=(0, 0, 0), on_b=beside, name="nail"))
    assert world.assemble().met
    assert lw.Simulation(world).drift() < 1e-11


def test_velocity_rows_do_not_hinder():
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0.5, 0.3), name="sled"))
    world.add(lw.Skate("sled", direction=(1, 0, 0), name="blade"))
    world.add(lw.Ball(world.ground, "sled", on_a=(0, 0, 0), on_b=(0, 0, 0)))
    assert world.assemble().met


def test_first_order_motion_can_be_watched():
    world = linkage(np.random.default_rng(1), 5, 0.1)
    world.gravity = (0, 0, 0)
    with pytest.raises(lw.ModelError, match=r"as built; place its bodies so that it holds, or let world.assemble\(\) do it$"):
        lw.Simulation(world)
    sim = lw.Simulation(world, dt=0.01, integrator="first-order", stiffness=5.0)
    assert any("first-order motion draws it in" in note for note in sim.notes)
    drifts = [sim.drift()]
    for _ in range(60):
        sim.step(5)
        drifts.append(sim.drift())
    assert np.all(np.diff(drifts) < 0.01 * drifts[0]) and drifts[-1] < 1e-5 * drifts[0]


def test_nothing_to_do():
    world = lw.World()
    with pytest.raises(lw.ModelError, match="there is no body in it"):
        world.assemble()
    world.add(lw.Particle(1.0, name="alone"))
    assert world.assemble().iterations == 0


def test_a_constraint_that_is_not_finite_is_named():
    world = lw.World()
    world.add(lw.Particle(1.0, name="bob"))
    world.add(lw.Constraint("bob", lambda b, t: lw.sqrt(b.position[2] - 1.0), name="root"))
    with pytest.raises(lw.ModelError, match=r'Constraint "root"'):
        world.assemble()


def test_lagrangian_bodies_are_moved_by_their_coordinates():
    """A bead on a parabola, and a rod of it to a post: `at` and lengths stay those of the bead as it was built."""
    world = lw.World()
    bead = world.add(lw.LagrangianBody(lambda u: (u[0], 0, u[0] ** 2), masses=(1.0,), coordinates=(0.5,), name="bead"))
    world.add(lw.Distance(world.ground, bead, 2.0, name="rod"))
    assert world.assemble().met
    x = float(bead.coordinates[0])
    assert x**2 + x**4 == pytest.approx(4.0, abs=1e-10)
    sim = lw.Simulation(world)
    sim.step(10)
    world.remove("rod")
    sim.step(50)
    slope = sim.add(lw.Distance(world.ground, bead, name="now"))
    before = np.linalg.norm(sim.position("bead"))
    sim.step(20)
    assert np.linalg.norm(sim.position("bead")) == pytest.approx(before, abs=1e-9) and slope in world


# -- starts that feedback draws in ---------------------------------------------------------------------------------------


def apart(off=0.3):
    """Two rods end to end, whose particles start too far from each other and from the ground."""
    world = lw.World()
    for name, place in (("a", (1 + off, 0, 0)), ("b", (2 + 1.5 * off, 0, 0.1))):
        world.add(lw.Particle(1.0, place, name=name))
    world.add(lw.Distance(world.ground, "a", 1.0, name="first"))
    world.add(lw.Distance("a", "b", 1.0, name="second"))
    return world


@pytest.mark.parametrize("solver", ["tree", "fronts", "dense", "anticipation", "cg"])
def test_euler_draws_a_violated_start_in(solver):
    with pytest.warns(lw.Note, match='Distance "first": it is off by 0.3 as built; the feedback of euler .* draws it in'):
        sim = lw.Simulation(apart(), dt=1e-3, solver=solver, integrator="euler")
    assert np.isclose(sim.drift(), 0.3)
    sim.step(200)
    assert sim.drift() < 1e-3


def test_feedback_comes_in_as_its_constants_say():
    """C'' = -k_s C - k_d C' from rest: critically damped, C = C0 (1 + w t) e^(-w t), for one rod without gravity."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, (1.3, 0, 0), name="a"))
    world.add(lw.Distance(world.ground, "a", 1.0, name="rod"))
    with pytest.warns(lw.Note, match="k_s = 100 .* k_d = 20"):
        sim = lw.Simulation(world, dt=1e-5, integrator="euler", stiffness=100.0, damping=20.0)
    sim.step(10_000)
    assert np.isclose(sim.position("a")[0] - 1.0, 0.3 * 2 * np.exp(-1.0), rtol=1e-3)


def test_without_feedback_a_violated_start_is_refused():
    for options in ({"integrator": "rattle"}, {"integrator": "euler", "stiffness": 0.0}):
        with pytest.raises(lw.ModelError, match=r'Distance "first": it is off by 0.3 as built; .*world.assemble\(\)'):
            lw.Simulation(apart(), dt=1e-3, **options)
