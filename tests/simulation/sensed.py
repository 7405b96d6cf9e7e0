"""Worlds with sensors, and what numpy makes of a simulation's own reads: the slow twin of all compiled readings."""

import warnings

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from tests.reduced.forests import random_world

AXIS = np.array((0.6, 0.0, 0.8))
FIELD = np.array((0.2, -0.5, 0.1))


def quietly(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **options)


def R_of(sim, frame):
    return np.eye(3) if frame == "ground" else Rotation.from_quat(sim.orientation(frame), scalar_first=True).as_matrix()


def motion(sim, frame):
    """Position, axes, velocity and angular velocity."""
    if frame == "ground":
        return np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)
    return sim.position(frame), R_of(sim, frame), sim.velocity(frame), sim.angular_velocity(frame)


def relative(sim, frame, reference):
    """What each sensor of a frame beside a reference should tell."""
    (x, R, v, w), (x0, R0, v0, w0) = motion(sim, frame), motion(sim, reference)
    q0 = Rotation.from_matrix(R0)
    return {
        lw.FramePositionSensor: R0.T @ (x - x0),
        lw.FrameOrientationSensor: (q0.inv() * Rotation.from_matrix(R)).as_quat(scalar_first=True, canonical=True),
        lw.FrameAxisSensor: R0.T @ R @ AXIS,
        lw.FrameVelocitySensor: R0.T @ (v - v0 - np.cross(w0, x - x0)),
        lw.FrameAngularVelocitySensor: R0.T @ (w - w0),
    }


def alone(sim, frame):
    """What each sensor of one frame should tell."""
    _, R, v, w = motion(sim, frame)
    a = sim.acceleration(frame)
    return {
        lw.GyroSensor: R.T @ w,
        lw.VelocimeterSensor: R.T @ v,
        lw.MagnetometerSensor: R.T @ FIELD,
        lw.FrameAccelerationSensor: a,
        lw.FrameAngularAccelerationSensor: sim.angular_acceleration(frame),
        lw.AccelerometerSensor: R.T @ (a - sim.world.gravity),
    }


def instrumented(world, rng):
    """The world with sensors of all frames on some bodies: returns what they are made of, by name."""
    bodies = [str(body.name) for body in world.bodies if not isinstance(body, lw.LagrangianBody)]
    q = rng.normal(size=4)
    world.add(lw.Frame(bodies[-1], position=rng.normal(size=3), orientation=q / np.linalg.norm(q), name="tool"))
    world.add(lw.Frame(world.ground, position=rng.normal(size=3), orientation=q / np.linalg.norm(q), name="mark"))
    of = {}
    extra = {lw.FrameAxisSensor: {"axis": AXIS}, lw.MagnetometerSensor: {"field": FIELD}}
    for frame, reference in (("tool", bodies[0]), (bodies[0], "mark"), (bodies[-1], "ground"), ("mark", "tool")):
        for kind in (lw.FramePositionSensor, lw.FrameOrientationSensor, lw.FrameAxisSensor, lw.FrameVelocitySensor,
                     lw.FrameAngularVelocitySensor):  # fmt: skip
            made = world.add(kind(frame, reference=reference, **extra.get(kind, {})))
            of[str(made.name)] = kind, frame, reference
    for frame in ("tool", bodies[0], "mark"):
        for kind in (lw.GyroSensor, lw.VelocimeterSensor, lw.MagnetometerSensor, lw.AccelerometerSensor,
                     lw.FrameAccelerationSensor, lw.FrameAngularAccelerationSensor):  # fmt: skip
            made = world.add(kind(frame, **extra.get(kind, {})))
            of[str(made.name)] = kind, frame, None
    return of


def acting(seed, n=5):
    """A tree of rigid bodies with motors, springs, rotors, dampers and gears in its joints: (world, its joints by the bodies that
    they carry). Gears couple a joint with the next one, which may hang on it."""
    rng = np.random.default_rng([seed, n])
    world = random_world(seed, n, floating=0)
    bodies = [world.ground, *world.bodies]
    carried = {max((joint.a, joint.b), key=bodies.index): joint for joint in world.constraints}
    turning = [joint for joint in world.constraints if joint.has_coordinate]
    for joint in turning:
        world.add(lw.JointSpring(joint, rng.uniform(1, 5), rng.uniform(0.1, 1), name=f"spring {joint.name}"))
        world.add(lw.Motor(joint, gear=rng.uniform(1, 3), name=f"motor {joint.name}"))
        if rng.random() < 0.5:
            world.add(lw.Armature(joint, rng.uniform(0.01, 0.1), name=f"rotor {joint.name}"))
    if len(turning) > 1 and seed % 2:
        world.add(lw.Gear(*turning[:2], rng.uniform(0.5, 2), name="gear"))
    if len(turning) > 2:
        tendon = world.add(lw.FixedTendon(turning[:3], rng.normal(size=3), stiffness=3.0, damping=0.3, name="tendon"))
        world.add(lw.Motor(tendon, gear=1.5, name="motor tendon"))
    world.add(lw.Wrench(world.bodies[-1], force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, 0.3), name="push"))
    return world, carried


def beyond(carried, body):
    """The bodies of a tree that hang on a body, itself among them."""
    found = [body]
    for one in found:
        found += [
            child for child, joint in carried.items() if child is not one and one in (joint.a, joint.b) and child not in found
        ]
    return found


def newton_euler(sim, bodies, at):
    """Force, and torque about a point, that bodies need to move as they do under gravity and what pushes them from outside."""
    force, torque = np.zeros(3), np.zeros(3)
    for body in bodies:
        R, w, alpha = R_of(sim, body), sim.angular_velocity(body), sim.angular_acceleration(body)
        arm, inertia = R @ body.com, R @ body.inertia @ R.T
        a = sim.acceleration(body) + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm)) - sim.world.gravity
        force += body.mass * a
        torque += np.cross(sim.position(body) + arm - at, body.mass * a) + inertia @ alpha + np.cross(w, inertia @ w)
        for push in sim.world.forces:
            if isinstance(push, lw.Wrench) and push.body is body:
                load = sim.force(push)
                force -= load.force
                torque -= load.torque + np.cross(load.at - at, load.force)
    return force, torque
