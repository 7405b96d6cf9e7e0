"""A program of a tree run on one state, or on an array of states: what users give is checked here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import ElementError
from linkwork.reduced import drivers
from linkwork.reduced.operation_lists import Schedule, TreeSchedules

if TYPE_CHECKING:
    from linkwork.reduced.frame_places import FramePlaces
    from linkwork.reduced.tree import Tree
    from linkwork.util.array_types import FloatArray, Numbers


def the_tree(tree: Tree) -> Tree:
    """The Tree itself; anything else is refused."""
    if not isinstance(getattr(tree, "schedules", None), TreeSchedules):
        raise ElementError(f"tree is {checks.show(tree)}; give what lw.reduced.compile returns")
    return tree


def schedules_of(tree: Tree) -> TreeSchedules:
    """The programs of a Tree."""
    try:
        return tree.schedules
    except AttributeError:
        return the_tree(tree).schedules


def frame_places(tree: Tree) -> FramePlaces:
    """The frames of a Tree."""
    try:
        return tree.schedules.places
    except AttributeError:
        return the_tree(tree).schedules.places


def run(tree: Tree, key: tuple[Any, ...], names: Sequence[str], given: Sequence[Numbers], out: FloatArray | None) -> FloatArray:
    """Run a program on one state, or on an array of states: inputs (n,) or (k, n); a single one goes with all others."""
    return run_program(schedules_of(tree).get(key), names, given, out)


def run_program(program: Schedule, names: Sequence[str], given: Sequence[Numbers], out: FloatArray | None) -> FloatArray:
    """The same of a program that is at hand."""
    found = np.empty(program.shape) if out is None else out
    if program.one(*given, *program.absent, found):  # at once, if these are vectors as they should be
        return found
    arrays = [numbers_in(name, value) for name, value in zip(names, given, strict=True)]
    count = max([a.shape[0] for a in arrays if a.ndim == 2], default=None)
    _check(names, arrays, program.sizes, count)
    found = _result(out, program.shape if count is None else (count, *program.shape))
    if count is not None or not program.one(*arrays, *program.absent, found):
        states = 1 if count is None else count
        arrays = [a if a.ndim == 2 else np.tile(a, (states, 1)) for a in arrays]
        missing = [np.zeros((states, 0)) for _ in program.absent]
        drivers.run_states(*program.among, *arrays, *missing, found.reshape(states, program.count))
    return found


def _check(names: Sequence[str], arrays: list[FloatArray], sizes: list[int], count: int | None) -> None:
    for name, array, size in zip(names, arrays, sizes, strict=True):
        if array.ndim not in (1, 2) or array.shape[-1] != size or (array.ndim == 2 and array.shape[0] != count):
            shape = f"({size},)" if count is None else f"({count}, {size}), one state a row"
            raise ElementError(f"{name} has the shape {array.shape}; give one of the shape {shape}")


def _result(out: FloatArray | None, shape: tuple[int, ...]) -> FloatArray:
    """The array for the result: the one that is given, or a new one."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64 or not out.flags.carray:
        described = f"{out.dtype} of the shape {out.shape}" if isinstance(out, np.ndarray) else f"a {type(out).__name__}"
        raise ElementError(f"out is {described}; give a contiguous array of float64 of the shape {shape}")
    return out


def numbers_in(name: str, value: Numbers) -> FloatArray:
    """An input as the drivers want it: one type, so that they are compiled once."""
    try:
        found = np.require(value, dtype=np.float64, requirements=["C", "A", "W"])
    except (TypeError, ValueError):
        raise ElementError(f"{name} is {checks.show(value)}; give an array of numbers") from None
    return found
