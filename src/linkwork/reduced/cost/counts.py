"""What dynamics in joint coordinates cost on a tree, counted: featherstone05 sections 4 to 6.

Everything is a function of a parent array (from 0, with -1 for the ground: see `parent_array`) and, where joints have
more than one freedom, of their freedoms. Factorisations live on the expanded array, with one entry a freedom; CRBA, RNEA
and ABA on that of the bodies.

>>> humanoid = [-1] + [0 if i % 6 == 0 else i for i in range(24)]  # a torso that floats, four limbs of six hinges
>>> freedoms = [6] + [1] * 24
>>> print(ltdl(humanoid, freedoms), "against", ltdl(chain(30)))
1258m + 1039a against 4930m + 4495a
>>> from linkwork.reduced.cost.operation_counts import aba, forward_dynamics
>>> print(forward_dynamics(humanoid, freedoms), "against", aba(humanoid, freedoms))
6476m + 5597a against 5544m + 5054a
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import ArrayError
from linkwork.reduced.parent_array import depths, expanded, integers, parent_array

MOST_FREEDOMS = 6  # of a joint between two bodies
MOST_ROWS = 10_000_000  # of a tree that is built to be counted

# -- operations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operations:
    """How many of each. Subtractions are additions; where one number is asked for, divisions and roots are multiplications.

    >>> print(3 * Operations(m=4, a=8) + Operations(m=1, div=2))
    15m + 24a
    """

    m: int = 0  # multiplications
    a: int = 0  # additions
    div: int = 0  # divisions
    sqrt: int = 0  # square roots

    def __post_init__(self) -> None:
        for name in ("m", "a", "div", "sqrt"):
            object.__setattr__(self, name, whole(f"Operations: {name}", getattr(self, name)))

    def __add__(self, other: Operations) -> Operations:
        if not isinstance(other, Operations):
            return NotImplemented
        return Operations(self.m + other.m, self.a + other.a, self.div + other.div, self.sqrt + other.sqrt)

    def __sub__(self, other: Operations) -> Operations:
        return self + -1 * other

    def __rmul__(self, times: int) -> Operations:
        if not isinstance(times, int | np.integer):
            return NotImplemented
        return Operations(times * self.m, times * self.a, times * self.div, times * self.sqrt)

    def __str__(self) -> str:
        return f"{self.multiplications}m + {self.a}a"

    @property
    def multiplications(self) -> int:
        return self.m + self.div + self.sqrt

    def total(self, addition: float = 1.0) -> float:
        """All of them, an addition counted as so many multiplications: 0 and 1 are the paper's extremes (section 6)."""
        return self.multiplications + _weight(addition) * self.a


def whole(name: str, value, least: int | None = None, most: int | None = None) -> int:
    """A whole number within bounds; anything else is refused in words."""
    fits = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if fits and (least is None or value >= least) and (most is None or value <= most):
        return int(value)
    low = "" if least is None else f" of at least {least}"
    high = "" if most is None else f"{' and' if low else ' of'} at most {most}"
    raise ArrayError(f"{name} is {checks.show(value)}; give a whole number{low}{high}")


def _weight(addition) -> float:
    return checks.number(
        "total", "addition", addition, least=0.0, remedy="give a number from 0 (free) to 1 (like a multiplication)"
    )


# -- the tree --------------------------------------------------------------------------------------------------------


def chain(n: int) -> np.ndarray:
    """The parents of an unbranched chain, whose matrix is dense."""
    return np.arange(whole("chain: n", n, 0, MOST_ROWS), dtype=np.int64) - 1


def bodies_in(parents, freedoms) -> tuple[np.ndarray, np.ndarray]:
    """Parents and freedoms of bodies; a tree gives its own."""
    if hasattr(parents, "v_at"):
        parents, freedoms = parents.parent, np.diff(parents.v_at)
    parents = parent_array(parents)
    if freedoms is None:
        return parents, np.ones(len(parents), np.int64)
    freedoms = integers(freedoms, "freedoms", "joint", "0 for a weld")
    if freedoms.shape != parents.shape:
        raise ArrayError(f"freedoms: {len(freedoms)} numbers for {len(parents)} joints; give each joint its number of freedoms")
    wrong = np.flatnonzero((freedoms < 0) | (freedoms > MOST_FREEDOMS))
    if len(wrong):
        raise ArrayError(f"freedoms: entry {wrong[0]} is {freedoms[wrong[0]]}; a joint has from 0 (a weld) to {MOST_FREEDOMS}")
    return parents, freedoms


def parents_of(parents, freedoms=None) -> np.ndarray:
    """Parents of bodies."""
    return bodies_in(parents, freedoms)[0]


def freedoms_of(parents, freedoms=None) -> np.ndarray:
    """Freedoms of joints; one each unless told."""
    return bodies_in(parents, freedoms)[1]


def rows_of(parents, freedoms=None) -> np.ndarray:
    """The expanded parent array: parents of rows of the matrix."""
    return expanded(*bodies_in(parents, freedoms))


def floating(parents, freedoms=None) -> np.ndarray:
    """(n,) which bodies float: six freedoms to the ground."""
    parents, freedoms = bodies_in(parents, freedoms)
    return (parents < 0) & (freedoms == 6)


def D0(parents) -> int:
    """Bodies that do not hang on the ground (eq. 15)."""
    return int((parent_array(parents) >= 0).sum())


def D1(parents, freedoms=None) -> int:
    """Σ (d_i - 1), the numbers below the diagonal (eq. 8).

    >>> D1((-1, 0, 0, 1, 1, 2, 2))
    10
    """
    return int((depths(rows_of(parents, freedoms)) - 1).sum())


def D2(parents, freedoms=None) -> int:
    """Σ d_i (d_i - 1) / 2, the updates of a factorisation (eq. 9).

    >>> D2((-1, 0, 0, 1, 1, 2, 2))
    14
    """
    d = depths(rows_of(parents, freedoms))
    return int((d * (d - 1) // 2).sum())


def nonzeros(parents, freedoms=None) -> int:
    """Of the whole matrix: 2 D1 + n."""
    return 2 * D1(parents, freedoms) + len(rows_of(parents, freedoms))


def zeros(parents, freedoms=None) -> int:
    """Zeros that branches make.

    >>> zeros((-1, 0, 0))
    2
    """
    return len(rows_of(parents, freedoms)) ** 2 - nonzeros(parents, freedoms)


def density(parents, freedoms=None) -> float:
    """α, the part of the matrix that is not zero. Factoring costs about α² of the dense cost, solving α (section 4.1).

    >>> round(density((-1, 0, 0)), 3)
    0.778
    """
    return nonzeros(parents, freedoms) / max(1, len(rows_of(parents, freedoms)) ** 2)


class Bounds(NamedTuple):
    """Between which D0, D1 and D2 lie for so many rows, and so deep a tree (eqs. 10 to 13, 16)."""

    D0: int
    D1: int
    D2: int


def bounds(n: int, deepest: int | None = None) -> Bounds:
    """The largest D0, D1, D2 of n rows, none further than `deepest` from the ground; the smallest are 0.

    >>> bounds(30)
    Bounds(D0=29, D1=435, D2=4495)
    >>> bounds(30, 4)
    Bounds(D0=29, D1=90, D2=180)
    """
    whole("bounds: n", n, 0)
    if deepest is None:
        return Bounds(max(0, n - 1), (n * n - n) // 2, (n**3 - n) // 6)
    whole("bounds: deepest", deepest, min(n, 1), n)  # n rows are at most n deep
    return Bounds(max(0, n - 1), n * max(0, deepest - 1), n * deepest * (deepest - 1) // 2)


# -- factorisations: Table 1 -----------------------------------------------------------------------------------------


def table_1(parents, freedoms=None) -> dict[str, dict[str, Operations]]:
    """What factoring, back-substitution and products with a vector cost.

    >>> table_1((-1, 0, 0))["LTDL"]["factorize"]
    Operations(m=2, a=2, div=2, sqrt=0)
    """
    n, d1, d2 = len(rows_of(parents, freedoms)), D1(parents, freedoms), D2(parents, freedoms)
    products, updates = Operations(m=d1, a=d1), Operations(m=d2, a=d2, div=d1)
    return {
        "LTL": {
            "factorize": updates + Operations(sqrt=n),
            "back-substitute": 2 * products + Operations(div=2 * n),
            "L x": products + Operations(m=n),
            "L^-1 x": products + Operations(div=n),
        },
        "LTDL": {
            "factorize": updates,
            "back-substitute": 2 * products + Operations(div=n),
            "L x": products,
            "L^-1 x": products,
        },
    }


def ltl(parents, freedoms=None) -> Operations:
    """Factoring into L^T L."""
    return table_1(parents, freedoms)["LTL"]["factorize"]


def ltdl(parents, freedoms=None) -> Operations:
    """Factoring into L^T D L."""
    return table_1(parents, freedoms)["LTDL"]["factorize"]


def back_substitution(parents, freedoms=None) -> Operations:
    """One right-hand side through the factors L^T D L."""
    return table_1(parents, freedoms)["LTDL"]["back-substitute"]


# -- families of trees: Table 2 --------------------------------------------------------------------------------------


class Family(NamedTuple):
    """Trees of one shape: `parents(m)` builds one, `D1(m)` and `D2(m)` are the closed forms of Table 2."""

    rows: Callable[[int], int]
    parents: Callable[[int], np.ndarray]
    D1: Callable[[int], int]
    D2: Callable[[int], int]
    order: str


def _side_branches(m: int) -> np.ndarray:
    """A chain of m; one more row hangs on each."""
    main = [2 * i - 2 if i else -1 for i in range(m)]
    return np.array([p for i in range(m) for p in (main[i], 2 * i)], dtype=np.int64)


def _grid(m: int) -> np.ndarray:
    """m by m nodes: along the first row, and down every column."""
    return np.array([i - m if i >= m else i - 1 for i in range(m * m)], dtype=np.int64)


def _family(name: str, rows, parents, d1, d2, order: str) -> Family:
    """Each of its functions looks at m first."""

    def checked(function, most=None):
        return lambda m: function(whole(f"{name}: m", m, 0, most))

    largest = next(m for m in (1 << k for k in range(64)) if rows(2 * m) > MOST_ROWS)
    return Family(checked(rows), checked(parents, largest), checked(d1), checked(d2), order)


TABLE_2 = {
    "unbranched": _family("unbranched", lambda m: m, chain, lambda m: (m**2 - m) // 2, lambda m: (m**3 - m) // 6, "n³"),
    "short side branches": _family(
        "short side branches", lambda m: 2 * m, _side_branches, lambda m: m**2, lambda m: (2 * m**3 + 3 * m**2 + m) // 6, "n³"
    ),
    "balanced tree": _family(
        "balanced tree",
        lambda m: 2**m - 1,
        lambda m: (np.arange(2**m - 1, dtype=np.int64) + 1) // 2 - 1,
        lambda m: sum(i * 2**i for i in range(1, m)),
        lambda m: sum(i * (i + 1) * 2 ** (i - 1) for i in range(1, m)),
        "n log(n)²",
    ),
    "span grid": _family(
        "span grid",
        lambda m: m**2,
        _grid,
        lambda m: m**3 - m**2,
        lambda m: (7 * m**4 - 6 * m**3 - m**2) // 12,
        "n²",
    ),
}


def simple_count(d1: int, d2: int) -> int:
    """D1 + 2 D2: the one number of section 4.2 and figure 5 for a factorisation."""
    return whole("simple_count: d1", d1, 0) + 2 * whole("simple_count: d2", d2, 0)


# -- CRBA: eqs. 14 to 21 ---------------------------------------------------------------------------------------------

SAVED_RIGID, SAVED_VECTOR = Operations(m=18, a=21), Operations(m=12, a=8)  # at a DH node on a floating base


# -- the other algorithms: section 6 ---------------------------------------------------------------------------------
