"""Small vectors as tuples of three floats: they live in registers, and the same lines run as plain Python."""

import math

from linkwork.codegen.jit import jit_inline

TINY = 1e-300


@jit_inline
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit_inline
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@jit_inline
def plus(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@jit_inline
def minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@jit_inline
def times(s, a):
    return (s * a[0], s * a[1], s * a[2])


@jit_inline
def along(p, s, d):
    """p + s d."""
    return (p[0] + s * d[0], p[1] + s * d[1], p[2] + s * d[2])


@jit_inline
def length(a):
    return math.sqrt(dot(a, a))


@jit_inline
def turn(R, a):
    """R a, from the local frame to the world."""
    return (
        R[0, 0] * a[0] + R[0, 1] * a[1] + R[0, 2] * a[2],
        R[1, 0] * a[0] + R[1, 1] * a[1] + R[1, 2] * a[2],
        R[2, 0] * a[0] + R[2, 1] * a[1] + R[2, 2] * a[2],
    )


@jit_inline
def turn_back(R, a):
    """R^T a, from the world to the local frame."""
    return (
        R[0, 0] * a[0] + R[1, 0] * a[1] + R[2, 0] * a[2],
        R[0, 1] * a[0] + R[1, 1] * a[1] + R[2, 1] * a[2],
        R[0, 2] * a[0] + R[1, 2] * a[1] + R[2, 2] * a[2],
    )


@jit_inline
def axis(R, j):
    """Column j of R: a local axis in the world."""
    return (R[0, j], R[1, j], R[2, j])


@jit_inline
def row(array, i):
    """Row i of an array (n, 3)."""
    return (array[i, 0], array[i, 1], array[i, 2])


@jit_inline
def across(a):
    """A unit vector perpendicular to a, which is not zero; continuous but where the smallest entry changes."""
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    if x <= y and x <= z:
        other = (1.0, 0.0, 0.0)
    elif y <= z:
        other = (0.0, 1.0, 0.0)
    else:
        other = (0.0, 0.0, 1.0)
    c = cross(a, other)
    return times(1.0 / length(c), c)


@jit_inline
def tangent(n):
    """A unit vector across a unit vector; near the axes, where most normals are, it turns with it."""
    t = cross(n, (0.6, 0.64, 0.48))
    if dot(t, t) < 1e-2:
        t = cross(n, (0.64, -0.6, 0.48))
    return times(1.0 / length(t), t)


@jit_inline
def unit(a, otherwise):
    """a / |a|, or `otherwise` where a has no direction."""
    largest = max(abs(a[0]), abs(a[1]), abs(a[2]))
    if not largest > TINY:
        return otherwise
    a = times(1.0 / largest, a)
    return times(1.0 / length(a), a)


@jit_inline
def clamped(x, low, high):
    return low if x < low else (high if x > high else x)


@jit_inline
def long(x, y):
    """The length of (x, y): nothing here is so large or small that its square would not do."""
    return math.sqrt(x * x + y * y)
