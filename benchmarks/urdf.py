"""All robots of `example-robot-data`: does linkwork load them, how fast, and do they move as Pinocchio has it?

    python -m benchmarks.urdf

Writes results/urdf.json and urdf.md. Forward dynamics at random states, with the base fixed and floating: the largest
difference of an acceleration relative to the largest acceleration, the worst of all states.
"""

import time
from pathlib import Path

import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks import machine, tables
from benchmarks.robots import FOLDER, ROBOTS, Pair, loaded

STATES = 20
BOUND = 1e-9
TURNS = 2  # of loading, of which the best counts
TALOS_TURNS = 5
HANDS = {  # hands without mass, of robots that are refused with them
    "romeo.urdf": {"LHand": 0.0, "RHand": 0.0},
    "romeo_laas_small.urdf": {"l_gripper_joint": 0.0, "r_gripper_joint": 0.0},
}
RESULTS = Path(__file__).parent / "results" / "urdf.json"


def worst_error(pair):
    """The worst relative error of accelerations over all states."""
    worst = 0.0
    for q, v, tau in zip(*pair.states(STATES), strict=True):
        there = pin.aba(pair.model, pair.data, q, v, tau)
        here = pair.coordinates(q)
        wanted = pair.accelerations(here, v, there)
        found = lw.reduced.aba(pair.tree, here, pair.velocities(here, v), pair.velocities(here, tau))
        worst = max(worst, float(np.abs(found - wanted).max() / np.abs(wanted).max()))
    return worst


def compared(path, floats, lock=None):
    """(worst error, links with a mended inertia), or why there is none."""
    try:
        pair = Pair(path.stem, path, floats, lock or {})
    except lw.LinkworkError as error:
        return None, str(error).removeprefix(f"{path}:")
    return worst_error(pair), pair.mended


def timed(path, turns, **options):
    """The World and the least seconds that loading takes, by the clock and of the processor."""
    wall, cpu, world = [], [], None
    for _ in range(turns):
        began, worked = time.perf_counter(), time.process_time()
        world = loaded(path, True, **options)
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - worked)
    return world, min(wall), min(cpu)


def measured(path):
    """One robot's row, as a dictionary."""
    row = {"robot": str(path.relative_to(FOLDER))}
    try:
        world, wall, cpu = timed(path, TURNS)
    except lw.LinkworkError as error:
        row["refused"] = str(error).removeprefix(f"{path}:")
        if path.name in HANDS:
            locked = {
                base: compared(path, floats, HANDS[path.name])[0] for base, floats in (("fixed", False), ("floating", True))
            }
            row["locked"] = {"joints": list(HANDS[path.name]), **locked}
        return row
    bare = timed(path, TURNS, visuals=False, contact=False)[2]
    fixed, floating = compared(path, False), compared(path, True)
    tree = lw.reduced.compile(world, loops=True)
    joints = [c for c in world.constraints if isinstance(c, lw.Joint)]
    return {**row, "bodies": len(world.bodies), "joints": len(joints), "gears": len(world.constraints) - len(joints),
            "freedoms": tree.nv, "visuals": len(world.visuals), "remarks": len(world.remarks), "seconds": round(wall, 3),
            "cpu_seconds": round(cpu, 3), "cpu_seconds_bare": round(bare, 3), "fixed": fixed[0], "floating": floating[0],
            "not_fixed": fixed[1] if fixed[0] is None else None, "not_floating": floating[1] if floating[0] is None else None,
            "mended": floating[1] if floating[0] is not None else None}  # fmt: skip


def cells(row):
    if "refused" in row:
        said = f"refused: line {row['refused']}"
        if "locked" in row:
            fixed, floating = (f"{row['locked'][base]:.1e}" for base in ("fixed", "floating"))
            said += f". With {' and '.join(row['locked']['joints'])} locked it loads, with errors of {fixed} and {floating}"
        return [row["robot"], *[None] * 8, said]
    errors = ["" if row[base] is None else f"{row[base]:.1e}" for base in ("fixed", "floating")]
    said = [f"base {base}: {row[f'not_{base}']}" for base in ("fixed", "floating") if row[f"not_{base}"]]
    said += [f"{row['mended']} inertias mended"] if row["mended"] else []
    seconds = [f"{row['cpu_seconds']:.2f}", f"{row['cpu_seconds_bare']:.3f}"]
    return [row["robot"], row["bodies"], row["joints"], row["freedoms"], *seconds, *errors, row["remarks"], "; ".join(said)]


def text(result):
    rows, talos = result["robots"], result["talos"]
    read = [row for row in rows if "refused" not in row]
    errors = [row[base] for row in read for base in ("fixed", "floating") if row[base] is not None]
    header = ["robot", "bodies", "joints", "freedoms, floating", "load, s", "bare, s", "error, fixed", "error, floating"]
    rows = tables.markdown([*header, "remarks", ""], [cells(row) for row in rows])
    over = sum(error > BOUND for error in errors)
    return f"""# URDF: the robots of example-robot-data

Written by `python -m benchmarks.urdf`. {machine.sentence(result["machine"])}

{len(read)} of {len(result["robots"])} files load, {len(result["robots"]) - len(read)} are refused. {len(errors)} comparisons
with Pinocchio at {STATES} random states each: the worst relative error is {max(errors):.1e}, and {over} exceed {BOUND:g}.
Talos (`{talos["file"]}`) loads in {talos["cpu_seconds"]:.2f} s of the processor ({talos["seconds"]:.2f} s by the clock)
with all its meshes, the best of {TALOS_TURNS}.

Seconds are the processor's, the best of turns, with visuals and collisions; bare: without. Both have joints that mimic others
free, as Pinocchio reads them. Where an inertia is one that no body has, both have the nearest that one has.

{rows}"""


def main():
    about = machine.describe()
    talos = FOLDER / ROBOTS["Talos"][0]
    _, wall, cpu = timed(talos, TALOS_TURNS)
    talos_row = {"file": talos.name, "seconds": round(wall, 3), "cpu_seconds": round(cpu, 3)}
    result = {"machine": about, "states": STATES, "talos": talos_row, "robots": []}
    for path in sorted(FOLDER.rglob("*.urdf")):
        result["robots"].append(measured(path))
        print(*cells(result["robots"][-1]), sep="  ", flush=True)
    tables.write(RESULTS, result, text(result))


if __name__ == "__main__":
    main()
