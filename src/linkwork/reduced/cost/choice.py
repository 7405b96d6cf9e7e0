"""The solver of a world in joint coordinates that should be faster on this machine."""

from __future__ import annotations

from linkwork.reduced.cost.prediction import known, predict
from linkwork.reduced.tree import compile


def faster(world) -> str:
    """ "aba" or "ltdl": by counted operations and measured rates, which are measured when first asked for; loops need "ltdl".

    >>> import linkwork as lw
    >>> faster(lw.scenes.get("slider-crank"))
    'ltdl'
    """
    tree = compile(world, loops=True)
    if tree.closing or not tree.links:
        return "ltdl" if tree.closing else "aba"
    return predict(tree.parent, [link.kind.nv for link in tree.links], known()).faster
