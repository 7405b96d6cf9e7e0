"""A tinkertoy, built while it moves: parts are snapped on one after another, and the rest goes on as it was.

Between two stages stands `snapped`: the next world, with every part where and as fast as it was, and what is new.
"""

import warnings

import numpy as np

import linkwork as lw

DT, SECONDS = 1e-3, 0.5  # s of each stage
ROD = 0.4  # m
NAIL = (0.0, 1.5, 0.5)  # m


def wire(world):
    """A bead on a wire, which is a circle in the x-z plane."""
    world.add(lw.Particle(1.0, position=(1.0, 0, 0), name="a"))
    world.add(lw.Constraint("a", lambda a, t: 0.5 * (a.position[0] ** 2 + a.position[2] ** 2 - 1.0), name="wire"))
    world.add(lw.Constraint("a", lambda a, t: a.position[1], name="plane"))


def hung(name, other, towards):
    """A part that adds a particle one rod away from another, at rest relative to it."""

    def part(world):
        at = world.find(other)
        place = np.asarray(at.position) + ROD * np.asarray(towards) / np.linalg.norm(towards)
        world.add(lw.Particle(0.5, position=place, velocity=at.velocity, name=name))
        world.add(lw.Distance(other, name, name=f"rod {other}-{name}"))

    return part


def braced(a, b):
    return lambda world: world.add(lw.Distance(a, b, name=f"rod {a}-{b}"))


def box(world):
    """A rigid box on a ball joint below the last particle: any body, any constraint."""
    at = world.find("d")
    place = np.asarray(at.position) - (0, 0, 0.1)
    world.add(lw.RigidBody(0.5, shape=lw.Box(0.1, 0.1, 0.2), position=place, velocity=at.velocity, name="box"))
    world.add(lw.Ball("d", "box", at=at.position, name="hook"))


def nailed(world):
    """A rod from a nail to the third bead: with the wire it closes a loop through the ground."""
    world.add(lw.Distance(world.ground, "c", on_a=NAIL, name="stay"))


def doubled(world):
    """The same rod once more: redundant, which conjugate gradients do not mind."""
    world.add(lw.Distance("a", "b", name="rod a-b again"))


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


def snapped(parts, sim=None):
    """The world of these parts, those that are already in `sim` with the positions and velocities that they have there."""
    world = lw.World()
    for part in parts:
        part(world)
        for body in world.bodies:
            if sim is not None and body.name in sim.world:
                body.position, body.velocity = sim.position(body.name), sim.velocity(body.name)
                if isinstance(body, lw.RigidBody):
                    body.orientation, body.angular_velocity = sim.orientation(body.name), sim.angular_velocity(body.name)
    return world


def measure(say, seconds=SECONDS):
    """Stage by stage: what was added, rows, the jump of velocities, drift and energy at its end, iterations."""
    found, parts, sim, path = [], [], None, []
    for name, part in STAGES.items():
        say(name)
        parts.append(part)
        before = None if sim is None else {body.name: sim.velocity(body.name) for body in sim.world.bodies}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            sim = lw.Simulation(snapped(parts, sim), dt=DT, solver="cg", integrator="rattle")
            jump = max((float(np.abs(sim.velocity(b) - v).max()) for b, v in (before or {}).items()), default=0.0)
            start = sim.energy().total
            for _ in range(round(seconds / DT / 10)):
                sim.step(10)
                path.append([sim.position(b.name).tolist() for b in sim.world.bodies])
        report, model = sim.solver_report(), sim.model.summary()
        found.append({"stage": name, "bodies": model["bodies"], "rows": model["rows"], "redundant": model["redundant"],
                      "jump": jump, "drift": sim.drift(), "energy": abs(sim.energy().total - start),
                      "iterations": report.iterations / report.solves, "conflict": report.conflict})  # fmt: skip
    return {"stages": found, "path": path, "dt": DT, "seconds": seconds}


def last_world():
    """All parts, as built."""
    return snapped(list(STAGES.values()))
