"""Section 9 with its auxiliary constraints: what J, factor, solves and W take, beside dense algebra and conjugate gradients.

The sweeps of `anticipation` are taken apart as those of `fronts` are in sizes.py: assembly, elimination of the tree, a sweep
forward, one backward, W, and dividing by it (`sim.matrices.stages`). All of it in one pass is timed as well.
"""

import numpy as np
from numba import njit
from scipy.linalg import cho_factor, cho_solve

import linkwork as lw
from papers.baraff96 import structures
from papers.baraff96.matrices import block_inverse
from papers.baraff96.sizes import whole
from papers.baraff96.timing import best

PAPER = {  # milliseconds on a 250 MHz R4400 (section 9); faster: than dense algebra, cg: than conjugate gradients
    "108": {"what": "54 pins in a plane", "total": 7.75, "J": 2.75, "faster": None, "cg": 3.0},
    "96+12": {"what": "the same with loops", "total": 24.75, "J": None, "faster": None, "cg": 1.0},
    "96+3": {"what": "in space, three contacts", "total": 18.0, "J": 4.4, "faster": 2.0, "cg": None},
    "381": {"what": "127 joints in space (figure 3)", "total": 44.6, "J": 4.0, "faster": 40.0, "cg": None},
}  # fmt: skip
PRECISE, ROUGH = 1e-10, 1e-3  # residuals |A lambda - b| / |b| at which conjugate gradients stop


def worlds():
    return {
        "108": structures.planar_tree(54),
        "96+12": structures.planar_loops(48, 6),
        "96+3": structures.touching(32, 3),
        "381": lw.scenes.get("tree"),
    }


def split(world, *, seconds):
    """Seconds of each part, of all in one pass, and of other ways to the same multipliers."""
    sim = lw.Simulation(world, solver="anticipation")
    m, stages = sim.matrices, sim.matrices.stages

    def timed(stage, factored=False):
        return best(stage, lambda: stages.reset(factored=factored), seconds=seconds, least=20)

    empty = timed(stages.nothing)
    elimination, forward = timed(stages.eliminate) - empty, timed(stages.forward, factored=True) - empty
    parts = {
        "M": timed(stages.masses) - empty,
        "J": timed(stages.rows) - empty,
        "factor": elimination - forward,
        "solve": forward + timed(stages.backward, factored=True) - empty,
    } | _of_w(stages, seconds)
    J, inverse = m.J, block_inverse(m.M, [at.stop - at.start for at in m.bodies.values()])
    A, b = (J @ inverse @ J.T).toarray(), np.random.default_rng(0).normal(size=J.shape[0])
    auxiliary = sum(m.constraints[name].stop - m.constraints[name].start for name in m.elimination.left_out)
    return {
        "primary": len(m.rows) - auxiliary,
        "auxiliary": auxiliary,
        "seconds": parts,
        "anticipation": whole(sim, seconds=seconds),
        "tree": whole(lw.Simulation(world, solver="tree"), seconds=seconds),
        "dense_cholesky": best(lambda: cho_solve(cho_factor(A, check_finite=False), b, check_finite=False), seconds=seconds),
        "elimination": elimination + parts["solve"] - forward,
        "cg": {f"{tolerance:g}": _gradients(J, inverse, b, tolerance, seconds) for tolerance in (ROUGH, PRECISE)},
    }


def _of_w(stages, seconds):
    """Forming W, and dividing by it."""
    stages.reset(factored=True)
    W = np.array(stages.response(), order="F")
    if not len(W):
        return {"W": 0.0, "divide": 0.0}
    b = np.ones(len(W))
    return {"W": best(stages.response, seconds=seconds), "divide": best(lambda: stages.divide(W, b), seconds=seconds)}


def _gradients(J, inverse, b, tolerance, seconds):
    """Conjugate gradients on J M^-1 J^T, which is not formed."""
    matrices = [(m.indptr, m.indices, m.data) for m in (J, J.T.tocsr(), inverse)]
    x, iterations = conjugate_gradients(*matrices, b, tolerance)
    residual = float(np.linalg.norm(J @ (inverse @ (J.T @ x)) - b) / np.linalg.norm(b))
    return {"iterations": int(iterations), "residual": residual,
            "seconds": best(lambda: conjugate_gradients(*matrices, b, tolerance), seconds=seconds)}  # fmt: skip


@njit
def _times(matrix, x, out):
    starts, columns, values = matrix
    for i in range(len(starts) - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        out[i] = total


@njit
def conjugate_gradients(J, JT, W, b, tolerance):
    """(lambda, iterations) of J W J^T lambda = b, from zero; each matrix as (starts, columns, values) of its rows."""
    x, r = np.zeros_like(b), b.copy()
    p, Ap = r.copy(), np.empty_like(b)
    force, motion = np.empty(len(W[0]) - 1), np.empty(len(W[0]) - 1)
    now, stop = r @ r, tolerance**2 * (b @ b)
    iterations = 0
    while now > stop and iterations < 100 * len(b):
        _times(JT, p, force)
        _times(W, force, motion)
        _times(J, motion, Ap)
        step = now / (p @ Ap)
        x += step * p
        r -= step * Ap
        before, now = now, r @ r
        p = r + now / before * p
        iterations += 1
    return x, iterations


def measure(report=lambda text: None, *, seconds=0.5):
    found = {}
    for key, world in worlds().items():
        report(f"{key} multipliers: {PAPER[key]['what']}")
        found[key] = {"paper": PAPER[key], **split(world, seconds=seconds)}
    return found
