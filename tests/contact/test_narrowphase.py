"""Contacts of one pair against their definition and against coal, on random poses; and where input is degenerate."""

import itertools

import coal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.contact.colliders import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.contact.detect import detect
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
    if curved and gap < -0.3:  # deeper than the radii: the iteration for the points is slow
        place = 1e-3
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
