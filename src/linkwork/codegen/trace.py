"""Kernels as data: a key that names the algebra, and a trace that writes it down when no cached code is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, auto

import casadi as ca
import numpy as np
from casadi import SX

POINTERS = 8  # of every kernel: the globals and up to seven records
OPERANDS = POINTERS - 1  # record offsets of one operation

COLD = 1024  # entries from a record to its cold fields
MANY, MUCH = 24, 0.25  # operations, and part of a sweep, for which LLVM joins what a kernel does into vectors: a few percent
# faster, in thrice the time
LITTLE, SOME = 1 / 32, 1 / 8  # parts of a sweep for which what LLVM makes in no time, a fifth slower, is good enough: at the
# start, and while somebody waits


class Record:
    """The layout of one record: named fields, each a run of entries. `record["D"]` is (offset, size).

    Cold fields, which few sweeps touch, lie at a fixed distance: so what every sweep touches lies close together, and
    long models move less memory. Large records have them behind the others. `Space` places records accordingly.
    """

    def __init__(self, cold: Mapping[str, int] | None = None, /, **sizes: int):
        self.fields: dict[str, tuple[int, int]] = {}
        hot, apart = self._add(sizes, 0), dict(cold or {})
        split = 0 < max(hot, sum(apart.values())) <= COLD // 4
        end = self._add(apart, COLD if split else hot)
        self.size = max(hot, end - COLD) if split else end  # entries of either part, or of the whole
        self.span = end if apart else hot  # entries from the first field to the last

    def _add(self, sizes: dict[str, int], start: int) -> int:
        for name, size in sizes.items():
            self.fields[name] = (start, size)
            start += size
        return start

    def __getitem__(self, name: str) -> tuple[int, int]:
        return self.fields[name]

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def offset(self, name: str) -> int:
        return self.fields[name][0]

    def slice(self, name: str) -> slice:
        offset, size = self.fields[name]
        return slice(offset, offset + size)


class Space:
    """Hands out places in a workspace. Of every 2 COLD entries the first half is for records and what lies beside them, the
    second for the records' cold fields; what is large comes behind all that."""

    def __init__(self, start: int):
        self.at = start
        self._large: list[tuple[np.ndarray, int, int]] = []

    def place(self, size: int, where: np.ndarray, index: int) -> None:
        """Put the offset of `size` entries into where[index], at the latest when the space is closed."""
        if size > COLD // 4:
            self._large.append((where, index, size))
            return
        if self.at % (2 * COLD) + size > COLD:
            self.at += 2 * COLD - self.at % (2 * COLD)
        where[index] = self.at
        self.at += size

    def close(self) -> int:
        """The first entry behind everything."""
        at = self.at + COLD
        for where, index, size in self._large:
            where[index] = at
            at += size
        return at


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
        self._pointers: Sequence[int] = range(1 << 30)  # what the pointers of the part being written are called here
        self._earlier: dict[tuple[int, int], SX] = {}  # what earlier parts have stored

    def load(self, pointer: int, offset: int, size: int) -> SX:
        """The entries as they are before the kernel stores anything: the same symbols whenever asked for."""
        place = (self._pointers[pointer], offset, size)
        if place not in self._loaded:
            self._loaded[place] = self._new(*place)
        known = [self._earlier.get((place[0], offset + k)) for k in range(size)]
        if all(x is None for x in known):
            return self._loaded[place]
        return ca.vertcat(*[self._loaded[place][k] if x is None else x for k, x in enumerate(known)])

    def write_all(self, parts: Iterable[tuple[Kernel, Sequence[int]]]) -> None:
        """Kernels one after another as one: what a part stores, later parts load without going through memory. Each with
        the names of its pointers 1, 2, ... here."""
        outer = self._pointers
        for kernel, pointers in parts:
            self._pointers = (0, *[outer[p] for p in pointers])
            kernel.write(self)
            for target, result in zip(self.targets, self.results, strict=True):
                for place, value in zip(target, ca.vertsplit(result), strict=True):
                    self._earlier.pop(place, None)  # what is stored again stands where it was stored last
                    self._earlier[place] = value
            self.targets, self.results = [], []
        self.targets, self.results = [list(self._earlier)], [ca.vertcat(*self._earlier.values())]

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
        self.targets.append([(self._pointers[pointer], offset + k) for k in range(column.shape[0])])

    def function(self, shared: bool = True) -> ca.Function:
        """`shared`: what stands in it twice is computed once. To find that out takes longer than a few evaluations."""
        return ca.Function("kernel", self.symbols, ca.cse(self.results) if shared and self.results else self.results)


class Evaluated:
    """A CasADi function of one column, called without making objects: put its argument into `given`, call."""

    def __init__(self, function: ca.Function):
        self.given, self._found = np.zeros(function.numel_in(0)), np.zeros(function.numel_out(0))
        self._kept, self._evaluate = function.buffer()
        self._kept.set_arg(0, self.given.data)  # type: ignore[call-arg]
        self._kept.set_res(0, self._found.data)  # type: ignore[call-arg]

    def __call__(self) -> np.ndarray:
        """The result, until the next call."""
        self._evaluate()
        return self._found


class Joining(IntEnum):
    """How a kernel stands to those beside it in a sweep."""

    NEVER = auto()
    SMALL = auto()  # is joined to a gathering kernel that has its record at hand
    GATHERS = auto()  # and to one on the same records


@dataclass(frozen=True)
class Kernel:
    """What the compiler caches: `key` says everything the code depends on, `write` traces it."""

    key: str
    write: Callable[[Trace], None]
    pairs: bool = False  # joined into vectors within one lane: pays for long kernels without short chains of records
    joining: Joining = Joining.NEVER
    shared: tuple[int, ...] = ()  # pointers to records of scalars that all lanes share, never stored to
    hurried: bool = False  # its machine code is made fast, and is slow: pays for kernels that few operations use

    def trace(self) -> Trace:
        trace = Trace()
        self.write(trace)
        return trace

    def worth(self, part: float, uses: int, patient: bool = True) -> Kernel:
        """The kernel, compiled with the effort that it is worth where this part of a sweep, so many operations, uses it."""
        pairs = patient and self.pairs and uses >= MANY and part >= MUCH
        return replace(self, pairs=pairs, hurried=part < (LITTLE if patient else SOME))


def joined(first: Kernel, second: Kernel, pointers: tuple[Sequence[int], Sequence[int]]) -> Kernel:
    """Two kernels as one; `pointers`: what the pointers of each are called in it."""
    key = f"({first.key} {pointers[0]}, {second.key} {pointers[1]})"
    parts = list(zip((first, second), pointers, strict=True))
    return Kernel(key, lambda trace: trace.write_all(parts), first.pairs or second.pairs, Joining.GATHERS)
