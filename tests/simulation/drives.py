"""Random trees with massless links and rotors, and the equations that they obey, written out."""

import numpy as np

import linkwork as lw
from linkwork.kernels.vocabulary import BodyKernel, RowMode

CARRYING = ("Hinge", "Slider", "Screw", "Universal")  # joints on which massless links hang
LAST = (*CARRYING, "Ball", "Cylindrical", "Planar")


def unit(v):
    return v / np.linalg.norm(v)


def joint_of(rng, kind, ends, at, name):
    axis = unit(rng.normal(size=3))
    given = {"Ball": {}, "Planar": {"normal": axis}, "Screw": {"axis": axis, "pitch": 0.3},
             "Universal": {"first": axis, "second": unit(np.cross(axis, rng.normal(size=3)))}}.get(kind, {"axis": axis})  # fmt: skip
    return getattr(lw, kind)(*ends, at, name=name, **given)


def random_world(seed, n=6, massless=0.4, rotors=0.6):
    """n bodies that hang on the ground or on each other; some have no mass and carry the next one."""
    rng = np.random.default_rng([seed, n])
    world = lw.World(gravity=5 * rng.normal(size=3))
    above, light, carried = world.ground, False, 0
    for k in range(n):
        carried = carried + 1 if light else 0
        light = k < n - 1 and carried < 2 and rng.random() < massless
        pose = {"position": rng.normal(size=3), "orientation": unit(rng.normal(size=4)), "name": f"b{k}"}
        if light:
            body = world.add(lw.RigidBody(0, (0, 0, 0), **pose))
        else:
            given = rng.uniform(0.5, 2.0), rng.uniform(0.10, 0.15, 3)
            body = world.add(lw.RigidBody(*given, com=0.2 * rng.normal(size=3), **pose))
        kind = str(rng.choice(CARRYING if light or carried else LAST))
        ends = (above, body) if rng.random() < 0.6 else (body, above)
        joint = world.add(joint_of(rng, kind, ends, rng.normal(size=3), f"j{k}"))
        if joint.has_coordinate and rng.random() < rotors:
            world.add(lw.Armature(joint, rng.uniform(0.05, 1.0), name=f"r{k}"))
        if not light:
            solid = [world.ground, *(b for b in world.bodies if b.mass > 0)]
            above = solid[rng.integers(len(solid))]
        else:
            above = body
    return world


def coupled_accelerations(world):
    """x of all bodies (linear of their origins, angular), as built and at rest, from one dense system in which rotors add
    a j j^T to the masses of two bodies; j is the rate of the joint's coordinate by their velocities."""
    bare = lw.World(gravity=world.gravity)
    twin = {world.ground: bare.ground}
    for body in world.bodies:
        given = {name: getattr(body, name) for name in ("mass", "inertia", "position", "orientation", "com", "name")}
        twin[body] = bare.add(lw.RigidBody(**given))
    rotors = [e for e in world.constraints if isinstance(e, lw.Armature)]
    for joint in (e for e in world.constraints if not isinstance(e, lw.Armature)):
        fields = ("at", "axis", "normal", "first", "second", "pitch")
        given = {name: getattr(joint, name) for name in fields if getattr(joint, name, None) is not None}
        bare.add(type(joint)(twin[joint.a], twin[joint.b], name=joint.name, **given))
    sim = lw.Simulation(bare, solver="dense")
    model, schedules = sim.model, sim.schedules
    sim.integrator.run(
        sim.work, schedules.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE), schedules.up(RowMode.ACCELERATION)
    )
    H, right = schedules.matrix(sim.work), sim.work[schedules.b_at].copy()
    for rotor in rotors:
        j = np.zeros(len(H))
        for body, sign in ((rotor.joint.a, -1.0), (rotor.joint.b, 1.0)):
            if body is world.ground:
                continue
            number = model.bodies.number[id(twin[body])]
            at = schedules.first[number]
            if isinstance(rotor.joint, lw.Slider):  # all points of a body at rest move alike but for its turn
                arm = rotor.joint.at - model.bodies.frames["RigidBody"].x[number]
                j[at : at + 6] += sign * np.r_[rotor.joint.axis, np.cross(arm, rotor.joint.axis)]
            else:
                j[at + 3 : at + 6] += sign * rotor.joint.axis
        H += float(rotor.inertia) * np.outer(j, j)
    x = np.linalg.solve(H, right)
    return {body.name: x[schedules.first[k] : schedules.first[k] + 6] for k, body in enumerate(bare.bodies)}
