"""Every force law, straight from its definition, on poses (tests/oracles/poses.py); and what it does to the bodies.

LOADS[name](A, B, element, t, command) gives (on, kind, where, vector): on 0 or 1 for A or B, kind "force" at the point `where`
(as built) or "torque". `generalised` turns them into forces on the velocity components of the two bodies.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from tests.oracles.poses import PLANE, Ground, Placed, frame, quaternion_matrix, rate, skew, turn
from tests.oracles.residuals import Body, apart, world_axis, world_point


def plane_of(body):
    first, second, normal = PLANE[body.kind.partition("-")[2]]
    return np.eye(3)[:, [first, second]], np.eye(3)[normal]


def point_jacobian(body, built):
    """(3, nv): the velocity of a material point, named by where it was as built."""
    if isinstance(body, Ground):
        return np.zeros((3, 0))
    name, (x, F, R) = body.kind.partition("-")[0], frame(body.kind, body.q)
    r = body.point(built) - x
    if name == "RigidBody":
        return np.hstack([np.eye(3), -skew(r)])
    if name == "ScalableBody":
        return np.hstack([np.eye(3), -skew(r), R * np.linalg.solve(F, r)])
    if name == "AffineBody":
        return np.hstack([np.eye(3), np.kron(np.eye(3), np.linalg.solve(F, r))])
    if name == "LagrangianBody":
        return np.array(
            [rate(lambda b: b.point(built), Placed(body.body, body.kind, body.q0, body.q, e)) for e in np.eye(len(body.q))]
        ).T
    if name == "Particle":
        return np.eye(3)
    in_plane, normal = plane_of(body)
    return in_plane if name == "PlanarParticle" else np.column_stack([in_plane, np.cross(normal, r)])


def spin_jacobian(body):
    """(3, nv): the angular velocity."""
    if isinstance(body, Ground):
        return np.zeros((3, 0))
    name = body.kind.partition("-")[0]
    if name in ("RigidBody", "ScalableBody"):
        return np.hstack([np.zeros((3, 3)), np.eye(3), np.zeros((3, len(body.v) - 6))])
    if name == "PlanarBody":
        return np.column_stack([np.zeros((3, 2)), plane_of(body)[1]])
    units = np.eye(len(body.v))
    return np.column_stack([Placed(body.body, body.kind, body.q0, body.q, e).spin() for e in units])


def velocity(body, built):
    return np.zeros(3) if isinstance(body, Ground) else point_jacobian(body, built) @ body.v


def spin(body):
    return np.zeros(3) if isinstance(body, Ground) else spin_jacobian(body) @ body.v


def _built(body, local):
    return body.x0 + body.F0 @ local


def _pull(A, B, e, tension):
    """tension(length, rate) along the line of the points."""
    a, b = _built(A, e.on_a), _built(B, e.on_b)
    d = B.point(b) - A.point(a)
    length = np.linalg.norm(d)
    along = d / length if length > 0 else np.zeros(3)
    f = tension(length, along @ (velocity(B, b) - velocity(A, a))) * along
    return [(0, "force", a, f), (1, "force", b, -f)]


def spring(A, B, e, t, command):
    rest = np.linalg.norm(_built(B, e.on_b) - _built(A, e.on_a)) if e.rest is None else e.rest
    return _pull(A, B, e, lambda length, rate: e.stiffness * (length - rest) + e.damping * rate)


def damper(A, B, e, t, command):
    return _pull(A, B, e, lambda length, rate: e.damping * rate)


def drag(A, B, e, t, command):
    at = _built(B, e.at)
    v = velocity(B, at)
    loads = [(1, "force", at, -(e.linear + e.quadratic * np.linalg.norm(v)) * v)]
    return [*loads, (1, "torque", None, -e.angular * spin(B))] if e.angular else loads


def wrench(A, B, e, t, command):
    force, torque = (np.array(x(t) if callable(x) else x, dtype=float) for x in (e.force, e.torque))
    turned = B.axis(B.R0) if e.frame == "body" else np.eye(3)
    loads = [(1, "force", _built(B, e.at), turned @ force)]
    return [*loads, (1, "torque", None, turned @ torque)] if torque.any() else loads


def own_axes(body):
    """The axes of the package's own frame of a body, as built."""
    return np.eye(3) if isinstance(body, Ground) else frame(body.kind, body.q0)[2]


def turned(A, B, axis):
    """By how much b has turned about a's axis. Where the joint does not hold it matters what is followed: the direction
    across the axis that has no component along the axis of a's own frame that is most across."""
    across = np.cross(local := own_axes(A).T @ axis, np.eye(3)[np.argmin(np.abs(local))])
    ref = own_axes(A) @ (across / np.linalg.norm(across))
    a, b = A.axis(ref), B.axis(ref)
    return np.arctan2(np.cross(A.axis(axis), a) @ b, a @ b)


def motor(A, B, e, t, command):
    joint, sliding = e.joint, type(e.joint).__name__ == "Slider"
    axis = A.axis(world_axis(joint, A, B))
    a, b = world_point(joint, A, B)
    turning = axis @ (spin(B) - spin(A))
    sliding_rate = axis @ (velocity(B, b) - velocity(A, a)) + np.cross(spin(A), axis) @ apart(A, B, joint)
    rate, travel = sliding_rate if sliding else turning, axis @ apart(A, B, joint)
    effort = {
        "torque": lambda: command,
        "velocity": lambda: e.kd * (command - rate),
        "position": lambda: e.kp * (command - (travel if sliding else turned(A, B, world_axis(joint, A, B)))) - e.kd * rate,
    }[e.kind]()
    effort = effort if e.limit is None else np.clip(effort, -e.limit, e.limit)
    if not sliding:
        return [(1, "torque", None, effort * axis), (0, "torque", None, -effort * axis)]
    lever = np.cross(apart(A, B, joint), effort * axis)  # the pair has no moment
    return [(1, "force", b, effort * axis), (0, "force", a, -effort * axis), (0, "torque", None, -lever)]


def force(A, B, e, t, command):
    bodies = [A, B][2 - len(e.bodies) :]
    f = np.array(e.function(*[Body(x) for x in bodies], t), dtype=float).ravel()
    kind = "torque" if e.torque else "force"
    loads = [(1, kind, _built(B, e.at), f)]
    return loads if len(bodies) == 1 else [*loads, (0, kind, _built(A, e.on_a), -f)]


def many(value, count):
    return np.broadcast_to(np.asarray(value, dtype=float), count)


def about(A, B, axis, angle, e):
    """A spring and damper about a's axis (as built)."""
    d, rest = A.axis(axis), 0.0 if e.rest is None else e.rest
    effort = (-e.stiffness * (angle - rest) - e.damping * d @ (spin(B) - spin(A))) * d
    return [(1, "torque", None, effort), (0, "torque", None, -effort)]


def along(A, B, joint, axes, stiffness, damping, rest):
    """Springs and dampers between a joint's anchors along axes (as built) that a carries; the pair has no moment."""
    a, b = world_point(joint, A, B)
    d = apart(A, B, joint)
    moving = velocity(B, b) - velocity(A, a) - np.cross(spin(A), d)
    f = sum(
        (-stiffness * (A.axis(n) @ d - r) - damping * A.axis(n) @ moving) * A.axis(n) for n, r in zip(axes, rest, strict=True)
    )
    return [(1, "force", b, f), (0, "force", a, -f), (0, "torque", None, -np.cross(d, f))]


def turning_spring(A, B, e):
    """Down the gradient of sum k_i phi_i^2 / 2, phi the rotation vector of b relative to a and the rest, along axes of a."""
    rest = np.eye(3) if e.rest is None else quaternion_matrix(np.asarray(e.rest))
    frame_a = A.axis(np.eye(3))
    turn_ab = B.axis(np.eye(3)) @ rest.T @ frame_a.T

    def phi(x):
        return Rotation.from_matrix(turn(x) @ turn_ab).as_rotvec()

    h = 1e-3
    by_turn = np.column_stack([sum(w * phi(j * h * n) for j, w in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))) / h
                               for n in np.eye(3)])  # fmt: skip
    stiffness, damping = (frame_a @ np.diag(many(x, 3)) @ frame_a.T for x in (e.stiffness, e.damping))
    torque = -by_turn.T @ stiffness @ phi(np.zeros(3)) - damping @ (spin(B) - spin(A))
    return [(1, "torque", None, torque), (0, "torque", None, -torque)]


def universal_spring(A, B, e):
    joint, third = e.joint, np.cross(e.joint.first, e.joint.second)
    cross_axes = A.axis(joint.first), B.axis(joint.second)
    angles = (np.arctan2(cross_axes[1] @ A.axis(third), cross_axes[1] @ A.axis(joint.second)),
              np.arctan2(cross_axes[0] @ B.axis(third), cross_axes[0] @ B.axis(joint.first)))  # fmt: skip
    rest = np.zeros(2) if e.rest is None else e.rest
    each = zip(cross_axes, angles, many(e.stiffness, 2), many(e.damping, 2), rest, strict=True)
    torque = sum((-k * (x - r) - c * d @ (spin(B) - spin(A))) * d for d, x, k, c, r in each)
    return [(1, "torque", None, torque), (0, "torque", None, -torque)]


def joint_spring(A, B, e, t, command):
    joint, name = e.joint, type(e.joint).__name__
    if name == "Ball":
        return turning_spring(A, B, e)
    if name == "Universal":
        return universal_spring(A, B, e)
    axis = world_axis(joint, A, B)
    if name == "Slider":
        return along(A, B, joint, [axis], e.stiffness, e.damping, [0.0 if e.rest is None else e.rest])
    loads = about(A, B, axis, turned(A, B, axis), e)
    if e.travel_stiffness or e.travel_damping:
        rest = [0.0 if e.travel_rest is None else e.travel_rest]
        loads += along(A, B, joint, [axis], e.travel_stiffness, e.travel_damping, rest)
    return loads


LOADS = {
    "Spring": spring, "Damper": damper, "Drag": drag, "Wrench": wrench, "Motor": motor, "Force": force,
    "JointSpring": joint_spring, "TorsionSpring": lambda A, B, e, t, command: turning_spring(A, B, e),
}  # fmt: skip


def generalised(A, B, element, t, command=0.0):
    """Forces on the velocity components of A and of B."""
    totals = [np.zeros(point_jacobian(body, body.x0).shape[1]) for body in (A, B)]
    for on, kind, where, vector in LOADS[type(element).__name__](A, B, element, t, command):
        J = point_jacobian((A, B)[on], where) if kind == "force" else spin_jacobian((A, B)[on])
        totals[on] += J.T @ vector
    return totals
