"""A second point for what touches in one: the middle of an ellipsoid that moves by more than its size in a step.

The row of a single point stops that point. Where it lies beside the line through the middle, the body is left with a spin and
most of its speed, and within a long step it would turn many times on its way through what it has struck. So the ball within it
is held off too: its gap, where the nearest surface is, with a push along a line through the middle.
"""

from linkwork.codegen.jit import jit_inner
from linkwork.collision.layout import ELLIPSOID
from linkwork.collision.pair_dispatch import AT_HITS, AT_TAGS, HITS, SOLID

MIDDLE_OF = 1 << 62  # feature
FAST = 4.0  # times the largest semi-axis: as far as such a body is looked ahead, at least


@jit_inner
def add_middle(numbers, integers, count, ahead):
    """Add the middle of an ellipsoid to the hits of a pair, of which there are `count`; returns how many there are. ahead: how
    far its bodies are looked ahead (m)."""
    if count == 0 or count == HITS:
        return count
    for which in range(2):
        size, middle = which * SOLID, which * SOLID + 12
        if integers[4 + which] != ELLIPSOID or ahead < FAST * max(numbers[size], numbers[size + 1], numbers[size + 2]):
            continue
        nearest = 0
        for k in range(1, count):
            if numbers[AT_HITS + 7 * k + 6] < numbers[AT_HITS + 7 * nearest + 6]:
                nearest = k
        hit, new, side = AT_HITS + 7 * nearest, AT_HITS + 7 * count, 1.0 if which == 1 else -1.0
        high = 0.5 * numbers[hit + 6] - min(numbers[size], numbers[size + 1], numbers[size + 2])
        for i in range(3):
            high += side * numbers[hit + 3 + i] * (numbers[middle + i] - numbers[hit + i])
            numbers[new + i], numbers[new + 3 + i] = numbers[middle + i], numbers[hit + 3 + i]
        numbers[new + 6], integers[AT_TAGS + count] = high, MIDDLE_OF
        return count + 1
    return count
