"""Partners against all pairs tried one by one: the same, whatever the scene, and in order."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.collision.broadphase import partners, place, prepare
from linkwork.collision.collider_table import Placed, compile_colliders, scratch_for

SHAPES = [lw.Sphere(0.1), lw.Box(0.3, 0.2, 0.1), lw.Capsule(0.05, 0.6)]


def found(geometry, R, p, margin):
    """All pairs, as the broad phase gives them."""
    scratch = scratch_for(geometry)
    place(geometry.constants, geometry.labels, R, p, margin, scratch.ahead, scratch.poses, scratch.boxes)
    prepare(geometry.near, geometry.cell[0], scratch.boxes, scratch.sorting, scratch.tally, scratch.tree)
    wanted = (
        geometry.labels,
        geometry.apart,
        geometry.large,
        scratch.poses,
        scratch.boxes,
        margin,
        scratch.tree,
        scratch.sorting,
    )
    pairs = []
    for a in range(len(geometry.labels)):
        count = partners(*wanted, a, scratch.found)
        pairs += [(a, int(b)) for b in scratch.found[:count]]
    return pairs, scratch.boxes[:, :3], scratch.boxes[:, 3:]


def scene(rng, n, spread):
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


def test_planes_and_what_is_far_larger_are_tried_with_all():
    placed, R, p = scene(np.random.default_rng(5), 200, (5, 5, 0.2))
    ground = [
        Placed(lw.Plane(), orientation=(0.9, 0.1, 0, 0)),
        Placed(lw.Box(20, 20, 0.1), position=(0, 0, -0.2)),
        Placed(lw.Plane()),
    ]
    geometry = compile_colliders([ground[0], *placed, *ground[1:]])
    assert geometry.large.tolist() == [0, 201, 202]
    pairs, low, high = found(geometry, R, p, 0.05)
    known = set(pairs)
    tilted = Rotation.from_quat((0.9, 0.1, 0, 0), scalar_first=True).as_matrix()[:, 2]
    for c in range(1, 201):
        overlaps = bool((low[c] <= high[201]).all() and (low[201] <= high[c]).all())
        assert ((c, 201) in known) == overlaps
        assert ((c, 202) in known) == (low[c, 2] <= 0.025)
        assert ((0, c) in known) == (np.minimum(tilted * low[c], tilted * high[c]).sum() <= 0.025)
    assert pairs == sorted(pairs) and (0, 202) not in known and (0, 201) not in known


def test_time_grows_no_faster_than_the_number_of_bodies():
    """Boxes on a floor: ten times as many meet ten times as many nodes of the tree, and a bit."""
    counts = []
    for n in (1000, 10000):
        side = int(np.ceil(np.sqrt(n)))
        at = np.stack(np.meshgrid(*[np.arange(side) * 0.15] * 2, indexing="ij"), axis=-1).reshape(-1, 2)[:n]
        geometry = compile_colliders([Placed(lw.Plane()), *(Placed(lw.Box(0.1, 0.1, 0.1), k) for k in range(n))])
        scratch = scratch_for(geometry)
        R, p = np.tile(np.eye(3), (n, 1, 1)), np.column_stack([at, np.full(n, 0.05)])
        place(geometry.constants, geometry.labels, R, p, 0.001, scratch.ahead, scratch.poses, scratch.boxes)
        prepare(geometry.near, geometry.cell[0], scratch.boxes, scratch.sorting, scratch.tally, scratch.tree)
        counts.append(sum(_visited(scratch.tree, box) for box in scratch.boxes[1::97]) / len(scratch.boxes[1::97]))
    assert counts[1] < 1.6 * counts[0] < 160


def _visited(tree, box):
    """How many nodes of the tree a box has to be compared with."""
    level, count = np.array([1]), 0
    while len(level):
        count += len(level)
        hit = level[((tree[level, :3] <= box[3:]) & (box[:3] <= tree[level, 3:])).all(axis=1)]
        hit = hit[hit < len(tree) // 2]
        level = np.concatenate([2 * hit, 2 * hit + 1])
    return count


def test_known_pairs_are_those_that_may_touch():
    """Of few colliders all pairs are listed once and for all: by bodies, groups, rules and exceptions, no two planes."""
    rng = np.random.default_rng(5)
    placed = [Placed(lw.Plane() if k % 9 == 0 else lw.Sphere(0.1), int(rng.integers(-1, 8)), group=int(rng.integers(-1, 3)),
                     rules=sorted({int(r) for r in rng.integers(0, 4, 2)})) for k in range(40)]  # fmt: skip
    placed = [Placed(p.shape, -1, rules=p.rules) if isinstance(p.shape, lw.Plane) else p for p in placed]
    apart = {(3, 7), (12, 11)}
    expected = []
    for a in range(40):
        for b in range(a + 1, 40):
            one, other = placed[a], placed[b]
            planes = isinstance(one.shape, lw.Plane) + isinstance(other.shape, lw.Plane)
            if (one.body != other.body and not (one.group >= 0 and one.group == other.group) and set(one.rules) & set(other.rules)
                    and planes < 2 and (a, b) not in apart and (b, a) not in apart):  # fmt: skip
                expected.append((a, b, planes))
    assert [tuple(pair) for pair in compile_colliders(placed, apart).pairs.tolist()] == expected
    assert len(compile_colliders([Placed(lw.Sphere(0.1), k) for k in range(49)]).pairs) == 0
