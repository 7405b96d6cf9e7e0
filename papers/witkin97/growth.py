"""Section 4.4: the cost of conjugate gradients against elimination, over n; iterations in the paper's form and in ours."""

import warnings

import numpy as np

import linkwork as lw
from benchmarks.timing import Run, best_of_turns

DT = 1e-3  # s
CHAINS, SIDES = (10, 30, 100, 300, 1000), (4, 8, 16, 32)
QUICK_CHAINS, QUICK_SIDES = (10, 30), (4, 6)
DENSE_ROWS = 320  # up to which `dense` takes part
ENOUGH = 1e-10  # relative residual
SOLVERS = ("cg", "tree", "dense")


class Model(Run):
    """A simulation with `euler`."""

    def __init__(self, structure, n, solver):
        self.last = f"bead{n}" if structure == "chain" else f"knot{n - 1}-{n - 1}"
        super().__init__(lw.Simulation(world(structure, n), dt=DT, solver=solver, integrator="euler"))

    def tip(self):
        return tuple(float(x) for x in self.sim.position(self.last))


def world(structure, n):
    """A chain of n particles let go aslant with ripples, or a net of n x n."""
    if structure == "net":
        return lw.scenes.get("net", rows=n, columns=n)
    made = lw.World()
    before = made.ground
    for k in range(1, n + 1):
        speed = 0.2 * np.sin(2.0 * k) * np.array([0.8, 0, 0.6])
        bead = made.add(lw.Particle(0.01, 0.05 * k * np.array([0.6, 0, -0.8]), speed, name=f"bead{k}"))
        made.add(lw.Distance(before, bead, name=f"rod{k}"))
        before = bead
    return made


def system(m):
    """A = J W J^T and the right-hand side of equation 11, as a sparse matrix and a vector; m: the matrices of a simulation."""
    W = 1 / m.M.diagonal()  # of particles
    return m.J @ m.J.T.multiply(W[:, None]).tocsr(), -m.bias - m.J @ (W * m.forces)


def conjugate_gradients(A, b, most):
    """Textbook conjugate gradients on A x = b: iterations to ENOUGH, None beyond `most`."""
    r, p = b.copy(), b.copy()
    rr = r @ r
    for k in range(most):
        if np.sqrt(rr) <= ENOUGH * np.linalg.norm(b):
            return k
        Ap = A @ p
        alpha = rr / (p @ Ap)
        r -= alpha * Ap
        before, rr = rr, r @ r
        p = r + rr / before * p
    return None


def least_squares(A, b, most):
    """The paper's choice: conjugate gradients on |A x - b|^2, A by its transpose: iterations to ENOUGH of |b|."""
    r = b.copy()
    s = A.T @ r
    p, ss = s.copy(), s @ s
    for k in range(most):
        if np.linalg.norm(r) <= ENOUGH * np.linalg.norm(b):
            return k
        Ap = A @ p
        r -= ss / (Ap @ Ap) * Ap
        s = A.T @ r
        before, ss = ss, s @ s
        p = s + ss / before * p
    return None


def solved(structure, n, method):
    """(A, b, iterations of linkwork's solve for accelerations from nothing by one of its methods)"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world(structure, n), dt=DT, solver="cg", integrator="euler", method=method)
    m = sim.matrices
    m.solve(refined=False)  # what is made once: factors of the masses
    before = m.solver_report().iterations
    m.solve(refined=False)
    return *system(m), m.solver_report().iterations - before


def iterations(structure, n):
    """Of one solve for accelerations from nothing."""
    A, b, ours = solved(structure, n, "least-residual")
    most = 40 * len(b) + 100
    return {"rows": len(b), "ours": ours, "plain": conjugate_gradients(A, b, most), "paper": least_squares(A, b, most),
            "printed": solved(structure, n, "least-squares")[2]}  # fmt: skip


def measure(chains, sides, say, rounds=3):
    """Rows {structure, n, rows, seconds of a step by solver, iterations}."""
    sizes = [("chain", n) for n in chains] + [("net", n) for n in sides]
    found, made = [], {}
    for structure, n in sizes:
        say(f"{structure}, n = {n}: iterations")
        found.append({"structure": structure, "n": n, **iterations(structure, n)})
        solvers = SOLVERS if found[-1]["rows"] <= DENSE_ROWS else SOLVERS[:2]
        made |= {(structure, n, solver): Model(structure, n, solver) for solver in solvers}
    say("steps, in turns")
    best = best_of_turns(made, rounds, fewest=5)
    for row in found:
        row["seconds"] = {s: best[row["structure"], row["n"], s] for s in SOLVERS if (row["structure"], row["n"], s) in best}
    return found
