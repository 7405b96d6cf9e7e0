"""The nearest points of segments, boxes and ellipsoids, against minimisation."""

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from linkwork.codegen.jit import jit
from linkwork.collision.boxes import nearest_to_box
from linkwork.collision.ellipsoids import nearest_on_ellipsoid, nearest_to_ellipsoid


@jit
def box(size, local, slope, half):
    return nearest_to_box(size, local, slope, half)


@jit
def point(size, y):
    return nearest_on_ellipsoid(size, y)


@jit
def segment(size, middle, d, half):
    return nearest_to_ellipsoid(size, middle, d, half)


def unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def to_box(size, x):
    return np.linalg.norm(x - np.clip(x, -size, size))


def on_ellipsoid(size, y):
    """By angles, from several starts."""

    def at(angles):
        u, v = angles
        return size * (np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v))

    starts = [(np.arctan2(y[1], y[0]), np.arctan2(y[2], np.hypot(y[0], y[1]))), (0.3, 0.2), (2.0, -0.5), (-2.0, 0.6)]
    best = min(
        (minimize(lambda a: ((at(a) - y) ** 2).sum(), start, tol=1e-14) for start in starts), key=lambda found: found.fun
    )
    return at(best.x)


def test_a_segment_and_a_box():
    rng = np.random.default_rng(1)
    for k in range(400):
        size, local, d, half = rng.uniform(0.1, 1, 3), rng.normal(size=3) * rng.uniform(0, 3), unit(rng), rng.uniform(0.01, 2)
        if k % 4 == 0:  # along an edge
            d = np.eye(3)[k // 4 % 3]
        t = box(tuple(size), tuple(local), tuple(d), half)
        assert -half <= t <= half
        least = min(to_box(size, local + s * d) for s in np.linspace(-half, half, 2001))
        found = to_box(size, local + t * d)
        assert found <= least + 1e-12 and least <= found + half * 1e-3


def test_a_point_and_an_ellipsoid():
    rng = np.random.default_rng(2)
    for k in range(200):
        size = rng.uniform(0.05, 1, 3) if k % 3 else np.full(3, 0.4)
        y = unit(rng) * rng.uniform(0.2, 4)
        if k % 5 == 0:
            y[k // 5 % 3] = 0.0
        outside, x = point(tuple(size), tuple(y))
        assert outside == ((y / size) @ (y / size) > 1.0)
        if outside:
            x = np.array(x)
            assert abs((x / size) @ (x / size) - 1.0) < 1e-12
            normal = x / size**2
            away = y - x
            assert np.linalg.norm(np.cross(normal, away)) < 1e-10 * np.linalg.norm(normal) * max(1e-3, np.linalg.norm(away))
            assert np.linalg.norm(away) <= np.linalg.norm(on_ellipsoid(size, y) - y) + 1e-9


def test_a_segment_and_an_ellipsoid():
    rng = np.random.default_rng(3)
    tried = 0
    for k in range(300):
        size, middle, d = rng.uniform(0.1, 1, 3), unit(rng) * rng.uniform(0.5, 3), unit(rng)
        half = 0.0 if k % 10 == 0 else rng.uniform(0.01, 2)
        outside, t, n, far = segment(tuple(size), tuple(middle), tuple(d), half)
        inside = any(((p / size) @ (p / size)) < 0.999 for p in (middle + s * d for s in np.linspace(-half, half, 101)))
        assert not (outside and inside)
        if not outside:
            continue
        tried += 1

        def distance(s, size=size, middle=middle, d=d):
            y = middle + s * d
            return np.linalg.norm(y - point(tuple(size), tuple(y))[1])

        assert abs(distance(t) - far) < 1e-12 and abs(np.linalg.norm(n) - 1) < 1e-12
        least = minimize_scalar(distance, bounds=(-half, half), method="bounded", options={"xatol": 1e-12}).fun if half else far
        assert far <= least + 1e-11
    assert tried > 100
