"""Appendix A of baraff96 as it is printed, in numpy, and the same with its sign put right.

A node is a body or a constraint; the names are the paper's. `solve` as printed returns -lambda: with the blocks +J that
`factor` stores, the system is H x = (0, -b), and the printed procedure starts from +b (and so it does with -J).
"""

import numpy as np


class Node:
    """blocks: the nodes next to this one -> J (rows of the constraint x velocities of the body), either way round."""

    def __init__(self, isconstraint, i, M=None):
        self.isconstraint, self.i, self.M = isconstraint, i, M
        self.parent, self.children, self.blocks = None, [], {}


def join(constraint, body, J):
    constraint.blocks[body] = body.blocks[constraint] = np.asarray(J, dtype=float)


def hang(root):
    """Parents and children below a root, and `ordermatrix`: children before parents."""
    root.parent, order, stack = None, [root], [root]
    while stack:
        n = stack.pop()
        n.children = [c for c in n.blocks if c is not n.parent]
        for c in n.children:
            c.parent = n
        order += n.children
        stack += n.children
    return order[::-1]


def factor(forward):
    for n in forward:
        size = len(n.M) if n.M is not None else len(next(iter(n.blocks.values())))
        n.D = np.zeros((size, size)) if n.isconstraint else n.M.copy()
        if n.parent is not None:
            n.J = n.blocks[n.parent] if n.isconstraint else n.blocks[n.parent].T
    for n in forward:
        for c in n.children:
            n.D = n.D - c.J.T @ c.D @ c.J
        n.Dinv = np.linalg.inv(n.D)
        if n.parent is not None:
            n.J = n.Dinv @ n.J


def sweeps(forward, right):
    """x of H x = right, left on the nodes; right: node -> vector."""
    for n in forward:
        n.soln = right(n)
        for c in n.children:
            n.soln = n.soln - c.J.T @ c.soln
    for n in reversed(forward):
        n.soln = n.Dinv @ n.soln
        if n.parent is not None:
            n.soln = n.soln - n.J @ n.parent.soln


def solve(forward, b, *, as_printed=False):
    """b: constraint's i -> vector. Returns the same for lambda."""
    sign = 1.0 if as_printed else -1.0
    sweeps(forward, lambda n: sign * b[n.i] if n.isconstraint else np.zeros(len(n.D)))
    return {n.i: n.soln for n in forward if n.isconstraint}


def accelerations(forward, F, c):
    """(v', lambda) in one solve: H x = (F, -c) has x = (v', -lambda). F: body's i -> force, c: constraint's i -> c."""
    sweeps(forward, lambda n: -c[n.i] if n.isconstraint else F[n.i])
    return {n.i: n.soln for n in forward if not n.isconstraint}, {n.i: -n.soln for n in forward if n.isconstraint}
