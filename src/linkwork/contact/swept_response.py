"""The inverse mass at contacts by sweeps over a model in maximal coordinates, as a contact stage calls it: by address."""

from __future__ import annotations

from linkwork.codegen.jit import jit
from linkwork.codegen.struct import Struct
from linkwork.contact.delassus import Sweeping, Trees, add_answers, responses


class Swept(Struct):
    """Components of a model, and scratch of sweeps over them."""

    trees: Trees
    scratch: Sweeping


@jit
def respond(work, table, swept, slots, R, groups):
    """R of all groups, or L of R = L L^T where `slots.rank` says so."""
    responses(work, table, swept.trees, swept.scratch, slots.body_of, slots.first, slots.size, slots.at, R, slots.rank, groups)
    return 0


@jit
def apply_impulses(work, table, swept, slots, groups, scale):
    """Add to x what the wrenches on slots do, over scale."""
    add_answers(work, table, swept.trees, swept.scratch, slots.body_of, slots.first, slots.size, slots.wrench, slots.u,
                slots.before, groups, scale)  # fmt: skip
    return 0
