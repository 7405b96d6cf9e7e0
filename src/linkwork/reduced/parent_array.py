"""Parent arrays: which row of a matrix, or which body of a tree, hangs on which (featherstone05 section 2).

`parents[i]` is the parent of i, and -1 where i hangs on the ground. Numbering is regular: parents come before their
children (eq. 2). The paper counts from 1 and calls the ground 0; `from_paper` translates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from linkwork.errors import ArrayError

if TYPE_CHECKING:
    from linkwork.util.array_types import AnyArray, IntArray, Vector


class HasParents(Protocol):
    """What knows the parent array of its freedoms, as a `Tree` does."""

    @property
    def expanded_parents(self) -> IntArray: ...


Parents: TypeAlias = "Vector | HasParents"


def integers(
    given: object, name: str = "parents", each: str = "row of the matrix", none: str = "-1 for a row that has no parent"
) -> IntArray:
    """Integers (n,) as drivers take them; what is none is refused in words."""
    try:
        array: AnyArray = np.asarray(given)
    except ValueError:
        raise ArrayError(f"{name}: lists of different lengths; give one number for each {each}") from None
    if array.ndim != 1:
        raise ArrayError(f"{name}: an array of shape {array.shape}; give one number for each {each}")
    if array.dtype.kind not in "iu" and array.size:
        raise ArrayError(f"{name}: {array.dtype} numbers; give integers, {none}")
    if array.dtype == np.uint64 and (array > np.iinfo(np.int64).max).any():
        raise ArrayError(f"{name}: {array.max()} is too large for a signed integer; give integers, {none}")
    return np.ascontiguousarray(array, dtype=np.int64)


def parent_array(parents: Parents) -> IntArray:
    """Parents (n,) as integers, checked; a tree gives its `expanded_parents`.

    >>> parent_array((-1, 0, 0))
    array([-1,  0,  0])
    """
    array = integers(getattr(parents, "expanded_parents", parents))
    wrong = _irregular(array.tobytes())
    if wrong >= 0:
        raise ArrayError(f"parents: entry {wrong} is {array[wrong]}; number parents before their children, so that it lies "
                         f"from -1 (no parent) to {wrong - 1}")  # fmt: skip
    return array if array.flags.carray else array.copy()


@lru_cache(maxsize=256)
def _irregular(key: bytes) -> int:
    """The first entry that breaks eq. 2, or -1; known arrays are not looked at again."""
    array = np.frombuffer(key, dtype=np.int64)
    wrong = np.flatnonzero((array < -1) | (array >= np.arange(len(array))))
    return int(wrong[0]) if len(wrong) else -1


def from_paper(parents: Vector) -> IntArray:
    """The paper's parent array λ, which counts from 1 and has 0 for the root, in our numbers.

    >>> from_paper((0, 1, 1, 2, 2, 3, 3))
    array([-1,  0,  0,  1,  1,  2,  2])
    """
    given = np.asarray(parents)
    if given.dtype.kind not in "iu" and given.size:
        raise ArrayError(f"parents: {given.dtype} numbers; give integers, 0 for a body that has no parent")
    return parent_array(given.astype(np.int64) - 1)


def expanded(parents: Parents, freedoms: Vector) -> IntArray:
    """One entry for each freedom: a joint of several becomes a chain, one of none hands on its parent (figure 2).

    >>> 1 + expanded(from_paper((0, 1, 1, 2, 2, 3, 3)), (2, 2, 1, 1, 1, 3, 1))
    array([0, 1, 2, 3, 2, 4, 4, 5, 8, 9, 5])
    """
    above, freedoms = parent_array(parents), integers(freedoms, "freedoms", "joint", "0 for a weld")
    if freedoms.shape != above.shape:
        raise ArrayError(f"freedoms: {len(freedoms)} numbers for {len(above)} joints; give each joint its number of freedoms")
    if (freedoms < 0).any():
        i = int(np.argmax(freedoms < 0))
        raise ArrayError(f"freedoms: entry {i} is {freedoms[i]}; give 0 (a weld) or more")
    found: list[int] = []
    last = np.empty(len(above), np.int64)  # the freedom on which children hang
    for i, (parent, count) in enumerate(zip(above.tolist(), freedoms.tolist(), strict=True)):
        last[i] = -1 if parent < 0 else last[parent]
        for _ in range(count):
            found.append(int(last[i]))
            last[i] = len(found) - 1
    return np.array(found, dtype=np.int64)


def depths(parents: Parents) -> IntArray:
    """d_i, the number of arcs from i to the ground: 1 where there is no parent (section 4.1).

    >>> depths((-1, 0, 0, 1))
    array([1, 2, 2, 3])
    """
    parents = parent_array(parents)
    found = np.ones(len(parents), np.int64)
    for i, parent in enumerate(parents.tolist()):
        if parent >= 0:
            found[i] = found[parent] + 1
    return found


def sizes(parents: Parents, weights: Vector | None = None) -> IntArray:
    """|ν(i)|: how many descend from i, with i itself; with weights, their sum.

    >>> sizes((-1, 0, 0, 1))
    array([4, 2, 1, 1])
    """
    parents = parent_array(parents)
    found = np.ones(len(parents), np.int64) if weights is None else np.array(weights, dtype=np.int64)
    for i in range(len(parents) - 1, -1, -1):
        if parents[i] >= 0:
            found[parents[i]] += found[i]
    return found


def ancestor_lists(parents: Parents) -> tuple[IntArray, IntArray]:
    """(first (n + 1,), ancestors): those of i are ancestors[first[i]:first[i + 1]], the nearest first.

    >>> ancestor_lists((-1, 0, 1))
    (array([0, 0, 1, 3]), array([0, 1, 0]))
    """
    parents = parent_array(parents)
    first = np.concatenate([[0], np.cumsum(depths(parents) - 1)]).astype(np.int64)
    found = np.empty(first[-1], np.int64)
    for i, parent in enumerate(parents.tolist()):
        if parent >= 0:
            found[first[i]] = parent
            found[first[i] + 1 : first[i + 1]] = found[first[parent] : first[parent + 1]]
    return first, found


def runs(parents: Parents, longest: int) -> list[list[int]]:
    """Chains without branches, at most `longest` long, parents before children; each hangs on the last of another.

    >>> runs((-1, 0, 1, 1, 3), 6)
    [[0, 1], [2], [3, 4]]
    """
    rows: list[int] = parent_array(parents).tolist()
    children = np.bincount([p for p in rows if p >= 0], minlength=len(rows))
    found: list[list[int]] = []
    where: dict[int, int] = {}  # the last of a run -> its place
    for i, parent in enumerate(rows):
        place = where.get(parent, -1)
        if place >= 0 and children[parent] == 1 and len(found[place]) < longest:
            found[place].append(i)
        else:
            place = len(found)
            found.append([i])
        where[i] = place
    return found
