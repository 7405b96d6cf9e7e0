"""A joint from outside the package works wherever joints do: solvers, integrators, forces on it, limits, recordings, pictures,
files."""

import importlib.metadata

import numpy as np
import pytest

import linkwork as lw
import linkwork.kinds as lk
from tests.elements.outside.barrel_cam import BarrelCam
from tests.elements.outside.constant_velocity import ConstantVelocity

RISE, INERTIA, MASS, G, START = 0.3, 0.02, 1.5, 9.81, 6.0
DT, STEPS = 1e-3, 400
WAYS = [
    ("tree", "rattle"),
    ("tree", "euler"),
    ("tree", "joint-rk4"),
    ("fronts", "rattle"),
    ("dense", "rattle"),
    ("cg", "rattle"),
    ("anticipation", "rattle"),
    ("implicit", "implicit"),
    ("aba", "joint-rk4"),
    ("aba", "joint-euler"),
    ("ltdl", "joint-rk4"),
    ("ltdl", "joint-implicit"),
]
FIRST_ORDER = ("euler", "implicit", "joint-euler", "joint-implicit")


def cam(backwards=False, **more):
    """A disc on a cam with an upright axis, its centre on the axis, spinning."""
    world = lw.World(gravity=(0, 0, -G))
    disc = world.add(lw.RigidBody(MASS, (0.03, 0.03, INERTIA), angular_velocity=(0, 0, START), shape=lw.Disc(0.1, 0.02), name="disc", **more))
    ends = (disc, world.ground) if backwards else (world.ground, disc)
    world.add(BarrelCam(*ends, at=(0, 0, 0), axis=(0, 0, -1) if backwards else (0, 0, 1), rise=RISE, name="cam"))
    return world


def lift(angle):
    return RISE / 2 * (1 - np.cos(angle))


def energy(angle, rate):
    """Of the one freedom, in closed form."""
    slope = RISE / 2 * np.sin(angle)
    return 0.5 * (INERTIA + MASS * slope**2) * rate**2 + MASS * G * lift(angle)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("solver", "integrator"), WAYS)
def test_it_turns_as_its_one_freedom_does(solver, integrator, backwards):
    sim = lw.Simulation(cam(backwards), dt=DT, solver=solver, integrator=integrator)
    sim.step(STEPS)
    angle, rate = sim.angle("cam"), sim.rate("cam")
    assert sim.position("disc") == pytest.approx([0, 0, lift(angle)], abs=2e-3 if integrator in ("euler", "implicit") else 1e-9)
    start = energy(0.0, START)
    assert energy(angle, rate) == pytest.approx(start, rel=0.1 if integrator in FIRST_ORDER else 2e-4)
    assert abs(angle) > 0.5


def test_the_same_bits_from_either_body_and_in_joint_coordinates():
    found = {}
    for backwards in (False, True):
        for solver, integrator in (("tree", "rattle"), ("aba", "joint-rk4"), ("ltdl", "joint-rk4")):
            sim = lw.Simulation(cam(backwards), dt=1e-4, solver=solver, integrator=integrator)
            sim.step(1000)
            found[backwards, solver] = sim.angle("cam")
    assert found[False, "aba"] == pytest.approx(found[True, "aba"], abs=1e-10)
    assert found[False, "aba"] == pytest.approx(found[False, "ltdl"], abs=1e-10)
    assert found[False, "aba"] == pytest.approx(found[True, "tree"], abs=1e-6)


def test_springs_motors_gears_rotors_and_frictions_act_on_it():
    world = cam()
    wheel = world.add(lw.RigidBody(1.0, (0.01, 0.01, 0.01), position=(0.5, 0, 0), name="wheel"))
    world.add(lw.Hinge(world.ground, wheel, at=(0.5, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.JointSpring("cam", 0.5, damping=0.1))
    world.add(lw.Motor("cam", kind="position", kp=2.0, kd=0.2, name="servo"))
    world.add(lw.Armature("cam", 0.05))
    world.add(lw.Gear("cam", "axle", 2.0))
    sim = lw.Simulation(world, dt=1e-3)
    sim.control["servo"] = 1.0
    sim.step(8000)
    angle = sim.angle("cam")
    slope = RISE / 2 * np.sin(angle)
    assert 2.0 * (1.0 - angle) - 0.5 * angle == pytest.approx(MASS * G * slope, abs=1e-5)  # at rest
    assert sim.angle("axle") == pytest.approx(angle / 2, abs=1e-9) or sim.angle("axle") == pytest.approx(2 * angle, abs=1e-9)


@pytest.mark.parametrize(("solver", "integrator"), [("tree", "rattle"), ("aba", "joint-euler"), ("implicit", "implicit")])
def test_a_hard_limit_stops_it(solver, integrator):
    world = cam()
    world.add(lw.HardLimit("cam", upper=0.5, name="stop"))
    sim = lw.Simulation(world, dt=DT, solver=solver, integrator=integrator)
    sim.step(150)
    assert sim.angle("cam") < 0.5 + 1e-3


def test_a_soft_limit_and_dry_friction_hold_it():
    world = cam()
    world.add(lw.JointLimit("cam", -0.2, 0.2, stiffness=500.0, damping=5.0))
    world.add(lw.JointFriction("cam", 0.5))
    sim = lw.Simulation(world, dt=DT)
    sim.step(2000)
    assert abs(sim.angle("cam")) < 0.3 and abs(sim.rate("cam")) < 1e-6


def test_a_driven_cam_without_mass_in_the_chain():
    """A massless link between two of them: body and joint are eliminated as one, by `world_subspace`."""
    world = lw.World(gravity=(0, 0, -G))
    link = world.add(lw.RigidBody(0.0, (0, 0, 0), name="link"))
    disc = world.add(lw.RigidBody(MASS, (0.03, 0.03, INERTIA), angular_velocity=(0, 0, START), name="disc"))
    world.add(BarrelCam(world.ground, link, at=(0, 0, 0), axis=(0, 0, 1), rise=RISE, name="lower"))
    world.add(lw.Hinge(link, disc, at=(0, 0, 0), axis=(1, 0, 0), name="tilt"))
    angles = []
    for solver, integrator in (("tree", "rattle"), ("aba", "joint-rk4")):
        sim = lw.Simulation(world, dt=1e-4, solver=solver, integrator=integrator)
        sim.step(500)
        angles.append(sim.angle("lower"))
    assert angles[0] == pytest.approx(angles[1], abs=1e-6) and abs(angles[0]) > 0.1


def test_joint_coordinates_say_what_they_are():
    tree = lw.reduced.compile(cam())
    assert [freedom.unit for freedom in tree.kind("cam").freedoms] == ["rad"]
    bodies = lw.reduced.to_bodies(tree, np.array([0.7]), np.array([2.0]))
    assert bodies.position[0] == pytest.approx([0, 0, lift(0.7)])
    assert bodies.velocity[0, 2] == pytest.approx(RISE / 2 * np.sin(0.7) * 2.0)


def test_keyframes_recordings_and_pictures(tmp_path):
    world = cam()
    world.keyframe("up", lw.Keyframe({"cam": 3 * np.pi}, {"cam": 0.1})) if hasattr(world, "keyframe") else None
    sim = lw.Simulation(world, dt=DT)
    recording = sim.run(0.2)
    assert recording["cam"].angle[-1] == sim.angle("cam")
    path = tmp_path / "cam.npz"
    recording.save(path)
    assert lw.Recording.load(path)["cam"].angle == pytest.approx(recording["cam"].angle)
    assert recording.to_svg if hasattr(recording, "to_svg") else recording.plot() is not None


def test_a_parameter_is_followed_in_maximal_coordinates_and_refused_in_joint_coordinates():
    world = lw.World()
    disc = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="disc"))
    world.add(BarrelCam(world.ground, disc, at=(0, 0, 0), axis=(0, 0, 1), rise=lw.Parameter(0.2, name="rise"), name="cam"))
    lw.Simulation(world).step(3)
    with pytest.raises(lw.LinkworkError, match='BarrelCam "cam": its rise is a Parameter, which joint coordinates do not follow; give a number'):
        lw.Simulation(world, solver="aba", integrator="joint-rk4")


@pytest.mark.parametrize("backwards", [False, True])
def test_shafts_of_a_constant_velocity_joint_turn_at_the_same_rate(backwards):
    world = lw.World(gravity=(0, 0, 0))
    shaft, out = (0.0, 0.0, 1.0), np.array([np.sin(0.5), 0.0, np.cos(0.5)])
    one = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.02), position=(0, 0, -0.5), name="one"))
    two = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.02), position=(0, 0, 0.5), name="two"))
    world.add(lw.Hinge(world.ground, one, at=(0, 0, -1), axis=shaft, name="input"))
    world.add(ConstantVelocity(*((two, one) if backwards else (one, two)), at=(0, 0, 0), shaft=shaft, name="knuckle"))
    world.add(lw.JointSpring("knuckle", 3.0, damping=0.5))
    world.add(lw.Drive("input", 3.0))
    found = []
    for solver, integrator in (("tree", "rattle"), ("dense", "rattle")):
        sim = lw.Simulation(world, dt=1e-3, solver=solver, integrator=integrator)
        sim.set_velocity("two", angular=(1.0, 0.5, 3.0)) if hasattr(sim, "set_velocity") else None
        sim.step(300)
        found.append(sim.angular_velocity("two")) if hasattr(sim, "angular_velocity") else found.append(sim.rates("two"))
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert out @ out == pytest.approx(1.0)


def test_a_scene_file_names_it_where_its_package_is_installed(tmp_path, monkeypatch):
    """By entry points alone: a file never imports."""
    from linkwork.formats.scene import schema

    path = tmp_path / "cam.yaml"

    def installed(*, group):
        return [importlib.metadata.EntryPoint("BarrelCam", "tests.elements.outside.barrel_cam:BarrelCam", group)] if group == "linkwork.elements" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", installed)
    schema.forget()
    try:
        lw.save(cam(), path)
        again = lw.load(path)
        assert isinstance(again.find("cam"), BarrelCam) and again.find("cam").rise == RISE
        assert "BarrelCam" in str(schema.json_schema())
    finally:
        monkeypatch.undo()
        schema.forget()
    with pytest.raises(lw.LinkworkError, match="BarrelCam"):
        lw.load(path)


def test_its_kernels_are_kept_under_the_digest_of_its_file():
    kind = lk.kind_of_joint(cam().find("cam"))
    assert kind.key.startswith("BarrelCam@") and kind.mobilizer.name.startswith("CamMobilizer@")
