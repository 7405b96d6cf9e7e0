"""What touches, in one compiled call: poses of bodies, how far to look, contacts, and rows of contacts and stops."""

from __future__ import annotations

import math

import numpy as np

from linkwork.codegen.jit import jit, jit_inner, sweep
from linkwork.codegen.struct import Struct
from linkwork.collision.collider_table import Contacts, Geometry, Scratch
from linkwork.collision.detect import detect
from linkwork.contact.rows import COLLIDER_A, GAP, Materials, Stops
from linkwork.contact.stage_kernels import Slots, find_poses_and_margins, find_rows
from linkwork.contact.stretched import Stretched, leave_room


class Finding(Struct):
    """What is looked at, and where what is found goes."""

    spots: np.ndarray  # (k, 6) int32: operations that say where points of bodies are, and how they move
    reach: np.ndarray  # (n,) m: how far from its origin each body can touch; -1 where it cannot
    geometry: Geometry
    scratch: Scratch
    found: Contacts
    materials: Materials
    stretched: Stretched
    stops: Stops
    axes: np.ndarray  # (n, 3, 3) of bodies
    origins: np.ndarray  # (n, 3) m
    margins: np.ndarray  # (1 + n,) rad: how far limits are looked for, 0: not known yet; m: contacts of each body
    speeds: np.ndarray  # (2,) m/s: of stops, at which they bounce, and of their recovery
    slots: Slots
    counts: np.ndarray  # (5,) int64: rows, slots, groups, length of all responses, entries of blocks
    over: np.ndarray  # (stops, 2) m or rad: how far each was beyond its bound when it was seen first (-1: not yet), and at most


@jit
def find(work, table, bodies, order, place, rows, least, h, carried, scale):
    """Rows, slots and groups of the present configuration, at velocities carried v + scale x; returns the number of contacts.
    If there is no room for so many, nothing else is done. least: m, the smallest margin; place: a `Finding`."""
    axes, origins, margins = place.axes, place.origins, place.margins
    sweep(work, table, place.spots)
    find_poses_and_margins(work, bodies, place.reach, axes, origins, h, carried, scale, margins, place.slots.u[0])
    count, found = 0, place.found
    if len(place.materials.body) > 0 and math.isfinite(margins[0]):
        count = detect(place.geometry, axes, origins, least, place.scratch, found)
        if count > len(found.gap):
            return count
        if len(place.stretched.owners) > 0:
            count = leave_room(found, count, place.materials.body, place.stretched)
    total, used, groups, length, blocks = find_rows(
        work,
        bodies,
        order,
        rows,
        found,
        count,
        place.materials,
        place.stretched,
        place.stops,
        axes,
        origins,
        least,
        margins,
        place.speeds,
        place.slots,
    )
    _note_over(rows, count, total, len(place.materials.body), place.over)
    counts = place.counts
    counts[0], counts[1], counts[2], counts[3], counts[4] = total, used, groups, length, blocks
    return count


@jit_inner
def _note_over(rows, begin, end, colliders, over):
    """How far ropes and hard limits are beyond their bounds."""
    for k in range(begin, end):
        if rows.mu[k] < 0.0 or rows.follows[k] >= 0:
            continue
        seen, beyond = over[rows.labels[k, COLLIDER_A] - colliders], max(0.0, -rows.numbers[k, GAP])
        if seen[0] < 0.0:
            seen[0] = beyond
        seen[1] = max(seen[1], beyond)
