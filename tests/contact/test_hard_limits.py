"""Hard limits of every joint that has something to bound: reached, held there, and not felt before."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

G = 10.0


def hung(joint, **body):
    """A body on the ground that gravity swings about what the joint leaves free."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(1, 0, 0), name="arm", **body))
    world.add(joint(world))
    return world


def swing(sim):
    """rad: of the arm from where it was built."""
    return np.arccos(np.clip(sim.frame("arm")[0, 0], -1, 1))


WAYS = pytest.mark.parametrize(
    "way", [{}, {"integrator": "euler"}, {"solver": "anticipation", "integrator": "euler"}], ids=["rattle", "euler", "forces"]
)


@WAYS
def test_a_ball_stays_in_its_cone(way):
    """The axis falls from the horizontal until the cone holds it; the torque at rest is m g times its arm."""
    world = hung(lambda w: lw.Ball(w.ground, "arm", at=(0, 0, 0), name="socket"))
    world.add(lw.HardLimit("socket", cone=0.5, axis=(1, 0, 0), name="stop"))
    world.add(lw.Drag("arm", 4.0, angular=1.0, name="air"))
    sim = lw.Simulation(world, **way)
    sim.step(200)
    assert sim.impulse("stop")[0] == 0.0 and swing(sim) < 0.45
    sim.step(4000)
    assert np.isclose(swing(sim), 0.5, atol=1e-5)
    assert np.isclose(sim.impulse("stop")[0] / sim.dt, G * np.cos(0.5), rtol=5e-3)
    assert np.allclose(sim.reaction("stop").torque, (0, -G * np.cos(0.5), 0), atol=2e-2)


@WAYS
@pytest.mark.parametrize("axis", [0, 1])
def test_both_angles_of_a_universal_are_bounded(way, axis):
    """It can turn about y alone, which is one axis of its cross; the other is held as well."""
    across, y = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
    first, second = (y, across) if axis == 0 else (across, y)
    world = hung(lambda w: lw.Universal(w.ground, "arm", at=(0, 0, 0), first=first, second=second, name="cross"))
    bounds = [(-0.2, 0.3), (-0.7, 0.8)][:: 1 if axis == 0 else -1]
    world.add(lw.HardLimit("cross", lower=[b[0] for b in bounds], upper=[b[1] for b in bounds], name="stop"))
    world.add(lw.Wrench("arm", torque=(0, 0, 8.0), name="aside"))
    world.add(lw.Drag("arm", 4.0, angular=1.0, name="air"))
    sim = lw.Simulation(world, **way)
    sim.step(4000)
    assert np.abs(sim.angular_velocity("arm")).max() < 1e-5
    R = sim.frame("arm")
    expected = turned(first, 0.3 if axis == 0 else 0.8) @ turned(second, 0.8 if axis == 0 else 0.3)
    np.testing.assert_allclose(R, expected, atol=1e-5)
    given = sim.impulse("stop")
    assert given.shape == (2,) and (given > 0).all()


def turned(axis, angle):
    return Rotation.from_rotvec(angle * np.array(axis)).as_matrix()


@WAYS
def test_the_angle_of_a_plane_and_the_turn_of_a_cylinder(way):
    for joint, limit in (
        (lambda w: lw.Planar(w.ground, "arm", at=(0, 0, 0), normal=(0, 1, 0), name="j"), {"lower": -0.1, "upper": 0.4}),
        (lambda w: lw.Cylindrical(w.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="j"), {"twist": (-0.1, 0.4)}),
    ):
        world = hung(joint)
        world.add(lw.HardLimit("j", **limit, name="stop"))
        world.add(lw.Wrench("arm", torque=(0, 3.0, 0), name="turn"))
        sim = lw.Simulation(world, **way)
        sim.step(1500)
        R = sim.frame("arm")
        assert np.isclose(np.arctan2(-R[2, 0], R[0, 0]), 0.4, atol=1e-5)


@pytest.mark.parametrize(
    ("joint", "limit", "words"),
    [
        (lambda w: lw.Ball(w.ground, "arm", at=(0, 0, 0), name="j"), {"lower": 1.0}, 'Ball "j", whose turn has no sign'),
        (lambda w: lw.Ball(w.ground, "arm", at=(0, 0, 0), name="j"), {"cone": 1.0}, "axis is missing"),
        (lambda w: lw.Ball(w.ground, "arm", at=(0, 0, 0), name="j"), {"upper": 1.0, "axis": (1, 0, 0)}, "leave axis out"),
        (lambda w: lw.Ball(w.ground, "arm", at=(0, 0, 0), name="j"), {"twist": (0, 7), "axis": (1, 0, 0)}, "at most a turn"),
        (lambda w: lw.Ball(w.ground, "arm", at=(0, 0, 0), name="j"), {"reach": 1.0}, "no use for reach="),
        (lambda w: lw.Planar(w.ground, "arm", at=(0, 0, 0), name="j"), {"x": (0, 1)}, "axis is missing, which x= is told by"),
        (lambda w: lw.Planar(w.ground, "arm", at=(0, 0, 0), name="j"), {"y": (0, 1), "axis": (0, 0, 1)}, "the normal of its joint"),
        (lambda w: lw.Planar(w.ground, "arm", at=(0, 0, 0), name="j"), {"x": (1, 0), "axis": (1, 0, 0)}, "give lower < upper"),
        (lambda w: lw.Weld(w.ground, "arm", name="j"), {"upper": 1.0}, 'Weld "j" has no coordinate to bound'),
        (lambda w: lw.Hinge(w.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="j"), {"upper": (1.0, 2.0)}, "give one number"),
        (lambda w: lw.Universal(w.ground, "arm", at=(0, 0, 0), name="j"), {"upper": 4.0}, "give angles between -pi and pi"),
        (lambda w: lw.Hinge(w.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="j"), {"upper": 1.0, "axis": (1, 0, 0)},
         "has an axis of its own"),
    ],
)  # fmt: skip
def test_what_a_joint_does_not_have_is_refused_by_name(joint, limit, words):
    world = hung(joint)
    with pytest.raises(lw.LinkworkError, match="HardLimit") as caught:
        world.add(lw.HardLimit("j", **limit, name="stop"))
    assert words in str(caught.value)


def hanging(**options):
    """A body that turns about its middle on a ball, driven by torques."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), name="arm", **options))
    world.add(lw.Ball(world.ground, "arm", at=(0, 0, 0), name="socket"))
    world.add(lw.Drag("arm", 1.0, angular=2.0, name="air"))
    return world


@WAYS
def test_the_twist_of_a_ball_stays_between_its_two(way):
    """Turned about the axis of its twist, tilted aside: the torque that the stop gives is the one that drives it."""
    for torque, twist in ((1.0, 0.4), (-1.0, -0.2)):
        world = hanging()
        world.add(lw.HardLimit("socket", twist=(-0.2, 0.4), cone=0.7, axis=(0, 0, 1), name="stop"))
        world.add(lw.Wrench("arm", torque=(0, 0, torque), name="turn"))
        sim = lw.Simulation(world, **way)
        sim.step(5000)
        turn = Rotation.from_matrix(sim.frame("arm")).as_rotvec()
        np.testing.assert_allclose(turn, (0, 0, twist), atol=1e-5)
        np.testing.assert_allclose(sim.reaction("stop").torque, (0, 0, -torque), atol=2e-2)
        np.testing.assert_allclose(sim.reaction("stop").generalised, (0, torque), atol=2e-2)


@WAYS
def test_the_whole_turn_of_a_ball_is_bounded_about_any_axis(way):
    axis = np.array([1.0, 2.0, -2.0]) / 3
    world = hanging()
    world.add(lw.HardLimit("socket", upper=0.9, name="stop"))
    world.add(lw.Wrench("arm", torque=axis, name="turn"))
    sim = lw.Simulation(world, **way)
    sim.step(5000)
    np.testing.assert_allclose(np.linalg.norm(Rotation.from_matrix(sim.frame("arm")).as_rotvec()), 0.9, atol=1e-5)


@WAYS
def test_a_cone_that_a_kernel_measures_is_that_of_the_closed_form(way):
    """Beside a twist that nothing reaches, a cone is measured; alone it has rows of its own."""
    found = []
    for more in ({}, {"twist": (-3, 3)}):
        world = hanging(angular_velocity=(2.0, 1.0, 0.3))
        world.add(lw.HardLimit("socket", cone=0.5, axis=(0, 0, 1), restitution=0.5, name="stop", **more))
        sim = lw.Simulation(world, **way)
        sim.step(1000)
        found.append(np.concatenate([sim.frame("arm").ravel(), sim.angular_velocity("arm")]))
    np.testing.assert_allclose(*found, atol=1e-3 if "solver" in way else 1e-7)


@WAYS
@pytest.mark.parametrize(
    ("limit", "push", "there"),
    [
        ({"x": (-0.1, 0.3), "y": (-0.2, 0.2)}, (1.0, 1.0), (0.3, 0.2)),
        ({"x": (-0.1, 0.3), "y": (-0.2, 0.2)}, (-1.0, -1.0), (-0.1, -0.2)),
        ({"reach": 0.5}, (3.0, 4.0), (0.3, 0.4)),
    ],
)
def test_travels_in_a_plane_are_bounded(way, limit, push, there):
    """Along an axis that is turned by 30 degrees, and across it; at rest the rim gives what drives the puck."""
    turned = Rotation.from_rotvec((0, 0, np.pi / 6)).as_matrix()
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), name="puck"))
    world.add(lw.Planar(world.ground, "puck", at=(0, 0, 0), normal=(0, 0, 1), name="table"))
    world.add(lw.HardLimit("table", **limit, axis=None if "reach" in limit else turned[:, 0], name="rim"))
    world.add(lw.Drag("puck", 4.0, name="air"))
    world.add(lw.Wrench("puck", force=turned @ (*push, 0.0), name="push"))
    sim = lw.Simulation(world, **way)
    sim.step(4000)
    np.testing.assert_allclose(turned.T @ sim.position("puck"), (*there, 0.0), atol=1e-4)
    np.testing.assert_allclose(turned.T @ sim.reaction("rim").force, (*-np.array(push), 0.0), atol=2e-2)
