"""The figures, from results."""

import numpy as np

from papers.style import INK, PALE_INK, dress, guide, sheet
from papers.witkin97 import growth, tinkertoy

BLUE, RED, GREEN, SAND = "#2f6db2", "#c0492b", "#4b8f5a", "#c9a35a"
COLOURS = {"cg": BLUE, "tree": GREEN, "dense": RED}


def bead(result):
    """Drift over time, and over the stiffness of a spring."""
    figure, ((left, right),) = sheet(10, 4, columns=2)
    for (name, found), colour in zip(result["constraint"].items(), (RED, BLUE, GREEN), strict=True):
        left.semilogy(found["times"][1:], np.maximum(found["off"][1:], 1e-16), color=colour, lw=1.2, label=name)
    left.legend(fontsize=8, frameon=False)
    dress(left, "The bead leaves the wire", "time, s", "| |x| - 1 |, m")
    kept = [row for row in result["springs"] if not row["lost"]]
    lost = [row for row in result["springs"] if row["lost"]]
    right.loglog([r["stiffness"] for r in kept], [r["largest"] for r in kept], "o-", color=SAND, label="spring")
    top = max(r["largest"] for r in kept)
    right.loglog([r["stiffness"] for r in lost], [top] * len(lost), "x", color=RED, label="spring: diverged")
    found = result["constraint"]["equation 11: feedback"]["largest"]
    right.axhline(found, color=BLUE, lw=1.2, label="equation 11")
    right.legend(fontsize=8, frameon=False)
    dress(right, f"Penalty springs, dt = {1e3 * kept[0]['dt']:g} ms", "stiffness, N/m", "largest | |x| - 1 |, m")
    return figure


def feedback(result):
    """The bead's drift over k_s for several k_d; beads that start off the wire."""
    figure, ((left, right),) = sheet(11, 4.4, columns=2)
    dampings = list(dict.fromkeys(row["damping"] for row in result["varied"]))
    shades = np.linspace(0.25, 1.0, len(dampings))
    for damping, shade in zip(dampings, shades, strict=True):
        own = [row for row in result["varied"] if row["damping"] == damping]
        kept = [row for row in own if row["largest"] is not None]
        line = left.loglog(
            [r["stiffness"] for r in kept], [r["largest"] for r in kept], "o-", color=BLUE, alpha=shade, ms=4, lw=1.2
        )
        line[0].set_label(f"{damping:g}")
        lost = [row["stiffness"] for row in own if row["largest"] is None]
        left.loglog(lost, [0.3] * len(lost), "x", color=RED, ms=5)
    left.legend(fontsize=8, frameon=False, title="k_d dt (x: thrown off)", title_fontsize=8)
    dress(left, "Drift of the bead with feedback", "k_s dt²", "largest | |x| - 1 |, m")
    colours = (BLUE, GREEN, SAND, RED, INK)
    for row, colour in zip(result["drawn"], colours, strict=True):
        label = f"k_s dt² = {row['stiffness']:g}, k_d dt = {row['damping']:g}"
        right.semilogy(row["times"], np.maximum(row["off"], 1e-7), color=colour, lw=1.2, label=label)
    right.axhline(result["enough"], color=PALE_INK, lw=0.8, ls=(0, (4, 3)))
    right.legend(fontsize=8, frameon=False)
    dress(right, f"From {result['off']:g} m off the wire", "time, s", "| |x| - 1 |, m")
    return figure


def cost(rows):
    """Time of a step and iterations over the number of rows."""
    figure, axes = sheet(10, 7, rows=2, columns=2)
    for k, structure in enumerate(("chain", "net")):
        own = [row for row in rows if row["structure"] == structure]
        for solver, colour in COLOURS.items():
            points = [(row["rows"], row["seconds"][solver]) for row in own if solver in row["seconds"]]
            axes[0, k].loglog(*zip(*points, strict=True), "o-", color=colour, lw=1.2, ms=4, label=solver)
        start = (own[0]["rows"], own[0]["seconds"]["tree"])
        guide(axes[0, k], start, own[-1]["rows"], 1, "n")
        axes[0, k].legend(fontsize=8, frameon=False)
        dress(axes[0, k], f"A step of a {structure}", "rows", "s")
        for way, colour in (("ours", BLUE), ("plain", GREEN), ("paper", RED), ("printed", SAND)):
            points = [(row["rows"], row[way]) for row in own if row[way] is not None]
            style = "x--" if way == "printed" else "o-"  # which lies on the paper's
            axes[1, k].loglog(*zip(*points, strict=True), style, color=colour, lw=1.2, ms=4, label=WAYS[way])
        guide(axes[1, k], (own[0]["rows"], own[0]["ours"]), own[-1]["rows"], 1, "n")
        axes[1, k].legend(fontsize=8, frameon=False)
        dress(axes[1, k], f"Iterations of a {structure}, to {growth.ENOUGH:g}", "rows", "iterations")
    return figure


WAYS = {
    "ours": "linkwork: block-Jacobi, least residual",
    "plain": "conjugate gradients on J W Jᵀ",
    "paper": "the paper's, on its square",
    "printed": 'linkwork: method="least-squares"',
}


def blocks():
    """The block-sparse J of the finished tinkertoy and of a net: a square for every block that is stored."""
    import warnings

    import linkwork as lw

    figure, ((left, right),) = sheet(11, 5, columns=2, width_ratios=(1, 1.3))
    worlds = {"The tinkertoy": tinkertoy.last_world(), "A net of 4 x 4": lw.scenes.get("net", rows=4, columns=4)}
    for axes, (title, world) in zip((left, right), worlds.items(), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            sim = lw.Simulation(world, solver="cg")
        _draw(axes, sim, title)
    return figure


def _draw(axes, sim, title):
    from matplotlib.patches import Rectangle

    m = sim.matrices
    J, largest = m.J.tocoo(), np.abs(m.J.data).max()
    for rows in m.constraints.values():
        for columns in m.bodies.values():
            if m.J[rows, columns].nnz:  # blocks are stored whole
                corner, size = (columns.start, rows.start), (columns.stop - columns.start, rows.stop - rows.start)
                axes.add_patch(Rectangle(corner, *size, fill=False, ec=PALE_INK, lw=0.6))
    for i, j, value in zip(J.row, J.col, J.data, strict=True):
        if abs(value) > 1e-12:
            colour = BLUE if value > 0 else RED
            axes.add_patch(Rectangle((j, i), 1, 1, color=colour, alpha=abs(value) / largest, lw=0))
    row, column = J.shape
    axes.set_xlim(0, column)
    axes.set_ylim(row, 0)
    share = J.nnz / (row * column)
    dress(
        axes,
        f"{title}: {row} x {column}, {share:.0%} of it stored",
        "velocities, body by body",
        "rows, constraint by constraint",
    )
    axes.grid(False)
    axes.tick_params(colors=INK)


def sequence(result):
    """Where the beads of the tinkertoy went, seen along y and along x, a colour a bead."""
    figure, ((left, right),) = sheet(10, 4.5, columns=2)
    colours = (BLUE, GREEN, SAND, RED, INK)
    for axes, (first, second), title in ((left, (0, 2), "along y"), (right, (1, 2), "along x")):
        for body, colour in enumerate(colours):
            track = np.array([frame[body] for frame in result["path"] if len(frame) > body])
            axes.plot(track[:, first], track[:, second], color=colour, lw=0.9, label="abcd"[body] if body < 4 else "box")
            axes.plot(*track[-1, [first, second]], "o", color=colour, ms=5)
        if first == 0:
            angle = np.linspace(0, 2 * np.pi, 200)
            axes.plot(np.cos(angle), np.sin(angle), color=PALE_INK, lw=0.7, ls=(0, (4, 3)))
        axes.set_aspect("equal")
        dress(axes, f"The tinkertoy, seen {title}", "xyz"[first] + ", m", "z, m")
    left.legend(fontsize=8, frameon=False, loc="center")
    return figure
