"""Blocks of the inertia matrix: kernels on a link and those that it hangs on."""

from __future__ import annotations

from linkwork.codegen.trace import Kernel, Record, Trace
from linkwork.reduced.link_kernels import Link
from linkwork.reduced.link_records import COMMON
from linkwork.reduced.spatial_algebra import lifted
from linkwork.symbolic import blocks


def crba_kernel(link: Link, above: Link | None, held: bool = False) -> Kernel:
    """CRBA: the step inwards of a link whose parent is of the kind given; `held`: with what implicit forces add."""
    name = f"reduced|crba_in|{link.kind.name}|{above.kind.name if above else 'ground'}{'|held' * held}"
    return Kernel(name, lambda trace: link.crba_in(trace, above, held), shared=(3,))


def climb_kernel(columns: int, ancestors: tuple[Link, ...]) -> Kernel:
    """CRBA: F (6, columns) of a descendant (pointer 1) stands at the first of up to three ancestors (2, 3, 4) and climbs past
    them; the blocks H_ij = F^T S_j go to pointer 5, one after another."""

    def write(trace: Trace) -> None:
        place = Record(**COMMON, U=6 * columns)["U"]
        F, at = blocks.rows(trace.load(1, *place), 6, columns), 0
        for number, link in enumerate(ancestors):
            block = F.T @ link.subspace(trace, 2 + number)
            trace.store(5, at, block)
            at += block.numel()
            F = lifted(F, link.load(trace, "r", 2 + number))
        trace.store(1, place[0], F)

    return Kernel(f"reduced|climb|{columns}|{[link.kind.name for link in ancestors]}", write)
