"""Factorisations of inertia matrices with branches: linkwork's LTDL against LAPACK's Cholesky, both in compiled loops.

    python -m benchmarks.sparse --out benchmarks/results/sparse.json

Every way factors the same MATRICES matrices in place, one after another in one compiled loop, on one thread; putting them
back is not timed. Ways take turns, and the best turn counts. Writes JSON and, beside it, a Markdown page.
"""

import argparse
import ctypes
import os
import time

import numba
import numpy as np
from numba.extending import get_cython_function_address

from benchmarks import machine, tables
from linkwork.reduced import cost, packed_drivers, sparse_drivers, tile_drivers
from linkwork.reduced.parent_array import expanded, parent_array
from linkwork.reduced.sparse import lists, ltdl, solve, solve_matrix
from linkwork.reduced.substitution import solving
from linkwork.reduced.tiles import plan
from linkwork.reduced.ways import packing

MATRICES = 64  # at once: they stay in a core's own cache
SECONDS, FEWEST = 3.0, 5  # that ways take turns, and turns
AGREE = 1e-10  # relative


def limbed(limbs, joints):
    """A body that floats, with limbs of so many hinges: parents of rows."""
    parents = [-1, *(0 if i % joints == 0 else i for i in range(limbs * joints))]
    return expanded(parents, [6] + [1] * (limbs * joints))


TREES = {
    "humanoid of the paper: torso and four limbs of six": limbed(4, 6),
    "the chain beside it": limbed(1, 24),
    "quadruped: four legs of three": limbed(4, 3),
    "hand on a wrist: five fingers of four": limbed(5, 4),
    "arm of seven": cost.chain(7),
    "chain of 100": cost.chain(100),
    "balanced binary tree of 31": cost.TABLE_2["balanced tree"].parents(5),
}


def lapack(name, arguments):
    """A routine of LAPACK, as compiled loops may call it, on one thread: SciPy's library is loaded here."""
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


dpotrf, dpotrs = lapack("dpotrf", 5), lapack("dpotrs", 8)
LOWER = np.array([ord("L")], dtype=np.uint8)  # of a matrix column by column; the upper triangle of ours is the same numbers


@numba.njit
def cholesky(A, uplo, n, info):
    for k in range(A.shape[0]):
        dpotrf(uplo.ctypes.data, n.ctypes.data, A[k].ctypes.data, n.ctypes.data, info.ctypes.data)


@numba.njit
def cholesky_solve(A, x, uplo, n, one, info):
    for k in range(A.shape[0]):
        dpotrs(uplo.ctypes.data, n.ctypes.data, one.ctypes.data, A[k].ctypes.data, n.ctypes.data, x[k].ctypes.data,
               n.ctypes.data, info.ctypes.data)  # fmt: skip


def matrices(parents, seed=0):
    """(MATRICES, n, n) with the sparsity of a tree."""
    rng, n = np.random.default_rng(seed), len(parents)
    first, ancestors = lists(parents)
    rows = np.repeat(np.arange(n), np.diff(first))
    L = np.zeros((MATRICES, n, n))
    L[:, rows, ancestors] = 0.3 * rng.normal(size=(MATRICES, len(rows)))
    L[:, range(n), range(n)] = rng.uniform(1, 2, (MATRICES, n))
    return np.swapaxes(L, 1, 2) @ L


class Contest:
    """All ways to factor, and to solve, the matrices of one tree."""

    def __init__(self, parents):
        self.parents = parent_array(parents)
        self.n = len(self.parents)
        self.H = matrices(self.parents)
        self.A, self.D = self.H.copy(), np.empty(self.H.shape[:-1])
        self.b = np.random.default_rng(1).normal(size=self.D.shape)
        self.size, self.info, self.one = (np.array([k], dtype=np.int32) for k in (self.n, 0, 1))
        self._prepare_solves()

    def _prepare_solves(self):
        self.x = self.b.copy()
        self.factors = ltdl(self.parents, self.H)
        self.G = self.H.copy()
        cholesky(self.G, LOWER, self.size, self.info)

    def factorings(self):
        """Way -> routine that works on self.A in place."""
        p = plan(self.parents)
        flat = self.A.reshape(MATRICES, -1)
        single = (p.flat, p.pivots, *p.program.single, flat, flat, self.D)
        lanes = (p.flat, p.pivots, *p.program.lanes, flat, flat, self.D)
        return {
            "LAPACK dpotrf": lambda: cholesky(self.A, LOWER, self.size, self.info),
            "LTDL row by row": lambda: sparse_drivers.ltdl_by_rows(self.parents, self.A, self.A, self.D),
            "LTDL in tiles, one by one": lambda: tile_drivers.ltdl_by_tiles(*single),
            "LTDL in tiles, four at once": lambda: tile_drivers.ltdl_in_lanes(*lanes),
            "LTDL in packed rows": lambda: packed_drivers.ltdl_packed(
                self.parents, *packing(self.parents), self.A, self.A, self.D
            ),
            "lw.reduced.ltdl": lambda: ltdl(self.parents, self.A, (self.A, self.D)),
        }

    def solvings(self):
        """Way -> routine that works on self.x in place."""
        ours = (*lists(self.parents), *self.factors, self.x[:, None, :])
        return {
            "LAPACK dpotrs": lambda: cholesky_solve(self.G, self.x, LOWER, self.size, self.one, self.info),
            "with L and D, compiled": lambda: sparse_drivers.solve(*ours),
            "lw.reduced.solve": lambda: solve(self.parents, self.factors, self.x, self.x),
        }

    def both(self):
        """Way -> routine that factors self.A and solves for self.x."""
        p, s = plan(self.parents), solving(self.parents)
        places, ours = (p.flat, p.pivots, s.order), (self.A.reshape(MATRICES, -1), self.x, self.D)

        def with_lapack():
            cholesky(self.A, LOWER, self.size, self.info)
            cholesky_solve(self.A, self.x, LOWER, self.size, self.one, self.info)

        return {
            "LAPACK dpotrf, dpotrs": with_lapack,
            "in tiles, one by one": lambda: tile_drivers.solve_by_tiles(*places, *s.program.single, *ours),
            "in tiles, four at once": lambda: tile_drivers.solve_in_lanes(*places, *s.program.lanes, *ours),
            "lw.reduced.solve_matrix": lambda: solve_matrix(self.parents, self.A, self.x, self.x),
        }

    def restore(self):
        self.A[:] = self.H
        self.x[:] = self.b

    def check(self):
        """All ways must agree before they are timed."""
        for name, run in self.factorings().items():
            self.restore()
            run()
            L = np.tril(self.A)
            if name.startswith("LAPACK"):
                L = np.swapaxes(np.triu(self.A), 1, 2)
                rebuilt = L @ np.swapaxes(L, 1, 2)
            else:
                rebuilt = np.swapaxes(L, 1, 2) @ (self.D[:, :, None] * L)
            _agree(name, rebuilt, self.H)
        for name, run in [*self.solvings().items(), *self.both().items()]:
            self.restore()
            run()
            _agree(name, (self.H @ self.x[:, :, None])[:, :, 0], self.b)


def _agree(name, found, wanted):
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    if not error < AGREE:
        raise RuntimeError(f"{name}: off by {error:.1e}, more than {AGREE:.0e}")


def best_of_turns(contest, ways, seconds):
    """Way -> seconds a matrix."""
    found = dict.fromkeys(ways, float("inf"))
    until, turns = time.perf_counter() + seconds, 0
    while turns < FEWEST or time.perf_counter() < until:
        turns += 1
        for name, run in ways.items():
            contest.restore()
            start = time.perf_counter()
            run()
            found[name] = min(found[name], (time.perf_counter() - start) / MATRICES)
    return found


def measure(seconds=SECONDS, names=tuple(TREES)):
    rows = []
    for name in names:
        contest = Contest(TREES[name])
        contest.check()
        rows.append({
            "tree": name, "n": contest.n, "zeros": cost.zeros(contest.parents), "density": cost.density(contest.parents),
            "factor": best_of_turns(contest, contest.factorings(), seconds),
            "solve": best_of_turns(contest, contest.solvings(), seconds),
            "both": best_of_turns(contest, contest.both(), seconds),
        })  # fmt: skip
    return rows


def page(result):
    def table(part):
        ways = list(result["rows"][0][part])
        lines = []
        for row in result["rows"]:
            base = row[part][ways[0]]
            cells = [f"{tables.microseconds(row[part][w])} ({row[part][w] / base:.2f})" for w in ways]
            lines.append([row["tree"], row["n"], row["zeros"], *cells])
        return tables.markdown(["tree", "n", "zeros", *ways], lines)

    return "\n\n".join([
        "# Factorisations of inertia matrices with branches",
        "Written by `python -m benchmarks.sparse`. " + machine.sentence(result["machine"]),
        f"Microseconds a matrix, and in brackets the part of LAPACK's time: {MATRICES} matrices in one compiled loop, in "
        "place, one thread, the best of turns.",
        "## Factor", table("factor"), "## Solve with the factors, one right-hand side", table("solve"),
        "## Factor and solve", table("both"),
    ])  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="a JSON file")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each table of a tree")
    options = parser.parse_args(arguments)
    result = {"machine": machine.describe(), "rows": measure(options.seconds)}
    print(page(result))
    if options.out:
        tables.write(options.out, result, page(result))


if __name__ == "__main__":
    main()
