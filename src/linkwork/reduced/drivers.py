"""The loop that runs a program on an array of states, in lanes; one state is run by `one_state`.

Both put the given numbers into the workspace, sweep, and take the results out. `index` begins with the sizes of the three
inputs and of the result, each for one state; then come the offsets of all numbers of the inputs, one input after another;
then, for all entries of the result that are not zero, where they go and where they lie. Offsets in lanes are of the first.
"""

from __future__ import annotations

from linkwork.codegen.jit import LANES, jit_exactly, sweep

HEAD = 4  # sizes of the three inputs and of the result, with which `index` begins
PLAN = "float64[::1], int64[::1], int32[:, ::1], uint32[::1]"


@jit_exactly(f"void({PLAN}, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])")
def run_states(work, table, operations, index, a, b, c, out):
    """An array of states, one a row, LANES at a time; the last one is repeated in lanes that are left over."""
    states, size = out.shape
    inputs = (a, b, c)
    begin = HEAD + a.shape[1] + b.shape[1] + c.shape[1]
    count = (index.shape[0] - begin) // 2
    for first in range(0, states, LANES):
        at = HEAD
        for given in inputs:
            for i in range(given.shape[1]):
                place = index[at + i]
                for lane in range(LANES):
                    work[place + lane] = given[min(first + lane, states - 1), i]
            at += given.shape[1]
        sweep(work, table, operations)
        left = min(LANES, states - first)
        if count < size:
            out[first : first + left] = 0.0
        for i in range(begin, begin + count):
            place, to = index[i + count], index[i]
            for lane in range(left):
                out[first + lane, to] = work[place + lane]
