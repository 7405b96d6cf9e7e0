"""Kernels as data: a key that names the algebra, and a trace that writes it down when no cached code is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
from casadi import SX


class Record:
    """The layout of one record: named fields, each a run of entries. `record["D"]` is (offset, size)."""

    def __init__(self, **sizes: int):
        self.fields: dict[str, tuple[int, int]] = {}
        self.size = 0
        for name, size in sizes.items():
            self.fields[name] = (self.size, size)
            self.size += size

    def __getitem__(self, name: str) -> tuple[int, int]:
        return self.fields[name]

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def offset(self, name: str) -> int:
        return self.fields[name][0]

    def slice(self, name: str) -> slice:
        offset, size = self.fields[name]
        return slice(offset, offset + size)


def entries(expression) -> SX:
    """A matrix as a dense column, row by row: the order in which blocks lie in records."""
    dense = ca.densify(SX(expression))
    return dense if dense.shape[1] == 1 else ca.reshape(dense.T, -1, 1)


class Trace:
    """One kernel being written: `load` makes symbols, `store` names results."""

    def __init__(self) -> None:
        self.symbols: list[SX] = []
        self.sources: list[list[tuple[int, int]]] = []
        self.results: list[SX] = []
        self.targets: list[list[tuple[int, int]]] = []
        self._loaded: dict[tuple[int, int, int], SX] = {}

    def load(self, pointer: int, offset: int, size: int) -> SX:
        """The entries as they are before the kernel stores anything: the same symbols whenever asked for."""
        place = (pointer, offset, size)
        if place not in self._loaded:
            self._loaded[place] = self._new(*place)
        return self._loaded[place]

    def _new(self, pointer: int, offset: int, size: int) -> SX:
        symbol = SX.sym(f"p{pointer}_{offset}", size)
        self.symbols.append(symbol)
        self.sources.append([(pointer, offset + k) for k in range(size)])
        return symbol

    def store(self, pointer: int, offset: int, expression) -> None:
        column = entries(expression)
        if column.shape[0] == 0:
            return
        self.results.append(column)
        self.targets.append([(pointer, offset + k) for k in range(column.shape[0])])

    def function(self) -> ca.Function:
        return ca.Function("kernel", self.symbols, ca.cse(self.results) if self.results else [])


@dataclass(frozen=True)
class Kernel:
    """What the compiler caches: `key` says everything the code depends on, `write` traces it."""

    key: str
    write: Callable[[Trace], None]
    pairs: bool = False  # joined into vectors within one lane: pays for long kernels without short chains of records

    def trace(self) -> Trace:
        trace = Trace()
        self.write(trace)
        return trace
