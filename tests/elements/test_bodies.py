"""Bodies: what is normalised, what is filled in, what is refused."""

import math

import numpy as np
import pytest

from linkwork.elements import (
    AffineBody,
    Box,
    Ground,
    Parameter,
    Particle,
    PlanarBody,
    PlanarParticle,
    RigidBody,
    ScalableBody,
    Sphere,
)
from linkwork.errors import ElementError

UNIT = dict(mass=1.0, inertia=(1, 1, 1))
SOFT = dict(mass=1.0, second_moment=(1, 1, 1))


def test_kinds_and_dimensions():
    kinds = [RigidBody, PlanarBody, Particle, PlanarParticle, ScalableBody, AffineBody, Ground]
    assert [k.dim for k in kinds] == [6, 3, 3, 2, 9, 12, 0]
    names = ["rigid", "planar", "particle", "planar-particle", "scalable", "affine", "ground"]
    assert [k.kind for k in kinds] == names
    assert Ground().name == "ground"


def test_rigid_body_is_normalised():
    body = RigidBody(mass=2, inertia=[1, 2, 3], position=[1, 2, 3], orientation=(0.7071, 0, 0.7071, 0), name="rod")
    assert isinstance(body.mass, float) and body.inertia.shape == (3, 3)
    for field in (body.position, body.velocity, body.angular_velocity, body.com, body.orientation):
        assert field.dtype == float
    assert np.linalg.norm(body.orientation) == pytest.approx(1.0, abs=1e-15)
    assert repr(body) == '<RigidBody "rod">' and repr(RigidBody(**UNIT)) == "<RigidBody>"


def test_arrays_are_copied():
    position = np.zeros(3)
    body = RigidBody(**UNIT, position=position)
    position[0] = 1.0
    assert body.position[0] == 0.0
    assert RigidBody(**UNIT).position is not RigidBody(**UNIT).position


def test_bodies_are_compared_by_identity():
    assert RigidBody(**UNIT) != RigidBody(**UNIT)
    assert len({RigidBody(**UNIT), RigidBody(**UNIT)}) == 2


def test_shape_and_density_fill_in():
    box = Box(1, 2, 3)
    assert RigidBody(shape=box, density=10).mass == pytest.approx(60.0)
    heavy = RigidBody(mass=5.0, shape=box, density=10)  # the explicit mass wins
    assert heavy.mass == 5.0 and np.allclose(heavy.inertia, box.inertia(5.0))
    assert np.allclose(RigidBody(mass=5.0, shape=box, inertia=(1, 1, 1)).inertia, np.eye(3))
    assert np.allclose(ScalableBody(shape=box, density=1).second_moment, box.second_moment(6.0))
    assert np.allclose(AffineBody(shape=box, density=1).second_moment, box.second_moment(6.0))


@pytest.mark.parametrize("plane, normal", [("xz", 1), ("xy", 2), ("yz", 0)])
def test_planar_body_takes_the_inertia_about_its_normal(plane, normal):
    box = Box(1, 2, 3)
    assert PlanarBody(mass=5.0, shape=box, plane=plane).inertia == pytest.approx(box.inertia(5.0)[normal, normal])


@pytest.mark.parametrize("plane, three, two", [("xz", (1, 0, 2), (1, 2)), ("xy", (1, 2, 0), (1, 2)), ("yz", (0, 1, 2), (1, 2))])
def test_planar_positions_may_have_three_numbers(plane, three, two):
    for position in (three, two, np.array(three), list(two)):
        body = PlanarBody(mass=1, inertia=1, position=position, velocity=three, plane=plane)
        assert np.array_equal(body.position, two) and np.array_equal(body.velocity, two)
        assert np.array_equal(PlanarParticle(1.0, position, plane=plane).position, two)


def test_out_of_plane_is_refused():
    with pytest.raises(ElementError, match=r'PlanarBody "p": position is \(1, 3, 2\), out of the plane "xz"; give y = 0'):
        PlanarBody(mass=1, inertia=1, position=(1, 3, 2), name="p")
    with pytest.raises(ElementError, match=r"plane is 'zx'; give"):
        PlanarBody(mass=1, inertia=1, plane="zx")


def test_mass_missing_says_what_to_give():
    with pytest.raises(ElementError, match=r'^RigidBody "a": mass is missing; give mass=, or shape= with density=$'):
        RigidBody(shape=Sphere(1), name="a")
    with pytest.raises(ElementError, match=r"^Particle: mass is missing; give mass="):
        Particle()
    with pytest.raises(ElementError, match=r"inertia is missing; give inertia= or shape="):
        RigidBody(mass=1.0)
    with pytest.raises(ElementError, match=r"inertia is missing"):
        PlanarBody(mass=1.0)
    with pytest.raises(ElementError, match=r"second_moment is missing"):
        AffineBody(mass=1.0)
    with pytest.raises(ElementError, match=r"there is no shape"):
        RigidBody(**UNIT, density=3.0)
    with pytest.raises(ElementError, match=r"shape is 3"):
        RigidBody(**UNIT, shape=3)


@pytest.mark.parametrize("mass", [0, -1, math.nan, math.inf, 10**400, "1", np.array("1"), True, (1,), Parameter(1.0)])
@pytest.mark.parametrize("make", [lambda m: RigidBody(m, (1, 1, 1)), Particle, lambda m: AffineBody(m, (1, 1, 1))])
def test_bad_mass(make, mass):
    with pytest.raises(ElementError, match=r"mass is"):
        make(mass)


@pytest.mark.parametrize(
    "inertia, words",
    [
        ((1, 1, 0), "principal value 0"),
        ((0, 0, 0), "principal value 0"),
        ((1, 1, -1), "principal value -1"),
        ((-1, -1, -1), "principal value -1"),
        ((1, 1, 2.001), "no body has"),
        ([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], "not symmetric"),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], "principal value -1"),
        ((1, 1), "3 by 3"),
        ((1, math.nan, 1), "finite"),
        (1.0, "3 by 3"),
        ([[1, 0], [0, 1]], "3 by 3"),
        ([[1, 0, 0], [0, math.inf, 0], [0, 0, 1]], "finite"),
    ],
)
def test_bad_inertia(inertia, words):
    with pytest.raises(ElementError, match=f'RigidBody "a": inertia.*{words}'):
        RigidBody(mass=1.0, inertia=inertia, name="a")


def test_flat_plates_and_products_of_inertia_pass():
    assert RigidBody(mass=1, inertia=(1, 1, 2)).inertia[2, 2] == 2.0
    full = np.array([[2, 0.1, 0], [0.1, 2, 0.2], [0, 0.2, 3]])
    assert np.array_equal(RigidBody(mass=1, inertia=full).inertia, full)


@pytest.mark.parametrize("inertia", [0.0, -1.0, math.nan, (1, 1, 1)])
def test_bad_planar_inertia(inertia):
    with pytest.raises(ElementError, match=r"inertia is"):
        PlanarBody(mass=1.0, inertia=inertia)


@pytest.mark.parametrize("q", [(1, 0, 0), (0, 0, 0, 0), (1.002, 0, 0, 0), (1, 1, 0, 0), (math.nan, 0, 0, 0)])
def test_bad_orientation(q):
    with pytest.raises(ElementError, match=r"orientation"):
        RigidBody(**UNIT, orientation=q)
    with pytest.raises(ElementError, match=r"orientation"):
        ScalableBody(**SOFT, orientation=q)


@pytest.mark.parametrize("field", ["position", "velocity", "angular_velocity", "com"])
@pytest.mark.parametrize("bad", [(1, 2), (1, 2, 3, 4), (1, 2, math.nan), (1, 2, "3"), 1.0, None, "abc", (1, 2, Parameter(3))])
def test_bad_vectors(field, bad):
    with pytest.raises(ElementError, match=rf'RigidBody "a": {field}.* is '):
        RigidBody(**UNIT, **{field: bad}, name="a")


@pytest.mark.parametrize("field", ["angle", "angular_velocity"])
def test_bad_planar_scalars(field):
    with pytest.raises(ElementError, match=f"{field} is nan"):
        PlanarBody(mass=1, inertia=1, **{field: math.nan})


def test_bad_planar_vectors():
    for bad in [(1,), (1, math.nan), [(1, 2), 3], 1.0, (1, 2, 3, 4)]:
        with pytest.raises(ElementError, match=r"position"):
            PlanarParticle(1.0, position=bad)


@pytest.mark.parametrize("stretch", [(1, 1, 0), (1, -1, 1), (1, 1), (1, math.nan, 1)])
def test_bad_stretch(stretch):
    with pytest.raises(ElementError, match=r"stretch"):
        ScalableBody(**SOFT, stretch=stretch)


def test_bad_deformation():
    for bad in (np.zeros((3, 3)), np.diag([1, 1, -1]), np.eye(2), (1, 1, 1), np.full((3, 3), np.nan)):
        with pytest.raises(ElementError, match=r"deformation"):
            AffineBody(**SOFT, deformation=bad)
    with pytest.raises(ElementError, match=r"deformation_rate"):
        AffineBody(**SOFT, deformation_rate=np.eye(2))


@pytest.mark.parametrize("kind", [ScalableBody, AffineBody])
def test_bad_stiffness_damping_and_second_moment(kind):
    for field in ("stiffness", "damping"):
        with pytest.raises(ElementError, match=f"{field} is -1; give a finite number of at least 0"):
            kind(**SOFT, **{field: -1})
    with pytest.raises(ElementError, match=r"second_moment.*principal value 0"):
        kind(mass=1.0, second_moment=(1, 1, 0))
    assert kind(mass=1.0, second_moment=(1, 1, 5)).second_moment[2, 2] == 5.0  # no triangle here


@pytest.mark.parametrize("name", [3, "", "  ", b"a"])
def test_bad_names(name):
    with pytest.raises(ElementError, match=r"^RigidBody: name is"):
        RigidBody(**UNIT, name=name)
