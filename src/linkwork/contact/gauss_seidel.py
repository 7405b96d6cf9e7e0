"""Gauss-Seidel over contacts: each is solved exactly with the others held, forwards and backwards in turn.

Simple, and enough for a few contacts; it stalls where impulses must travel far (tall stacks, walls, heavy on light), for which
there is `proximal`.
"""

from __future__ import annotations

import math

from linkwork.codegen.jit import jit, jit_inner
from linkwork.contact.one_contact import one_companion, one_contact
from linkwork.contact.problem import CONVERGED, TOO_SMALL, UNCONVERGED
from linkwork.contact.unit_mass import move, prepare, pull, push, push_all, residuals

BETWEEN = 3  # sweeps from one look at all contacts to the next


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
    ...                   mu=np.array([0.5]), target=np.zeros((1, 3)), impulse=np.zeros((1, 3)), compliance=np.zeros(1),
    ...                   follows=np.full(1, -1))
    >>> status, sweeps, residual = gauss_seidel(problem, workspace(1, 1, 1, 36), 1e-10, 50)
    >>> status, problem.impulse[0, :2].round(12).tolist(), problem.u[0, :3].round(12).tolist()
    (0, [2.0, -1.0], [2.5, 0.0, 0.0])
    """
    if not prepare(problem, work, True):
        return TOO_SMALL, 0, math.inf
    push_all(problem, work)
    residual, active = residuals(problem, work)
    sweeps, residual, _ = sweep_contacts(problem, work, residual, active, tolerance, iterations)
    move(problem, work)
    return (CONVERGED if residual <= tolerance else UNCONVERGED), sweeps, residual


@jit_inner
def sweep_contacts(problem, work, residual, active, tolerance, iterations):
    """Sweeps on a prepared problem whose y is that of its impulses, over contacts that press or approach: (sweeps, residual,
    active contacts). Every BETWEEN sweeps all contacts are looked at."""
    sweeps = 0
    while not residual <= tolerance and sweeps < iterations:
        for _ in range(min(BETWEEN, iterations - sweeps)):
            change = 0.0
            for i in range(active):
                k = work.active[i if sweeps % 2 == 0 else active - 1 - i]
                moved = _relax(problem, work, k)
                change = max(change, work.scale[k] * moved)
            sweeps += 1
            if change <= tolerance:
                break
        residual, active = residuals(problem, work)
    return sweeps, residual, active


@jit_inner
def _relax(problem, work, k):
    """Solve one contact with the others held; returns how much its impulse changes (N s)."""
    f, mu, D, q = problem.impulse[k], problem.mu[k], work.D[k], work.c0[k]
    c0, c1, c2 = pull(work.G, work.side[k], work.y)
    if problem.follows[k] >= 0:
        q1, q2 = c1 + q[1] - D[1, 1] * f[1] - D[1, 2] * f[2], c2 + q[2] - D[2, 1] * f[1] - D[2, 2] * f[2]
        t1, t2 = one_companion(D, q1, q2, mu * problem.impulse[problem.follows[k], 0])
        d1, d2 = t1 - f[1], t2 - f[2]
        push(work.G, work.side[k], work.y, 0.0, d1, d2)
        f[1], f[2] = t1, t2
        return max(abs(d1), abs(d2))
    if f[0] == 0.0 and c0 + q[0] >= 0.0 and mu >= 0.0:
        return 0.0
    own = D[0, 0]
    q0 = c0 + q[0] - own * f[0] - D[0, 1] * f[1] - D[0, 2] * f[2]
    q1 = c1 + q[1] - D[1, 0] * f[0] - D[1, 1] * f[1] - D[1, 2] * f[2]
    q2 = c2 + q[2] - D[2, 0] * f[0] - D[2, 1] * f[1] - D[2, 2] * f[2]
    D[0, 0] = own + problem.compliance[k]
    n, t1, t2 = one_contact(D, q0, q1, q2, mu, f[1], f[2])
    D[0, 0] = own
    d0, d1, d2 = n - f[0], t1 - f[1], t2 - f[2]
    push(work.G, work.side[k], work.y, d0, d1, d2)
    f[0], f[1], f[2] = n, t1, t2
    return max(abs(d0), abs(d1), abs(d2))
