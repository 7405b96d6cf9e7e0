"""Sensors: what they tell against the simulation's own reads in numpy, Newton's and Euler's equations, and closed forms."""

import numpy as np
import pytest

import linkwork as lw
from tests.simulation.sensed import (
    R_of,
    acting,
    alone,
    beyond,
    instrumented,
    newton_euler,
    quietly,
    relative,
)
from tests.simulation.worlds import crank_and_rod
from tests.solvers.forests import forest

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def same(found, expected, what):
    if len(expected) == 4 and found @ expected < 0:  # a quaternion
        expected = -expected
    np.testing.assert_allclose(found, expected, **CLOSE, err_msg=str(what))


@pytest.mark.parametrize("seed", [1, 4])
def test_sensors_of_frames_tell_what_numpy_makes_of_reads(seed):
    world = forest(seed, loops=seed % 2)
    of = instrumented(world, np.random.default_rng(seed))
    sim = quietly(world, dt=1e-3)
    for steps in (0, 3):
        sim.step(steps)
        for name, (kind, frame, reference) in of.items():
            expected = (alone(sim, frame) if reference is None else relative(sim, frame, reference))[kind]
            if not (kind in (lw.FrameAngularAccelerationSensor,) and np.isnan(expected).any()):
                same(sim.sensors[name], expected, (name, kind, frame, reference))


@pytest.mark.parametrize(("solver", "seeds"), [("tree", (1, 5)), ("implicit", (3,)), ("aba", (4,))])
def test_force_torque_is_what_newton_and_euler_ask_for(solver, seeds):
    for seed in seeds:
        world, carried = acting(seed)
        if solver == "aba":
            for gear in [c for c in world.constraints if isinstance(c, lw.Gear)]:
                world.remove(gear)
        tool = {body: world.add(lw.Frame(body, position=(0.1, 0.2, 0.3), orientation=(0.5, 0.5, 0.5, 0.5))) for body in carried}
        for body, joint in carried.items():
            world.add(lw.ForceTorqueSensor(joint, body=body, name=f"plain {body.name}"))
            world.add(lw.ForceTorqueSensor(joint, tool[body], body=body, name=f"tool {body.name}"))
            world.add(lw.ForceSensor(joint, tool[body], body=body, name=f"force {body.name}"))
            world.add(lw.TorqueSensor(joint, tool[body], body=body, name=f"torque {body.name}"))
        sim = quietly(world, dt=1e-3, solver=solver)
        for motor in [f for f in world.forces if isinstance(f, lw.Motor)]:
            sim.control[motor.name] = 2.0
        for steps in (0, 3):
            sim.step(steps)
            for body, joint in carried.items():
                at = sim.reaction(joint).at
                force, torque = newton_euler(sim, beyond(carried, body), at)
                R, scale = R_of(sim, body), 1 + np.abs(force).max() + np.abs(torque).max()
                close = {"rtol": 0, "atol": 1e-9 * scale}
                np.testing.assert_allclose(sim.sensors[f"plain {body.name}"], [*R.T @ force, *R.T @ torque], **close)
                R, place = R_of(sim, tool[body]), sim.position(tool[body])
                there = [*R.T @ force, *R.T @ (torque + np.cross(at - place, force))]
                np.testing.assert_allclose(sim.sensors[f"tool {body.name}"], there, **close)
                both = [*sim.sensors[f"force {body.name}"], *sim.sensors[f"torque {body.name}"]]
                np.testing.assert_array_equal(both, sim.sensors[f"tool {body.name}"])


def test_what_the_other_body_of_a_joint_feels_is_the_opposite():
    world = crank_and_rod()
    on_rod = world.add(lw.ForceTorqueSensor("pin", world.ground, name="on rod"))
    on_crank = world.add(lw.ForceTorqueSensor("pin", world.ground, body="crank", name="on crank"))
    on_ground = world.add(lw.ForceTorqueSensor("axle", world.ground, body="ground", name="on ground"))
    weld = world.add(lw.ForceTorqueSensor("axle", world.ground, name="on its second"))
    sim = quietly(world)
    sim.step(10)
    np.testing.assert_allclose(sim.sensors[on_rod], -sim.sensors[on_crank], atol=1e-10)
    np.testing.assert_array_equal(sim.sensors[on_ground], -sim.sensors[weld])


@pytest.mark.parametrize("solver", ["tree", "implicit", "aba"])
def test_joints_and_motors(solver):
    for seed in range(1):
        world, _ = acting(seed)
        for gear in [c for c in world.constraints if isinstance(c, lw.Gear)]:
            world.remove(gear)
        joints = [c for c in world.constraints if isinstance(c, lw.Joint) and not isinstance(c, lw.Weld)]
        for joint in joints:
            world.add(
                [lw.JointPositionSensor(joint, name=f"q {joint.name}"), lw.JointVelocitySensor(joint, name=f"v {joint.name}")]
            )
        motors = [f for f in world.forces if isinstance(f, lw.Motor) and isinstance(f.joint, lw.Joint)]
        tendon = world.add(lw.FixedTendon([m.joint for m in motors[:2]], (0.5, -2.0), name="sum"))
        pull = world.add(lw.Motor(tendon, gear=3.0, name="pull"))
        world.add([lw.CableLengthSensor(tendon, 0.3, name="length"), lw.CableVelocitySensor(tendon, name="rate"),
                   lw.ActuatorForceSensor(pull, name="pulls"), lw.ActuatorPositionSensor(pull, 0.1, name="pulled"),
                   lw.ActuatorVelocitySensor(pull, name="pulling")])  # fmt: skip
        for motor in motors:
            world.add(
                [
                    lw.ActuatorForceSensor(motor, name=f"u {motor.name}"),
                    lw.ActuatorPositionSensor(motor, name=f"x {motor.name}"),
                    lw.ActuatorVelocitySensor(motor, name=f"s {motor.name}"),
                    lw.JointTorqueSensor(motor.joint, name=f"t {motor.name}"),
                ]
            )
        sim = quietly(world, dt=1e-3, solver=solver)
        for k, motor in enumerate(motors):
            sim.control[motor.name] = 1.0 + k
        sim.control["pull"] = -4.0
        sim.step(5)
        names, rates = [n.of for n in sim.q_names], [n.of for n in sim.qd_names]
        for joint in joints:
            np.testing.assert_array_equal(sim.sensors[f"q {joint.name}"], sim.q[[n == joint.name for n in names]])
            np.testing.assert_array_equal(sim.sensors[f"v {joint.name}"], sim.qd[[n == joint.name for n in rates]])
        sum_of = [sum(c * read(m.joint) for c, m in zip((0.5, -2.0), motors, strict=False)) for read in (sim.angle, sim.rate)]
        assert sim.sensors["length"] == pytest.approx(sum_of[0] + 0.3) and sim.sensors["rate"] == pytest.approx(sum_of[1])
        assert sim.sensors["pulled"] == pytest.approx(3 * sum_of[0] + 0.1) and sim.sensors["pulling"] == pytest.approx(
            3 * sum_of[1]
        )
        assert sim.sensors["pulls"] == pytest.approx(-4.0)
        for k, motor in enumerate(motors):
            assert sim.sensors[f"u {motor.name}"] == pytest.approx(1.0 + k, rel=1e-12)
            by_tendon = dict(zip([m.name for m in motors[:2]], (0.5, -2.0), strict=False)).get(motor.name, 0.0) * 3.0 * -4.0
            assert sim.sensors[f"t {motor.name}"] == pytest.approx((1.0 + k) * motor.gear + by_tendon, rel=1e-12)
            assert sim.sensors[f"x {motor.name}"] == pytest.approx(motor.gear * sim.angle(motor.joint), rel=1e-12)
            assert sim.sensors[f"s {motor.name}"] == pytest.approx(motor.gear * sim.rate(motor.joint), rel=1e-12)


def test_a_limited_servo_tells_what_it_does_within_its_limit_and_an_offset_is_added():
    world = lw.scenes.get("double-pendulum")
    first = world.constraints[0]
    world.add(
        [lw.Motor(first, "position", kp=100.0, kd=1.0, limit=2.0, name="one"), lw.Motor(first, kind="torque", name="two")]
    )
    world.add([lw.ActuatorForceSensor("one", name="u"), lw.JointTorqueSensor(first, name="both"),
               lw.JointPositionSensor(first, 0.25, name="encoder")])  # fmt: skip
    sim = quietly(world)
    sim.control["one"], sim.control["two"] = 3.0, 0.5
    assert sim.sensors["u"].tolist() == [2.0] and sim.sensors["both"].tolist() == [2.5]
    assert sim.sensors["encoder"][0] == sim.angle(first) + 0.25


def test_cables():
    world = lw.World(gravity=(0, 0, 0))
    box = world.add(lw.RigidBody(1.0, (1, 1, 1), position=(0, 0, 2), velocity=(0, 0.3, 1.0), angular_velocity=(0, 1.0, 0)))
    bead = world.add(lw.Particle(1.0, position=(3, 0, 2), velocity=(0, 0, 2)))
    cable = world.add(lw.Cable([("ground", (0, 0, 0)), (box, (0.5, 0, 0)), (bead, (0, 0, 0))], name="cable"))
    world.add([lw.CableLengthSensor(cable, name="length"), lw.CableVelocitySensor(cable, name="rate")])
    sim = quietly(world, dt=1e-3)
    p, v = np.array((0.5, 0, 2.0)), np.array((0, 0.3, 1.0 - 0.5))
    way, speed = np.array((3, 0, 2.0)) - p, np.array((0, 0, 2.0)) - v
    last, first = np.linalg.norm(way), np.linalg.norm(p)
    assert sim.sensors["length"] == pytest.approx(first + last)
    assert sim.sensors["rate"] == pytest.approx(way @ speed / last + p @ v / first)
    before = sim.sensors.values
    sim.step(1)
    after = sim.sensors.values
    assert (after - before)[0] / 1e-3 == pytest.approx((after + before)[1] / 2, rel=1e-5)


def test_several_bodies_together():
    for seed in range(2):
        world, _ = acting(seed)
        world.add(lw.Particle(0.7, position=(1, 2, 3), velocity=(1, 0, 2)))
        bodies = world.bodies[1:]
        made = world.add([lw.CenterOfMassSensor(bodies), lw.CenterVelocitySensor(bodies), lw.AngularMomentumSensor(bodies)])
        sim = quietly(world, dt=1e-3)
        sim.step(2)
        mass = sum(b.mass for b in bodies)
        arms = [R_of(sim, b) @ getattr(b, "com", np.zeros(3)) for b in bodies]
        x = [sim.position(b) + arm for b, arm in zip(bodies, arms, strict=True)]
        v = [sim.velocity(b) + np.cross(sim.angular_velocity(b), arm) for b, arm in zip(bodies, arms, strict=True)]
        c = sum(b.mass * p for b, p in zip(bodies, x, strict=True)) / mass
        u = sum(b.mass * s for b, s in zip(bodies, v, strict=True)) / mass
        spin = sum(b.mass * np.cross(p - c, s - u) for b, p, s in zip(bodies, x, v, strict=True))
        for b in bodies:
            R = R_of(sim, b)
            spin = spin + (R @ b.inertia @ R.T @ sim.angular_velocity(b) if isinstance(b, lw.RigidBody) else 0.0)
        for sensor, expected in zip(made, (c, u, spin), strict=True):
            np.testing.assert_allclose(sim.sensors[sensor], expected, **CLOSE)


def boxes_on_floor():
    """Two boxes, one on the other, on the floor: 3 kg at 10 m/s^2 in all."""
    world = lw.World(gravity=(0, 0, -10))
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.RigidBody(2.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.05), name="low"))
    world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.15), name="high"))
    world.add(lw.Rope("low", "high", 1.0, on_a=(0, 0, 0.05), on_b=(0.3, 0, 0), name="rope"))
    world.add(lw.Contact())
    return world


def test_touch_and_contact_forces():
    world = boxes_on_floor()
    world.add(lw.Frame("low", position=(0, 0, -0.05), orientation=(0, 1, 0, 0), name="sole"))
    world.add([lw.TouchSensor("low", name="all"), lw.TouchSensor("high", name="high touch"),
               lw.TouchSensor("sole", lw.Box(0.2, 0.2, 0.01), name="below"),
               lw.TouchSensor("sole", lw.Sphere(0.01), name="nowhere"),
               lw.CableLengthSensor("rope", name="rope length"), lw.ContactForceSensor("low", name="sum"), lw.ContactForceSensor("low", "high", name="from above"),
               lw.ContactForceSensor("low", "floor", reference="sole", name="from below"),
               lw.ContactForceSensor("floor", name="on floor")])  # fmt: skip
    sim = quietly(world, dt=0.01)
    assert not sim.sensors["all"].any()  # before the first step
    sim.step(20)
    told = {name: sim.sensors[name].round(3).tolist() for name in sim.sensors.names}
    assert told["rope length"] == [round(float(np.hypot(0.3, 0.05)), 3)]
    assert told["all"] == [40.0] and told["high touch"] == [10.0] and told["below"] == [30.0] and told["nowhere"] == [0.0]
    np.testing.assert_allclose([told["sum"], told["from above"], told["from below"], told["on floor"]],
                               [[0, 0, 20], [0, 0, -10], [0, 0, -30], [0, 0, -30]], atol=2e-3)  # fmt: skip


def test_rangefinders_see_what_can_be_touched():
    world = boxes_on_floor()
    world.add(lw.Frame("high", position=(0, 0, 0.3), orientation=(0, 1, 0, 0), name="eye"))
    eye = world.add(lw.Frame(world.ground, position=(0, 0, 1), name="lamp"))
    world.add([lw.RangefinderSensor("eye", name="own body unseen"), lw.RangefinderSensor(eye, (0, 0, -1), name="down"),
               lw.RangefinderSensor(eye, name="up"), lw.RangefinderSensor(eye, (0, 0, -1), reach=0.5, name="short"),
               lw.RangefinderSensor(eye, (1, 0, -1), cutoff=1.2, name="aslant")])  # fmt: skip
    sim = quietly(world, dt=0.01)
    found = {name: sim.sensors[name][0] for name in sim.sensors.names}
    expected = {"own body unseen": 0.35, "down": 0.8, "up": -1.0, "short": -1.0, "aslant": 1.2}
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_array_its_names_units_and_rates():
    world = crank_and_rod()
    world.add([lw.ForceTorqueSensor("pin", name="wrist"), lw.ClockSensor(rate=50, name="clock")])
    sim = quietly(world, dt=1e-3)
    told = sim.sensors
    assert len(told) == 7 and told.names == ("wrist", "clock") and told.slices["clock"] == slice(6, 7)
    assert told.units == ("N",) * 3 + ("N m",) * 3 + ("s",) and told.rates == {"wrist": 1000.0, "clock": 50.0}
    assert str(told.channels[4]) == "wrist: torque y, N m"
    before = told.values
    np.testing.assert_array_equal(np.asarray(told), before)
    assert not before.flags.writeable and not told["wrist"].flags.writeable and isinstance(told[6], float)
    kept = before.copy()
    sim.step(30)
    assert (before == kept).all() and not (sim.sensors.values == kept).all()
    assert lw.Simulation(crank_and_rod()).sensors.values.shape == (0,)
