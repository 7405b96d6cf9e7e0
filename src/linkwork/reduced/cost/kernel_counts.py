"""Operations that linkwork's own kernels do, counted in the code that is compiled, beside the formulae of `counts`.

A kernel is straight-line code: its instructions are counted as they are emitted, and times the calls of a program they are
its operations. A fused multiply-add is one multiplication and one addition. Signs, copies, comparisons and trigonometry are
not counted, as they are not in featherstone05.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from linkwork.codegen.emit import instructions
from linkwork.codegen.trace import Kernel
from linkwork.reduced.cost import counts
from linkwork.reduced.cost.counts import Operations
from linkwork.reduced.cost.mechanisms import mechanism
from linkwork.reduced.frames import STILL
from linkwork.reduced.parent_array import parent_array
from linkwork.reduced.tiles import plan
from linkwork.reduced.tree import Tree, compile
from linkwork.reduced.ways import Way, way
from linkwork.reduced.workspace import TreeWorkspace

COUNTED = {"ADD": "a", "SUB": "a", "TWICE": "a", "MUL": "m", "SQ": "m", "DIV": "div", "INV": "div", "SQRT": "sqrt"}
SWEEPS = {  # of one state, as a Simulation makes it
    "aba": ("aba out", "aba back"),
    "crba": ("inertia",),
    "rnea": ("bias out", "bias back"),
    "ltdl": ("factor",),
    "back_substitution": ("up", "down"),
}


def kernel_operations(kernel: Kernel) -> Operations:
    """What one call of a kernel does.

    >>> from linkwork.reduced.tiles import pivot
    >>> kernel_operations(pivot(2))
    Operations(m=2, a=1, div=2, sqrt=0)
    """
    if kernel.key not in _KNOWN:
        code, _ = instructions(kernel.trace().function())
        found = Counter(COUNTED[op] for op, _, _ in code if op in COUNTED)
        _KNOWN[kernel.key] = Operations(**found)
    return _KNOWN[kernel.key]


_KNOWN: dict[str, Operations] = {}


def _total(calls: Iterable[Kernel]) -> Operations:
    uses = Counter(calls)
    return sum((times * kernel_operations(kernel) for kernel, times in uses.items()), Operations())


def ltdl(parents, freedoms=None) -> Operations:
    """What `lw.reduced.ltdl` does for one matrix, by the way that it takes (`ways`); `counts.ltdl` is the paper's count.

    Row by row, and in packed rows, what is taken off an entry is summed first and then taken off: one addition more for each
    number. In tiles a pivot is inverted once, and multiplied with.

    >>> print(ltdl((-1, 0, 0)), "beside", counts.ltdl((-1, 0, 0)))
    4m + 7a beside 4m + 2a
    """
    rows = parent_array(counts.rows_of(parents, freedoms))
    if way(rows) is Way.TILES:
        return _tiled(rows.tobytes())
    return counts.ltdl(rows) + Operations(a=len(rows) + counts.D1(rows))


@lru_cache(maxsize=64)
def _tiled(key: bytes) -> Operations:
    program = plan(np.frombuffer(key, dtype=np.int64)).program
    return _total(program.kernels[number] for number in program.operations[:, 0].tolist())


def stages(parents, freedoms=None) -> dict[str, Operations]:
    """What the stages of forward dynamics do for one state, by the names of `counts`: aba, crba, rnea, ltdl, back_substitution.

    `parents` may be a `Tree`; else a mechanism with these parents and freedoms is counted. The kernels carry six-vectors and
    rotations as they are, where the paper counts the forms that need fewest operations.

    >>> found = stages((-1, 0, 0))
    >>> print(found["back_substitution"], "beside", counts.back_substitution((-1, 0, 0)))
    7m + 4a beside 7m + 4a
    """
    tree = parents if isinstance(parents, Tree) else compile(mechanism(parents, freedoms))
    own = TreeWorkspace(tree, [STILL] * len(tree.bodies), tuple(name for names in SWEEPS.values() for name in names))
    return {stage: _total(kernel for name in names for kernel in own.calls(name)) for stage, names in SWEEPS.items()}
