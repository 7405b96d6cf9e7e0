"""URDF beyond trees: macros, loops, chains of mimics, safety controllers, packages by folder, modules that name a robot."""

from types import ModuleType

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.models import pick

BAR = """<link name="{n}"><inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="j{n}" type="{kind}"><parent link="{p}"/><child link="{n}"/><origin xyz="{at}"/><axis xyz="0 1 0"/>{more}</joint>"""


def bar(n, p, at="1 0 0", kind="continuous", more=""):
    return BAR.format(n=n, p=p, at=at, kind=kind, more=more)


def loaded(folder, inside, **options):
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="base"/>{inside}</robot>', encoding="utf-8")
    return lw.load(path, **options)


FOUR_BARS = bar("a", "base", "0 0 0") + bar("b", "a") + bar("c", "base", "0 0 1")
CLOSES = {
    "constraint": '<constraint name="loop" type="{0}"><parent link="b"/><parent_origin xyz="1 0 0"/><parent_axis xyz="0 1 0"/><child '
                  'link="c"/><child_origin xyz="2 0 -1"/><child_axis xyz="0 1 0"/></constraint>',
    "loop_joint": '<loop_joint name="loop" type="{0}"><link1 link="b" xyz="1 0 0"/><link2 link="c" xyz="2 0 -1"/><axis xyz="0 1 0"/></loop_joint>',
}  # fmt: skip


@pytest.mark.parametrize("tag", CLOSES)
@pytest.mark.parametrize(
    ("word", "kind"), [("revolute", lw.Hinge), ("ball", lw.Ball), ("prismatic", lw.Slider), ("fixed", lw.Weld)]
)
def test_loops_are_closed(tag, word, kind, tmp_path):
    world = loaded(tmp_path, FOUR_BARS + CLOSES[tag].format(word))
    assert type(world.find("loop")) is kind and world.remarks == ()
    if kind is not lw.Ball:
        return
    sim = lw.Simulation(world, dt=1e-3)
    sim.run(0.3)
    assert np.allclose(sim.point("b", (1, 0, 0)), sim.point("c", (2, 0, -1)), atol=1e-8)
    assert abs(sim.angle("ja")) > 0.01


def test_a_loop_that_is_open_as_built_is_told_and_assembled(tmp_path):
    with pytest.warns(lw.Note, match="it is open as built, by 0.1"):
        world = loaded(tmp_path, FOUR_BARS + CLOSES["constraint"].format("ball").replace("2 0 -1", "1.9 0 -1"))
    assert world.assemble().met


@pytest.mark.parametrize(("changed", "told"), [
    (('type="{0}"', 'type="screw"'), 'has the type "screw"; give one of'),
    (('link="c"', 'link="cc"'), 'there is no link "cc"'),
    (('<parent link="b"/>', ""), "has no parent"),
    (('xyz="0 1 0"/><child', 'xyz="0 0 0"/><child'), "has zero length"),
])  # fmt: skip
def test_bad_loops_are_refused_by_line(changed, told, tmp_path):
    text = CLOSES["constraint"].replace(*changed).format("revolute")
    with pytest.raises(lw.LinkworkError, match=told) as caught:
        loaded(tmp_path, FOUR_BARS + text)
    assert "robot.urdf:" in str(caught.value) and "\n" not in str(caught.value)


def test_mimics_of_mimics(tmp_path):
    world = loaded(
        tmp_path,
        bar("a", "base")
        + bar("b", "a", more='<mimic joint="ja" multiplier="2"/>')
        + bar("c", "b", more='<mimic joint="jb" multiplier="-0.5"/>'),
    )
    sim = lw.Simulation(world, dt=1e-3)
    sim.run(0.2)
    assert abs(sim.angle("ja")) > 0.01
    assert np.isclose(sim.angle("jb"), 2 * sim.angle("ja")) and np.isclose(sim.angle("jc"), -sim.angle("ja"))


SAFE = bar("a", "base", kind="revolute", more='<limit lower="-2" upper="2" effort="5" velocity="0"/><safety_controller '
           'soft_lower_limit="-1" soft_upper_limit="1.5" k_position="100" k_velocity="10"/>')  # fmt: skip


def test_a_safety_controller_is_a_soft_stop_where_limits_are_soft(tmp_path):
    with pytest.warns(lw.Note, match="safety_controller"):
        assert "ja safety" not in loaded(tmp_path, SAFE)
    world = loaded(tmp_path, SAFE, limits="soft")
    stop = world.find("ja safety")
    assert (stop.lower, stop.upper, stop.stiffness, stop.damping) == (-1.0, 1.5, 1000.0, 10.0) and world.remarks == ()
    with pytest.warns(lw.Note, match="it bounds nothing"):
        loaded(tmp_path, SAFE.replace('k_position="100"', ""), limits="soft")
    with pytest.warns(lw.Note, match="of no meaning on a fixed joint"):
        loaded(tmp_path, bar("a", "base", kind="fixed", more='<safety_controller k_velocity="1"/>'))


XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="length" default="1.0"/>
<xacro:property name="L" value="$(arg length)"/><link name="base"/>
<xacro:macro name="bar" params="n p"><link name="${n}"><inertial><origin xyz="${L / 2} 0 0"/><mass value="1"/><inertia ixx="0.01"
iyy="0.1" izz="0.1"/></inertial></link><joint name="j${n}" type="continuous"><parent link="${p}"/><child link="${n}"/><origin
xyz="${L} 0 0"/><axis xyz="0 1 0"/></joint></xacro:macro><xacro:bar n="a" p="base"/><xacro:bar n="b" p="a"/></robot>"""


def test_macros_are_expanded(tmp_path):
    pytest.importorskip("xacrodoc")
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(XACRO, encoding="utf-8")
    assert lw.load(path).find("b").position[0] == 2.0
    assert lw.load(path, arguments={"length": 0.3}).find("b").position[0] == 0.6
    assert pick(str(path)).name == "robot.urdf"
    path.write_text(XACRO.replace('xacro:bar n="a"', 'xacro:rod n="a"'), encoding="utf-8")
    with pytest.raises(lw.LinkworkError, match="xacro cannot expand it .*rod") as caught:
        lw.load(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(lw.LinkworkError, match="arguments is 3; give them by name"):
        lw.load(path, arguments=3)


PACKAGED = (
    '<link name="base"><visual><geometry><mesh filename="package://arm_description/tip.stl"/></geometry></visual></link>'
    + bar("a", "base")
)
TIP = """solid tip
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid"""


@pytest.mark.parametrize("layout", ["arm_description", "share/arm_description", "arm_description/share/arm_description"])
def test_packages_are_found_in_folders_that_hold_them(layout, tmp_path):
    home = tmp_path / "install" / layout
    home.mkdir(parents=True)
    (home / "package.xml").write_text("<package/>")
    (home / "tip.stl").write_text(TIP)
    (tmp_path / "robot").mkdir()
    path = tmp_path / "robot" / "robot.urdf"
    path.write_text(f'<robot name="r">{PACKAGED}</robot>')
    world = lw.load(path, package_roots=[tmp_path / "install"])
    assert len(world.visuals) == 1 and world.remarks == ()
    assert len(pick(str(path), packages=[str(tmp_path / "install")]).world.visuals) == 1
    with pytest.raises(lw.LinkworkError, match="is no folder; give folders that hold packages"):
        lw.load(path, package_roots=["nowhere"])


def test_modules_of_robot_descriptions_name_their_model(tmp_path):
    world = loaded(tmp_path, FOUR_BARS)
    module = ModuleType("arm_description")
    module.URDF_PATH, module.REPOSITORY_PATH = str(tmp_path / "robot.urdf"), str(tmp_path)
    assert len(lw.load(module).bodies) == len(world.bodies)
    with pytest.raises(lw.LinkworkError, match="the module empty names no model; give one with URDF_PATH"):
        lw.load(ModuleType("empty"))
