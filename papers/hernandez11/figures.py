"""The figures. Each function takes results and returns a matplotlib Figure."""

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

import linkwork as lw
from linkwork.scenes.skins import skin
from papers.hernandez11 import derivative as derivatives
from papers.hernandez11 import drift as drifts
from papers.hernandez11.examples import quietly
from papers.hernandez11.growth import PAPER
from papers.style import INK, PALE_INK, PALETTE, dress, guide, sheet

BLUE, ORANGE, GREEN, OCHRE, VIOLET, TEAL, ROSE, GREY = PALETTE
SKIN_COLOUR, LIGHT = "#e3b497", np.array([-0.42, 0.66, 0.62])
WAYS = {
    "one iteration": (BLUE, "o"),
    "until done": (TEAL, "^"),
    "exact tangent, one iteration": (VIOLET, "D"),
    "explicit euler": (GREY, "v"),
}


def growth(result):
    figure, axes = sheet(8.5, 5.6)
    axes = axes[0][0]
    axes.loglog(
        list(PAPER), [1e3 * s for s in PAPER.values()], color=ROSE, marker="s", ms=6, lw=1.6, label="hernandez11, 2.4 GHz"
    )
    for way, (colour, marker) in WAYS.items():
        rows = [r for r in result["rows"] if r["way"] == way]
        slope = result["slopes"][way]
        name = way if way.startswith("explicit") else f"implicit, {way}"
        label = name + ("" if slope is None else f": slope {slope:.2f}")
        axes.loglog([r["n"] for r in rows], [1e3 * r["seconds"] for r in rows], color=colour, marker=marker, ms=5,
                    lw=2.2 if way == "one iteration" else 1.4, label=label)  # fmt: skip
    sizes = [r["n"] for r in result["rows"]]
    least = min(r["seconds"] for r in result["rows"] if r["n"] == min(sizes))
    guide(axes, (min(sizes), 0.5e3 * least), max(sizes), 1, "n")
    dress(axes, "A hanging chain with stiff joints: one step (figure 4)", "bones", "time a step, ms")
    axes.legend(frameon=False, fontsize=9.5, loc="upper left")
    return figure


def derivative(result):
    figure, axes = sheet(11, 4.4, 1, 2)
    left, right = axes[0]
    rows = result["errors"]
    angles = [r["angle"] for r in rows]
    left.semilogy(angles, [r["printed"] for r in rows], color=ROSE, marker="s", ms=4, lw=1.6, label="eq. (7) as printed")
    left.semilogy(angles, [r["exact"] for r in rows], color=BLUE, marker="o", ms=4, lw=1.6, label="exact form")
    left.semilogy(
        angles, [r["along"] for r in rows], color=OCHRE, marker="D", ms=4, lw=1.4, label="eq. (7) along the axis; 1 is right"
    )
    phi = np.linspace(0.01, 3.12, 300)
    left.semilogy(phi, phi / np.sin(phi), color=PALE_INK, lw=0.9, ls=(0, (4, 3)), label="φ / sin φ")
    dress(left, "∂(φu)/∂θ against finite differences", "angle φ, rad", "largest error of an entry")
    left.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(0.0, 0.42))
    release = result["release"]
    fine = np.linspace(0, max(release["times"]), 400)
    right.plot(fine, derivatives.truth(fine), color=PALE_INK, lw=1.2, label="true motion")
    for key, colour, name in (("exact", BLUE, "implicit steps, exact form"), ("printed", ROSE, "implicit steps, eq. (7)")):
        right.plot(release["times"], release[key], color=colour, lw=1.6, marker=".", ms=5, label=name)
    right.set_ylim(-2.8, 4.4)
    dress(right, "A torsion spring let go at 2.5 rad, steps of 20 ms", "time, s", "angle, rad")
    right.legend(frameon=False, fontsize=9, loc="upper right")
    return figure


def drift(result):
    figure, axes = sheet(8.5, 4.8)
    axes = axes[0][0]
    styles = {drifts.EQUATION_3: (ROSE, "s"), **dict(zip(drifts.WAYS, ((BLUE, "o"), (TEAL, "^"), (GREY, "v")), strict=True))}
    for way, (colour, marker) in styles.items():
        rows = [r for r in result["rows"] if r["way"] == way]
        order = result["orders"][way]
        label = way + (f": slope {order:.2f}" if rows[0]["drift"] > 1e-12 else "")
        axes.loglog(
            [1e3 * r["dt"] for r in rows], [r["drift"] for r in rows], color=colour, marker=marker, ms=5, lw=1.6, label=label
        )
    steps = sorted({1e3 * r["dt"] for r in result["rows"]})
    axes.set_xticks(steps, [f"{step:.3g}" for step in steps], minor=False)
    axes.minorticks_off()
    dress(axes, "Five swinging links, 2 s", "step, ms", "largest |C|, m")
    axes.legend(frameon=False, fontsize=9.5, loc="center right", bbox_to_anchor=(1.0, 0.42))
    return figure


def drag(result):
    figure, axes = sheet(8.5, 4.2)
    axes = axes[0][0]
    for name, colour in (("on", BLUE), ("off", ORANGE)):
        axes.plot(result["times"], result[name]["force"], color=colour, lw=1.8, label=f"joint torques {name}")
    dress(axes, "Dragging the robot by its left hand", "time, s", "force at the handle, N")
    axes.legend(frameon=False, fontsize=9.5)
    return figure


def hand_curves(result):
    figure, axes = sheet(11, 4.0, 1, 2)
    left, right = axes[0]
    left.plot(result["times"], result["asked"], color=PALE_INK, lw=1.4, ls=(0, (4, 3)), label="as recorded")
    left.plot(result["times"], result["bend"], color=BLUE, lw=1.8, label="the bones: a limit at 0, a ball in the way")
    dress(left, "Second joint of the index finger", "time, s", "bend, rad")
    right.plot(result["times"], result["palm"], color=TEAL, lw=1.8, label="palm")
    right.plot(result["times"], result["ball"], color=ORANGE, lw=1.8, label="ball")
    dress(right, "Height", "time, s", "m")
    for one in (left, right):
        one.legend(frameon=False, fontsize=9)
    return figure


def robot(folder):
    """robot_on.png and robot_off.png: poses of the dragged robot."""
    for name, stiffness in (("on", 40.0), ("off", 0.0)):
        sim = lw.Simulation(lw.scenes.get("robot-drag"), dt=0.01, solver="implicit")
        sim.set("stiffness", stiffness)
        sim.run(6.0, record_every=0.02).animate(folder / f"robot_{name}.png", size=(640, 640), trace="hand-left")


# -- the hand's skin ----------------------------------------------------------------------------------------------------------


def hand(times=(0.0, 1.2, 1.8, 3.0)):
    """The skin over the bones, and the ball, at four times."""
    sim = lw.Simulation(lw.scenes.get("hand"), dt=0.01, solver="implicit")
    recording = quietly(lambda: sim.run(3.0, record_every=0.1))
    vertices, faces = skin(recording)
    ball, ball_faces = _sphere(0.03)
    figure, axes = sheet(12, 3.0, 1, len(times))
    view = _view(azimuth=0.75, height=0.3)
    frames = [int(np.argmin(np.abs(recording.time - t))) for t in times]
    balls = [ball + recording["ball"].position[k] for k in frames]
    seen = np.concatenate([np.concatenate([vertices[k], b]) for k, b in zip(frames, balls, strict=True)]) @ view.T
    for one, k, placed, t in zip(axes[0], frames, balls, times, strict=True):
        _paint(one, [(vertices[k], faces, SKIN_COLOUR), (placed, ball_faces, BLUE)], view)
        one.set_title(f"{t:.1f} s", fontsize=10, color=INK, loc="left")
        (left, low), (right, high) = seen[:, :2].min(axis=0) - 0.005, seen[:, :2].max(axis=0) + 0.005
        one.set(xlim=(left, right), ylim=(low, high), aspect="equal")
        one.set_axis_off()
    return figure


def _view(azimuth, height):
    """(3, 3): rows right, up, towards the eye."""
    out = np.array([np.cos(azimuth) * np.cos(height), np.sin(azimuth) * np.cos(height), np.sin(height)])
    right = np.cross((0, 0, 1), out)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(out, right), out])


def _paint(axes, solids, view):
    """All facets that face the eye, from far to near."""
    polygons, colours, depths = [], [], []
    for vertices, faces, colour in solids:
        seen = vertices @ view.T
        corners = seen[faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(normal, axis=1)
        facing = (normal[:, 2] > 0) & (size > 0)
        shade = 0.62 + 0.38 * np.clip(normal[facing] / size[facing, None] @ (LIGHT / np.linalg.norm(LIGHT)), 0, 1)
        polygons.append(corners[facing][:, :, :2])
        colours.append(np.clip(shade[:, None] * np.array(to_rgb(colour)) * 1.05, 0, 1))
        depths.append(corners[facing][:, :, 2].mean(axis=1))
    order = np.argsort(np.concatenate(depths))
    shades = np.concatenate(colours)[order]
    axes.add_collection(PolyCollection(np.concatenate(polygons)[order], facecolors=shades, edgecolors=shades, linewidths=0.3))


def _sphere(radius, around=32):
    """(vertices, triangles)."""
    u, v = np.meshgrid(np.linspace(0, np.pi, around // 2 + 1), np.linspace(0, 2 * np.pi, around + 1), indexing="ij")
    vertices = radius * np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1).reshape(-1, 3)
    at = np.arange(len(vertices)).reshape(u.shape)
    a, b, c, d = (x.ravel() for x in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
    return vertices, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
