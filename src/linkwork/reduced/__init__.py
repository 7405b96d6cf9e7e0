"""Joint coordinates: sparse factorisations of inertia matrices and what they cost (featherstone05)."""

from linkwork.reduced import cost
from linkwork.reduced.sparse import (
    Factors,
    expanded,
    from_paper,
    inverse,
    ltdl,
    ltl,
    mul_L,
    mul_LT,
    solve,
    solve_L,
    solve_LT,
    solve_matrix,
)

__all__ = [
    "Factors",
    "cost",
    "expanded",
    "from_paper",
    "inverse",
    "ltdl",
    "ltl",
    "mul_L",
    "mul_LT",
    "solve",
    "solve_L",
    "solve_LT",
    "solve_matrix",
]
