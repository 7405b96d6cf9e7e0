"""Joints: fields, defaults and refusals."""

import math

import numpy as np
import pytest

from linkwork.elements import Ball, Cylindrical, Hinge, Parameter, Particle, Planar, Screw, Slider, Universal, Weld
from linkwork.errors import ElementError

AXIS = [Hinge, Slider, Cylindrical, lambda *a, **k: Screw(*a, **k, pitch=0.01)]


def test_rows():
    kinds = [Ball, Hinge, Slider, Cylindrical, Universal, Planar, Weld, Screw]
    assert [k.rows for k in kinds] == [3, 5, 5, 4, 4, 3, 6, 5]
    assert [k.has_coordinate for k in kinds] == [False, True, True, False, False, False, False, True]


@pytest.mark.parametrize("make", AXIS)
def test_axis_joints(make):
    joint = make("a", "b", (1, 2, 3), (0, 0, 5))
    assert np.array_equal(joint.at, (1, 2, 3)) and np.array_equal(joint.axis, (0, 0, 1))
    local = make("a", "b", on_a=(1, 0, 0), on_b=(0, 1, 0), axis_a=(2, 0, 0), axis_b=(0, 3, 0))
    assert local.at is None and local.axis is None
    assert np.array_equal(local.on_b, (0, 1, 0)) and np.array_equal(local.axis_b, (0, 1, 0))
    half = make("a", "b", on_a=(1, 0, 0), axis_a=(1, 0, 0))
    assert half.on_b is None and half.axis_b is None


@pytest.mark.parametrize("make", [*AXIS, Ball, Universal, Planar])
def test_anchor_is_given_one_way(make):
    axis = {"axis": (0, 0, 1)} if make in AXIS else {}
    with pytest.raises(ElementError, match=r"at is missing; give at=\(0, 0, 0\), or on_a= or on_b="):
        make("a", "b", **axis)
    with pytest.raises(ElementError, match=r"both at and on_b are given"):
        make("a", "b", at=(0, 0, 0), on_b=(0, 0, 0), **axis)


@pytest.mark.parametrize("make", AXIS)
def test_axis_is_given_one_way(make):
    with pytest.raises(ElementError, match=r"axis is missing; give a direction such as"):
        make("a", "b", at=(0, 0, 0))
    with pytest.raises(ElementError, match=r"both axis and axis_a are given"):
        make("a", "b", at=(0, 0, 0), axis=(0, 0, 1), axis_a=(0, 0, 1))


def test_the_sentence_of_the_style_guide():
    with pytest.raises(ElementError) as error:
        Hinge("a", "b", at=(0, 0, 0), axis=(0, 0, 0), name="knee")
    assert str(error.value) == 'Hinge "knee": axis has zero length; give a direction such as (0, 1, 0)'


@pytest.mark.parametrize("field", ["at", "on_a", "on_b"])
@pytest.mark.parametrize("bad", [(0, 0), (0, 0, math.nan), 3, "abc"])
def test_bad_anchor(field, bad):
    with pytest.raises(ElementError, match=f'Ball "j": {field}'):
        Ball("a", "b", **{field: bad}, name="j")


@pytest.mark.parametrize("bad", [(0, 0), (0, 0, math.inf), 3, "abc", (0, 0, Parameter(1.0))])
def test_bad_axis(bad):
    with pytest.raises(ElementError, match=r'Hinge "j": axis'):
        Hinge("a", "b", at=(0, 0, 0), axis=bad, name="j")


def test_tiny_and_huge_axes_are_directions():
    for size in (1e-300, 1e300):
        assert np.allclose(Hinge("a", "b", (0, 0, 0), (size, size, 0)).axis, np.array([1, 1, 0]) / math.sqrt(2))


@pytest.mark.parametrize("where", ["at", "on_a", "on_b"])
def test_parameters_do_not_stand_in_anchors(where):
    with pytest.raises(ElementError, match=r"a Parameter cannot stand here"):
        Ball("a", "b", **{where: (0, Parameter(0.5, name="k"), 1)})


def test_universal():
    joint = Universal("a", "b", (0, 0, 0), first=(0, 0, 2), second=(1, 1e-4, 1e-4))
    assert joint.first @ joint.second == pytest.approx(0.0, abs=1e-15)
    with pytest.raises(ElementError, match=r"at 45 degrees to first; give perpendicular directions"):
        Universal("a", "b", (0, 0, 0), first=(1, 0, 0), second=(1, 1, 0))
    with pytest.raises(ElementError, match=r"second has zero length"):
        Universal("a", "b", (0, 0, 0), first=(1, 0, 0), second=(0, 0, 0))


def test_planar_weld_screw():
    assert np.array_equal(Planar("a", "b", (0, 0, 0), normal=(0, 3, 0)).normal, (0, 1, 0))
    assert Weld("a", "b").at is None
    assert np.array_equal(Weld("a", "b", (1, 0, 0)).at, (1, 0, 0))
    with pytest.raises(ElementError, match=r"both at and on_a"):
        Weld("a", "b", (1, 0, 0), on_a=(0, 0, 0))
    with pytest.raises(ElementError, match=r"normal has zero length"):
        Planar("a", "b", (0, 0, 0), normal=(0, 0, 0))
    with pytest.raises(ElementError, match=r"pitch is missing"):
        Screw("a", "b", (0, 0, 0), (0, 0, 1))
    with pytest.raises(ElementError, match=r"pitch is nan"):
        Screw("a", "b", (0, 0, 0), (0, 0, 1), math.nan)
    assert Screw("a", "b", (0, 0, 0), (0, 0, 1), -0.01).pitch == -0.01


def test_ends_are_bodies_or_names():
    Ball(Particle(1.0), "b", at=(0, 0, 0))
    for bad in (3, None, ""):
        with pytest.raises(ElementError, match=r"Ball: a is .*; give a body or its name"):
            Ball(bad, "b", at=(0, 0, 0))
    with pytest.raises(ElementError, match=r"b is a Weld; give a body or its name"):
        Ball("a", Weld("a", "b"), at=(0, 0, 0))
