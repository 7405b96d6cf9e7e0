"""The kinds of linkwork's bodies by name, but for Lagrangian ones, of which there is one a function."""

from linkwork.elements.bodies.affine import Affine
from linkwork.elements.bodies.particle import ParticleKind
from linkwork.elements.bodies.planar import PLANES, PlanarKind, PlanarParticleKind
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.bodies.scalable import Scalable

KINDS = {
    kind.name: kind
    for kind in (
        RIGID,
        *(cls.of(None) for cls in (ParticleKind, Scalable, Affine)),
        *(cls.in_plane(plane) for plane in PLANES for cls in (PlanarKind, PlanarParticleKind)),
    )
}
