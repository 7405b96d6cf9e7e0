"""How the figures of all papers look."""

from matplotlib.figure import Figure

PAPER, GRID, INK, PALE_INK = "#fbfaf7", "#e2dfd7", "#3f434a", "#8b8d90"
PALETTE = ("#5b7fa6", "#d48d63", "#7fa486", "#c9ab5c", "#8f7fa8", "#5fa2a3", "#b86f7a", "#8d8a78")


def sheet(width, height, rows=1, columns=1, **options):
    """(figure, axes (rows, columns)); inches."""
    made = Figure(figsize=(width, height), dpi=150, facecolor=PAPER, layout="constrained")
    made.get_layout_engine().set(w_pad=0.1, h_pad=0.12)
    axes = made.subplots(rows, columns, squeeze=False, **options)
    for one in axes.flat:
        one.set_facecolor(PAPER)
        one.tick_params(colors=INK, labelsize=9)
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            one.spines[side].set_color(PALE_INK)
    return made, axes


def dress(axes, title, x, y):
    """Title, names of the axes, and a grid."""
    axes.set_title(title, fontsize=11, color=INK, loc="left")
    axes.set_xlabel(x, fontsize=10, color=INK)
    axes.set_ylabel(y, fontsize=10, color=INK)
    axes.grid(color=GRID, lw=0.6, which="major")
    axes.set_axisbelow(True)


def guide(axes, start, end, power, text):
    """A thin line of this slope on doubly logarithmic paper, from start (x, y) to the abscissa `end`."""
    (n0, v0), n1 = start, end
    v1 = v0 * (n1 / n0) ** power
    axes.plot([n0, n1], [v0, v1], color=PALE_INK, lw=0.8, ls=(0, (4, 3)), zorder=1)
    axes.annotate(text, (n1, v1), xytext=(3, 0), textcoords="offset points", fontsize=8, color=PALE_INK, va="center")
