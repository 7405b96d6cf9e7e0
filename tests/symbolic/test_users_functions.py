"""What a user may write in a function: numpy's functions, unpacking, indexes; and what is refused in one sentence."""

import math
import subprocess
import sys
import warnings

import numpy as np
import pytest

import linkwork as lw

AT, SPEED, K = np.array([0.3, -0.4, 1.2]), np.array([0.5, 0.1, -0.2]), 0.7


def pushed(function):
    """The acceleration that a force of this function gives to a mass of one kilogram at AT, at t = 2."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=AT, velocity=SPEED, name="body"))
    world.add(lw.Force("body", function, name="push"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = lw.Simulation(world)
        sim.time = 2.0
        return sim.acceleration("body")


k = lw.Parameter(K, name="k")
x, v, t = AT, SPEED, 2.0
NUMPY = {
    "sin of a vector": (lambda b, t: np.sin(b.position), np.sin(x)),
    "functions of time": (lambda b, t: (np.sin(t), np.exp(-t), np.sqrt(t)), (math.sin(t), math.exp(-t), math.sqrt(t))),
    "of a parameter": (lambda b, t: np.cos(k * 2) * b.position, np.cos(2 * K) * x),
    "two arguments": (lambda b, t: (np.arctan2(t, 3), np.maximum(t, 1), np.minimum(t, 1)), (math.atan2(t, 3), t, 1)),
    "products": (lambda b, t: np.dot(b.position, b.velocity) * np.cross(b.position, b.velocity), x @ v * np.cross(x, v)),
    "length": (lambda b, t: np.linalg.norm(b.velocity) * b.velocity, np.linalg.norm(v) * v),
    "where": (lambda b, t: np.where(t > 1, 2.0, 3.0) * b.position, 2 * x),
    "array of expressions": (lambda b, t: np.array([t, k, 0]) * b.position, np.array([t, K, 0]) * x),
    "numbers on the left": (lambda b, t: np.diag([1.0, 2, 3]) @ b.position + np.ones(3), np.diag([1.0, 2, 3]) @ x + 1),
    "tuples of expressions": (lambda b, t: b.position * (t, 1, k) - [1, t, 0], x * np.array([t, 1, K]) - np.array([1, t, 0])),
    "of CasADi's own": (lambda b, t: np.abs(lw.sin(b.position)), np.abs(np.sin(x))),
}


@pytest.mark.parametrize("case", NUMPY)
def test_numpys_functions_work_silently(case):
    function, expected = NUMPY[case]
    np.testing.assert_allclose(pushed(function), expected, rtol=1e-12)


def test_numpys_functions_of_parameters_work_silently_outside_of_functions_too():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rate = np.sqrt(k / 2.0)
    np.testing.assert_allclose(pushed(lambda b, t: rate * b.position), math.sqrt(K / 2) * x)


def unpacked(b, t):
    p, q, r = b.position - b.velocity
    return (r, p, q)


UNPACKED = {
    "tuple": (lambda b, t: tuple(b.position), x),
    "list": (lambda b, t: list(2 * b.position), 2 * x),
    "three names": (unpacked, np.roll(x - v, 1)),
    "a loop": (lambda b, t: [lw.sin(entry) for entry in b.velocity], np.sin(v)),
    "a star": (lambda b, t: (*b.position[:2], 0), (x[0], x[1], 0)),
    "a sum": (lambda b, t: (sum(b.position), 0, 0), (sum(x), 0, 0)),
    "from the end": (lambda b, t: b.position[-1] * b.direction((0, 0, 1)), (0, 0, x[2])),
    "a column": (lambda b, t: b.orientation[:, 1] * b.orientation[1, 1], (0, 1, 0)),
}


@pytest.mark.parametrize("case", UNPACKED)
def test_vectors_are_unpacked(case):
    function, expected = UNPACKED[case]
    np.testing.assert_allclose(pushed(function), expected, rtol=1e-12, atol=1e-15)


def changed(b, t):
    place = b.position
    place[2] = 0.0
    return place + b.position


def test_a_vector_that_is_changed_is_the_functions_own():
    np.testing.assert_allclose(pushed(changed), [2 * x[0], 2 * x[1], x[2]])


REFUSED = {
    "index": (lambda b, t: b.position[5] * b.position, r"position\[5\], and position has 3 entries; give an index from 0 to 2"),
    "negative index": (lambda b, t: b.velocity[-4] * b.velocity, r"velocity\[-4\], and velocity has 3"),
    "index of a point": (lambda b, t: b.point((0, 0, 1))[3] * b.position, r"point\(...\)\[3\], and"),
    "index of what is made of them": (lambda b, t: (2 * b.position)[3] * b.position, r"an expression\[3\], and an expression has 3"),
    "entry of a matrix": (lambda b, t: b.orientation[0, 3] * b.position, r"orientation\[0, 3\], and orientation has 3 by 3"),
    "one index of a matrix": (lambda b, t: b.orientation[1], r"orientation, 3 by 3, for a list; write \[i, j\]"),
    "rows of a matrix": (lambda b, t: next(iter(b.orientation)), r"orientation, 3 by 3, for a list"),
    "two names for three": (lambda b, t: [p * q for p, q in [b.position]], r"too many values to unpack"),
    "math.sin": (lambda b, t: (math.sin(t), 0, 0), r"makes a number of an expression; use lw.sin"),
    "misspelt attribute": (lambda b, t: b.veloctiy, r'asks a body for veloctiy, which none has; did you mean "velocity"\?$'),
    "no such attribute": (lambda b, t: b.mass, r"asks a body for mass, which none has; there are position, velocity, "),
    "a point of two numbers": (lambda b, t: b.point((0, 1)), r"asks for point\(\(0, 1\)\); give three finite numbers"),
    "a point that moves": (lambda b, t: b.point((t, 0, 0)), r"asks for point\(.*\); give three finite numbers"),
    "no axis": (lambda b, t: b.spin((0, 0, 0)) * b.position, r"spin\(\(0, 0, 0\)\), which is no axis"),
    "unlike sizes": (lambda b, t: b.position + np.ones(2), r"RuntimeError: Dimension mismatch"),
    "a function without an expression": (lambda b, t: np.fft.fft(b.position), r"no implementation found for 'numpy.fft.fft'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_one_sentence(case):
    function, pattern = REFUSED[case]
    with pytest.raises(lw.ElementError, match=rf'^Force "push": its function .*{pattern}') as caught:
        pushed(function)
    assert "\n" not in str(caught.value) and "casadi" not in str(caught.value).lower()


def test_points_of_curves_are_named_too():
    world = lw.World()
    world.add(lw.Particle(1.0, name="bead"))
    world.add(lw.PointOnSurface(world.ground, "bead", lambda p: p[3], name="bowl"))
    with pytest.raises(lw.ElementError, match=r'PointOnSurface "bowl": its function asks for p\[3\], and p has 3 entries'):
        lw.Simulation(world)


def test_expressions_are_not_imported_before_they_are_needed():
    code = "import sys, linkwork; assert 'casadi' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
