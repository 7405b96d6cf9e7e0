"""URDF: whole robots beside MuJoCo, and every element by a small file."""

import shutil
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yourdfpy
from scipy.spatial.transform import Rotation

import linkwork as lw
from tests.formats.random_robots import random_robot

SEEDS = Path(__file__).parent / "seeds"
INERTIAL = '<inertial><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial>'


def load(tmp_path, text, **options):
    """The World of a URDF text, without its note."""
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.load(file, **options)


def arm(joint="", link=INERTIAL, kind="revolute", more="", base=""):
    """A URDF of one joint; what stands in its elements is given."""
    return f"""<robot name="arm"><link name="base">{base}</link><link name="rod">{link}</link>
<joint name="elbow" type="{kind}"><parent link="base"/><child link="rod"/>{joint}</joint>{more}</robot>"""


def whys(world, part):
    """The remarks that speak of something."""
    return [remark for remark in world.remarks if part in str(remark)]


@pytest.mark.parametrize("seed", range(30))
def test_random_robots_accelerate_as_in_mujoco(tmp_path, seed):
    rng = np.random.default_rng(seed)
    text, moving = random_robot(rng, int(rng.integers(1, 9)))
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    tree = lw.reduced.compile(load(tmp_path, text))
    assert tree.nv == theirs.nv == len(moving)
    where = np.array([theirs.joint(name).dofadr[0] for name in moving])
    here = np.array([tree.velocities(name).start for name in moving])
    for _ in range(3):
        q, qd, tau = rng.normal(size=(3, tree.nv))
        data.qpos[where], data.qvel[where], data.qfrc_applied[where] = q[here], qd[here], tau[here]
        mujoco.mj_forward(theirs, data)
        found = lw.reduced.aba(tree, q, qd, tau)
        assert np.abs(found[here] - data.qacc[where]).max() < 1e-9 * np.abs(data.qacc).max()


@pytest.mark.parametrize("seed", range(10))
def test_links_of_random_robots_are_where_yourdfpy_has_them(tmp_path, seed):
    rng = np.random.default_rng([seed, 7])
    text, moving = random_robot(rng, int(rng.integers(2, 9)))
    world = load(tmp_path, text)
    theirs, tree = yourdfpy.URDF.load(str(tmp_path / "robot.urdf"), load_meshes=False), lw.reduced.compile(world)
    q = rng.normal(size=tree.nq)
    theirs.update_cfg({name: q[tree.coordinates(name)][0] for name in moving})
    poses = lw.reduced.forward_kinematics(tree, q)
    for k, body in enumerate(world.bodies):
        there = theirs.get_transform(body.name)
        assert np.allclose(there[:3, 3], poses.position[k], atol=1e-12)
        assert np.allclose(there[:3, :3], poses.rotation[k], atol=1e-12)


def test_floating_base_and_its_place(tmp_path):
    world = load(tmp_path, arm(kind="continuous", base=INERTIAL), floating=True, position=(1, 2, 3), orientation=(0, 0, 1, 0))
    assert [body.name for body in world.bodies] == ["base", "rod"]
    assert np.allclose(world.find("base").position, (1, 2, 3)) and np.allclose(
        np.abs(world.find("rod").orientation), (0, 0, 1, 0)
    )
    assert lw.reduced.compile(world).nv == 7
    assert lw.reduced.compile(load(tmp_path, arm(kind="continuous", base=INERTIAL))).nv == 1


def test_links_on_fixed_joints_are_merged_with_mass_and_shapes(tmp_path):
    more = """<link name="cap"><inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
<visual><geometry><sphere radius="0.1"/></geometry></visual></link>
<joint name="mount" type="fixed"><origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><parent link="rod"/><child link="cap"/></joint>"""
    world = load(tmp_path, arm(kind="continuous", more=more))
    (rod,) = world.bodies
    centres = np.array([(0, 0, 0), (0.1, 0, 1)])  # z of the cap points along x of the rod
    com = (2 * centres[0] + centres[1]) / 3
    I = np.diag([0.1, 0.2, 0.2]) + np.diag([0.1, 0.1, 0.1])
    for mass, centre in zip((2, 1), centres, strict=True):
        arm_ = centre - com
        I = I + mass * (arm_ @ arm_ * np.eye(3) - np.outer(arm_, arm_))
    assert rod.mass == 3 and np.allclose(rod.com, com) and np.allclose(rod.inertia, I)
    assert world.visuals[0].body is rod and np.allclose(world.visuals[0].position, (0, 0, 1))


def test_the_whole_inertia_tensor_is_turned_by_its_origin(tmp_path):
    link = """<inertial><origin xyz="0.1 0 0" rpy="0.3 -0.2 1.1"/><mass value="2"/>
<inertia ixx="0.1" ixy="0.01" ixz="-0.02" iyy="0.2" iyz="0.03" izz="0.25"/></inertial>"""
    (rod,) = load(tmp_path, arm(link=link, kind="continuous")).bodies
    R = Rotation.from_euler("xyz", (0.3, -0.2, 1.1)).as_matrix()
    assert np.allclose(rod.inertia, R @ [[0.1, 0.01, -0.02], [0.01, 0.2, 0.03], [-0.02, 0.03, 0.25]] @ R.T, atol=1e-16)
    assert np.array_equal(rod.com, (0.1, 0, 0))


@pytest.mark.parametrize(
    ("kind", "wanted", "freedoms"),
    [("revolute", lw.Hinge, 1), ("continuous", lw.Hinge, 1), ("prismatic", lw.Slider, 1), ("planar", lw.Planar, 3),
     ("ball", lw.Ball, 3), ("spherical", lw.Ball, 3)],
)  # fmt: skip
def test_kinds_of_joints(tmp_path, kind, wanted, freedoms):
    world = load(tmp_path, arm('<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><axis xyz="2 0 0"/>', kind=kind))
    joint = world.find("elbow")
    assert type(joint) is wanted and np.allclose(joint.at, (1, 0, 0))
    direction = {lw.Planar: "normal", lw.Ball: "at"}.get(wanted, "axis")
    assert wanted is lw.Ball or np.allclose(getattr(joint, direction), (0, 1, 0))
    assert lw.reduced.compile(world).nv == freedoms


OFF_CENTRE = INERTIAL.replace("<mass", '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><mass')


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar", "spherical", "floating"])
def test_what_a_joint_leaves_free_falls_as_in_mujoco(tmp_path, kind):
    bounds = '<limit lower="-1" upper="1" effort="0" velocity="0"/>' if kind in ("revolute", "prismatic") else ""
    text = arm(f'<origin xyz="1 0 0" rpy="0.3 -0.4 0.5"/><axis xyz="0.36 0.48 0.8"/>{bounds}', link=OFF_CENTRE, kind=kind)
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    linear, angular = np.zeros((2, 3, theirs.nv))
    mujoco.mj_jacBody(theirs, data, linear, angular, theirs.body("rod").id)
    sim = lw.Simulation(load(tmp_path, text))
    assert np.allclose(sim.acceleration("rod"), linear @ data.qacc, rtol=0, atol=1e-9)
    assert np.allclose(sim.angular_acceleration("rod"), angular @ data.qacc, rtol=0, atol=1e-9)


def test_a_floating_joint_leaves_its_link_free(tmp_path):
    world = load(tmp_path, arm('<origin xyz="0 0 2"/>', kind="floating"))
    assert not world.constraints and np.array_equal(world.find("rod").position, (0, 0, 2))
    assert lw.reduced.compile(world).nv == 6


def test_limits_hard_soft_and_none(tmp_path):
    text = arm('<limit lower="-1" upper="2" effort="30" velocity="0"/>')
    hard = load(tmp_path, text).find("elbow limit")
    assert isinstance(hard, lw.HardLimit) and (hard.lower, hard.upper) == (-1, 2)
    soft = load(tmp_path, text, limits="soft").find("elbow limit")
    assert isinstance(soft, lw.JointLimit) and (soft.lower, soft.upper, soft.stiffness) == (-1, 2, 3000)
    weak = load(tmp_path, arm('<limit lower="-1" upper="2"/>'), limits="soft").find("elbow limit")
    assert weak.stiffness == 1000
    assert "elbow limit" not in load(tmp_path, text, limits="none")
    with pytest.raises(lw.FileError, match='limits is \'firm\'; give "hard", "soft" or "none"'):
        load(tmp_path, text, limits="firm")


def test_limits_that_do_not_bound_are_told(tmp_path):
    assert whys(load(tmp_path, arm('<limit lower="1" upper="1" effort="0" velocity="0"/>')), "lower is 1 and upper 1")
    assert whys(load(tmp_path, arm()), "revolute without <limit>")
    assert whys(load(tmp_path, arm('<limit lower="1" upper="2"/>', kind="continuous")), "a continuous joint has no bounds")


def test_zero_outside_of_limits_is_told_and_a_keyframe_is_within(tmp_path):
    world = load(tmp_path, arm('<limit lower="0.5" upper="1.5"/>'))
    assert world.keyframes["within limits"].positions == {"elbow": 1.0}
    assert whys(world, "it is built at 0, which lies outside")
    assert not load(tmp_path, arm('<limit lower="0.5" upper="1.5"/>'), limits="none").keyframes
    led = mimicking('<mimic joint="elbow" multiplier="-2" offset="0.5"/>').replace(
        '"continuous"><parent link="base"', '"revolute"><parent link="base"'
    )
    world = load(tmp_path, led.replace('link="rod"/></joint>', 'link="rod"/><limit lower="0.5" upper="1.5"/></joint>', 1))
    assert world.keyframes["within limits"].positions == {"elbow": 1.0, "wrist": -1.5}


def test_damping_and_friction(tmp_path):
    world = load(tmp_path, arm('<dynamics damping="0.3" friction="0.2"/>', kind="continuous"))
    assert (world.find("elbow damping").stiffness, world.find("elbow damping").damping) == (0, 0.3)
    assert world.find("elbow friction").friction == 0.2


def test_damping_slows_a_joint_as_in_mujoco(tmp_path):
    text = arm('<axis xyz="0 1 0"/><dynamics damping="0.5"/>', kind="continuous")
    theirs = mujoco.MjModel.from_xml_string(text)
    theirs.opt.gravity[:] = 0
    data = mujoco.MjData(theirs)
    data.qvel[0] = 2.0
    mujoco.mj_forward(theirs, data)
    world = load(tmp_path, text)
    world.gravity = (0, 0, 0)
    world.find("rod").angular_velocity = np.array((0, 2.0, 0))
    assert np.isclose(lw.Simulation(world).angular_acceleration("rod")[1], data.qacc[0], rtol=1e-12)


def test_efforts_become_motors_and_transmissions_their_gears(tmp_path):
    drive = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
<joint name="elbow"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
<actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>"""
    plain = load(tmp_path, arm('<limit lower="-1" upper="1" effort="30"/>')).find("elbow motor")
    assert (plain.kind, plain.gear, plain.limit) == ("torque", 1, 30)
    geared = load(tmp_path, arm('<limit lower="-1" upper="1" effort="30"/>', more=drive)).find("elbow motor")
    assert (geared.gear, geared.limit) == (50, 0.6)
    free = load(tmp_path, arm(kind="continuous", more=drive)).find("elbow motor")
    assert (free.gear, free.limit) == (50, None)
    assert "elbow motor" not in load(tmp_path, arm(kind="continuous"))


@pytest.mark.parametrize(
    ("drive", "why"),
    [
        (
            '<joint name="elbow"><hardwareInterface>PositionJointInterface</hardwareInterface></joint>',
            "its motor takes efforts",
        ),
        ('<joint name="elbow"/><joint name="elbow"/>', "it is no simple transmission"),
        ('<joint name="elbows"/>', 'there is no joint "elbows" to drive; did you mean "elbow"?'),
        ('<joint name="elbow"/><mechanicalReduction>0</mechanicalReduction>', "its reduction is 0"),
        ('<actuator name="m"/>', "it names no joint"),
        ('<joint name="elbow"/><wheel/>', 'linkwork does not use all of it: "wheel"'),
    ],
)
def test_transmissions_that_are_not_simple_are_told(tmp_path, drive, why):
    text = arm('<limit lower="-1" upper="1" effort="30"/>', more=f'<transmission name="t">{drive}</transmission>')
    world = load(tmp_path, text)
    assert whys(world, why) and world.find("elbow motor").gear == 1


def mimicking(mimic):
    more = f"""<link name="tip">{INERTIAL}</link><joint name="wrist" type="continuous"><parent link="rod"/><child link="tip"/>
<axis xyz="0 0 1"/><limit effort="3" velocity="0"/>{mimic}</joint>"""
    return arm(kind="continuous", more=more)


def test_mimics_are_gears(tmp_path):
    world = load(tmp_path, mimicking('<mimic joint="elbow" multiplier="-2" offset="0.5"/>'))
    gear = world.find("wrist mimic")
    assert (gear.a.name, gear.b.name, gear.ratio, gear.offset) == ("wrist", "elbow", -2, 0.5)
    assert whys(world, "built at 0, it is off by 0.5; call world.assemble() before it moves")
    world = load(tmp_path, mimicking('<mimic joint="elbow"/>'))
    assert (world.find("wrist mimic").ratio, world.find("wrist mimic").offset) == (1, 0)
    assert "wrist motor" not in world and whys(world, 'joint "wrist": it mimics another one, and has no motor of its own')


def test_a_mimic_follows_its_leader(tmp_path):
    world = load(tmp_path, mimicking('<mimic joint="elbow" multiplier="-2"/>'))
    world.add(lw.Motor("elbow", name="drive"))
    sim = lw.Simulation(world)
    sim.control["drive"] = 0.3
    sim.step(50)
    assert abs(sim.angle("elbow")) > 1e-4 and np.isclose(sim.angle("wrist"), -2 * sim.angle("elbow"), atol=1e-12)


def test_a_mimic_without_a_leader_is_told(tmp_path):
    world = load(tmp_path, mimicking('<mimic joint="elbo"/>'))
    assert whys(world, 'there is no joint "elbo", so it moves freely; did you mean "elbow"?') and "wrist mimic" not in world


def test_locked_joints_stand_where_they_are_told_to(tmp_path):
    world = load(tmp_path, mimicking(""), lock={"elbow": 0.5})
    (tip,) = world.bodies
    assert np.allclose(tip.orientation, Rotation.from_rotvec((0.5, 0, 0)).as_quat(scalar_first=True))
    with pytest.raises(lw.FileError, match="lock names joint 'elbw', .*; did you mean \"elbow\"?"):
        load(tmp_path, mimicking(""), lock={"elbw": 0.5})


def test_a_massless_link_between_two_joints(tmp_path):
    more = f"""<link name="tip">{INERTIAL}</link><joint name="wrist" type="continuous"><parent link="rod"/><child link="tip"/>
<axis xyz="0 0 1"/></joint>"""
    world = load(tmp_path, arm(link="", kind="continuous", more=more))
    assert world.find("rod").massless and lw.reduced.compile(world).nv == 2


@pytest.mark.parametrize("moments", ['ixx="0" iyy="0" izz="0"', 'ixx="1" iyy="1" izz="5"', 'ixx="-1" iyy="1" izz="1"'])
def test_an_inertia_that_no_body_has_is_mended_and_told(tmp_path, moments):
    link = f'<inertial><mass value="2"/><inertia {moments}/></inertial>'
    world = load(tmp_path, arm(link=link, kind="continuous"))
    low, middle, high = np.linalg.eigvalsh(world.find("rod").inertia)
    assert 0 < low and high <= (low + middle) * (1 + 1e-9)
    assert whys(world, '<inertia> of link "rod": no body has the principal values')
    sound = load(tmp_path, arm(kind="continuous"))
    assert not sound.remarks and np.array_equal(sound.find("rod").inertia, np.diag([0.1, 0.2, 0.2]))


def test_links_and_joints_of_one_name(tmp_path):
    world = load(tmp_path, arm(kind="continuous").replace("rod", "elbow"))
    assert world.find("elbow").sort == "body" and world.find("elbow joint").sort == "joint"
    assert whys(world, 'joint "elbow": the name is taken here, so it is called "elbow joint"')


def test_shapes_and_colours(tmp_path):
    link = (
        INERTIAL
        + """<visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
<visual><geometry><cylinder radius="1" length="2"/></geometry><material name="blue"><color rgba="0 0 1 1"/></material></visual>
<visual><geometry><capsule radius="1" length="2"/></geometry><material name="blue"/></visual>
<visual><geometry><sphere radius="1"/></geometry></visual>
<visual><geometry><sphere radius="0"/></geometry></visual><visual><geometry/></visual>
<collision><origin xyz="0 0 1" rpy="1.5707963267948966 0 0"/><geometry><box size="1 1 1"/></geometry></collision>"""
    )
    more = '<material name="red"><color rgba="1 0 0 0.5"/></material>'
    world = load(tmp_path, arm(link=link, kind="continuous", more=more))
    assert [visual.shape for visual in world.visuals] == [lw.Box(1, 2, 3), lw.Cylinder(1, 2), lw.Capsule(1, 2), lw.Sphere(1)]
    colors = [None if visual.color is None else visual.color.tolist() for visual in world.visuals]
    assert colors == [[1, 0, 0, 0.5], [0, 0, 1, 1], [0, 0, 1, 1], None]
    assert whys(world, "radius is 0") and whys(world, "it has no geometry that linkwork knows")
    collider = world.find("rod collision")
    assert np.allclose(collider.position, (0, 0, 1)) and np.allclose(collider.orientation, (np.sqrt(0.5), np.sqrt(0.5), 0, 0))
    assert "contact" in world
    without = load(tmp_path, arm(link=link, kind="continuous", more=more), contact=False, visuals=False)
    assert not without.contacts and not without.visuals


def test_a_robot_touches_others_and_not_itself(tmp_path):
    shape = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    said = {"lateral_friction": 0.9, "restitution": 0.1, "spinning_friction": 0.02, "rolling_friction": 0.001}
    told = "".join(f'<{tag} value="{value}"/>' for tag, value in said.items())
    link = f"{INERTIAL}{shape}<contact>{told}</contact>"
    world = load(tmp_path, arm(link=link, kind="continuous", base=shape))
    rod, base = world.find("rod collision"), world.find("base collision")
    assert (rod.friction, rod.restitution, rod.torsion, rod.rolling) == (0.9, 0.1, 0.02, 0.001)
    assert rod.group == base.group == "arm" and base.body is world.ground
    assert load(tmp_path, arm(link=link, kind="continuous"), self_contact=True).find("rod collision").group is None


def test_a_robot_falls_on_a_floor_and_rests(tmp_path):
    shape = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
    world = load(
        tmp_path, f'<robot name="r"><link name="base">{INERTIAL}{shape}</link></robot>', floating=True, position=(0, 0, 0.11)
    )
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    sim = lw.Simulation(world, dt=2e-3)
    sim.step(200)
    assert np.isclose(sim.position("base")[2], 0.1, atol=1e-4) and np.abs(sim.velocity("base")).max() < 1e-6


def test_meshes_are_hulls_on_what_moves_and_surfaces_on_the_ground(tmp_path):
    shutil.copy(SEEDS / "wedge.stl", tmp_path)
    shape = """<{0}><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><geometry><mesh filename="wedge.stl" scale="1 -2 1"/></geometry></{0}>"""
    shapes = shape.format("visual") + shape.format("collision")
    world = load(tmp_path, arm(link=INERTIAL + shapes, base=shapes, kind="continuous", joint='<origin xyz="0 0 5"/>'))
    corners = {(1, 0, 0), (1, 0.1, 0), (1.2, 0, 0), (1, 0, 0.1)}  # x goes to y, and the mirrored y to x
    for name, kind in [
        ("rod collision", lw.ConvexHull),
        ("base collision", lw.Mesh),
        ("rod visual", lw.Mesh),
        ("base visual", lw.Mesh),
    ]:
        element = world.find(name)
        assert type(element.shape) is kind
        points = element.shape.points if kind is lw.ConvexHull else element.shape.vertices
        R = Rotation.from_quat(element.orientation, scalar_first=True).as_matrix()
        found = {tuple(float(x) + 0.0 for x in row) for row in np.round(points @ R.T + element.position, 6) + 0.0}
        assert found == corners, name
        assert np.isclose(element.shape.volume, 1e-3 / 3, rtol=1e-6)


def test_a_link_may_be_called_ground(tmp_path):
    world = load(tmp_path, arm(kind="continuous").replace("rod", "ground"))
    assert world.find("ground link").mass == 2 and whys(world, 'link "ground": the name is taken here')


def test_what_linkwork_does_not_use_is_told_by_name_and_line(tmp_path):
    text = arm('\n<safety_controller k_velocity="1"/>\n<limit lower="-1" upper="1" effort="1" velocity="3" jerk="2"/>',
               more='\n<gazebo reference="rod"/>\n<ros2_control name="c"/>')  # fmt: skip
    remarks = {(remark.line, remark.what) for remark in load(tmp_path, text).remarks}
    assert remarks == {
        (3, '<safety_controller> of joint "elbow"'), (4, 'jerk="2" in <limit> of joint "elbow"'), (5, '<gazebo "rod">'),
        (4, 'velocity="3" in <limit> of joint "elbow"'), (6, '<ros2_control "c">'),
    }  # fmt: skip
    with pytest.raises(lw.FileError, match='robot.urdf:5: <gazebo "rod">: .*; strict=True refuses it'):
        load(tmp_path, text.replace('\n<safety_controller k_velocity="1"/>', "\n").replace(' jerk="2"', ""), strict=True)


def test_an_element_that_stands_twice_counts_once(tmp_path):
    world = load(tmp_path, arm('<axis xyz="0 1 0"/><axis xyz="1 0 0"/>', kind="continuous"))
    assert np.array_equal(world.find("elbow").axis, (0, 1, 0)) and whys(world, "a second <axis>")


def damped(seed):
    """A URDF of four joints about and along random axes, with the damping 10, 20, 30 and 40."""
    rng = np.random.default_rng(seed)
    text = '<robot name="r"><link name="l0"/>'
    for k in range(1, 5):
        m, (x, y, z), rpy = rng.uniform(0.1, 2), rng.normal(size=3), rng.normal(size=3)
        kind, above = ("prismatic" if rng.random() < 0.3 else "continuous"), rng.integers(0, k)
        text += f"""<link name="l{k}"><inertial><origin xyz="{x} {y} {z}" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/><mass value="{m}"/>
            <inertia ixx="0.1" iyy="0.12" izz="0.15"/></inertial></link><joint name="j{k}" type="{kind}"><parent link="l{above}"/>
            <child link="l{k}"/><origin xyz="{y} {z} {x}" rpy="{rpy[1]} {rpy[0]} {rpy[2]}"/><axis xyz="{z} {x} {y}"/>
            <dynamics damping="{10 * k}"/></joint>"""
    return text + "</robot>"


@pytest.mark.filterwarnings("ignore::linkwork.Note")
def test_damping_that_explicit_steps_cannot_take_is_taken_implicitly(tmp_path):
    assert lw.Simulation(load(tmp_path, damped(0)), dt=1e-4).choice[:2] == ("aba", "joint-rk4")
    sim = lw.Simulation(load(tmp_path, damped(0).replace('damping="10"', 'damping="1e5"')))
    assert sim.choice[:2] == ("aba", "joint-implicit") and "dampers act within" in sim.choice.reason
    sim.step(100)
    assert sim.drift() < 1e-10
