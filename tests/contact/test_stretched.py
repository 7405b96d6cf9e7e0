"""Shapes on bodies that stretch follow the linear map: what touches, how the gap closes, what it answers."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.collision.collider_table import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.collision.detect import detect
from linkwork.contact.delassus import PART, V, component
from linkwork.contact.rows import BODY_A, BODY_B, GAP, NORMAL, POINT

G = 10.0
KINDS = pytest.mark.parametrize("kind", [lw.AffineBody, lw.ScalableBody])
EVERY = pytest.mark.parametrize("solver, integrator", [
    ("tree", "rattle"), ("tree", "shake"), ("fronts", "euler"), ("implicit", "backward-euler"), ("anticipation", "euler"),
])  # fmt: skip
WEDGE = lw.ConvexHull([(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.4), (0.2, 0.1, 0.3)])
SHAPES = [
    lw.Box(0.2, 0.3, 0.4),
    WEDGE,
    lw.Ellipsoid(0.2, 0.3, 0.5),
    lw.Capsule(0.1, 0.3),
    lw.Cylinder(0.15, 0.3),
    lw.Sphere(0.2),
]


def turn(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def stretch(rng, most=0.5):
    return turn(rng) @ np.diag(np.exp(rng.normal(size=3) * most)) @ turn(rng)


def farthest(shape, A, p, d):
    local = A.T @ d
    on = shape.points[(shape.points @ local).argmax()] if isinstance(shape, lw.ConvexHull) else shape.farthest(local)
    return p + A @ on


def corners(shape):
    return (
        shape.points
        if isinstance(shape, lw.ConvexHull)
        else np.array(list(itertools.product(*zip(*shape.bounds(), strict=True))))
    )


def found(placed, A, p, margin=2.0):
    geometry, out = compile_colliders(placed), contacts_for(64)
    count = detect(geometry, np.array(A), np.array(p, dtype=float), margin, scratch_for(geometry), out)
    return out.gap[:count], out.normal[:count], out.point[:count]


def test_the_gap_is_that_of_the_mapped_solids():
    """No direction separates them by more than the gap, and the normal by just that; of polytopes that overlap, by the hull of
    all differences of their mapped corners."""
    rng, overlapping = np.random.default_rng(0), 0
    for trial in range(400):
        one, other = (SHAPES[k] for k in rng.integers(len(SHAPES), size=2))
        A, B = stretch(rng), stretch(rng) if trial % 2 else turn(rng)
        p, q = np.zeros(3), rng.normal(size=3) * (0.4 if trial % 4 > 1 else 0.15)
        gaps, normals, _ = found([Placed(one, 0, stretched=True), Placed(other, 1, stretched=bool(trial % 2))], [A, B], [p, q])
        gap, normal = gaps.min(), normals[gaps.argmin()]

        def apart(d, one=one, other=other, A=A, B=B, p=p, q=q):
            return d @ farthest(other, B, q, -d) - d @ farthest(one, A, p, d)

        assert abs(apart(normal) - gap) < 1e-9
        for size in 10.0 ** rng.uniform(-6, -0.5, size=12):
            near = normal + size * rng.normal(size=3)
            assert apart(near / np.linalg.norm(near)) < gap + 1e-9
        if {type(one), type(other)} <= {lw.Box, lw.ConvexHull} and gap < 0:
            overlapping += 1
            differences = (corners(other) @ B.T + q)[:, None] - (corners(one) @ A.T + p)
            assert np.isclose(-gap, ConvexHull(differences.reshape(-1, 3)).equations[:, 3].__neg__().min(), atol=1e-9)
    assert overlapping > 10


def test_on_a_plane_and_on_a_mesh_the_lowest_mapped_corners_touch():
    rng = np.random.default_rng(1)
    mesh = lw.Mesh([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [(0, 1, 2), (0, 2, 3)])
    for _ in range(100):
        shape, A = SHAPES[rng.integers(2)], stretch(rng)
        heights = (corners(shape) @ A.T)[:, 2]
        for floor in (lw.Plane(), mesh):
            gaps, normals, _ = found(
                [Placed(floor), Placed(shape, 0, stretched=True)], [A], [(0, 0, 0.01 - heights.min())], 0.02
            )
            assert np.isclose(gaps.min(), 0.01, atol=1e-9) and np.allclose(normals[:, 2], 1.0, atol=1e-6)


def test_maps_that_mirror_or_collapse_are_gone_through():
    """They are no places where bodies stay, but steps may try them."""
    rng = np.random.default_rng(2)
    for trial in range(200):
        one, other = (SHAPES[k] for k in rng.integers(len(SHAPES), size=2))
        flat = turn(rng) @ np.diag([1.0, *((0.0, 0.0) if trial % 3 else (-0.7, 1e-12))]) @ turn(rng)
        gaps, normals, points = found([Placed(one, 0, stretched=True), Placed(other, 1), Placed(lw.Plane())], [flat, np.eye(3)],
                                      [np.zeros(3), rng.normal(size=3) * 0.3])  # fmt: skip
        assert np.isfinite(gaps).all() and np.isfinite(normals).all() and np.isfinite(points).all()


def two_bodies(rng, kind, other):
    world = lw.World(gravity=(0, 0, 0))
    shapes = [SHAPES[k] for k in rng.integers(len(SHAPES), size=2)]
    for name, which, shape, at in (("one", kind, shapes[0], (0, 0, 0)), ("other", other, shapes[1], (0.45, 0.1, 0.2))):
        how = {"deformation": stretch(rng, 0.2)} if which is lw.AffineBody else {"stretch": np.exp(rng.normal(size=3) * 0.2)}
        rates: dict = {"deformation_rate": rng.normal(size=(3, 3))} if which is lw.AffineBody else {
            "angular_velocity": rng.normal(size=3), "stretch_rate": rng.normal(size=3)}  # fmt: skip
        if which is not lw.AffineBody:
            rates["orientation"] = Rotation.from_matrix(turn(rng)).as_quat(scalar_first=True)
        if which is lw.RigidBody:
            how, rates["angular_velocity"] = {}, rng.normal(size=3)
            del rates["stretch_rate"]
        world.add(which(shape=shape, mass=1.0, position=at, velocity=rng.normal(size=3), name=name, **how, **rates))
    world.add(lw.Contact(friction=0.5))
    return world


def at_the_gap(sim):
    """(gap, rates (3,) of the row, point, normal) of the two bodies where they are nearest."""
    contact, work = sim._system.contact, sim._system.work
    contact.least = 1.0
    contact.look(work, 0.0)
    k = int(contact.rows.numbers[: contact.count, GAP].argmin())
    rates = np.zeros(3)
    for end, J in ((BODY_A, contact.rows.Ja), (BODY_B, contact.rows.Jb)):
        body = contact.inverse_mass.bodies[contact.rows.labels[k, end]]
        u = np.array([component(work, body, part, V) if part >= 0 else 0.0 for part in body[PART : PART + 6]])
        rates += J[k] @ u
    number = contact.rows.numbers[k]
    return number[GAP], rates, number[POINT : POINT + 3].copy(), number[NORMAL : NORMAL + 3].copy()


def moved(sim, h):
    """The same simulation a moment later, as its bodies fly."""
    q, at, at_v = sim.q.copy(), 0, 0
    for body in (sim.world.find(name) for name in dict.fromkeys(coordinate.of for coordinate in sim.q_names)):
        v, width = sim.qd[at_v : at_v + body.dim], {12: 12, 9: 10, 6: 7}[body.dim]
        q[at : at + 3] += h * v[:3]
        if body.dim == 12:
            q[at + 3 : at + 12] += h * v[3:]
        else:
            turned = Rotation.from_rotvec(h * v[3:6]) * Rotation.from_quat(q[at + 3 : at + 7], scalar_first=True)
            q[at + 3 : at + 7] = turned.as_quat(scalar_first=True)
            q[at + 7 : at + width] += h * v[6:]
        at, at_v = at + width, at_v + body.dim
    again = lw.Simulation(sim.world, dt=1e-3)
    again.set_state(q=q)
    return again


def material_velocity(sim, name, point):
    """Of the material that is at a place, by differences of two places that it goes to."""
    local, h = np.linalg.solve(sim.frame(name), point - sim.position(name)), 1e-6
    return (moved(sim, h).point(name, local) - moved(sim, -h).point(name, local)) / (2 * h)


@pytest.mark.parametrize("other", [lw.AffineBody, lw.ScalableBody, lw.RigidBody])
@KINDS
def test_rows_are_the_rates_of_gaps_and_of_sliding(kind, other):
    rng, h = np.random.default_rng(3), 1e-5
    for _ in range(5):
        sim = lw.Simulation(two_bodies(rng, kind, other), dt=1e-3)
        _, rates, point, normal = at_the_gap(sim)
        gaps = [at_the_gap(moved(sim, sign * h))[0] for sign in (1, -1)]
        assert np.isclose((gaps[0] - gaps[1]) / (2 * h), rates[0], atol=1e-4)
        slip = material_velocity(sim, "other", point) - material_velocity(sim, "one", point)
        slip -= normal * (normal @ slip)
        assert np.isclose(np.linalg.norm(slip), np.linalg.norm(rates[1:]), atol=1e-4)


@KINDS
@EVERY
def test_a_box_that_stretches_stands_as_on_an_inequality_for_each_corner(kind, solver, integrator):
    corners, two = [(0.2 * x, 0.15 * y, 0.1 * z) for x, y, z in itertools.product((-1, 1), repeat=3)], []
    for by_contact in (True, False):
        world = lw.World(gravity=(0, 0, -G))
        world.add(kind(2.0, shape=lw.Box(0.4, 0.3, 0.2), position=(0, 0, 0.15), stiffness=2e3, damping=1.0, name="jelly"))
        if by_contact:
            world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
            world.add(lw.Contact(friction=0.0))
        else:
            world.add(lw.Inequality("jelly", lambda b, t: [b.point(corner)[2] for corner in corners], name="floor"))
        two.append(lw.Simulation(world, solver=solver, integrator=integrator))
    for sim in two:
        sim.step(200)
    np.testing.assert_allclose(two[0].position("jelly"), two[1].position("jelly"), atol=1e-6)
    np.testing.assert_allclose(two[0].frame("jelly"), two[1].frame("jelly"), atol=1e-5)


@EVERY
def test_a_scalable_box_rests_as_its_spring_has_it(solver, integrator):
    """Half its weight is borne by the stretch: k (1 - s) = m g h / 2, and the floor bears all of it."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(
        lw.ScalableBody(1.0, shape=lw.Box(0.2, 0.2, 0.2), position=(0, 0, 0.1), stiffness=20.0, damping=0.5, name="jelly")
    )
    world.add(lw.Contact(friction=0.5))
    sim = lw.Simulation(world, dt=1e-3, solver=solver, integrator=integrator)
    sim.step(1500)
    s = 1 - G * 0.1 / 20.0
    close = 2e-3 if integrator == "rattle" else 1e-8
    assert np.isclose(sim.frame("jelly")[2, 2], s, atol=close) and np.isclose(sim.position("jelly")[2], 0.1 * s, atol=close)
    np.testing.assert_allclose(sim.contacts().forces.sum(axis=0), (0, 0, G), atol=1e-4)


def sliding(kind, **how):
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(kind(mass=1.0, shape=lw.Box(0.4, 0.3, 0.2), position=(0, 0, 0.1), velocity=(1.0, 0.3, 0), name="crate", **how))
    world.add(lw.Contact(friction=0.3))
    return world


@KINDS
def test_the_stiffer_a_body_the_nearer_it_slides_to_a_rigid_one(kind):
    rigid, off = lw.Simulation(sliding(lw.RigidBody), dt=1e-3, integrator="euler"), []
    rigid.step(400)
    for stiffness in (30.0, 300.0, 3000.0):
        soft = lw.Simulation(sliding(kind, stiffness=stiffness, damping=0.01 * stiffness), dt=1e-3, solver="implicit",
                             integrator="backward-euler")  # fmt: skip
        soft.step(400)
        off.append(np.abs(soft.position("crate") - rigid.position("crate")).max())
    assert off[1] < 0.3 * off[0] and off[2] < 0.3 * off[1] and off[2] < 5e-4


def momenta(sim):
    """(6,) of two affine bodies: linear, and angular about the world's origin, by the places and rates of their mass."""
    total = np.zeros(6)
    for k, name in enumerate(("one", "other")):
        body, F, x, v = sim.world.find(name), sim.frame(name), sim.position(name), sim.velocity(name)
        moment = F @ body.second_moment @ sim.qd[12 * k + 3 : 12 * k + 12].reshape(3, 3).T
        spin = np.array([moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2], moment[0, 1] - moment[1, 0]])
        total += np.hstack([body.mass * v, body.mass * np.cross(x, v) + spin])
    return total


def test_what_meets_keeps_momentum():
    """With friction: both sides get their impulses along one line."""
    rng, met = np.random.default_rng(5), 0
    for _ in range(8):
        world = two_bodies(rng, lw.AffineBody, lw.AffineBody)
        for name, towards in (("one", 2.0), ("other", -2.0)):
            world.find(name).velocity = (towards, 0, 0.3 * towards)
        sim = lw.Simulation(world, dt=5e-4, integrator="shake")
        before, struck = momenta(sim), 0.0
        for _ in range(100):
            sim.step()
            struck = max(struck, float(np.abs(sim.contacts().impulses).max(initial=0.0)))
        met += struck > 0.1
        np.testing.assert_allclose(momenta(sim), before, atol=1e-9)
    assert met > 1


@pytest.mark.parametrize("solver, integrator, dt", [("tree", "shake", 2e-4), ("implicit", "backward-euler", 1e-3)])
@pytest.mark.parametrize("flesh", [{}, {"stiffness": 2e3, "damping": 5.0}, {"stiffness": 1e7}], ids=["hard", "soft", "stiff"])
def test_heaps_gain_no_energy(flesh, solver, integrator, dt):
    rng = np.random.default_rng(7)
    for _ in range(2):
        world = lw.World(gravity=(0, 0, -G))
        world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
        for k in range(4):
            kind, shape = (lw.AffineBody, lw.ScalableBody)[k % 2], SHAPES[rng.integers(len(SHAPES))]
            world.add(kind(mass=1.0, shape=shape, position=(*rng.normal(size=2) * 0.1, 0.5 + 0.7 * k), stiffness=400.0, damping=2.0,
                           name=f"b{k}"))  # fmt: skip
        world.add(lw.Contact(friction=0.5, **flesh))
        sim = lw.Simulation(world, dt=dt, solver=solver, integrator=integrator)
        start = energy = sim.energy().total
        for _ in range(30):
            sim.step(round(0.04 / dt))
            now = sim.energy().total
            assert now < energy + 2e-3 * start
            energy = now


def test_a_body_that_is_pressed_flat_is_told_by_name():
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.ScalableBody(0.1, shape=lw.Box(0.2, 0.2, 0.2), position=(0, 0, 0.1), stiffness=0.5, name="jelly"))
    world.add(lw.RigidBody(5.0, shape=lw.Box(0.3, 0.3, 0.1), position=(0, 0, 0.26), name="lid"))
    world.add(lw.Contact())
    with pytest.raises(lw.DivergenceError, match='ScalableBody "jelly": it has collapsed'):
        lw.Simulation(world, dt=1e-3).step(2000)


def test_what_touches_at_too_many_points_is_told_once():
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.AffineBody(1.0, shape=lw.Box(1, 1, 0.1), position=(0, 0, 0.05), stiffness=1e3, damping=1.0, name="tray"))
    for k in range(25):
        at = (0.18 * (k % 5 - 2), 0.18 * (k // 5 - 2), 0.15)
        world.add(lw.RigidBody(0.01, shape=lw.Box(0.1, 0.1, 0.1), position=at, name=f"cup{k}"))
    world.add(lw.Contact(friction=0.5))
    sim = lw.Simulation(world, dt=1e-3, solver="implicit", integrator="backward-euler")
    with pytest.warns(lw.Note, match='AffineBody "tray": it touches at too many points at once'):
        sim.step(5)
    assert len(sim.contacts()) == 48


def test_states_resume_to_the_bit():
    rng = np.random.default_rng(9)
    sim = lw.Simulation(two_bodies(rng, lw.AffineBody, lw.ScalableBody), dt=1e-3, integrator="shake")
    sim.step(50)
    state = sim.state
    sim.step(50)
    q = sim.q.copy()
    sim.energy()
    sim.state = state
    sim.step(50)
    assert np.array_equal(sim.q, q)
