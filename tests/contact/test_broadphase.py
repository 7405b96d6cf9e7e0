"""Partners against all pairs tried one by one: the same, whatever the scene, and in order."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.contact.broadphase import partners, place, prepare
from linkwork.contact.colliders import Placed, compile_colliders, scratch_for
from linkwork.contact.layout import BOX_HIGH, BOX_LOW

SHAPES = [lw.Sphere(0.1), lw.Box(0.3, 0.2, 0.1), lw.Capsule(0.05, 0.6)]


def found(geometry, R, p, margin):
    """All pairs, as the broad phase gives them."""
    scratch = scratch_for(geometry)
    place(geometry.constants, geometry.labels, R, p, margin, scratch.poses)
    prepare(geometry.near, geometry.cell[0], scratch.poses, scratch.sorting, scratch.tally, scratch.tree)
    pairs = []
    for a in range(len(geometry.labels)):
        count = partners(
            geometry.labels,
            geometry.apart,
            geometry.large,
            scratch.poses,
            margin,
            scratch.tree,
            scratch.sorting,
            a,
            scratch.found,
        )
        pairs += [(a, int(b)) for b in scratch.found[:count]]
    return pairs, scratch.poses[:, BOX_LOW:BOX_HIGH], scratch.poses[:, BOX_HIGH:]


def scene(rng, n, spread, sizes=1.0):
    R = Rotation.random(n, random_state=rng).as_matrix() if n else np.zeros((0, 3, 3))
    placed = [Placed(SHAPES[k % 3], k) for k in range(n)]
    return placed, np.ascontiguousarray(R), rng.uniform(-1, 1, (n, 3)) * spread


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 65, 400])
@pytest.mark.parametrize("spread", [(0, 0, 0), (2, 2, 0.1), (1e4, 1, 1), (1e-3, 1e9, 1)])
def test_pairs_are_those_of_all_boxes_that_overlap(n, spread):
    placed, R, p = scene(np.random.default_rng(n), n, spread)
    pairs, low, high = found(compile_colliders(placed), R, p, 0.05)
    overlap = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=2)
    assert pairs == [(a, b) for a in range(n) for b in range(a + 1, n) if overlap[a, b]]
