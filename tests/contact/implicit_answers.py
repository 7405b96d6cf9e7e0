"""How bodies answer in implicit steps, by sweeps, against dense solves of the same iteration, on random mechanisms.

Run as a program with LINKWORK_KERNELS=casadi it does so for many without compiling, and prints a line of JSON for each.
"""

import json
import sys

import numpy as np

from linkwork.contact.inverse_mass import BySweeps
from linkwork.kernels.vocabulary import Iteration
from tests.contact.answers import pointed, responded, selection, slots_of
from tests.implicit import worlds
from tests.implicit.systems import assembled, parts_of, place_iterate, simulation, start_step

WORLDS = {"sprung": worlds.sprung, "sliding": worlds.sliding, "pointed": pointed,
          **{f"coupled {k}": lambda k=k: worlds.coupled(k, largest=5) for k in range(30)},
          **{f"limbed {k}": lambda k=k: worlds.limbed(k) for k in range(20)}}  # fmt: skip


def compare(name, iterations=None):
    """Largest errors of R, relative to the largest answer without constraints, and of all that a strike changes; None where
    rows are redundant or nothing can be touched."""
    sim = simulation(WORLDS[name](), iterations=iterations)
    rng = np.random.default_rng(7)
    worlds.commands(sim, rng)
    touched = [kind.contact is not None and rng.random() < 0.7 for kind in sim.model.bodies.kinds]
    touched = np.array([*touched, *(True for _ in sim.model.material_points)])
    if not touched.any() or sim.model.redundant:
        return None
    start_step(sim)
    sim.integrator.run(sim.work, sim.schedules.material_points())
    report = {"name": name, "limbs": len(sim.model.joint_pivot_of)}
    for stage in ("begin", "again"):
        if stage == "again":
            place_iterate(sim, rng)
        matrix, _ = assembled(sim, stage)
        inverse = np.linalg.inv(matrix)
        iteration = Iteration(stage)
        sim.integrator.run(sim.work, sim.schedules.iteration(iteration), sim.schedules.solved(iteration))
        answers = BySweeps(sim.schedules, iteration=iteration)
        members, R = responded(answers, sim.work, touched)
        S = selection(sim, members)
        n = S.shape[1]
        exact, free = S @ inverse[:n, :n] @ S.T, S @ np.linalg.inv(matrix[:n, :n]) @ S.T
        report[stage] = float(np.abs(R - exact).max() / np.abs(free).max())
        report[f"struck {stage}"] = struck(sim, answers, touched, inverse[:, :n] @ S.T, rng)
    return report


def struck(sim, answers, touched, response, rng):
    slots, used, groups, _ = slots_of(answers, touched)
    slots.wrench[:used] = rng.normal(size=(used, 6))
    fields = [sim.model.field_of_body(b, "x") for b in range(len(sim.model.bodies.kinds))]
    fields += [sim.model.field_of_node(k, "x") for k in range(len(sim.model.nodes))]
    assert sum(part.stop - part.start for part in parts_of(sim.model)) == len(response)
    before = np.concatenate([sim.work[field] for field in fields])
    answers.apply_impulses(sim.work, slots, groups)
    change, exact = np.concatenate([sim.work[field] for field in fields]) - before, response @ slots.wrench[:used].ravel()
    return float(np.abs(change - exact).max() / np.abs(exact).max())


if __name__ == "__main__":
    for name in sys.argv[1:] or WORLDS:
        print(json.dumps(compare(name)), flush=True)
