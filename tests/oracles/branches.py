"""Random parent arrays, matrices with their sparsity, and featherstone05's algorithms as printed, on numbers that count.

Parents count from 0, with -1 for none; the printed algorithms count from 1, and so do the arrays inside them.
"""

import math
from collections import Counter

import numpy as np


def chain(n):
    return np.arange(n) - 1


def star(n):
    return np.full(n, -1)


def random_tree(rng, n, reach):
    """Each row hangs on one of the `reach` before it; now and then on none, so that there are several trees."""
    return np.array([-1 if i == 0 or rng.random() < 0.06 else int(rng.integers(max(0, i - reach), i)) for i in range(n)])


def parent_arrays(count, seed=0):
    """Chains, stars, bushy and lanky trees, forests."""
    rng = np.random.default_rng(seed)
    found = [np.array([-1]), chain(2), star(2), chain(6), chain(7), chain(13), star(9)]
    while len(found) < count:
        found.append(random_tree(rng, int(rng.integers(1, 31)), int(rng.choice([1, 2, 3, 30]))))
    return found[:count]


def related(parents):
    """(n, n) whether j is i or an ancestor of i: where the lower triangle may have numbers."""
    n = len(parents)
    found = np.eye(n, dtype=bool)
    for i in range(n):
        j = parents[i]
        while j >= 0:
            found[i, j] = True
            j = parents[j]
    return found


def matrix(parents, rng):
    """Symmetric, positive definite, with numbers wherever the parent array allows and nowhere else."""
    L = np.where(related(parents), rng.normal(size=(len(parents),) * 2) * 0.4, 0.0)
    L[np.diag_indices(len(parents))] = rng.uniform(0.5, 2.0, len(parents))
    return L.T @ L


class Number:
    """A number that counts what is done with it."""

    counts: Counter = Counter()

    def __init__(self, value):
        self.value = float(value)

    def _made(self, kind, value):
        Number.counts[kind] += 1
        return Number(value)

    def __add__(self, other):
        return self._made("a", self.value + float(other))

    def __sub__(self, other):
        return self._made("a", self.value - float(other))

    def __mul__(self, other):
        return self._made("m", self.value * float(other))

    def __truediv__(self, other):
        return self._made("div", self.value / float(other))

    __radd__ = __add__

    def __float__(self):
        return self.value

    def __lt__(self, other):
        return self.value < other

    def __gt__(self, other):
        return self.value > other

    def root(self):
        return self._made("sqrt", math.sqrt(self.value))


def counted(run, *arrays):
    """(what run(*arrays) returns, operations by kind), with every entry a Number."""
    numbers = [np.vectorize(Number, otypes=[object])(a) for a in arrays]
    Number.counts = Counter()
    found = run(*numbers)
    return np.vectorize(float, otypes=[float])(found), dict(Number.counts)


def ancestors(parents, i):
    """λ(i), λ(λ(i)), ... without the root."""
    j = parents[i]
    while j >= 0:
        yield j
        j = parents[j]


def ltl(parents, H):
    H = H.copy()
    for k in reversed(range(len(H))):
        H[k, k] = H[k, k].root()
        for j in ancestors(parents, k):
            H[k, j] = H[k, j] / H[k, k]
        for i in ancestors(parents, k):
            for j in (i, *ancestors(parents, i)):
                H[i, j] = H[i, j] - H[k, i] * H[k, j]
    return H


def ltdl(parents, A):
    A = A.copy()
    for k in reversed(range(len(A))):
        for i in ancestors(parents, k):
            a = A[k, i] / A[k, k]
            for j in (i, *ancestors(parents, i)):
                A[i, j] = A[i, j] - A[k, j] * a
            A[k, i] = a
    return A


def product(parents, L, x, unit, transposed):
    """L x, or L^T x."""
    n, y = len(x), x.copy()
    for i in range(n) if transposed else reversed(range(n)):
        t = x[i]
        y[i] = t if unit else L[i, i] * t
        for j in ancestors(parents, i):
            if transposed:
                y[j] = y[j] + L[i, j] * t
            else:
                y[i] = y[i] + L[i, j] * x[j]
    return y


def substituted(parents, L, x, unit, transposed):
    """L^-1 x, or L^-T x."""
    n, x = len(x), x.copy()
    for i in reversed(range(n)) if transposed else range(n):
        if transposed and not unit:
            x[i] = x[i] / L[i, i]
        for j in ancestors(parents, i):
            if transposed:
                x[j] = x[j] - L[i, j] * x[i]
            else:
                x[i] = x[i] - L[i, j] * x[j]
        if not transposed and not unit:
            x[i] = x[i] / L[i, i]
    return x


def crba_steps(parents):
    """How often the printed CRBA adds and transforms an inertia, and transforms a force, at each node."""
    rigid, forces = Counter(), Counter()
    for i in reversed(range(len(parents))):
        if parents[i] >= 0:
            rigid[i] += 1
        j = i
        while parents[j] >= 0:
            forces[j] += 1
            j = parents[j]
    return rigid, forces
