"""Gauss-Seidel over contacts: each is solved exactly with the others held, forwards and backwards in turn.

Simple, and enough for a few contacts; it stalls where impulses must travel far (tall stacks, walls, heavy on light), for which
there is `newton`.
"""

from __future__ import annotations

import math

from linkwork.codegen.jit import jit, jit_inner
from linkwork.contact.one_contact import one_contact
from linkwork.contact.problem import CONVERGED, TOO_SMALL, UNCONVERGED, move, prepare, pull, push, push_all, residuals


@jit
def gauss_seidel(problem, work, tolerance, iterations):
    """Solve a contact problem: `problem.impulse` is the guess and then the result, `problem.u` the velocities with it.

    problem: a `Problem`. work: a `Workspace` with room for it. tolerance: largest residual (m/s). iterations: most sweeps.
    Returns (status, sweeps, residual in m/s); the residual of every contact is in `work.residual`.

    >>> import numpy as np
    >>> from linkwork.contact.problem import Problem, workspace
    >>> one, none, J = np.zeros(1, dtype=np.int32), np.full(1, -1, dtype=np.int32), np.zeros((1, 3, 6))
    >>> J[0, 0, 2] = J[0, 1, 0] = J[0, 2, 1] = 1.0                       # a particle of 2 kg on the floor
    >>> problem = Problem(u=np.array([[3.0, 0, -1, 0, 0, 0]]), first=one, size=one + 1, at=np.zeros(1, dtype=np.int64),
    ...                   R=np.diag([0.5, 0.5, 0.5, 0, 0, 0]).ravel(), slot_a=none, slot_b=one, Ja=np.zeros((1, 3, 6)), Jb=J,
    ...                   mu=np.array([0.5]), target=np.zeros((1, 3)), impulse=np.zeros((1, 3)))
    >>> status, sweeps, residual = gauss_seidel(problem, workspace(1, 1, 1, 36), 1e-10, 50)
    >>> status, problem.impulse[0, :2].round(12).tolist(), problem.u[0, :3].round(12).tolist()
    (0, [2.0, -1.0], [2.5, 0.0, 0.0])
    """
    if not prepare(problem, work):
        return TOO_SMALL, 0, math.inf
    push_all(problem, work)
    status, sweeps, residual = sweep_contacts(problem, work, tolerance, iterations)
    move(problem, work)
    return status, sweeps, residual


@jit_inner
def sweep_contacts(problem, work, tolerance, iterations):
    """Sweeps on a prepared problem whose y is that of its impulses."""
    contacts = len(problem.mu)
    residual = residuals(problem, work)
    sweeps = 0
    while not residual <= tolerance and sweeps < iterations:
        change = 0.0
        for i in range(contacts):
            k = i if sweeps % 2 == 0 else contacts - 1 - i
            moved = _relax(problem.impulse[k], problem.mu[k], work.D[k], work.c0[k], work.G, work.side[k], work.y)
            change = max(change, work.scale[k] * moved)
        sweeps += 1
        if change <= tolerance or sweeps == iterations:
            residual = residuals(problem, work)
    return (CONVERGED if residual <= tolerance else UNCONVERGED), sweeps, residual


@jit_inner
def _relax(f, mu, D, q, G, side, y):
    """Solve one contact with the others held; returns how much its impulse changes (N s)."""
    c0, c1, c2 = pull(G, side, y)
    if f[0] == 0.0 and c0 + q[0] >= 0.0 and mu >= 0.0:
        return 0.0
    q0 = c0 + q[0] - D[0, 0] * f[0] - D[0, 1] * f[1] - D[0, 2] * f[2]
    q1 = c1 + q[1] - D[1, 0] * f[0] - D[1, 1] * f[1] - D[1, 2] * f[2]
    q2 = c2 + q[2] - D[2, 0] * f[0] - D[2, 1] * f[1] - D[2, 2] * f[2]
    n, t1, t2 = one_contact(D, q0, q1, q2, mu, f[1], f[2])
    d0, d1, d2 = n - f[0], t1 - f[1], t2 - f[2]
    push(G, side, y, d0, d1, d2)
    f[0], f[1], f[2] = n, t1, t2
    return max(abs(d0), abs(d1), abs(d2))
