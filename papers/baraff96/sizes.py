"""Section 9's two systems without auxiliary constraints: what assembly, factor and solve take.

How the parts are told apart. linkwork's sweeps are tables of operations. With the solver "fronts" (body, then joint)
the kernels of an upward sweep are either assembly (M; rows of J) or elimination, and each kind is run and timed as a
table of its own. The elimination's kernels factor and sweep forward in one go, so the forward sweep alone is timed too
and taken off: factor = elimination - forward. The workspace is put back before every run, which is not timed, and an
empty table's time (the call from Python) is taken off each.
"""

import numpy as np
from casadi import OP_ADD, OP_DIV, OP_MUL, OP_NEG, OP_SQ, OP_SUB, OP_TWICE

import linkwork as lw
from papers.baraff96 import structures
from papers.baraff96.matrices import System
from papers.baraff96.multipliers import DenseCholesky
from papers.baraff96.timing import best

ARITHMETIC = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_NEG, OP_SQ, OP_TWICE}
PAPER = {  # milliseconds on a 250 MHz R4400 (section 9)
    "plane": {"what": "54 pins in a plane, 108 multipliers", "total": 7.75, "J": 2.75},
    "space": {"what": "127 joints in space, 381 multipliers (figure 3)", "total": 44.6, "J": 4.0},
}
PAPER_RATIO = 4.0  # section 8.2: factor over solve
PAPER_SPEEDUP = 40.0  # section 9: over O(n^3) with 381 multipliers


def worlds():
    return {"plane": structures.planar_tree(54), "space": lw.scenes.get("tree")}


def arithmetic(programs, operations):
    """Additions, multiplications, divisions of a table of operations, as CasADi counts them."""
    used, how_often = np.unique(operations[:, 0], return_counts=True)
    return sum(int(times) * _arithmetic(programs.kernels[number]) for number, times in zip(used, how_often, strict=True))


def _arithmetic(kernel):
    trace = kernel.trace()
    if not trace.results:
        return 0
    function = trace.function()
    return sum(function.instruction_id(k) in ARITHMETIC for k in range(function.n_instructions()))


def appendix_count(programs):
    """Multiply-adds of appendix A as printed: full blocks, explicit inverses (d^3 each)."""
    factor = solve = 0
    order, first = programs.layout()
    for vertex in order:
        d = int(first[vertex + 1] - first[vertex])
        factor += d**3
        solve += d * d
        for other in programs.model.later[vertex]:  # its parent
            p = int(first[other + 1] - first[other])
            factor += d * d * p + (d * d * p + p * d * p)
            solve += 2 * d * p
    return {"factor": factor, "solve": solve, "ratio": factor / solve}


def split(world, *, seconds=0.5):
    """Seconds and arithmetic operations of each part."""
    system = System(world)
    b = np.random.default_rng(0).normal(size=system.rows)
    right = np.concatenate([np.zeros(system.velocities), -b])

    def timed(*operations, factored):
        def prepare():
            system.set_right_side(right)
            if factored:
                system.run(system.factor_operations)

        return best(lambda: system.run(*operations), prepare, seconds=seconds, least=20)

    empty = timed(system.forward_operations[:0], factored=False)
    parts = {
        "M": timed(system.mass_operations, factored=False) - empty,
        "J": timed(system.row_operations, factored=False) - empty,
        "elimination": timed(system.factor_operations, factored=False) - empty,
        "forward": timed(system.forward_operations, factored=True) - empty,
        "backward": timed(system.backward_operations, factored=True) - empty,
    }
    counted = {
        "M": arithmetic(system.programs, system.mass_operations),
        "J": arithmetic(system.programs, system.row_operations),
        "elimination": arithmetic(system.programs, system.factor_operations),
        "forward": arithmetic(system.programs, system.forward_operations),
        "backward": arithmetic(system.programs, system.backward_operations),
    }
    dense = DenseCholesky(system)
    return {
        "joints": len(system.sim.model.nodes),
        "multipliers": system.rows,
        "seconds": _derived(parts),
        "arithmetic": _derived(counted),
        "appendix": appendix_count(system.programs),
        "call": empty,
        "dense_cholesky": best(lambda: dense(b), seconds=seconds),
        "tree": whole(lw.Simulation(world, solver="tree"), seconds=seconds),
    }


def _derived(parts):
    factor, solve = parts["elimination"] - parts["forward"], parts["forward"] + parts["backward"]
    total = parts["M"] + parts["J"] + factor + solve
    return parts | {"factor": factor, "solve": solve, "factor_over_solve": factor / solve, "total": total}


def whole(sim, *, seconds=0.5, least=5):
    """Seconds of all of it in a simulation as it is: M, J, factor, solve."""
    p = sim.programs
    sweeps = (p.body("kick"), p.up("velocity"), p.backward())
    return best(lambda: sim.integrator.run(sim.work, *sweeps), seconds=seconds, least=least)


def measure(report=lambda text: None, *, seconds=0.5):
    found = {}
    for key, world in worlds().items():
        report(PAPER[key]["what"])
        found[key] = {"paper_ms": PAPER[key], **split(world, seconds=seconds)}
    return found
