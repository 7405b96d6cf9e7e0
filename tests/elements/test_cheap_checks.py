"""Building large worlds: what is checked cheaply is checked no less, and adding looks at no other element."""

import copy
import math
import pickle
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from linkwork import elements
from linkwork.elements import (
    AffineBody,
    Ball,
    Box,
    Capsule,
    Cylinder,
    Disc,
    Element,
    Ellipsoid,
    Hinge,
    Parameter,
    Particle,
    RigidBody,
    ScalableBody,
    Sphere,
    Spring,
)
from linkwork.elements.core import checks
from linkwork.errors import ElementError
from linkwork.world import World

SHAPES = [Box(1, 2, 3), Sphere(1), Ellipsoid(1, 2, 3), Cylinder(1, 2), Disc(1, 0.1), Capsule(0.5, 2)]
ANCHOR = {"on_a": (0, 0, 0)}
AXIS = {**ANCHOR, "axis_a": (0, 0, 1)}
SOFT = {"mass": 1.0, "second_moment": (1, 1, 1)}
GIVEN = {  # what each kind needs besides its references
    "AffineBody": SOFT,
    "Armature": {"inertia": 0.1},
    "Ball": ANCHOR,
    "Collider": {"shape": elements.Sphere(1.0)},
    "Constraint": {"function": lambda b, t: 0},
    "Coupling": {"coefficients": (1.0, 2.0)},
    "FixedTendon": {"coefficients": (1.0, 2.0)},
    "ContactSpring": {"stiffness": 1.0, "plane": ((0, 0, 0), (0, 0, 1))},
    "Cylindrical": AXIS,
    "Damper": {"damping": 1.0},
    "Drive": {"rate": 1.0},
    "Follow": {"stiffness": 1.0},
    "Force": {"function": lambda b, t: 0},
    "Gear": {"ratio": 1.0},
    "HardLimit": {"lower": -1.0, "upper": 1.0},
    "Hinge": AXIS,
    "Inequality": {"function": lambda b, t: 0},
    "JointFriction": {"friction": 1.0},
    "JointLimit": {"lower": -1.0, "upper": 1.0, "stiffness": 1.0},
    "JointSpring": {"stiffness": 1.0},
    "LagrangianBody": {"function": lambda u: (u, 0, 0), "masses": (1.0,), "coordinates": (0.0,)},
    "Motion": {"function": lambda t: t},
    "Motor": {"kind": "position", "kp": 1.0},
    "Particle": {"mass": 1.0},
    "Planar": ANCHOR,
    "PlanarBody": {"mass": 1.0, "inertia": 1.0},
    "PlanarParticle": {"mass": 1.0},
    "PointOnCurve": {"curve": lambda p: (p[0], p[1])},
    "PointOnLine": {"axis": (0, 0, 1)},
    "PointOnPlane": {"normal": (0, 0, 1)},
    "PointOnSurface": {"surface": lambda p: p[2]},
    "RigidBody": {"mass": 1.0, "inertia": (1, 1, 1)},
    "Rolling": {"radius": 1.0},
    "ScalableBody": SOFT,
    "Screw": {**AXIS, "pitch": 0.1},
    "Skate": {"direction": (1, 0, 0)},
    "Slider": AXIS,
    "Spring": {"stiffness": 1.0},
    "Tangent": {"surface_a": lambda p: p[2], "surface_b": lambda p: p[2], "at": (0, 0, 0)},
    "TorsionSpring": {"stiffness": 1.0},
    "Universal": ANCHOR,
    "VelocityConstraint": {"function": lambda b, t: 0},
    "Visual": {"shape": elements.Sphere(1.0)},
}
ABSTRACT = {"Body", "ConstraintElement", "ContactElement", "Element", "ForceElement", "Ground", "Joint"}
KINDS = [
    kind
    for name in elements.__all__
    if name not in ABSTRACT and isinstance(kind := getattr(elements, name), type) and issubclass(kind, Element)
]


def make(kind, **changed):
    given = {**GIVEN.get(kind.__name__, {}), **changed}
    if kind is elements.Cable:
        return kind([("a", (0, 0, 0)), ("b", (0, 0, 0))], **given)
    if "bodies" in kind.REFERENCES:
        several = ("a", "b") if kind is elements.NoContact else (["b"],) if kind.__name__.endswith("Sensor") else ("b",)
        return kind(*several, **given)
    if kind.__name__ == "Motor" and {"gain", "bias"} & {*changed}:
        given = {"kind": "general", **changed}
    wanted = [where for where in kind.REFERENCES if where not in kind.OPTIONAL]
    return kind(**{where: ("a", "b") if where in ("joints", "of") else where for where in wanted}, **given)


def takes_parameter(kind, field):
    """Whether a Parameter, bare or in a vector, may stand in that field."""
    k = Parameter(1.0)
    for value in (k, (k, 0.0, 0.0), (0.0, 0.0, k), (k, 1.0)):
        try:
            made = make(kind, **{field: value})
        except (ElementError, TypeError):  # TypeError: a field that is no argument
            continue
        assert made.parameters() == [k]
        return True
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_the_annotations_say_which_fields_may_hold_parameters(kind):
    make(kind)
    names = {f.name for f in fields(kind)}.difference(kind.REFERENCES, {"name", "bodies"})
    assert {name for name in names if takes_parameter(kind, name)} == names.intersection(kind.PARAMETERS)


USUAL = [(1, 2, 3), [1.0, 2, 3.0], np.array([1.0, 2.0, 3.0]), np.array([1, 2, 3]), tuple(np.array([1.0, 2.0, 3.0]))]
UNUSUAL = [
    (Fraction(1), np.float32(2), np.int8(3)),
    (np.array(1.0), 2, 3),
    np.array([1, 2, 3], np.float32),
    np.array([1, 2, 3], object),
    np.array([1, 2, 3], np.longdouble),
]


@pytest.mark.parametrize("given", USUAL + UNUSUAL, ids=repr)
def test_vectors_come_out_alike(given):
    vector = checks.vector("who", "x", given)
    assert vector.dtype == float and vector.tolist() == [1.0, 2.0, 3.0] and vector is not given
    assert np.allclose(checks.direction("who", "x", given), np.array([1, 2, 3]) / math.sqrt(14), rtol=0, atol=1e-15)


BAD = [True, np.True_, math.nan, -math.inf, np.float64("nan"), 10**400, -(10**400), "1", None, 1j, (1,), Parameter(1.0)]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_bad_entries_are_found_among_good_ones(bad, place):
    given = [1, 2.0, np.float64(3.0)]
    given[place] = bad
    for value in (given, tuple(given)):
        for check in (checks.vector, checks.direction, checks.moment):
            with pytest.raises(ElementError, match=r"^Ball: x"):
                check("Ball", "x", value)


def test_other_arrays_are_no_vectors():
    for bad in (np.array([1, 2, 3], "m8[ns]"), np.array([True] * 3), np.ones((3, 1)), np.ones(2), np.array(3.0)):
        with pytest.raises(ElementError, match=r"^Ball: x is .*; give 3 finite numbers"):
            checks.vector("Ball", "x", bad)


def test_defaults_are_not_shared():
    one, other = Particle(1.0), Particle(1.0)
    one.velocity[0] = 5.0
    assert other.velocity[0] == 0.0 and Particle(1.0).velocity[0] == 0.0
    first, second = (RigidBody(mass=1.0, shape=Box(1, 1, 1)) for _ in range(2))
    first.orientation[0] = first.inertia[0, 0] = 7.0
    assert second.orientation[0] == 1.0 and second.inertia[0, 0] == pytest.approx(1 / 6)


@pytest.mark.parametrize("shape", SHAPES)
def test_moments_of_shapes_need_no_eigenvalues(shape, monkeypatch):
    checked = checks.inertia("who", "inertia", shape.inertia(2.0))
    monkeypatch.setattr(np.linalg, "eigvalsh", None)
    assert np.array_equal(RigidBody(mass=2.0, shape=shape).inertia, checked)
    assert np.array_equal(AffineBody(mass=2.0, shape=shape).second_moment, shape.second_moment(2.0))
    assert np.array_equal(RigidBody(mass=2.0, inertia=np.diag(checked)).inertia, checked)


def test_shapes_that_are_too_thin_or_too_small_are_still_refused():
    with pytest.raises(ElementError, match=r'^RigidBody "r": inertia \(\(6e-19, 0, 0\), .*the principal value 6e-19; all'):
        RigidBody(mass=12.0, shape=Box(100, 6e-10, 4.89897948556636e-10), name="r")
    for kind in (RigidBody, ScalableBody, AffineBody):
        with pytest.raises(ElementError, match=r"has the principal value 0; all three must be positive"):
            kind(mass=1.0, shape=Sphere(1e-200))
        with pytest.raises(ElementError, match=r"(inertia|second_moment)\[0\] is \(inf, 0, 0\)"):
            kind(mass=1e300, shape=Sphere(1e100))


class Unscanned(dict):
    """A dict that can be asked for a key and extended, but not gone through."""

    def __iter__(self):
        raise AssertionError("all elements were gone through")

    keys = values = items = __iter__


def test_adding_looks_at_no_other_element():
    world = World()
    world._elements = Unscanned(world._elements)
    previous = world.ground
    for i in range(3):
        link = world.add(RigidBody(mass=0.1, shape=Box(0.1, 0.02, 0.02), position=(0.1 * i, 0, 0)))
        world.add(Ball(previous, link, at=(0.1 * i, 0, 0)))
        world.add(Hinge(previous.name, link.name, at=(0.1 * i, 0, 0), axis=(0, 1, 0)))
        previous = link
    with pytest.raises(AssertionError, match=r"gone through"):
        _ = world.bodies
    world._elements = dict(dict.items(world._elements))
    assert [body.name for body in world.bodies] == ["rigid1", "rigid2", "rigid3"] and len(world.constraints) == 6


def test_only_the_first_parameter_looks_at_all_elements():
    world = World()
    bead, k = world.add(Particle(1.0)), Parameter(1.0, name="k")
    world.add(Spring(world.ground, bead, k))
    world._elements = Unscanned(world._elements)
    world.add(Spring(world.ground, bead, k))
    with pytest.raises(ElementError, match=r'two Parameters have the name "k"'):
        world.add(Spring(world.ground, bead, Parameter(2.0, name="k")))


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_copied_element_is_in_no_world(clone):
    world = World()
    bead = world.add(Particle(1.0, position=(1, 2, 3), name="bead"))
    twin = clone(bead)
    assert twin not in world and bead in world and twin.position.tolist() == [1, 2, 3]
    assert World().add(twin) is twin
