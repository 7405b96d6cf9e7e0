"""Rays against shapes: as MuJoCo has them, and against triangles one by one."""

import mujoco
import numpy as np
import pytest

import linkwork as lw
from linkwork.collision.rays import against, reach_of
from tests.elements.outside.frustum import Frustum

GEOMS = {
    "SPHERE": (lw.Sphere(0.3), (0.3, 0, 0)),
    "CAPSULE": (lw.Capsule(0.2, 0.8), (0.2, 0.4, 0)),
    "CYLINDER": (lw.Cylinder(0.3, 0.8), (0.3, 0.4, 0)),
    "BOX": (lw.Box(0.4, 0.6, 0.8), (0.2, 0.3, 0.4)),
    "ELLIPSOID": (lw.Ellipsoid(0.4, 0.6, 0.8), (0.2, 0.3, 0.4)),
    "PLANE": (lw.Plane(), (0, 0, 1)),
}


def rays(rng, count):
    """Origins and unit directions, many of which pass near the origin; some along axes."""
    for k in range(count):
        origin = rng.normal(size=3) * (0.1 if k % 5 == 0 else 1.0)
        towards = 0.4 * rng.normal(size=3) - origin if k % 7 else np.eye(3)[k % 3] * rng.choice([-1.0, 1.0])
        yield origin, towards / np.linalg.norm(towards)


@pytest.mark.parametrize("kind", GEOMS)
def test_as_mujoco_has_them(kind):
    shape, size = GEOMS[kind]
    ray, met = against(shape), 0
    for origin, direction in rays(np.random.default_rng(1), 600):
        theirs = mujoco.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), np.array(size, dtype=float), origin, direction,
                                    getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"))  # fmt: skip
        theirs = theirs[0] if isinstance(theirs, tuple) else theirs
        ours = ray(origin, direction)
        assert ours == pytest.approx(theirs if theirs >= 0 else np.inf, abs=1e-11), (origin, direction)
        met += np.isfinite(ours)
    assert 100 < met < 600


def one_triangle(corners, origin, direction):
    """By linear equations."""
    a, b, c = corners
    matrix = np.column_stack([b - a, c - a, -direction])
    if abs(np.linalg.det(matrix)) < 1e-14:
        return np.inf
    u, v, t = np.linalg.solve(matrix, origin - a)
    return t if min(u, v, t) >= 0 and u + v <= 1 else np.inf


def solids():
    rng = np.random.default_rng(2)
    hull = lw.ConvexHull(rng.normal(size=(20, 3)))
    yield hull, hull.points[hull.triangles]
    mesh = lw.Mesh(rng.normal(size=(8, 3)), [(0, 1, 2), (3, 4, 5), (1, 6, 7), (2, 3, 7)])
    yield mesh, mesh.vertices[mesh.triangles]
    field = lw.HeightField(0.3 * rng.normal(size=(4, 5)), (2, 3))
    vertices, triangles = field.surface()
    yield field, vertices[triangles]


@pytest.mark.parametrize("number", range(3))
def test_surfaces_triangle_by_triangle(number):
    shape, corners = list(solids())[number]
    ray, met = against(shape), 0
    for origin, direction in rays(np.random.default_rng(3), 150):
        expected = min(one_triangle(each, origin, direction) for each in corners)
        assert ray(origin, direction) == pytest.approx(expected, abs=1e-9)
        met += np.isfinite(expected)
    assert met > 10


def test_a_shape_from_outside_is_met_near_its_surface():
    shape = Frustum(0.2, 0.1, 0.4)
    ray, reach = against(shape), reach_of(shape)
    for origin, direction in rays(np.random.default_rng(4), 100):
        if np.linalg.norm(origin) > reach and np.isfinite(t := ray(origin, direction)):
            point = origin + t * direction
            beyond = max(n @ point - n @ shape.farthest(n) for n in np.random.default_rng(5).normal(size=(200, 3)))
            assert beyond < 1e-9
    down = ray(np.array((0, 0, 2.0)), np.array((0, 0, -1.0)))
    assert 2.0 - down == pytest.approx(shape.farthest((0, 0, 1))[2], abs=0.01)


def test_shapes_lie_within_their_reach():
    for shape, _ in (*GEOMS.values(), *solids()):
        if shape.bounded:
            corners = np.array(np.meshgrid(*np.array(shape.bounds()).T)).reshape(3, -1)
            assert np.linalg.norm(corners, axis=0).max() <= reach_of(shape) * (1 + 1e-12)
