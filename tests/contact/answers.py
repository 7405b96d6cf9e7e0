"""R of touched bodies by sweeps, against the dense Schur complement, on random mechanisms.

Run as a program with LINKWORK_KERNELS=casadi it does so for many without compiling, and prints a line of JSON for each.
"""

import json
import sys

import numpy as np

from linkwork.contact import responses as r
from linkwork.contact.answers import BySweeps
from linkwork.contact.stages import Slots
from linkwork.contact.trees import stretches, velocity_parts
from tests.solvers.forests import assembled, forest, simulations


def slots_of(answers, touched):
    """Slots of the touched bodies, and their groups: (slots, how many, groups, length of all responses)."""
    n = len(touched)
    whole = [np.zeros(n, dtype=kind) for kind in (np.bool_, np.int64, np.int64, np.int32, np.int32, np.int64, np.int64)]
    slots = Slots(*whole, *[np.zeros((n, 6)) for _ in range(3)])
    grouped = slots.slot_of, slots.body_of, slots.first, slots.size, slots.at
    return slots, *r.group_slots(answers.bodies, answers.order, touched, *grouped)


def responded(answers, work, touched):
    """(bodies of the slots, R of all groups as one matrix): zero between groups."""
    slots, used, groups, length = slots_of(answers, touched)
    R = np.full(length, np.nan)
    answers.respond(work, slots, groups, R)
    whole = np.zeros((6 * used, 6 * used))
    for g in range(groups):
        first, size, at = slots.first[g], slots.size[g], slots.at[g]
        rows = slice(6 * first, 6 * (first + size))
        block, rank = R[at : at + (6 * size) ** 2].reshape(6 * size, -1), slots.rank[g]
        whole[rows, rows] = block if rank < 0 else block[:, :rank] @ block[:, :rank].T
    assert used == touched.sum()
    return slots.body_of[:used], whole


def by_sweeps(sim, touched):
    sim._factor()
    answers = BySweeps(sim.programs)
    x = sim.work[sim.model.multipliers].copy()
    found = responded(answers, sim.work, touched)
    assert np.array_equal(x, sim.work[sim.model.multipliers])
    return found


def selection(model, members):
    """S of u = S v: the rigid motions of bodies from all velocities."""
    first = np.concatenate([[0], np.cumsum([kind.nv for kind in model.bodies.kinds])]).astype(int)
    S = np.zeros((6 * len(members), first[-1]))
    for k, body in enumerate(members):
        for i, part in enumerate(velocity_parts(model.bodies.kinds[body])):
            if part >= 0:
                S[6 * k + i, first[body] + part] = 1.0
    return S


def by_schur(sim, members):
    """M^-1 - M^-1 J^T (J M^-1 J^T)^+ J M^-1 of the bodies' rigid motions; and the largest entry of M^-1."""
    H, _ = assembled(sim)
    nv = sum(kind.nv for kind in sim.model.bodies.kinds)
    M, J = H[:nv, :nv], H[nv:, :nv]
    inverse = np.linalg.inv(M)
    A = J @ inverse @ J.T
    whole = inverse - inverse @ J.T @ np.linalg.pinv(A, rcond=1e-11, hermitian=True) @ J @ inverse
    S = selection(sim.model, members)
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
