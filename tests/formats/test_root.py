"""`root=`: the folder that may be read, for models that keep their meshes and includes beside their own folder."""

import pytest
from typer.testing import CliRunner

import linkwork as lw
from linkwork.cli import app

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
MJCF = """<mujoco><include file="../shared/options.xml"/><compiler meshdir="../meshes"/><asset><mesh name="t" file="t.obj"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="t"/></body></worldbody></mujoco>"""
URDF = """<robot name="r"><link name="base"><visual><geometry><mesh filename="{0}"/></geometry></visual></link></robot>"""
SCENE = "linkwork: 1\nelements:\n  - include: {0}\n    prefix: its/\n"


@pytest.fixture
def robot(tmp_path):
    """robot/r.xml, robot/r.urdf and robot/r.yaml, with meshes in meshes/ and an include in shared/; a secret above all."""
    inner = tmp_path / "inner"
    for name in ("meshes", "robot", "shared"):
        (inner / name).mkdir(parents=True)
    (inner / "meshes/t.obj").write_text(TETRAHEDRON)
    (inner / "shared/options.xml").write_text('<mujoco><option gravity="0 0 -3"/></mujoco>')
    (inner / "shared/bead.yaml").write_text("linkwork: 1\nelements:\n  - Particle: {name: bead, mass: 1}\n")
    (inner / "robot/r.xml").write_text(MJCF)
    (inner / "robot/r.urdf").write_text(URDF.format("../meshes/t.obj"))
    (inner / "robot/r.yaml").write_text(SCENE.format("../shared/bead.yaml"))
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    return inner


@pytest.mark.parametrize("ending", ["xml", "urdf", "yaml"])
def test_what_lies_beside_the_folder_is_read_where_root_allows_it(robot, ending, monkeypatch):
    path = robot / f"robot/r.{ending}"
    with pytest.raises(lw.FileError) as told:
        lw.load(path)
    assert f'give root="{robot}" (--root) if all of that folder may be read, or put a copy of it there' in str(told.value)
    world = lw.load(path, root=robot)
    assert world.bodies or world.visuals
    monkeypatch.chdir(robot)
    assert len(lw.load(f"robot/r.{ending}", root=".").elements) == len(world.elements), "relative paths, too"
    if ending == "xml":
        assert world.gravity[2] == -3.0


@pytest.mark.parametrize("ending", ["xml", "urdf", "yaml"])
def test_nothing_leads_out_of_root(robot, ending):
    """By dots, by an absolute path, or by a link."""
    (robot / "meshes/link.obj").symlink_to(robot.parent / "secret.obj")
    path = robot / f"robot/s.{ending}"
    for name in ("../../secret.obj", "../meshes/../../secret.obj", "../meshes/link.obj"):
        if ending == "xml":
            path.write_text(MJCF.replace("t.obj", f"../robot/{name}"))
        else:
            path.write_text((URDF if ending == "urdf" else SCENE).format(name))
        with pytest.raises(lw.FileError, match="outside of"):
            lw.load(path, root=robot)
    assert lw.load(robot / "robot/r.xml", root=robot.parent).bodies


def test_packages_are_found_in_root(robot):
    path = robot / "robot/p.urdf"
    path.write_text(URDF.format("package://meshes/t.obj"))
    with pytest.raises(lw.FileError, match='there is no package "meshes"'):
        lw.load(path)
    assert lw.load(path, root=robot).visuals


def test_files_in_a_scene_read_from_the_folder_of_the_scene(robot):
    scene = robot / "all.yaml"
    scene.write_text(SCENE.format("robot/r.xml"))
    assert len(lw.load(scene).bodies) == 1
    (robot / "robot/all.yaml").write_text(SCENE.format("r.xml"))
    with pytest.raises(lw.FileError, match="outside of"):
        lw.load(robot / "robot/all.yaml")
    assert len(lw.load(robot / "robot/all.yaml", root=robot).bodies) == 1


def test_a_root_that_is_none(robot):
    path = robot / "robot/r.xml"
    for root, said in ((robot / "meshes", "in which this file does not lie"), (robot / "nowhere", "in which|which is no folder"),
                       (path, "which is no folder"), (3, "root is 3; give the path of a folder")):  # fmt: skip
        with pytest.raises(lw.FileError, match=said):
            lw.load(path, root=root)


def test_no_root_is_recommended_that_is_the_whole_disk(robot):
    (robot / "robot/r.urdf").write_text(URDF.format("../../../../../../../../../../../../etc/hostname"))
    with pytest.raises(lw.FileError, match="put a copy of it there") as told:
        lw.load(robot / "robot/r.urdf")
    assert "root=" not in str(told.value)


def test_commands_take_it(robot, tmp_path):
    path, run = str(robot / "robot/r.xml"), CliRunner().invoke
    for words in (["info", path], ["convert", path, str(tmp_path / "r.yaml")], ["run", path, "--seconds", "0.01"]):
        refused = run(app, words)
        assert refused.exit_code != 0 and "--root" in str(refused.exception or refused.output)
        assert run(app, [*words, "--root", str(robot)]).exit_code == 0, words
    out = ["--out", str(tmp_path / "run")]
    assert run(app, ["run", path, "--seconds", "0.01", "--root", str(robot), *out]).exit_code == 0
    assert run(app, ["run", path, "--seconds", "0.02", "--resume", *out]).exit_code == 0, "the run knows its root"
    named = run(app, ["info", "pendulum", "--root", str(robot)])
    assert named.exit_code != 0
