"""What soft contacts store: read without a trace, between steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact.collide import find
from linkwork.contact.rows import GAP, STIFFNESS, rows_for
from linkwork.contact.stretched import spots_kept

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem


def elastic_energy(contact: ContactSystem, work: np.ndarray) -> float:
    """J: of the springs of all points that are pressed in, where bodies are now. What stages have found, and what the next one
    starts from, stays as it is."""
    if not any(rule.stiffness is not None for rule in contact.contacts):
        return 0.0
    slots = [getattr(contact.slots, name) for name in contact.slots.fields]
    read = [contact.counts, contact.margins, contact.over, contact.axes, contact.origins, *slots]
    kept = [array.copy() for array in read]
    contact.margins[0] = 0.0
    rows, table, inverse = rows_for(len(contact.rows.mu)), contact.schedules.table, contact.inverse_mass
    with spots_kept(work, inverse.bodies, contact.stretching):
        count = find(work, table, inverse.bodies, inverse.order, contact.finding, rows, 0.0, 0.0, 1.0, 0.0)
    for array, values in zip(read, kept, strict=True):
        array[:] = values
    numbers = rows.numbers[: min(count, len(rows.mu))]
    pressed = np.minimum(numbers[:, GAP], 0.0)
    return float(0.5 * contact.phases * (numbers[:, STIFFNESS] @ pressed**2))
