"""Bad input: one sentence that names the element."""

import pytest

import linkwork as lw
from tests.simulation.worlds import crank_and_rod, make


def body(**k):
    return lw.RigidBody(**({"mass": 1.0, "inertia": (1, 1, 1), "name": "thing"} | k))


def with_bodies(*more):
    world = lw.World()
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(1, 0, 0), name="a"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(2, 0, 0), name="b"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(3, 1, 0), name="c"))
    for element in more:
        world.add(element)
    return lw.Simulation(world)


BAD = {
    "zero mass": (lambda: body(mass=0.0), 'RigidBody "thing": mass'),
    "negative mass": (lambda: lw.Particle(-1.0, name="thing"), 'Particle "thing": mass'),
    "nan mass": (lambda: body(mass=float("nan")), 'RigidBody "thing": mass'),
    "impossible inertia": (lambda: body(inertia=(1, 1, 5)), 'RigidBody "thing": inertia'),
    "negative inertia": (lambda: body(inertia=(1, 1, -1)), 'RigidBody "thing": inertia'),
    "asymmetric inertia": (lambda: body(inertia=[[1, 0.3, 0], [0, 1, 0], [0, 0, 1]]), 'RigidBody "thing": inertia'),
    "nan position": (lambda: body(position=(0, float("nan"), 0)), 'RigidBody "thing": position'),
    "infinite velocity": (lambda: body(velocity=(0, float("inf"), 0)), 'RigidBody "thing": velocity'),
    "two numbers": (lambda: body(position=(0, 1)), 'RigidBody "thing": position'),
    "far quaternion": (lambda: body(orientation=(1, 1, 0, 0)), 'RigidBody "thing": orientation'),
    "zero axis": (lambda: lw.Hinge("a", "b", at=(0, 0, 0), axis=(0, 0, 0), name="knee"), 'Hinge "knee": axis'),
    "nan axis": (lambda: lw.Hinge("a", "b", at=(0, 0, 0), axis=(0, float("nan"), 0), name="knee"), 'Hinge "knee": axis'),
    "no anchor": (lambda: lw.Ball("a", "b", name="pin"), 'Ball "pin": at is missing'),
    "name twice": (lambda: with_bodies(lw.Particle(1.0, name="a")), 'Particle "a": its name is taken'),
    "unknown body": (lambda: with_bodies(lw.Ball("a", "bb", at=(0, 0, 0), name="pin")), 'Ball "pin": .*"bb".*did you mean "b"'),
    "to itself": (lambda: with_bodies(lw.Ball("a", "a", at=(0, 0, 0), name="pin")), 'Ball "pin": .*'),
    "spring to itself": (lambda: with_bodies(lw.Spring("a", "a", 1.0, name="s")), 'Spring "s": .*'),
    "negative stiffness": (lambda: lw.Spring("a", "b", -1.0, name="s"), 'Spring "s": stiffness'),
    "zero ratio": (lambda: lw.Gear("a", "b", 0.0, name="mesh"), 'Gear "mesh": ratio'),
    "wrong size": (lambda: with_bodies(lw.Force("a", lambda b, t: (1, 2), name="f")), 'Force "f": .* 2 numbers where 3'),
    "motion of wrong size": (
        lambda: with_bodies(lw.Motion("a", lambda t: (t, 0), name="m")),
        'Motion "m": .* 2 numbers where 3',
    ),
    "no rows": (lambda: with_bodies(lw.Constraint("a", lambda b, t: [], name="c0")), 'Constraint "c0": .*no rows'),
    "a python if": (
        lambda: with_bodies(lw.Constraint("a", lambda b, t: b.position[0] if b.position[1] > 0 else b.position[2], name="c0")),
        'Constraint "c0": .*lw.where',
    ),
    "a python if on time": (
        lambda: with_bodies(lw.Force("a", lambda b, t: (1, 0, 0) if t > 1 else (0, 0, 0), name="f")),
        'Force "f": .*lw.where',
    ),
    "a function that fails": (
        lambda: with_bodies(lw.Constraint("a", lambda b, t: b.nowhere, name="c0")),
        'Constraint "c0": .*nowhere',
    ),
    "wrong number of arguments": (
        lambda: with_bodies(lw.Constraint("a", lambda b: b.position, name="c0")),
        'Constraint "c0": ',
    ),
    "constant constraint": (lambda: with_bodies(lw.Constraint("a", lambda b, t: 0 * t, name="c0")), 'Constraint "c0": '),
    "velocity in a constraint": (
        lambda: with_bodies(lw.Constraint("a", lambda b, t: b.velocity[0], name="c0")),
        'Constraint "c0": .*VelocityConstraint',
    ),
    "direction of a point": (lambda: _particle_hinge(), 'Hinge "h": .*'),
    "violated as built": (
        lambda: with_bodies(lw.Ball("a", "b", on_a=(0.5, 0, 0), on_b=(-0.4, 0, 0), name="pin")),
        'Ball "pin": it is off by 0.1 as built',
    ),
    "violated by the start of a motion": (
        lambda: with_bodies(lw.Motion("a", lambda t: (1, 0.2, 0), name="m")),
        'Motion "m": it is off by 0.2 as built',
    ),
    "empty world": (lambda: lw.Simulation(lw.World()), "World: there is no body"),
    "zero dt": (lambda: lw.Simulation(crank_and_rod(), dt=0.0), "Simulation: dt"),
    "nan dt": (lambda: lw.Simulation(crank_and_rod(), dt=float("nan")), "Simulation: dt"),
    "negative steps": (lambda: make("rattle").step(-1), "Simulation: n is -1"),
    "half a step": (lambda: make("rattle").step(2.5), r"Simulation: n is 2\.5"),
    "unknown solver": (lambda: lw.Simulation(crank_and_rod(), solver="trea"), 'Simulation: .*"trea".*did you mean "tree"'),
    "unknown integrator": (lambda: lw.Simulation(crank_and_rod(), integrator="ratle"), 'Simulation: .*did you mean "rattle"'),
    "tolerance of euler": (lambda: lw.Simulation(crank_and_rod(), integrator="euler", tolerance=1e-6), "Simulation: euler"),
    "negative stiffness of euler": (
        lambda: lw.Simulation(crank_and_rod(), integrator="euler", stiffness=-1.0),
        "Simulation: stiffness",
    ),
    "drag in first-order": (lambda: lw.Simulation(_dragged(), integrator="first-order"), 'Drag "drag": .*velocity'),
    "unknown body asked": (lambda: make("rattle").position("rot"), 'Simulation: .*"rot".*did you mean "rod"'),
    "unknown joint asked": (lambda: make("rattle").reaction("pim"), 'Simulation: .*"pim".*did you mean "pin"'),
    "a joint as a body": (
        lambda: make("rattle").position("pin"),
        'Ball "pin": it has no position of its own; give a body, or a frame on one',
    ),
}


def _particle_hinge():
    world = lw.World()
    world.add(lw.Particle(1.0, name="p"))
    world.add(lw.Hinge(world.ground, "p", at=(0, 0, 0), axis=(0, 1, 0), name="h"))
    return lw.Simulation(world)


def _dragged():
    world = crank_and_rod()
    world.add(lw.Drag("rod", linear=0.1, name="drag"))
    return world


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_that_names_the_element(case):
    build, pattern = BAD[case]
    with pytest.raises(lw.LinkworkError, match=pattern) as caught:
        build()
    text = str(caught.value)
    assert "\n" not in text and len(text) < 260 and "Traceback" not in text


def test_two_ground_joints_are_no_loop():
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, -1), name="p"))
    world.add(lw.Particle(1.0, position=(2, 0, -1), name="q"))
    world.add(lw.Distance(world.ground, "p"))
    world.add(lw.Distance("p", "q"))
    world.add(lw.Distance(world.ground, "q", on_a=(3, 0, 0)))
    sim = lw.Simulation(world)
    sim.step(100)
    assert sim.drift() < 1e-10
