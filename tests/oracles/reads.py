"""What a simulation reads, in numpy: poses of bodies, and angles and travels of joints, from the coordinates in its workspace."""

import numpy as np

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
    if node.kind.parts[part].relation.counters:
        value = readout.angle(Ra[None], Rb[None], p, p["turns"].reshape(1, -1))[0]
        return value, np.cross(Ra @ p["ref_a"], Ra @ p["side_a"]) @ (wb - wa)
    axis = Ra @ p["axis_a"]
    (pa, va), (pb, vb) = carried(sim, a, p["on_a"]), carried(sim, b, p["on_b"])
    return axis @ (pb - pa), axis @ (vb - va) + np.cross(wa, axis) @ (pb - pa)
