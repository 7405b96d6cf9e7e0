"""Files that say what no robot is: one sentence each, with the file and the line; and broken ones by the hundred."""

import warnings

import pytest

import linkwork as lw
from tests.formats import fuzz

MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
ROD = f'<link name="base"/>\n<link name="rod">{MASS}</link>\n'


def joint(more="", kind="continuous", parent="base", child="rod", name="elbow"):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>\n'


def robot(inner):
    """A <robot> whose content begins in line 2."""
    return f'<robot name="r">\n{inner}</robot>'


BAD = [  # text, line, what is said
    ("", 1, "it is no XML (no element found); mend that line"),
    (robot(ROD)[:40], 3, "it is no XML (unclosed token); mend that line"),
    ("<robot>\n<link></robot>", 2, "it is no XML (mismatched tag); mend that line"),
    ("\n<!DOCTYPE r [<!ENTITY a 'b'>]><robot/>", 2, "it declares a document type; remove <!DOCTYPE ...>: entities are not read"),
    ("<robot>&a;</robot>", 1, "it is no XML (undefined entity); mend that line"),
    ("<robot>" + "<a>" * 300, 1, "elements nest more than 200 deep; flatten the file"),
    ("<robot/>", 1, 'the robot has no link; give it one, such as <link name="base"/>'),
    (robot("<link/>"), 2, 'a <link> has no name; give it one, such as name="link1"'),
    (robot('<link name="a"/>\n<link name="a"/>'), 3, 'link "a" stands twice, first in line 2; give another name'),
    (robot(ROD), 3, 'links "base" and "rod" both hang from no joint; connect them by a joint, or give each robot a file'),
    (robot(ROD + joint() + joint()), 5, 'joint "elbow" stands twice, first in line 4; give another name'),
    (robot(ROD + joint() + joint(name="two")), 5, 'link "rod" is the child of joint "elbow" and of joint "two"; let one joint carry it'),
    (robot(ROD + joint() + joint(name="back", parent="rod", child="base")), 4, 'joint "elbow" belongs to a circle of links'),
    (robot(ROD + joint(parent="bse")), 4, 'joint "elbow" has the parent "bse", and there is no such link; name a link of the file; did you mean "base"?'),
    (robot(ROD + joint(child="rot")), 4, 'joint "elbow" has the child "rot", and there is no such link'),
    (robot(ROD + joint(child="base")), 4, 'joint "elbow" connects link "base" with itself; name two links'),
    (robot(ROD + '<joint name="elbow" type="fixed"><parent link="base"/></joint>'), 4, 'joint "elbow" has no child; give <child link="..."/>'),
    (robot(ROD + joint(kind="bendy")), 4, 'joint "elbow" has the type "bendy"; give one of revolute, continuous, prismatic'),
    (robot(ROD + joint('<axis xyz="0 0 0"/>')), 4, 'joint "elbow" has an axis of zero length; give a direction such as "0 0 1"'),
    (robot(ROD + joint('<axis xyz="0 nan 0"/>')), 4, '<axis> has xyz="nan"; give a finite number of at most 1e+30'),
    (robot(ROD + joint('<origin xyz="0 inf 0"/>')), 4, '<origin> has xyz="inf"; give a finite number'),
    (robot(ROD + joint('<origin xyz="0 0"/>')), 4, '<origin> has xyz="0 0"; give xyz="0 0 1"'),
    (robot(ROD + joint('<origin rpy="0 0 x"/>')), 4, '<origin> has rpy="x"; give a number'),
    (robot(ROD + joint('<dynamics damping="-1"/>')), 4, 'joint "elbow" has the damping -1; give one of at least 0'),
    (robot(ROD + joint('<limit lower="1e400"/>', "revolute")), 4, '<limit> has lower="1e400"; give a finite number'),
    (robot(ROD + joint('\n<mimic joint="elbow"/>')), 5, 'joint "elbow" mimics itself; name the joint that leads'),
    (robot(ROD.replace('value="1"', 'value="-1"') + joint()), 3, 'link "rod" has the mass -1 kg; give a mass of at least 0'),
    (robot(ROD.replace('<mass value="1"/>', "") + joint()), 3, 'the <inertial> of link "rod" has no <mass>; give mass and inertia'),
    (robot(ROD.replace('izz="1"', "") + joint()), 3, '<inertia> has no "izz"; give izz="1"'),
    (robot(ROD.replace(MASS, "") + joint()), 3, 'joint "elbow" moves link "rod", which has no mass, nor has what it carries; '
     'give it an <inertial>, make the joint fixed, or load it with lock={"elbow": 0}'),
    (robot(ROD.replace('value="1"', 'value="0"') + joint(kind="floating")), 3, 'link "rod" floats and has no mass; give it an <inertial>'),
    (robot(ROD + '<xacro:macro name="x"/>'), 4, "<xacro:macro> is a macro, and this is no URDF yet; end its name in"),
    (robot(ROD + joint(kind="continuous").replace("</joint>", "<xacro:x/></joint>")), 4, "<xacro:x> is a macro"),
    (robot(ROD.replace(MASS, MASS + '<visual><geometry><mesh filename="../x.stl"/></geometry></visual>') + joint()), 3,
     'visual mesh "../x.stl" of link "rod" is not read; it lies outside of'),
    (robot(ROD.replace(MASS, MASS + "<collision><geometry><mesh/></geometry></collision>") + joint()), 3, 'a <mesh> of link "rod" has no "filename"'),
    (robot(ROD.replace(MASS, MASS + '<collision><geometry><box size="1 1"/></geometry></collision>') + joint()), 3, '<box> has size="1 1"'),
]  # fmt: skip


def with_visual(inner):
    return robot(ROD.replace(MASS, f"{MASS}<visual>{inner}</visual>") + joint())


def driven(reduction):
    more = f'<transmission name="t"><joint name="elbow"/><actuator name="m">{reduction}</actuator></transmission>'
    return robot(ROD + joint() + more)


BOX = '<geometry><box size="1 1 1"/></geometry>'
DISPENSABLE = [  # text, what the only remark says
    (robot(ROD + joint('<origin rpy="0 0 1 7" xyz="1 2 3"/>')), 'rpy="0 0 1 7" in <origin>: the first 3 of its numbers are taken'),
    (driven("<mechanicalReduction>fast</mechanicalReduction>"), "<mechanicalReduction> fast: it is no finite number: its reduction is taken as 1"),
    (driven("<mechanicalReduction>nan</mechanicalReduction>"), "<mechanicalReduction> nan: it is no finite number"),
    (driven("<mechanicalReduction/>"), "it is no finite number: its reduction is taken as 1"),
    (robot(ROD + joint('<limit velocity="quick"/>')), 'velocity="quick" in <limit>: it is no finite number: speeds of joints are not bounded'),
    (robot(ROD + joint('<limit velocity="inf"/>')), 'velocity="inf" in <limit> of joint "elbow": speeds of joints are not bounded'),
    (robot(ROD + joint('<limit effort="-1"/>')), 'effort="-1" in <limit> of joint "elbow": the motor has no largest effort'),
    (robot(ROD + joint('<limit effort="inf"/>')), "the motor has no largest effort"),
    (robot(ROD + joint('<limit effort="strong"/>')), "the motor has no largest effort"),
    (robot(ROD + joint('<limit lower="-inf" upper="inf"/>', "revolute")), "lower is -inf and upper inf: it is not bounded"),
    (robot(ROD + joint('<limit lower="far"/>')), "a continuous joint has no bounds"),
    (robot(ROD + joint('<limit lower="1e400"/>')), "a continuous joint has no bounds"),
    (robot(ROD + joint('<limit lower="far"/>', "fixed")), '<limit> of joint "elbow": of no meaning on a fixed joint'),
    (robot(ROD + joint('<dynamics damping="much"/>', "fixed")), '<dynamics> of joint "elbow": of no meaning on a fixed joint'),
    (with_visual("<geometry><mesh/></geometry>"), '<visual> of link "rod": it is left out (line 3: a <mesh> of link "rod" has no "filename"'),
    (with_visual('<geometry><box size="1 1"/></geometry>'), '<visual> of link "rod": it is left out (line 3: <box> has size="1 1"'),
    (with_visual(f'<origin xyz="0 0"/>{BOX}'), '<visual> of link "rod": it is left out (line 3: <origin> has xyz="0 0"'),
    (with_visual(f'{BOX}<material name="m"><color rgba="1 0 0"/></material>'), 'rgba="1 0 0" in <color>: it has no opacity: 1 is taken'),
    (with_visual(f'{BOX}<material name="m"><color rgba="red"/></material>'), 'rgba="red" in <color>: it is no colour: white is taken'),
    (robot(ROD.replace(MASS, f'{MASS}<contact><lateral_friction value="x"/></contact>') + joint()), 'value="x" in <lateral_friction>'),
    (robot(ROD.replace(MASS, f"{MASS}<contact><lateral_friction/></contact>") + joint()), 'value="" in <lateral_friction>'),
    (robot(ROD.replace(MASS, f'{MASS}<contact><restitution value="3"/></contact>') + joint()), "<restitution> 3: there is no such one"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), DISPENSABLE)
def test_what_a_robot_can_do_without_does_not_refuse_it(tmp_path, text, said):
    """It is told, and refused with `strict`."""
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    with pytest.warns(lw.Note):
        world = lw.load(file)
    assert len(world.bodies) <= 1 and len(world.remarks) == 1 and said in str(world.remarks[0]), world.remarks
    with pytest.raises(lw.FileError, match="strict=True refuses it|robot.urdf:3"):
        lw.load(file, strict=True)


def test_a_place_with_four_angles_is_that_of_the_first_three(tmp_path):
    file = tmp_path / "robot.urdf"
    places = []
    for rpy in ("0.1 0.2 0.3 0.4", "0.1 0.2 0.3"):
        file.write_text(robot(ROD + joint(f'<origin rpy="{rpy}" xyz="1 2 3"/>')))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            places.append(lw.load(file).find("rod").orientation.tolist())
    assert places[0] == places[1]


@pytest.mark.parametrize(("text", "line", "said"), BAD)
def test_one_sentence_with_file_and_line(tmp_path, text, line, said):
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    with pytest.raises(lw.FileError) as caught:
        lw.load(file)
    assert str(caught.value).startswith(f"{file}:{line}: {said}")
    assert "\n" not in str(caught.value)


def test_a_million_elements_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwork.formats.xml.MOST_ELEMENTS", 1000)
    file = tmp_path / "robot.urdf"
    file.write_text(robot("<link/>\n" * 1001))
    with pytest.raises(lw.FileError, match="more than 1000 elements; split the file"):
        lw.load(file)


@pytest.mark.parametrize(("name", "said"), [
    ("robot.urdf", "its root element is <sdf>; a URDF has <robot> and an MJCF <mujoco>"),
    ("robot.sdf", "linkwork reads .urdf, .xacro, .xml (MJCF), .mjcf and .yaml; give one of these"),
])  # fmt: skip
def test_other_formats_are_refused(tmp_path, name, said):
    (tmp_path / name).write_text("<sdf><model/></sdf>")
    with pytest.raises(lw.FileError) as caught:
        lw.load(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: {said}"


def test_what_is_no_text_is_refused(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_bytes(b"<robot>\n\xff</robot>")
    with pytest.raises(lw.FileError, match="robot.urdf:2: byte 8 is no UTF-8; save the file as UTF-8"):
        lw.load(file)


def test_missing_meshes_are_refused_or_told_by_name_and_line(tmp_path):
    file = tmp_path / "robot.urdf"
    shape = '<{0}><geometry><mesh filename="{0}.stl"/></geometry></{0}>'
    file.write_text(robot(ROD.replace(MASS, f"{MASS}\n{shape.format('visual')}\n{shape.format('collision')}") + joint()))
    said = 'robot.urdf:5: collision mesh "collision.stl" of link "rod" cannot be used; there is no such file; put it there, or give meshes="as found"'
    with pytest.raises(lw.FileError, match=said):
        lw.load(file, visuals=False)
    with pytest.warns(lw.Note, match="2 things in it not taken as written"):
        world = lw.load(file, meshes="as found")
    told = [(remark.line, remark.what, remark.why) for remark in world.remarks]
    why = "it is left out: there is no such file; put it there"
    assert told == [
        (4, 'visual mesh "visual.stl" of link "rod"', why),
        (5, 'collision mesh "collision.stl" of link "rod"', why),
    ]


def test_options_that_are_wrong_are_refused(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(robot(ROD + joint()))
    for options, said in [({"packages": "folder"}, "packages is 'folder'; give folders by name"), ({"position": (1, 2)}, "position is (1, 2)"),
                          ({"orientation": (1, 1, 0, 0)}, "orientation (1, 1, 0, 0) has length"), ({"lock": {"elbow": "x"}}, "lock"),
                          ({"lock": ["elbow"]}, "lock is ('elbow'); give coordinates by name"), ({"contact": "none"}, "contact is 'none'; give True or False"),
                          ({"floating": "yes"}, "floating is 'yes'; give True or False"), ({"meshes": "some"}, "meshes is 'some'; give")]:  # fmt: skip
        with pytest.raises(lw.FileError) as caught:
            lw.load(file, **options)
        assert said in str(caught.value) and str(caught.value).startswith(str(file))


def test_what_is_no_path_and_no_world_is_refused(tmp_path):
    for wrong in (None, 5, ["a.urdf"], b"a.urdf"):
        with pytest.raises(lw.FileError, match="^load: path is .*; give the path of a file, as text or a Path$"):
            lw.load(wrong)
        with pytest.raises(lw.FileError, match="^save: path is "):
            lw.save(lw.World(), wrong)
    with pytest.raises(lw.FileError, match="^save: world is 5; give a World, of a Simulation sim.world$"):
        lw.save(5, tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text("linkwork: 1\n")
    with pytest.raises(lw.FileError, match="a.yaml: parameters is 'k'; give numbers by name"):
        lw.load(tmp_path / "a.yaml", parameters="k")
    with pytest.raises(lw.LinkworkError, match="^load: strict is 'yes'; give True or False$"):
        lw.load(tmp_path / "a.yaml", strict="yes")


def test_a_note_says_the_file_once_and_its_remarks_by_line(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(robot(ROD + joint('<limit effort="1" velocity="2"/>')))
    with pytest.warns(lw.Note) as told:
        lw.load(file)
    said = str(told[0].message)
    assert said.startswith(f'{file}: 1 thing in it not taken as written: line 4: velocity="2" in <limit> of joint "elbow": ')
    assert said.count(str(file)) == 1 and said.endswith("; it is in world.remarks")


def test_many_remarks_are_one_line_with_their_count(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(robot(ROD + joint('<limit effort="1" velocity="2"/>') + 40 * "<transmission/>\n<gazebo/>\n"))
    with pytest.warns(lw.Note) as told:
        world = lw.load(file)
    said = str(told[0].message)
    assert len(told) == 1 and "\n" not in said and len(said) < len(str(file)) + 200
    assert f"{len(world.remarks)} things in it not taken as written, first line " in said and len(world.remarks) > 40
    assert said.endswith('; world.remarks has them all, "linkwork info" lists them')


@pytest.mark.parametrize("kind", [kind for kind in fuzz.ENDINGS if fuzz.seeds(kind)])
def test_broken_files_do_no_harm(kind):
    outcome = fuzz.run(kind, range(300))
    assert not outcome.harmful and outcome.grown < fuzz.GROWTH
    assert outcome.counts["refused"] > 100 and outcome.counts["remarked"] + outcome.counts["loaded"] > 5


def test_the_guards_see_harm(monkeypatch, tmp_path):
    (tmp_path / "a.urdf").write_text(robot(ROD + joint()))
    for error, said in [
        (ValueError("x"), "ValueError: x"),
        (lw.ElementError("x"), "no sentence about the file"),
        (fuzz.Hang(), "takes more than"),
    ]:
        monkeypatch.setattr(lw, "load", lambda path, error=error, **_: (_ for _ in ()).throw(error))
        what, told = fuzz.attempt(tmp_path / "a.urdf")
        assert what == "harmful" and said in told


def test_an_option_that_a_format_does_not_have_is_refused(tmp_path):
    path = tmp_path / "empty.yaml"
    path.write_text("linkwork: 1\nelements: []\n")
    with pytest.raises(lw.FileError, match='such a file takes no option "floating"; it takes parameters'):
        lw.load(path, floating=True)
