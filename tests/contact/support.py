"""Which solver and integrator take contact, asked of the package by short runs."""

import warnings

import numpy as np

import linkwork as lw
from linkwork.engines.traits import PAIRS
from tests.contact.test_every_step import four_bar
from tests.simulation.test_contacts import boxes

YES, REFUSED, NO = "yes", "refused", "**no**"


def stopped():
    """A lamp on a rope that is taut, an arm that lies on its stop."""
    world = lw.World()
    world.add(lw.RigidBody(2.0, (0.01, 0.01, 0.01), position=(0, 0, 0.5), name="lamp"))
    world.add(lw.Rope(world.ground, "lamp", length=0.5, on_a=(0, 0, 1), name="cord"))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(3, 0, 0), name="arm"))
    world.add(lw.Hinge(world.ground, "arm", at=(2, 0, 0), axis=(0, 1, 0), name="elbow"))
    world.add(lw.HardLimit("elbow", upper=0.0, name="stop"))
    return world


def footed():
    """A body of three coordinates that stands on spheres around its points."""
    world = lw.World()
    world.add(lw.LagrangianBody(lambda u: [(u[0] + x, y, u[1] + u[2] * x) for x in (-0.2, 0.2) for y in (-0.1, 0.1)], np.ones(4),
                                coordinates=(0, 0.05, 0), name="table"))  # fmt: skip
    for k in range(4):
        world.add(lw.Collider("table", lw.Sphere(0.05), position=(k, 0, 0), name=f"foot{k}"))
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.Contact(name="touch"))
    return world


def unequal():
    """A plank on two feet by a function of it and the ground, and a load that it lifts no further."""
    world = lw.World()
    world.add(lw.RigidBody(2.0, (0.1, 0.2, 0.2), name="plank"))
    world.add(lw.Inequality("plank", lambda b, t: [b.point((x, 0, 0))[2] for x in (-0.5, 0.5)], name="feet"))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 3, 1), name="load"))
    world.add(lw.Inequality("plank", "load", lambda a, b, t: b.position[2] - a.position[2] - 1, name="prop"))
    return world


FEATURES = {
    "bodies that touch": lambda: boxes(2, restitution=0.5),
    "ropes and hard limits": stopped,
    "inequalities": unequal,
    "contact beside loops": four_bar,
    "points of Lagrangian bodies": footed,
}


def attempt(solver, integrator, feature):
    """yes: what rests stays at rest; what lacks support is refused by name."""
    world = FEATURES[feature]()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            sim = lw.Simulation(world, solver=solver, integrator=integrator)
            sim.step(2)
    except lw.LinkworkError as refusal:
        named = any(f'"{e.name}"' in str(refusal) for e in world.elements)
        return REFUSED if named and not isinstance(refusal, lw.DivergenceError) else NO
    if feature == "contact beside loops":
        return YES if sim.drift() < 1e-6 and np.isfinite(sim.energy().total) else NO
    return YES if max(np.abs(sim.velocity(body)).max() for body in world.bodies) < 1e-8 else NO


def table():
    """Markdown: the pairs that take contact, then the others in a line."""
    found = {pair: [attempt(*pair, feature) for feature in FEATURES] for pair in PAIRS}
    lines = [f"| solver | integrator | {' | '.join(FEATURES)} |", f"|---|---|{'---|' * len(FEATURES)}"]
    lines += [
        f"| `{pair[0]}` | `{pair[1]}` | {' | '.join(cells)} |" for pair, cells in found.items() if set(cells) != {REFUSED}
    ]
    others = ", ".join(
        f"`{solver}` with `{integrator}`" for (solver, integrator), cells in found.items() if set(cells) == {REFUSED}
    )
    return "\n".join(lines) + f"\n\nRefused by name: {others}."
