"""The linear systems of implicit steps: what is assembled is the derivative of what a step asks for, and what elimination finds
is the solution."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
QUICK = (
    "top in air", "carried pivot", "arm driven by a drive", "rigid sleigh in water", "a bead of given speed", "wobbling disc",
    "nailed jelly", "nailed affine body", "geared", "sprung", "coupled 4", "coupled 7",
)  # fmt: skip
LONG = ("sliding", *[f"coupled {seed}" for seed in (0, 12, 31)])


@cache
def reported(*arguments):
    """Lines of tests/implicit/report.py, in another process that runs kernels as CasADi functions."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "tests.implicit.report", *arguments]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


def twin_of(name):
    names = QUICK if name in QUICK else LONG
    return next(report for report in reported("twins", *names) if report["name"] == name)


NAMES = [*QUICK, *[pytest.param(name, marks=pytest.mark.slow) for name in LONG]]


@pytest.mark.parametrize("name", NAMES)
def test_exact_tangents_are_the_derivatives_of_what_a_step_asks_for(name):
    """Matrix and right-hand side of the first iteration and of another one, against finite differences in numpy."""
    for what in ("begin", "again"):
        found = twin_of(name)[f"exact {what}"]
        assert found["matrix"] < 1e-6 and found["right"] < 1e-9, (what, found)


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_tangents_have_the_right_residual(name):
    """Their matrix may be any; what must vanish in the end is what the twin says, with origins at joints and elsewhere."""
    for form in ("fronts", "limbs"):
        assert twin_of(name)[f"{form} again"]["right"] < 1e-9
        for what in ("begin", "again"):
            assert twin_of(name)[f"{form} {what}"]["skew"] < 1e-14


@pytest.mark.parametrize("name", ["sprung", pytest.param("sliding", marks=pytest.mark.slow)])
def test_symmetric_tangents_of_springs_are_positive_semidefinite_beyond_the_mass(name):
    for form in ("fronts", "limbs"):
        for what in ("begin", "again"):
            assert twin_of(name)[f"{form} {what}"]["least"] > -1e-12


@pytest.mark.parametrize("name", NAMES)
def test_elimination_solves_what_is_assembled(name):
    for form in ("fronts", "limbs", "exact"):
        for what in ("begin", "again"):
            assert twin_of(name)[f"{form} {what}"]["solution"] < 1e-10, (form, what)


@pytest.mark.parametrize(("begin", "end"), [(0, 6), pytest.param(6, 18, marks=pytest.mark.slow)])
def test_bodies_eliminated_with_their_joints_move_as_others(begin, end):
    """Some joints with springs and some without, and forces between bodies that are no neighbours."""
    found = reported("limbs", str(begin), str(end))
    for r in found:
        assert all(r[f"{form} {what}"] < 1e-10 for form in ("limbs", "fronts") for what in ("begin", "again")), r
        assert r["apart"] < 1e-10 and r["fronts"] == 0, r
    assert sum(r["limbs"] for r in found) > 3 * len(found) > 3 and 0 < sum(r["coupled"] for r in found)
    assert any(0 < r["limbs"] < 6 for r in found)


# -- elimination alone -------------------------------------------------------------------------------------------------


def check_trees(found):
    """Random blocks of any kind: as good as their condition allows."""
    solved = [r for r in found if "redundant" not in r]
    for r in solved:
        for kind in ("symmetric", "exact"):
            assert r[kind] < 1e-10, r
    return solved


def test_random_trees_with_couplings_are_solved():
    """Rigid bodies, joints of three to six rows, blocks between any bodies; symmetric, and not."""
    solved = check_trees(reported("trees", "0", "40"))
    assert len(solved) == 40
    assert np.median([r["exact"] for r in solved]) < 1e-14
    assert max(r["neighbours"] for r in solved) > 5


@pytest.mark.slow
def test_many_more_random_trees_are_solved():
    assert len(check_trees(reported("trees", "40", "120"))) == 80


@pytest.mark.slow
def test_random_trees_of_mixed_bodies_are_solved():
    assert len(check_trees(reported("trees", "1000", "1040"))) > 20
