"""Distances of pairs of collision shapes, compiled: all states and all pairs of a call."""

from __future__ import annotations

from linkwork.codegen.jit import jit
from linkwork.collision.broadphase import place
from linkwork.collision.detect import load
from linkwork.collision.layout import KIND
from linkwork.collision.pair_dispatch import AT_HITS, MARGIN, call

FAR = 1e9  # m: as far as is looked


@jit
def measure(geometry, scratch, routine, rotation, position, pairs, out):
    """For each state and pair of colliders (pairs (m, 2)) the gap, the normal from the first to the second and the point
    midway, to out (states, m, 7). Bodies are at position (states, bodies, 3) with rotation (states, bodies, 3, 3)."""
    numbers, integers, labels = scratch.numbers, scratch.integers, geometry.labels
    for state in range(out.shape[0]):
        place(geometry.constants, labels, rotation[state], position[state], 0.0, scratch.ahead, scratch.poses, scratch.boxes)
        for k in range(pairs.shape[0]):
            a, b = pairs[k, 0], pairs[k, 1]
            in_order = labels[a, KIND] <= labels[b, KIND]
            sign = 1.0 if in_order else -1.0
            numbers[MARGIN] = FAR
            load(geometry.constants, labels, scratch.poses, a, 0 if in_order else 1, numbers, integers)
            load(geometry.constants, labels, scratch.poses, b, 1 if in_order else 0, numbers, integers)
            address = routine[integers[4], integers[5]]
            count = call(address, numbers, integers, geometry.shape_numbers, geometry.shape_integers)
            at = AT_HITS
            for hit in range(1, count):
                if numbers[AT_HITS + 7 * hit + 6] < numbers[at + 6]:
                    at = AT_HITS + 7 * hit
            out[state, k, 0] = numbers[at + 6]
            for i in range(3):
                out[state, k, 1 + i], out[state, k, 4 + i] = sign * numbers[at + 3 + i], numbers[at + i]
    return 0
