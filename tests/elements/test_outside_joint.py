"""A joint from outside the package works wherever joints do: solvers, integrators, forces on it, limits, recordings, pictures,
files."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
import linkwork.kinds as lk
from tests.elements.outside.barrel_cam import BarrelCam
from tests.elements.outside.constant_velocity import ConstantVelocity as Knuckle

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
    ("implicit", "backward-euler"),
    ("aba", "joint-rk4"),
    ("aba", "joint-euler"),
    ("ltdl", "joint-rk4"),
    ("ltdl", "joint-implicit"),
]
SCENE = """
linkwork: 1
elements:
  - RigidBody: {mass: 1.0, inertia: [0.1, 0.1, 0.1], name: disc}
  - BarrelCam: {a: ground, b: disc, at: [0, 0, 0], axis: [0, 0, 1], rise: "2 cm", name: cam}
"""
RUN = """
from pathlib import Path
import linkwork as lw
folder = Path(__file__).parent
try:
    world = lw.load(folder / "cam.yaml")
    lw.save(world, folder / "again.yaml")
    lw.Simulation(world).step(2)
    print(type(world.find("cam")).__name__, world.find("cam").rise, lw.load(folder / "again.yaml").find("cam").rise == 0.02)
except lw.FileError as error:
    print("FileError", error)
"""
FIRST_ORDER = ("euler", "backward-euler", "joint-euler", "joint-implicit")


def cam(backwards=False, spin=START):
    """A disc on a cam with an upright axis, its centre on the axis, spinning."""
    world = lw.World(gravity=(0, 0, -G))
    disc = world.add(
        lw.RigidBody(MASS, (0.03, 0.03, INERTIA), angular_velocity=(0, 0, spin), shape=lw.Disc(0.1, 0.02), name="disc")
    )
    ends = (disc, world.ground) if backwards else (world.ground, disc)
    world.add(BarrelCam(*ends, at=(0, 0, 0), axis=(0, 0, -1) if backwards else (0, 0, 1), rise=RISE, name="cam"))
    return world


def lift(angle):
    return RISE / 2 * (1 - np.cos(angle))


@cache
def wanted():
    """Angle and rate after STEPS, from the equation of motion of the one freedom."""

    def rates(t, x):
        slope, curvature = RISE / 2 * np.sin(x[0]), RISE / 2 * np.cos(x[0])
        return x[1], -MASS * slope * (curvature * x[1] ** 2 + G) / (INERTIA + MASS * slope**2)

    return solve_ivp(rates, (0, DT * STEPS), (0.0, START), rtol=1e-11, atol=1e-11).y[:, -1]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("solver", "integrator"), WAYS)
def test_it_turns_as_its_one_freedom_does(solver, integrator, backwards):
    sim = lw.Simulation(cam(backwards), dt=DT, solver=solver, integrator=integrator)
    sim.step(STEPS)
    angle, rate = sim.angle("cam"), sim.rate("cam")
    loose = integrator in ("euler", "backward-euler")  # which let rows drift, or stop at a tolerance
    assert sim.position("disc") == pytest.approx([0, 0, lift(angle)], abs=1e-4 if loose else 1e-9)
    near = (0.02, 0.3) if integrator in FIRST_ORDER else (1e-3, 1e-2) if integrator == "rattle" else (1e-7, 1e-6)
    assert np.all(np.abs(np.array([angle, rate]) - wanted()) < near)


def test_it_is_the_same_from_either_body_and_in_joint_coordinates():
    found = {}
    for backwards in (False, True):
        for solver, integrator in (("tree", "rattle"), ("aba", "joint-rk4"), ("ltdl", "joint-rk4")):
            sim = lw.Simulation(cam(backwards), dt=1e-4, solver=solver, integrator=integrator)
            sim.step(1000)
            found[backwards, solver] = sim.angle("cam")
    assert found[False, "aba"] == pytest.approx(found[True, "aba"], abs=1e-10)
    assert found[False, "aba"] == pytest.approx(found[False, "ltdl"], abs=1e-10)
    assert found[False, "aba"] == pytest.approx(found[True, "tree"], abs=1e-6)


def test_springs_motors_gears_and_rotors_act_on_it():
    world = cam(spin=0.0)
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
    assert sim.angle("axle") == pytest.approx(angle / 2, abs=1e-9)


@pytest.mark.parametrize(("solver", "integrator"), [("tree", "rattle"), ("aba", "joint-euler"), ("implicit", "backward-euler")])
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
    link = world.add(lw.RigidBody(0.0, (0, 0, 0), angular_velocity=(0, 0, START), name="link"))
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
    sim = lw.Simulation(cam(), dt=DT)
    sim.reset(lw.Keyframe(positions={"cam": 7.0}, velocities={"cam": 2.0}))
    assert (sim.angle("cam"), sim.rate("cam")) == pytest.approx((7.0, 2.0))
    assert sim.position("disc") == pytest.approx([0, 0, lift(7.0)])
    recording = sim.run(0.1)
    assert recording["cam"].angle[-1] == sim.angle("cam")
    recording.save(tmp_path / "cam.npz")
    assert lw.Recording.load(tmp_path / "cam.npz")["cam"].angle.tolist() == recording["cam"].angle.tolist()
    recording.plot(path=tmp_path / "cam.png")
    recording.animate(tmp_path / "cam.gif", fps=10, size=(160, 120))
    assert (tmp_path / "cam.png").stat().st_size > 1000 and (tmp_path / "cam.gif").stat().st_size > 1000


def test_a_parameter_is_followed_in_maximal_coordinates_and_refused_in_joint_coordinates():
    world = lw.World()
    disc = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="disc"))
    world.add(BarrelCam(world.ground, disc, at=(0, 0, 0), axis=(0, 0, 1), rise=lw.Parameter(0.2, name="rise"), name="cam"))
    lw.Simulation(world).step(3)
    with pytest.raises(
        lw.LinkworkError, match='BarrelCam "cam": its rise is a Parameter, which joint coordinates do not follow; give a number'
    ):
        lw.Simulation(world, solver="aba", integrator="joint-rk4")


@pytest.mark.parametrize("backwards", [False, True])
def test_shafts_of_a_constant_velocity_joint_turn_at_the_same_rate(backwards):
    """Of two shafts in bearings that lie at an angle, one is driven: a universal joint between them would make the other one
    turn unevenly."""
    bent = 0.6
    out = np.array([np.sin(bent), 0.0, np.cos(bent)])
    world = lw.World(gravity=(0, 0, 0))
    one = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.02), position=(0, 0, -0.5), angular_velocity=(0, 0, 3), name="one"))
    half = np.sin(bent / 2), np.cos(bent / 2)
    two = world.add(
        lw.RigidBody(
            1.0,
            (0.1, 0.1, 0.02),
            position=0.5 * out,
            orientation=(half[1], 0, half[0], 0),
            angular_velocity=3 * out,
            name="two",
        )
    )
    world.add(lw.Hinge(world.ground, one, at=(0, 0, -1), axis=(0, 0, 1), name="input"))
    world.add(lw.Hinge(world.ground, two, at=out, axis=out, name="output"))
    ends = (two, one) if backwards else (one, two)
    world.add(Knuckle(*ends, at=(0, 0, 0), shaft_a=out if backwards else (0, 0, 1), shaft_b=(0, 0, 1) if backwards else out))
    world.add(lw.Drive("input", 3.0))
    for solver in ("tree", "dense"):
        sim = lw.Simulation(world, dt=1e-3, solver=solver)
        for _ in range(5):
            sim.step(80)
            assert sim.rate("output") == pytest.approx(3.0, abs=1e-9)
            assert sim.angle("output") == pytest.approx(sim.angle("input"), abs=1e-9)


def test_a_scene_file_names_it_where_its_package_is_installed(tmp_path):
    """By entry points alone: a file never imports."""
    site = tmp_path / "site"
    (site / "cams-1.0.dist-info").mkdir(parents=True)
    (site / "cams.py").write_text((Path(__file__).parent / "outside" / "barrel_cam.py").read_text())
    (site / "cams-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: cams\nVersion: 1.0\n")
    (site / "cams-1.0.dist-info" / "entry_points.txt").write_text("[linkwork.elements]\nBarrelCam = cams:BarrelCam\n")
    (tmp_path / "cam.yaml").write_text(SCENE)
    (tmp_path / "run.py").write_text(RUN)
    told = {}
    for name, more in (("installed", [str(site)]), ("not", [])):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*more, *filter(None, sys.path)])}
        ran = subprocess.run([sys.executable, tmp_path / "run.py"], env=environment, capture_output=True, text=True, check=True)
        told[name] = ran.stdout.strip()
    assert told["installed"] == "BarrelCam 0.02 True"
    assert told["not"].startswith("FileError") and "BarrelCam" in told["not"]


def test_its_kernels_are_kept_under_the_digest_of_its_file():
    kind = lk.kind_of_joint(cam().find("cam"))
    assert kind.key.startswith("BarrelCam@") and kind.mobilizer.name.startswith("CamMobilizer@")
