"""The words of README.md around its numbers, which stand as {names} here: readme.py says what these are."""

CLAIMS = [  # where, the paper says, we find
    ("3, 5", "a chain's A is tightly banded, so it is solved in O(n) by banded Cholesky",
     "true: slope {banded_slope:.2f} from 100 to 10,000 joints. Once A is formed it is the closest rival: "
     "{banded_ms:.1f} ms at 10,000 joints, linkwork's elimination of the larger H {linkwork_ms:.1f} ms"),
    ("5", "a star's A is completely dense",
     "true: every entry. SuperLU on A then has slope {star_slope:.1f}, and is slower than dense Cholesky"),
    ("6", "H is always sparse; solving it by dense methods is foolish",
     "true: `dense` takes {dense_seconds:.1f} s for {dense_joints} joints, slope {dense_slope:.1f}"),
    ("7.1", "a tree has a perfect elimination order: the factor is as sparse as H",
     "true in blocks, exactly: the factor holds as many numbers as the lower triangle of H"),
    ("1, 3", "general sparse-matrix codes are not needed",
     "the *order* is what is needed. SuperLU given the tree's order holds O(n) numbers, and takes {ordered[0]:.0f} to "
     "{ordered[1]:.0f} times as long as linkwork at 10,000 joints (a general code that also allocates, checks and finds "
     "the structure anew). Left to choose (COLAMD), it fills in the star: {chosen:.1f} million numbers at 3,000 joints "
     "against {given:.2f}"),
    ("7.3", "factor and solve take O(n), whatever the topology",
     "true: `tree` has slopes {chain_slope:.2f} (chain), {hub_slope:.2f} (star), {binary_slope:.2f} (binary tree) from "
     "100 to 10,000 joints, {quickest:.0f} to {slowest:.0f} ns a joint for M, J, factor and solve"),
    ("8.2", "factoring costs about four solves",
     "less for us: {space_ratio:.1f} in time ({space_count:.1f} in operations) in space, {plane_ratio:.1f} "
     "({plane_count:.1f}) in the plane. The appendix as printed has {space_printed:.1f} and {plane_printed:.1f} times "
     "the multiply-adds, counted with a full inverse of every block and both halves of symmetric ones"),
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
     "{loops_more:.0f} us more, of that {loops_W:.0f} for W and {loops_divide:.0f} for its factor and the 12; the rest is a "
     "second solve and calls from Python. `tree` eliminates the loops with the rest: {loops_tree_more:.1f} us more, "
     "{loops_tree:.1f} in all"),
    ("8, 9", "96 primary and 3 auxiliary multipliers in space (contacts): 18 ms; twice as fast as O(n³)",
     "{contacts_total:.0f} us, of that {contacts_W:.1f} for W; {contacts_tree:.1f} us by `tree`, {contacts_faster:.0f} "
     "times as fast as Cholesky of A. Contacts are rows that hold here, not inequalities"),
    ("9", "three times as fast as conjugate gradients with 108 multipliers; as fast as they with 12 of them auxiliary",
     "{cg_tree:.0f} times with 108 (`tree`; gradients to three digits, {cg_iterations} iterations); with loops "
     "{cg_anticipation:.1f} times by `anticipation` and {cg_loops:.0f} times by `tree`; {cg_space:.0f} times with 381"),
    ("9, fn. 8", "no numerical adjustments; pivots are always definite; no tolerances",
     "only under two conditions that the paper does not state; see below"),
]  # fmt: skip

ERRATA = {  # place in results.json -> place, printed, what it should be
    "App. A, solve(b)": (
        "App. A, `solve(b)`", "the forward sweep starts from b",
        "from -b. As printed the procedure returns -λ, whichever sign of J is stored ([appendix.py](appendix.py); the "
        "median of 200 random forests. The worst is {worst_forest:.0e})"),
    "eq. (8) has -J, (9) and App. A have +J": (
        "(8) against (9) and App. A", "H with -J, then with +J",
        "both are fine for λ; y changes its sign"),
    "8.1, response of the primary constraints": (
        "8.1", "the response solves A λ = +J M⁻¹ k",
        "-J M⁻¹ k, as step 3 of 8.2 has it. As printed the response violates the constraints twice as much as no "
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
        '"if i has a parent": a forest has several roots (footnote 6 allows one)'),
    "5, density of A": (
        "5", "`j_i1 M_1 j_j1ᵀ`",
        "`j_i1 M_1⁻¹ j_j1ᵀ`"),
    "3, collisions": (
        "3", "Δv = m j",
        "m Δv = j (2 kg, 3 N s)"),
}  # fmt: skip

FOOTNOTE_8 = """\
1. **it has a child.** A joint to the world that is a leaf has the pivot 0. A chain of three rooted at its last link: J has
   full rank, and the eigenvalues of the first pivot are {leaf}. Rooted at the world joint, they are {leaf_reordered}.
2. **J has full row rank on the child alone**; full rank of all of J is not enough. A ball joint between a rigid body and
   one that lives in a plane has three rows; the planar body feels two. With the planar body below the joint the pivot's
   eigenvalues are {puck}; with the rigid body below, {puck_reordered}."""

NEAR_FOOTNOTE_8 = """\
Near the second case the appendix loses digits without notice, although A is as well conditioned as one could wish
({condition:.0f}): scale the row that one body feels by s, and the error of λ grows as s⁻⁴: {near[0]:.0e} at s = 1e-2,
{near[1]:.0e} at 1e-4, useless below. With that body above the joint it stays at rounding."""

ACCURACY = {  # key in results.json -> column
    "explicit inverse (App. A)": "explicit inverse (App. A)",
    "LDL^T of blocks (linkwork)": "LDLᵀ of blocks (linkwork)",
    "same order, no pivoting (SuperLU)": "the same order, SuperLU without pivoting",
    "same order, pivoting (SuperLU)": "the same order, with pivoting",
    "dense LU (LAPACK)": "dense LU",
}
