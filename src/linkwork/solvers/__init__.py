"""Solvers by name."""

from linkwork.model.programs import Programs
from linkwork.solvers.dense import Dense
from linkwork.solvers.tree import Tree, TreeWithoutLimbs

SOLVERS: dict[str, type[Programs]] = {cls.name: cls for cls in (Tree, TreeWithoutLimbs, Dense)}

__all__ = ["SOLVERS"]
