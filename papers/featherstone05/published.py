"""Every number that the paper prints, and the same number computed: equal to the digit."""

import numpy as np

from linkwork.reduced import cost, nested_form, pattern
from papers.featherstone05.nested import entries
from papers.featherstone05.trees import CHAIN, FIGURE_2, HUMANOID, TREE_1, robot, wide_side_branches

LONG = 4000  # rows of a main chain that is taken for endless


def claims():
    """Rows of {where, what, printed, found}, all text."""
    rows = [*_section_2(), *_section_3(), *_section_4(), *_section_5(), *_section_6()]
    return [dict(zip(("where", "what", "printed", "found"), row, strict=True)) for row in rows]


def _section_2():
    yield "2, fig. 2", "expanded parent array", "0, 1, 2, 3, 2, 4, 4, 5, 8, 9, 5", ", ".join(str(p + 1) for p in FIGURE_2.rows)
    for what, parents, printed in (("Tree 1", TREE_1.parents, "2, 3"), ("a dense matrix", cost.chain(7), "6, 21")):
        d = cost.depths(parents)[6]
        yield "2", f"{what}, k = 7: elements updated at step 2, at step 3", printed, f"{d - 1}, {d * (d - 1) // 2}"


def _section_3():
    order = nested_form(TREE_1.parents).order
    found = entries(pattern(TREE_1.parents)[np.ix_(order, order)])
    text = ", ".join(f"{i + 1}{j + 1}" for i, j in found)
    yield "3, eq. 7", "envelope of Tree 1 in nested form", "31, 32, 64, 65, 71, 72, 73, 74, 75, 76", text


def _section_4():
    for name, m in (("unbranched", 30), ("short side branches", 15), ("balanced tree", 5), ("span grid", 6)):
        family = cost.TABLE_2[name]
        parents = family.parents(m)
        yield ("4.2, table 2", f"{name}, n = {len(parents)}: D1, D2 by the formulae, and counted on a tree",
               f"{family.D1(m)}, {family.D2(m)}", f"{cost.D1(parents)}, {cost.D2(parents)}")  # fmt: skip
    dense, tree, grid = (cost.TABLE_2[name] for name in ("unbranched", "balanced tree", "span grid"))

    def count(family, m):
        return cost.simple_count(family.D1(m), family.D2(m))

    for family, name, m, digits, printed in (
        (tree, "balanced binary tree", 4, ".1f", "7.8"),
        (tree, "balanced binary tree", 8, ".2g", "430"),
        (grid, "spanning tree of a grid", 4, ".1f", "5.3"),
        (grid, "spanning tree of a grid", 16, ".0f", "74"),
    ):
        n = family.rows(m)
        ratio = count(dense, n) / count(family, m)
        found = f"{float(format(ratio, digits)):g}"
        yield "4.2", f"{name}, n = {n}: dense cost over sparse cost", printed, found
    for width, printed in ((1, "1/2, 1/4"), (2, "1/3, 1/9")):
        parents = wide_side_branches(LONG, width)
        n = len(parents)
        parts = cost.D1(parents) / dense.D1(n), cost.D2(parents) / dense.D2(n)
        yield ("4.2", f"side branches of {width}: D1 and D2 converge to this part of the chain's (β, β²)", printed,
               ", ".join(f"1/{1 / part:.0f}" for part in parts))  # fmt: skip


def _section_5():
    yield "5", "Tree 1: nodes without DH parameters (eq. 17)", "3", str(cost.non_dh(TREE_1.parents))


def _section_6():
    humanoid, chain = tuple(HUMANOID), tuple(CHAIN)
    yield "6", "humanoid: D1ᵉ, D2ᵉ", "219, 1039", f"{cost.D1(*humanoid)}, {cost.D2(*humanoid)}"
    part = cost.zeros(*humanoid) / 900
    yield (
        "6",
        "zeros of the 30 × 30 matrix",
        "468 not, 432, 48 %",
        (f"{cost.nonzeros(*humanoid)} not, {cost.zeros(*humanoid)}, {100 * part:.0f} %"),
    )
    for what, count, printed in (
        ("factor", cost.ltdl, "1258m + 1039a against 4930m + 4495a"),
        ("back-substitute", cost.back_substitution, "468m + 438a against 900m + 870a"),
    ):
        yield "6", f"{what}: humanoid against dense", printed, f"{count(*humanoid)} against {count(*chain)}"
    body_depths = f"{cost.D0(HUMANOID.parents)}, {cost.D1(HUMANOID.parents)}"
    yield "6", "humanoid: D0, D1", "24, 84", body_depths
    for name, tree, printed in (("humanoid", humanoid, "21, 66, 3, 18, 1, 6"), ("chain", chain, "24, 300, 0, 0, 1, 24")):
        yield "6", f"{name}: D0a, D1a, D0b, D1b, D0c, D1c", printed, ", ".join(map(str, cost.steps(*tree)))
    for what, count, printed in (
        ("CRBA (eq. 21)", cost.crba, ("2475m + 2124a", "6462m + 4419a")),
        ("RNEA", cost.rnea, ("2275m + 1996a", "2263m + 1972a")),
        ("ABA", cost.aba, ("5544m + 5054a", "5346m + 4883a")),
        ("forward dynamics by the CRBA", cost.forward_dynamics, ("6476m + 5597a", "14555m + 11756a")),
    ):
        for name, tree, text in zip(("humanoid", "chain"), (humanoid, chain), printed, strict=True):
            yield "6", f"{what}, {name}", text, str(count(*tree))
    yield from _ratios(humanoid, chain)


def _ratios(humanoid, chain):
    """Times as long with a = m, and with a = 0."""

    def ratios(count, other, tree, other_tree):
        return [count(*tree).total(a) / other(*other_tree).total(a) for a in (1.0, 0.0)]

    crba = ratios(cost.crba, cost.crba, chain, humanoid)
    yield "6", "CRBA: chain over humanoid, a = m and a = 0", "2.37, 2.61", ", ".join(f"{r:.2f}" for r in crba)
    both = ratios(cost.forward_dynamics, cost.forward_dynamics, chain, humanoid)
    yield "6", "forward dynamics: chain over humanoid, a = m and a = 0", "2.18, 2.25", ", ".join(f"{r:.2f}" for r in both)
    slower = ratios(cost.forward_dynamics, cost.aba, humanoid, humanoid)
    yield (
        "6",
        "humanoid: slower than the ABA, a = m and a = 0",
        "14 %, 17 %",
        ", ".join(f"{100 * r - 100:.0f} %" for r in slower),
    )
    ratio = ratios(cost.forward_dynamics, cost.aba, chain, chain)[0]
    yield "6", "chain: times as long as the ABA", "2.6", f"{ratio:.1f}"


def own_counts():
    """Operations of linkwork's own kernels beside the paper's formulae: [{stage, tree, paper, own: {m, a}}]"""
    rows = []
    for name, tree in (("humanoid", HUMANOID), ("chain", CHAIN)):
        own = cost.own_stages(*tree)
        for stage, count in own.items():
            paper = getattr(cost, stage)(*tree)
            rows.append({
                "stage": stage, "tree": name, "paper": [paper.multiplications, paper.a],
                "own": [count.multiplications, count.a],
            })  # fmt: skip
    return rows


def rule_of_thumb():
    """Section 4.1: factoring costs about α² of the dense cost, solving α. [{tree, density, factor, solve}]"""
    families = {name: cost.TABLE_2[name].parents(m) for name, m in (("short side branches", 15), ("balanced tree", 5))}
    rows = []
    for name, parents in {"humanoid": HUMANOID.rows, "robot with hands": robot().rows, **families}.items():
        dense = cost.chain(len(parents))
        rows.append({
            "tree": name, "n": len(parents), "density": cost.density(parents),
            "factor": cost.ltdl(parents).total() / cost.ltdl(dense).total(),
            "solve": cost.back_substitution(parents).total() / cost.back_substitution(dense).total(),
        })  # fmt: skip
    return rows
