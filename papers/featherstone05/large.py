"""Section 4.2 measured: time of `lw.reduced.ltdl` over the families of Table 2, up to thousands of rows, beside LAPACK's.

Matrices are given dense, and are diagonally dominant, with numbers wherever the parent array allows. Times are those of the
processor on one thread, so that others who use the machine do not count.
"""

import time

import numpy as np

from benchmarks.sparse import LOWER, cholesky
from linkwork.reduced import cost, factoring, ltdl, pattern
from papers.baraff96.timing import slope

FAMILIES = {
    "balanced tree": (4, 6, 8, 9, 10, 11, 12),
    "span grid": (4, 8, 16, 24, 32, 48),
    "short side branches": (10, 30, 100, 300, 500),
    "unbranched": (10, 30, 100, 170, 200, 300, 400, 600, 1000),
}
QUICK = {"balanced tree": (4, 6), "span grid": (4, 6), "short side branches": (10, 20), "unbranched": (10, 30)}
DENSE_ROWS = 1100  # up to which LAPACK takes part
FROM = 100  # rows: slopes are fitted from here on


def matrix(parents, seed=0):
    rng, n = np.random.default_rng(seed), len(parents)
    rows, ancestors = np.nonzero(np.tril(pattern(parents), -1))
    H = np.zeros((n, n))
    H[rows, ancestors] = H[ancestors, rows] = rng.uniform(-1, 1, len(rows))
    H[range(n), range(n)] = 1 + np.abs(H).sum(axis=1)
    return H


def usual(run, seconds, prepare=lambda: None):
    """Seconds of the processor that a run takes, the lower quartile of several: clocks of processes jump now and then."""
    times, until = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < until:
        prepare()
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return sorted(times)[len(times) // 4]


def measure(report=lambda text: None, families=None, seconds=0.2):
    """{rows: [{family, n, way, operations, error, seconds, lapack}], slopes: {family: exponent of n}}"""
    rows = []
    for name, sizes in (families or FAMILIES).items():
        for m in sizes:
            parents = np.asarray(cost.TABLE_2[name].parents(m), dtype=np.int64)
            n = len(parents)
            report(f"{name} of {n:,}")
            H = matrix(parents)
            out = np.zeros((n, n)), np.empty(n)
            rows.append({
                "family": name, "n": n, "way": factoring(parents).value, "operations": int(cost.ltdl(parents).total()),
                "seconds": usual(lambda H=H, out=out, p=parents: ltdl(p, H, out), seconds),
                "lapack": _lapack(H, seconds) if n <= DENSE_ROWS else None,
            })  # fmt: skip
    slopes = {}
    for name in families or FAMILIES:
        own = [row for row in rows if row["family"] == name]
        slopes[name] = {
            key: slope([row["n"] for row in own], [row[key] for row in own], above=FROM) for key in ("seconds", "operations")
        }
    return {"rows": rows, "slopes": slopes}


def _lapack(H, seconds):
    """Without the time in which the matrix is put back."""
    A, size, info = H[None].copy(), np.array([len(H)], np.int32), np.zeros(1, np.int32)
    return usual(lambda: cholesky(A, LOWER, size, info), seconds, lambda: np.copyto(A[0], H))
