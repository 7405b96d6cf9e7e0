"""The door to the contact solver: what stages and the contact system know of it. Another solver is put in behind these names.

A solver finds impulses with which the velocities of a `Problem` obey the law of contact, from the impulses that stand in its
rows. It keeps blocks of the rows and factors from solve to solve, until rows or responses are others (`forget_blocks`). Stages
call `run_solver` by its address: it is most of what there is to compile, and numba would optimise it once more in each function
between.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.contact.over_rows import solve_rows
from linkwork.contact.problem import approach
from linkwork.contact.proximal import ProximalWorkspace, begin, improve, proximal_workspace
from linkwork.contact.unit_mass import look, move, prepare, push_all

SolverWorkspace = ProximalWorkspace
FINE, WEIGHED = 1e-6, 1e-4  # parts of what weights give in a step: what is aimed at, and what will do: forces are as exact
STRUCK = 1e-3  # part of the fastest approach that will do in an impact
SLOW = 2.0  # times what weights give in a step: what is no faster rests, and what approaches faster strikes
PATIENT = 10  # factorisations after which what will do is enough
SOLVE, SOLVE_FINELY, GIVE = range(3)  # what a solver is asked for
# factorisations of a solve, at most: MOST, of more rows than MANY fewer, with their square, so that time is the same; LEAST
MOST, LEAST, MANY = 600, 40, 200


def solver_workspace(bodies: int, groups: int, rows: int, responses: int, blocks: int, panels: int) -> SolverWorkspace:
    """Room for so many bodies and groups in contact, rows, entries of responses and of blocks a row, and of factors."""
    return proximal_workspace(bodies, groups, rows, responses, blocks, panels)


def left_out(solver: SolverWorkspace, m: int) -> np.ndarray:
    """(m,) bool: rows along whose normal no impulse moves anything."""
    base = solver.base
    return (base.there[:m] != 0) & (base.scale[:m] == 0.0)


def given_up(solver: SolverWorkspace, m: int) -> np.ndarray:
    """(m,) bool: rows of which the last solve that was needed gave up the target."""
    return solver.given_up[:m] != 0


@jit
def run_solver(problem, solver, outcome, what, tolerance, fallen):
    """SOLVE: find the impulses of all rows; SOLVE_FINELY: to the tolerance, however fast bodies are. tolerance: m/s, of what
    rests; fallen: m/s, what weights give in a step. outcome: iterations, residual (m/s), what will do (m/s), the row that is
    farthest off. GIVE: have bodies answer the impulses that stand in the rows, as they are. Returns 0 where more room is
    needed."""
    base = solver.base
    if what == GIVE:
        if not base.known[0]:
            solver.few.gathered[0] = 0
        if not prepare(problem, base, True):
            return 0
        push_all(problem, base)
        look(problem, base)
        move(problem, base)
        base.known[0] = 1  # until rows or responses change
        return 1
    steps, residual = solve_rows(problem, base, solver.few, tolerance)
    enough = tolerance
    if steps < 0:
        struck = _fastest_approach(problem)
        residual, active = begin(problem, solver)
        if active < 0:
            return 0
        enough = max(tolerance, WEIGHED * fallen, STRUCK * struck if struck > SLOW * fallen else 0.0)
        exactly = what == SOLVE_FINELY or _fastest(problem, base) <= SLOW * fallen
        tight = tolerance if exactly else max(tolerance, FINE * fallen)
        wide = max(1.0, len(problem.mu) / MANY)
        most = max(LEAST, int(MOST / (wide * wide)))
        steps, residual = improve(problem, solver, residual, active, tight, enough, PATIENT, most)
        if steps < 0:
            return 0
        base.known[0] = 1
    outcome[0], outcome[1], outcome[2], outcome[3] = steps, residual, enough, _farthest_off(problem, base)
    return 1


@jit_inner
def _farthest_off(problem, base):
    """The row with the largest residual."""
    worst = 0
    for k in range(len(problem.mu)):
        if base.residual[k] > base.residual[worst]:
            worst = k
    return worst


@jit_inner
def _fastest(problem, base):
    """The velocity of the fastest body, as of the last look (m/s)."""
    square = 0.0
    for slot in range(len(problem.u)):
        u = base.now[slot]
        square = max(square, u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    return math.sqrt(square)


@jit_inner
def _fastest_approach(problem):
    """How fast any two surfaces come nearer than they may, without impulses (m/s)."""
    fastest = 0.0
    for k in range(len(problem.mu)):
        least = problem.target[k, 0]
        if problem.compliance[k] > 0.0:  # what is pressed in may come back as slowly as it likes
            least = min(least, 0.0)
        fastest = max(fastest, least - approach(problem, k, problem.u))
    return fastest


@jit_inner
def give_ranks(solver, rank, groups):
    """How the responses of groups are given: `Slots.rank`."""
    for g in range(groups):
        solver.base.given[g] = rank[g]


@jit_inner
def forget_blocks(solver):
    """Have G and D built anew in the next solve, since rows or responses have changed."""
    solver.base.known[0] = 0


@jit_inner
def take_unanswered(solver):
    """The first row whose normal answers nothing, or -1; it is told once."""
    found = solver.base.unanswered[0] - 1
    solver.base.unanswered[0] = 0
    return found


@jit_inner
def take_unmet(solver):
    """The first row of which the target could not be met, so that it was given up, or -1; it is told once."""
    found = solver.unmet[0] - 1
    solver.unmet[0] = 0
    return found
