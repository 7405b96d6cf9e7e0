# ruff: noqa: E501 (a sentence of the page is not broken where its numbers stand)
"""The words of README.md around its numbers. Numbers stand as {names}, which readme.py knows; a verdict is a function of them."""

from papers.verdicts import said, verdict

CLAIMS = [  # where, the paper says, we find: text, or a function of the numbers
    ("3, 5", "a chain's A is tightly banded, so it is solved in O(n) by banded Cholesky",
     lambda k: f"{verdict(k['banded_is_linear'])}: slope {k['banded_slope']:.2f} from 100 to 10,000 joints. Once A is formed, "
     f"{k['closest']} is the closest rival: {k['closest_ms']:.1f} ms at 10,000 joints, linkwork's elimination of the larger H "
     f"{k['linkwork_ms']:.1f} ms"),
    ("5", "a star's A is completely dense",
     lambda k: f"{verdict(k['star_is_dense'])}: its factors hold every entry. SuperLU on A has slope {k['star_slope']:.1f}, and takes "
     f"{k['star_over_dense']:.1f} times as long as dense Cholesky at 1,000 joints"),
    ("6", "H is always sparse; solving it by dense methods is foolish",
     lambda k: f"{verdict(k['dense_slope'] > 2)}: `dense` takes {k['dense_seconds']:.1f} s for {k['dense_joints']} joints, slope "
     f"{k['dense_slope']:.1f}"),
    ("7.1", "a tree has a perfect elimination order: the factor is as sparse as H",
     lambda k: f"{verdict(k['no_fill'])} in blocks: the factors of all chains and stars here hold "
     f"{said(k['no_fill'], 'exactly as many', 'not as many')} numbers as the lower triangle of H"),
    ("1, 3", "general sparse-matrix codes are not needed",
     lambda k: f"SuperLU given the tree's order stores numbers with slope {k['ordered_stored']:.2f}, and takes {k['ordered']} times as long "
     "as linkwork at 10,000 joints (a general code that also allocates, checks and finds the structure anew). Left to choose its order "
     f"(COLAMD), it stores {k['chosen']:.1f} million numbers for the star of 3,000 joints, against {k['given']:.2f} million"),
    ("7.3", "factor and solve take O(n), whatever the topology",
     lambda k: f"{verdict(k['trees_are_linear'])}: `tree` has slopes {k['chain_slope']:.2f} (chain), {k['hub_slope']:.2f} (star), "
     f"{k['binary_slope']:.2f} (binary tree) from 100 to 10,000 joints, {k['quickest']:.0f} to {k['slowest']:.0f} ns a joint for M, J, "
     "factor and solve"),
    ("8.2", "factoring costs about four solves",
     lambda k: f"{said(k['largest_ratio'] < 4, 'less for us: ', '')}{k['space_ratio']:.1f} in time ({k['space_count']:.1f} in operations) in "
     f"space, {k['plane_ratio']:.1f} ({k['plane_count']:.1f}) in the plane. The appendix as printed has {k['space_printed']:.1f} and "
     f"{k['plane_printed']:.1f} times the multiply-adds, counted with a full inverse of every block and both halves of symmetric ones"),
    ("9", "54 pins in a plane, 108 multipliers: 7.75 ms, of that 2.75 for J (250 MHz R4400)",
     "{plane_total:.2g} us, of that {plane_J:.2g} for the rows of J and {plane_M:.2g} for M and the poses (sines and "
     "cosines)"),
    ("9", "127 joints in space, 381 multipliers (figure 3): 44.6 ms, of that 4 for J",
     "{space_total:.2g} us, of that {space_J:.2g} for J and {space_M:.2g} for M; {space_tree:.3g} us where a body and "
     "its joint are eliminated together (`tree`)"),
    ("9", "close to 40 times as fast as O(n³) with 381 multipliers",
     "{faster:.0f} times as fast as LAPACK's Cholesky of A, both without forming their matrices. The paper's rival was "
     "another program that also handles inequalities: the two figures are not of the same thing"),
    ("8, 9", "96 primary and 12 auxiliary multipliers in the plane: 17 ms more than 108 primary ones, nearly all of it for "
     "W; to solve for the 12 takes too little to notice",
     "{loops_more:.0f} us more, of that {loops_W:.0f} for W and {loops_divide:.0f} for its factor and the 12; {loops_rest:.0f} for "
     "everything else. `tree` eliminates the loops with the rest: {loops_tree_more:.1f} us more, {loops_tree:.1f} in all"),
    ("8, 9", "96 primary and 3 auxiliary multipliers in space, for frictionless contacts: 18 ms; twice as fast as O(n³)",
     "as rows that hold: {contacts_total:.0f} us, of that {contacts_W:.1f} for W; {contacts_tree:.1f} us by `tree`, "
     "{contacts_faster:.0f} times as fast as Cholesky of A. As inequalities, a whole step of `euler`: {touching_tree:.0f} us by `tree` "
     "({untouched_tree:.0f} without contacts), {touching_anticipation:.0f} by `anticipation` ({untouched_anticipation:.0f}); see below"),
    ("9", "three times as fast as conjugate gradients with 108 multipliers; as fast as they with 12 of them auxiliary",
     "{cg_tree:.0f} times with 108 (`tree`; gradients to three digits, {cg_iterations} iterations); with loops "
     "{cg_anticipation:.1f} times by `anticipation` and {cg_loops:.0f} times by `tree`; {cg_space:.0f} times with 381"),
    ("9, fn. 8", "no numerical adjustments; pivots are always definite; no tolerances",
     lambda k: f"{said(k['counterexamples'], 'only under two conditions that the paper does not state; see below', verdict(True))}"),
]  # fmt: skip

ERRATA = {  # place in results.json -> place, printed, what it should be
    "App. A, solve(b)": (
        "App. A, `solve(b)`", "the forward sweep starts from b",
        "from -b. As printed the procedure returns -λ, whichever sign of J is stored ([appendix.py](appendix.py); the "
        "median of random forests. The worst put right is {worst_forest:.0e})"),
    "eq. (8) has -J, (9) and App. A have +J": (
        "(8) against (9) and App. A", "H with -J, then with +J",
        "both are fine for λ; y changes its sign"),
    "8.1, response of the primary constraints": (
        "8.1", "the response solves A λ = +J M⁻¹ k",
        "-J M⁻¹ k, as step 3 of 8.2 has it. The error is how much the constraints are violated, of what they are without a "
        "response"),
    "7.2, 7.3, densesolve and sparsesolve": (
        "7.2, 7.3", "`x_i -= H_ijᵀ x_j` for j < i",
        "`H_jiᵀ x_j`: the factor lies above the diagonal. As printed it reads the lower triangle, which was never "
        "overwritten, and blocks of unlike sizes do not even fit"),
    "App. A, factor, at a body node": (
        "App. A, `factor`", "at a body node p below a constraint q, `J_pqᵀ`",
        "`(J_qp)ᵀ`: rows of J are constraints (tried on figure 2)"),
    "7.3, `if i != n`": (
        "7.3", "`if i != n`",
        '"if i has a parent": a forest has several roots (footnote 6 allows one). Put right: the error of λ in a forest of three'),
    "5, density of A": (
        "5", "`j_i1 M_1 j_j1ᵀ`",
        "`j_i1 M_1⁻¹ j_j1ᵀ`"),
    "3, collisions": (
        "3", "Δv = m j",
        "m Δv = j (a particle of 2 kg that is struck by 3 N s, simulated)"),
}  # fmt: skip


def footnote_8(k):
    rank = said(k["full_rank"], "J has\n   full rank, and the", "the")
    wrong = max(k["leaf_error"], k["puck_error"])
    return f"""\
1. **it has a child.** A joint to the world that is a leaf has the pivot 0. A chain of three rooted at its last link: {rank} eigenvalues
   of the first pivot are {k["leaf"]}. Rooted at the world joint, they are {k["leaf_reordered"]}.
2. **J has full row rank on the child alone**; full rank of all of J is not enough. A ball joint between a rigid body and
   one that lives in a plane has three rows; the planar body feels two. With the planar body below the joint the pivot's
   eigenvalues are {k["puck"]}; with the rigid body below, {k["puck_reordered"]}.

linkwork looks at this before it chooses an order; its multipliers of the two are off by at most {wrong:.0e}."""


def near_footnote_8(k):
    """The error over the scale of a row, in powers; and linkwork beside it."""
    return f"""\
Near the second case the appendix loses digits without notice, although A is well conditioned ({k["condition"]:.0f}): scale the row that one
body feels by s, and the error of λ grows as s to the power {k["near_power"]:.1f}: {k["near"][0]:.0e} at s = 1e-2, {k["near"][1]:.0e} at 1e-4,
{k["near"][2]:.0e} at 1e-6. With that body above the joint it is at most {k["near_above"]:.0e}, and in linkwork, which weighs how much of a joint
each body carries and chooses the order by it, at most {k["near_linkwork"]:.0e}. It does so once, for the configuration as built; a joint that
only later turns its weak side to its child was not tried here."""


def accuracy(k):
    """What the table of errors says at its largest mass ratio."""
    kept, lost = k["digits_kept"], k["digits_lost"]
    unpivoted, pivoted = k["digits_unpivoted"], k["digits_pivoted"]
    first = said(
        kept > 0.5,
        f"At the largest ratio blocks factored by LDLᵀ keep {kept:.1f} more digits than explicit inverses",
        "Blocks factored by LDLᵀ keep no more digits than explicit inverses",
    )
    second = said(lost > 0.5, f", and lose {lost:.1f} against a dense LU", "")
    third = said(
        unpivoted > 0.5 and pivoted < 1,
        f" SuperLU in the same order loses {unpivoted:.1f} digits without pivoting and {max(0.0, pivoted):.1f} with it: the order is not to "
        "blame, the missing\npivoting is.",
        f" SuperLU in the same order loses {unpivoted:.1f} digits without pivoting and {max(0.0, pivoted):.1f} with it.",
    )
    return f'{first}{second}.{third} Errors of LDLᵀ pass 1e-12 from a mass ratio of {k["price_from"]} on: that is the price of "no numerical\nadjustments".'


def inequalities(k):
    rows = "\n".join(
        f"| {name} | {one['mu']} | {one['a']} | {one['by contact']} | {one['held']} | {one['error']:.0e} |"
        for name, one in k["contact_cases"].items()
    )
    return f"""\
| the three tips | forces, N: all subsets tried, dense | accelerations, m/s² | by contact (`anticipation`) | as rows that hold | contact against dense |
| --- | --- | --- | --- | --- | --- |
{rows}

Of the eight subsets of contacts that could act, {k["contact_subsets"]} met the conditions in each case."""


def workless(k):
    rows = "\n".join(
        f"| {name} | {one['whole solves']:,} | {one['way up']:,} | {one['way up'] / one['whole solves']:.2f} | {one['apart']:.0e} |"
        for name, one in k["workless"].items()
    )
    return f"""\
| primary + auxiliary | multiply-adds for W: whole solves (8.2) | the way up alone | part | W apart, relative |
| --- | --- | --- | --- | --- |
{rows}"""


ACCURACY = {  # key in results.json -> column
    "explicit inverse (App. A)": "explicit inverse (App. A)",
    "LDL^T of blocks (linkwork)": "LDLᵀ of blocks (linkwork)",
    "same order, no pivoting (SuperLU)": "the same order, SuperLU without pivoting",
    "same order, pivoting (SuperLU)": "the same order, with pivoting",
    "dense LU (LAPACK)": "dense LU",
}
