"""Measured times on the paper's humanoid and chain, beside LAPACK, and of the stages of `linkwork.reduced.cost.prediction`.

`TIMERS` names the stages that are measured: (parents, freedoms) -> seconds for one state.
"""

import linkwork as lw
from benchmarks import sparse
from linkwork.reduced.cost import prediction
from linkwork.reduced.cost.mechanisms import mechanism
from linkwork.reduced.cost.timers import timer
from papers.baraff96.sizes import whole
from papers.featherstone05.trees import CHAIN, HUMANOID

TREES = {"humanoid": HUMANOID, "chain": CHAIN}
TIMERS = {stage: timer(stage) for stage in prediction.STAGES}


def measure(report=lambda text: None, seconds=sparse.SECONDS):
    found = {"ways": {}, "stages": {}, "maximal": {}}
    for name, tree in TREES.items():
        report(f"{name} against LAPACK")
        contest = sparse.Contest(tree.rows)
        contest.check()
        found["ways"][name] = {
            "factor": sparse.best_of_turns(contest, contest.factorings(), seconds),
            "solve": sparse.best_of_turns(contest, contest.solvings(), seconds),
            "both": sparse.best_of_turns(contest, contest.both(), seconds),
        }
    for name, tree in TREES.items():
        report(f"{name} in maximal coordinates")
        found["maximal"][name] = whole(lw.Simulation(mechanism(*tree), solver="tree"), seconds=seconds)
    for stage, run in TIMERS.items():
        report(f"rates of {stage}")
        samples = [(p, f, run(p, f)) for p, f in [*prediction.samples(), *(tuple(tree) for tree in TREES.values())]]
        rate = prediction.fitted(stage, samples)
        rows = [(int(f.sum()), prediction.STAGES[stage](p, f).total(), seconds) for p, f, seconds in samples]
        found["stages"][stage] = {
            "row": rate.row,
            "operation": rate.operation,
            "samples": [dict(zip(("rows", "operations", "seconds"), row, strict=True)) for row in rows],
        }
    return found
