"""Points on curves and surfaces with coordinates of their own, and surfaces in sliding contact: against other ways to say the same."""

import copy

import numpy as np
import pytest

import linkwork as lw

A, B = (0.5, 0.4, 0.3), (0.3, 0.2, 0.45)  # half axes


def ellipsoid(axes):
    return lambda p: p[0] ** 2 / axes[0] ** 2 + p[1] ** 2 / axes[1] ** 2 + p[2] ** 2 / axes[2] ** 2 - 1


def on_ellipsoid(axes):
    return lambda u: (axes[0] * lw.cos(u[0]) * lw.cos(u[1]), axes[1] * lw.sin(u[0]) * lw.cos(u[1]), axes[2] * lw.sin(u[1]))


def pair(*surfaces, radii=(0.5, 0.3), **options):
    """Two bodies that spin freely, in touch at (0.5, 0, 0)."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.12, 0.15), angular_velocity=(1, 0.3, 2), name="a"))
    world.add(lw.RigidBody(0.7, (0.1, 0.12, 0.15), position=(sum(radii), 0, 0), angular_velocity=(-1, 0.5, 1),
                           velocity=(0, 0.2, -0.1), name="b"))  # fmt: skip
    world.add(lw.Tangent("a", "b", *surfaces, name="touch", **options))
    return world


WAYS = {
    "both vanish": ((ellipsoid(A), ellipsoid(B)), {"at": (0.5, 0.02, 0)}),
    "a has coordinates": ((on_ellipsoid(A), ellipsoid(B)), {"start_a": (0.02, 0)}),
    "b has coordinates": ((ellipsoid(A), on_ellipsoid(B)), {"start_b": (np.pi, 0.01)}),
    "both have": ((on_ellipsoid(A), on_ellipsoid(B)), {"start_a": (0, 0), "start_b": (np.pi, 0)}),
}


@pytest.fixture(scope="module")
def reference():
    sim = lw.Simulation(pair(*WAYS["both vanish"][0], **WAYS["both vanish"][1]), 1e-2, integrator="dopri5", tolerance=1e-12)
    force = sim.reaction("touch").force
    sim.step(100)
    return force, np.concatenate([sim.position("a"), sim.position("b")])


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_to_say_it_give_the_same_motion(way, reference):
    """Ellipsoid on ellipsoid."""
    surfaces, options = WAYS[way]
    sim = lw.Simulation(pair(*surfaces, **options), 1e-3)
    start = sim.energy().total
    assert sim.model.summary()["freedoms"] == 11
    np.testing.assert_allclose(sim.reaction("touch").force, reference[0], atol=1e-9)
    np.testing.assert_allclose(sim.reaction("touch").at, (0.5, 0, 0), atol=1e-9)
    sim.step(1000)
    np.testing.assert_allclose(sim.reaction("touch").torque, 0, atol=1e-9)  # a force at the point of contact, no more
    np.testing.assert_allclose(np.concatenate([sim.position("a"), sim.position("b")]), reference[1], atol=1e-6)
    assert sim.drift() < 1e-10 and sim.drift(velocity=True) < 1e-10 and abs(sim.energy().total - start) < 1e-6


SCHEMES = [("dense", "rattle", 1e-6), ("anticipation", "rattle", 1e-6), ("tree", "rk4", 1e-6), ("tree", "euler", 1e-3),
           ("implicit", "backward-euler", 1e-3), ("ltdl", "joint-rk4", 1e-6)]  # fmt: skip


@pytest.mark.parametrize("solver, integrator, close", SCHEMES)
def test_every_solver_takes_it(solver, integrator, close, reference):
    surfaces, options = WAYS["a has coordinates"]
    sim = lw.Simulation(pair(*surfaces, **options), 1e-3, solver=solver, integrator=integrator)
    sim.step(1000)
    np.testing.assert_allclose(np.concatenate([sim.position("a"), sim.position("b")]), reference[1], atol=close)


def test_spheres_in_touch_keep_their_distance():
    one = lw.Simulation(pair(ellipsoid((0.5,) * 3), ellipsoid((0.3,) * 3), at=(0.5, 0, 0)), 1e-3)
    world = pair(ellipsoid(A), ellipsoid(B), at=(0.5, 0, 0))
    world.remove("touch")
    world.add(lw.Distance("a", "b", name="rod"))
    two = lw.Simulation(world, 1e-3)
    np.testing.assert_allclose(one.reaction("touch").force, two.reaction("rod").force, atol=1e-12)
    for sim in (one, two):
        sim.step(500)
    np.testing.assert_allclose(one.position("b"), two.position("b"), atol=1e-9)


def support(axes, r):
    """How high the middle of what slides on the floor is: a function of the direction of up in its own frame."""
    if axes == "torus":
        return lambda n: lw.sqrt(n[0] ** 2 + n[1] ** 2) * 0.4 + r
    return lambda n: lw.sqrt((axes[0] * n[0]) ** 2 + (axes[1] * n[1]) ** 2 + (axes[2] * n[2]) ** 2)


def torus(p):
    return (lw.sqrt(p[0] ** 2 + p[1] ** 2) - 0.4) ** 2 + p[2] ** 2 - 0.1**2


def on_torus(u):
    out = 0.4 + 0.1 * lw.cos(u[1])
    return out * lw.cos(u[0]), out * lw.sin(u[0]), 0.1 * lw.sin(u[1])


TILT = (np.cos(0.6), np.sin(0.6), 0, 0)
LOWEST = float(np.sqrt(1 - np.cos(1.2) ** 2) * 0.4 + 0.1)
SLIDING = {
    "ellipsoid": (support(A, 0), ellipsoid(A), {"at": (0, 0, 0)}, (1, 0, 0, 0), A[2]),
    "ellipsoid with coordinates": (support(A, 0), on_ellipsoid(A), {"start_b": (-np.pi / 2, -0.3)}, TILT, float(np.hypot(A[1] * np.sin(1.2), A[2] * np.cos(1.2)))),
    "torus": (support("torus", 0.1), torus, {"at": (0, -0.4 * np.cos(1.2), 0)}, TILT, LOWEST),
    "torus with coordinates": (support("torus", 0.1), on_torus, {"start_b": (-np.pi / 2, -0.4)}, TILT, LOWEST),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::linkwork.Note")  # an impulse makes the velocities consistent
@pytest.mark.parametrize("name", SLIDING)
def test_what_slides_on_the_floor_keeps_the_height_of_its_support(name):
    height, surface, options, turned, z = SLIDING[name]
    sims = []
    for touching in (True, False):
        world = lw.World()
        world.add(
            lw.RigidBody(
                1.0, (0.05, 0.06, 0.08), position=(0, 0, z), orientation=turned, angular_velocity=(0.4, 0.3, 2), name="thing"
            )
        )
        if touching:
            world.add(lw.Tangent(world.ground, "thing", lambda p: p[2], surface, name="touch", **options))
        else:
            world.add(lw.Constraint("thing", lambda b, t: b.position[2] - height(b.orientation.T[:, 2]), name="touch"))
        sims.append(lw.Simulation(world, 1e-3))
    one, two = sims
    np.testing.assert_allclose(one.acceleration("thing"), two.acceleration("thing"), atol=1e-9)
    for sim in sims:
        sim.step(300)
        assert sim.drift() < 1e-10
    np.testing.assert_allclose(one.position("thing"), two.position("thing"), atol=1e-7)
    np.testing.assert_allclose(one.orientation("thing"), two.orientation("thing"), atol=1e-6)


def knot(s):
    return (2 + lw.cos(3 * s)) * lw.cos(2 * s), (2 + lw.cos(3 * s)) * lw.sin(2 * s), lw.sin(3 * s)


def test_a_bead_on_a_knot_is_the_bead_whose_coordinate_it_is():
    """The curve's coordinate as an unknown of a constraint, and as that of a body."""
    one, two = lw.World(), lw.World()
    one.add(lw.bead_on_wire(knot, 0.3, at=0.4, name="bead"))
    at, slope = (
        np.array([float(x) for x in np.ravel(y)])
        for y in (knot(0.4), [(a - b) / 2e-6 for a, b in zip(knot(0.4 + 1e-6), knot(0.4 - 1e-6), strict=True)])
    )
    two.add(lw.Particle(0.3, at, name="bead"))
    two.add(lw.PointOnCurve(two.ground, "bead", knot, start=0.45, name="wire"))
    sims = [lw.Simulation(world, 1e-3) for world in (one, two)]
    np.testing.assert_allclose(sims[0].acceleration("bead"), sims[1].acceleration("bead"), atol=1e-9)
    np.testing.assert_allclose(sims[0].jacobian("bead")[:, 0], slope, atol=1e-6)
    for _ in range(4):
        for sim in sims:
            sim.step(500)
        np.testing.assert_allclose(sims[0].position("bead"), sims[1].position("bead"), atol=2e-4)
        np.testing.assert_allclose(sims[1].unknowns("wire"), sims[0].coordinates("bead"), atol=1e-4)
    assert sims[1].drift() < 1e-10


def test_a_bead_in_a_bowl_with_coordinates_and_without():
    worlds = [lw.World(), lw.World()]
    for world in worlds:
        world.add(lw.Particle(0.3, (0.5, 0, 0.25), velocity=(0, 1, 0), name="bead"))
    worlds[0].add(lw.PointOnSurface(worlds[0].ground, "bead", lambda p: p[2] - p[0] ** 2 - p[1] ** 2, name="bowl"))
    worlds[1].add(
        lw.PointOnSurface(
            worlds[1].ground,
            "bead",
            lambda u: (u[0] * lw.cos(u[1]), u[0] * lw.sin(u[1]), u[0] ** 2),
            start=(0.6, 0.1),
            name="bowl",
        )
    )
    sims = [lw.Simulation(world, 1e-3) for world in worlds]
    np.testing.assert_allclose(sims[0].reaction("bowl").force, sims[1].reaction("bowl").force, atol=1e-10)
    for sim in sims:
        sim.step(2000)
    np.testing.assert_allclose(sims[0].position("bead"), sims[1].position("bead"), atol=1e-8)
    assert sims[1].unknowns("bowl")[1] > 5.0  # more than three quarters of a turn


def test_beads_on_rings_of_their_own_size():
    """One function, Parameters of different values; and one that changes while it runs."""
    world = lw.World()
    sizes = [lw.Parameter(radius, name=f"r{radius}") for radius in (1.0, 7.0)]
    for size in sizes:
        world.add(lw.Particle(0.3, (0, float(size), 0), name=f"bead {size.name}"))
        ring = lambda s, size=size: (size * lw.cos(s), size * lw.sin(s), 0)  # noqa: E731
        world.add(lw.PointOnCurve(world.ground, f"bead {size.name}", ring, start=1.5, name=f"ring {size.name}"))
    sim = lw.Simulation(world, integrator="euler")
    assert sim.drift() < 1e-12
    np.testing.assert_allclose([sim.unknowns(f"ring {size.name}")[0] for size in sizes], np.pi / 2, atol=1e-12)
    sim.set(sizes[0], 1.01)
    sim.step(200)
    assert abs(np.linalg.norm(sim.position("bead r1.0")) - 1.01) < 1e-6


def test_unknowns_belong_to_the_state():
    surfaces, options = WAYS["both vanish"]
    sim = lw.Simulation(pair(*surfaces, **options), 1e-3)
    sim.step(50)
    state, twin = sim.state.copy(), copy.deepcopy(sim)
    sim.step(400)
    after, there = sim.state.values.copy(), sim.unknowns("touch")
    sim.state = state
    sim.step(400)
    twin.step(400)
    np.testing.assert_array_equal(sim.state.values, after)
    np.testing.assert_array_equal(twin.state.values, after)
    np.testing.assert_array_equal(sim.unknowns("touch"), there)
    on_a = ellipsoid(A)(there)
    assert abs(on_a) < 1e-10


def test_check_finds_nothing_wrong_with_them():
    for way in ("both vanish", "b has coordinates"):
        surfaces, options = WAYS[way]
        report = lw.check(pair(*surfaces, **options).find("touch"))
        assert report.ok, report


def plane(p):
    return p[2]


def floor_and(surface, position=(0, 0, 0.5), **options):
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=position, name="thing"))
    world.add(lw.Tangent(world.ground, "thing", plane, surface, name="touch", **options))
    return lw.Simulation(world)


def beaded(element):
    world = lw.World()
    world.add(lw.Particle(1.0, (1, 0, 0), name="bead"))
    world.add(element)
    return lw.Simulation(world)


REFUSED = [
    (lambda: floor_and(plane), 'Tangent "touch": at is missing; give at=, a point in the world near where they touch'),
    (lambda: floor_and(plane, (0, 0, 0), at=(0, 0, 0)), 'Tangent "touch": no single point where it holds was found near (0, 0, 0); start it nearer, and where what touches is curved'),
    (lambda: floor_and(ellipsoid(A), at=(0, 0, 0)), 'Tangent "touch": it is off by 0.16 as built; place its bodies so that it holds'),
    (lambda: floor_and(lambda p: ellipsoid(A)(p) ** 2, (0, 0, 0.3), at=(0, 0, 0)), 'Tangent "touch": '),
    (lambda: floor_and(lambda p: lw.sqrt(p[2]), at=(0, 0, 0)), 'Tangent "touch": its function, or a derivative, is not finite at (0, 0, 0); start it elsewhere'),
    (lambda: floor_and(lambda p: (p[0], p[1]), at=(0, 0, 0)), 'Tangent "touch": its function gives 2 numbers where 1 are needed'),
    (lambda: floor_and(lambda u: u[0], start_b=(0, 0)), 'Tangent "touch": its function gives 1 numbers where 3 are needed'),
    (lambda: floor_and(plane, start_b=(0, 0, 0)), 'Tangent "touch": start_b is (0, 0, 0); give 2 finite numbers such as (0, 1)'),
    (lambda: beaded(lw.Tangent("ground", "bead", plane, plane, at=(0, 0, 0), name="touch")), 'Tangent "touch": Particle "bead" has no directions, and Tangent needs them; use a RigidBody, or a constraint of points such as Ball or Distance'),
    (lambda: beaded(lw.PointOnCurve("ground", "bead", lambda s: (lw.cos(s), lw.sin(s)), start=0.0, name="wire")), 'PointOnCurve "wire": its function gives 2 numbers where 3 are needed'),
    (lambda: beaded(lw.PointOnCurve("ground", "bead", lambda s: (2 * lw.cos(s), lw.sin(s), 0), start=0.1, name="wire")), 'PointOnCurve "wire": it is off by 1 as built; place its bodies so that it holds'),
    (lambda: beaded(lw.PointOnCurve("ground", "bead", lambda s: (lw.sqrt(s), 0, 0), start=-1.0, name="wire")), 'PointOnCurve "wire": its function, or a derivative, is not finite at (-1); start it elsewhere'),
    (lambda: beaded(lw.PointOnCurve("ground", "bead", lambda s: (1, 0, 0), start=0.0, name="wire")), 'PointOnCurve "wire": no single point where it holds was found near (0); start it nearer, and where what touches is curved'),
    (lambda: beaded(lw.PointOnCurve("ground", "bead", lambda s: (s, 0, 0), start="here", name="wire")), "PointOnCurve \"wire\": start is 'here'; give a finite number"),
    (lambda: beaded(lw.PointOnSurface("ground", "bead", lambda u, v: (u, v, 0), start=(0, 0), name="s")), 'PointOnSurface "s": surface cannot be called with (u); write it as lambda u: ...'),
    (lambda: beaded(lw.Distance("ground", "bead", name="rod")).unknowns("rod"), 'Distance "rod": it finds no coordinates; ask a Tangent, or a point on a curve or surface with a start'),
]  # fmt: skip


@pytest.mark.parametrize("make, text", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_touch_is_named(make, text):
    with pytest.raises(lw.LinkworkError) as error:
        make()
    assert str(error.value).startswith(text)
