"""Finding contacts: boxes on a floor and in a heap, 100 to 10,000 of them, and one pair of each two kinds.

    python -m benchmarks.geometry --out benchmarks/results/geometry.json

Scenes take turns, and the best turn counts; one thread. Where coal is installed, its narrow phase answers the same question for
the same pair (one call from Python each, so that ratios flatter neither). Writes JSON and, beside it, a Markdown page.
"""

import argparse
import itertools
import math
import time

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from benchmarks import machine, tables
from linkwork.collision.collider_table import Placed, compile_colliders, contacts_for, scratch_for
from linkwork.collision.detect import detect

ROUNDS = 7
MARGIN = 0.002  # m
SIDE = 0.1  # m
COPIES = 100  # of a pair in one scene
SOLIDS = {
    "sphere": lw.Sphere(0.05),
    "capsule": lw.Capsule(0.04, 0.06),
    "box": lw.Box(SIDE, SIDE, SIDE),
    "cylinder": lw.Cylinder(0.05, SIDE),
    "ellipsoid": lw.Ellipsoid(0.08, 0.1, 0.12),
    "hull": lw.ConvexHull(np.random.default_rng(0).normal(size=(30, 3)) * 0.035),
}


class Scene:
    """Colliders in one configuration."""

    def __init__(self, placed, R, p):
        self.geometry, self.R, self.p = compile_colliders(placed), np.ascontiguousarray(R), np.ascontiguousarray(p)
        self.scratch, self.out = scratch_for(self.geometry), contacts_for(30 * len(placed))
        self.best = math.inf  # seconds

    def detect(self):
        return detect(self.geometry, self.R, self.p, MARGIN, self.scratch, self.out)

    def turn(self, repeats):
        start = time.perf_counter()
        for _ in range(repeats):
            self.detect()
        self.best = min(self.best, (time.perf_counter() - start) / repeats)


def boxes(n, spacing, dimensions):
    """n boxes on a plane or in a cube, nearly in rows; (R, p)."""
    rng, side = np.random.default_rng(0), math.ceil(n ** (1 / dimensions))
    at = np.stack(np.meshgrid(*[np.arange(side)] * dimensions, indexing="ij"), axis=-1).reshape(-1, dimensions)[:n] * spacing
    p = np.zeros((n, 3))
    p[:, :dimensions] = at + rng.normal(size=at.shape) * 0.04 * SIDE
    p[:, 2] += 0.499 * SIDE
    turned = rng.normal(size=(n, 3)) * ((0, 0, 1) if dimensions == 2 else (0.1, 0.1, 0.1))
    return Rotation.from_rotvec(turned).as_matrix(), p


def piles(counts):
    """{(name, n): Scene}."""
    kinds = {"on a floor": (1.5 * SIDE, 2), "in a heap": (1.02 * SIDE, 3), "far apart": (50 * SIDE, 3)}
    return {
        (name, n): Scene([Placed(lw.Plane()), *(Placed(SOLIDS["box"], k) for k in range(n))], *boxes(n, *how))
        for name, how in kinds.items()
        for n in counts
    }


def touching(first, second, rng, depth):
    """(R, p) of two solids that overlap by about `depth` of their size, or are so far apart."""
    pair = Scene(
        [Placed(first, 0), Placed(second, 1)], Rotation.random(2, random_state=rng).as_matrix(), [(0, 0, 0), (0.11, 0.03, 0.02)]
    )
    for _ in range(4):
        count = detect(pair.geometry, pair.R, pair.p, 1.0, pair.scratch, pair.out)
        k = int(np.argmin(pair.out.gap[:count]))
        pair.p[1] -= pair.out.normal[k] * (pair.out.gap[k] + depth * SIDE)
    return pair


def copies(first, second, pair):
    """COPIES of a pair of solids, far from each other."""
    placed = [Placed(shape, 2 * c + k) for c in range(COPIES) for k, shape in enumerate((first, second))]
    p = pair.p + np.arange(COPIES)[:, None, None] * np.array([10 * SIDE, 0, 0])
    return Scene(placed, np.tile(pair.R, (COPIES, 1, 1)), p.reshape(-1, 3))


def of_coal(shape):
    import coal

    if isinstance(shape, lw.Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, lw.Box):
        return coal.Box(shape.x, shape.y, shape.z)
    if isinstance(shape, lw.Ellipsoid):
        return coal.Ellipsoid(shape.x / 2, shape.y / 2, shape.z / 2)
    if isinstance(shape, lw.ConvexHull):
        points = coal.StdVec_Vec3s()
        points.extend(list(shape.points))
        return coal.Convex.convexHull(points, True, "")
    return (coal.Capsule if isinstance(shape, lw.Capsule) else coal.Cylinder)(shape.radius, shape.length)


def coal_seconds(first, second, pair, repeats):
    """Seconds of one distance (signed, with points and normal) in coal; None where it is not installed."""
    try:
        import coal
    except ImportError:
        return None
    shapes, at = (of_coal(first), of_coal(second)), [coal.Transform3s(pair.R[k], pair.p[k]) for k in range(2)]
    request, answer = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    start = time.perf_counter()
    for _ in range(repeats):
        answer.clear()
        coal.distance(shapes[0], at[0], shapes[1], at[1], request, answer)
    return (time.perf_counter() - start) / repeats


def measure(counts, rounds):
    scenes = piles(counts)
    contacts = {key: scene.detect() for key, scene in scenes.items()}
    pairs = {}
    for names in itertools.combinations_with_replacement(SOLIDS, 2):
        first, second = (SOLIDS[name] for name in names)
        single = {depth: touching(first, second, np.random.default_rng(1), depth) for depth in (1e-3, -1e-3)}
        pairs[names] = single, {depth: copies(first, second, pair) for depth, pair in single.items()}
    theirs = dict.fromkeys(pairs, math.inf)
    for _ in range(rounds):
        for (_, n), scene in scenes.items():
            scene.turn(max(1, 2000 // n))
        for names, (single, many) in pairs.items():
            for scene in many.values():
                scene.turn(10)
            seconds = coal_seconds(*(SOLIDS[name] for name in names), single[1e-3], 300)
            theirs[names] = None if seconds is None else min(theirs[names], seconds)
    return {
        "piles": [
            {"scene": name, "n": n, "contacts": contacts[name, n], "seconds": scene.best} for (name, n), scene in scenes.items()
        ],
        "pairs": [
            {
                "pair": " - ".join(names),
                "overlap": many[1e-3].best / COPIES,
                "apart": many[-1e-3].best / COPIES,
                "coal": theirs[names],
            }
            for names, (_, many) in pairs.items()
        ],
    }


def page(result):
    piles = [
        [row["scene"], row["n"], row["contacts"], f"{1e3 * row['seconds']:.3g}", f"{1e6 * row['seconds'] / row['n']:.3g}"]
        for row in result["piles"]
    ]
    pairs = [
        [
            row["pair"],
            *(tables.microseconds(row[k]) for k in ("apart", "overlap")),
            None if row["coal"] is None else tables.microseconds(row["coal"]),
        ]
        for row in result["pairs"]
    ]
    return "\n\n".join([
        "# Finding contacts",
        "Written by `python -m benchmarks.geometry`. " + machine.sentence(result["machine"]),
        "## Boxes and a plane",
        "Broad and narrow phase together: one call of `detect`, one thread, the best of turns.",
        tables.markdown(["scene", "boxes", "contacts", "milliseconds", "microseconds a box"], piles),
        "## One pair",
        f"Microseconds a pair, among {COPIES} pairs, with their part of the broad phase: a thousandth of the size apart, and "
        "overlapping by as much, all points. coal: the signed distance of the overlapping pair, one point, called from Python.",
        tables.markdown(["pair", "apart", "overlapping", "coal"], pairs),
    ])  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="a JSON file")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--counts", type=int, nargs="+", default=[100, 1000, 10000], help="of boxes")
    options = parser.parse_args(arguments)
    result = {"machine": machine.describe(), **measure(options.counts, options.rounds)}
    print(page(result))
    if options.out:
        tables.write(options.out, result, page(result))


if __name__ == "__main__":
    main()
