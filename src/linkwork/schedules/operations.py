"""Lists of operations, (kernel, offsets) each, collected in any order and sorted by where they stand in a sweep."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.jit import OPERANDS

TURNS = 64  # the most turns of one position: a key is position * TURNS + turn
FIRST, LAST = 1, 40  # turns of what comes before a body is eliminated, and of the elimination
AFTER = 1 << 40  # a position behind all others


class OperationList:
    """Rows of one sweep, collected in any order and sorted by place: first by position, then by turn within it."""

    def __init__(self) -> None:
        self.keys: list[np.ndarray] = []
        self.rows: list[np.ndarray] = []
        self._singles: list[tuple] = []  # (key, row) added one by one since the last array

    def add(self, position, turn: int, kernel: int, *offsets) -> None:
        """Operations of one kernel; positions and offsets are arrays of the same length, or single numbers."""
        if not isinstance(position, np.ndarray):
            self._singles.append((int(position) * TURNS + turn, (kernel, *offsets, *[0] * (OPERANDS - len(offsets)))))
            return
        self._collect()
        rows = np.zeros((len(position), 1 + OPERANDS), dtype=np.int32)
        rows[:, 0] = kernel
        for column, offset in enumerate(offsets, start=1):
            rows[:, column] = offset
        self.keys.append(position * TURNS + turn)
        self.rows.append(rows)

    def add_rows(self, positions: np.ndarray, turn: int, rows: np.ndarray) -> None:
        """Operations of any kernels, (kernel, offsets) each, in the order of their positions or in reverse."""
        self._collect()
        self.keys.append(positions * TURNS + turn)
        self.rows.append(rows)

    def _collect(self) -> None:
        if self._singles:
            self.keys.append(np.array([key for key, _ in self._singles], dtype=np.int64))
            self.rows.append(np.array([row for _, row in self._singles], dtype=np.int32))
            self._singles = []

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows in order, and their positions."""
        self._collect()
        if not self.rows:
            return np.zeros((0, 1 + OPERANDS), dtype=np.int32), np.zeros(0, dtype=np.int64)
        keys = np.concatenate(self.keys)
        order = np.argsort(keys, kind="stable")
        return np.ascontiguousarray(np.concatenate(self.rows)[order]), keys[order] // TURNS
