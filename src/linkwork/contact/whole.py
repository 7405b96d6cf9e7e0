"""A contact stage in one compiled call: what touches, how it answers, the impulses, and what these do."""

from __future__ import annotations

from linkwork.codegen.jit import jit
from linkwork.contact.finding import find
from linkwork.contact.responses import add_answers, responses
from linkwork.contact.solving import solve_stage

DONE, FEW_CONTACTS, FEW_RESPONSES, FEW_PANELS = range(4)  # what has too little room; then it is made, and the call again


@jit
def whole_stage(work, table, trees, swept, place, s, known, least, blocks, h, gravity, near, stage, carried, scale, turning,
                cached):  # fmt: skip
    """trees, swept: of `contact/responses.py`; place: a `Finding`; s: a `Solving`; known: rows and responses are those of the
    present configuration. Returns a status, and the number of contacts found or of blocks."""
    slots, rows, counts = s.slots, s.rows, place.counts
    if not known:
        count = find(work, table, trees.bodies, trees.order, place, rows, least, h, carried, scale)
        if count > len(place.found.gap):
            return FEW_CONTACTS, count
        if counts[3] > len(s.R) or counts[4] > blocks:
            return FEW_RESPONSES, count
        responses(work, table, trees, swept, slots.body_of, slots.first, slots.size, slots.at, s.R, slots.rank, counts[2])
    if counts[0] > 0:
        lengths = counts[0], counts[1], counts[2], counts[3]
        if not solve_stage(work, trees.bodies, s, lengths, h, gravity, near, stage, carried, scale, turning, cached):
            return FEW_PANELS, 0
        add_answers(work, table, trees, swept, slots.body_of, slots.first, slots.size, slots.wrench, slots.u, slots.before,
                    counts[2], scale)  # fmt: skip
    return DONE, 0
