"""Forces: fields, defaults and refusals."""

import math

import numpy as np
import pytest

from linkwork.elements import Damper, Drag, Force, Motor, Parameter, Spring, Wrench
from linkwork.errors import ElementError


@pytest.mark.parametrize(
    "make, field",
    [
        (lambda x: Spring("a", "b", x, name="f"), "stiffness"),
        (lambda x: Spring("a", "b", 1, rest=x, name="f"), "rest"),
        (lambda x: Spring("a", "b", 1, damping=x, name="f"), "damping"),
        (lambda x: Damper("a", "b", x, name="f"), "damping"),
        (lambda x: Drag("a", x, name="f"), "linear"),
        (lambda x: Drag("a", quadratic=x, name="f"), "quadratic"),
        (lambda x: Drag("a", angular=x, name="f"), "angular"),
        (lambda x: Motor("j", "position", kp=x, name="f"), "kp"),
        (lambda x: Motor("j", "position", kp=1, kd=x, name="f"), "kd"),
    ],
)
def test_coefficients(make, field):
    k = Parameter(2.0)
    assert getattr(make(3), field) == 3.0 and getattr(make(k), field) is k and make(k).parameters() == [k]
    for bad in (-1, math.nan, "1", Parameter(-1.0)):
        with pytest.raises(ElementError, match=rf'^\w+ "f": {field} is .*; give a finite number of at least 0$'):
            make(bad)


def test_defaults():
    spring = Spring("a", "b", 10)
    assert spring.rest is None and spring.damping == 0.0 and np.array_equal(spring.on_a, (0, 0, 0))
    assert np.array_equal(Damper("a", "b", 1.0, on_b=(0, 0, 1)).on_b, (0, 0, 1))
    assert np.array_equal(Drag("a", at=(0, 0, 1)).at, (0, 0, 1))
    with pytest.raises(ElementError, match=r"on_a is"):
        Spring("a", "b", 1, on_a=(1, 2))


def test_wrench():
    k = Parameter(2.0, name="k")
    load = Wrench("a", force=(0, k, 1), torque=lambda t: (0, 0, t), frame="body")
    assert load.force[1] is k and load.force[2] == 1.0 and callable(load.torque) and load.parameters() == [k]
    for bad in ((1, 2), (1, 2, math.nan), 3, None):
        with pytest.raises(ElementError, match=r"force"):
            Wrench("a", force=bad)
    with pytest.raises(ElementError, match=r"torque cannot be called with \(t\)"):
        Wrench("a", torque=lambda: 0)
    with pytest.raises(ElementError, match=r'frame is .*; give "world" or "body"'):
        Wrench("a", frame="local")


def test_motor():
    drive = Motor("axle", kind="velocity", kd=5.0, limit=20.0, name="drive")
    assert (drive.kind, drive.kd, drive.limit) == ("velocity", 5.0, 20.0)
    assert Motor("axle").kind == "torque"
    with pytest.raises(ElementError, match=r'kind is .*; give "torque" or "position" or "velocity"'):
        Motor("axle", kind="speed")
    with pytest.raises(ElementError, match=r'Motor "m": kd is 0; give kd > 0 for kind "velocity"'):
        Motor("axle", kind="velocity", name="m")
    with pytest.raises(ElementError, match=r'kp is 0; give kp > 0 for kind "position"'):
        Motor("axle", kind="position", kd=1.0)
    with pytest.raises(ElementError, match=r'kind "torque" has no kp'):
        Motor("axle", kp=1.0)
    with pytest.raises(ElementError, match=r'kind "velocity" has no kp'):
        Motor("axle", kind="velocity", kd=1.0, kp=1.0)
    Motor("axle", kind="position", kp=Parameter(0.0))  # to be raised while running
    for bad in (0, -1, math.nan):
        with pytest.raises(ElementError, match=r"limit is"):
            Motor("axle", limit=bad)


def test_force():
    wind = Force("sail", lambda s, t: -s.velocity, at=(0, 0, 0.1), name="wind")
    assert wind.bodies == ("sail",) and np.array_equal(wind.at, (0, 0, 0.1)) and wind.torque is False
    pair = Force("a", "b", lambda a, b, t: 0, on_a=(1, 0, 0), on_b=(0, 1, 0))
    assert np.array_equal(pair.on_a, (1, 0, 0)) and np.array_equal(pair.at, (0, 1, 0))
    assert np.array_equal(Force("a", lambda b, t: 0).at, (0, 0, 0))
    assert Force("a", lambda b, t: 0, torque=True).torque is True
    with pytest.raises(ElementError, match=r"both at and on_b are given"):
        Force("a", "b", lambda a, b, t: 0, at=(0, 0, 0), on_b=(0, 0, 0))
    with pytest.raises(ElementError, match=r"on_a and on_b are for two bodies"):
        Force("a", lambda a, t: 0, on_a=(0, 0, 0))
    with pytest.raises(ElementError, match=r"a torque acts at no point"):
        Force("a", lambda a, t: 0, at=(0, 0, 0), torque=True)
    with pytest.raises(ElementError, match=r"torque is 3"):
        Force("a", lambda a, t: 0, torque=3)
    with pytest.raises(ElementError, match=r"it has 3 bodies"):
        Force("a", "b", "c", lambda a, b, c, t: 0)
    with pytest.raises(ElementError, match=r"function is"):
        Force("a", "b")
    with pytest.raises(ElementError, match=r"at is \(1, 2\); give 3 finite numbers such as \(0, 0, 1\)"):
        Force("a", lambda a, t: 0, at=(1, 2))
