"""R of touched bodies against the dense Schur complement."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.inverse_mass import BySweeps
from tests.contact.answers import by_schur, by_sweeps, compare, slots_of

ROOT = Path(__file__).parents[2]
FORESTS = {
    "all kinds": (0, 12, {"spread": 0.5}),
    "loops": (5000, 5008, {"spread": 0.5, "loops": 2, "grounds": 0.2, "stacked": 0.0}),
    "rigid": (2000, 2006, {"kinds": ["rigid"], "largest": 12, "grounds": 0.15, "stacked": 0.0, "spread": 1.0}),
}


TREES = {
    "trees": (0, 60, {}),
    "few touched": (1000, 1020, {"largest": 30, "touched": 0.1, "deep": 0.7}),
    "long ways": (3000, 3006, {"largest": 40, "touched": 0.03, "deep": 1.0}),
    "fronts": (2000, 2020, {"solver": "fronts", "massless": 0.0}),
}


def reports(module, begin, end, options):
    """What a module of oracles prints where nothing is compiled."""
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", f"tests.contact.{module}", str(begin), str(end), json.dumps(options)]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.parametrize("case", FORESTS)
def test_sweeps_give_the_dense_schur_complement(case):
    """Loops have soft pivots, which yield by 1e-12 of what they resist: at 1 to 10 kg by 1e-7 at most."""
    begin, end, options = FORESTS[case]
    found = reports("answers", begin, end, options)
    errors = [report["error"] for report in found if report["error"] is not None]
    assert len(errors) > 10
    assert max(errors) < 1e-7, max(found, key=lambda report: report["error"] or 0.0)


@pytest.mark.parametrize("case", TREES)
def test_responses_of_trees_are_composed_along_them(case):
    """All joints, rotors, links without mass: exact, and without a solve for each column."""
    begin, end, options = TREES[case]
    found = reports("random_trees", begin, end, options)
    assert len(found) == end - begin and all(report["composed"] for report in found)
    assert max(report["error"] for report in found) < 1e-12, max(found, key=lambda report: report["error"])
    assert max(report["apart"] for report in found) < 1e-9, max(found, key=lambda report: report["apart"])


@pytest.mark.parametrize("seed", [3, 5])
def test_compiled_sweeps_do_too(seed):
    assert compare(seed, "tree", kinds=["rigid"], largest=6, grounds=0.3, stacked=0.0, loops=1) < 1e-7


def test_trees_answer_in_coordinates_of_unit_mass_and_loops_by_columns():
    """A doll's limbs (ball, hinge, universal) and its floating root; a closed one has no such coordinates."""
    for closed in (False, True):
        world = lw.scenes.get("rag-doll-on-stairs")
        if closed:
            world.add(lw.Ball("hand-left", "hand-right", at=(0, 0, 1.47)))
        sim = lw.Simulation(world, dt=1e-3)
        sim._system.factor()
        answers = BySweeps(sim.schedules)
        slots, used, groups, length = slots_of(answers, np.ones(15, bool))
        answers.respond(sim.work, slots, groups, np.zeros(length))
        freedoms = 6 + 2 * 3 + 2 * (3 + 1 + 2 + 3 + 1 + 1)
        assert (used, groups) == (15, 1) and slots.rank[0] == (-1 if closed else freedoms + 2)  # to a multiple of four
        members, R = by_sweeps(sim, np.ones(15, bool))
        exact, scale = by_schur(sim, members)
        assert np.abs(R - exact).max() < (1e-7 if closed else 1e-13) * scale


def test_massless_links_and_rotors_answer_too():
    world = lw.World()
    arm = world.add(lw.RigidBody(2.0, (0.1, 0.2, 0.3), position=(0.5, 0, 0), name="arm"))
    cross = world.add(lw.RigidBody(0, (0, 0, 0), position=(1, 0, 0), name="cross"))
    hand = world.add(lw.RigidBody(1.0, (0.02, 0.03, 0.04), position=(1.2, 0.1, 0), name="hand"))
    world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(lw.Hinge(arm, cross, at=(1, 0, 0), axis=(0, 1, 0), name="bend"))
    world.add(lw.Slider(cross, hand, at=(1, 0, 0), axis=(1, 0, 0.5), name="reach"))
    world.add([lw.Armature("shoulder", 0.3), lw.Armature("reach", 0.7)])
    sim = lw.Simulation(world, dt=1e-3)
    sim._system.factor()
    touched = np.array([True, False, True])
    members, R = by_sweeps(sim, touched)
    tree = lw.reduced.compile(world)
    frames = sim.model.bodies.frames["RigidBody"]
    origins = [frames.origin[sim.model.bodies.place[k]] for k in members]
    J = np.vstack([lw.reduced.jacobian(tree, np.zeros(3), world.bodies[k], o) for k, o in zip(members, origins, strict=True)])
    assert np.allclose(R, J @ np.linalg.solve(lw.reduced.crba(tree, np.zeros(3)), J.T), rtol=0, atol=1e-12)
