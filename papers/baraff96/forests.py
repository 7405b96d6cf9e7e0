"""Random forests of bodies and constraints for the appendix, and the nodes of a linkwork model."""

from itertools import pairwise

import numpy as np

from papers.baraff96.appendix import Node, hang, join

BODY_SIZES, ROWS = (3, 6), (1, 2, 3, 5)


def mass(rng, size):
    """A random symmetric positive definite block."""
    A = rng.normal(size=(size, size))
    return A @ A.T + 0.3 * np.eye(size)


def random_forest(rng):
    """(nodes, forward): up to three trees; half of them hang on a world joint, which is then the root.

    Constraints have fewer rows than their bodies have velocities: random square blocks come close to losing rank.
    """
    count, trees = int(rng.integers(2, 25)), int(rng.integers(1, 4))
    sizes = [int(rng.choice(BODY_SIZES)) for _ in range(count)]
    bodies = [Node(False, k, mass(rng, size)) for k, size in enumerate(sizes)]
    constraints, roots = [], []

    def constrain(*some):
        rows = int(rng.choice([r for r in ROWS if r < min(sizes[k] for k in some)]))
        constraints.append(Node(True, len(constraints)))
        for k in some:
            join(constraints[-1], bodies[k], rng.normal(size=(rows, sizes[k])))

    for k in range(count):
        if k >= trees:
            constrain(int(rng.integers(k)), k)
        else:
            hung = rng.random() < 0.5
            if hung:
                constrain(k)
            roots.append(constraints[-1] if hung else bodies[k])
    return bodies + constraints, [n for root in roots for n in hang(root)]


def nodes_of(system):
    """(bodies, constraints) of an assembled model, not hung yet."""
    first = np.concatenate([[0], np.cumsum(system.body_sizes)]).astype(int)
    row = np.concatenate([[0], np.cumsum(system.row_sizes)]).astype(int)
    M, J = system.M.tocsr(), system.J.tocsr()
    places = [slice(a, b) for a, b in pairwise(first)]
    bodies = [Node(False, k, M[at, at].toarray()) for k, at in enumerate(places)]
    constraints = []
    for k, name in enumerate(system.matrices.constraints):
        constraints.append(Node(True, k))
        for body in system.ends(name):
            join(constraints[k], bodies[body], J[row[k] : row[k + 1], places[body]].toarray())
    return bodies, constraints


def dense(nodes, sign=1.0):
    """(M, J, place): the whole matrices, J times sign, and the slice of each node in its part."""
    place, at = {}, {False: 0, True: 0}
    for n in nodes:
        size = len(next(iter(n.blocks.values()))) if n.isconstraint else len(n.M)
        place[n] = slice(at[n.isconstraint], at[n.isconstraint] + size)
        at[n.isconstraint] += size
    M, J = np.zeros((at[False], at[False])), np.zeros((at[True], at[False]))
    for n in nodes:
        if n.isconstraint:
            for body, block in n.blocks.items():
                J[place[n], place[body]] = sign * block
        else:
            M[place[n], place[n]] = n.M
    return M, J, place


def whole(M, J):
    """H = [[M, J^T], [J, 0]]."""
    return np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
