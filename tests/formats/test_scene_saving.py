"""Worlds that are saved and loaded are the same: every field, every bit, and the steps that they make."""

import copy
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.formats.scene import schema
from linkwork.formats.scene import write as writing
from tests.formats.worlds import differences

SMALL = {"hair": {"strands": 2, "links": 3}, "chain": {"n": 5}, "plant": {"depth": 2}}


def again(world, folder, name="world.yaml"):
    return lw.load(lw.save(world, folder / name))


def numbers_only(world):
    """The world without what its scene left as tuples in the place of arrays."""
    for element in world.elements:
        for field, value in vars(element).items():
            if isinstance(value, tuple) and value and all(isinstance(x, (int, float)) for x in value):
                setattr(element, field, np.array(value, dtype=float))
    return world


@pytest.mark.parametrize("name", lw.scenes.names())
def test_built_in_scenes_come_back(name, tmp_path):
    world = numbers_only(lw.scenes.get(name, **SMALL.get(name, {})))
    loaded = again(world, tmp_path)
    assert differences(world, loaded) == []
    assert differences(world, again(loaded, tmp_path, "twice.yaml")) == []
    assert (tmp_path / "world.yaml").read_bytes() == (tmp_path / "twice.yaml").read_bytes()


@pytest.mark.parametrize("name", ["slider-crank", "governor", "hand", "plant", "stewart", "mixed", "bead-on-wire", "skate"])
def test_steps_of_what_came_back_have_the_same_bits(name, tmp_path):
    scene = lw.scenes.find(name)
    world = scene(**SMALL.get(name, {}))
    sims = [lw.Simulation(each, dt=scene.dt, **scene.options) for each in (world, again(world, tmp_path))]
    for sim in sims:
        sim.step(2)
    assert sims[0].state.values.tobytes() == sims[1].state.values.tobytes()


def mechanism():
    """Something of every kind that a file can hold, with functions, Parameters and arrays of them."""
    rng = np.random.default_rng(7)
    world = lw.World(gravity=(0.1, -0.0, -9.7))
    k, twist = lw.Parameter(20.0, name="k"), lw.Parameter(1.5, name="twist about z")

    def turn():
        q = rng.normal(size=4)
        return q / np.linalg.norm(q)

    boxes = [world.add(lw.RigidBody(rng.uniform(1, 2), shape=lw.Box(0.1, 0.2, 0.3), position=rng.normal(size=3), orientation=turn(),
                                    velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3), name=f"box {j}: {{}}"))
             for j in range(12)]  # fmt: skip
    world.add(lw.RigidBody(1.0, np.diag([1, 2, 2.5]) + 0.1, com=(0.1, 0, 0), name="skew"))
    world.add(lw.RigidBody(shape=lw.ConvexHull(rng.normal(size=(20, 3))), density=300.0, name="hull", position=(9, 9, 9)))
    flat = world.add(lw.PlanarBody(1.0, 0.1, position=(3, 0.5), angle=0.3, angular_velocity=-0.2, name="flat"))
    dot = world.add(lw.PlanarParticle(0.1, position=(0, 1), plane="xy", name="yes"))
    bead = world.add(lw.Particle(0.2, position=(1, 0, 0), name="null"))
    jelly = world.add(
        lw.ScalableBody(shape=lw.Sphere(0.1), density=1000, stretch=(1, 1, 1.2), stiffness=5.0, stretch_rate=(0, 0, 1))
    )
    world.add(
        lw.AffineBody(
            mass=1.0, shape=lw.Ellipsoid(1, 1, 2), stiffness=10.0, deformation=np.eye(3) + 0.01 * rng.normal(size=(3, 3))
        )
    )
    beam = world.add(lw.bending_beam(2.0, 1.0, 40.0, damping=20.0, name="beam"))
    world.add(lw.squashing_ball(0.5, squash=0.8))
    world.add(lw.double_pendulum(angles=(0.3, 0.5), name="arms"))
    world.add(lw.LagrangianBody(lambda u: ((u[0], 0, 0), (u[0], 0, 1)), volumes=(1.0, 2.0), density=3.0, coordinates=(0,)))
    g = world.ground
    axle = world.add(lw.Hinge(g, boxes[0], on_b=rng.normal(size=3), axis_b=rng.normal(size=3), name="axle"))
    rail = world.add(lw.Slider(boxes[0], boxes[1], at=rng.normal(size=3), axis=rng.normal(size=3)))
    ball = world.add(lw.Ball(boxes[1], boxes[2], on_a=(0, 0, 0.1), on_b=(0, -0.0, 0)))
    cross = world.add(lw.Universal(boxes[2], boxes[3], at=(0, 0, 0), first=(0.6, 0.8, 1e-4), second=(-0.8, 0.6, 0)))
    tube = world.add(lw.Cylindrical(boxes[3], boxes[4], at=(0, 0, 1), axis=rng.normal(size=3)))
    table = world.add(lw.Planar(boxes[4], boxes[5], at=(0, 0, 1), normal=rng.normal(size=3)))
    world.add(lw.Weld(boxes[5], boxes[6]))
    world.add(lw.Screw(boxes[6], boxes[7], at=(0, 0, 1), axis=rng.normal(size=3), pitch=k))
    world.add(lw.Distance(g, bead, k, on_a=rng.normal(size=3)))
    world.add(lw.PointOnLine(g, boxes[8], at=(0, 0, 0), axis=rng.normal(size=3)))
    world.add(lw.PointOnPlane(g, boxes[8], normal_a=rng.normal(size=3), on_a=(0, 0, 1)))
    world.add(lw.PointOnCurve(g, bead, lambda p: (p[0] ** 2 + p[2] ** 2 - 1, p[1]), name="hoop"))
    world.add(lw.PointOnCurve(g, boxes[9], lambda s: (lw.cos(s), lw.sin(s), 0.2 * s), start=0.1, name="helix"))
    world.add(lw.PointOnSurface(g, boxes[9], lambda u: (u[0], u[1], u[0] * u[1]), start=(0, 0), name="saddle"))
    world.add(
        lw.Tangent(g, boxes[9], lambda p: p[2], lambda u: (lw.sin(u[0]), u[1], lw.cos(u[0])), start_b=(0.1, 0.2), name="touch")
    )
    world.add(lw.Rolling(g, boxes[10], 0.3, axis=(0, 1, 0.1)))
    world.add(lw.Skate(boxes[10], rng.normal(size=3), at=(1, 1, 1)))
    world.add(lw.Drive(axle, lambda t: 2 * t + k))
    world.add(lw.Drive(rail, k))
    world.add(lw.Motion(boxes[11], lambda t: (0.1 * t, 0, lw.where(t < 1, t, 1)), at=(0, 0, 0.2), name="path"))
    world.add(
        lw.Constraint(
            boxes[0], boxes[1], boxes[2], lambda a, b, c, t: a.position[2] + 2 * b.position[2] + c.position[2] * k, name="rope"
        )
    )
    world.add(lw.Constraint(boxes[0], boxes[1], lambda a, w, t: a.point((1, 0, 0))[2], name="level",
                            force=lambda a, w, t: w.spin((0, 1, 0)) - a.spin((0, 1, 0))))  # fmt: skip
    world.add(lw.VelocityConstraint(boxes[3], lambda b, t: b.angular_velocity - (0, 0, t), name="steered"))
    world.add(lw.Spring(g, bead, k, rest=0.2, damping=0.1, on_a=(0, 0, 1)))
    world.add(lw.Damper(boxes[0], boxes[1], 3.0))
    world.add(lw.Drag(boxes[0], quadratic=0.02, angular=k))
    world.add(lw.Wrench(boxes[0], force=(0, k, 1), torque=lambda t: (0, 0, t), frame="body"))
    world.add(lw.Motor(axle, kind="position", kp=k, kd=0.1, limit=20.0, name="drive"))
    world.add(lw.Force(boxes[0], lambda s, t: -0.4 * lw.norm(s.velocity) * s.velocity, at=(0, 0, 0.1), name="wind"))
    world.add(lw.Force(boxes[0], boxes[1], lambda a, b, t: (b.position - a.position) * twist, on_a=(1, 0, 0), name="pull"))
    world.add(lw.Force(boxes[0], lambda b, t: np.sin(b.position), torque=True, name="turn"))
    world.add(lw.JointSpring(ball, (5, 5, twist), rest=turn(), damping=0.1))
    world.add(lw.JointSpring(table, 1.0, travel_stiffness=2.0))
    world.add(lw.TorsionSpring(boxes[0], boxes[5], 30.0, rest=turn()))
    world.add(lw.JointLimit(ball, cone=0.8, twist=(-0.3, 0.3), axis=rng.normal(size=3), stiffness=200.0))
    world.add(lw.JointLimit(cross, (-0.1, -0.2), (0.3, k), stiffness=3.0))
    times = np.sort(rng.uniform(0, 3, 9))
    world.add(
        lw.Follow(
            boxes[0],
            lw.Trajectory(times, rng.normal(size=(9, 3)), [turn() for _ in times], gap=9.0),
            stiffness=200.0,
            angular_stiffness=1.0,
        )
    )
    world.add(lw.Follow(boxes[1], damping=10.0, name="live"))
    world.add(lw.ContactSpring(g, boxes[0], 1e4, plane=(rng.normal(size=3), rng.normal(size=3)), radius=0.01))
    world.add(lw.ContactSpring(boxes[1], bead, 1e4, sphere=((0, 0, 0.1), 0.05), friction=0.3))
    world.add(lw.Collider(g, lw.Plane(), friction=0.8, priority=2, dimensions=4, name="floor"))
    world.add(lw.Collider(g, lw.HeightField(rng.normal(size=(3, 4)), size=(2, 2)), group="ground ones"))
    world.add(lw.Collider(boxes[2], lw.Capsule(0.1, 0.2), orientation=turn()))
    world.add(lw.Contact(friction=0.3, restitution=0.1, bounce_above=0.0, combine="larger"))
    world.add(lw.NoContact(boxes[1], boxes[3]))
    world.add(lw.Rope(g, bead, length=3.0))
    world.add(lw.HardLimit(axle, -1.0, 1.0))
    world.add(lw.HardLimit(tube, twist=(-1, 1)))
    world.add(lw.Inequality(boxes[0], bead, lambda a, b, t: k + 100 - a.position[2] + b.position[2], name="above"))
    world.add(
        lw.Inequality(bead, lambda b, t: b.position[2] + 100, slip=lambda b, t: b.velocity[0], friction=0.2, restitution=0.1)
    )
    world.add(lw.Visual(boxes[0], lw.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), color=(1, 0.5, 0, 1)))
    world.add(lw.Frame(boxes[0], rng.normal(size=3), turn(), name="tool"))
    world.add(lw.Gear(axle, rail, -2.0, offset=0.1))
    world.add(lw.Armature(axle, k))
    world.add(lw.JointFriction(axle, 0.5))
    world.add(
        lw.Cable([(g, (0, 0, 1)), (boxes[0], rng.normal(size=3)), (boxes[4], (0, 0, 0))], k, rest=(0.1, twist), name="tendon")
    )
    world.add(lw.Cable([(boxes[0], (0, 0, 1)), (g, rng.normal(size=3))], 200.0))
    world.add(lw.FixedTendon((axle, rail), (0.5, k), stiffness=twist, rest=(-0.1, 0.2), name="sum"))
    world.add(lw.Coupling(("sum", axle), (1.0, -0.5), value=k))
    world.add(lw.Motor("sum", "general", gain=(1, k, 0), limit=(-1, 2), filter=0.1, name="along"))
    world.add(lw.Motor("tool", gear=rng.normal(size=6)))
    add_sensors(world, rng)
    world.keyframes["home"] = lw.Keyframe(positions={"axle": 0.25, "skew": [0, 0, 1, 1, 0, 0, 0]}, controls={"drive": 1.0})
    world.simulate = {"seconds": 2.0, "dt": 1e-3, "solver": "tree", "record_every": 0.01}
    assert {flat.name, dot.name, jelly.name, beam.name} <= {body.name for body in world.bodies}
    return world


def add_sensors(world, rng):
    """One of every kind, with all that they can be given."""
    box, other = [body for body in world.bodies if isinstance(body, lw.RigidBody)][:2]
    slow = {"rate": 50.0, "delay_steps": 3, "noise": 0.1, "seed": 7, "cutoff": 2.0}
    for kind in (lw.GyroSensor, lw.VelocimeterSensor, lw.AccelerometerSensor, lw.FrameAccelerationSensor,
                 lw.FrameAngularAccelerationSensor):  # fmt: skip
        world.add(kind("tool", noise=(0.1, 0.0, 0.2), delay=0.01))
    for kind in (lw.FramePositionSensor, lw.FrameOrientationSensor, lw.FrameVelocitySensor, lw.FrameAngularVelocitySensor):
        world.add(kind("tool", reference=other))
    world.add(lw.FrameAxisSensor(box, rng.normal(size=3)))
    world.add(lw.MagnetometerSensor(box, rng.normal(size=3)))
    world.add(lw.JointPositionSensor("axle", 0.3, **slow))
    world.add([lw.JointVelocitySensor("axle"), lw.JointTorqueSensor("axle", **slow)])
    world.add([lw.ActuatorPositionSensor("drive"), lw.ActuatorVelocitySensor("drive"), lw.ActuatorForceSensor("drive")])
    world.add(
        [lw.ForceTorqueSensor("axle", "tool"), lw.ForceSensor("axle"), lw.TorqueSensor("axle", body=world.find("axle").b)]
    )
    world.add([lw.CableLengthSensor("tendon"), lw.CableVelocitySensor("tendon"), lw.ClockSensor(rate=1 / 3)])
    world.add([lw.CenterOfMassSensor([box, other]), lw.CenterVelocitySensor([box]), lw.AngularMomentumSensor([box, other])])
    world.add(
        [lw.TouchSensor("tool", lw.Sphere(0.1)), lw.TouchSensor(box), lw.ContactForceSensor(box, "floor", reference="tool")]
    )
    world.add(lw.RangefinderSensor("tool", rng.normal(size=3), reach=3.0))


def test_every_kind_comes_back(tmp_path):
    world = mechanism()
    missing = {name for name, kind in schema.kinds().items() if isinstance(kind.make, type)} - {
        type(e).__name__ for e in world.elements
    }
    assert not missing, f"the mechanism has no {', '.join(sorted(missing))}"
    loaded = again(world, tmp_path)
    assert differences(world, loaded) == []
    used = {id(p) for element in loaded.elements for field in element.FUNCTIONS if callable(getattr(element, field))
            for p in element.traced(field).parameters}  # fmt: skip
    assert used <= {id(p) for p in loaded.parameters.values()}, "functions and fields share their Parameters"


ROBOTS = sorted(path for path in (Path(__file__).parent / "seeds").iterdir() if path.suffix in (".urdf", ".xml"))


@pytest.mark.parametrize("path", ROBOTS, ids=lambda path: path.name)
def test_robots_come_back_from_scene_files(path, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        world = lw.load(path, **({"meshes": "as found"} if path.suffix == ".urdf" else {}))
    assert differences(world, again(world, tmp_path)) == []


def test_copies_and_pickles_are_saved_as_their_originals(tmp_path):
    world = mechanism()
    assert differences(world, again(copy.deepcopy(world), tmp_path)) == []


def test_worlds_that_were_assembled_come_back_with_where_they_were_built(tmp_path):
    world = lw.World()
    arm = world.add(lw.RigidBody(1.0, (1, 1, 1), position=(1.3, 0, 0.2), name="arm {1}"))
    world.add(lw.Hinge(world.ground, arm, on_a=(0, 0, 0), on_b=(-1, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Distance(world.ground, arm, name="rod", on_a=(0, 0, 3)))
    world.assemble()
    loaded = again(world, tmp_path)
    assert differences(world, loaded) == []
    assert world.find("axle").built and loaded.find("axle").built.keys() == world.find("axle").built.keys()
    assert lw.Simulation(world).drift() == lw.Simulation(loaded).drift()


def test_parameters_keep_names_that_formulas_cannot_speak(tmp_path):
    world = lw.World()
    ball = world.add(lw.Particle(1.0, position=(1, 0, 0)))
    odd, short, none = lw.Parameter(2.0, name="spring of the door"), lw.Parameter(3.0, name="t"), lw.Parameter(4.0)
    world.add(lw.Spring(world.ground, ball, odd, damping=short))
    world.add(lw.Force(ball, lambda b, t: -odd * short * none * b.position))
    loaded = again(world, tmp_path)
    assert differences(world, loaded) == []
    sim = lw.Simulation(loaded)
    sim.set("spring of the door", 0.0)
    assert np.allclose(sim.acceleration(loaded.bodies[0]), (0, 0, -9.81))


@pytest.mark.parametrize(
    "name", ["no", "null", "5", "1e3", "a: b", "- x", "{i}", "}", "#x", "é€", "x\ny", "tab\t", '"', "\\", " x ", "*a", "&a", "!a", "%", "@", "`", "a\u2028b", "\x07", "😀", "a" * 500, "true", "~", "on/off", "x y-z", "=", "<<"]
)  # fmt: skip
def test_names_of_every_sort_come_back(name, tmp_path):
    world = lw.World()
    body = world.add(lw.Particle(1.0, position=(0, 0, 1), name=name))
    world.add(lw.Distance(world.ground, body))
    world.keyframes[name] = lw.Keyframe(positions={name: [0, 0, 1]})
    assert differences(world, again(world, tmp_path)) == []


@pytest.mark.parametrize(
    "value", [0.1, -0.0, 1e-308, 5e-324, 1.7976931348623157e308, 1 / 3, 1e22, 123456789012345680.0, -1e15, 2.0**53 + 2]
)
def test_numbers_come_back_to_the_bit(value, tmp_path):
    world = lw.World()
    world.add(lw.Particle(1.0, position=(value, 0, 1)))
    assert again(world, tmp_path).bodies[0].position.tobytes() == world.bodies[0].position.tobytes()


def test_nothing_is_half_written(tmp_path, monkeypatch):
    path = tmp_path / "world.yaml"
    lw.save(lw.scenes.get("pendulum"), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(lw.FileError, match="it cannot be written \\(No space left on device\\)"):
            lw.save(lw.scenes.get("chain", n=3), path)
    assert path.read_bytes() == before
    world = lw.scenes.get("pendulum")
    world.bodies[0].position[0] = np.inf
    with pytest.raises(
        lw.FileError, match="there is the number inf, which no file holds; give finite numbers; nothing is written"
    ):
        lw.save(world, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["world.yaml"]
    with pytest.raises(lw.FileError, match=r"nowhere.* does not exist; make it first"):
        lw.save(lw.scenes.get("pendulum"), tmp_path / "nowhere" / "x.yaml")


def test_elements_of_others_are_refused(tmp_path):
    class Mine(lw.Particle):
        pass

    world = lw.World()
    world.add(Mine(1.0, name="it"))
    with pytest.raises(lw.FileError, match='Mine "it": scene files have no such kind'):
        lw.save(world, tmp_path / "x.yaml")


def test_formulas_are_saved_as_they_were_written(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text('linkwork: 1\nparameters: {k: 2}\nelements:\n  - Particle: {mass: 1, name: p}\n'
                    '  - Force: {bodies: [p], function: "lambda q, t: -k * q.position"}\n')  # fmt: skip
    assert 'function: "lambda q, t: -k * q.position"' in writing.text(lw.load(path))
