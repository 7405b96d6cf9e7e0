"""Section 4: `sparsefactor` and `sparsesolve` with grandparent blocks, as printed and put right, in numpy.

A node is a body or a joint. H is symmetric as printed; `factor` and `solve` take any blocks (docs/papers-errata.md, section 2).
"""

import numpy as np


class Node:
    """beside: neighbours in the graph of bodies and joints -> H[neighbour, this]; coupled: bodies -> H[this, that]."""

    def __init__(self, name, block, is_joint=False):
        self.name, self.block, self.is_joint = name, np.asarray(block, dtype=float), is_joint
        self.beside, self.coupled = {}, {}
        self.parent, self.children = None, []

    def __repr__(self):
        return f"<{'joint' if self.is_joint else 'body'} {self.name}>"

    @property
    def grandparent(self):
        return None if self.parent is None else self.parent.parent


def join(joint, body, J):
    joint.beside[body], body.beside[joint] = np.asarray(J, dtype=float), np.asarray(J, dtype=float).T


def couple(a, b, between, back=None):
    """H[a, b] and H[b, a], which is its transpose where nothing else is given."""
    a.coupled[b], b.coupled[a] = between, between.T if back is None else back


def hang(root):
    """Parents and children below a root; the nodes, children before parents."""
    root.parent, order = None, [root]
    for n in order:  # it grows while we go
        n.children = [c for c in n.beside if c is not n.parent]
        for c in n.children:
            c.parent = n
        order += n.children
    return order[::-1]


def dense(nodes):
    """(H, slices): the whole matrix, and where each node stands in it."""
    place, at = {}, 0
    for n in nodes:
        place[n] = slice(at, at := at + len(n.block))
    H = np.zeros((at, at))
    for n in nodes:
        H[place[n], place[n]] = n.block
        for other, block in (*n.beside.items(), *n.coupled.items()):
            H[place[n], place[other]] = block
    return H, place


def _upper(n, other):
    """H[n, other] for the parent or grandparent of n."""
    found = n.beside.get(other) if other in n.beside else n.coupled.get(other)
    return None if found is None else found.copy()


def sparsefactor(forward):
    """As printed; `sparsesolve` says H_ij^T x_j for j < i, which must be read as H_ji^T x_j (so in baraff96)."""
    for i in forward:
        i.D = i.block.copy()
        i.Hp = None if i.parent is None else _upper(i, i.parent)
        i.Hg = None if i.grandparent is None else _upper(i, i.grandparent)
    for i in forward:
        for j in i.children:
            i.D = i.D - j.Hp.T @ j.D @ j.Hp
            for k in j.children:
                if k.Hg is not None:
                    i.D = i.D - k.Hg.T @ k.D @ k.Hg
            if i.parent is not None and j.Hg is not None:
                i.Hp = i.Hp - j.Hp.T @ j.D @ j.Hg
        i.inverse = np.linalg.inv(i.D)
        if i.parent is not None:
            i.Hp = i.inverse @ i.Hp
        if i.Hg is not None:
            i.Hg = i.inverse @ i.Hg


def sparsesolve(forward, z):
    """x: node -> vector of H x = z."""
    x = {}
    for i in forward:
        x[i] = z[i]
        for j in i.children:
            x[i] = x[i] - j.Hp.T @ x[j]
            for k in j.children:
                if k.Hg is not None:
                    x[i] = x[i] - k.Hg.T @ x[k]
    for i in reversed(forward):
        x[i] = i.inverse @ x[i]
        if i.parent is not None:
            x[i] = x[i] - i.Hp @ x[i.parent]
        if i.Hg is not None:
            x[i] = x[i] - i.Hg @ x[i.grandparent]
    return x


def factor(forward):
    """Block L D U, right-looking: any A_ab and A_ba, rooted at a body or a joint with one body."""
    for i in forward:
        p, g = i.parent, i.grandparent
        i.D = i.block.copy()
        i.right = {other: _upper(i, other) for other in (p, g) if other is not None and _upper(i, other) is not None}
        i.below = {other: _upper(other, i) for other in i.right}
    for i in forward:
        i.inverse = np.linalg.inv(i.D)
        i.U = {other: i.inverse @ block for other, block in i.right.items()}
        for one in i.right:
            one.D = one.D - i.below[one] @ i.U[one]
        if len(i.right) == 2:
            p, g = i.parent, i.grandparent
            p.right[g] = p.right[g] - i.below[p] @ i.U[g]
            p.below[g] = p.below[g] - i.below[g] @ i.U[p]


def solve(forward, z):
    x = dict(z)
    for i in forward:
        x[i] = i.inverse @ x[i]
        for other, block in i.below.items():
            x[other] = x[other] - block @ x[i]
    for i in reversed(forward):
        for other, block in i.U.items():
            x[i] = x[i] - block @ x[other]
    return x
