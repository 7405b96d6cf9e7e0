"""Body kinds by name."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.elements import bodies
from linkwork.elements.core.families import of_family
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
FAMILIES: dict[type, Callable[..., BodyKind]] = {
    bodies.RigidBody: lambda body: KINDS["RigidBody"],
    bodies.Particle: lambda body: KINDS["Particle"],
    bodies.ScalableBody: lambda body: KINDS["ScalableBody"],
    bodies.AffineBody: lambda body: KINDS["AffineBody"],
    bodies.PlanarBody: lambda body: KINDS[f"PlanarBody-{body.plane}"],
    bodies.PlanarParticle: lambda body: KINDS[f"PlanarParticle-{body.plane}"],
    LagrangianBody: lagrangian,
}
RIGID: Rigid = KINDS["RigidBody"]  # type: ignore[assignment]


def kind_of(body) -> BodyKind:
    """The kind of a body element."""
    return of_family(FAMILIES, body)(body)
