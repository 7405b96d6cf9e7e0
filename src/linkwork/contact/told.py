"""Which elements are meant by what contact tells: two colliders, or a rope or hard limit alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact.rows import COLLIDER_A, COLLIDER_B
from linkwork.contact.solver import given_up, left_out
from linkwork.contact.stage_solve import HELD_A, UNMET_A

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem
    from linkwork.elements.core.element import Element


def named(contact: ContactSystem, place: int) -> list[Element] | None:
    """Those that are told from a place of `told` on; None: nothing is."""
    one, other = (contact.told[place : place + 2].astype(int) - 1).tolist()
    return _elements(contact, one, other) if one >= 0 else None


def pairs_held(contact: ContactSystem) -> list[list[Element]]:
    """The pairs that press though joints hold both, so that no impulse along their normal moves them apart."""
    m = contact.count
    return _pairs(contact, HELD_A, left_out(contact.solving[0].solver, m) & (contact.rows.mu[:m] >= 0.0))


def pairs_pressed(contact: ContactSystem) -> list[list[Element]]:
    """The pairs whose overlap, or what they are beyond their bounds, no motion takes back."""
    return _pairs(contact, UNMET_A, given_up(contact.solving[0].solver, contact.count))


def _pairs(contact: ContactSystem, place: int, marked: np.ndarray) -> list[list[Element]]:
    """What was told first in the last steps, if anything, and what is so at their end."""
    first = (contact.told[place : place + 2].astype(int) - 1).tolist()
    if first[0] < 0:
        return []
    rows = contact.rows.labels[: len(marked), [COLLIDER_A, COLLIDER_B]][marked].tolist()
    n = len(contact.names)
    keys = dict.fromkeys((one, other if one < n else 0) for one, other in [first, *rows])
    return [_elements(contact, *key) for key in keys]


def _elements(contact: ContactSystem, one: int, other: int) -> list[Element]:
    n = len(contact.names)
    return [contact.stops[one - n].element] if one >= n else [contact.names[one], contact.names[other]]
