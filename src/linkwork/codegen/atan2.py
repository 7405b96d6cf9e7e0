"""atan2 as straight-line code, within two units of the last place: no call in the middle of a kernel, and lanes side by side.

atan(u) = u + u^3 P(u^2) for |u| <= tan(pi/8); P interpolates at Chebyshev's points, to 5e-18. Larger quotients are taken from
pi/4 or pi/2.
"""

from __future__ import annotations

import math

COEFFICIENTS = (
    -0.3333333333333333, 0.1999999999999552, -0.14285714284666542, 0.11111111015256361, -0.09090904578123901,
    0.07692183190826087, -0.06664511447381939, 0.05858148912802137, -0.05085449737939879, 0.039231658295576184,
    -0.019176887119048774,
)  # fmt: skip
STEEP = math.tan(math.pi / 8)


def arctangent(out, y, x):
    """The angle of the point (x, y), in [-pi, pi], by the operations of an Emitter."""
    constant = out.constant
    across, up = out.intrinsic("fabs", [x]), out.intrinsic("fabs", [y])
    steep = out.compare("ogt", up, across)
    large, small = out.select(steep, up, across), out.select(steep, across, up)
    diagonal = out.compare("ogt", small, out.fmul(constant(STEEP), large))
    below = out.select(diagonal, out.fadd(small, large), large)
    nowhere = out.compare("oeq", below, constant(0.0))
    u = out.fdiv(out.select(diagonal, out.fsub(small, large), small), out.select(nowhere, constant(1.0), below))
    angle = out.fadd(_near_zero(out, u), out.select(diagonal, constant(math.pi / 4), constant(0.0)))
    angle = out.select(steep, out.fsub(constant(math.pi / 2), angle), angle)
    behind = out.compare("olt", out.intrinsic("copysign", [constant(1.0), x]), constant(0.0))
    return out.intrinsic("copysign", [out.select(behind, out.fsub(constant(math.pi), angle), angle), y])


def _near_zero(out, u):
    """u + u^3 P(u^2), terms in pairs: a shorter chain of operations than Horner's."""

    def fma(*values):
        return out.intrinsic("fma", list(values))

    c = [out.constant(x) for x in COEFFICIENTS]
    z = out.fmul(u, u)
    z2 = out.fmul(z, z)
    z4 = out.fmul(z2, z2)
    pairs = [fma(c[k + 1], z, c[k]) for k in range(0, 10, 2)]
    low, middle, high = fma(pairs[1], z2, pairs[0]), fma(pairs[3], z2, pairs[2]), fma(c[10], z2, pairs[4])
    series = fma(z4, fma(z4, high, middle), low)
    return fma(out.fmul(u, z), series, u)
