"""The figures. Each function takes results and returns a matplotlib Figure."""

import numpy as np
from matplotlib.patches import Patch, Rectangle

from linkwork.reduced import cost, envelope, nested_form, pattern
from papers.featherstone05.nested import entries
from papers.featherstone05.trees import CHAIN, HUMANOID, TREE_1, robot
from papers.style import INK, PALE_INK, PALETTE, dress, guide, sheet

BLUE, ORANGE, GREEN, OCHRE, VIOLET, TEAL, ROSE, GREY = PALETTE
FAMILIES = {  # of Table 2: colour, and where its name stands
    "unbranched": (ROSE, "unbranched"),
    "short side branches": (OCHRE, "short side branches"),
    "span grid": (GREEN, "spanning tree of a grid"),
    "balanced tree": (BLUE, "balanced binary tree"),
}
PARTS = {  # of forward dynamics by the inertia matrix
    "CRBA: H": (cost.crba, BLUE),
    "RNEA: C": (cost.rnea, TEAL),
    "LTDL factorisation": (cost.ltdl, ORANGE),
    "back-substitution": (cost.back_substitution, OCHRE),
}


# -- figure 5 --------------------------------------------------------------------------------------------------------


def _curve(name, most):
    """(n, cost) of a family, up to `most` rows."""
    family, points, m = cost.TABLE_2[name], [], 1
    while family.rows(m) <= most:
        if family.rows(m) > 1:
            points.append((family.rows(m), cost.simple_count(family.D1(m), family.D2(m))))
        m += 1
    return np.array(points).T


def growth():
    """Figure 5: operations of an LTDL factorisation, D1 + 2 D2."""
    figure, axes = sheet(11, 4.8, 1, 2)
    for one, most, scale in ((axes[0, 0], 60, "linear"), (axes[0, 1], 1100, "log")):
        one.set_xscale(scale)
        one.set_yscale(scale)
        for name, (colour, label) in FAMILIES.items():
            n, operations = _curve(name, most)
            size = 3 if scale == "log" and len(n) < 40 else 0
            one.plot(n, operations, color=colour, lw=1.8, marker="o", ms=size, label=label)
    dress(axes[0, 0], "Factorisation cost, as in figure 5", "n", "D₁ + 2 D₂")
    axes[0, 0].set_ylim(0, 40_000)
    axes[0, 0].legend(frameon=False, fontsize=9, labelcolor=INK)
    dress(axes[0, 1], "The same, to see the orders", "n", "D₁ + 2 D₂")
    guide(axes[0, 1], (40, 1e5), 300, 3, "n³")
    guide(axes[0, 1], (100, 5e3), 700, 2, "n²")
    return figure


def _above(axes, x, y, text):
    """A number above a bar."""
    axes.annotate(text, (x, y), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=8.5, color=INK)


# -- figure 7 --------------------------------------------------------------------------------------------------------


def forward_dynamics():
    """Figure 7: operations of forward dynamics by either way, additions counted like multiplications and left out."""
    figure, axes = sheet(11, 4.6, 1, 2, sharey=True)
    for one, addition, title in ((axes[0, 0], 1.0, "a = m"), (axes[0, 1], 0.0, "a = 0")):
        place, ticks = 0.0, []
        for name, tree in (("humanoid", HUMANOID), ("chain", CHAIN)):
            bottom = 0.0
            for label, (count, colour) in PARTS.items():
                height = count(*tree).total(addition)
                one.bar(place, height, 0.8, bottom, color=colour, label=label if place == 0 else None)
                bottom += height
            propagated = cost.aba(*tree).total(addition)
            one.bar(place + 1, propagated, 0.8, color=GREY, label="ABA" if place == 0 else None)
            for x, height in ((place, bottom), (place + 1, propagated)):
                _above(one, x, height, f"{height:,.0f}")
            ticks += [(place, f"{name}\nCRBA"), (place + 1, f"{name}\nABA")]
            place += 2.6
        dress(one, f"Forward dynamics, {title}", "", "operations" if addition else "")
        one.grid(visible=False, axis="x")
        one.set_xticks([x for x, _ in ticks], [text for _, text in ticks])
    axes[0, 0].legend(frameon=False, fontsize=9, labelcolor=INK, loc="upper left")
    return figure


# -- section 3 -------------------------------------------------------------------------------------------------------


def _matrix(axes, filled, title, below):
    """Numbers of a matrix as squares; those of the envelope that are zeros in another colour."""
    n = len(filled)
    inside = np.zeros_like(filled)
    for i, j in entries(filled):
        inside[i, j] = not filled[i, j]
    image = np.ones((n, n, 3))
    for mask, colour in ((filled, BLUE), (inside, ROSE)):
        image[mask] = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    axes.imshow(image, interpolation="nearest", extent=(0, n, n, 0))
    axes.set_title(title, fontsize=11, color=INK, loc="left")
    axes.set_xlabel(below, fontsize=9, color=INK)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(PALE_INK)


def _outline(axes, filled):
    """The envelope's edge, with the diagonal."""
    x, y = [], []
    for i, first in enumerate(envelope(filled).tolist()):
        x += [first, first]
        y += [i, i + 1]
    axes.plot(x, y, color=INK, lw=1.2)
    steps = [(k, k + d) for k in range(len(filled)) for d in (0, 1)]
    axes.plot([b for _, b in steps] + [len(filled)], [a for a, _ in steps] + [len(filled)], color=INK, lw=0.8)


def nested():
    """Eq. 4 and eq. 7, and the same for a robot: as numbered, depth first and backwards."""
    figure, axes = sheet(11, 10.6, 2, 2)
    for row, (name, parents) in zip(axes, {"Tree 1": TREE_1.rows, "A robot with hands": robot().rows}.items(), strict=True):
        H, (order, blocks) = pattern(parents), nested_form(parents)
        permuted = H[np.ix_(order, order)]
        n, zeros = len(parents), cost.zeros(parents)
        _matrix(row[0], H, f"{name}, as numbered", f"{n} × {n}, {zeros:,} zeros; Cholesky may fill those inside the envelope")
        inside = len(entries(permuted)) - sum(permuted[i, j] for i, j in entries(permuted))
        below = f"zeros inside the envelope: {inside}; boxes: where branches begin"
        _matrix(row[1], permuted, f"{name}, nested and doubly bordered (eq. 7)", below)
        _outline(row[1], permuted)
        children = np.bincount(parents[parents >= 0], minlength=n)
        for i, (first, last) in enumerate(blocks.tolist()):
            if last - first > 1 and parents[i] >= 0 and children[parents[i]] > 1:
                row[1].add_patch(Rectangle((first, first), last - first, last - first, fill=False, ec=ORANGE, lw=0.9))
    marks = [Patch(fc=BLUE, label="number"), Patch(fc=ROSE, label="zero inside the envelope")]
    figure.legend(handles=marks, frameon=False, fontsize=9, labelcolor=INK, loc="outside lower left", ncols=2)
    return figure


# -- measured --------------------------------------------------------------------------------------------------------


def times(result):
    """Microseconds of factoring, of factoring and solving; and how well fitted rates meet them."""
    figure, axes = sheet(14, 4.6, 1, 3)
    _bars(axes[0, 0], result["ways"], "factor", "Factoring a 30 × 30 matrix")
    _bars(axes[0, 1], result["ways"], "both", "Factoring and solving")
    _fits(axes[0, 2], result["stages"])
    return figure


WAY_COLOURS = {
    "LTDL row by row": OCHRE, "LTDL in tiles, one by one": TEAL, "in tiles, one by one": TEAL,
    "LTDL in tiles, four at once": BLUE, "in tiles, four at once": BLUE, "LTDL in packed rows": VIOLET,
}  # fmt: skip


def _bars(axes, trees, part, title):
    ways = list(trees["humanoid"][part])
    width = 0.8 / len(ways)
    colours = [WAY_COLOURS.get(way, ROSE if way.startswith("LAPACK") else GREY) for way in ways]
    for offset, (way, colour) in enumerate(zip(ways, colours, strict=True)):
        heights = [1e6 * found[part][way] for found in trees.values()]
        places = np.arange(len(trees)) + width * (offset - (len(ways) - 1) / 2)
        axes.bar(places, heights, 0.94 * width, color=colour, label=way)
        for x, height in zip(places, heights, strict=True):
            _above(axes, x, height, f"{height:.2g}")
    dress(axes, title, "", "µs")
    axes.set_xticks(range(len(trees)), list(trees))
    axes.set_ylim(0, 1.5 * axes.get_ylim()[1])
    axes.grid(visible=False, axis="x")
    axes.legend(frameon=False, fontsize=9, labelcolor=INK, loc="upper left")


def _fits(axes, stages):
    """Measured times against those that the fitted rates give."""
    marks = {"aba": (GREY, "v"), "crba": (GREEN, "^"), "rnea": (VIOLET, "D"), "solve": (BLUE, "o")}
    for stage, found in stages.items():
        fitted = [1e6 * (found["row"] * s["rows"] + found["operation"] * s["operations"]) for s in found["samples"]]
        measured = [1e6 * s["seconds"] for s in found["samples"]]
        colour, marker = marks[stage]
        axes.loglog(fitted, measured, marker=marker, ls="", ms=5, color=colour, label=stage)
    ends = np.array([0.03, 20.0])
    axes.plot(ends, ends, color=PALE_INK, lw=0.8, ls=(0, (4, 3)), zorder=1)
    count = len(next(iter(stages.values()))["samples"])
    dress(axes, f"{count} trees against fitted rates", "rates × freedoms and operations, µs", "measured, µs")
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)


def large(result):
    """Time of a factorisation over the number of rows, by families of trees; LAPACK, which does not see zeros, beside it."""
    figure, axes = sheet(11, 4.8, 1, 2)
    for name, (colour, label) in FAMILIES.items():
        own = [row for row in result["rows"] if row["family"] == name]
        axes[0, 0].loglog(
            [r["n"] for r in own], [1e6 * r["seconds"] for r in own], "o-", color=colour, lw=1.6, ms=4, label=label
        )
        axes[0, 1].loglog([r["operations"] for r in own], [1e6 * r["seconds"] for r in own], "o-", color=colour, lw=1.6, ms=4)
    dense = [row for row in result["rows"] if row["family"] == "unbranched" and row["lapack"]]
    axes[0, 0].loglog(
        [r["n"] for r in dense], [1e6 * r["lapack"] for r in dense], "x--", color=GREY, lw=1.2, label="LAPACK dpotrf"
    )
    dress(axes[0, 0], "lw.reduced.ltdl over the rows", "n", "µs")
    axes[0, 0].legend(frameon=False, fontsize=9, labelcolor=INK)
    dress(axes[0, 1], "The same over the operations that the paper counts", "multiplications and additions", "µs")
    guide(axes[0, 1], (1e3, 1.0), 1e7, 1, "operations")
    return figure


def accuracy(rows):
    """Errors of factors and of solutions, relative."""
    figure, axes = sheet(11, 4.6, 1, 2)
    ways = list(rows[0]["errors"])
    parts = (("factor", "|rebuilt - H| / |H|, 1e-16", 1e16), ("solution", "|x - exact| / |exact|", 1.0))
    for one, (part, title, scale) in zip(axes[0], parts, strict=True):
        for offset, (way, colour) in enumerate(zip(ways, (ROSE, OCHRE, GREY, TEAL, BLUE), strict=True)):
            heights = [row["errors"][way][part] * scale for row in rows]
            one.bar(np.arange(len(rows)) + 0.17 * (offset - 2), heights, 0.16, color=colour, label=way)
        names = [row["tree"].replace(" of ", "\nof ").replace(" with ", "\nwith ") for row in rows]
        one.set_xticks(range(len(rows)), names, fontsize=8)
        dress(one, title + ", means", "", "")
        one.grid(visible=False, axis="x")
    axes[0, 1].set_yscale("log")
    axes[0, 0].legend(frameon=False, fontsize=9, labelcolor=INK, ncols=2)
    axes[0, 0].set_ylim(0, 1.4e16 * max(e["factor"] for row in rows for e in row["errors"].values()))
    return figure
