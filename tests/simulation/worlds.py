"""Worlds that the tests of simulations share, and how two states are the same."""

import warnings

import linkwork as lw

G = 9.81
INTEGRATORS = ["rattle", "euler", "rk4", "dopri5", "first-order"]
SOLVERS = ["tree", "fronts", "anticipation", "cg", "dense"]


def crank_and_rod():
    world = lw.World(gravity=(0, 0, -9.81))
    crank = world.add(lw.RigidBody(mass=1.0, shape=lw.Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank"))
    rod = world.add(lw.RigidBody(mass=0.5, shape=lw.Capsule(0.02, 0.8), position=(0.8, 0, 0),
                                 orientation=(0.7071, 0, 0.7071, 0), name="rod"))  # fmt: skip
    world.add(lw.Hinge(world.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Ball(crank, rod, at=(0.4, 0, 0), name="pin"))
    return world


def zoo(velocity_forces=True):
    """A bit of everything: counters, gears, prescribed motion, rolling, stretch, user's functions, parameters."""
    world = crank_and_rod()
    gains = {"kind": "position", "kp": 3.0, "kd": 0.2} if velocity_forces else {"kind": "torque"}
    world.add(lw.Motor("axle", **gains, limit=4.0, name="servo"))
    for k in (1, 2):
        world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(k, 1, 0), com=(0.01, 0, 0), name=f"wheel{k}"))
        world.add(lw.Hinge(world.ground, f"wheel{k}", at=(k, 1, 0), axis=(0, 0, 1), name=f"axle{k}"))
    world.add(lw.Gear("axle1", "axle2", -1.7, name="mesh"))
    world.add(lw.Motion("axle2", lambda t: 40 * (1 - lw.cos(t)), name="told"))
    world.add(lw.RigidBody(0.4, shape=lw.Sphere(0.1), position=(0, -1, 0.1), name="ball"))
    world.add(lw.Rolling(world.ground, "ball", 0.1, name="contact"))
    world.add(lw.Wrench("ball", force=lambda t: (lw.sin(t), 0.2, 0), torque=(0.01, 0, 0)))
    jelly = lw.ScalableBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), position=(0, 2, 0), stretch=(1.1, 0.9, 1.0),
                            angular_velocity=(0.3, 0.2, -0.4), stiffness=20.0 if velocity_forces else 0.1, damping=0.5 * velocity_forces,
                            name="jelly")  # fmt: skip
    world.add(jelly)
    world.add(lw.Ball(world.ground, jelly, at=(0.1, 2, 0.05), name="nail"))
    k = lw.Parameter(20.0, name="k")
    world.add(lw.Particle(0.2, position=(0.5, 2, 0.4), name="bead"))
    world.add(lw.Spring("jelly", "bead", k, damping=0.1 * velocity_forces, name="spring"))
    world.add(lw.Constraint("bead", lambda b, t: b.position[1] - 2.0 - 0.1 * b.position[0] ** 2 + 0.025, name="sheet"))
    return world


def make(integrator, world=None, dt=2e-3, **options):
    world = world or zoo(velocity_forces=integrator != "first-order")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, dt=dt, integrator=integrator, **options)
    if "servo" in sim.control:
        sim.control["servo"] = 0.7
    return sim


def same(a, b):
    assert a.time == b.time and a.steps == b.steps
    assert a.values.tobytes() == b.values.tobytes()
