"""From recorded poses to a view: rotations, the plane of the motion, colours, extents."""

from __future__ import annotations

from copy import copy

import numpy as np

PALETTE = ("#5b7fa6", "#d48d63", "#7fa486", "#c9ab5c", "#8f7fa8", "#5fa2a3", "#b86f7a", "#8d8a78")


GRADIENT = ("#3f6491", "#5fa2a3", "#a9bd8c", "#dcb767", "#d07f5c")  # for more bodies than the palette has colours


FLAT = 1e-5  # relative: leaving the plane by less than this is no motion out of it


LOST = 1e30  # m; a run that diverges gets there before it leaves the finite numbers


DIRECTIONS = 60  # in which the vertices of a mesh are looked for


def rotations(quaternions):
    """(..., 3, 3) from unit quaternions (..., 4), w x y z."""
    w, x, y, z = np.moveaxis(np.asarray(quaternions, float), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def choose_view(position, frame):
    """((3, 3) rows right, up, towards the eye; whether flat) for positions (T, n, 3) and frames (T, n, 3, 3)."""
    normal = _plane(position, frame)
    if normal is not None:
        up = np.array([0.0, 0, 1]) if abs(normal[2]) < 0.9 else np.array([0.0, 1, 0])
        up = up - normal * (up @ normal)
        up /= np.linalg.norm(up)
        return np.stack([np.cross(up, normal), up, normal]), True
    azimuth, elevation = np.radians(-62), np.radians(21)
    spread, main = np.linalg.eigh(np.cov(position.reshape(-1, 3)[:, :2].T)) if position.size > 3 else (np.ones(2), None)
    if main is not None and spread[1] > 2 * spread[0]:  # look across the long way, a little from the side
        across = main[:, 0] * np.sign(main[:, 0] @ (0.3, -1.0))
        azimuth = np.arctan2(across[1], across[0]) + np.radians(28)
    ahead = np.array([np.cos(azimuth), np.sin(azimuth), 0])
    right, towards = np.array([-ahead[1], ahead[0], 0]), np.cos(elevation) * ahead + [0, 0, np.sin(elevation)]
    return np.stack([right, np.cross(towards, right), towards]), False


def _plane(position, frame):
    """The unit normal of the plane that the motion stays in, towards the eye; None if there is no such plane."""
    moved = (position - position[0]).reshape(-1, 3)
    size = max(extent(position), 1e-12)
    candidates = [np.array([0.0, -1, 0]), np.array([1.0, 0, 0]), np.array([0.0, 0, 1])]
    _, strength, axes = np.linalg.svd(moved.T @ moved)
    if strength[1] > FLAT * strength[0]:
        candidates.append(axes[2] * (-1 if axes[2] @ (-0.3, 1, -0.2) > 0 else 1))
    for normal in candidates:
        local = np.linalg.solve(frame[0], np.broadcast_to(normal, position.shape[1:])[..., None])
        turned = np.abs((frame @ local)[..., 0] - normal).max(initial=0)
        offset, thick = np.abs(moved @ normal).max(initial=0), np.ptp(position[0] @ normal) if position.size else 0
        if turned < FLAT and offset < FLAT * size and thick <= 0.3 * size:
            return normal
    return None


def extent(points):
    """The largest range of x, y or z."""
    return float(np.ptp(points.reshape(-1, 3), axis=0).max()) if points.size else 0.0


def colours(count):
    """(count, 3), RGB: apart from each other if few, else from one end of a gradient to the other."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    if count <= len(PALETTE):
        return np.array([to_rgb(c) for c in PALETTE[:count]]).reshape(-1, 3)
    return LinearSegmentedColormap.from_list("calm", GRADIENT)(np.linspace(0, 1, count))[:, :3]


def pose(rec, frame):
    """Positions (n, 3) and frames (n, 3, 3); a body that has flown out of all bounds is NaN throughout."""
    x, q = rec.position[frame], rec.orientation[frame]
    F = rotations(q) if rec.frame is None else rec.frame[frame]
    lost = ~((np.abs(x) < LOST).all(axis=-1) & (np.abs(F) < LOST).all(axis=(-2, -1)))
    return np.where(lost[:, None], np.nan, x), np.where(lost[:, None, None], np.nan, F)


def spread(rec):
    """The recording with a body of its own, for pictures, for every collider that moves as no frame of a body does."""
    moving = [c for c in rec.colliders if f"place {c[0]}" in rec.extra]
    if not moving:
        return rec
    found, still = copy(rec), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    own = {name: f"{body}: {name}" for name, body, *_ in moving}
    places = np.stack([rec.extra[f"place {name}"] for name in own], axis=1)
    turns = np.tile(still[1], (*places.shape[:2], 1))
    found.bodies, found.shapes = [*rec.bodies, *own.values()], rec.shapes | dict.fromkeys(own.values())
    found.position = np.concatenate([rec.position, places], axis=1)
    found.orientation = np.concatenate([rec.orientation, turns], axis=1)
    if rec.frame is not None:
        found.frame = np.concatenate([rec.frame, rotations(turns)], axis=1)
    found.colliders = [(c[0], own[c[0]], c[2], *still) if c[0] in own else c for c in rec.colliders]
    return found
