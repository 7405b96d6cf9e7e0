"""The shape of a matrix with branch-induced sparsity: where its numbers stand, the nested form and the envelope (featherstone05
sections 2 and 3), and a regular numbering of any tree.

>>> import numpy as np
>>> parents = [3, 3, -1, 2]  # 0 and 1 hang on 3, which hangs on 2: not regular
>>> order, regular = number_regularly(parents)
>>> order, regular
(array([2, 3, 0, 1]), array([-1,  0,  1,  1]))
>>> pattern(regular).astype(int)
array([[1, 1, 1, 1],
       [1, 1, 1, 1],
       [1, 1, 1, 0],
       [1, 1, 0, 1]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork.errors import ArrayError
from linkwork.reduced.parent_array import Parents, ancestor_lists, integers, parent_array, sizes

if TYPE_CHECKING:
    from linkwork.util.array_types import AnyArray, BoolArray, IntArray, Matrix, Vector

MOST_NAMED = 6  # rows of a circle that a message lists


class Numbering(NamedTuple):
    """A regular numbering: parents come before their children. H of the old numbers is H[np.ix_(order, order)] in the new."""

    order: IntArray  # (n,) the old number of each new one
    parents: IntArray  # (n,) the parent array, in new numbers


class NestedForm(NamedTuple):
    """The order of rows in which the matrix is nested and doubly bordered (eq. 7)."""

    order: IntArray  # (n,) the row that stands at each place
    blocks: IntArray  # (n, 2) for each row its first descendant's place, and the place behind its own


def number_regularly(parents: Vector) -> Numbering:
    """Number a tree depth first, children in the order of their old numbers, so that every parent comes before its children
    and unbranched chains stay together. `parents`: the parent of each row in any numbering, -1 for none.

    >>> number_regularly([1, -1])
    Numbering(order=array([1, 0]), parents=array([-1,  0]))
    """
    given = integers(parents)
    n = len(given)
    wrong = np.flatnonzero((given < -1) | (given >= n))
    if len(wrong):
        raise ArrayError(f"parents: entry {wrong[0]} is {given[wrong[0]]}; give -1 (no parent) or a row from 0 to {n - 1}")
    order = _depth_first(given.tolist())
    if len(order) < n:
        raise ArrayError(f"parents: {_circle(given.tolist(), set(order))}; give one of them -1, or a parent outside the circle")
    place = np.empty(n + 1, np.int64)
    place[order], place[-1] = np.arange(n), -1
    found = np.array(order, dtype=np.int64)
    return Numbering(found, place[given[found]])


def _depth_first(parents: list[int]) -> list[int]:
    """All rows that hang, in the end, on none."""
    children: list[list[int]] = [[] for _ in range(len(parents) + 1)]  # the last: of the ground
    for i, parent in enumerate(parents):
        children[parent].append(i)
    order, todo = [], children[-1][::-1]
    while todo:
        i = todo.pop()
        order.append(i)
        todo += reversed(children[i])
    return order


def _circle(parents: list[int], numbered: set[int]) -> str:
    """Rows of a circle, in words."""
    i = next(i for i in range(len(parents)) if i not in numbered)
    for _ in parents:
        i = parents[i]
    circle, j = [i], parents[i]
    while j != i:
        circle.append(j)
        j = parents[j]
    circle = sorted(circle)
    if len(circle) == 1:
        return f"row {i} is its own parent"
    more = f" and {len(circle) - MOST_NAMED} more" if len(circle) > MOST_NAMED else ""
    return f"rows {', '.join(map(str, circle[:MOST_NAMED]))}{more} hang on each other in a circle"


def pattern(parents: Parents) -> BoolArray:
    """(n, n) where the matrix may have numbers: on the diagonal, and between a row and its ancestors (eq. 6).

    >>> int(pattern((-1, 0, 0)).sum())
    7
    """
    parents = parent_array(parents)
    n = len(parents)
    first, ancestors = ancestor_lists(parents)
    found = np.eye(n, dtype=bool)
    found[np.repeat(np.arange(n), np.diff(first)), ancestors] = True
    return found | found.T


def nested_form(parents: Parents) -> NestedForm:
    """Depth first, then backwards: the numbers below the diagonal of each row stand side by side up to it, so that its envelope
    has no zero inside and a Cholesky factorisation in this order fills nothing (section 3).

    >>> nested_form((-1, 0, 0, 1)).order
    array([2, 3, 1, 0])
    """
    parents = parent_array(parents)
    order = np.array(_depth_first(parents.tolist())[::-1], dtype=np.int64)
    behind = np.empty(len(parents), np.int64)
    behind[order] = np.arange(1, len(parents) + 1)
    return NestedForm(order, np.stack([behind - sizes(parents), behind], axis=1))


def envelope(filled: Matrix | AnyArray) -> IntArray:
    """(n,) the column of the first number of each row of a pattern: the envelope is what stands from there up to the diagonal.

    >>> envelope(pattern((-1, 0, 0)))
    array([0, 0, 0])
    >>> nested = nested_form((-1, 0, 0)).order
    >>> envelope(pattern((-1, 0, 0))[np.ix_(nested, nested)])
    array([0, 1, 0])
    """
    there = np.asarray(filled) != 0
    if there.ndim != 2 or there.shape[0] != there.shape[1]:
        raise ArrayError(f"filled: shape {there.shape}; give the pattern of a matrix, such as pattern(parents)")
    n = len(there)
    return np.minimum(np.argmax(there, axis=1), np.arange(n)) if n else np.zeros(0, np.int64)
