"""Time against n: linkwork's `tree` and `dense` as they are (M, J, factor, solve), and appendix A in numpy."""

import numpy as np

import linkwork as lw
from papers.baraff96 import structures
from papers.baraff96.appendix import factor, hang, solve
from papers.baraff96.forests import nodes_of
from papers.baraff96.matrices import System
from papers.baraff96.sizes import whole
from papers.baraff96.timing import best, slope

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
QUICK_SIZES = (10, 30, 100)
DENSE_SIZES = (10, 30, 100, 200, 400)  # H of 3600 rows
QUICK_DENSE_SIZES = (10, 30)
APPENDIX_UP_TO = 1000
FROM = {"tree": 100, "dense": 100, "appendix A, numpy": 30}  # slopes are fitted from here on
STRUCTURES = {"chain": structures.chain, "star": structures.star, "binary tree": structures.tree}


def measure(sizes=SIZES, report=lambda text: None, dense_sizes=DENSE_SIZES):
    rows = []

    def add(solver, structure, n, seconds):
        rows.append({"solver": solver, "structure": structure, "n": n, "seconds": seconds})

    for structure, make in STRUCTURES.items():
        for n in sizes:
            world = make(n)
            joints = len(world.constraints)
            report(f"{structure} of {joints:,} joints")
            add("tree", structure, joints, whole(lw.Simulation(world, solver="tree"), seconds=0.3))
            if structure == "chain" and n <= APPENDIX_UP_TO:
                add("appendix A, numpy", structure, joints, literal(world))
    for n in dense_sizes:
        report(f"chain of {n:,} joints, dense")
        sim = lw.Simulation(structures.chain(n), solver="dense")
        add("dense", "chain", n, whole(sim, seconds=1.0, least=5))
    return {"rows": rows, "slopes": slopes(rows)}


def literal(world):
    """Factor and solve of appendix A in numpy."""
    system = System(world)
    _, constraints = nodes_of(system)
    forward = hang(constraints[0])
    b = {k: np.ones(3) for k in range(len(constraints))}

    def run():
        factor(forward)
        solve(forward, b)

    return best(run, seconds=1.0, least=5)


def slopes(rows):
    found = []
    for solver, structure in dict.fromkeys((r["solver"], r["structure"]) for r in rows):
        mine = [r for r in rows if r["solver"] == solver and r["structure"] == structure]
        value = slope([r["n"] for r in mine], [r["seconds"] for r in mine], above=FROM[solver])
        found.append({"solver": solver, "structure": structure, "from": FROM[solver], "slope": value})
    return found
