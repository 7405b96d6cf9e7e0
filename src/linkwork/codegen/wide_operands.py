"""Kernels on more records than an operation can name: what they read is copied together, what they store is copied back."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.codegen.trace import Kernel, Trace

FAR = 2  # pointers from here on go through the area in which entries are copied together


@dataclass(frozen=True)
class Gathered:
    """A kernel as operations on two records: copies (pointer, its record -> area), the kernel (record 1, area), copies back."""

    into: list[tuple[int, Kernel]]
    kernel: Kernel
    back: list[tuple[int, Kernel]]
    size: int  # entries of the area


def gathered(kernel: Kernel) -> Gathered:
    """A kernel that names any number of records, in operations that name two.

    Entries of the area are in the order of (pointer, entry); no two kernels need it at a time."""
    trace = kernel.trace()
    read = sorted({place for source in trace.sources for place in source if place[0] >= FAR})
    stored = sorted({place for target in trace.targets for place in target if place[0] >= FAR})
    where = {place: k for k, place in enumerate(sorted({*read, *stored}))}

    def write(own: Trace) -> None:
        own.symbols, own.results = trace.symbols, trace.results
        own.sources = [_moved(source, where) for source in trace.sources]
        own.targets = [_moved(target, where) for target in trace.targets]

    moved = Kernel(f"gathered|{kernel.key}", write)
    return Gathered(_copies(read, where, 1), moved, _copies(stored, where, 2), len(where))


def _moved(places, where):
    return [(FAR, where[place]) if place[0] >= FAR else place for place in places]


def _copies(places, where, source: int) -> list[tuple[int, Kernel]]:
    """For each pointer the kernel that copies its entries: from the record (1) to the area (2), or back."""
    entries: dict[int, list[tuple[int, int]]] = {}
    for place in places:
        entries.setdefault(place[0], []).append((place[1], where[place]))
    return [(pointer, _copy(pairs, source)) for pointer, pairs in entries.items()]


def _copy(pairs: list[tuple[int, int]], source: int) -> Kernel:
    def write(trace: Trace) -> None:
        for there, here in pairs:
            (from_entry, to_entry) = (there, here) if source == 1 else (here, there)
            trace.store(3 - source, to_entry, trace.load(source, from_entry, 1))

    return Kernel(f"copy|{source}|{pairs}", write)
