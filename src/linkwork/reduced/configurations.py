"""The manifold of configurations: balls have unit quaternions, so that steps are velocities and not differences of q."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import ElementError
from linkwork.reduced.run_on_states import numbers_in, run, the_tree
from linkwork.reduced.tree import Tree

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, Numbers


MOST = 10**9  # configurations at random at a time


def neutral(tree: Tree) -> FloatArray:
    """q (nq,) as built: zeros and quaternions of no turn; what floats is where it was put.

    >>> import linkwork as lw
    >>> lw.reduced.neutral(lw.reduced.compile(lw.scenes.get("double-pendulum")))
    array([0., 0.])
    """
    found: FloatArray = the_tree(tree).start.copy()
    return found


def random(tree: Tree, seed: int | np.random.Generator | None = None, count: int | None = None) -> FloatArray:
    """q (nq,), or `count` of them: angles within half a turn, lengths within a metre, orientations uniform. `seed`: a number
    or a numpy generator.

    >>> import linkwork as lw
    >>> tree = lw.reduced.compile(lw.scenes.get("double-pendulum"))
    >>> lw.reduced.random(tree, 1, count=4).shape
    (4, 2)
    """
    the_tree(tree)
    try:
        generator = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ElementError(f"seed is {checks.show(seed)}; give a whole number of at least 0, or a numpy generator") from None
    found = np.empty((1 if count is None else checks.whole("random", "count", count, most=MOST), tree.nq))
    for link, first in zip(tree.links, tree.q_at, strict=False):
        found[:, first : first + link.kind.nq] = link.kind.random(generator, len(found))
    return found[0] if count is None else found


def integrate(tree: Tree, q: Numbers, qd: Numbers, dt: float = 1.0, *, out: FloatArray | None = None) -> FloatArray:
    """q after the velocity qd has acted for dt seconds, each joint turning evenly.

    >>> import linkwork as lw
    >>> tree = lw.reduced.compile(lw.scenes.get("double-pendulum"))
    >>> lw.reduced.integrate(tree, [0.1, 0.2], [1.0, -1.0], 0.5).round(12)
    array([ 0.6, -0.3])
    """
    return run(tree, ("integrate",), ("q", "qd"), (q, numbers_in("qd", qd) * checks.number("integrate", "dt", dt)), out)


def difference(tree: Tree, q0: Numbers, q1: Numbers, *, out: FloatArray | None = None) -> FloatArray:
    """The velocity (nv,) that moves q0 to q1 in one second, by the shorter turn where there are two.

    >>> import linkwork as lw
    >>> tree = lw.reduced.compile(lw.scenes.get("double-pendulum"))
    >>> lw.reduced.difference(tree, [0.1, 0.2], [0.6, -0.3]).round(12)
    array([ 0.5, -0.5])
    """
    return run(tree, ("difference",), ("q0", "q1"), (q0, q1), out)
