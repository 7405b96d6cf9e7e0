"""Section 9's two systems without auxiliary constraints: what assembly, factor and solve take.

How the parts are told apart. With the solver "fronts" (body, then joint) the sweeps of a solve are there one by one
(`sim.matrices.stages`): assembly of M, of the rows of J, elimination, forward, backward. Elimination factors and sweeps forward
in one go, so the forward sweep alone is timed too and taken off: factor = elimination - forward. The workspace is put back
before every run, which is not timed, and the time of a stage with nothing in it (the call from Python) is taken off each.
"""

import numpy as np

import linkwork as lw
from papers.baraff96 import structures
from papers.baraff96.matrices import System
from papers.baraff96.multipliers import DenseCholesky
from papers.baraff96.timing import best

PAPER = {  # milliseconds on a 250 MHz R4400 (section 9)
    "plane": {"what": "54 pins in a plane, 108 multipliers", "total": 7.75, "J": 2.75},
    "space": {"what": "127 joints in space, 381 multipliers (figure 3)", "total": 44.6, "J": 4.0},
}
PAPER_RATIO = 4.0  # section 8.2: factor over solve
PAPER_SPEEDUP = 40.0  # section 9: over O(n^3) with 381 multipliers


def worlds():
    return {"plane": structures.planar_tree(54), "space": lw.scenes.get("tree")}


def appendix_count(elimination):
    """Multiply-adds of appendix A as printed: full blocks, explicit inverses (d^3 each)."""
    factor = solve = 0
    for rows, later in zip(elimination.rows, elimination.later, strict=True):
        d = len(rows)
        factor += d**3
        solve += d * d
        for other in later:  # its parent
            p = len(elimination.rows[other])
            factor += d * d * p + (d * d * p + p * d * p)
            solve += 2 * d * p
    return {"factor": factor, "solve": solve, "ratio": factor / solve}


def split(world, *, seconds=0.5):
    """Seconds and arithmetic operations of each part."""
    system = System(world)
    b = np.random.default_rng(0).normal(size=system.rows)
    right = np.concatenate([np.zeros(system.velocities), -b])

    stages = system.stages

    def timed(stage, factored=False):
        def prepare():
            system.set_right_side(right)
            if factored:
                stages.eliminate()

        return best(stage, prepare, seconds=seconds, least=20)

    empty = timed(stages.nothing)
    parts = {
        "M": timed(stages.masses) - empty,
        "J": timed(stages.rows) - empty,
        "elimination": timed(stages.eliminate) - empty,
        "forward": timed(stages.forward, factored=True) - empty,
        "backward": timed(stages.backward, factored=True) - empty,
    }
    counted = {
        "M": stages.masses.arithmetic,
        "J": stages.rows.arithmetic,
        "elimination": stages.eliminate.arithmetic,
        "forward": stages.forward.arithmetic,
        "backward": stages.backward.arithmetic,
    }
    dense = DenseCholesky(system)
    return {
        "joints": len(system.matrices.constraints),
        "multipliers": system.rows,
        "seconds": _derived(parts),
        "arithmetic": _derived(counted),
        "appendix": appendix_count(system.elimination),
        "call": empty,
        "dense_cholesky": best(lambda: dense(b), seconds=seconds),
        "tree": whole(lw.Simulation(world, solver="tree"), seconds=seconds),
    }


def _derived(parts):
    factor, solve = parts["elimination"] - parts["forward"], parts["forward"] + parts["backward"]
    total = parts["M"] + parts["J"] + factor + solve
    return parts | {"factor": factor, "solve": solve, "factor_over_solve": factor / solve, "total": total}


def whole(sim, *, seconds=0.5, least=5):
    """Seconds of all of it in a simulation as it is: M, J, factor, solve."""
    return best(sim.matrices.stages.whole, seconds=seconds, least=least)


def measure(report=lambda text: None, *, seconds=0.5):
    found = {}
    for key, world in worlds().items():
        report(PAPER[key]["what"])
        found[key] = {"paper_ms": PAPER[key], **split(world, seconds=seconds)}
    return found
