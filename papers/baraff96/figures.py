"""The figures. Each function takes results and returns a matplotlib Figure."""

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch

from papers.baraff96 import structures
from papers.baraff96.matrices import System
from papers.style import GRID, INK, PALE_INK, PALETTE, PAPER, dress, guide, sheet

BLUE, ORANGE, GREEN, OCHRE, VIOLET, TEAL, ROSE, GREY = PALETTE
STYLES = {  # way -> colour, marker
    "A, dense Cholesky": (ROSE, "s"),
    "A, banded Cholesky": (GREEN, "^"),
    "A, SuperLU": (OCHRE, "D"),
    "H, SuperLU": (VIOLET, "v"),
    "H, SuperLU, tree's order": (TEAL, "o"),
    "H, linkwork": (BLUE, "o"),
}
LABELS = {
    "A, dense Cholesky": "A = J M⁻¹ Jᵀ, dense Cholesky",
    "A, banded Cholesky": "A, banded Cholesky",
    "A, SuperLU": "A, SuperLU (minimum degree)",
    "H, SuperLU": "H, SuperLU (its own order)",
    "H, SuperLU, tree's order": "H, SuperLU in the tree's order",
    "H, linkwork": "H, linkwork's tree elimination",
}


# -- sparsity --------------------------------------------------------------------------------------------------------


def fill_of(pattern):
    """Where the factor of a symmetric pattern has an entry (lower triangle and its mirror), without pivoting."""
    filled = pattern.copy()
    for k in range(len(filled)):
        later = np.flatnonzero(filled[k, k + 1 :]) + k + 1
        filled[np.ix_(later, later)] = True
    return filled


def blocks_of(matrix, sizes):
    """The pattern of a matrix in whole blocks; those on the diagonal always count (baraff96 section 7)."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    touched = np.eye(len(sizes), dtype=bool)
    touched[owner[np.nonzero(matrix)[0]], owner[np.nonzero(matrix)[1]]] = True
    return touched[np.ix_(owner, owner)]


def _pattern(axes, pattern, is_row, title):
    """Blocks of M (or A), of J, zero blocks on the diagonal, and fill. is_row: None for A."""
    filled = fill_of(pattern)
    image = np.empty((*pattern.shape, 4))
    image[:] = to_rgba("white")
    image[filled & ~pattern] = to_rgba(ROSE)
    image[pattern] = to_rgba(BLUE)
    if is_row is not None:
        image[pattern & (is_row[:, None] & is_row[None, :])] = to_rgba(GRID)
        image[pattern & (is_row[:, None] != is_row[None, :])] = to_rgba(ORANGE)
    axes.imshow(image, interpolation="nearest")
    axes.set_title(title, fontsize=10, color=INK, loc="left")
    size, fill = len(pattern), int(np.tril(filled & ~pattern).sum())
    shape = f"{size} × {size}, {int(np.tril(pattern).sum()):,} numbers in the lower triangle"
    axes.set_xlabel(f"{shape}; the factor adds {fill:,}", fontsize=8.5, color=INK)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(PALE_INK)


def sparsity(n=10):
    figure, axes = sheet(12, 8.8, 2, 3)
    for row, (name, make) in zip(axes, {"Chain": structures.chain, "Star": structures.star}.items(), strict=True):
        system = System(make(n))
        A = blocks_of(system.A.toarray(), system.row_sizes)
        H = blocks_of(system.H.toarray(), [*system.body_sizes, *system.row_sizes])
        rows, order = np.arange(len(H)) >= system.velocities, system.order
        _pattern(row[0], A, None, f"{name} of {n} joints: A = J M⁻¹ Jᵀ")
        _pattern(row[1], H, rows, "H, all bodies before all joints")
        _pattern(row[2], H[np.ix_(order, order)], rows[order], "H, children before parents")
    handles = [Patch(color=BLUE, label="M (or A)"), Patch(color=ORANGE, label="J and Jᵀ"),
               Patch(color=GRID, label="zero pivot"), Patch(color=ROSE, label="filled in by the factor")]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=10)
    return figure


# -- time and fill -----------------------------------------------------------------------------------------------------


def multipliers(result):
    figure, axes = sheet(11, 8.2, 2, 2, sharex=True, sharey="row")
    for column, name in enumerate(("chain", "star")):
        for way, (colour, marker) in STYLES.items():
            rows = [r for r in result["rows"] if r["structure"] == name and r["way"] == way]
            style = {"color": colour, "marker": marker, "ms": 5, "lw": 2.2 if way == "H, linkwork" else 1.4}
            n = [r["n"] for r in rows]
            axes[0][column].loglog(n, [1e3 * r["seconds"] for r in rows], **style)
            axes[1][column].loglog(n, [r["stored"] for r in rows], **style)
        dress(axes[0][column], f"{name.capitalize()}: factor and solve", "", "time, ms" if not column else "")
        dress(axes[1][column], f"{name.capitalize()}: what the factor holds", "joints n (3 multipliers each)",
               "numbers stored" if not column else "")  # fmt: skip
    handles = [axes[0][0].plot([], [], color=c, marker=m, ms=5, label=LABELS[w])[0] for w, (c, m) in STYLES.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9.5)
    return figure


def growth(result):
    figure, axes = sheet(8.5, 5.6)
    axes = axes[0][0]
    colours = {"chain": BLUE, "star": TEAL, "binary tree": GREEN}
    markers = {"chain": "o", "star": "^", "binary tree": "D"}
    for found in sorted(result["slopes"], key=lambda s: ("tree", "appendix A, numpy", "dense").index(s["solver"])):
        solver, structure = found["solver"], found["structure"]
        rows = [r for r in result["rows"] if r["solver"] == solver and r["structure"] == structure]
        colour = {"dense": ROSE, "appendix A, numpy": OCHRE}.get(solver) or colours[structure]
        marker = {"dense": "s", "appendix A, numpy": "v"}.get(solver) or markers[structure]
        slope = "" if found["slope"] is None else f": slope {found['slope']:.2f}"
        names = {"tree": f"tree, {structure}", "dense": f"dense, {structure}"}
        label = names.get(solver, f"appendix A in numpy, {structure}") + slope
        milliseconds = [1e3 * r["seconds"] for r in rows]
        axes.loglog([r["n"] for r in rows], milliseconds, color=colour, marker=marker, ms=5, lw=1.6, label=label)
    largest = max(r["n"] for r in result["rows"])
    small = min(r["seconds"] for r in result["rows"] if r["n"] >= 100)
    guide(axes, (100, 0.45e3 * small), largest, 1, "n")
    dress(axes, "M, J, factor and solve, once", "joints n (3 multipliers each)", "time, ms")
    axes.legend(frameon=False, fontsize=9.5, loc="upper left")
    return figure


# -- the paper's sizes -------------------------------------------------------------------------------------------------


def sizes(result):
    figure, axes = sheet(9.5, 4.2)
    axes = axes[0][0]
    parts = {"J": (ORANGE, "J"), "M": (OCHRE, "M and poses"), "factor": (BLUE, "factor"), "solve": (TEAL, "solve"),
             "rest": (GREY, "factor and solve (the paper does not split them)")}  # fmt: skip
    bars = []
    for one in result.values():
        paper, ours = one["paper_ms"], one["seconds"]
        what = f"{one['joints']} joints, {one['multipliers']} multipliers"
        bars.append((f"baraff96, {what}", {"J": paper["J"], "rest": paper["total"] - paper["J"]}, f"{paper['total']} ms"))
        mine = {key: 1e3 * ours[key] for key in ("J", "M", "factor", "solve")}
        bars.append((f"linkwork, {what}", mine, f"{1e6 * ours['total']:.1f} µs"))
    for y, (_, values, total) in enumerate(bars):
        left, whole = 0.0, sum(values.values())
        for key, value in values.items():
            share = 100 * value / whole
            axes.barh(y, share, left=left, color=parts[key][0], height=0.62, edgecolor=PAPER)
            if share > 5:
                axes.text(left + share / 2, y, f"{share:.0f} %", ha="center", va="center", fontsize=9, color="white")
            left += share
        axes.text(101, y, total, va="center", fontsize=10, color=INK)
    axes.set_yticks(range(len(bars)), [name for name, *_ in bars])
    axes.invert_yaxis()
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    dress(axes, "Where the time goes (and its total: 250 MHz R4400 in 1996, one core now)", "share of the time, %", "")
    axes.grid(visible=False)
    handles = [Patch(color=colour, label=label) for colour, label in parts.values()]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return figure


def auxiliary(result):
    """Section 9: where the time goes with auxiliary rows, and other ways to the same multipliers."""
    figure, axes = sheet(12, 4.6, 1, 2)
    left, right = axes[0]
    parts = {"M": (OCHRE, "M and poses"), "J": (ORANGE, "J"), "factor": (BLUE, "factor"), "solve": (TEAL, "solve"),
             "W": (VIOLET, "W, by response"), "divide": (ROSE, "dense solve of W")}  # fmt: skip
    names = [f"{name} multipliers" for name in result]
    for y, one in enumerate(result.values()):
        begin = 0.0
        for key, (colour, _) in parts.items():
            left.barh(y, 1e6 * one["seconds"][key], left=begin, color=colour, height=0.62, edgecolor=PAPER)
            begin += 1e6 * one["seconds"][key]
        paper = f"{one['paper']['total']:g} ms in 1996"
        left.text(begin + 0.4, y, f"{begin:.1f} µs ({paper})", va="center", fontsize=9, color=INK)
    left.set_xlim(0, 1.6 * max(1e6 * sum(one["seconds"].values()) for one in result.values()))
    ways = {"tree": (BLUE, "o", lambda one: one["tree"]), "anticipation": (TEAL, "D", lambda one: one["anticipation"]),
            "dense Cholesky of A": (ROSE, "s", lambda one: one["dense_cholesky"]),
            "conjugate gradients to 1e-3": (OCHRE, "<", lambda one: one["cg"]["0.001"]["seconds"]),
            "to 1e-10": (ORANGE, ">", lambda one: one["cg"]["1e-10"]["seconds"])}  # fmt: skip
    for label, (colour, marker, seconds) in ways.items():
        right.semilogx([1e6 * seconds(one) for one in result.values()], range(len(names)), color=colour, marker=marker, ms=7,
                       lw=0, label=label)  # fmt: skip
    for panel in (left, right):
        panel.set_yticks(range(len(names)), names if panel is left else [])
        panel.set_ylim(len(names) - 0.5, -0.5)
    dress(left, "The tree and its auxiliary rows", "time, µs", "")
    dress(right, "Other ways to the same multipliers", "time, µs", "")
    handles = [Patch(color=colour, label=label) for colour, label in parts.values()]
    figure.legend(handles=[*handles, *right.get_lines()], loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    return figure


# -- accuracy ----------------------------------------------------------------------------------------------------------


def accuracy(result):
    figure, axes = sheet(11, 4.4, 1, 2)
    left, right = axes[0]
    ratios = [row["ratio"] for row in result["accuracy"]]
    styles = {"explicit inverse (App. A)": (ROSE, "s"), "LDL^T of blocks (linkwork)": (BLUE, "o"),
              "same order, no pivoting (SuperLU)": (VIOLET, "D"), "same order, pivoting (SuperLU)": (TEAL, "^"),
              "dense LU (LAPACK)": (GREY, "v")}  # fmt: skip
    for key, (colour, marker) in styles.items():
        left.loglog(ratios, [row[key] for row in result["accuracy"]], color=colour, marker=marker, ms=5, lw=1.6,
                    label=key.replace("^T", "ᵀ"))  # fmt: skip
    dress(left, "A heavy tip on 50 links", "mass of the tip / mass of a link", "relative error of v̇")
    near = result["near_footnote_8"]
    styles = {"below": (ROSE, "s", "App. A, that body below the joint"),
              "above": (GREEN, "^", "App. A, that body above it"), "linkwork": (BLUE, "o", "linkwork")}  # fmt: skip
    for key, (colour, marker, label) in styles.items():
        values = [np.nan if isinstance(row[key], str) else row[key] for row in near]
        right.loglog([row["scale"] for row in near], values, color=colour, marker=marker, ms=5, lw=1.6, label=label)
    right.invert_xaxis()
    right.set_ylim(1e-17, 1e3)
    dress(
        right,
        "A row that one body hardly feels (condition of A: 8)",
        "that row's block, scaled by",
        "relative error of λ",
    )
    left.legend(frameon=False, fontsize=9, loc="upper left")
    right.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.31, 0.09))
    return figure
