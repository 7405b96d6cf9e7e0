"""The <visual> and <collision> of links: shapes and meshes on bodies and on the ground."""

import math
from dataclasses import dataclass, field
from typing import Any

from linkwork.elements import Box, Capsule, Collider, Cylinder, Sphere, Visual
from linkwork.errors import LinkworkError
from linkwork.formats.mesh_files import MeshError, hull, read_mesh, scaled, whole
from linkwork.formats.numbers import shown
from linkwork.formats.paths import Folders, Missing, Outside

SHAPES = {"box": Box, "sphere": Sphere, "cylinder": Cylinder, "capsule": Capsule}


@dataclass
class Geometry:
    """Adds what is seen and what touches; every mesh is read once."""

    building: Any  # has `world`, `reading`, `add` and `free_name`
    folders: Folders
    group: str | None  # of colliders that do not touch each other
    as_found: bool  # meshes that are missing or broken are left out, and told; else they are refused
    known: dict = field(default_factory=dict)  # what was made of meshes so far, by what was asked for

    def add_visual(self, body, link, place, solid):
        if solid.kind == "mesh":
            parts = [(surface.mesh(), surface.color) for surface in self._surfaces(solid, "visual", link)]
        else:
            parts = [(shape, None) for shape in self._shape(solid, "visual", link)]
        for shape, color in parts:
            name = self.building.free_name(f"{link.name} {solid.name or 'visual'}")
            self.building.add(solid.line, Visual, body, shape, position=place.x, orientation=quaternion(place.R),
                              color=solid.color or color, name=name)  # fmt: skip

    def add_collider(self, body, link, place, solid):
        stands = body is self.building.world.ground
        found = self._solid(solid, link, stands) if solid.kind == "mesh" else self._shape(solid, "collision", link)
        said = {word: getattr(link, word) for word in ("friction", "restitution", "torsion", "rolling")}
        said = {word: value for word, value in said.items() if value is not None}
        for shape in found:
            centre = place.R @ shape.centre if solid.kind == "mesh" and not stands else 0.0
            name = self.building.free_name(f"{link.name} {solid.name or 'collision'}")
            self.building.add(solid.line, Collider, body, shape, position=place.x + centre, orientation=quaternion(place.R),
                              group=self.group, name=name, **said)  # fmt: skip

    def _shape(self, solid, what, link):
        """[its shape], or nothing, which is told."""
        try:
            return [SHAPES[solid.kind](*solid.sizes)]
        except LinkworkError as error:
            self.building.reading.remark(solid.line, f'<{what}> of link "{shown(link.name)}"', f"it is left out: {error}")
            return []

    def _solid(self, solid, link, stands):
        """[the convex hull of a mesh], or its surface where it stands on the ground; or nothing, which is told."""
        surfaces = self._surfaces(solid, "collision", link)
        try:
            make = whole if stands else hull
            return [self._once((solid.address, solid.scale, stands), lambda: make(surfaces))] if surfaces else []
        except MeshError as error:
            self._leave_out(solid, _named(solid, "collision", link), error)
            return []

    def _surfaces(self, solid, what, link):
        """The surfaces of a mesh, or none: what is missing or cannot be used is refused, or told."""
        reading, named = self.building.reading, _named(solid, what, link)
        try:
            path = self._once(solid.address, lambda: self.folders.find(solid.address))
            found = self._once((path, solid.scale), lambda: scaled(self._once(path, lambda: read_mesh(path)), solid.scale))
        except Outside as error:
            reading.fail(solid.line, f"{named} is not read", str(error))
        except (Missing, MeshError) as error:
            self._leave_out(solid, named, error)
            return []
        dropped = sum(surface.dropped for surface in found)
        if dropped:
            reading.remark(solid.line, named, f"{dropped} of its triangles have no area, and are left out")
        return found

    def _leave_out(self, solid, named, error):
        reading = self.building.reading
        if not self.as_found:
            reading.fail(solid.line, f"{named} cannot be used", f'{error}, or give meshes="as found" to leave it out')
        reading.remark(solid.line, named, f"it is left out: {error}")

    def _once(self, key, make):
        """What is made for a key, kept for the next time; so is what is wrong with it."""
        if key not in self.known:
            try:
                self.known[key] = make()
            except (Missing, MeshError) as error:
                self.known[key] = error
        if isinstance(self.known[key], Exception):
            raise self.known[key]
        return self.known[key]


def _named(solid, what, link):
    return f'{what} mesh "{shown(solid.address)}" of link "{shown(link.name)}"'


def quaternion(R):
    """(4,): w, x, y, z of a rotation (3, 3), from the largest of the four: scipy takes fifty times as long for one."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)  # four times those of w, x, y, z
    largest = max(range(4), key=squares.__getitem__)
    rows = ((squares[0], h - f, c - g, d - b), (h - f, squares[1], b + d, c + g), (c - g, b + d, squares[2], f + h),
            (d - b, c + g, f + h, squares[3]))  # fmt: skip
    scale = 0.5 / math.sqrt(squares[largest])
    return tuple(scale * x for x in rows[largest])
