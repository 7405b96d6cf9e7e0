"""Coulomb's cone on a dense problem c = W f + q: how far f is from the law, Newton's method, and sweeps of Gauss-Seidel.

f (3 m,) and c (3 m,) hold normal, tangent 1 and tangent 2 of each contact; slip (m, 2) is the direction in which a contact
slides already, zero where that is still to be found out.
"""

from __future__ import annotations

import math

from linkwork.codegen.jit import jit, jit_inner
from linkwork.contact.one_contact import one_contact
from linkwork.contact.problem import law_residual

NEWTON = 30  # most steps of Newton's method
TRIES = 8  # most times that a step of Newton's method is halved
SWEEPS = 100  # of Gauss-Seidel in one call


@jit_inner
def renew(W, q, f, c):
    """c = W f + q anew, so that rounding does not pile up."""
    for i in range(len(q)):
        c[i] = q[i]
        for j in range(len(q)):
            c[i] += W[i, j] * f[j]


@jit
def eliminate(A, n):
    """Solve n equations A (n, n + 1) in place: the last column is given, then found. Rows that depend on others give zero."""
    for i in range(n):
        size, best = 0.0, i
        for r in range(i, n):
            if abs(A[r, i]) > abs(A[best, i]):
                best = r
        for j in range(n):
            size = max(size, abs(A[best, j]))
        if best != i:
            for j in range(i, n + 1):
                A[i, j], A[best, j] = A[best, j], A[i, j]
        if abs(A[i, i]) <= 1e-13 * size or A[i, i] == 0.0:
            A[i, i] = math.inf
            continue
        for r in range(i + 1, n):
            factor = A[r, i] / A[i, i]
            if factor != 0.0:
                for j in range(i + 1, n + 1):
                    A[r, j] -= factor * A[i, j]
    for i in range(n - 1, -1, -1):
        if A[i, i] == math.inf:
            A[i, n] = 0.0
            continue
        rest = A[i, n]
        for j in range(i + 1, n):
            rest -= A[i, j] * A[j, n]
        A[i, n] = rest / A[i, i]


@jit_inner
def _contact_residual(W, mu, slip, f, c, k):
    i = 3 * k
    scale = max(W[i, i], (W[i, i] + W[i + 1, i + 1] + W[i + 2, i + 2]) / 3)
    length = math.hypot(slip[k, 0], slip[k, 1])
    if length > 0.0:
        apart = math.hypot(f[i + 1] + mu[k] * f[i] * slip[k, 0] / length, f[i + 2] + mu[k] * f[i] * slip[k, 1] / length)
        return max(law_residual(f[i], 0.0, 0.0, c[i], 0.0, 0.0, 0.0, scale), scale * apart)
    return law_residual(f[i], f[i + 1], f[i + 2], c[i], c[i + 1], c[i + 2], mu[k], scale)


@jit_inner
def largest_residual(W, q, mu, slip, f, c):
    """The largest distance of a contact from the law; c anew."""
    renew(W, q, f, c)
    worst = 0.0
    for k in range(len(mu)):
        off = _contact_residual(W, mu, slip, f, c, k)
        worst = max(worst, off) if off == off else math.inf
    return worst


@jit_inner
def refine_on_cone(W, q, mu, slip, f, work, tolerance):
    """Newton's method on the law itself. Each contact is open, sticks or slides as its natural map says."""
    n = len(q)
    c, df, kept = work.c[:n], work.df[:n], work.kept[:n]
    residual = largest_residual(W, q, mu, slip, f, c)
    for _ in range(NEWTON):
        if residual <= tolerance:
            break
        for k in range(len(mu)):
            _newton_rows(W, mu, slip, f, c, work.system, k, n)
        eliminate(work.system, n)
        for i in range(n):
            kept[i], df[i] = f[i], work.system[i, n]
        along, best = 1.0, math.inf
        for _ in range(TRIES):
            for i in range(n):
                f[i] = kept[i] + along * df[i]
            best = largest_residual(W, q, mu, slip, f, c)
            if best < residual:
                break
            along *= 0.5
        if not best < residual:
            for i in range(n):
                f[i] = kept[i]
            return largest_residual(W, q, mu, slip, f, c)
        residual = best
    return residual


@jit_inner
def _newton_rows(W, mu, slip, f, c, A, k, n):
    """The three equations of contact k for the change of f."""
    i = 3 * k
    for r in range(3):
        for j in range(n + 1):
            A[i + r, j] = 0.0
    scale = max(W[i, i], (W[i, i] + W[i + 1, i + 1] + W[i + 2, i + 2]) / 3)
    push = scale * f[i] - c[i]
    if push <= 0.0:
        for r in range(3):
            A[i + r, i + r] = 1.0
            A[i + r, n] = -f[i + r]
        return
    for j in range(n):
        A[i, j] = W[i, j]
    A[i, n] = -c[i]
    known = math.hypot(slip[k, 0], slip[k, 1])
    z1, z2 = scale * f[i + 1] - c[i + 1], scale * f[i + 2] - c[i + 2]
    length = math.hypot(z1, z2)
    if mu[k] > 0.0 and known == 0.0 and length <= mu[k] * push:
        for r in range(1, 3):
            for j in range(n):
                A[i + r, j] = W[i + r, j]
            A[i + r, n] = -c[i + r]
        return
    e1, e2 = (
        (-slip[k, 0] / known, -slip[k, 1] / known)
        if known > 0.0
        else (z1 / length, z2 / length)
        if length > 0.0
        else (0.0, 0.0)
    )
    if mu[k] > 0.0 and known == 0.0 and length > 0.0:  # the direction of friction turns with the impulses
        turn = mu[k] * f[i] / length
        for j in range(n):
            along1 = (scale if j == i + 1 else 0.0) - W[i + 1, j]
            along2 = (scale if j == i + 2 else 0.0) - W[i + 2, j]
            across = e1 * along2 - e2 * along1
            A[i + 1, j] += turn * e2 * across
            A[i + 2, j] -= turn * e1 * across
    for r, e in ((1, e1), (2, e2)):
        A[i + r, i + r] += 1.0
        A[i + r, i] -= mu[k] * e
        A[i + r, n] = mu[k] * f[i] * e - f[i + r]


@jit_inner
def sweep_dense(W, q, mu, slip, f, D):
    """Gauss-Seidel, where Newton's method finds no way down."""
    for _ in range(SWEEPS):
        for k in range(len(mu)):
            i = 3 * k
            for r in range(3):
                for j in range(3):
                    D[r, j] = W[i + r, i + j]
            q0, q1, q2 = q[i], q[i + 1], q[i + 2]
            for j in range(len(q)):
                if j < i or j > i + 2:
                    q0 += W[i, j] * f[j]
                    q1 += W[i + 1, j] * f[j]
                    q2 += W[i + 2, j] * f[j]
            known = math.hypot(slip[k, 0], slip[k, 1])
            if known > 0.0:
                e1, e2 = -slip[k, 0] / known, -slip[k, 1] / known
                resists = D[0, 0] + mu[k] * (D[0, 1] * e1 + D[0, 2] * e2)
                f[i] = max(0.0, -q0 / resists) if resists > 0.0 else 0.0
                f[i + 1], f[i + 2] = mu[k] * f[i] * e1, mu[k] * f[i] * e2
            else:
                f[i], f[i + 1], f[i + 2] = one_contact(D, q0, q1, q2, mu[k], f[i + 1], f[i + 2])
