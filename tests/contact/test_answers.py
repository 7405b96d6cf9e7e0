"""R in implicit steps and in joint coordinates, and what a strike does to everybody, against dense solves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from tests.contact.answers import responded
from tests.contact.implicit_answers import compare as compare_implicit
from tests.contact.joint_answers import compare as compare_joints
from tests.contact.joint_answers import ready

ROOT = Path(__file__).parents[2]


def reports(module, *arguments):
    """What a module of oracles prints where nothing is compiled."""
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", f"tests.contact.{module}", *arguments]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_implicit_steps_answer_as_a_dense_solve_of_their_matrix():
    names = ["sprung", "sliding", "pointed", "coupled 3", "coupled 25", *(f"limbed {k}" for k in range(3))]
    found = [report for report in reports("implicit_answers", *names) if report is not None]
    assert len(found) == len(names) and sum(report["limbs"] for report in found) > 15
    errors = [report[stage] for report in found for stage in ("begin", "again", "struck begin", "struck again")]
    assert max(errors) < 1e-12, found[int(np.argmax(errors)) // 4]


@pytest.mark.parametrize(("begin", "end", "options"), [(12, 15, {"stacked": 0.0, "grounds": 0.3}),
                                                       (112, 114, {"stacked": 0.0, "loops": 2, "grounds": 0.2, "spread": 0.5})])  # fmt: skip
def test_joints_answer_as_bodies_and_rows_do(begin, end, options):
    found = [r for r in reports("joint_answers", str(begin), str(end), json.dumps(options)) if r["error"] is not None]
    assert {report["solver"] for report in found} == {"aba", "ltdl", "tree", "anticipation"}
    assert max(max(r["error"].values()) for r in found) < 1e-10, max(found, key=lambda r: max(r["error"].values()))


def test_compiled_ones_do_too():
    report = compare_implicit("limbed 2")
    assert max(value for name, value in report.items() if name not in ("name", "limbs")) < 1e-12
    for solver in ("aba", "ltdl"):
        assert max(compare_joints(24, solver, stacked=0.0, grounds=0.3).values()) < 1e-11


@pytest.mark.parametrize("solver", ["aba", "ltdl"])
def test_held_joints_answer_with_what_holds_them(solver):
    """H + h D + h^2 K, D and K on the diagonal, against the inertia matrix of the tree."""
    h, count = 0.02, 4
    world = lw.World()
    before = world.ground
    for k in range(count):
        body = world.add(lw.RigidBody(1.0 + k, (0.1, 0.2, 0.15), position=(k + 0.5, 0.1 * k, 0), name=f"link{k}"))
        world.add(lw.Hinge(before, body, at=(k, 0, 0), axis=(0.6 * (k % 2), 1, 0), name=f"hinge{k}"))
        world.add(lw.JointSpring(f"hinge{k}", 300.0 * (k + 1), damping=2.0))
        before = body
    world.add(lw.Rope(world.ground, "link0", length=100.0))
    sim = ready(world, solver, "joint-implicit", h)
    members, R = responded(sim.integrator.inverse_mass, sim.work, np.array([False, True, False, True]))
    tree = lw.reduced.compile(world)
    q = np.zeros(count)
    H = lw.reduced.crba(tree, q) + np.diag([h * 2.0 + h**2 * 300.0 * (k + 1) for k in range(count)])
    origin = sim.model.bodies.frames["RigidBody"].origin
    J = np.vstack([lw.reduced.jacobian(tree, q, f"link{b}", origin[b]) for b in members])
    assert np.allclose(R, J @ np.linalg.solve(H, J.T), rtol=1e-11, atol=1e-13)
