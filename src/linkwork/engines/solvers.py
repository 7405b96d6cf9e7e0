"""Solvers by name."""

from linkwork.engines.implicit.schedules import TANGENTS, Implicit
from linkwork.engines.maximal.cg import METHODS, ConjugateGradients
from linkwork.engines.maximal.dense import Dense
from linkwork.engines.maximal.loop_schur import Anticipation
from linkwork.engines.maximal.tree import InertiaMatrix, JointCoordinates, Tree, TreeWithoutLimbs
from linkwork.schedules.schedules import Programs

SOLVERS: dict[str, type[Programs]] = {
    cls.name: cls
    for cls in (Tree, TreeWithoutLimbs, Anticipation, ConjugateGradients, Dense, Implicit, JointCoordinates, InertiaMatrix)
}

__all__ = ["METHODS", "SOLVERS", "TANGENTS"]
