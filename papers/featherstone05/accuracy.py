"""Section 2's remark on accuracy, measured: LTL and LTDL against LAPACK's Cholesky, on inertia matrices of random trees.

The error of a factorisation is |rebuilt - H| / |H| (Frobenius), rebuilt in extended precision; that of a solution is
|x - exact| / |exact|, with the exact one by Cholesky in extended precision and one refinement. LAPACK on the rows backwards
eliminates in the order of LTL: what is left between the two is not due to the order.
"""

import numpy as np

from linkwork.reduced import cost, ltdl, ltl, solve
from papers.featherstone05 import appendix
from papers.featherstone05.inertia import random_matrix
from papers.featherstone05.trees import HUMANOID, robot

TREES = {
    "chain of 30": cost.chain(30),
    "humanoid": HUMANOID.rows,
    "robot with hands": robot().rows,
    "side branches of 30": cost.TABLE_2["short side branches"].parents(15),
    "balanced tree of 31": cost.TABLE_2["balanced tree"].parents(5),
}
MATRICES = 300
LONG = np.longdouble


def cholesky_long(H):
    """G of H = G G^T in extended precision."""
    A = H.astype(LONG)
    for k in range(len(A)):
        A[k, k] = np.sqrt(A[k, k])
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k + 1 :, k])
    return np.tril(A)


def solve_long(G, b):
    x = b.astype(LONG)
    for i in range(len(x)):
        x[i] = (x[i] - G[i, :i] @ x[:i]) / G[i, i]
    for i in reversed(range(len(x))):
        x[i] = (x[i] - G[i + 1 :, i] @ x[i + 1 :]) / G[i, i]
    return x


def exact_solution(H, b):
    G = cholesky_long(H)
    x = solve_long(G, b)
    return x + solve_long(G, b - H.astype(LONG) @ x)


def ways(parents, H, b):
    """Way -> (rebuilt matrix in extended precision, solution)."""
    from scipy.linalg import cho_solve, cholesky

    G, R = cholesky(H, lower=True), cholesky(H[::-1, ::-1], lower=True)
    L, (U, D) = ltl(parents, H), ltdl(parents, H)
    P = np.tril(appendix.ltdl(parents, H))
    E = P.diagonal().copy()
    np.fill_diagonal(P, 1.0)
    g, r, l, u, d, p, e = (M.astype(LONG) for M in (G, R, L, U, D, P, E))
    return {
        "LAPACK Cholesky": (g @ g.T, cho_solve((G, True), b)),
        "LAPACK, rows backwards": ((r @ r.T)[::-1, ::-1], cho_solve((R, True), b[::-1])[::-1]),
        "LTDL as printed": (p.T @ (e[:, None] * p), solve(parents, (P, E), b)),
        "LTL": (l.T @ l, solve(parents, L, b)),
        "LTDL": (u.T @ (d[:, None] * u), solve(parents, (U, D), b)),
    }


def _apart(found, wanted):
    return float(np.sqrt(((found - wanted) ** 2).sum() / (wanted**2).sum()))


def _means(errors):
    factor, solution = np.mean(errors, axis=0).tolist()
    return {"factor": factor, "solution": solution}


def measure(report=lambda text: None, matrices=MATRICES):
    """[{tree, n, density, condition, errors: way -> {factor, solution}}]: means over many matrices."""
    rows = []
    for name, parents in TREES.items():
        report(name)
        rng = np.random.default_rng(5)
        found: dict[str, list] = {}
        conditions = []
        for _ in range(matrices):
            H, b = random_matrix(parents, rng), rng.normal(size=len(parents))
            exact = exact_solution(H, b)
            conditions.append(np.linalg.cond(H))
            for way, (rebuilt, x) in ways(parents, H, b).items():
                found.setdefault(way, []).append([_apart(rebuilt, H), _apart(x, exact)])
        rows.append({
            "tree": name, "n": len(parents), "density": cost.density(parents), "condition": float(np.median(conditions)),
            "errors": {way: _means(errors) for way, errors in found.items()},
        })  # fmt: skip
    return rows


def reversed_cholesky(report=lambda text: None, matrices=MATRICES):
    """Section 3, L^T = R G R: the largest difference, relative to the largest number of each factor."""
    report("reversed Cholesky")
    rng, worst = np.random.default_rng(6), 0.0
    for parents in TREES.values():
        for _ in range(max(1, matrices // 10)):
            H = random_matrix(parents, rng)
            G = np.linalg.cholesky(H[::-1, ::-1])
            worst = max(worst, np.abs(ltl(parents, H).T - G[::-1, ::-1]).max() / np.abs(G).max())
    return worst
