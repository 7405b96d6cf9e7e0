"""Contacts of one pair against their definition and against coal, on random poses; and where input is degenerate."""

import itertools

import coal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.collision.collider_table import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.collision.detect import detect
from tests.oracles.solids import outside, reach

SOLIDS = {
    "sphere": lw.Sphere(0.3),
    "capsule": lw.Capsule(0.2, 0.7),
    "box": lw.Box(0.5, 0.7, 0.3),
    "cylinder": lw.Cylinder(0.3, 0.5),
    "ellipsoid": lw.Ellipsoid(0.4, 0.9, 0.6),
    "hull": lw.ConvexHull(np.random.default_rng(3).normal(size=(24, 3)) * (0.2, 0.3, 0.25)),
}
PAIRS = list(itertools.combinations_with_replacement(SOLIDS, 2))
CURVED = {"cylinder", "ellipsoid"}  # found by iteration: gaps to a few 1e-9 of the size, so points to their square root
COAL_TOLERANCE = 1e-6  # what it is asked for
DIRECTIONS = np.random.default_rng(7).normal(size=(2000, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


class Pair:
    """Two shapes on two bodies."""

    def __init__(self, first, second, bodies=(0, 1)):
        self.shapes = first, second
        self.geometry = compile_colliders([Placed(first, bodies[0]), Placed(second, bodies[1])])
        self.scratch, self.out = scratch_for(self.geometry), contacts_for(64)

    def __call__(self, R, p, margin):
        """The contacts as one Contacts of their number."""
        R, p = np.ascontiguousarray(R, dtype=float), np.ascontiguousarray(p, dtype=float)
        count = detect(self.geometry, R, p, margin, self.scratch, self.out)
        return type(self.out)(*(field[:count].copy() for field in self.out))


def poses(rng, first, second):
    """Random rotations (2, 3, 3) and positions (2, 3), from deep inside each other to well apart."""
    R = Rotation.random(2, random_state=rng).as_matrix()
    d = rng.normal(size=3)
    d /= np.linalg.norm(d)
    touching = reach(first, R[0], np.zeros(3), d) + reach(second, R[1], np.zeros(3), -d)
    at = rng.uniform(-1, 1, 3)
    return R, np.array([at, at + d * touching * rng.uniform(0.1, 1.5)])


def in_coal(shape):
    if isinstance(shape, lw.Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, lw.Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, lw.Box):
        return coal.Box(shape.x, shape.y, shape.z)
    if isinstance(shape, lw.Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, lw.Ellipsoid):
        return coal.Ellipsoid(shape.x / 2, shape.y / 2, shape.z / 2)
    points = coal.StdVec_Vec3s()
    points.extend(list(shape.points))
    return coal.Convex.convexHull(points, True, "")


def coal_distance(first, second, R, p):
    """Signed, with the biases that coal has."""
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = COAL_TOLERANCE
    request.epa_tolerance = COAL_TOLERANCE
    request.gjk_max_iterations = 1000
    request.epa_max_iterations = 1000
    at = [coal.Transform3s(R[k], p[k]) for k in range(2)]
    return coal.distance(first, at[0], second, at[1], request, coal.DistanceResult())


def check(shapes, R, p, contacts, curved=False):
    """Contacts are what they claim to be; returns the smallest gap."""
    (first, second), slack, place = shapes, (1e-8 if curved else 1e-9), (1e-5 if curved else 1e-9)
    k = int(np.argmin(contacts.gap))
    gap, normal = contacts.gap[k], contacts.normal[k]
    if curved and gap < -0.2:  # as deep as the radii: the iteration is slow
        slack, place = 1e-7, 1e-3
    assert np.allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-12)
    separation = -(reach(first, R[0], p[0], normal) + reach(second, R[1], p[1], -normal))
    assert separation == pytest.approx(gap, abs=slack), "a translation by the depth separates, by less does not"
    for c in range(len(contacts.gap)):
        half = contacts.normal[c] * contacts.gap[c] / 2
        assert outside(first, R[0], p[0], contacts.point[c] - half) < place
        assert outside(second, R[1], p[1], contacts.point[c] + half) < place
    if gap < 0:
        overlaps = reach(first, R[0], p[0], DIRECTIONS) + reach(second, R[1], p[1], -DIRECTIONS)
        assert overlaps.min() > -gap - slack, "no direction needs a smaller translation"
    assert len(set(contacts.feature.tolist())) == len(contacts.feature)
    assert list(contacts.feature) == sorted(contacts.feature)
    return gap


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_gaps_are_those_of_the_definition_and_of_coal(names):
    first, second = (SOLIDS[name] for name in names)
    pair, theirs = Pair(first, second), [in_coal(first), in_coal(second)]
    rng = np.random.default_rng(sum(map(ord, "".join(names))))
    found = missed = 0
    for _ in range(1000):
        R, p = poses(rng, first, second)
        contacts = pair(R, p, 0.2)
        expected = coal_distance(*theirs, R, p)
        if len(contacts.gap):
            gap = check((first, second), R, p, contacts, curved=bool(CURVED & set(names)))
            assert gap > expected - 2e-5, "coal knows of no smaller translation"
            assert gap < 0 or gap < expected + 2e-5, "coal"
            found += 1
        else:
            assert expected > 0.2 - 1e-5
            missed += 1
    assert found > 300 and missed > 10


EYE = np.tile(np.eye(3), (2, 1, 1))
QUARTER = Rotation.from_rotvec((0, 0, np.pi / 4)).as_matrix()
EDGE_UP = Rotation.from_rotvec((np.pi / 4, 0, 0)).as_matrix()


def assert_sound(contacts):
    for field in contacts:
        assert np.isfinite(field).all()
    assert np.allclose(np.linalg.norm(contacts.normal, axis=1), 1, atol=1e-9)


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_degenerate_poses_give_finite_contacts(names):
    first, second = (SOLIDS[name] for name in names)
    pair = Pair(first, second)
    turns = [
        np.eye(3),
        QUARTER,
        EDGE_UP,
        Rotation.from_rotvec((0, np.pi / 2, 0)).as_matrix(),
        -np.eye(3) + 2 * np.diag([0, 0, 1.0]),
    ]
    directions = [np.zeros(3), *np.eye(3), *-np.eye(3), np.array([1, 1, 0]) / np.sqrt(2), np.ones(3) / np.sqrt(3)]
    for R, S in itertools.product(turns, turns):
        for d in directions:
            touch = reach(first, R, np.zeros(3), d) + reach(second, S, np.zeros(3), -d) if d.any() else 0.0
            for offset in (-1e-3, -1e-9, -1e-13, 0.0, 1e-13, 1e-9, 1e-3):
                p = np.array([np.zeros(3), d * (touch + offset)])
                contacts = pair([R, S], p, 0.01)
                assert_sound(contacts)
                certified = -(reach(first, R, p[0], d) + reach(second, S, p[1], -d)) if d.any() else -np.inf
                assert len(contacts.gap) or d.any(), "coincident centres overlap"
                if len(contacts.gap):
                    k = np.argmin(contacts.gap)
                    n = contacts.normal[k]
                    found = -(reach(first, R, p[0], n) + reach(second, S, p[1], -n))
                    assert found == pytest.approx(contacts.gap[k], abs=2e-8)
                    assert contacts.gap[k] >= certified - 2e-8, "no direction separates more"


def test_the_same_box_in_the_same_place_is_pushed_out_by_its_shortest_side():
    contacts = Pair(SOLIDS["box"], SOLIDS["box"])(EYE, np.zeros((2, 3)), 0.01)
    assert_sound(contacts)
    assert np.allclose(contacts.gap, -0.3) and np.allclose(np.abs(contacts.normal), (0, 0, 1))


@pytest.mark.parametrize("turn", [0.0, 1e-9, 0.3, np.pi / 4])
@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-6])
@pytest.mark.parametrize(
    "shape",
    [
        lw.Box(0.4, 0.3, 0.2),
        lw.Cylinder(0.2, 0.2),
        lw.ConvexHull(list(itertools.product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1)))),
    ],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.parametrize(
    "ground",
    [
        lw.Plane(),
        lw.Box(2, 2, 0.2),
        lw.ConvexHull(list(itertools.product((-1, 1), (-1, 1), (-0.1, 0.1)))),
        lw.Cylinder(1.0, 0.2),
    ],
    ids=lambda s: type(s).__name__,
)
def test_what_lies_flat_is_held_on_all_sides(ground, shape, tilt, turn):
    R = Rotation.from_rotvec((tilt, 0, 0)).as_matrix() @ Rotation.from_rotvec((0, 0, turn)).as_matrix()
    height = 0.1 + (0.0 if isinstance(ground, lw.Plane) else 0.1)
    for gap in (-1e-5, 0.0, 1e-5):
        contacts = Pair(shape, ground, bodies=(0, -1))(R[None], np.array([[0, 0, height + gap]]), 1e-3)
        assert_sound(contacts)
        assert np.allclose(contacts.gap, gap, atol=2e-6)
        angles = np.sort(np.arctan2(contacts.point[:, 1], contacts.point[:, 0]))
        assert len(angles) >= 4 and np.diff([*angles, angles[0] + 2 * np.pi]).max() < 2.2
        assert np.linalg.norm(contacts.point[:, :2], axis=1).max() > 0.19


@pytest.mark.parametrize("shape", [lw.Cylinder(0.1, 0.6), lw.Capsule(0.1, 0.6)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(
    "ground",
    [lw.Plane(), lw.Box(2, 2, 0.2), lw.ConvexHull(list(itertools.product((-1, 1), (-1, 1), (-0.1, 0.1))))],
    ids=lambda s: type(s).__name__,
)
def test_what_lies_on_its_side_is_held_at_both_ends(ground, shape):
    lying = Rotation.from_rotvec((0, np.pi / 2, 0)).as_matrix() @ Rotation.from_rotvec((0, 0, 0.4)).as_matrix()
    height = 0.1 + (0.0 if isinstance(ground, lw.Plane) else 0.1)
    contacts = Pair(shape, ground, bodies=(0, -1))(lying[None], np.array([[0, 0, height - 1e-6]]), 1e-3)
    assert_sound(contacts)
    assert np.allclose(contacts.gap, -1e-6, atol=1e-9)
    assert contacts.point[:, 0].min() == pytest.approx(-0.3, abs=1e-6) and contacts.point[:, 0].max() == pytest.approx(
        0.3, abs=1e-6
    )


@pytest.mark.parametrize("first, second", [("capsule", "capsule"), ("capsule", "cylinder"), ("cylinder", "cylinder")])
def test_rods_side_by_side_are_held_at_both_ends(first, second):
    first, second = SOLIDS[first], SOLIDS[second]
    lying = Rotation.from_rotvec((0, np.pi / 2, 0)).as_matrix()
    contacts = Pair(first, second)([lying, lying], [(0, 0, 0), (0.1, 0, first.radius + second.radius - 1e-6)], 1e-3)
    assert_sound(contacts)
    assert np.allclose(contacts.gap, -1e-6, atol=1e-9) and len(contacts.gap) >= 2
    low, high = max(-first.length / 2, 0.1 - second.length / 2), min(first.length / 2, 0.1 + second.length / 2)
    assert contacts.point[:, 0].min() == pytest.approx(low, abs=1e-5) and contacts.point[:, 0].max() == pytest.approx(
        high, abs=1e-5
    )


@pytest.mark.parametrize(
    "names",
    [("sphere", "ellipsoid"), ("capsule", "ellipsoid"), ("ellipsoid", "ellipsoid"), ("sphere", "box"), ("ellipsoid", "box")],
    ids="-".join,
)
def test_normals_of_rounded_shapes_turn_continuously(names):
    first, second = (SOLIDS[name] for name in names)
    pair, rng = Pair(first, second), np.random.default_rng(9)
    R = Rotation.random(2, random_state=rng)
    for sign in (-1, 1):  # a little inside, a little outside
        before = None
        for t in np.linspace(0, 1, 400):
            S = (Rotation.from_rotvec(t * np.array([1.0, 0.5, -0.7])) * R).as_matrix()
            d = np.array([np.cos(t), np.sin(t), 0.2 * t])
            p = np.array([np.zeros(3), d])
            gap = min(pair(S, p, 5.0).gap)
            p[1] -= d / np.linalg.norm(d) * gap * 0.9
            gap = min(pair(S, p, 5.0).gap)
            normal = pair(S, p, 5.0).normal[np.argmin(pair(S, p, 5.0).gap)]
            p[1] -= normal * (gap + sign * -1e-4)
            contacts = pair(S, p, 5.0)
            normal = contacts.normal[np.argmin(contacts.gap)]
            assert before is None or np.linalg.norm(normal - before) < 0.03
            before = normal


RESTING = {
    "box on its like": (lw.Box(0.4, 0.3, 0.2), lw.Box(0.4, 0.3, 0.2), 1.0),
    "box on a plane": (lw.Box(0.4, 0.3, 0.2), lw.Plane(), 1.0),
    "hull on a box": (lw.ConvexHull(list(itertools.product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1)))), lw.Box(2, 2, 0.2), 1.0),
    "box on a field": (lw.Box(0.4, 0.3, 0.2), lw.HeightField(np.zeros((9, 9)), (2, 2)), 1.0),
    "cylinder on a plane": (lw.Cylinder(0.2, 0.2), lw.Plane(), 1.0),
    "cylinder on a box": (lw.Cylinder(0.2, 0.2), lw.Box(2, 2, 0.2), 0.7),  # the lowest point of the rim comes and goes
}


@pytest.mark.parametrize("case", RESTING)
@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-5])
def test_what_rests_keeps_its_features(case, noise):
    shape, ground, least = RESTING[case]
    pair, rng = Pair(shape, ground, bodies=(0, -1)), np.random.default_rng(0)
    height = 0.1 + (0.1 if isinstance(ground, lw.Box) else 0.0) - 1e-4
    before, kept, most = None, 0, 0
    for _ in range(100):
        R = Rotation.from_rotvec(rng.normal(size=3) * noise).as_matrix()[None]
        contacts = pair(R, np.array([[0.013, 0.021, height]]) + 0.1 * noise * rng.normal(size=3), 1e-3)
        features = set(contacts.feature.tolist())
        assert len(features) >= 4
        if before is not None:
            kept, most = kept + len(features & before), most + max(len(features), len(before))
        before = features
    assert kept >= least * most
