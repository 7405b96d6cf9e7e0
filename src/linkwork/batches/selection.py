"""Which worlds of a batch are meant, and values for each of them: refused in one sentence where they fit nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork.util.array_types import FloatArray, IntArray


def chosen_worlds(n: int, worlds: Any) -> IntArray:
    """The numbers of the worlds that are meant: all (None), those of a mask (n,), or those that are numbered."""
    if worlds is None:
        return np.arange(n, dtype=np.int64)
    try:
        given = np.atleast_1d(np.asarray(worlds))
    except (TypeError, ValueError):
        given = np.zeros((0, 0))
    if given.ndim == 1 and given.size == 0 and not isinstance(worlds, str):
        return np.zeros(0, dtype=np.int64)
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise LinkworkError(f"Batch: worlds is a mask of the shape {given.shape}; give ({n},), one for each world")
        return np.flatnonzero(given).astype(np.int64)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise LinkworkError(f"Batch: worlds is {checks.show(worlds)}; give numbers of worlds, or a mask of {n}")
    if (wrong := given[(given < 0) | (given >= n)]).size:
        raise LinkworkError(f"Batch: there is no world {wrong[0]}; give numbers from 0 to {n - 1}")
    if len(np.unique(given)) < len(given):
        twice = next(i for k, i in enumerate(given.tolist()) if i in given[:k])
        raise LinkworkError(f"Batch: world {twice} is chosen twice; give each once")
    return given.astype(np.int64)


def rows_for(what: str, value: Any, count: int, *row: int) -> FloatArray:
    """(count, *row) finite numbers: given so, or as one row that counts for all worlds."""
    try:
        given = np.array(value, dtype=float)
    except (TypeError, ValueError):
        given = None
    if given is None or given.shape not in ((count, *row), (1, *row), row):
        shown = checks.show(value) if given is None else f"of the shape {given.shape}"
        one = f"an array of the shape {row}" if row else "a number"
        raise LinkworkError(f"Batch: {what} is {shown}; give the shape {(count, *row)}, or {one} for all of them")
    rows = np.broadcast_to(given, (count, *row))
    if not np.isfinite(rows).all():
        place = tuple(np.argwhere(~np.isfinite(rows))[0].tolist())
        raise LinkworkError(f"Batch: {what}{list(place)} is {rows[place]:g}; give finite numbers")
    return rows


@contextmanager
def of_world(i: int) -> Iterator[None]:
    """Say of which world a refusal speaks."""
    try:
        yield
    except LinkworkError as error:
        raise LinkworkError(f"Batch: world {i}: {str(error).removeprefix('Simulation: ')}") from None
