"""What `cg` makes of random mechanisms, beside dense algebra.

Run as a program with LINKWORK_KERNELS=casadi it solves many of them without compiling, and prints a line of JSON for each.
"""

import json
import sys
import warnings

import numpy as np

import linkwork as lw
from linkwork.kernels.vocabulary import BodyKernel, RowMode
from linkwork.model import compile_model as compiler
from linkwork.model import nodes as stacking
from linkwork.symbolic.views import GLOBALS
from tests.solvers import forests

NONE = 1e-9  # of the largest eigenvalue: no force moves a row along such a direction


def quiet(world, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, **options)


def solved(sim):
    """One solve for accelerations as a step makes it: J, W = M^-1, forces, right-hand sides, multipliers, accelerations."""
    H, r = forests.assembled(sim)
    n, p = sim.model.velocities, sim.schedules
    for name, value in (("stiffness", 0.0), ("damping", 0.0), ("kick", 1.0)):
        sim.work[GLOBALS.offset(name)] = value
    sim.integrator.run(
        sim.work, p.body(BodyKernel.UPDATE_POSE, BodyKernel.ACCELERATE), p.up(RowMode.ACCELERATION), p.backward()
    )
    x = forests.solution(sim)
    return H[n:, :n], np.linalg.inv(H[:n, :n]), r[:n], r[n:], -x[n:], x[:n]


def scaled(sim, A):
    """The inverse of the block triangles by which `cg` makes the rows of each node orthonormal, as one matrix."""
    scale, row = np.zeros_like(A), 0
    for node in sim.model.nodes:
        rows = slice(row, row + node.kind.size)
        values = np.linalg.eigvalsh(A[rows, rows])
        dependent = values[0] < NONE * values[-1]
        block = np.diag(np.diag(A[rows, rows])) if dependent else A[rows, rows]
        scale[rows, rows] = np.linalg.inv(np.linalg.cholesky(block))
        row += node.kind.size
    return scale


def judged(seed, **options):
    """Errors of one mechanism: of M a = Q + J^T lambda; what is left of the rows in directions in which forces could have met
    them, relative to the right-hand side; what conflicts leave that least squares would not; and facts about it."""
    sim = quiet(forests.forest(seed, **options), solver="cg", integrator="euler")
    if not sim.model.nodes:
        return None
    J, W, force, right, multipliers, acceleration = solved(sim)
    pulled = W @ (force + J.T @ multipliers)
    scale = scaled(sim, J @ W @ J.T)
    A, b = scale @ J @ W @ J.T @ scale.T, scale @ (right - J @ W @ force)
    values, vectors = np.linalg.eigh(A)
    possible = vectors[:, values > NONE * values[-1]]
    left = scale @ (right - J @ acceleration)
    size = max(np.linalg.norm(b), 1e-6)
    return {
        "seed": seed,
        "pulled": float(np.abs(acceleration - pulled).max() / max(np.abs(pulled).max(), forests.GRAVITY)),
        "left": float(np.linalg.norm(possible.T @ left) / size),
        "conflict": float(np.linalg.norm(left) / size),
        "least": float(np.linalg.norm(b - possible @ (possible.T @ b)) / size),
        "iterations": sim.solver_report().most,
        "rows": len(b),
        "rank": possible.shape[1],
    }


if __name__ == "__main__":
    stacking.Evaluator = compiler.Evaluator = forests.remembered(stacking.Evaluator)
    begin, end, options = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    for seed in range(begin, end):
        try:
            print(json.dumps(judged(seed, **options)), flush=True)
        except lw.ModelError:
            print("null", flush=True)
