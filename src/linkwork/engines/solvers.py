"""Solvers by name."""

from linkwork.engines.implicit.schedules import TANGENTS, Implicit
from linkwork.engines.maximal.cg import METHODS, ConjugateGradients
from linkwork.engines.maximal.dense import Dense
from linkwork.engines.maximal.loop_schur import Anticipation
from linkwork.engines.maximal.tree import InertiaMatrix, JointCoordinates, Tree, TreeOfFronts
from linkwork.schedules.schedules import Schedules

SOLVERS: dict[str, type[Schedules]] = {
    cls.name: cls
    for cls in (Tree, TreeOfFronts, Anticipation, ConjugateGradients, Dense, Implicit, JointCoordinates, InertiaMatrix)
}

__all__ = ["METHODS", "SOLVERS", "TANGENTS"]
