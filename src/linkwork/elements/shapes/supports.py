"""Support functions of linkwork's shapes: the point of a solid that is farthest along a direction.

Plain functions of tuples, which collision compiles. They stand apart from their shapes and import nothing of linkwork, because
compiled code is kept under the digest of all sources that it imports: else a word in a shape's docstring would compile contact
anew. `*_core` is the same of a solid without its roundness: of a capsule its axis, of a sphere its centre.
"""

from __future__ import annotations

import math


def box(numbers: tuple[float, ...], direction: tuple[float, float, float]) -> tuple[float, float, float]:
    """Half lengths."""
    return (
        numbers[0] if direction[0] >= 0.0 else -numbers[0],
        numbers[1] if direction[1] >= 0.0 else -numbers[1],
        numbers[2] if direction[2] >= 0.0 else -numbers[2],
    )


def cylinder(numbers: tuple[float, ...], direction: tuple[float, float, float]) -> tuple[float, float, float]:
    """Radius, half length."""
    around = math.hypot(direction[0], direction[1])
    scale = numbers[0] / around if around > 0.0 else 0.0
    return (direction[0] * scale, direction[1] * scale, numbers[1] if direction[2] >= 0.0 else -numbers[1])


def ellipsoid(numbers: tuple[float, ...], direction: tuple[float, float, float]) -> tuple[float, float, float]:
    """Half axes."""
    e = (numbers[0] * direction[0], numbers[1] * direction[1], numbers[2] * direction[2])
    far = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    scale = 1.0 / far if far > 0.0 else 0.0
    return (numbers[0] * e[0] * scale, numbers[1] * e[1] * scale, numbers[2] * e[2] * scale)


def capsule_core(numbers: tuple[float, ...], direction: tuple[float, float, float]) -> tuple[float, float, float]:
    """Radius, half length."""
    return (0.0, 0.0, numbers[1] if direction[2] >= 0.0 else -numbers[1])


def capsule(numbers: tuple[float, ...], direction: tuple[float, float, float]) -> tuple[float, float, float]:
    """Radius, half length. It calls no other function: contact compiles it alone for bodies that stretch."""
    far = math.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    scale = numbers[0] / far if far > 0.0 else 0.0
    end = numbers[1] if direction[2] >= 0.0 else -numbers[1]
    return (direction[0] * scale, direction[1] * scale, end + direction[2] * scale)


def sphere(numbers: tuple[float, ...], direction: tuple[float, float, float]) -> tuple[float, float, float]:
    """Radius."""
    far = math.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    scale = numbers[0] / far if far > 0.0 else 0.0
    return (direction[0] * scale, direction[1] * scale, direction[2] * scale)
