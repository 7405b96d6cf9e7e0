"""What a simulation reads, in numpy: poses of bodies, and angles and travels of joints, from the coordinates in its workspace."""

import numpy as np

from linkwork.elements.bodies.planar import PLANES
from linkwork.model import readout


def poses(sim):
    """Of all bodies, in the order of the world."""
    return readout.poses(sim.model, sim.work, np.arange(len(sim.model.bodies.elements)))


def frame(sim, body):
    """(axes, origin, velocity, spin) of a body's internal frame; the ground's is the world."""
    if body < 0:
        return np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    m = sim.model
    if m.bodies.kinds[body].name == "RigidBody":
        q, v = (sim.work[m.field_of_body(body, name)] for name in ("q", "v"))
        return readout.matrices(q[None, 3:7])[0], q[:3], v[:3], v[3:6]
    pose = readout.poses(m, sim.work, body)
    return readout.matrices(pose.orientation)[0], pose.position[0], pose.velocity[0], pose.angular_velocity[0]


def carried(sim, body, local):
    """Where a point of a body that does not stretch is (internal coordinates), and its velocity."""
    R, x, v, w = frame(sim, body)
    return x + R @ local, v + np.cross(w, R @ local)


def coordinate(sim, joint):
    """(angle or travel, its rate) of a hinge, screw, cylinder or slider."""
    _, node_number, part = sim.model.names[joint.name]
    node = sim.model.nodes[node_number]
    p = readout.numbers(sim.model, sim.work, node_number, part)
    a, b = node.kind.parts[part].arranged(node.ends)
    (Ra, _, _, wa), (Rb, _, _, wb) = frame(sim, a), frame(sim, b)
    if node.kind.parts[part].kind.counters:
        value = readout.angle(Ra[None], Rb[None], p, p["turns"].reshape(1, -1))[0]
        return value, np.cross(Ra @ p["ref_a"], Ra @ p["side_a"]) @ (wb - wa)
    axis = Ra @ p["axis_a"]
    (pa, va), (pb, vb) = carried(sim, a, p["on_a"]), carried(sim, b, p["on_b"])
    return axis @ (pb - pa), axis @ (vb - va) + np.cross(wa, axis) @ (pb - pa)


def accelerations(sim, body):
    """(of the body's `position`, angular) from the accelerations of its components, which were solved for."""
    m = sim.model
    x, kind = sim.work[m.field_of_body(body, "x")], m.bodies.kinds[body]
    if kind.name.startswith("Lagrangian"):
        _, J, _, bias = readout.located(m, sim.work, body, np.zeros(3))
        return J @ x + bias, np.zeros(3)
    if kind.name == "RigidBody":
        pose = readout.poses(m, sim.work, body)
        arm, w = pose.position[0] - sim.work[m.field_of_body(body, "q")][:3], pose.angular_velocity[0]
        return x[:3] + np.cross(x[3:], arm) + np.cross(w, np.cross(w, arm)), x[3:]
    if kind.name.startswith("Planar"):
        first, second, normal = PLANES[kind.name.split("-")[1]]
        linear, angular = np.zeros(3), np.zeros(3)
        linear[[first, second]] = x[:2]
        angular[normal] = x[2] if len(x) == 3 else 0.0
        return linear, angular
    return x[:3], x[3:6] if kind.name == "ScalableBody" else np.zeros(3)


def wrench(model, work, body, generalised, at):
    """A generalised force on a body as (force, torque about the world point `at`)."""
    kind = model.bodies.kinds[body]
    q = work[model.field_of_body(body, "q")]
    if kind.name == "RigidBody":
        force, torque, about = generalised[:3], generalised[3:6], q[:3]
    elif kind.name == "ScalableBody":
        force, torque, about = generalised[:3], generalised[3:6], q[:3]
    elif kind.name == "AffineBody":
        F, Q = q[3:].reshape(3, 3), generalised[3:].reshape(3, 3)
        moment = Q @ F.T
        axial = np.array([moment[2, 1] - moment[1, 2], moment[0, 2] - moment[2, 0], moment[1, 0] - moment[0, 1]])
        force, torque, about = generalised[:3], axial, q[:3]
    elif kind.name == "Particle":
        force, torque, about = generalised, np.zeros(3), at
    else:
        first, second, normal = PLANES[kind.name.split("-")[1]]
        force, torque, about = np.zeros(3), np.zeros(3), np.zeros(3)
        force[[first, second]], about[[first, second]] = generalised[:2], q[:2]
        if kind.nv == 3:
            torque[normal] = generalised[2]
        else:
            about = at
        about = about.copy()
        about[normal] = at[normal]
    return np.array(force, dtype=float), np.asarray(torque - np.cross(at - about, force), dtype=float)
