"""Which of two ways to the accelerations of a tree is faster on this machine, by rates that are measured once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.reduced.cost.prediction import known, predict

if TYPE_CHECKING:
    from linkwork.reduced.tree import Tree


def faster(tree: Tree) -> str:
    """ "aba" or "ltdl"; what a tree leaves out, as loops, needs "ltdl".

    >>> import linkwork as lw
    >>> faster(lw.reduced.compile(lw.scenes.get("slider-crank"), loops=True))
    'ltdl'
    """
    if tree.closing or not tree.links:
        return "ltdl" if tree.closing else "aba"
    return predict(tree.parent, [link.kind.nv for link in tree.links], known()).faster
