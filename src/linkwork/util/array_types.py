"""Types of arrays, for annotations: what functions give, and what they take. Shapes stand in docstrings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]  # numbers, names or flags

# What a caller may give: numpy's ArrayLike would take texts, too.
Vector: TypeAlias = Sequence[float] | NDArray[np.floating[Any]] | NDArray[np.integer[Any]]  # (n,)
Matrix: TypeAlias = Sequence[Vector] | NDArray[np.floating[Any]] | NDArray[np.integer[Any]]  # (n, m)
Numbers: TypeAlias = float | Vector | Matrix | Sequence[Matrix]  # of any shape
FilePath: TypeAlias = str | os.PathLike[str]
