"""What a tree costs: the counts of featherstone05 (`counts`), those of linkwork's own kernels (`kernel_counts`: `own_ltdl`,
`own_stages`), the faster way on this machine (`prediction`), in words."""

from __future__ import annotations

from collections.abc import Mapping

from linkwork.reduced.cost import counts
from linkwork.reduced.cost.counts import (
    D0,
    D1,
    D2,
    TABLE_2,
    Bounds,
    Family,
    Operations,
    back_substitution,
    bounds,
    chain,
    density,
    floating,
    ltdl,
    ltl,
    nonzeros,
    simple_count,
    table_1,
    zeros,
)
from linkwork.reduced.cost.kernel_counts import ltdl as own_ltdl
from linkwork.reduced.cost.kernel_counts import stages as own_stages
from linkwork.reduced.cost.operation_counts import Steps, aba, crba, crba_alike, dh_nodes, forward_dynamics, non_dh, rnea, steps
from linkwork.reduced.cost.prediction import Prediction, Rate, calibrate, predict, remember, stored
from linkwork.reduced.parent_array import depths

__all__ = [
    "D0", "D1", "D2", "TABLE_2", "Bounds", "Family", "Operations", "Prediction", "Rate", "Steps", "aba", "back_substitution",
    "bounds", "calibrate", "chain", "crba", "crba_alike", "density", "depths", "dh_nodes", "floating", "forward_dynamics",
    "ltdl", "ltl", "non_dh", "nonzeros", "own_ltdl", "own_stages", "predict", "remember", "report", "rnea", "simple_count",
    "steps", "stored", "table_1", "zeros",
]  # fmt: skip


def report(parents, freedoms=None, rates: Mapping[str, Rate] | None = None) -> str:
    """All of it in lines of `name  text`, for people.

    >>> humanoid = [-1] + [0 if i % 6 == 0 else i for i in range(24)]
    >>> print(report(humanoid, [6] + [1] * 24, rates={}))
    inertia      30 × 30, 432 zeros, density 0.52; the deepest row is 12
    counts       D0 24, D1 219, D2 1039; D0a 21, D1a 66, D0b 3, D1b 18, D0c 1, D1c 6
    CRBA         2475m + 2124a
    RNEA         2275m + 1996a
    LTDL         1258m + 1039a (dense: 4930m + 4495a)
    solve        468m + 438a (dense: 900m + 870a)
    by LTDL      6476m + 5597a: CRBA, RNEA, LTDL and solve
    by ABA       5544m + 5054a
    faster       aba by 14 %, if all operations take the same time
    """
    rows, s = int(counts.freedoms_of(parents, freedoms).sum()), steps(parents, freedoms)
    if rows == 0:
        return "inertia      0 × 0: no joint can move"
    deepest, dense = int(depths(counts.rows_of(parents, freedoms)).max()), chain(rows)
    bodies = counts.parents_of(parents, freedoms)
    lines = {
        "inertia": f"{rows} × {rows}, {zeros(parents, freedoms)} zeros, density {density(parents, freedoms):.2f}; "
        f"the deepest row is {deepest}",
        "counts": f"D0 {D0(bodies)}, D1 {D1(parents, freedoms)}, D2 {D2(parents, freedoms)}; "
        + ", ".join(f"{name} {value}" for name, value in s._asdict().items()),
        "CRBA": crba(parents, freedoms),
        "RNEA": rnea(parents, freedoms),
        "LTDL": f"{ltdl(parents, freedoms)} (dense: {ltdl(dense)})",
        "solve": f"{back_substitution(parents, freedoms)} (dense: {back_substitution(dense)})",
        "by LTDL": f"{forward_dynamics(parents, freedoms)}: CRBA, RNEA, LTDL and solve",
        "by ABA": aba(parents, freedoms),
        "faster": _faster(predict(parents, freedoms, rates)),
    }
    return "\n".join(f"{name:<13}{text}" for name, text in lines.items())


def _faster(found: Prediction) -> str:
    basis = "by times measured on this machine" if found.measured else "if all operations take the same time"
    return f"{found.faster} by {100 * (found.ratio - 1):.0f} %, {basis}"
