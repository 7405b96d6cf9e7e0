"""Figure 2 and eq. (5): which nodes may be the root, and which matrices the printed algorithm solves."""

import numpy as np

from papers.hernandez11 import elimination
from papers.hernandez11.elimination import Node, couple, dense, hang, join

ENDS = {1: (1, 2), 2: (2, 3), 3: (2, 4), 4: (1, 5), 5: (5, 6)}  # figure 2: joint -> its bodies
ROWS = (1, 2, 3, 5)
KINDS = ("symmetric", "springs", "any")
TREES = 100
METHODS = {"printed": (elimination.sparsefactor, elimination.sparsesolve), "block LDU": (elimination.factor, elimination.solve)}


def positive(rng, size):
    A = rng.normal(size=(size, size))
    return A @ A.T + 0.3 * np.eye(size)


def connect(rng, joint, a, b, kind):
    """A joint between two bodies, and a force between them with a tangent of this kind.

    symmetric: of a potential, positive; springs: as exact tangents of torsion springs are, A_ab = A_ba^T, but a diagonal
    block that is not symmetric; any: no symmetry at all.
    """
    for body in (a, b):
        join(joint, body, rng.normal(size=(len(joint.block), 6)))
    X = rng.normal(size=(6, 12))
    K = X.T @ X + (0.6 * rng.normal(size=(12, 12)) if kind == "any" else 0.0)
    for body, part in ((a, slice(0, 6)), (b, slice(6, 12))):
        skew = rng.normal(size=(6, 6)) if kind == "springs" else np.zeros((6, 6))
        body.block = body.block + K[part, part] + skew - skew.T
    couple(a, b, K[:6, 6:], K[6:, :6])


def figure_2(rng, kind="symmetric"):
    """(bodies, joints) by their numbers in the figure."""
    bodies = {k: Node(k, positive(rng, 6)) for k in range(1, 7)}
    joints = {k: Node(k, np.zeros((3, 3)), is_joint=True) for k in ENDS}
    for k, (a, b) in ENDS.items():
        connect(rng, joints[k], bodies[a], bodies[b], kind)
    return bodies, joints


def random_tree(rng, kind):
    """(bodies, joints)."""
    bodies = [Node(k, positive(rng, 6)) for k in range(int(rng.integers(2, 20)))]
    joints = []
    for k in range(1, len(bodies)):
        rows = int(rng.choice(ROWS))
        joints.append(Node(k, np.zeros((rows, rows)), is_joint=True))
        connect(rng, joints[-1], bodies[int(rng.integers(k))], bodies[k], kind)
    return bodies, joints


def error(root, method, rng):
    """The relative error of the solution of H x = z."""
    forward = hang(root)
    H, place = dense(forward)
    x = rng.normal(size=len(H))
    z = H @ x
    factor, solve = METHODS[method]
    factor(forward)
    found = solve(forward, {n: z[at] for n, at in place.items()})
    return float(max(np.abs(found[n] - x[at]).max() for n, at in place.items()) / np.abs(x).max())


def every_root(seed=11):
    """Rows: figure 2 with each node as root, by both methods."""
    rows = []
    for sort in ("body", "joint"):
        for number in range(1, 7 if sort == "body" else 6):
            found = {}
            for method in METHODS:
                rng = np.random.default_rng(seed)
                bodies, joints = figure_2(rng)
                found[method] = error((bodies if sort == "body" else joints)[number], method, rng)
            rows.append({"root": f"{sort} {number}", **found})
    return rows


def uncoupled_root(seed=11):
    """Figure 2 rooted at joint 5 as printed, where bodies 5 and 6 exert no force on each other."""
    rng = np.random.default_rng(seed)
    bodies, joints = figure_2(rng)
    for a, b in ((5, 6), (6, 5)):
        del bodies[a].coupled[bodies[b]]
    return error(joints[5], "printed", rng)


def random_trees(count=TREES, seed=12):
    """Rows: kind of tangent, sort of root -> median error of both methods."""
    rows = []
    for kind in KINDS:
        for sort in ("body", "joint"):
            found = {method: [] for method in METHODS}
            for k in range(count):
                for method in METHODS:
                    rng = np.random.default_rng((seed, k))
                    bodies, joints = random_tree(rng, kind)
                    found[method].append(error(bodies[0] if sort == "body" else joints[0], method, rng))
            rows.append({"tangent": kind, "root": sort, **{m: float(np.median(e)) for m, e in found.items()}})
    return rows


def measure(report=lambda text: None, *, trees=TREES):
    report("figure 2 with every root, and random trees")
    return {"figure_2": every_root(), "uncoupled": uncoupled_root(), "trees": random_trees(trees)}
