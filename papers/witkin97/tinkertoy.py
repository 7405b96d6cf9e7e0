"""A tinkertoy, built while it moves: parts are snapped on one after another, and the rest goes on as it was.

A part is a function of where bodies are and how fast they move, which gives elements; `sim.add` snaps them on.
"""

import warnings

import numpy as np

import linkwork as lw

DT, SECONDS = 1e-3, 0.5  # s of each stage
ROD = 0.4  # m
NAIL = (0.0, 1.5, 0.5)  # m


def wire(position, velocity):
    """A bead on a wire, which is a circle in the x-z plane."""
    bead = lw.Particle(1.0, position=(1.0, 0, 0), name="a")
    circle = lw.Constraint(bead, lambda a, t: 0.5 * (a.position[0] ** 2 + a.position[2] ** 2 - 1.0), name="wire")
    return [bead, circle, lw.Constraint(bead, lambda a, t: a.position[1], name="plane")]


def hung(name, other, towards):
    """A part that adds a particle one rod away from another, at rest relative to it."""

    def part(position, velocity):
        place = position(other) + ROD * np.asarray(towards) / np.linalg.norm(towards)
        bead = lw.Particle(0.5, position=place, velocity=velocity(other), name=name)
        return [bead, lw.Distance(other, bead, length=ROD, name=f"rod {other}-{name}")]

    return part


def braced(a, b):
    return lambda position, velocity: [lw.Distance(a, b, name=f"rod {a}-{b}")]


def box(position, velocity):
    """A rigid box on a ball joint below the last particle: any body, any constraint."""
    at = position("d")
    made = lw.RigidBody(0.5, shape=lw.Box(0.1, 0.1, 0.2), position=at - (0, 0, 0.1), velocity=velocity("d"), name="box")
    return [made, lw.Ball("d", made, at=at, name="hook")]


def nailed(position, velocity):
    """A rod from a nail to the third bead: with the wire it closes a loop through the ground."""
    return [lw.Distance("ground", "c", on_a=NAIL, name="stay")]


def doubled(position, velocity):
    """The same rod once more: redundant, which conjugate gradients do not mind."""
    return [lw.Distance("a", "b", length=ROD, name="rod a-b again")]


STAGES = {
    "a bead on a wire": wire,
    "a second bead on a rod": hung("b", "a", (0.6, 0, -0.8)),
    "a third": hung("c", "b", (0, 1, -0.2)),
    "a brace from the third to the first": braced("a", "c"),
    "a fourth": hung("d", "c", (0, 0.3, -1)),
    "a box on a ball joint": box,
    "a stay to a nail": nailed,
    "a rod doubled": doubled,
}


def measure(say, seconds=SECONDS):
    """Stage by stage: what was added, rows, the jump of velocities, drift and energy at its end, iterations."""
    world, (first, *_) = lw.World(), STAGES.values()
    world.add(first(None, None))
    sim, found, path = lw.Simulation(world, dt=DT, solver="cg", integrator="rattle"), [], []
    for name, part in STAGES.items():
        say(name)
        before = {body.name: sim.velocity(body.name) for body in world.bodies}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            if part is not first:
                sim.add(part(sim.position, sim.velocity))
            jump = max(float(np.abs(sim.velocity(b) - v).max()) for b, v in before.items())
            start = sim.energy().total
            for _ in range(round(seconds / DT / 10)):
                sim.step(10)
                path.append([sim.position(b.name).tolist() for b in world.bodies])
        report, model = sim.solver_report(), sim.model.summary()
        found.append({"stage": name, "bodies": model["bodies"], "rows": model["rows"], "redundant": model["redundant"],
                      "jump": jump, "drift": sim.drift(), "energy": abs(sim.energy().total - start),
                      "iterations": report.iterations / report.solves, "conflict": report.conflict})  # fmt: skip
    return {"stages": found, "path": path, "dt": DT, "seconds": seconds}


def last_world():
    """All parts, as built."""
    world = lw.World()
    for part in STAGES.values():
        world.add(part(lambda name: np.asarray(world.find(name).position), lambda name: np.asarray(world.find(name).velocity)))
    return world
