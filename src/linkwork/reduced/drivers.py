"""The two loops that run programs: one state, and an array of states in lanes.

Both put the given numbers into the workspace, sweep, and take the results out. `into`: offsets of all numbers of the inputs,
one input after another; `dest` and `source`: where results go, and where they lie. Offsets in lanes are those of the first.
"""

from __future__ import annotations

from linkwork.codegen.jit import LANES, jit, sweep


@jit
def run_state(work, table, operations, into, dest, source, a, b, c, d, out):
    """One state: inputs a, b, c, d and the result are vectors; inputs that a program does not have are empty."""
    at = 0
    for given in (a, b, c, d):
        for i in range(given.shape[0]):
            work[into[at + i]] = given[i]
        at += given.shape[0]
    sweep(work, table, operations)
    for i in range(dest.shape[0]):
        out[dest[i]] = work[source[i]]


@jit
def run_states(work, table, operations, into, dest, source, a, b, c, d, out):
    """An array of states, one a row, LANES at a time; the last ones are repeated in lanes that are left over."""
    count = out.shape[0]
    for first in range(0, count, LANES):
        at = 0
        for given in (a, b, c, d):
            for i in range(given.shape[1]):
                place = into[at + i]
                for lane in range(LANES):
                    work[place + lane] = given[min(first + lane, count - 1), i]
            at += given.shape[1]
        sweep(work, table, operations)
        for lane in range(min(LANES, count - first)):
            for i in range(dest.shape[0]):
                out[first + lane, dest[i]] = work[source[i] + lane]
