"""Random trees of links as URDF texts: any order of joints, turned frames, links that fixed joints carry."""

import numpy as np

KINDS = ("revolute", "continuous", "prismatic", "fixed")


def random_inertial(rng):
    """The <inertial> of a few random points of mass."""
    points, masses = rng.normal(size=(6, 3)) * 0.2, rng.uniform(0.2, 1.0, 6)
    points -= masses @ points / masses.sum()
    I = np.einsum("n,nk,nk->", masses, points, points) * np.eye(3) - np.einsum("n,ni,nj->ij", masses, points, points)
    moments = " ".join(f'i{"xyz"[i]}{"xyz"[j]}="{I[i, j]:.17g}"' for i in range(3) for j in range(i, 3))
    return f'<inertial>{origin(rng)}<mass value="{masses.sum():.17g}"/><inertia {moments}/></inertial>'


def origin(rng):
    xyz, rpy = rng.normal(size=3) * 0.3, rng.uniform(-3, 3, 3)
    return f'<origin xyz="{" ".join(f"{x:.17g}" for x in xyz)}" rpy="{" ".join(f"{x:.17g}" for x in rpy)}"/>'


def random_robot(rng, links):
    """A URDF of so many links beside the base, and the names of its joints that move."""
    parts, moving = ['<link name="base"/>'], []
    for k in range(links):
        above = "base" if k == 0 else f"l{rng.integers(max(0, k - 3), k)}"
        kind = str(rng.choice(KINDS[:3] if k == 0 else KINDS))
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        parts.append(f'<link name="l{k}">{random_inertial(rng)}</link>')
        bounds = "" if kind in ("continuous", "fixed") else '<limit lower="-9" upper="9" effort="0" velocity="0"/>'
        parts.append(f'<joint name="j{k}" type="{kind}">{origin(rng)}<parent link="{above}"/><child link="l{k}"/>'
                     f'<axis xyz="{" ".join(f"{x:.17g}" for x in axis)}"/>{bounds}</joint>')  # fmt: skip
        if kind != "fixed":
            moving.append(f"j{k}")
    return f'<robot name="random">{"".join(rng.permutation(parts).tolist())}</robot>', moving
