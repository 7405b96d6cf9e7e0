"""The door to the contact solver: what stages and the contact system know of it. Another solver is put in behind these names.

A solver finds impulses with which the velocities of a `Problem` obey the law of contact, from the impulses that stand in its
rows. It keeps blocks of the rows and factors from solve to solve, until rows or responses are others (`forget_blocks`). Stages
call `run_solver` by its address: it is most of what there is to compile, and numba would optimise it once more in each function
between.
"""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import jit, jit_inner
from linkwork.contact.newton import NewtonWorkspace, newton_workspace, settle
from linkwork.contact.problem import TOO_SMALL, look, move, prepare, push_all

SolverWorkspace = NewtonWorkspace
SOLVE, GIVE = range(2)  # what a solver is asked for


def solver_workspace(bodies: int, groups: int, rows: int, responses: int, blocks: int, panels: int) -> SolverWorkspace:
    """Room for so many bodies and groups in contact, rows, entries of responses and of blocks a row, and of factors."""
    return newton_workspace(bodies, groups, rows, responses, blocks, panels)


def left_out(solver: SolverWorkspace, m: int) -> np.ndarray:
    """(m,) bool: rows along whose normal no impulse moves anything."""
    base = solver.base
    return (base.there[:m] != 0) & (base.scale[:m] == 0.0)


@jit
def run_solver(problem, solver, outcome, what, tolerance, slow):
    """SOLVE: find the impulses of all rows. tolerance: m/s, of what rests; slow: m/s, what is no faster rests; outcome:
    iterations, residual (m/s), what would have been enough. GIVE: have bodies answer the impulses that stand in the rows, as
    they are. Returns 0 where more room is needed."""
    base = solver.base
    if what == GIVE:
        if not base.known[0]:
            solver.few.gathered[0] = 0
        if not prepare(problem, base, True):
            return 0
        push_all(problem, base)
        look(problem, base)
        move(problem, base)
    else:
        status, outcome[0], outcome[1], outcome[2] = settle(problem, solver, tolerance, slow)
        if status == TOO_SMALL:
            return 0
    base.known[0] = 1  # until rows or responses change
    return 1


@jit_inner
def give_ranks(solver, rank, groups):
    """How the responses of groups are given: `Slots.rank`."""
    for g in range(groups):
        solver.base.given[g] = rank[g]


@jit_inner
def forget_blocks(solver):
    """Rows or responses are others now."""
    solver.base.known[0] = 0


@jit_inner
def take_unanswered(solver):
    """The first row whose normal answers nothing, or -1; it is told once."""
    found = solver.base.unanswered[0] - 1
    solver.base.unanswered[0] = 0
    return found
