"""Surfaces from mesh files, within bounds: STL, OBJ and DAE."""

import io
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from linkwork.elements import ConvexHull, Mesh
from linkwork.elements.shapes.mesh import THIN_TRIANGLE
from linkwork.errors import FileError, LinkworkError
from linkwork.formats.source import read

MOST_BYTES = 64 * 2**20  # of one mesh file
MOST_TRIANGLES = 2_000_000
MOST_MATERIAL_BYTES = 2**20  # of the file of materials beside an OBJ
FARTHEST = 1e9  # m: no coordinate lies beyond

STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
STL_HEADER = 84
DAE_GEOMETRY = re.compile(rb"""<(?:\w{1,20}:)?geometry\b[^>]{0,500}?\bid\s?=\s?["']([^"'>]{0,500})""")
DAE_INSTANCE = re.compile(rb"""instance_geometry\b[^>]{0,500}?\burl\s?=\s?["']#([^"'>]{0,500})""")
STL_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", re.IGNORECASE)


class MeshError(Exception):
    """A mesh that cannot be used: says why."""


@dataclass(frozen=True)
class Surface:
    """Triangles of one colour."""

    vertices: np.ndarray  # (v, 3), m
    triangles: np.ndarray  # (t, 3)
    color: tuple | None = None  # red, green, blue, opacity
    dropped: int = 0  # triangles without an area, which are left out

    def mesh(self):
        """It as a shape."""
        return Mesh(self.vertices, self.triangles)


def read_mesh(path):
    """The Surfaces in a file, one for each colour; MeshError says what is wrong with it."""
    reader = {".stl": _stl, ".obj": _by_trimesh, ".dae": _by_trimesh}.get(path.suffix.lower())
    if reader is None:
        raise MeshError(f'"{path.suffix}" is no kind of mesh that is read; give .stl, .obj or .dae')
    try:
        data = read(path, MOST_BYTES)
    except FileError as error:
        raise MeshError(str(error)) from None
    found = reader(data, path)
    if sum(len(surface.triangles) for surface in found) > MOST_TRIANGLES:
        raise MeshError(f"it has more than {MOST_TRIANGLES} triangles; simplify it")
    by_color: dict[tuple | None, list[Surface]] = {}
    for surface in found:
        by_color.setdefault(surface.color, []).append(surface)
    return [_checked(_joined(surfaces)) for surfaces in by_color.values()]


def scaled(surfaces, scale):
    """Surfaces stretched along the three axes, without the triangles that then have no area. A mirror image is turned inside
    out, so that its outside stays outside."""
    found = []
    for surface in surfaces:
        vertices = surface.vertices * scale
        triangles = surface.triangles if np.prod(np.sign(scale)) > 0 else surface.triangles[:, ::-1]
        kept = triangles[_has_area(vertices, triangles)]
        if len(kept):
            found.append(replace(surface, vertices=vertices, triangles=kept, dropped=len(triangles) - len(kept)))
    if not found:
        raise MeshError("none of its triangles has an area")
    return found


def hull(surfaces):
    """The smallest convex solid around surfaces, or a MeshError if they are flat."""
    try:
        return ConvexHull(np.concatenate([surface.vertices for surface in surfaces]))
    except LinkworkError as error:
        raise MeshError(str(error)) from None


def whole(surfaces):
    """Surfaces as one Mesh."""
    return _joined(surfaces).mesh()


def _joined(surfaces):
    """Surfaces as one, of the colour of the first."""
    if len(surfaces) == 1:
        return surfaces[0]
    starts = np.cumsum([0, *(len(surface.vertices) for surface in surfaces)])[:-1]
    triangles = [surface.triangles + start for surface, start in zip(surfaces, starts, strict=True)]
    vertices = np.concatenate([surface.vertices for surface in surfaces])
    return Surface(vertices, np.concatenate(triangles), surfaces[0].color)


def _has_area(vertices, triangles):
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.maximum(np.linalg.norm(b - a, axis=1), np.linalg.norm(c - a, axis=1))
    return area > THIN_TRIANGLE * longest**2


def _checked(surface):
    """A surface whose numbers are in bounds, equal vertices merged."""
    vertices, triangles = np.asarray(surface.vertices), np.asarray(surface.triangles)
    if vertices.ndim != 2 or vertices.shape[1:] != (3,) or triangles.ndim != 2 or triangles.shape[1:] != (3,):
        raise MeshError("it is no list of triangles")
    if not len(triangles):
        raise MeshError("it has no triangles")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise MeshError(f"a triangle names vertex {int(triangles.max())} of {len(vertices)}")
    if not np.abs(vertices).max() <= FARTHEST:  # also where one is NaN
        raise MeshError(f"a vertex is not finite, or beyond {FARTHEST:g}")
    rows = np.ascontiguousarray(vertices + 0.0)  # -0.0 becomes 0.0: vertices are compared by their bytes
    _, first, where = np.unique(rows.view(f"V{3 * rows.itemsize}").ravel(), return_index=True, return_inverse=True)
    return replace(surface, vertices=rows[first].astype(float), triangles=where.reshape(-1)[triangles])


def _stl(data, path):
    count = int.from_bytes(data[80:STL_HEADER], "little")
    if len(data) == STL_HEADER + count * STL_TRIANGLE.itemsize:
        corners = np.frombuffer(data, STL_TRIANGLE, offset=STL_HEADER)["corners"].reshape(-1, 3)
    elif data[:256].lstrip()[:5].lower() == b"solid" and STL_VERTEX.search(data):
        corners = _stl_as_text(data)
    else:
        room = max(0, len(data) - STL_HEADER) // STL_TRIANGLE.itemsize
        raise MeshError(f"it says that it has {count} triangles, and has room for {room}")
    return [Surface(corners, np.arange(len(corners)).reshape(-1, 3))]


def _stl_as_text(data):
    found = STL_VERTEX.findall(data)
    if len(found) != 3 * len(re.findall(rb"endfacet", data, re.IGNORECASE)):
        raise MeshError("it ends within a triangle")
    try:
        return np.array(found).astype(float)
    except ValueError as error:
        raise MeshError(f"one of its vertices is no number ({error})") from None


def _by_trimesh(data, path):
    kind = path.suffix.lower()[1:]
    beside = {} if kind == "dae" else _materials(data, path.parent)
    if kind == "dae":
        data = _harmless(data)
    try:
        import trimesh
    except ImportError:
        raise MeshError(f'.{kind} files need trimesh; install "linkwork[robots]"') from None
    try:
        with np.errstate(all="ignore"):  # what overflows is found in the vertices
            scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=beside, process=False)
            found = [_surface(part) for part in scene.dump() if isinstance(part, trimesh.Trimesh) and len(part.faces)]
    except Exception as error:  # whatever it stumbles over in a broken file
        raise MeshError(f"trimesh cannot read it ({type(error).__name__}: {str(error)[:80]})") from None
    if not found:
        raise MeshError("trimesh finds no triangles in it")
    return found


def _materials(data, folder):
    """name -> bytes of the file of materials that an OBJ names, if it lies in the same folder: all that trimesh gets to see."""
    named = re.search(rb"^mtllib\s[^\n\0]*", data, re.MULTILINE)
    name = named.group()[6:].strip().decode(errors="replace") if named else ""
    path = Path(os.path.realpath(folder / name))
    if path.suffix.lower() != ".mtl" or path.parent != Path(os.path.realpath(folder)) or not path.is_file():
        return {}
    try:
        return {name: read(path, MOST_MATERIAL_BYTES)}
    except FileError as error:
        raise MeshError(str(error)) from None


def _harmless(data):
    """A COLLADA text without what could make it refer to other files, or grow."""
    if b"\0" in data:
        raise MeshError("it is no UTF-8 text")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise MeshError("it declares a document type; remove <!DOCTYPE ...>: entities are not read")
    if _written_out(data) > MOST_BYTES:
        raise MeshError(f"its instances of geometries, written out, have more than {MOST_BYTES / 2**20:.0f} MB")
    return re.sub(rb"^(\xef\xbb\xbf)?\s*<\?xml.*?\?>", b"", data, count=1, flags=re.DOTALL)  # so that it is read as UTF-8


def _written_out(data):
    """How many bytes the geometries of a COLLADA text have at most, each as often as it is placed.

    Instances of nodes multiply where they stand in each other: k of them make at most 3^(k/3) copies.
    """
    found = [(match.start(), match.group(1)) for match in DAE_GEOMETRY.finditer(data)]
    ends = [start for start, _ in [*found, (len(data), b"")][1:]]
    sizes = {name: end - start for (start, name), end in zip(found, ends, strict=True)}
    placed = sum(sizes.get(match.group(1), len(data)) for match in DAE_INSTANCE.finditer(data))
    return placed * 3.0 ** min(data.count(b"instance_node") / 3, 100)


def _surface(part):
    """A part of trimesh's scene as a Surface, in metres."""
    unit = re.match(r"([-+.\deE]+) \* meters", str(part.metadata.get("units") or ""))
    vertices = np.asarray(part.vertices) * (float(unit.group(1)) if unit else 1.0)
    return Surface(vertices, np.asarray(part.faces), _color(part.visual))


def _color(visual):
    if visual is None or not visual.defined:
        return None
    main = getattr(getattr(visual, "material", visual), "main_color", None)
    return None if main is None else tuple(float(x) / 255 for x in main)
