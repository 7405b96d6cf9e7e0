"""Whether rows can hold together: the linear algebra of constraints that contradict each other.

Rows ask for J v = -f. A y with y^T J = 0 combines rows into one that says nothing about v, 0 = -y^T f: where y^T f is not zero
no v meets them all. The part d of f that is orthogonal to the range of J is such a y, and the longest there is: the
constraints in which it is not zero contradict each other. Redundant rows that agree have d = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

NONE = 1e-7  # of the largest singular value: what counts as zero
NO_PART = 1e-6  # of the largest entry of d: what counts as zero
DENSE = 600  # rows up to which ranks are found by singular values
MOST_TRIED = 40  # constraints of a contradiction up to which those that it can do without are looked for


@dataclass(frozen=True)
class RowSystem:
    """Rows J v = -f and what each belongs to, a number that `owners` gives for each row."""

    jacobian: Any  # (m, n), an array or one of SciPy's sparse matrices
    forcing: np.ndarray  # (m,)
    owners: np.ndarray  # (m,) int64

    def only(self, owners: Sequence[int]) -> RowSystem:
        """The system of the rows of some owners alone."""
        chosen = np.flatnonzero(np.isin(self.owners, owners))
        return replace(self, jacobian=self.jacobian[chosen], forcing=self.forcing[chosen], owners=self.owners[chosen])

    def left(self) -> np.ndarray:
        """d (m,): the part of f that no v meets."""
        if not len(self.forcing) or not self.forcing.any():
            return np.zeros(len(self.forcing))
        if len(self.forcing) > DENSE:
            from scipy.sparse.linalg import lsmr

            found = lsmr(self.jacobian, self.forcing, atol=1e-13, btol=1e-13, maxiter=20 * len(self.forcing))[0]
            return self.forcing - self.jacobian @ found
        whole = self.jacobian if isinstance(self.jacobian, np.ndarray) else self.jacobian.toarray()
        U, values, _ = np.linalg.svd(whole, full_matrices=False)
        range_ = U[:, values > NONE * values[0]] if len(values) else U
        return self.forcing - range_ @ (range_.T @ self.forcing)


@dataclass(frozen=True)
class Dispute:
    """Owners whose rows contradict each other, by how much, and which row of them counts the most."""

    owners: list[int]
    off: float  # by which the rows together miss zero, that row counted once
    row: int  # among all rows of the system


def amount(d: np.ndarray) -> float:
    """How much rows contradict each other: y^T f, where y is d divided by its largest entry."""
    largest = float(np.abs(d).max(initial=0.0))
    return float(d @ d) / largest if largest > 0.0 else 0.0


def disputes(asked: RowSystem, tolerance: float, most: int = 3) -> list[Dispute]:
    """Up to so many sets of owners that contradict each other by more than the tolerance, each as small as can be: without any
    one of them the others agree."""
    found, owners = list[Dispute](), np.unique(asked.owners).tolist()
    while owners and len(found) < most:
        rows = asked.only(owners)
        d = rows.left()
        if not amount(d) > tolerance:
            break
        share = {owner: float(np.abs(d[rows.owners == owner]).max()) for owner in owners}
        apart = sorted((o for o in owners if share[o] > NO_PART * max(share.values())), key=lambda o: share[o])
        among = owners
        if len(apart) <= MOST_TRIED:
            among = apart = _least(asked, apart, tolerance)
            d = asked.only(apart).left()
        row = np.flatnonzero(np.isin(asked.owners, among))[int(np.argmax(np.abs(d)))]
        found.append(Dispute(sorted(apart), amount(d), int(row)))
        owners = [owner for owner in owners if owner != max(apart)]
    return found


def _least(asked: RowSystem, owners: list[int], tolerance: float) -> list[int]:
    """Those of the owners without any of which the others agree. Whoever can be done without is left out, those with the
    smallest part in the contradiction first."""
    for owner in list(owners):
        others = [o for o in owners if o != owner]
        if amount(asked.only(others).left()) > tolerance:
            owners = others
    return owners
