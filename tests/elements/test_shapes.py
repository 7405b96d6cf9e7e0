"""Shapes: volume and second moments against Monte Carlo over the solid, and against closed forms."""

import math

import numpy as np
import pytest

from linkwork.collision import layout
from linkwork.elements import Box, Capsule, ConvexHull, Cylinder, Disc, Ellipsoid, HeightField, Mesh, Plane, Sphere
from linkwork.elements.core.shape import Core, Shape
from linkwork.errors import ElementError


def _in_cylinder(p, radius, length):
    return (p[:, 0] ** 2 + p[:, 1] ** 2 <= radius**2) & (np.abs(p[:, 2]) <= length / 2)


def _in_capsule(p, radius, length):
    beyond = np.maximum(np.abs(p[:, 2]) - length / 2, 0.0)
    return p[:, 0] ** 2 + p[:, 1] ** 2 + beyond**2 <= radius**2


WEDGE = ConvexHull(np.random.default_rng(2).normal(size=(20, 3)) * (0.1, 0.2, 0.3))


def _in_hull(p):
    return (p @ WEDGE.normals.T <= WEDGE.offsets).all(axis=1)


SOLIDS = [  # shape, bounding box (full lengths), membership
    (Box(0.4, 0.7, 1.1), (0.4, 0.7, 1.1), lambda p: np.full(len(p), True)),
    (Sphere(0.6), (1.2, 1.2, 1.2), lambda p: (p**2).sum(axis=1) <= 0.36),
    (Ellipsoid(0.4, 0.8, 1.2), (0.4, 0.8, 1.2), lambda p: ((p / (0.2, 0.4, 0.6)) ** 2).sum(axis=1) <= 1.0),
    (Cylinder(0.3, 0.9), (0.6, 0.6, 0.9), lambda p: _in_cylinder(p, 0.3, 0.9)),
    (Disc(0.5, 0.1), (1.0, 1.0, 0.1), lambda p: _in_cylinder(p, 0.5, 0.1)),
    (Capsule(0.3, 0.8), (0.6, 0.6, 1.4), lambda p: _in_capsule(p, 0.3, 0.8)),
    (WEDGE, tuple(2 * np.abs(WEDGE.points).max(axis=0)), _in_hull),
]


@pytest.mark.parametrize("shape, box, inside", SOLIDS, ids=lambda x: type(x).__name__)
def test_volume_and_second_moment_agree_with_monte_carlo(shape, box, inside):
    points = np.random.default_rng(1).uniform(-0.5, 0.5, (400_000, 3)) * box
    points = points[(keep := inside(points))]
    assert shape.volume == pytest.approx(np.prod(box) * keep.mean(), rel=5e-3)
    sampled = 2.5 * points.T @ points / len(points)
    moment = shape.second_moment(2.5)
    assert np.allclose(sampled, moment, atol=6e-3 * np.trace(moment))


@pytest.mark.parametrize("shape, box, inside", SOLIDS, ids=lambda x: type(x).__name__)
def test_inertia_is_trace_minus_second_moment_and_possible(shape, box, inside):
    moment, inertia = shape.second_moment(3.0), shape.inertia(3.0)
    assert np.allclose(inertia, np.trace(moment) * np.eye(3) - moment, rtol=1e-14)
    low, middle, high = np.linalg.eigvalsh(inertia)
    assert low > 0 and high < low + middle


def test_closed_forms():
    assert np.allclose(Box(1, 2, 3).inertia(12.0), np.diag([4 + 9, 1 + 9, 1 + 4]))
    assert np.allclose(Sphere(2).inertia(5.0), 2 / 5 * 5.0 * 4 * np.eye(3))
    assert np.allclose(Cylinder(2, 3).inertia(12.0), np.diag([12 + 9, 12 + 9, 24]))
    assert np.allclose(Disc(2, 3).inertia(12.0), Cylinder(2, 3).inertia(12.0))
    assert np.allclose(Ellipsoid(4, 4, 4).inertia(1.0), Sphere(2).inertia(1.0))


def test_capsule_lies_between_its_limits():
    assert np.allclose(Capsule(0.5, 1e-12).second_moment(2.0), Sphere(0.5).second_moment(2.0))
    assert np.allclose(Capsule(1e-9, 2.0).second_moment(2.0), Cylinder(1e-9, 2.0).second_moment(2.0), rtol=1e-6)
    assert Capsule(1, 2).volume == pytest.approx(math.pi * 2 + 4 / 3 * math.pi)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, "1", None, True, (1,)])
@pytest.mark.parametrize("make", [lambda x: Box(1, x, 1), Sphere, lambda x: Capsule(1, x), lambda x: Cylinder(x, 1)])
def test_bad_sizes_are_refused(make, bad):
    with pytest.raises(ElementError, match=r"greater than 0"):
        make(bad)


def test_bad_size_names_shape_field_and_value():
    with pytest.raises(ElementError, match=r"^Box: y is -2; give a finite number greater than 0$"):
        Box(1, -2, 3)


def test_shapes_are_frozen_values():
    assert Box(1, 2, 3) == Box(1.0, 2.0, 3.0) and isinstance(Box(1, 2, 3).x, float)
    with pytest.raises(AttributeError):
        Box(1, 2, 3).x = 4
    with pytest.raises(ElementError, match=r"mass"):
        Sphere(1).inertia(-1.0)


def test_a_hull_of_corners_is_the_box():
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * (0.5, 1.0, 1.5) + (3, 4, 5)
    hull = ConvexHull([*corners, (3, 4, 5), (3.1, 4.2, 5.3)])
    assert hull.volume == pytest.approx(6.0) and np.allclose(hull.centre, (3, 4, 5)) and len(hull.points) == 8
    assert np.allclose(hull.inertia(12.0), Box(1, 2, 3).inertia(12.0)) and len(hull.loops) == 6
    for loop, normal in zip(hull.loops, hull.normals, strict=True):
        a, b, c = hull.points[loop[:3]]
        assert np.cross(b - a, c - b) @ normal > 0 and len(loop) == 4


def test_shapes_of_arrays_are_values_too():
    points, other = np.eye(4)[:, :3], np.eye(4)[:, :3] * 2
    assert ConvexHull(points) == ConvexHull(points.tolist()) != ConvexHull(other)
    assert len({ConvexHull(points), ConvexHull(points), Mesh(points, [(0, 1, 2)]), Mesh(points, [(0, 1, 2)])}) == 2
    with pytest.raises(ValueError):
        HeightField(np.zeros((2, 2)), (1, 1)).heights[0, 0] = 1.0


def test_a_closed_mesh_has_the_volume_that_it_encloses():
    assert Mesh(WEDGE.points, WEDGE.triangles).volume == pytest.approx(WEDGE.volume)
    assert not Plane().solid and not Mesh(WEDGE.points, WEDGE.triangles).solid and WEDGE.solid


def test_a_shape_that_lacks_something_is_refused_when_it_is_declared():
    with pytest.raises(TypeError, match="Blob: it lacks bounds, collision, facets, volume, spread; a shape needs them"):

        class Blob(Shape):
            pass

    with pytest.raises(TypeError, match="Drop: it lacks volume, spread; a shape needs them"):

        class Drop(Shape):
            support = staticmethod(Sphere.support)


def test_collision_numbers_cores_as_shapes_do():
    assert {core.name: int(core) for core in Core} == {core.name: getattr(layout, core.name) for core in Core}


SOLIDS = [Box(1, 2, 3), Sphere(0.5), Ellipsoid(1, 2, 3), Cylinder(1, 2), Disc(1, 0.1), Capsule(0.5, 2)]


@pytest.mark.parametrize("solid", SOLIDS, ids=repr)
def test_support_box_and_facets_are_of_one_solid(solid):
    low, high = solid.bounds()
    np.testing.assert_allclose(Shape.bounds(solid), (low, high), atol=1e-15)
    vertices = solid.facets(48).vertices
    assert (vertices >= low - 1e-12).all() and (vertices <= high + 1e-12).all()
    for direction in np.random.default_rng(2).normal(size=(50, 3)):
        reach = solid.farthest(direction) @ direction
        assert reach >= (vertices @ direction).max() - 1e-12
        assert reach == pytest.approx((vertices @ direction).max(), rel=0.02)
