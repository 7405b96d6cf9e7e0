"""Random contact problems: how often the solver tells that it has failed, and how often it fails without telling.

    python -m benchmarks.contact_problems --out benchmarks/results/contact_problems.json [--count 1000]

Problems have 1 to 200 contacts, mass ratios up to 1e4 and friction up to 2, and are solved as a step of a simulation asks
for it: from no impulses, and again from the impulses found after all velocities have changed a little. A failure is told when
the residual that the solver gives is above what it had to reach: 1e-10 m/s, 1e-4 of what gravity gives in a step, or 1e-3 of
the fastest approach. The law is measured once more by NumPy from the impulses alone; a failure that this sees and the solver
does not tell is untold, and there must be none. `--seeds 0 1000`: sets of problems; no constant was chosen on the second one.
Writes JSON and, beside it, a Markdown page with verdicts.
"""

import argparse
import time

import numpy as np
from scipy.spatial import Delaunay

from benchmarks import machine, tables
from linkwork.contact.problem import Problem
from linkwork.contact.solver import SOLVE, run_solver, solver_workspace

GRAVITY, DT = 9.81, 2e-3
TOLERANCE, TOLERANCE_OF_MANY, MANY = 1e-10, 1e-6, 200  # m/s: what a step asks for
CHANGED = 0.02  # part by which velocities change for the second solve
FEW = 30  # contacts up to which one problem in a thousand may fail
ROUNDED = 1e-12  # of the velocities that single impulses make: what sums in another order may differ by
HELD = 1e-7  # of a contact's mean response: a normal that answers less can not open
# what: (contacts at most, friction, the part that may fail and be told)
CLASSES = {"up to 30 contacts": 1e-3, "31 to 200 contacts": 0.05, "piles, mu up to 1": 0.05, "piles, mu 1 to 2": 0.2}


def assembled(rng, masses, arms, pairs, points, normals, mu, u, target=0.0):
    """Free bodies of these masses and sizes (m), contacts at points relative to the centres of both, normals from a to b."""
    n, m = len(masses), len(pairs)
    R, slots = np.zeros((n, 6, 6)), np.arange(n)
    for response, mass, arm in zip(R, masses, arms, strict=True):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        response[:3, :3] = np.eye(3) / mass
        response[3:, 3:] = turn @ np.diag(1 / (mass * arm**2 * rng.uniform(0.1, 0.5, 3))) @ turn.T
    across = np.cross(normals, np.where(np.abs(normals[:, :1]) < 0.7, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    frames = np.stack([normals, across, np.cross(normals, across)], axis=1)
    a, b = np.array(pairs, dtype=np.int32).reshape(m, 2).T.copy()
    Ja, Jb = (np.concatenate([frames, np.cross(points[:, side, None], frames)], axis=2) for side in range(2))
    targets = np.zeros((m, 3))
    targets[:, 0] = target
    return problem(u, slots, np.ones(n), R.ravel(), 36 * slots, (a, b), (-Ja * (a >= 0)[:, None, None], Jb), mu, targets)


def problem(u, first, size, R, at, pairs, J, mu, target):
    m = len(mu)
    first, size = np.array(first, dtype=np.int32), np.array(size, dtype=np.int32)
    return Problem(u=u, first=first, size=size, at=np.array(at, dtype=np.int64), R=R, slot_a=pairs[0], slot_b=pairs[1],
                   Ja=np.ascontiguousarray(J[0]), Jb=np.ascontiguousarray(J[1]), mu=np.array(mu, dtype=float),
                   target=target, impulse=np.zeros((m, 3)), compliance=np.zeros(m), follows=np.full(m, -1))  # fmt: skip


def directions(rng, shape):
    found = rng.normal(size=(*shape, 3))
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def scattered(rng, contacts, most_mu=2.0):
    """Contacts anywhere between any two bodies."""
    n = int(rng.integers(1, max(2, contacts) + 1))
    masses, arms = 10 ** rng.uniform(0, 4, n), rng.uniform(0.05, 0.5, n)
    b = rng.integers(0, n, contacts)
    a = np.where(rng.random(contacts) < 0.3, -1, (b + rng.integers(1, max(2, n), contacts)) % n if n > 1 else -1)
    points = directions(rng, (contacts, 2)) * arms[np.stack([a, b], axis=1)][..., None]
    mu = rng.uniform(0, most_mu, contacts)
    return assembled(
        rng, masses, arms, np.stack([a, b], axis=1), points, directions(rng, (contacts,)), mu, rng.normal(size=(n, 6))
    )


def redundant(rng, contacts):
    """The same with many contacts twice, and many in one plane of one pair."""
    one = scattered(rng, contacts)
    for k in rng.integers(0, contacts, contacts // 2):
        j = int(rng.integers(0, contacts))
        for array in (one.slot_a, one.slot_b, one.Ja, one.Jb, one.mu):
            array[k] = array[j]
        if rng.random() < 0.7:  # elsewhere in the same plane: the arm changes
            for J, slot in ((one.Ja[k], one.slot_a[k]), (one.Jb[k], one.slot_b[k])):
                if slot >= 0:
                    J[:, 3:] += np.cross(0.1 * rng.normal(size=2) @ J[1:, :3], J[:, :3])
    return one


def degenerate(rng, contacts):
    """Bodies that do not move, velocities that are zero, opposed and parallel normals, no friction in places, a plane."""
    one = scattered(rng, contacts)
    for g in np.flatnonzero(rng.random(len(one.first)) < 0.2):
        one.R[36 * g : 36 * g + 36] = 0.0
        one.u[g] = 0.0
    one.u[rng.random(len(one.u)) < 0.3] = 0.0
    one.mu[rng.random(contacts) < 0.3] = 0.0
    if rng.random() < 0.3:
        one.Ja[:, 2], one.Jb[:, 2] = 0.0, 0.0
    for k in np.flatnonzero(rng.random(contacts) < 0.2):
        j = int(rng.integers(0, contacts))
        way = rng.choice([-1.0, 1.0])
        one.slot_a[k], one.slot_b[k], one.Ja[k], one.Jb[k] = one.slot_a[j], one.slot_b[j], way * one.Ja[j], way * one.Jb[j]
    return one


def jointed(rng, contacts):
    """Groups of up to four bodies that share fewer freedoms than they have coordinates."""
    one, sizes = scattered(rng, contacts), []
    n, u = len(one.u), one.u.ravel()
    while sum(sizes) < n:
        sizes.append(min(n - sum(sizes), int(rng.integers(1, 5))))
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    blocks, free = [], one.R.reshape(n, 6, 6)
    for at, size in zip(first, sizes, strict=True):
        inverse = np.zeros((6 * size, 6 * size))
        for k in range(size):
            inverse[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = free[at + k]
        kept = rng.normal(size=(6 * size, int(rng.integers(min(6, 5 * size), 6 * size + 1))))
        mass = np.linalg.inv(inverse)
        u[6 * at : 6 * (at + size)] = kept @ np.linalg.lstsq(kept, u[6 * at : 6 * (at + size)])[0]
        blocks.append((kept @ np.linalg.solve(kept.T @ mass @ kept, kept.T)).ravel())
    at = np.concatenate([[0], np.cumsum([len(block) for block in blocks])[:-1]])
    return problem(
        one.u, first, sizes, np.concatenate(blocks), at, (one.slot_a, one.slot_b), (one.Ja, one.Jb), one.mu, one.target
    )


def piled(rng, contacts, low=0.0, high=1.0):
    """Bodies that lie on each other and between walls, most at rest, some falling; pairs touch in one point or in four."""
    n = max(4, contacts // 5)
    wide = (n / 4) ** (1 / 3)
    places = rng.uniform(size=(n, 3)) * (wide, wide, 4 * wide)
    low_corner = places.min(axis=0)
    edges = {
        tuple(sorted((simplex[i], simplex[j]))) for simplex in Delaunay(places).simplices for i in range(4) for j in range(i)
    }
    edges = sorted(edges, key=lambda edge: np.linalg.norm(places[edge[0]] - places[edge[1]]))
    found = []
    for k in np.argsort(places[:, 2])[: max(3, n // 4)]:
        found.append((-1, k, places[k] - (0, 0, 0.5), np.eye(3)[2]))
    for axis in range(2):
        k = int(np.argmin(places[:, axis]))
        found.append((-1, k, np.where(np.arange(3) == axis, low_corner, places[k]), np.eye(3)[axis]))
        k = int(np.argmax(places[:, axis]))
        found.append((-1, k, places[k] + 0.3 * np.eye(3)[axis], -np.eye(3)[axis]))
    for a, b in edges:
        way = places[b] - places[a]
        found.append((a, b, (places[a] + places[b]) / 2, way / np.linalg.norm(way)))
    pairs, points, normals = [], [], []
    for a, b, at, normal in found:
        corners = 0.15 * np.linalg.qr(np.column_stack([normal, rng.normal(size=(3, 2))]))[0][:, 1:].T
        for s, t in [(0, 0)] if rng.random() < 0.4 else [(-1, -1), (-1, 1), (1, -1), (1, 1)]:
            if len(pairs) < contacts:
                point = at + s * corners[0] + t * corners[1]
                pairs.append((a, b))
                points.append([point - (places[a] if a >= 0 else 0.0), point - places[b]])
                normals.append(normal)
    u = np.zeros((n, 6))
    falls = rng.random(n) < rng.choice([0.0, 0.2])
    u[falls] = rng.normal(size=(falls.sum(), 6))
    u[:, 2] -= GRAVITY * DT
    masses = 10 ** rng.uniform(0, 4, n)
    return assembled(
        rng, masses, np.full(n, 0.5), pairs, np.array(points), np.array(normals), rng.uniform(low, high, len(pairs)), u
    )


KINDS = {"scattered": scattered, "redundant": redundant, "degenerate": degenerate, "jointed": jointed}


def cases(count, seed):
    """(class, kind, problem) of each class `count` times."""
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        for name, kinds, fewest, most in (("up to 30 contacts", KINDS, 1, FEW), ("31 to 200 contacts", KINDS, FEW + 1, 200)):
            kind = list(kinds)[k % len(kinds)]
            yield name, kind, kinds[kind](rng, int(np.exp(rng.uniform(np.log(fewest), np.log(most + 1)))))
        for name, low, high in (("piles, mu up to 1", 0.0, 1.0), ("piles, mu 1 to 2", 1.0, 2.0)):
            yield name, "pile", piled(rng, int(rng.integers(10, 201)), low, high)


def spread(problem):
    """The response of each group, and of each contact the groups' coordinates that it moves: J (3, n) each."""
    group = np.repeat(np.arange(len(problem.size)), problem.size)
    responses = [problem.R[at : at + 36 * n * n].reshape(6 * n, 6 * n) for at, n in zip(problem.at, problem.size, strict=True)]
    rows = []
    for k in range(len(problem.mu)):
        parts = {}
        for slot, J in ((problem.slot_a[k], problem.Ja[k]), (problem.slot_b[k], problem.Jb[k])):
            if slot >= 0:
                g = group[slot]
                row = parts.setdefault(g, np.zeros((3, len(responses[g]))))
                row[:, 6 * (slot - problem.first[g]) :][:, :6] += J
        rows.append(parts)
    return responses, rows


def off_the_law(before, after):
    """How far impulses are from the law, contact by contact (m/s), by the natural map; and what rounding may make of it."""
    responses, rows = spread(before)
    moved = [before.u[f : f + n].ravel().copy() for f, n in zip(before.first, before.size, strict=True)]
    loud = [np.zeros(len(u)) for u in moved]
    for parts, f in zip(rows, after.impulse, strict=True):
        for g, J in parts.items():
            change = responses[g] @ (J.T @ f)
            moved[g] += change
            loud[g] += np.abs(change)
    worst, rounding = 0.0, 0.0
    for k, parts in enumerate(rows):
        c, D = -after.target[k], sum((J @ responses[g] @ J.T for g, J in parts.items()), np.zeros((3, 3)))
        c = c + sum((J @ moved[g] for g, J in parts.items()), np.zeros(3))
        scale = max(D[0, 0], np.trace(D) / 3)
        if D[0, 0] <= HELD * scale:
            continue
        f = scale * after.impulse[k]
        kept = max(0.0, f[0] - c[0])
        wish = f[1:] - c[1:]
        length = np.hypot(*wish)
        shrink = min(1.0, before.mu[k] * kept / length) if length > 0.0 else 1.0
        worst = max(worst, abs(f[0] - kept), np.hypot(*(f[1:] - shrink * wish)))
        rounding = max(rounding, *(np.abs(J).sum(axis=1).max() * loud[g].max(initial=0.0) for g, J in parts.items()))
    return worst, ROUNDED * rounding


def solved(problem, solver):
    """Solve as a step does: (iterations, residual, what will do, whether targets were given up)."""
    outcome = np.zeros(4)
    solver.base.known[0] = solver.unmet[0] = 0
    tolerance = TOLERANCE if len(problem.mu) <= MANY else TOLERANCE_OF_MANY
    assert run_solver(problem, solver, outcome, SOLVE, tolerance, GRAVITY * DT)
    return int(outcome[0]), outcome[1], outcome[2], bool(solver.unmet[0])


def copied(problem):
    return Problem(*(array.copy() for array in problem))


def room(problem):
    n = len(problem.u)
    entries = 36 * n * n
    return solver_workspace(n, len(problem.first), len(problem.mu), len(problem.R), int(problem.size.max()), entries)


def attempt(before, impulse, solver):
    """One solve of a problem from these impulses: what it came to."""
    after = copied(before)
    after.impulse[:] = impulse
    begin = time.perf_counter()
    iterations, residual, enough, unmet = solved(after, solver)
    spent = time.perf_counter() - begin
    off, rounding = off_the_law(before, after)
    told = unmet or not residual <= enough
    return after.impulse, {"told": told, "untold": bool(not told and not off <= enough * (1 + 1e-6) + rounding), "off": off,
                           "enough": enough, "iterations": iterations, "seconds": spent}  # fmt: skip


def measure(count, seed):
    """Every problem twice: from nothing, and warm after a small change."""
    found = []
    for k, (name, kind, before) in enumerate(cases(count, seed)):
        solver = room(before)
        impulse, cold = attempt(before, 0.0, solver)
        by_group = np.random.default_rng([seed, k]).normal(size=len(before.size))  # joints hold as they did
        change = 1.0 + CHANGED * np.repeat(by_group, before.size)[:, None]
        changed = Problem(*(array * change if array is before.u else array for array in before))
        _, warm = attempt(changed, impulse, solver)
        for start, one in (("cold", cold), ("warm", warm)):
            found.append({"class": name, "kind": kind, "contacts": len(before.mu), "start": start, "number": k, **one})
    return found


def verdicts(found):
    """One row a class: counts, and whether it is within what may be."""
    rows = []
    for name, limit in CLASSES.items():
        ones = [one for one in found if one["class"] == name]
        told, untold = sum(one["told"] for one in ones), sum(one["untold"] for one in ones)
        iterations = np.array([one["iterations"] for one in ones])
        rows.append({"class": name, "problems": len(ones), "told": told, "may": limit, "untold": untold,
                     "median": float(np.median(iterations)), "p99": float(np.percentile(iterations, 99)),
                     "kept": bool(told <= limit * len(ones) and untold == 0)})  # fmt: skip
    return rows


def report(result):
    header = ["seed", "problems", "number", "told failures", "allowed", "untold", "factorisations, median", "99 %", "kept"]
    rows = []
    for one in result["sets"]:
        for row in one["verdicts"]:
            told = f"{row['told']} ({100 * row['told'] / row['problems']:.2f} %)"
            rows.append([one["seed"], row["class"], row["problems"], told, f"{100 * row['may']:g} %", row["untold"],
                         f"{row['median']:g}", f"{row['p99']:g}", "yes" if row["kept"] else "**no**"])  # fmt: skip
    says = f"Each problem is solved from nothing, and again with velocities changed by {100 * CHANGED:g} %."
    return "\n\n".join(["# Random contact problems", machine.sentence(result["machine"]), says, tables.markdown(header, rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/contact_problems.json")
    parser.add_argument("--count", type=int, default=1000, help="problems of each class")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1000])
    arguments = parser.parse_args()
    sets = []
    for seed in arguments.seeds:
        found = measure(arguments.count, seed)
        failed = [one for one in found if one["told"] or one["untold"]]
        sets.append({"seed": seed, "verdicts": verdicts(found), "failed": failed})
    result = {"machine": machine.describe(), "sets": sets}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
