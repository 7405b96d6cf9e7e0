"""R of touched bodies by sweeps, against the dense Schur complement, on random mechanisms.

Run as a program with LINKWORK_KERNELS=casadi it does so for many without compiling, and prints a line of JSON for each.
"""

import json
import sys

import numpy as np

from linkwork.contact import responses as r
from linkwork.contact.trees import stretches, trees_of, velocity_parts
from tests.solvers.forests import assembled, forest, simulations


def by_sweeps(sim, touched):
    """(bodies of the slots, R of all groups as one matrix): zero between groups."""
    model, n = trees_of(sim.programs), len(touched)
    slot_of, body_of = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    first, size, at = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int64)
    slots, groups, length = r.group_slots(model.bodies, model.order, touched, slot_of, body_of, first, size, at)
    R = np.full(length, np.nan)
    sim._factor()
    x = sim.work[model.entries[: len(r.sweeping(model).saved)]]
    r.responses(sim.work, sim.programs.table, model, r.sweeping(model), body_of, first, size, at, R, groups)
    assert np.array_equal(x, sim.work[model.entries[: len(x)]])
    whole = np.zeros((6 * slots, 6 * slots))
    for g in range(groups):
        rows = slice(6 * first[g], 6 * (first[g] + size[g]))
        whole[rows, rows] = R[at[g] : at[g] + (6 * size[g]) ** 2].reshape(6 * size[g], -1)
    assert slots == touched.sum()
    return body_of[:slots], whole


def by_schur(sim, members):
    """M^-1 - M^-1 J^T (J M^-1 J^T)^+ J M^-1 of the bodies' rigid motions; and the largest entry of M^-1."""
    H, _ = assembled(sim)
    nv = sum(kind.nv for kind in sim.model.bodies.kinds)
    M, J = H[:nv, :nv], H[nv:, :nv]
    inverse = np.linalg.inv(M)
    A = J @ inverse @ J.T
    whole = inverse - inverse @ J.T @ np.linalg.pinv(A, rcond=1e-11, hermitian=True) @ J @ inverse
    first = np.concatenate([[0], np.cumsum([kind.nv for kind in sim.model.bodies.kinds])]).astype(int)
    S = np.zeros((6 * len(members), nv))
    for k, body in enumerate(members):
        for i, part in enumerate(velocity_parts(sim.model.bodies.kinds[body])):
            if part >= 0:
                S[6 * k + i, first[body] + part] = 1.0
    return S @ whole @ S.T, np.abs(S @ inverse @ S.T).max()


def compare(seed, solver, **options):
    """The largest error relative to the largest answer of a free body; None where no body can be touched."""
    sim = simulations(forest(seed, **options), (solver,))[solver]
    rng = np.random.default_rng([seed, 1])
    touched = np.array([not stretches(kind) and rng.random() < 0.7 for kind in sim.model.bodies.kinds])
    if not touched.any():
        return None
    members, R = by_sweeps(sim, touched)
    assert np.array_equal(R, R.T)
    exact, scale = by_schur(sim, members)
    return float(np.abs(R - exact).max() / scale)


if __name__ == "__main__":
    begin, end, options = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    for seed in range(begin, end):
        for solver in ("tree", "fronts"):
            print(json.dumps({"seed": seed, "solver": solver, "error": compare(seed, solver, **options)}), flush=True)
