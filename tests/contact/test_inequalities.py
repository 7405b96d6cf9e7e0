"""Inequalities of users' functions: against contact, ropes and hard limits, dense solves, closed forms; refusals by name."""

import itertools
import pickle
import warnings

import numpy as np
import pytest

import linkwork as lw

G = 10.0
LET_BE = 2e-7  # m: nearer than that a bound counts as reached
PAIRS = [("tree", "rattle"), ("tree", "shake"), ("tree", "euler"), ("fronts", "rattle"), ("implicit", "backward-euler"),
         ("anticipation", "euler"), ("tree", "joint-euler"), ("aba", "joint-euler"), ("ltdl", "joint-euler"),
         ("aba", "joint-implicit")]  # fmt: skip
EVERY = pytest.mark.parametrize(("solver", "integrator"), PAIRS)


# -- against what is there in closed form ------------------------------------------------------------------------------
def ball(by_contact, friction, restitution):
    """A ball that falls, bounces and slides. Contact rubs half way between ball and floor."""
    world = lw.World()
    world.add(
        lw.RigidBody(
            1.0, shape=lw.Sphere(0.1), position=(0, 0, 0.3), velocity=(1.0, 0.3, 0), angular_velocity=(0, 2, 0), name="b"
        )
    )
    if by_contact:
        world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
        world.add(lw.Contact(friction=friction, restitution=restitution))
        return world

    def slip(b, t):
        arm, (wx, wy) = (b.position[2] + 0.1) / 2, b.angular_velocity[:2]
        return [b.velocity[0] - arm * wy, b.velocity[1] + arm * wx]

    rubs = {"slip": slip, "friction": friction} if friction else {}
    world.add(lw.Inequality("b", lambda b, t: b.position[2] - 0.1, restitution=restitution, **rubs, name="floor"))
    return world


@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("friction", [0.0, 0.4])
@EVERY
def test_a_ball_on_an_inequality_is_a_ball_on_a_plane(solver, integrator, friction, restitution):
    """To rounding, but for two: on accelerations contact takes the change of its rows by differences, and iterations of
    implicit steps take speeds of sliding anew, which contact has as they were at the beginning."""
    solved = 2e-8  # m/s: what moves is solved to 1e-6 of what gravity gives in a step
    close = {"anticipation": 1e-2, "implicit": 4e-2 if friction else solved}.get(solver, solved)
    two = [lw.Simulation(ball(way, friction, restitution), solver=solver, integrator=integrator) for way in (True, False)]
    for _ in range(8):
        for sim in two:
            sim.step(100)
        for read in (lw.Simulation.position, lw.Simulation.velocity, lw.Simulation.angular_velocity):
            np.testing.assert_allclose(read(two[0], "b"), read(two[1], "b"), atol=close)


def arm(limited):
    """A heavy arm on a hinge, its centre of mass beside its origin, which falls onto its bound."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(1, 0, 0), com=(0.3, 0.1, 0), name="arm"))
    world.add(lw.Hinge(world.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    limited(world)
    return world


def by_limit(world):
    world.add(lw.HardLimit("axle", upper=0.5, restitution=0.3, name="stop"))


def by_function(world):
    world.add(lw.Inequality("arm", lambda b, t: 0.5 - lw.atan2(-b.direction((1, 0, 0))[2], b.direction((1, 0, 0))[0]), restitution=0.3,
                            name="stop"))  # fmt: skip


@pytest.mark.parametrize(("solver", "integrator"), [pair for pair in PAIRS if pair[0] != "anticipation"])
def test_an_angle_that_a_function_bounds_is_that_of_a_hard_limit(solver, integrator):
    close = 1e-6 if integrator == "shake" else 1e-8  # it closes joints to 1e-10 m a step
    two = [lw.Simulation(arm(way), solver=solver, integrator=integrator) for way in (by_limit, by_function)]
    for _ in range(10):
        for sim in two:
            sim.step(100)
        assert np.isclose(*[sim.angle("axle") for sim in two], atol=1e-9)
        assert np.isclose(*[sim.rate("axle") for sim in two], atol=close)
    assert np.isclose(two[0].angle("axle"), 0.5, atol=1e-4)
    np.testing.assert_allclose(*[sim.reaction("stop").torque for sim in two], atol=1e3 * close)


@pytest.mark.parametrize(("solver", "integrator"), [pair for pair in PAIRS if "joint" not in pair[1]])
def test_a_distance_that_a_function_bounds_is_a_rope(solver, integrator):
    """Between free bodies: their component has one group of slots, and the rope two. Its force is told along the rope as it
    was at the beginning of the step, that of a function as it is now."""
    found = []
    for way in (lambda a, b: lw.Rope(a, b, 1.2, on_a=(0.1, 0, 0), name="cord"),
                lambda a, b: lw.Inequality(a, b, lambda a, b, t: 1.2 - lw.norm(b.position - a.point((0.1, 0, 0))), name="cord")):  # fmt: skip
        world = lw.World(gravity=(0, 0, 0))
        world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), angular_velocity=(0, 0, 2), name="a"))
        world.add(lw.Particle(0.5, position=(1.1, 0, 0), velocity=(1, 0.5, 0), name="b"))
        world.add(way("a", "b"))
        sim = lw.Simulation(world, solver=solver, integrator=integrator)
        sim.step(300)
        found.append(
            np.concatenate([sim.velocity("a"), sim.angular_velocity("a"), sim.velocity("b"), 1e-4 * sim.reaction("cord").force])
        )
    np.testing.assert_allclose(*found, atol=2e-3 if solver == "anticipation" else 1e-8)


# -- random worlds against a dense solve -------------------------------------------------------------------------------
def bodies_of_all_kinds(world, rng):
    """One of each kind that stands freely, and a chain of two on a ball."""

    def at():
        return rng.normal(size=3)

    made = [lw.RigidBody(rng.uniform(0.5, 2), (0.1, 0.2, 0.25), position=at(), angular_velocity=at(), velocity=at()),
            lw.Particle(rng.uniform(0.5, 2), position=at(), velocity=at()),
            lw.PlanarBody(1.0, 0.1, position=(rng.normal(), 0, rng.normal()), velocity=(rng.normal(), 0, rng.normal())),
            lw.AffineBody(1.0, shape=lw.Box(0.5, 0.4, 0.3), position=at(), velocity=at()),
            lw.ScalableBody(1.0, shape=lw.Box(0.5, 0.4, 0.3), position=at(), velocity=at()),
            lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(3, 0, 0), velocity=(0, 0.2, 0)),
            lw.RigidBody(2.0, (0.1, 0.1, 0.1), position=(4, 0, 0), velocity=(0, 0.2, 0))]  # fmt: skip
    found = [world.add(body) for body in made]
    world.add(lw.Ball(found[-2], found[-1], at=(3.5, 0, 0)))
    return found


class Measured:
    """A curved function of points of some bodies and the time, `away` from its bound as built."""

    def __init__(self, bodies, rng):
        self.bodies = [bodies[k] for k in rng.choice(len(bodies), size=rng.integers(1, 4), replace=False)]
        points = [body.kind in ("particle", "planar") for body in self.bodies]
        self.locals = [np.zeros(3) if point else 0.2 * rng.normal(size=3) for point in points]
        self.weights, self.rate, self.away, self.built = rng.normal(size=(len(points), 3)), rng.normal(), rng.uniform(0, 2), 0.0

    def __call__(self, *given):
        *bodies, t = given
        places = [body.point(local) for body, local in zip(bodies, self.locals, strict=True)]
        return self.value(places, t, lw.sin) - self.built

    def value(self, places, t, sine):
        total = self.rate * t
        for (a, b, c), x in zip(self.weights, places, strict=True):
            total = total + a * x[0] + b * x[1] + c * x[2] + sine(x[0])
        return total

    def gradient(self, sim):
        """By generalised forces of points."""
        slopes = []
        for weights, body, local in zip(self.weights, self.bodies, self.locals, strict=True):
            slope = weights + np.array([np.cos(sim.point(body.name, local)[0]), 0, 0])
            slopes.append(sim.matrices.force(body.name, slope, at=local))
        return np.sum(slopes, axis=0)


def least(W, J, free, needed):
    """(v, impulses): the velocity next to `free`, in the norm of W^-1, with J v >= needed: by trying all sets of rows that may
    press."""
    for count in range(len(J) + 1):
        for chosen in itertools.combinations(range(len(J)), count):
            rows = list(chosen)
            f = np.linalg.solve(J[rows] @ W @ J[rows].T, needed[rows] - J[rows] @ free)
            v = free + W @ J[rows].T @ f
            if (f >= -1e-12).all() and (J @ v >= needed - 1e-9).all():
                whole = np.zeros(len(J))
                whole[rows] = f
                return v, whole
    raise AssertionError("no set of rows does")


@pytest.mark.parametrize("solver", ["tree", "fronts"])
@pytest.mark.parametrize("seed", range(20))
def test_random_inequalities_are_a_quadratic_program(seed, solver):
    """A short step of Euler's method: the velocity at its end is the nearest one, in the norm of M, that no inequality
    forbids."""
    dt, rng = 1e-6, np.random.default_rng(seed)
    world = lw.World()
    bodies = bodies_of_all_kinds(world, rng)
    free = lw.Simulation(world, dt, solver, "euler")
    functions = [Measured(bodies, rng) for _ in range(5)]
    M, held = free.matrices.M.toarray(), free.matrices.J.toarray()
    J = np.array([function.gradient(free) for function in functions])
    for function in functions:
        places = [free.point(body.name, local) for body, local in zip(function.bodies, function.locals, strict=True)]
        function.built = function.value(places, 0.0, np.sin) - function.away * dt - LET_BE
    free.step()
    unhindered = free.matrices.v
    for function in functions:
        world.add(lw.Inequality(*function.bodies, function))
    sim = lw.Simulation(world, dt, solver, "euler")
    sim.step()
    W = np.linalg.inv(M)
    W -= W @ held.T @ np.linalg.solve(held @ W @ held.T, held @ W)
    needed = np.array([-function.away - function.rate for function in functions])
    v, impulses = least(W, J, unhindered, needed)
    np.testing.assert_allclose(sim.matrices.v, v, atol=3e-5)
    told = [sim.reaction(element).generalised[0] * dt for element in world.contacts]
    np.testing.assert_allclose(told, impulses, atol=3e-5)


# -- what it can be ----------------------------------------------------------------------------------------------------
def test_a_bound_on_a_velocity_holds_with_the_least_force():
    """A cart that may not roll faster than 0.5 m/s down a slope, and a wheel that turns one way."""
    world = lw.World(gravity=(5, 0, 0))
    world.add(lw.Particle(2.0, name="cart"))
    world.add(lw.Inequality("cart", lambda b, t: 0.5 - b.velocity[0], name="brake"))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 3, 0), angular_velocity=(0, 0, -1), name="wheel"))
    world.add(lw.Inequality("wheel", lambda b, t: b.angular_velocity[2], name="pawl"))
    sim = lw.Simulation(world)
    sim.step(400)
    assert np.isclose(sim.velocity("cart")[0], 0.5, atol=1e-9) and abs(sim.angular_velocity("wheel")[2]) < 1e-9
    assert np.allclose(sim.reaction("brake").force, (-10, 0, 0), atol=1e-6)


@pytest.mark.parametrize(("solver", "integrator"), [pair for pair in PAIRS if pair[0] != "anticipation"])
def test_a_bound_that_moves_carries_what_lies_on_it(solver, integrator):
    """A lift that starts with a jerk, and a body that leaves it when it falls faster than gravity."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 0, 0), name="load"))
    world.add(lw.Inequality("load", lambda b, t: b.position[2] - 0.1 * lw.sin(5 * t), name="lift"))
    sim = lw.Simulation(world, 1e-3, solver=solver, integrator=integrator)
    sim.step(100)
    assert np.isclose(sim.position("load")[2], 0.1 * np.sin(0.5), atol=2e-4)
    assert np.isclose(sim.velocity("load")[2], 0.5 * np.cos(0.5), atol=2e-3)
    assert np.isclose(sim.reaction("lift").force[2], G - 2.5 * np.sin(0.5), atol=2e-2)


@pytest.mark.parametrize("integrator", ["rattle", "shake", "euler"])
def test_bounces_keep_their_share_of_the_energy(integrator):
    """Each bounce of a ball leaves the square of its restitution; without one, energy is not won."""
    for restitution in (1.0, 0.5, 0.0):
        world = lw.World(gravity=(0, 0, -G))
        world.add(lw.Particle(1.0, position=(0, 0, 0.2), velocity=(0, 0, -3.0), name="ball"))
        world.add(lw.Inequality("ball", lambda b, t: b.position[2], restitution=restitution, name="floor"))
        sim = lw.Simulation(world, 1e-4, integrator=integrator)
        before = sim.energy().total
        sim.run(0.1, record_every=None)
        after = sim.energy().total
        assert np.isclose(after, restitution**2 * before, rtol=5e-3, atol=1e-5)


def test_several_bounds_of_several_bodies_at_once():
    """A list is as many bounds, more than share a slot; three bodies share one; reactions are told of each body."""
    world = lw.World(gravity=(0, 0, -G))
    beads = [world.add(lw.Particle(1.0, position=(k, 0, 0), name=f"bead{k}")) for k in range(8)]
    world.add(lw.Inequality(*beads, lambda *g: [b.position[2] + 0.1 for b in g[:-1]], name="floor"))
    world.add(
        lw.Inequality(*beads[:3], lambda a, b, c, t: a.position[2] - 2 * b.position[2] + c.position[2] + 0.3, name="bend")
    )
    sim = lw.Simulation(world)
    sim.run(0.4, record_every=None)
    assert np.allclose([sim.position(b)[2] for b in beads], -0.1, atol=1e-6)
    assert np.allclose(sim.reaction("floor").generalised, G, atol=1e-6)
    assert np.allclose(sim.reaction("floor", "bead5").force, (0, 0, G), atol=1e-6)
    with pytest.raises(lw.LinkworkError, match='Inequality "bend": it does not act on "bead5"'):
        sim.reaction("bend", "bead5")


@pytest.mark.parametrize("body", ["affine", "scalable", "lagrangian"])
def test_bodies_that_stretch_are_bounded_too(body):
    """A corner that lies on a wall, pressed by gravity: its force is that weight."""
    world = lw.World(gravity=(0, 0, -G))
    if body == "lagrangian":
        swing = world.add(lw.double_pendulum((1.0, 0.6), (1.0, 0.7), angles=(1.0, 1.6), name="b"))
        corner = swing.point(1)
    else:
        kind = lw.AffineBody if body == "affine" else lw.ScalableBody
        world.add(kind(1.0, shape=lw.Box(0.4, 0.4, 0.4), name="b"))
        corner = (0, 0, 0)
    start = 0.0 if body != "lagrangian" else -1.2
    world.add(lw.Inequality("b", lambda b, t: b.point(corner)[2] - start, name="wall"))
    sim = lw.Simulation(world)
    sim.run(1.0, record_every=None)
    assert sim.point("b", corner)[2] > start - 1e-4
    if body != "lagrangian":
        assert np.isclose(sim.reaction("wall").generalised[0], G, rtol=1e-3)


def test_parameters_switches_copies_and_states():
    """A Parameter moves a bound while running; switched off it does not act; a pickled run goes on with the same bits."""
    world, height = lw.World(gravity=(0, 0, -G)), lw.Parameter(0.5, name="height")
    world.add(lw.Particle(1.0, position=(0, 0, 1.0), name="b"))
    world.add(lw.Inequality("b", lambda b, t: b.position[2] - height, name="shelf"))
    sim = lw.Simulation(world)
    sim.run(0.5, record_every=None)
    assert np.isclose(sim.position("b")[2], 0.5, atol=1e-6)
    sim.set("height", 0.3)
    sim.run(0.4, record_every=None)
    assert np.isclose(sim.position("b")[2], 0.3, atol=1e-6)
    other = pickle.loads(pickle.dumps(sim))
    state = sim.state.copy()
    for one in (sim, other):
        one.step(50)
    assert (sim.state.values == other.state.values).all()
    sim.state = state
    sim.step(50)
    assert (sim.state.values == other.state.values).all()
    sim.switch("shelf", False)
    sim.step(200)
    assert sim.position("b")[2] < 0.2


# -- refusals ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"friction": -0.1}, "friction is -0.1"),
        ({"friction": 0.3}, "slip is missing"),
        ({"slip": lambda b, t: b.velocity[0]}, "friction is missing"),
        ({"restitution": 1.5}, "restitution is 1.5"),
        ({"slip": lambda b, t: b.position[0], "friction": 0.1}, "speaks of no velocity"),
        ({"slip": lambda b, t: b.velocity[0] ** 2, "friction": 0.1}, "not linear"),
        ({"slip": lambda b, t: b.velocity, "friction": 0.1}, "its slip gives 3 numbers"),
        (
            {"function": lambda b, t: b.position[:2], "slip": lambda b, t: b.velocity[0], "friction": 0.1},
            "make an Inequality of each",
        ),
        ({"function": lambda b, t: b.velocity[2], "restitution": 0.5}, "restitution is of positions"),
        ({"function": lambda b, t: t - 1}, "row 1 does not change when its bodies move"),
        ({"function": lambda b, t: lw.where(b.position[2] > 0, 1, -1)}, "row 1 does not change when its bodies move"),
        ({"function": lambda b, t: b.direction((1, 0, 0))[2]}, "has no directions"),
        ({"function": lambda b, t: b.position[2] - 3}, "it is violated by 3 as built"),
        ({"function": lambda b, t: lw.sqrt(b.position[0])}, "its derivative is inf as built"),
        ({"function": lambda b, t: [b.position[2] + 1, lw.log(b.position[0])]}, "its value is -inf as built"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given, words):
    world = lw.World()
    world.add(lw.Particle(1.0, name="b"))
    with pytest.raises(lw.LinkworkError, match='Inequality "i"') as caught:
        world.add(lw.Inequality("b", **{"function": lambda b, t: b.position[2] + 1, **given}, name="i"))
        lw.Simulation(world)
    assert words in str(caught.value)


def test_a_small_violation_as_built_is_taken_back_and_told():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, name="b"))
    world.add(lw.Inequality("b", lambda b, t: b.position[2] - 0.05, name="i"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = lw.Simulation(world, integrator="shake")
        sim.step(300)
    assert any('Inequality "i": it is beyond its bound by 0.05 as built' in str(note.message) for note in caught)
    assert sim.position("b")[2] > 0.05 - 1e-6


# -- motion without inertia, and impulses between steps ---------------------------------------------------------------
@pytest.mark.parametrize("solver", ["tree", "fronts"])
def test_things_that_are_dragged_do_not_interpenetrate(solver):
    """Two discs without inertia: one is pushed at 1 N past the other, which it pushes aside; both have half of it along their
    normal. By an inequality as by contact."""
    found = []
    for by_contact in (True, False):
        world = lw.World(gravity=(0, 0, 0))
        for name, place in (("a", (0, 0, 0)), ("b", (0.5, 0.02, 0))):
            world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=place, name=name))
        world.add(lw.Wrench("a", force=(1.0, 0, 0), name="push"))
        if by_contact:
            world.add(lw.Contact(friction=0.0, restitution=0.5, name="touch"))
        else:
            world.add(lw.Inequality("a", "b", lambda a, b, t: lw.norm(a.position - b.position) - 0.2, name="apart"))
        sim = lw.Simulation(world, dt=1e-3, solver=solver, integrator="first-order")
        sim.step(500)
        apart = sim.position("b") - sim.position("a")
        normal = apart / np.linalg.norm(apart)
        assert np.isclose(np.linalg.norm(apart), 0.2, atol=1e-5)
        np.testing.assert_allclose(sim.velocity("b"), 0.5 * normal[0] * normal, atol=2e-3)
        told = sim.contacts()[0].force if by_contact else sim.reaction("apart").force
        np.testing.assert_allclose(np.abs(told), np.abs(0.5 * normal[0] * normal), atol=5e-3)
        found.append(np.concatenate([sim.position("a"), sim.velocity("a")]))
    np.testing.assert_allclose(*found, atol=1e-10)


def test_a_push_without_inertia_sticks_or_slides_by_friction():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(2.0, name="crate"))
    world.add(lw.Inequality("crate", lambda b, t: b.position[2], slip=lambda b, t: b.velocity[:2], friction=0.5, name="floor"))
    world.add(lw.Wrench("crate", force=(3.0, 0, -4.0), name="push"))
    sim = lw.Simulation(world, dt=1e-3, integrator="first-order")
    sim.step(10)
    np.testing.assert_allclose(sim.velocity("crate"), ((3.0 - 0.5 * 4.0) / 2.0, 0, 0), atol=1e-9)
    np.testing.assert_allclose(sim.reaction("floor").force, (-2.0, 0, 4.0), atol=1e-6)


@EVERY
def test_an_impulse_goes_through_what_touches(solver, integrator):
    """A rod on the floor is struck down at one end, in the middle, and up; beside it one on an inequality."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.RigidBody(1.0, shape=lw.Box(1.0, 0.1, 0.1), position=(0, 0, 0.05), name="one"))
    world.add(lw.Contact(friction=0.0))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 5, 0), name="two"))
    world.add(lw.Inequality("two", lambda b, t: [b.point((x, 0, 0))[2] for x in (-0.5, 0.5)], name="legs"))
    sim = lw.Simulation(world, solver=solver, integrator=integrator)
    sim.step(5)
    for body in ("one", "two"):
        sim.strike(body, (0.2, 0, -3.0), at=(0.25, 0, 0))
        assert np.allclose(sim.velocity(body), (0.2, 0, 0), atol=1e-3) and np.abs(sim.angular_velocity(body)).max() < 1e-2
    assert np.allclose(sim.impulse("legs"), (0.75, 2.25), atol=1e-2)
    sim.strike("two", (0, 0, 1.5))
    assert np.isclose(sim.velocity("two")[2], 1.5, atol=1e-2)


def test_check_finds_what_is_wrong_of_an_inequality():
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(0, 0, 1), name="b"))
    world.add(lw.Particle(1.0, position=(0, 1, 1), name="c"))
    good = lw.Inequality(
        "b", "c", lambda b, c, t: [lw.norm(b.point((1, 0, 0)) - c.position) - 0.1 * t, b.position[2] + 1], name="good"
    )
    spin = lw.Inequality("b", lambda b, t: 2.0 - b.angular_velocity[0] ** 2, name="spin")
    rubs = lw.Inequality(
        "b", lambda b, t: b.position[2], slip=lambda b, t: b.point_velocity((0, 0, 1))[:2], friction=0.1, name="rubs"
    )
    for element in (good, spin, rubs):
        report = lw.check(world.add(element))
        assert report.ok, str(report)
    bad = world.add(lw.Inequality("c", lambda b, t: lw.sqrt(b.position[0]), name="bad"))
    assert "nan" in lw.check(bad).problems[0]
    with pytest.raises(lw.LinkworkError, match="no body, joint, constraint, force or inequality"):
        lw.check(world.add(lw.Rope("b", "c", name="rope")))


def test_an_inequality_beside_a_constraint_that_names_its_force():
    """An arm is held level by a torque on a flywheel, which spins up until it may not spin faster: then what bounds its spin
    gives that torque, and the arm is as level as before."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.2), position=(1, 0, 0), name="wheel"))
    world.add(lw.Hinge(world.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(lw.Hinge("arm", "wheel", at=(1, 0, 0), axis=(0, 1, 0), name="hub"))
    world.add(lw.Constraint("arm", "wheel", lambda a, w, t: a.point((1, 0, 0))[2], name="level",
                            force=lambda a, w, t: w.spin((0, 1, 0)) - a.spin((0, 1, 0))))  # fmt: skip
    world.add(lw.Inequality("wheel", lambda w, t: 3.0 - w.spin((0, 1, 0)), name="governor"))
    sim = lw.Simulation(world, solver="anticipation", integrator="euler")
    sim.step(10)
    assert np.isclose(sim.angular_velocity("wheel")[1], 1.0, rtol=1e-6)  # 20 N m on 0.2 kg m^2
    sim.step(100)
    assert np.isclose(sim.angular_velocity("wheel")[1], 3.0, atol=1e-6) and abs(sim.angle("shoulder")) < 1e-6
    assert np.allclose(sim.reaction("governor").torque, (0, -20, 0), atol=1e-3)
    assert np.allclose(sim.reaction("level", "wheel").torque, (0, 20, 0), atol=1e-3)


@pytest.mark.parametrize(
    ("solver", "integrator"), [pair for pair in PAIRS if "joint" not in pair[1] and pair[0] != "anticipation"]
)
@pytest.mark.parametrize("kind", [lw.AffineBody, lw.ScalableBody])
def test_a_body_that_stretches_stands_on_spheres_around_its_corners(kind, solver, integrator):
    """As on an inequality for each corner; at rest the floor bears its weight."""
    corners, two = [(0.2 * x, 0.15 * y, 0.1 * z) for x, y, z in itertools.product((-1, 1), repeat=3)], []
    for by_contact in (True, False):
        world = lw.World(gravity=(0, 0, -G))
        world.add(kind(2.0, shape=lw.Box(0.4, 0.3, 0.2), position=(0, 0, 0.2), stiffness=2e3, damping=1.0, name="jelly"))
        if by_contact:
            world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
            for k, corner in enumerate(corners):
                world.add(lw.Collider("jelly", lw.Sphere(0.05), position=corner, name=f"corner{k}"))
            world.add(lw.Contact(friction=0.0))
        else:
            world.add(lw.Inequality("jelly", lambda b, t: [b.point(corner)[2] - 0.05 for corner in corners], name="floor"))
        two.append(lw.Simulation(world, solver=solver, integrator=integrator))
    for _ in range(3):
        for sim in two:
            sim.step(100)
        np.testing.assert_allclose(two[0].position("jelly"), two[1].position("jelly"), atol=1e-6)
        np.testing.assert_allclose(two[0].frame("jelly"), two[1].frame("jelly"), atol=1e-5)
    assert two[0].position("jelly")[2] > 0.14
