"""Sections 3, 5 and 6: six ways to solve for the multipliers of a chain and of a star, time and fill against n.

Only factor and solve are timed, for one right-hand side; every matrix is there before the clock starts. `stored` counts
the numbers that each way keeps as its factor.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solveh_banded
from scipy.sparse.linalg import factorized, splu

from papers.baraff96 import structures
from papers.baraff96.matrices import System
from papers.baraff96.timing import best, slope

STRUCTURES = {"chain": structures.chain, "star": structures.star}
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
QUICK_SIZES = (10, 30, 100)
DENSE_UP_TO = 1000  # joints: A of 3000 rows, 72 MB
FROM = 100  # slopes are fitted from here on
PATIENCE = 0.4  # seconds: a way that took longer is not tried on the next size


class DenseCholesky:
    """A = J M^-1 J^T as a full matrix, by LAPACK's Cholesky."""

    def __init__(self, system):
        self.A = system.A.toarray()
        self.stored = system.rows * (system.rows + 1) // 2

    def __call__(self, b):
        return cho_solve(cho_factor(self.A, lower=True, check_finite=False), b, check_finite=False)


class BandedCholesky:
    """A by LAPACK's banded Cholesky, as it is numbered."""

    def __init__(self, system):
        A = system.A.tocoo()
        self.width = int(np.abs(A.row - A.col).max())
        self.band = np.zeros((self.width + 1, system.rows))
        lower = A.row >= A.col
        self.band[(A.row - A.col)[lower], A.col[lower]] = A.data[lower]
        self.stored = self.band.size

    def __call__(self, b):
        return solveh_banded(self.band, b, lower=True, check_finite=False)


class SparseA:
    """A by SuperLU, minimum degree, pivots on the diagonal."""

    def __init__(self, system):
        self.A = system.A
        self.stored = _stored(self._factor())

    def _factor(self):
        return splu(self.A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def __call__(self, b):
        return self._factor().solve(b)


class SparseH:
    """H by SuperLU with its own order (COLAMD) and pivoting."""

    def __init__(self, system):
        self.H, self.velocities = system.H, system.velocities
        self.stored = _stored(splu(self.H))

    def __call__(self, b):
        return splu(self.H).solve(np.concatenate([np.zeros(self.velocities), -b]))[self.velocities :]


class OrderedH:
    """H by SuperLU, numbered children first (section 7.1), pivots on the diagonal."""

    def __init__(self, system):
        self.order, self.velocities = system.order, system.velocities
        self.H = system.H[self.order][:, self.order].tocsc()
        self.stored = _stored(self._factor())

    def _factor(self):
        return splu(self.H, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def __call__(self, b):
        x = np.empty(len(self.order))
        x[self.order] = self._factor().solve(np.concatenate([np.zeros(self.velocities), -b])[self.order])
        return x[self.velocities :]


class Tree:
    """linkwork's elimination of H, body then joint."""

    def __init__(self, system):
        self.system, self.stored = system, system.elimination.stored

    def prepare(self, b):
        self.system.set_right_side(np.concatenate([np.zeros(self.system.velocities), -b]))

    def __call__(self, b):
        self.system.stages.eliminate()
        self.system.stages.backward()
        return None  # the multipliers stay in the workspace


def _stored(lu):
    return int(lu.L.nnz + lu.U.nnz)


WAYS = {  # name -> (class, structures it suits, most joints)
    "A, dense Cholesky": (DenseCholesky, ("chain", "star"), DENSE_UP_TO),
    "A, banded Cholesky": (BandedCholesky, ("chain",), None),
    "A, SuperLU": (SparseA, ("chain", "star"), {"star": DENSE_UP_TO}),
    "H, SuperLU": (SparseH, ("chain", "star"), None),
    "H, SuperLU, tree's order": (OrderedH, ("chain", "star"), None),
    "H, linkwork": (Tree, ("chain", "star"), None),
}


def compare(name, n, skip=(), *, seconds=0.3):
    """One row for each way: seconds, numbers stored, relative residual of A lambda = b."""
    system, rows = System(STRUCTURES[name](n)), []
    b = np.random.default_rng(n).normal(size=system.rows)
    for way, (make, suits, most) in WAYS.items():
        limit = most.get(name) if isinstance(most, dict) else most
        if name not in suits or way in skip or (limit and n > limit):
            continue
        solver = make(system)
        found = system.multipliers(b) if make is Tree else solver(b)
        prepare = (lambda s=solver: s.prepare(b)) if make is Tree else None
        taken = best(lambda s=solver: s(b), prepare, seconds=seconds)
        rows.append({"structure": name, "n": n, "way": way, "seconds": taken, "stored": solver.stored,
                     "residual": _residual(system, found, b)})  # fmt: skip
    return rows


def _residual(system, multipliers, b):
    """|A lambda - b| over |b|, without forming A."""
    force = system.J.T @ multipliers
    found = system.J @ factorized(system.M.tocsc())(force)
    return float(np.abs(found - b).max() / np.abs(b).max())


def measure(sizes=SIZES, report=lambda text: None):
    """{"rows": ..., "slopes": ...}"""
    rows = []
    for name in STRUCTURES:
        slow = set()
        for n in sizes:
            report(f"{name} of {n:,} joints")
            found = compare(name, n, slow)
            slow |= {row["way"] for row in found if row["seconds"] > PATIENCE}
            rows += found
    return {"rows": rows, "slopes": slopes(rows)}


def slopes(rows):
    found = []
    for name in STRUCTURES:
        for way in WAYS:
            mine = [r for r in rows if r["structure"] == name and r["way"] == way]
            if mine:
                n = [r["n"] for r in mine]
                found.append({"structure": name, "way": way, "largest": max(n),
                              "time": slope(n, [r["seconds"] for r in mine], above=FROM),
                              "stored": slope(n, [r["stored"] for r in mine], above=FROM)})  # fmt: skip
    return found
