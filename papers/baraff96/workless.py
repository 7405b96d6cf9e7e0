"""Rosenthal's remark on auxiliary rows whose forces are workless (K = Ja^T): W needs the way up of `sparsesolve` alone.

With H = L D L^T and y_j = L^-1 (row j of Ja on its bodies), W_ij = y_i^T D^-1 y_j; y_j is not zero only on the path from the
row's bodies to the root. Section 8.2 takes a whole solve for each row, and a product with every other. Both in numpy, with
appendix A's factors; multiply-adds counted, blocks full as in `sizes.appendix_count`.
"""

import warnings

import numpy as np

import linkwork as lw
from papers.baraff96 import structures
from papers.baraff96.appendix import Node, factor, hang, join, sweeps
from papers.baraff96.matrices import ends


def worlds():
    return {"96+12": structures.planar_loops(48, 6), "96+3": structures.touching(32, 3)}


def nodes_of(world):
    """(forward, bodies, Ja): the tree hung up and its bodies, and the auxiliary rows as lists of {body: row of Ja}."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, solver="anticipation")
    m = sim.matrices
    bodies = [Node(False, k, m.M[at, at].toarray()) for k, at in enumerate(m.bodies.values())]
    places, rows, tree = list(m.bodies.values()), [], []
    for k, (name, own) in enumerate(m.constraints.items()):
        blocks = [(bodies[body], m.J[own, places[body]].toarray()) for body in ends(m, name)]
        if name in m.elimination.left_out:
            rows += [{body: block[i] for body, block in blocks} for i in range(own.stop - own.start)]
            continue
        tree.append(Node(True, k))
        for body, block in blocks:
            join(tree[-1], body, block)
    on_ground = [node for node in tree if len(node.blocks) == 1]
    return hang(on_ground[0] if on_ground else bodies[0]), rows


def by_whole_solves(forward, rows):
    """(W, multiply-adds): 8.2 step 3, a whole solve for each row and its product with every row."""
    W, count = np.zeros((len(rows), len(rows))), 0
    one_solve = sum(len(n.D) ** 2 + 2 * len(n.D) * (0 if n.parent is None else len(n.parent.D)) for n in forward)
    for j, row in enumerate(rows):
        sweeps(forward, lambda n, row=row: row[n] if n in row else np.zeros(len(n.D)))
        W[:, j] = [sum(part @ n.soln for n, part in other.items()) for other in rows]
        count += one_solve + sum(len(part) for other in rows for part in other.values())
    return W, count


def by_the_way_up(forward, rows):
    """(W, multiply-adds): the way up along the row's paths, and products where two paths meet; W is symmetric."""
    found, count = [], 0
    for row in rows:
        y = {n: part.copy() for n, part in row.items()}
        for n in forward:
            if n in y and n.parent is not None:
                y[n.parent] = y.get(n.parent, np.zeros(len(n.parent.D))) - n.J.T @ y[n]
                count += n.J.size
        z = {n: n.Dinv @ part for n, part in y.items()}
        count += sum(part.size**2 for part in y.values())
        found.append((y, z))
    W = np.zeros((len(rows), len(rows)))
    for i, (y, _) in enumerate(found):
        for j in range(i + 1):
            common = [n for n in y if n in found[j][1]]
            W[i, j] = W[j, i] = sum(y[n] @ found[j][1][n] for n in common)
            count += sum(y[n].size for n in common)
    return W, count


def measure(report=lambda text: None):
    found = {}
    for key, world in worlds().items():
        report(f"workless rows, {key}")
        forward, rows = nodes_of(world)
        factor(forward)
        (whole, whole_count), (up, up_count) = by_whole_solves(forward, rows), by_the_way_up(forward, rows)
        found[key] = {
            "rows": len(rows), "whole solves": whole_count, "way up": up_count,
            "apart": float(np.abs(whole - up).max() / np.abs(whole).max()),
        }  # fmt: skip
    return found
