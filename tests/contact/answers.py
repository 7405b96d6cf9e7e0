"""R of touched bodies by sweeps, against the dense Schur complement, on random mechanisms.

Run as a program with LINKWORK_KERNELS=casadi it does so for many without compiling, and prints a line of JSON for each.
"""

import json
import sys

import numpy as np

import linkwork as lw
from linkwork.contact import delassus as r
from linkwork.contact.inverse_mass import BySweeps
from linkwork.contact.stage_kernels import Slots
from tests.solvers.forests import assembled, forest, simulations


def pointed(loop=False):
    """A beam that carries a box by a ball, a pendulum from the box, and points of many coordinates: some of them touched."""
    world = lw.World()
    beam = world.add(lw.bending_beam(1.0, 1.0, 30.0, bent=(0.1, -0.05), clamp=(3, 0, 0), name="beam"))
    world.add(lw.RigidBody(0.3, shape=lw.Box(0.1, 0.1, 0.1), position=(4, 0, -0.25), name="box"))
    world.add(lw.Ball(beam, "box", at=(4, 0, 0.05), name="pin"))
    arms = world.add(lw.double_pendulum((0.5, 0.6), (1, 2), angles=(0.4, 1.0), pivot=(4, 0, -0.3), name="arms"))
    world.add(lw.Distance("box", arms, on_b=arms.point(0), name="rod"))
    if loop:
        world.add(lw.Distance(beam, arms, on_a=(0.5, 0, 0), on_b=arms.point(1), name="stay"))
    spread = np.random.default_rng(1).normal(size=(6, 8))
    net = world.add(lw.LagrangianBody(lambda u: [(sum(spread[k, i] * u[i] for i in range(8)), lw.sin(u[k]), u[k + 2])
                                                 for k in range(6)], np.arange(1.0, 7.0), coordinates=0.1 * np.arange(8), name="net"))  # fmt: skip
    for body, local in ((beam, (1, 0, 0)), (beam, (0.3, 0.1, 0)), (arms, (1, 0, 0)), (arms, (0, 0, 0)), (net, (2, 0, 0)),
                        (net, (5, 0, 0))):  # fmt: skip
        world.add(lw.Collider(body, lw.Sphere(0.01), position=local))
    world.add(lw.Contact("beam", "arms", "box", "net"))
    return world


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
    sim._system.factor()
    sim.integrator.run(sim.work, sim.schedules.material_points())
    answers = BySweeps(sim.schedules)
    x = sim.work[sim.model.multipliers].copy()
    found = responded(answers, sim.work, touched)
    assert np.array_equal(x, sim.work[sim.model.multipliers])
    return found


def selection(sim, members):
    """S of u = S v: the rigid motions of bodies from all velocities; those of points that can be touched by themselves."""
    model = sim.model
    first = np.concatenate([[0], np.cumsum([kind.nv for kind in model.bodies.kinds])]).astype(int)
    S = np.zeros((6 * len(members), first[-1]))
    for k, body in enumerate(members):
        if body >= len(model.bodies.kinds):
            spot = model.material_points[body - len(model.bodies.kinds)]
            S[6 * k : 6 * k + 3, first[spot.body] : first[spot.body + 1]] = sim.jacobian(
                model.bodies.elements[spot.body], spot.local
            )
            continue
        for i, part in enumerate(model.bodies.kinds[body].contact.velocity):
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
    S = selection(sim, members)
    return S @ whole @ S.T, np.abs(S @ inverse @ S.T).max()


def compare(seed, solver, **options):
    """The largest error relative to the largest answer of a free body; None where no body can be touched."""
    sim = simulations(forest(seed, **options), (solver,))[solver]
    rng = np.random.default_rng([seed, 1])
    touched = np.array([kind.contact is not None and rng.random() < 0.7 for kind in sim.model.bodies.kinds])
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
