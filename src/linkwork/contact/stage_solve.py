"""The solves of a contact stage in one compiled call: bounces, one after another, and then all rows.

A problem's arrays are the rows', with room for more: before each stage their lengths are set to what is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.codegen.jit import INTERPRETED, call_compiled, jit, jit_inline, jit_inner
from linkwork.codegen.struct import Struct
from linkwork.contact.problem import Problem
from linkwork.contact.rows import COLLIDER_A, COLLIDER_B, Rows
from linkwork.contact.slot_velocities import predict
from linkwork.contact.solver import GIVE, SOLVE, SOLVE_FINELY, SolverWorkspace, give_ranks, take_unanswered, take_unmet
from linkwork.contact.stage_kernels import (
    Slots,
    add_up,
    aim,
    bounce,
    collect,
    leave_alone,
    note_bounces,
    some_press,
    take_back,
)

PASSES = 32  # of bounces through rows of bodies; what still approaches then does not bounce
TOLERANCE, TOLERANCE_OF_MANY, MANY = 1e-10, 1e-6, 200  # m/s: how far from the law of contact what rests may be; rows
RESTING = 2.0  # times gravity times the step: what approaches no faster than that does not bounce
ROWS, SLOTS, GROUPS, ENTRIES = range(4)  # lengths: rows, slots, groups, entries of all responses
# what is told: the most, the worst, the worst that did not do; the last residual; one more than the colliders of the first
# contact whose normal answers nothing, of that with the worst residual, and of the first whose target was given up, or zeros
ITERATIONS, RESIDUAL, UNSOLVED, LAST, HELD_A, HELD_B, WORST_A, WORST_B, UNMET_A, UNMET_B = range(10)
OF = {"u": SLOTS, "first": GROUPS, "size": GROUPS, "at": GROUPS, "R": ENTRIES}  # other arrays: ROWS


class Solving(Struct):
    """Rows, and what it takes to solve for their impulses."""

    rows: Rows
    slots: Slots
    R: np.ndarray  # responses of all groups, with room for more
    problem: Problem
    table: np.ndarray  # int64: of the problem
    places: np.ndarray  # (fields,) int64: where in the table lengths stand
    which: np.ndarray  # (fields,) int64: which length
    solver: SolverWorkspace
    run_solver: Any  # (1,) int64: its address
    outcome: np.ndarray  # (4,) of it: iterations, residual, what would have been enough, the row that is farthest off
    told: np.ndarray  # (10,) ITERATIONS to UNMET_B
    axes: np.ndarray  # (n, 3, 3) of bodies
    labels: np.ndarray  # of what is remembered
    cache: np.ndarray  # (rows, 9) N s, m
    leaving: np.ndarray  # (rows,) m/s: of rows that bounced, the normal velocity after that
    bent: np.ndarray  # (rows,) m/s: what targets get in another iteration of a step, `contact/bending.py`


def solving(rows: Rows, slots: Slots, R: np.ndarray, solver: SolverWorkspace, run_solver: Any, *known: np.ndarray) -> Solving:
    """The problem of some rows. known: told, axes, labels, cache, leaving, bent."""
    problem = Problem(slots.u, slots.first, slots.size, slots.at, R, rows.slot_a, rows.slot_b, rows.Ja, rows.Jb, rows.mu,
                      rows.target, rows.impulse, rows.compliance, rows.follows)  # fmt: skip
    which = np.array([OF.get(name, ROWS) for name in problem.fields], dtype=np.int64)
    places = np.zeros(len(which), dtype=np.int64)
    table = np.zeros(0, dtype=np.int64)
    if not INTERPRETED:
        table, places = problem.table, np.array([problem.kind.at[name] + 1 for name in problem.fields], dtype=np.int64)
    return Solving(rows, slots, R, problem, table, places, which, solver, run_solver, np.zeros(4), *known)


if INTERPRETED:

    def cut(solving, lengths):
        """The problem with arrays of these lengths."""
        return Problem(*(array[: lengths[which]] for array, which in zip(solving.problem, solving.which, strict=True)))

else:

    @jit_inner
    def cut(solving, lengths):
        """The problem with arrays of these lengths."""
        for k in range(len(solving.places)):
            solving.table[solving.places[k]] = lengths[solving.which[k]]
        return solving.problem


@jit
def begin_stage(work, bodies, s, lengths, h, near, stage, carried, scale, turning):
    """Velocities of all slots; whether there are impulses to be found. s: a `Solving`. lengths: (ROWS, SLOTS, ...)."""
    rows, slots, m = s.rows, s.slots, lengths[ROWS]
    predict(work, bodies, slots.body_of, lengths[SLOTS], s.axes, slots.u, slots.before, carried, scale, turning)
    if some_press(rows, m, slots.u, h, near, stage):
        return True
    leave_alone(rows, m, s.leaving)
    return False


@jit
def solve_stage(s, lengths, h, gravity, near, stage, cached, before, old):
    """Find the impulses of a stage that has begun, and the wrenches that they put on slots; False where the solver needs more
    room: then it begins again. lengths: (ROWS, SLOTS, GROUPS, ENTRIES). cached: how many rows are remembered. before: `old`
    rows of a stage before the motion, after which this one stands."""
    rows, slots, m = s.rows, s.slots, lengths[ROWS]
    _clear(rows.total, m)
    problem = cut(s, lengths)
    give_ranks(s.solver, slots.rank, lengths[GROUPS])
    for _ in range(PASSES):
        if not bounce(rows, m, slots.u, h, RESTING * gravity * h, near, stage):
            break
        if not _solve(problem, s, m, gravity * h):
            return False
    if old > 0 and take_back(rows, m, before, old, gravity * h) and not _give(problem, s, m):
        return False
    aim(rows, m, slots.u, h, near, stage, s.labels, s.cache, cached)
    if not _solve(problem, s, m, gravity * h):
        return False
    note_bounces(rows, m, slots.u, s.leaving)
    collect(rows, m, slots, lengths[SLOTS])
    return True


@jit
def solve_again(work, bodies, s, lengths, h, gravity, near, stage, carried, scale, turning, cached):
    """The same for another iteration of a step, from the impulses of the one before: what bounced there leaves with the
    velocities that it had then."""
    rows, slots, m = s.rows, s.slots, lengths[ROWS]
    predict(work, bodies, slots.body_of, lengths[SLOTS], s.axes, slots.u, slots.before, carried, scale, turning)
    problem = cut(s, lengths)
    give_ranks(s.solver, slots.rank, lengths[GROUPS])
    aim(rows, m, slots.u, h, near, stage, s.labels, s.cache, cached)
    for k in range(m):
        rows.target[k, 0] = max(rows.target[k, 0] + s.bent[k], s.leaving[k])
        for i in range(3):
            rows.impulse[k, i] = rows.total[k, i]
    _clear(rows.total, m)
    if not _solve(problem, s, m, gravity * h, SOLVE_FINELY):
        return False
    collect(rows, m, slots, lengths[SLOTS])
    return True


@jit_inner
def _clear(vectors, m):
    for k in range(m):
        vectors[k, 0] = vectors[k, 1] = vectors[k, 2] = 0.0


@jit_inner
def _give(problem, s, m):
    """Give the impulses that stand in the rows, as they are; they are added to those of the stage. False: more room is
    needed."""
    if not call_compiled(s.run_solver[0], (problem, s.solver, s.outcome, GIVE, 0.0, 0.0)):
        return False
    add_up(s.rows, m)
    return True


@jit_inner
def _solve(problem, s, m, fallen, what=SOLVE):
    """From the impulses that stand in the rows; they are added to those of the stage. fallen: m/s, gravity times the step."""
    tolerance = TOLERANCE if m <= MANY else TOLERANCE_OF_MANY
    if not call_compiled(s.run_solver[0], (problem, s.solver, s.outcome, what, tolerance, fallen)):
        return False
    told, iterations, residual, enough = s.told, s.outcome[0], s.outcome[1], s.outcome[2]
    if residual > told[RESIDUAL]:
        _name(s, int(s.outcome[3]), WORST_A)
    told[ITERATIONS], told[RESIDUAL], told[LAST] = max(told[ITERATIONS], iterations), max(told[RESIDUAL], residual), residual
    if not residual <= enough:
        told[UNSOLVED] = max(told[UNSOLVED], residual)
    _name(s, take_unanswered(s.solver), HELD_A)
    _name(s, take_unmet(s.solver), UNMET_A)
    add_up(s.rows, m)
    return True


@jit_inline
def _name(s, row, place):
    """Write the numbers of the two colliders of a row, plus one, to `told` from `place` on; nothing where row is -1."""
    if row >= 0:
        row = s.rows.follows[row] if s.rows.follows[row] >= 0 else row
        s.told[place], s.told[place + 1] = s.rows.labels[row, COLLIDER_A] + 1, s.rows.labels[row, COLLIDER_B] + 1
