"""Appendix A against the truth: the error of eq. (7) by angle, and what it does to a spring that is let go."""

import math

import numpy as np

from papers.hernandez11.rotations import by_differences, exact, mended, printed

ANGLES = (0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, math.pi / 2, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.1)
INERTIA, STIFFNESS, LET_GO = 0.05, 20.0, 2.5  # kg m^2, N m/rad, rad: about one axis, a to be turned, b held
STEP, STEPS = 0.02, 40


def errors(angles=ANGLES, seed=0):
    """Rows: the largest error of an entry of each form, and what the printed one has along the axis, where 1 is right."""
    rng, rows = np.random.default_rng(seed), []
    for phi in angles:
        u = rng.normal(size=3)
        u /= np.linalg.norm(u)
        w = phi * u
        truth = by_differences(w, 1e-6 if phi < 3.05 else 1e-7)
        off = printed(w) - exact(w)
        along = float(u @ off @ u)
        rows.append({
            "angle": phi,
            "printed": float(np.abs(printed(w) - truth).max()),
            "mended": float(np.abs(mended(w) - truth).max()),
            "exact": float(np.abs(exact(w) - truth).max()),
            "along": 1 + along,
            "phi over sin phi": phi / math.sin(phi),
            "across": float(np.abs(off - along * np.outer(u, u)).max()),
        })  # fmt: skip
    return rows


def release(form, step=STEP, steps=STEPS):
    """(steps + 1,), rad: a body on a torsion spring, let go at LET_GO, one linearised implicit step after another."""
    angle, rate, found = LET_GO, 0.0, [LET_GO]
    for _ in range(steps):
        stiffness = STIFFNESS * form(np.array([angle, 0.0, 0.0]))[0, 0]
        rate = (INERTIA * rate - step * STIFFNESS * angle) / (INERTIA + step**2 * stiffness)
        angle += step * rate
        found.append(angle)
    return np.array(found)


def truth(times):
    return LET_GO * np.cos(math.sqrt(STIFFNESS / INERTIA) * times)


def measure(report=lambda text: None):
    report("the derivative of the rotation vector")
    times = STEP * np.arange(STEPS + 1)
    curves = {"exact": release(exact), "printed": release(printed)}
    return {
        "errors": errors(),
        "release": {"times": times.tolist(), **{name: curve.tolist() for name, curve in curves.items()}},
        "first_step": {name: float(curve[1] - LET_GO) / STEP for name, curve in curves.items()},
    }
