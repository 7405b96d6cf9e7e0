"""Constraints: fields, defaults and refusals."""

import math

import numpy as np
import pytest

from linkwork.elements import (
    Ball,
    Constraint,
    Distance,
    Drive,
    Gear,
    Hinge,
    Motion,
    Parameter,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PointOnSurface,
    Rolling,
    Skate,
    VelocityConstraint,
)
from linkwork.errors import ElementError


def test_distance():
    rod = Distance("a", "b")
    assert rod.length is None and np.array_equal(rod.on_a, (0, 0, 0))
    k = Parameter(0.5)
    assert Distance("a", "b", k).parameters() == [k]
    for bad in (0, -1, math.nan, "1", Parameter(-1.0)):
        with pytest.raises(ElementError, match=r'Distance "d": length is .*; give a finite number greater than 0'):
            Distance("a", "b", bad, name="d")
    with pytest.raises(ElementError, match=r"on_b is"):
        Distance("a", "b", on_b=(1, 2))


@pytest.mark.parametrize("kind, word", [(PointOnLine, "axis"), (PointOnPlane, "normal")])
def test_point_on_line_and_plane(kind, word):
    row = kind("a", "b", **{word: (0, 0, 2)})
    assert row.at is None and row.on_b is None and np.array_equal(getattr(row, word), (0, 0, 1))
    assert np.array_equal(getattr(kind("a", "b", **{word + "_a": (0, 2, 0)}), word + "_a"), (0, 1, 0))
    kind("a", "b", (0, 0, 0), (0, 0, 1), on_b=(0, 0, -1))  # the figure through `at`, another point of b
    with pytest.raises(ElementError, match=f"{word} is missing"):
        kind("a", "b", (0, 0, 0))
    with pytest.raises(ElementError, match=f"both {word} and {word}_a are given"):
        kind("a", "b", **{word: (0, 0, 1), word + "_a": (0, 0, 1)})
    with pytest.raises(ElementError, match=r"both at and on_a are given"):
        kind("a", "b", (0, 0, 0), (0, 0, 1), on_a=(0, 0, 0))
    with pytest.raises(ElementError, match=f"{word} has zero length"):
        kind("a", "b", **{word: (0, 0, 0)})


@pytest.mark.parametrize("kind, word", [(PointOnCurve, "curve"), (PointOnSurface, "surface")])
def test_point_on_curve_and_surface(kind, word):
    def function(p):
        return p[0]

    row = kind("a", "b", function, on_b=(0, 0, 1))
    assert getattr(row, word) is function and np.array_equal(row.on_b, (0, 0, 1))
    with pytest.raises(ElementError, match=f"{word} is 3; give a function such as lambda p: ..."):
        kind("a", "b", 3)
    with pytest.raises(ElementError, match=rf"{word} cannot be called with \(p\); write it as lambda p: ..."):
        kind("a", "b", lambda p, q: p)


def test_gear():
    assert Gear("a", "b", 2).ratio == 2.0 and Gear("a", "b", 2).level == "position"
    for bad in (0, math.nan, None, Parameter(0.0)):
        with pytest.raises(ElementError, match=r"ratio is"):
            Gear("a", "b", bad)
    with pytest.raises(ElementError, match=r'level is .*; give "position" or "velocity"'):
        Gear("a", "b", 2, level="speed")
    with pytest.raises(ElementError, match=r"a is a Distance; give a joint or its name"):
        Gear(Distance("x", "y"), "b", 2)


def test_rolling():
    ball = Rolling("ground", "ball", 0.1)
    assert ball.axis is None and np.array_equal(ball.normal, (0, 0, 1))
    assert np.array_equal(Rolling("ground", "disc", 0.1, axis=(0, 2, 0)).axis, (0, 1, 0))
    for bad in (0, -1, math.inf, None):
        with pytest.raises(ElementError, match=r"radius is"):
            Rolling("ground", "ball", bad)
    with pytest.raises(ElementError, match=r"axis .* is parallel to normal"):
        Rolling("ground", "disc", 0.1, axis=(0, 0, -1))
    with pytest.raises(ElementError, match=r"normal has zero length"):
        Rolling("ground", "disc", 0.1, normal=(0, 0, 0))


def test_skate():
    assert np.array_equal(Skate("sled", (2, 0, 0)).direction, (1, 0, 0)) and Skate("sled", (2, 0, 0)).at is None
    with pytest.raises(ElementError, match=r'Skate "s": direction has zero length'):
        Skate("sled", (0, 0, 0), name="s")
    with pytest.raises(ElementError, match=r"direction .* is parallel to normal"):
        Skate("sled", (0, 0, 1))


def test_drive_and_motion():
    k = Parameter(3.0)
    assert Drive("axle", 2).rate == 2.0 and Drive("axle", k).rate is k and callable(Drive("axle", lambda t: t).rate)
    for bad in (math.nan, "fast", None, (1, 2)):
        with pytest.raises(ElementError, match=r"rate is"):
            Drive("axle", bad)
    with pytest.raises(ElementError, match=r"rate cannot be called with \(t\)"):
        Drive("axle", lambda: 1)
    assert Motion("hand", lambda t: (t, 0, 0)).at is None
    with pytest.raises(ElementError, match=r"function is 3; give a function such as lambda t: ..."):
        Motion("hand", 3)
    with pytest.raises(ElementError, match=r"target is a Distance; give a body or joint or its name"):
        Motion(Distance("a", "b"), lambda t: t)
    Motion(Hinge("a", "b", (0, 0, 0), (0, 0, 1)), lambda t: t)


@pytest.mark.parametrize("kind", [Constraint, VelocityConstraint])
def test_user_constraints(kind):
    one = kind("bead", lambda b, t: b.position[0], name="wall")
    assert one.bodies == ("bead",) and one.name == "wall" and repr(one) == f'<{kind.__name__} "wall">'
    two = kind("a", "b", lambda a, b, t: 0)
    assert two.bodies == ("a", "b") and two.function(1, 2, 3) == 0
    assert kind("bead", function=lambda b, t: 0).bodies == ("bead",)
    many = kind("a", "b", "c", lambda a, b, c, t: 0)
    assert many.bodies == ("a", "b", "c") and many.function(1, 2, 3, 4) == 0 and many.force is None
    with pytest.raises(ElementError, match=r"it has 0 bodies; give one body or more, then the function"):
        kind(lambda b, t: 0)
    with pytest.raises(ElementError, match=r"it has 0 bodies"):
        kind()
    with pytest.raises(ElementError, match=f"{kind.__name__} \"w\": function is 'b'; give a function such as lambda"):
        kind("a", "b", name="w")
    with pytest.raises(ElementError, match=r"function cannot be called with \(b, t\); write it as lambda b, t: ..."):
        kind("a", lambda b: 0)
    with pytest.raises(ElementError, match=r"cannot be called with \(b1, b2, b3, t\); write it as lambda b1, b2, b3, t: ..."):
        kind("a", "b", "c", lambda a, b, t: 0)
    with pytest.raises(ElementError, match=r"force cannot be called with \(a, b, t\); write it as lambda a, b, t: ..."):
        kind("a", "b", lambda a, b, t: 0, force=lambda b, t: 0)
    with pytest.raises(ElementError, match=r"force is 3; give a function such as lambda b, t: ..."):
        kind("a", lambda b, t: 0, force=3)
    with pytest.raises(ElementError, match=r"bodies is a Ball; give a body or its name"):
        kind(Ball("a", "b", (0, 0, 0)), lambda b, t: 0)
