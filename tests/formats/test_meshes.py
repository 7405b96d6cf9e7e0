"""Mesh files: what they say, and what is wrong with them; paths that models name."""

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from linkwork.formats import mesh_files
from linkwork.formats.mesh_files import MeshError, hull, read_mesh, scaled, whole
from linkwork.formats.paths import Folders, Missing, Outside

SEEDS = Path(__file__).parent / "seeds"
CORNERS = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])


def binary_stl(triangles, count=None):
    """A binary STL of triangles (t, 3, 3), which says that it has `count` of them."""
    head = bytes(80) + struct.pack("<I", len(triangles) if count is None else count)
    return head + b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(triangle), 0) for triangle in triangles)


def text_stl(triangles):
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in triangle) + "endloop\nendfacet\n"
        for triangle in triangles
    )
    return f"solid a\n{facets}endsolid a\n".encode()


def instances(geometries, nodes):
    """A DAE that places its geometry so many times more, and has so many instances of nodes."""
    more = b'<instance_geometry url="#wedge"/>' * geometries + b'<instance_node url="#node"/>' * nodes
    return (SEEDS / "frame.dae").read_bytes().replace(b"</node>", more + b"</node>")


WEDGE = CORNERS[[(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]]


def volume(surfaces):
    """Of what they enclose: negative where they are inside out."""
    return sum(np.linalg.det(surface.vertices[triangle]) for surface in surfaces for triangle in surface.triangles) / 6


@pytest.mark.parametrize("name", ["wedge.stl", "block.obj", "frame.dae"])
def test_formats(name):
    found = read_mesh(SEEDS / name)
    wanted = {"wedge.stl": 1e-3 / 6, "block.obj": 4e-3, "frame.dae": 1e-3 / 6}[name]
    assert len(found) == 1 and np.isclose(volume(found), wanted, rtol=1e-6)


def test_text_and_binary_stl_say_the_same(tmp_path):
    (tmp_path / "a.stl").write_bytes(text_stl(WEDGE))
    (tmp_path / "b.STL").write_bytes(binary_stl(WEDGE))
    (a,), (b,) = read_mesh(tmp_path / "a.stl"), read_mesh(tmp_path / "b.STL")
    assert len(a.vertices) == len(b.vertices) == 4 and len(a.triangles) == 4
    assert np.isclose(volume([a]), volume([b]), rtol=1e-6)


def test_a_dae_has_units_places_and_colours():
    (surface,) = read_mesh(SEEDS / "frame.dae")
    assert surface.color == (1, 0, 0, 1)
    assert np.allclose(surface.vertices.min(axis=0), (0, 0, 0.1)) and np.allclose(surface.vertices.max(axis=0), (0.1, 0.1, 0.2))


def test_an_obj_has_the_colours_of_materials_beside_it_and_of_none_elsewhere(tmp_path):
    (tmp_path / "robot").mkdir()
    for folder in (tmp_path, tmp_path / "robot"):
        (folder / "a.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\nmap_Kd /etc/hostname\n")
    lines = (SEEDS / "block.obj").read_text().splitlines()
    faces = [k for k, line in enumerate(lines) if line.startswith("f")]
    lines.insert(faces[6], "usemtl blue")
    lines.insert(faces[0], "usemtl red")

    def colors(library):
        (tmp_path / "robot" / "a.obj").write_text("\n".join([f"mtllib {library}", *lines, ""]))
        return {surface.color for surface in read_mesh(tmp_path / "robot" / "a.obj")}

    assert colors("a.mtl") == {(1, 0, 0, 1), (0, 0, 1, 1)}
    assert not {(1, 0, 0, 1), (0, 0, 1, 1)} & colors("../a.mtl")
    (tmp_path / "robot" / "a.mtl").unlink()
    (tmp_path / "robot" / "a.mtl").symlink_to(tmp_path / "a.mtl")
    assert not {(1, 0, 0, 1), (0, 0, 1, 1)} & colors("a.mtl")


def test_surfaces_of_one_colour_are_one(tmp_path):
    text = (SEEDS / "frame.dae").read_text()
    node = text[text.index("<node") : text.index("</visual_scene>")]
    (tmp_path / "two.dae").write_text(
        text.replace(node, node + node.replace('id="node"', 'id="other"').replace("0 0 10", "0 0 30"))
    )
    (surface,) = read_mesh(tmp_path / "two.dae")
    assert len(surface.triangles) == 8 and np.isclose(volume([surface]), 2e-3 / 6)


def test_scales_and_mirrors_keep_the_outside_outside():
    found = read_mesh(SEEDS / "wedge.stl")
    assert np.isclose(volume(scaled(found, (2, 3, 4))), 24 * volume(found))
    assert np.isclose(volume(scaled(found, (-2, 3, 4))), 24 * volume(found))


def test_triangles_without_area_are_dropped_and_counted(tmp_path):
    thin = [CORNERS[[0, 1, 1]], [(0, 0, 0), (1, 1, 1), (2, 2, 2)]]
    (tmp_path / "a.stl").write_bytes(binary_stl([*WEDGE, *thin]))
    (surface,) = scaled(read_mesh(tmp_path / "a.stl"), (1, 1, 1))
    assert surface.dropped == 2 and len(surface.mesh().triangles) == 4
    with pytest.raises(MeshError, match="none of its triangles has an area"):
        scaled(read_mesh(tmp_path / "a.stl"), (0, 0, 1))


def test_hulls_and_whole_surfaces(tmp_path):
    found = scaled(read_mesh(SEEDS / "wedge.stl"), (1, 1, 1))
    assert np.isclose(hull(found).volume, 1e-3 / 6, rtol=1e-6) and np.isclose(
        whole([*found, *found]).volume, 2e-3 / 6, rtol=1e-6
    )
    (tmp_path / "flat.stl").write_bytes(binary_stl(WEDGE[:1]))
    with pytest.raises(MeshError, match="enclose no volume"):
        hull(read_mesh(tmp_path / "flat.stl"))


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.stl", binary_stl(WEDGE, 5), "it says that it has 5 triangles, and has room for 4"),
        ("a.stl", binary_stl(WEDGE, 2**32 - 1), "it says that it has 4294967295 triangles, and has room for 4"),
        ("a.stl", binary_stl(WEDGE, 1), "it says that it has 1 triangles, and has room for 4"),
        ("a.stl", binary_stl(WEDGE)[:-7], "it says that it has 4 triangles, and has room for 3"),
        ("a.stl", b"", "it says that it has 0 triangles, and has room for 0"),
        ("a.stl", binary_stl([]), "it has no triangles"),
        ("a.stl", binary_stl([[(0, 0, 0), (1, 0, 0), (0, np.nan, 0)]]), "a vertex is not finite, or beyond 1e\\+09"),
        ("a.stl", binary_stl([[(0, 0, 0), (1, 0, 0), (0, 1e30, 0)]]), "a vertex is not finite, or beyond 1e\\+09"),
        ("a.stl", text_stl(WEDGE)[:300], "it ends within a triangle"),
        ("a.stl", text_stl(WEDGE).replace(b"vertex 0.1 0.0 0.0", b"vertex 0.1 x 0.0"), "one of its vertices is no number"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "trimesh cannot read it|names vertex"),
        ("a.obj", b"nothing", "trimesh"),
        ("a.dae", b"<COLLADA", "trimesh cannot read it"),
        ("a.dae", b'<!DOCTYPE r [<!ENTITY a "b">]><COLLADA/>', "it declares a document type"),
        ("a.dae", instances(2**17, 0), "its instances of geometries, written out, have more than 64 MB"),
        ("a.dae", instances(1, 60), "its instances of geometries, written out, have more than 64 MB"),
        ("a.dae", "<COLLADA/>".encode("utf-16"), "it is no UTF-8 text"),
        ("a.dae", (SEEDS / "frame.dae").read_bytes().replace(b"0 0 10</translate>", b"0 1e308 10</translate>"), "a vertex is not finite"),
        ("a.mesh", b"", '".mesh" is no kind of mesh that is read; give .stl, .obj or .dae'),
    ],
)  # fmt: skip
def test_broken_files_say_why(tmp_path, name, data, problem):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MeshError, match=problem):
        read_mesh(tmp_path / name)


def test_bounds_of_size(tmp_path, monkeypatch):
    (tmp_path / "a.stl").write_bytes(binary_stl(WEDGE))
    monkeypatch.setattr(mesh_files, "MOST_TRIANGLES", 3)
    with pytest.raises(MeshError, match="more than 3 triangles"):
        read_mesh(tmp_path / "a.stl")
    monkeypatch.setattr(mesh_files, "MOST_BYTES", 100)
    with pytest.raises(MeshError, match="files of at most 0 MB are read"):
        read_mesh(tmp_path / "a.stl")


@pytest.fixture
def package(tmp_path):
    """A package beside another one, each with a model and a mesh; a secret outside of both."""
    for name in ("robot", "gripper"):
        for folder in ("urdf", "meshes"):
            (tmp_path / "src" / name / folder).mkdir(parents=True)
        shutil.copy(SEEDS / "wedge.stl", tmp_path / "src" / name / "meshes" / "a.stl")
        (tmp_path / "src" / name / "package.xml").write_text("<package/>")
    (tmp_path / "secret.stl").write_text("")
    return tmp_path / "src" / "robot"


def test_addresses_that_are_found(package, monkeypatch):
    mesh, other = package / "meshes" / "a.stl", package.parent / "gripper" / "meshes" / "a.stl"
    folders = Folders(package / "urdf" / "robot.urdf", {})
    for address in (
        "../meshes/a.stl",
        f"file://{mesh}",
        "package://robot/meshes/a.stl",
        "package:///robot/meshes/a.stl",
        str(mesh),
    ):
        assert folders.find(address) == mesh, address
    assert folders.find("package://gripper/meshes/a.stl") == other
    (package / "package.xml").unlink()
    assert Folders(package / "urdf" / "robot.urdf", {}).find("../meshes/a.stl") == mesh, "a folder named urdf is in a package"
    assert folders.find("package://robot/meshes/a.stl") == mesh
    (other.parents[1] / "package.xml").unlink()
    with pytest.raises(Missing, match='there is no package "gripper" around it; give packages={"gripper": folder}'):
        folders.find("package://gripper/meshes/a.stl")
    assert (
        Folders(package / "urdf" / "robot.urdf", {"gripper": other.parents[1]}).find("package://gripper/meshes/a.stl") == other
    )
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{package.parent}")
    assert folders.find("package://gripper/meshes/a.stl") == other


@pytest.mark.parametrize(
    "address",
    ["../../../secret.stl", "package://robot/../../secret.stl", "package://../x", "link.stl", "../../gripper/meshes/a.stl"],
)
def test_paths_that_climb_out_are_not_followed(package, address):
    (package / "urdf" / "link.stl").symlink_to(package.parents[1] / "secret.stl")
    with pytest.raises(Outside, match="outside|no name of a package"):
        Folders(package / "urdf" / "robot.urdf", {}).find(address)


@pytest.mark.parametrize(
    ("address", "problem"),
    [("meshes/b.stl", "there is no such file"), ("file:///etc/hostname", "it lies outside of"), ("/etc/hostname", "it lies outside of"),
     ("http://host/a.stl", '"http://" is not followed'), ("package://etc/hostname", 'there is no package "etc"'),
     ("a" * 10_000 + ".stl", "cannot be looked up|no such file"), ("..", "there is no such file")],
)  # fmt: skip
def test_files_that_are_missing_say_why(package, address, problem):
    with pytest.raises(Missing, match=problem):
        Folders(package / "urdf" / "robot.urdf", {}).find(address)
