"""R of touched bodies against the dense Schur complement."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contact.answers import compare

ROOT = Path(__file__).parents[2]
FORESTS = {
    "all kinds": (0, 12, {"spread": 0.5}),
    "loops": (5000, 5008, {"spread": 0.5, "loops": 2, "grounds": 0.2, "stacked": 0.0}),
    "rigid": (2000, 2006, {"kinds": ["rigid"], "largest": 12, "grounds": 0.15, "stacked": 0.0, "spread": 1.0}),
}


@pytest.mark.parametrize("case", FORESTS)
def test_sweeps_give_the_dense_schur_complement(case):
    """Loops have soft pivots, which yield by 1e-12 of what they resist: at 1 to 10 kg by 1e-7 at most."""
    begin, end, options = FORESTS[case]
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.contact.answers", str(begin), str(end), json.dumps(options)]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    reports = [json.loads(line) for line in run.stdout.splitlines()]
    errors = [report["error"] for report in reports if report["error"] is not None]
    assert len(errors) > 10
    assert max(errors) < 1e-7, max(reports, key=lambda report: report["error"] or 0.0)


@pytest.mark.parametrize("seed", [3, 5])
def test_compiled_sweeps_do_too(seed):
    assert compare(seed, "tree", kinds=["rigid"], largest=6, grounds=0.3, stacked=0.0, loops=1) < 1e-7
