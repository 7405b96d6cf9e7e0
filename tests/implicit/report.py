"""What comes out where the package's systems are compared with their twins and with dense solves, on many worlds.

`python -m tests.implicit.report twins|trees|limbs [names, or first and last seed]` with LINKWORK_KERNELS=casadi compiles nothing, and prints a line
of JSON for each world.
"""

import json
import sys

import numpy as np

from linkwork.model.compile_model import compile
from tests.implicit import worlds
from tests.implicit.systems import (
    assembled,
    eliminated,
    multipliers,
    place_iterate,
    random_system,
    simulation,
    solved,
    start_step,
    twin,
)
from tests.integrators.problems import PROBLEMS

WORLDS = {
    **{name: PROBLEMS[name].world for name in (
        "top in air", "carried pivot", "arm driven by a drive", "rigid sleigh in water", "a bead of given speed",
        "wobbling disc", "nailed jelly", "nailed affine body")},
    "geared": worlds.geared,
    "sprung": worlds.sprung,
    "sliding": worlds.sliding,
    **{f"coupled {seed}": lambda seed=seed: worlds.coupled(seed, largest=4) for seed in range(40)},
}  # fmt: skip
FORMS = {"fronts": ("symmetric", False), "limbs": ("symmetric", True), "exact": ("exact", False)}


def relative(found, wanted):
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300))


def twins(name):
    """Systems of both tangents beside the twin's: errors of the exact matrices, of right-hand sides, of solutions."""
    report = {"name": name}
    for form, (tangent, limbs) in FORMS.items():
        sim = simulation(WORLDS[name](), tangent, limbs=limbs)
        if limbs and not sim.model.joint_pivot_of:
            report |= {f"limbs {what}": report[f"fronts {what}"] for what in ("begin", "again")}
            continue
        worlds.commands(sim, np.random.default_rng(3))
        start_step(sim)
        step = twin(sim)
        for what in ("begin", "again"):
            iterate = place_iterate(sim, np.random.default_rng(3)) if what == "again" else step.q0
            (A, r), n = assembled(sim, what), step.n
            found = report[f"{form} {what}"] = {"solution": relative(solved(sim, what), np.linalg.solve(A, r))}
            if form == "exact":
                B, wanted = step.begin() if what == "begin" else step.again(iterate, multipliers(sim))
                found |= {"matrix": relative(A, B), "right": relative(r, wanted)}
            else:
                beyond = A[:n, :n] - step.mass(iterate)
                least = np.linalg.eigvalsh(beyond)[0] if n else 0.0
                found |= {"skew": float(np.abs(A - A.T).max()), "least": float(least / np.abs(A[:n, :n]).max())}
                if what == "again":
                    found["right"] = relative(r, step.lack(iterate))
    return report


def trees(seed):
    """A random system on the fronts of a random tree, symmetric and not, by elimination and dense."""
    world, report = worlds.skeleton(seed) if seed < 1000 else worlds.coupled(seed, largest=6), {"seed": seed}
    for exact in (False, True):
        model = compile(world, limbs=False, coupled="forces and constraints" if exact else "forces", pairs=exact)
        if model.redundant:  # random blocks do not know which rows depend on each other
            return {"seed": seed, "redundant": True}
        matrix, right = random_system(model, np.random.default_rng(seed), symmetric=not exact)
        report["exact" if exact else "symmetric"] = relative(eliminated(model, matrix, right), np.linalg.solve(matrix, right))
        report["neighbours"] = max(len(others) for others in model.later.values())
    return report


def limbs(seed):
    """Bodies eliminated together with their joints, and one after another: each against dense, the first iterations alike."""
    report, motions = {"seed": seed}, []
    for form, together in (("limbs", True), ("fronts", False)):
        sim = simulation(worlds.limbed(seed), limbs=together)
        start_step(sim)
        step = twin(sim)
        motions.append(step.of_centres(solved(sim, "begin")[: step.n]))
        for what in ("begin", "again"):
            if what == "again":
                place_iterate(sim, np.random.default_rng(seed))
            report[f"{form} {what}"] = relative(solved(sim, what), np.linalg.solve(*assembled(sim, what)))
        report[form] = len(sim.model.joint_pivot_of)
        report["coupled"] = sum(pivot.coupled for pivot in sim.model.joint_pivot_of.values()) if together else report["coupled"]
    return report | {"apart": relative(*motions)}


if __name__ == "__main__":
    report, given = {"twins": twins, "trees": trees, "limbs": limbs}[sys.argv[1]], sys.argv[2:]
    for each in given if report is twins else range(int(given[0]), int(given[1])):
        print(json.dumps(report(each)), flush=True)
