"""What it costs to read a simulation, and to close a control loop around it.

    python -m benchmarks.reads --out benchmarks/results/reads.json

A read is timed as a step with the read behind it, less a step alone: the first read after a step, which makes the readout; and
by itself, again and again, which finds it made. Contestants take turns of some dozen calls, the best turn of each counts, and
times are those of the process: on a machine that does other work, too, the shortest turns are those that it left alone.
"""

import argparse
import math
import time
import warnings

import numpy as np

import linkwork as lw
from benchmarks import machine, tables

CALLS = 60  # of a turn
LINKS = 6  # of the arm


def arm(links=LINKS):
    """Hinges about y, z and x in turn, each with a motor."""
    world, before = lw.World(), None
    before = world.ground
    for k in range(links):
        body = lw.RigidBody(0.5, shape=lw.Box(0.1, 0.02, 0.02), position=(0.1 * k + 0.05, 0, 0), name=f"link{k}")
        world.add(body)
        axis = ((0, 1, 0), (0, 0, 1), (1, 0, 0))[k % 3]
        world.add(lw.Hinge(before, body, at=(0.1 * k, 0, 0), axis=axis, name=f"joint{k}"))
        world.add(lw.Motor(f"joint{k}", name=f"motor{k}"))
        before = body
    return world


WORLDS = {
    "pendulum": lambda: lw.scenes.get("pendulum"),
    f"arm of {LINKS} hinges": arm,
    "22 hinges": lambda: lw.scenes.get("hinge-chain", n=22),
}


def tooled(world):
    """The world with a frame on its last body."""
    world.add(lw.Frame(world.bodies[-1], position=(0.1, 0, 0), orientation=(0.6, 0.8, 0, 0), name="tool"))
    return world


def reads(sim):
    """{name: a call that reads}."""
    body, joint = sim.world.bodies[-1].name, sim.world.constraints[-1].name
    found = {
        "position(name)": lambda: sim.position(body),
        "orientation(name)": lambda: sim.orientation(body),
        "velocity(name)": lambda: sim.velocity(body),
        "angle(name)": lambda: sim.angle(joint),
        "rate(name)": lambda: sim.rate(joint),
        "position(frame)": lambda: sim.position("tool"),
        "pose(frame)": lambda: sim.pose("tool"),
        'twist(frame, axes="local")': lambda: sim.twist("tool", axes="local"),
        "frame_jacobian(frame)": lambda: sim.frame_jacobian("tool"),
        "frames": lambda: sim.frames,
        "positions": lambda: sim.positions,
        "q": lambda: sim.q,
        "q and qd": lambda: (sim.q, sim.qd),
        "reaction(name)": lambda: sim.reaction(joint),
        "acceleration(name)": lambda: sim.acceleration(body),
    }
    if sim.world.forces:
        force = sim.world.forces[-1].name
        found |= {"force(name)": lambda: sim.force(force), "forces": lambda: sim.forces}
    return found


def loops(sim):
    """{name: one turn of a control loop}."""
    names, gains = list(sim.control), np.full(len(sim.q), 0.5)

    def law():
        return -gains * sim.q - 0.1 * sim.qd

    def all_at_once():
        sim.control.commands = law()
        sim.step()

    def one_by_one():
        for name, command in zip(names, law().tolist(), strict=True):
            sim.control[name] = command
        sim.step()

    return {"commands at once": all_at_once, "commands one by one": one_by_one}


def turn(call):
    begin = time.process_time()
    for _ in range(CALLS):
        call()
    return (time.process_time() - begin) / CALLS


def best_of_turns(calls, rounds):
    """{key: seconds} for {key: call}, all taking turns."""
    found = dict.fromkeys(calls, math.inf)
    for call in calls.values():
        call()
    for _ in range(rounds):
        for key, call in calls.items():
            found[key] = min(found[key], turn(call))
    return found


def measure(make, rounds):
    """{case: {read: seconds}} of one world."""
    sim, euler = (lw.Simulation(tooled(make()), dt=1e-4, integrator=name) for name in ("rattle", "euler"))
    start = {id(one): one.state.copy() for one in (sim, euler)}

    def after_a_step(read):
        def both():
            sim.step()
            read()

        return both

    calls = {("step", "rattle"): sim.step, ("step", "euler"): euler.step}
    calls |= {("first", name): after_a_step(read) for name, read in reads(sim).items()}
    calls |= {("again", name): read for name, read in reads(sim).items()}
    if sim.control:
        calls |= {("loop", name): call for name, call in loops(sim).items()}
        calls |= {("loop", f"{name}, euler"): call for name, call in loops(euler).items()}
    for one in (sim, euler):
        one.state = start[id(one)]
    found = best_of_turns(calls, rounds)
    result: dict[str, dict[str, float]] = {}
    for (case, name), seconds in found.items():
        result.setdefault(case, {})[name] = seconds - (found["step", "rattle"] if case == "first" else 0.0)
    return result


def report(result):
    """The Markdown page."""
    worlds = result["worlds"]
    names = list(dict.fromkeys(name for world in worlds.values() for name in world["first"]))
    rows = [[f"a step of {name}", *(tables.microseconds(world["step"][name]) for world in worlds.values())] for name in
            ("rattle", "euler")]  # fmt: skip
    for name in names:
        cells = [(world["first"].get(name), world["again"].get(name)) for world in worlds.values()]
        rows.append([f"`{name}`", *("" if first is None else f"{tables.microseconds(max(first, 0.0))}, "
                                    f"{tables.microseconds(again)}" for first, again in cells)])  # fmt: skip
    text = (
        f"# Reads\n\n{machine.sentence(result['machine'])}\n\nMicroseconds of the processor: the first read after a step, and "
        f"the same again. Best of {result['rounds']} turns.\n\n{tables.markdown(['', *worlds], rows)}\n\n## A control loop\n\n"
        f"Read q and qd, set all commands, make a step.\n\n"
    )
    turns = [[f"{name}: {case}", tables.microseconds(seconds), f"{1 / seconds:,.0f}"] for name, world in worlds.items()
             for case, seconds in world.get("loop", {}).items()]  # fmt: skip
    return text + tables.markdown(["", "us a step", "steps a second"], turns)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/reads.json")
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    described = machine.describe()
    worlds = {name: measure(make, arguments.rounds) for name, make in WORLDS.items()}
    result = {"machine": described, "rounds": arguments.rounds, "worlds": worlds}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
