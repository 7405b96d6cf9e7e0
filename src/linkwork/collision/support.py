"""Support functions of convex solids in the world.

Those of linkwork's shapes are compiled in here. One from outside is called by its address, so that neither contact nor a
routine for a pair of kinds is compiled anew for it.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from linkwork.codegen.jit import INTERPRETED, jit_inline, jit_inner
from linkwork.collision.layout import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE
from linkwork.collision.vectors import plus, turn, turn_back
from linkwork.elements.shapes import supports

NUMBERS = 9  # of a support function from outside

if INTERPRETED:
    _SUPPORTS: list[Callable] = []

    def support_address(support: Callable) -> int:
        """What `call_support` takes for a support function."""
        if support not in _SUPPORTS:
            _SUPPORTS.append(support)
        return 1 + _SUPPORTS.index(support)

    def call_support(address, numbers, direction):
        return _SUPPORTS[address - 1](numbers, direction)

else:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    from linkwork.codegen.jit import address_for

    _POINT, _GIVEN = (
        types.UniTuple(types.float64, 3),
        (types.UniTuple(types.float64, NUMBERS), types.UniTuple(types.float64, 3)),
    )

    @cache
    def support_address(support: Callable) -> int:
        """The address of a support function, compiled now or found on disk."""
        return address_for(support, _POINT, _GIVEN)

    @intrinsic
    def call_support(typing_context, address, numbers, direction):
        """The point that a support function gives, which is called by its address."""

        def generate(context, builder, signature, arguments):
            function = context.call_conv.get_function_type(_POINT, _GIVEN)
            pointer = builder.inttoptr(arguments[0], function.as_pointer())
            status, result = context.call_conv.call_function(builder, pointer, _POINT, _GIVEN, arguments[1:])
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        return _POINT(types.int64, *_GIVEN), generate


_box, _cylinder, _ellipsoid, _capsule = (
    jit_inline(f) for f in (supports.box, supports.cylinder, supports.ellipsoid, supports.capsule_core)
)


class Solid(NamedTuple):
    """A convex solid in the world. One from outside has another type, with numbers (9,) in the place of vertices: so code for
    linkwork's own shapes is compiled without it, and is as fast as if it were not there."""

    kind: int
    size: tuple  # (3,) m: half lengths, or radius and half length
    R: np.ndarray  # (3, 3)
    p: tuple  # (3,) m
    first: int  # of its vertices; of CONVEX, the address of its support function
    vertex_count: int
    vertices: np.ndarray  # (V, 3) m, local: those of all hulls; of CONVEX, its numbers (9,)


@jit_inline
def _farthest(vertices, first, count, d):
    """The vertex of a hull that is farthest along a local direction; or what the support function at address `first` says."""
    if vertices.ndim == 1:
        n = vertices
        return call_support(first, (n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]), d)
    best, farthest = first, -np.inf
    for i in range(first, first + count):
        reach = vertices[i, 0] * d[0] + vertices[i, 1] * d[1] + vertices[i, 2] * d[2]
        if reach > farthest:
            best, farthest = i, reach
    return (vertices[best, 0], vertices[best, 1], vertices[best, 2])


@jit_inner
def core_support(solid, direction):
    """The point of the core that is farthest along a direction, m."""
    R, size, kind = solid.R, solid.size, solid.kind
    if kind == SPHERE:
        return solid.p
    d = turn_back(R, direction)
    if kind == CAPSULE:
        local = _capsule(size, d)
    elif kind == BOX:
        local = _box(size, d)
    elif kind == CYLINDER:
        local = _cylinder(size, d)
    elif kind == ELLIPSOID:
        local = _ellipsoid(size, d)
    else:
        local = _farthest(solid.vertices, solid.first, solid.vertex_count, d)
    return plus(solid.p, turn(R, local))
