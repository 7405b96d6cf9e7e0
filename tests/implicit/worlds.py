"""Random small worlds for implicit steps: forests of mixed bodies and joints with forces of all sorts, springs of any stiffness."""

import numpy as np

import linkwork as lw
from tests.solvers.forests import POINTS, forest, kind_of, unit


def place_on(rng, body):
    """A point of a body, in its frame."""
    return np.zeros(3) if kind_of(body) in POINTS else 0.3 * rng.normal(size=3)


def pulled(a, b, t):
    """A force that depends on both bodies' positions and velocities, and has no potential."""
    d, v = b.position - a.position, b.velocity - a.velocity
    return [-3 * d[0] + d[1] * v[2], 2 * d[0] - 0.3 * v[1] * (1 + t), -(d[2] ** 2) - 0.4 * v[2] + 0.2 * d[0]]


def twisted(a, b, t):
    u, w = a.direction((0.6, 0, 0.8)), b.angular_velocity - a.angular_velocity
    return [-0.4 * w[0] + u[1], 0.5 * u[2] * w[1] - 0.3 * w[1], -0.2 * w[2] + 0.3 * u[0]]


def blown(b, t):
    v, x = b.velocity, b.position
    return [-0.3 * v[0] + 0.2 * x[2], -0.3 * v[1] * v[1] + 0.1 * t, -x[2] - 0.2 * v[2]]


def force_on(rng, a, b):
    """A force between two bodies, or on the second."""
    on = {"on_a": place_on(rng, a), "on_b": place_on(rng, b)}
    points = kind_of(a) in POINTS or kind_of(b) in POINTS
    turning = kind_of(b) not in POINTS
    choices = [
        lambda: lw.Spring(a, b, 20.0, rest=float(rng.uniform(0.2, 2)), damping=float(rng.choice([0.0, 0.5])), **on),
        lambda: lw.Damper(a, b, 0.7, **on),
        lambda: lw.Drag(b, 0.4, 0.3, 0.2 * turning, at=on["on_b"]),
        lambda: lw.Wrench(b, force=rng.normal(size=3), torque=rng.normal(size=3) * turning, at=on["on_b"],
                          frame="body" if turning else "world"),
        lambda: lw.Force(b, blown, at=on["on_b"]),
    ]  # fmt: skip
    if kind_of(a) != "ground":
        choices.append(lambda: lw.Force(a, b, pulled, **on))
        if not points:
            choices.append(lambda: lw.Force(a, b, twisted, torque=True))
    return choices[rng.integers(len(choices))]()


def motors(world, rng):
    for joint in [c for c in world.constraints if isinstance(c, (lw.Hinge, lw.Slider, lw.Screw))]:
        kind = ("torque", "position", "velocity")[rng.integers(3)]
        gains = {"torque": {}, "position": {"kp": 5.0, "kd": 0.3}, "velocity": {"kd": 0.8}}[kind]
        if rng.random() < 0.5:
            world.add(lw.Motor(joint, kind, **gains))


def coupled(seed, forces=4, **options):
    """A forest with forces between neighbours and others, on single bodies, and motors."""
    world = forest(seed, **options)
    rng = np.random.default_rng([seed, 1])
    ends = [world.ground, *world.bodies]
    for _ in range(rng.integers(1, forces + 1)):
        a, b = rng.choice(len(ends)), rng.integers(1, len(ends))
        world.add(force_on(rng, world.ground if a == b else ends[a], ends[b]))
    for c in [c for c in world.constraints if isinstance(c, lw.Ball) and world.ground not in (c.a, c.b)]:
        if rng.random() < 0.5:  # forces between neighbours
            world.add(force_on(rng, c.a, c.b))
    motors(world, rng)
    return world


def commands(sim, rng):
    """Something for every motor to do."""
    for name in sim.control:
        sim.control[name] = rng.normal()


def skeleton(seed, largest=10):
    """Rigid bodies in trees, joints of three to six rows, springs between any: compiled fast, at random places."""
    rng = np.random.default_rng(seed)
    world = lw.World()
    bodies = [
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=rng.normal(size=3))) for _ in range(rng.integers(2, largest + 1))
    ]
    for k, body in enumerate(bodies):
        if k > 0 and rng.random() < 0.9:
            world.add(rigid_joint(rng, *[bodies[rng.integers(k)], body][:: rng.choice([1, -1])]))
        elif rng.random() < 0.5:
            world.add(rigid_joint(rng, world.ground, body))
    for _ in range(rng.integers(1, 2 * len(bodies))):
        a, b = rng.choice(len(bodies), 2, replace=False)
        world.add(lw.Spring(bodies[a], bodies[b], 1.0, rest=1.0))
    return world


def rigid_joint(rng, a, b):
    at, axis = rng.normal(size=3), unit(rng, 3)
    other = np.cross(axis, unit(rng, 3))
    choices = (lambda: lw.Ball(a, b, at), lambda: lw.Hinge(a, b, at, axis=axis), lambda: lw.Weld(a, b, at),
               lambda: lw.Universal(a, b, at, first=axis, second=other), lambda: lw.Slider(a, b, at, axis=axis))  # fmt: skip
    return choices[rng.choice(len(choices), p=[0.4, 0.3, 0.1, 0.1, 0.1])]()


def rigid_bodies(world, rng, count):
    """In a row along x, turned and moving anyhow, centres of mass beside their origins."""
    return [world.add(lw.RigidBody(1.3, (0.1, 0.15, 0.2), position=(k, 0, 0), orientation=unit(rng, 4),
                                   com=0.1 * rng.normal(size=3), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3)))
            for k in range(count)]  # fmt: skip


def sprung():
    """Joints whose turning has springs, off their rest, one without."""
    world = lw.World()
    a, b, c, d = rigid_bodies(world, np.random.default_rng(5), 4)
    ball = world.add(lw.Ball(world.ground, a, at=(0, 0.3, 0)))
    neck = world.add(lw.Ball(b, a, at=(0.5, 0.2, 0.1)))
    knee = world.add(lw.Hinge(b, c, at=(1.5, 0.2, 0.1), axis=(0, 0.6, 0.8)))
    world.add(lw.Ball(c, d, at=(2.5, 0, 0.3)))
    world.add(lw.JointSpring(ball, 3.0, damping=0.2, rest=(0.8, 0.6, 0, 0)))
    world.add(lw.JointSpring(neck, (5.0, 3.0, 2.0), damping=0.3))
    world.add(lw.JointSpring(knee, 8.0, damping=0.1, rest=0.4))
    return world


def sliding():
    """Springs of travels, of a cross, and between bodies that no joint joins."""
    world = lw.World()
    a, b, c, d = rigid_bodies(world, np.random.default_rng(6), 4)
    cross = world.add(lw.Universal(b, a, at=(0.5, 0.2, 0), first=(0, 1, 0), second=(1, 0, 0)))
    rail = world.add(lw.Slider(b, c, at=(1.5, 0, 0), axis=(0.6, 0, 0.8)))
    tube = world.add(lw.Cylindrical(c, d, at=(2.5, 0, 0), axis=(0, 0, 1)))
    world.add(lw.JointSpring(cross, (4.0, 2.0), damping=0.1, rest=(0.2, -0.3)))
    world.add(lw.JointSpring(rail, 20.0, damping=0.5, rest=0.1))
    world.add(lw.JointSpring(tube, 6.0, damping=0.1, travel_stiffness=9.0, travel_damping=0.2, travel_rest=0.1))
    world.add(lw.TorsionSpring(a, d, 4.0, damping=0.2))
    world.add(lw.Spring(a, c, 30.0, rest=1.0, damping=0.3, on_a=(0.1, 0.2, 0), on_b=(0, 0, 0.3)))
    return world


def geared():
    """Two wheels whose speeds are geared, on bodies that move: rows of velocity alone."""
    world = lw.World()
    for k, name in enumerate("ab"):
        world.add(lw.RigidBody(1.0, (0.2, 0.25, 0.3), position=(k, 0, 0.1), angular_velocity=(0, 0, 1.0 - 3 * k), name=name))
        world.add(lw.Hinge(world.ground, name, at=(k, 0, 0), axis=(0, 0, 1), name=f"axle {name}"))
    world.add(lw.Gear("axle a", "axle b", -0.5, level="velocity", name="mesh"))
    world.add(lw.Wrench("a", torque=(0, 0, 2.0)))
    world.add(lw.Motor("axle b", "velocity", kd=0.4))
    return world


def limbed(seed, count=6):
    """Rigid bodies on balls, hinges and universal joints, some with springs, some of these with limits, and sometimes a force between bodies that are no neighbours."""
    rng, world = np.random.default_rng(seed), lw.World()
    bodies = rigid_bodies(world, rng, count)
    for k, body in enumerate(bodies):
        a, b = [bodies[rng.integers(k)] if k else world.ground, body][:: rng.choice([1, -1])]
        at, axis = rng.normal(size=3), unit(rng, 3)
        joint = world.add([lw.Ball(a, b, at), lw.Hinge(a, b, at, axis=axis),
                           lw.Universal(a, b, at, first=axis, second=np.cross(axis, unit(rng, 3)))][rng.integers(3)])  # fmt: skip
        if rng.random() < 0.6:
            world.add(lw.JointSpring(joint, 20.0, damping=0.3))
        if isinstance(joint, lw.Hinge):
            world.add(lw.JointLimit(joint, -0.3, 0.2, stiffness=40.0, damping=0.2))
    if seed % 3 == 1:
        world.add(lw.TorsionSpring(bodies[0], bodies[-1], 5.0))
    if seed % 3 == 2:
        world.add(lw.Spring(*rng.choice(bodies, 2, replace=False), 30.0, rest=1.0))
    return world
