"""Body kinds by name."""

from __future__ import annotations

from linkwork.elements.lagrangian import LagrangianBody
from linkwork.symbolic.bodies import BodyKind
from linkwork.symbolic.flat import PLANES, Particle, Planar, PlanarParticle
from linkwork.symbolic.lagrangian import lagrangian
from linkwork.symbolic.rigid import Rigid
from linkwork.symbolic.stretching import Affine, Scalable


def _kinds() -> dict[str, BodyKind]:
    kinds: list[BodyKind] = [Rigid(), Particle(), Scalable(), Affine()]
    for plane in PLANES:
        kinds += [Planar(plane), PlanarParticle(plane)]
    return {kind.name: kind for kind in kinds}


KINDS = _kinds()
RIGID: Rigid = KINDS["RigidBody"]  # type: ignore[assignment]


def kind_of(body) -> BodyKind:
    """The kind of a body element."""
    if isinstance(body, LagrangianBody):
        return lagrangian(body)
    name = type(body).__name__
    return KINDS[f"{name}-{body.plane}" if name in ("PlanarBody", "PlanarParticle") else name]
