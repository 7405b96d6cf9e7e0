"""How MuJoCo's constraints yield: solref, solimp and solmix of geoms, pairs, joints, tendons and equalities, told once."""

import numpy as np

SOLREF, SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # unless a file says otherwise
USUAL = {"solref": SOLREF, "solimp": SOLIMP, "solmix": (1.0,)}


def tell(draft, geoms):
    """One remark on all that says how it yields; geoms: those that touch."""
    model = draft.model
    acting = {
        "geom": ("geom", sorted(geoms), ("solref", "solimp", "solmix")),
        "pair": ("pair", range(model.npair) if geoms else (), ("solref", "solimp")),
        "jnt": ("joint", [] if draft.choices["limits"] == "soft" else np.flatnonzero(model.jnt_limited), ("solref", "solimp")),
        "eq": ("equality", np.flatnonzero(model.eq_active0), ("solref", "solimp")),
        "tendon_lim": ("tendon", np.flatnonzero(model.tendon_limited), ("solref", "solimp")),
    }
    found = [(kind, int(k)) for prefix, (kind, numbers, words) in acting.items() for k in numbers
             if any(_differs(model, prefix, word, int(k)) for word in words)]  # fmt: skip
    if found:
        place = draft.place(*found[0])
        what = f"solref, solimp, solmix ({len(found)} of them)"
        draft.reading.remark(
            place.line, what, "how MuJoCo's constraints yield is left out: these are hard here", file=place.file
        )


def spring_like(solref, solimp, inertia):
    """Stiffness and damping of a spring that moves this inertia as MuJoCo's reference acceleration does."""
    time, ratio, most = float(solref[0]), float(solref[1]), float(solimp[1])
    if time <= 0.0:  # given directly, as -stiffness and -damping
        return -time * inertia, -ratio * inertia
    return inertia / (most * time * ratio) ** 2, 2 * inertia / (most * time)


def _differs(model, prefix, word, k):
    own, _, suffix = prefix.partition("_")
    values = getattr(model, f"{own}_{word}{'_' + suffix if suffix else ''}")[k]
    return bool(np.any(np.atleast_1d(values) != USUAL[word]))
