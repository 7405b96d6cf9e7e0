"""Solids on meshes and height fields: like the plane or the solid that they stand for, and inner edges trip nothing."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from tests.contact.test_narrowphase import SOLIDS, Pair
from tests.oracles.solids import reach

RNG = np.random.default_rng(11)


def flat_mesh(n=9, length=2.0):
    """A floor of triangles that lie as they like, seen from above."""
    x = np.linspace(-length / 2, length / 2, n)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    inner = (np.abs(grid) < length / 2).all(axis=1)
    grid[inner] += np.random.default_rng(4).uniform(-0.3, 0.3, (inner.sum(), 2)) * length / n
    from scipy.spatial import Delaunay

    triangles = Delaunay(grid).simplices
    a, b, c = (grid[triangles[:, k]] for k in range(3))
    turned = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0] < 0
    triangles[turned] = triangles[turned][:, ::-1]
    return lw.Mesh(np.column_stack([grid, np.zeros(len(grid))]), triangles)


FLOORS = {"mesh": flat_mesh(), "field": lw.HeightField(np.zeros((9, 12)), (2.0, 2.0))}


def solid_mesh(hull):
    return lw.Mesh(hull.points, hull.triangles)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("name", SOLIDS)
def test_a_flat_surface_is_a_plane(floor, name):
    shape = SOLIDS[name]
    on_floor, on_plane = Pair(shape, FLOORS[floor], bodies=(0, -1)), Pair(shape, lw.Plane(), bodies=(0, -1))
    for _ in range(60):
        R = Rotation.random(1, random_state=RNG).as_matrix()
        lowest = -reach(shape, R[0], np.zeros(3), np.array([0, 0, -1.0]))
        p = np.array([[*RNG.uniform(-0.3, 0.3, 2), -lowest + RNG.choice([-1e-2, -1e-4, -1e-7, 0, 1e-7, 1e-4, 1e-2])]])
        contacts, expected = on_floor(R, p, 0.02), on_plane(R, p, 0.02)
        assert len(contacts.gap) and np.abs(contacts.normal - (0, 0, -1)).max() < 1e-6
        assert contacts.gap.min() == pytest.approx(expected.gap.min(), abs=1e-9)
        deepest = contacts.point[np.argmin(contacts.gap)]
        assert np.linalg.norm(deepest - expected.point[np.argmin(expected.gap)]) < 2e-3


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize(
    "shape", [lw.Box(0.4, 0.3, 0.2), lw.Cylinder(0.2, 0.2), lw.Sphere(0.1)], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize("depth", [1e-3, 1e-6])
def test_what_slides_over_inner_edges_feels_none(floor, shape, depth):
    pair = Pair(shape, FLOORS[floor], bodies=(0, -1))
    for s in np.linspace(-0.7, 0.7, 300):
        R = Rotation.from_rotvec((0, 0, 3 * s)).as_matrix()[None]
        contacts = pair(R, np.array([[s, 0.317 * s + 0.01, 0.1 - depth]]), 1e-3)
        assert np.abs(contacts.normal - (0, 0, -1)).max() < 1e-9
        assert np.allclose(contacts.gap, -depth, atol=1e-9)
        if not isinstance(shape, lw.Sphere):  # the points hold it: the middle is well inside of them
            around = contacts.point[:, :2] - (s, 0.317 * s + 0.01)
            angles = np.sort(np.arctan2(around[:, 1], around[:, 0]))
            assert np.diff([*angles, angles[0] + 2 * np.pi]).max() < np.pi
        assert 1 <= len(contacts.gap) <= 5


def test_solids_outside_a_closed_mesh_touch_it_like_the_solid_itself():
    hull = SOLIDS["hull"]
    mesh = solid_mesh(hull)
    for name in ("sphere", "capsule", "box"):
        shape = SOLIDS[name]
        pair, whole = Pair(shape, mesh, bodies=(0, -1)), Pair(shape, hull, bodies=(0, -1))
        compared = 0
        for _ in range(200):
            R = Rotation.random(1, random_state=RNG).as_matrix()
            d = RNG.normal(size=3)
            d /= np.linalg.norm(d)
            apart = reach(shape, R[0], np.zeros(3), -d) + reach(hull, np.eye(3), np.zeros(3), d)
            p = d[None] * apart * RNG.uniform(0.96, 1.02)
            contacts, expected = pair(R, p, 0.05), whole(R, p, 0.05)
            if len(expected.gap) and expected.gap.min() > -1e-3:
                assert contacts.gap.min() == pytest.approx(expected.gap.min(), abs=1e-6)
                compared += 1
        assert compared > 30


@pytest.mark.parametrize("name", ["box", "cylinder", "hull"])
def test_what_is_deep_inside_a_sharp_mesh_is_found(name):
    """No triangle leaves it to another one that has nothing to say."""
    shape, hull, rng = SOLIDS[name], SOLIDS["hull"], np.random.default_rng(13)
    pair, whole, compared = Pair(shape, solid_mesh(hull), bodies=(0, -1)), Pair(shape, hull, bodies=(0, -1)), 0
    for _ in range(600):
        R = Rotation.random(1, random_state=rng).as_matrix()
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        apart = reach(shape, R[0], np.zeros(3), -d) + reach(hull, np.eye(3), np.zeros(3), d)
        p = d[None] * apart * rng.uniform(0.85, 1.0)
        expected = whole(R, p, 0.0)
        if len(expected.gap) and expected.gap.min() < -5e-3:
            contacts = pair(R, p, 0.0)
            assert len(contacts.gap) and contacts.gap.min() < 0.0
            compared += 1
    assert compared > 150


def test_a_ball_in_a_valley_touches_both_sides_and_not_the_bottom():
    valley = lw.Mesh(
        [(-1, -1, 1), (-1, 1, 1), (0, -1, 0), (0, 1, 0), (1, -1, 1), (1, 1, 1)], [(0, 2, 3), (0, 3, 1), (2, 4, 5), (2, 5, 3)]
    )
    contacts = Pair(lw.Sphere(0.2), valley, bodies=(0, -1))(
        np.eye(3)[None], np.array([[0, 0.03, 0.2 * np.sqrt(2) - 1e-4]]), 0.01
    )
    assert len(contacts.gap) == 2
    assert np.allclose(np.abs(contacts.normal), np.array([1, 0, 1]) / np.sqrt(2), atol=1e-9)
    assert np.allclose(contacts.gap, -1e-4 / np.sqrt(2), atol=1e-12)


def test_a_ball_on_a_ridge_touches_its_edge_once():
    ridge = lw.Mesh(
        [(-1, -1, -1), (-1, 1, -1), (0, -1, 0), (0, 1, 0), (1, -1, -1), (1, 1, -1)],
        [(0, 2, 3), (0, 3, 1), (2, 4, 5), (2, 5, 3)],
    )
    pair = Pair(lw.Sphere(0.2), ridge, bodies=(0, -1))
    for y in np.linspace(-0.9, 0.9, 50):
        contacts = pair(np.eye(3)[None], np.array([[0.02, y, 0.19]]), 0.01)
        assert len(contacts.gap) == 1
        assert np.allclose(contacts.normal[0], -np.array([0.02, 0, 0.19]) / np.hypot(0.02, 0.19), atol=1e-9)
        assert contacts.gap[0] == pytest.approx(np.hypot(0.02, 0.19) - 0.2, abs=1e-12)


def test_heights_are_met_where_they_are():
    heights = RNG.uniform(0, 0.2, (7, 5))
    field = lw.HeightField(heights, (3.0, 2.0))
    pair = Pair(lw.Sphere(0.05), field, bodies=(0, -1))
    peak = np.unravel_index(np.argmax(heights), heights.shape)
    x, y = -1.5 + 0.5 * peak[0], -1.0 + 0.5 * peak[1]
    contacts = pair(np.eye(3)[None], np.array([[x, y, heights.max() + 0.05 + 1e-3]]), 0.01)
    assert contacts.gap.min() == pytest.approx(1e-3, abs=1e-9) and len(contacts.gap) == 1


def test_a_mesh_is_hit_from_outside_only():
    wall = lw.Mesh([(0, -1, -1), (0, 1, -1), (0, 0, 1)], [(0, 1, 2)])  # looks along +x
    pair = Pair(lw.Sphere(0.1), wall, bodies=(0, -1))
    assert pair(np.eye(3)[None], np.array([[0.09, 0, 0]]), 0.01).gap == pytest.approx([-0.01])
    assert len(pair(np.eye(3)[None], np.array([[-0.09, 0, 0]]), 0.01).gap) == 0
