"""Solvers by name."""

from linkwork.model.programs import Programs
from linkwork.solvers.anticipation import Anticipation
from linkwork.solvers.cg import METHODS, ConjugateGradients
from linkwork.solvers.dense import Dense
from linkwork.solvers.implicit import TANGENTS, Implicit
from linkwork.solvers.tree import InertiaMatrix, JointCoordinates, Tree, TreeWithoutLimbs

SOLVERS: dict[str, type[Programs]] = {
    cls.name: cls
    for cls in (Tree, TreeWithoutLimbs, Anticipation, ConjugateGradients, Dense, Implicit, JointCoordinates, InertiaMatrix)
}

__all__ = ["METHODS", "SOLVERS", "TANGENTS"]
