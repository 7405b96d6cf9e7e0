"""What two colliders make of their coefficients: friction, torsion and rolling of a pair."""

from __future__ import annotations

import math

from linkwork.codegen.jit import jit_inline

FRICTION, RESTITUTION, TORSION, ROLLING, PRIORITY, DIMENSIONS = range(6)  # columns of `Materials.own`
COMBINES = 8  # the column of `Materials.of_rule` that says how
MEAN, LARGER = 0.0, 1.0


@jit_inline
def combined(own, rule, a, b, column, needed):
    """A coefficient of the colliders a and b: of the one with the higher priority; of equal ones the geometric mean or the
    larger, as the rule says. Zero where the contact has fewer dimensions than are needed for it."""
    dimensions = max(own[a, DIMENSIONS], own[b, DIMENSIONS])
    value = max(own[a, column], own[b, column]) if rule[COMBINES] == LARGER else math.sqrt(own[a, column] * own[b, column])
    if own[a, PRIORITY] > own[b, PRIORITY]:
        dimensions, value = own[a, DIMENSIONS], own[a, column]
    elif own[b, PRIORITY] > own[a, PRIORITY]:
        dimensions, value = own[b, DIMENSIONS], own[b, column]
    return value if dimensions >= needed else 0.0
