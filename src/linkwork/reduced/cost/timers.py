"""What the stages of `prediction` take on this machine: one state in one lane, as a Simulation has it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from linkwork.codegen.jit import jit, sweep
from linkwork.reduced.cost.mechanisms import mechanism
from linkwork.reduced.frames import STILL
from linkwork.reduced.operation_lists import aligned
from linkwork.reduced.tree import compile
from linkwork.reduced.workspace import TreeWorkspace

TURNS, LEAST = 30, 2e-4  # turns, of which the best counts, each of so many seconds
SWEEPS = {"aba": ("aba out", "aba back"), "rnea": ("bias out", "bias back"), "crba": ("inertia", "")}  # and "solve"


@jit
def repeated(work, table, first, second, times):
    """Two sweeps so many times."""
    for _ in range(times):
        sweep(work, table, first)
        sweep(work, table, second)


@jit
def solved(work, table, blocks, tiles, joints, right, factor, up, down, times):
    """L^T D L of the same H, and a solve with the same right-hand side, so many times."""
    for _ in range(times):
        for i in range(blocks.shape[0]):
            work[tiles[i]] = work[blocks[i]]
        sweep(work, table, factor)
        for i in range(joints.shape[0]):
            work[right[i]] = work[joints[i]]
        sweep(work, table, up)
        sweep(work, table, down)


def timer(stage: str) -> Callable[[np.ndarray, np.ndarray], float]:
    """(parents, freedoms) -> seconds of a stage for one state.

    >>> timer("rnea")(np.array([-1, 0]), np.array([1, 1])) > 0
    True
    """
    return lambda parents, freedoms: _seconds(stage, parents, freedoms)


def _seconds(stage: str, parents, freedoms) -> float:
    tree = compile(mechanism(parents, freedoms))
    if stage in SWEEPS:
        before = ("bias out",) if stage == "crba" else ()  # which puts links in place
        own, work = _moving(tree, (*before, *filter(None, SWEEPS[stage])))
        for name in before:
            repeated(work, own.table, own.sweep(name), own.sweep(""), 1)
        sweeps = [own.sweep(name) for name in SWEEPS[stage]]
        return _best(lambda times: repeated(work, own.table, *sweeps, times))
    own, work = _moving(tree, ("bias out", "inertia", "factor", "up", "down"))
    repeated(work, own.table, own.sweep("bias out"), own.sweep("inertia"), 1)
    at, sweeps = own.inertia, [own.sweep(name) for name in ("factor", "up", "down")]
    return _best(lambda times: solved(work, own.table, at.blocks, at.tiles, at.joints, at.right, *sweeps, times))


def _moving(tree, sweeps) -> tuple[TreeWorkspace, np.ndarray]:
    own = TreeWorkspace(tree, [STILL] * len(tree.bodies), sweeps)
    work = aligned(len(own.initial))
    work[:] = own.initial
    work[own.q], work[own.qd] = tree.start, 0.1
    return own, work


def _best(run: Callable[[int], None]) -> float:
    """Seconds of one time, by the best of some turns."""
    run(1)  # compiled
    times, spent = 1, 0.0
    while spent < LEAST:
        times *= 2
        start = time.perf_counter()
        run(times)
        spent = time.perf_counter() - start
    for _ in range(TURNS):
        start = time.perf_counter()
        run(times)
        spent = min(spent, time.perf_counter() - start)
    return spent / times
