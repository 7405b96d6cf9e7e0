"""Random trees of mixed joints, and the same mechanism built anew in another configuration."""

import numpy as np

import linkwork as lw

KINDS = ("Hinge", "Slider", "Ball", "Universal", "Cylindrical", "Planar", "Screw", "Weld")
TURNING = ("Hinge", "Slider", "Universal", "Cylindrical", "Planar", "Screw")  # qd is the derivative of q


def unit(v):
    return v / np.linalg.norm(v)


def add_body(world, rng, name=None):
    return world.add(
        lw.RigidBody(rng.uniform(0.5, 2.0), rng.uniform(0.10, 0.15, 3), position=rng.normal(size=3), orientation=unit(rng.normal(size=4)),
                     com=0.1 * rng.normal(size=3), name=name)
    )  # fmt: skip


def joint_between(rng, kind, a, b, at):
    axis = unit(rng.normal(size=3))
    side = unit(np.cross(axis, rng.normal(size=3)))
    given = {"Hinge": {"axis": axis}, "Slider": {"axis": axis}, "Cylindrical": {"axis": axis}, "Planar": {"normal": axis},
             "Screw": {"axis": axis, "pitch": 0.3}, "Universal": {"first": axis, "second": side}}  # fmt: skip
    return getattr(lw, kind)(a, b, at, **given.get(kind, {}))


def random_world(seed, n=9, kinds=KINDS, floating=2):
    """n bodies: each hangs on an earlier one or the ground, by either end of its joint; `floating` of them on nothing."""
    rng = np.random.default_rng([seed, n])
    world = lw.World(gravity=rng.normal(size=3) * 5)
    bodies = []
    free = set(rng.choice(n, floating, replace=False)) if floating else set()
    for k in range(n):
        body = add_body(world, rng)
        if k not in free:
            parent = ([world.ground, *bodies])[rng.integers(k + 1)]
            ends = (parent, body) if rng.random() < 0.5 else (body, parent)
            world.add(joint_between(rng, kinds[(seed + k) % len(kinds)], *ends, body.position + rng.normal(size=3)))
        bodies.append(body)
    return world


def random_state(tree, seed, count=None):
    rng = np.random.default_rng(seed)
    shape = (tree.nv,) if count is None else (count, tree.nv)
    return lw.reduced.random(tree, rng, count), rng.normal(size=shape), rng.normal(size=shape)


def rebuilt(world, tree, q, qd):
    """The same mechanism, built where q has it and moving with qd."""
    poses, speeds = lw.reduced.forward_kinematics(tree, q), lw.reduced.velocities(tree, q, qd)
    place = {world.ground: (np.zeros(3), np.eye(3))}
    for body, x, R in zip(world.bodies, poses.position, poses.rotation, strict=True):
        place[body] = x, R
    old = {world.ground: (np.zeros(3), np.eye(3))}
    old |= {b: (b.position, rotation(b.orientation)) for b in world.bodies}

    def carried(body, v, point=True):
        (x0, R0), (x1, R1) = old[body], place[body]
        return x1 + R1 @ R0.T @ (v - x0) if point else R1 @ R0.T @ v

    new = lw.World(gravity=world.gravity)
    for body, v in zip(world.bodies, speeds, strict=True):
        x, R = place[body]
        new.add(lw.RigidBody(body.mass, body.inertia, position=x, orientation=quaternion(R), com=body.com, velocity=v[:3],
                             angular_velocity=v[3:], name=body.name))  # fmt: skip
    for c in world.constraints:
        given = {name: carried(c.a, getattr(c, name), False) for name in ("axis", "normal", "first") if hasattr(c, name)}
        if hasattr(c, "second"):
            given["second"] = carried(c.b, c.second, False)
        if hasattr(c, "pitch"):
            given["pitch"] = c.pitch
        new.add(type(c)(c.a.name, c.b.name, carried(c.b, c.at), **given))
    return new


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


def quaternion(R):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat(scalar_first=True)
