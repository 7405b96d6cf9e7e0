"""Each feature of MJCF that moves something, by a small file beside MuJoCo: accelerations at random states."""

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

import linkwork as lw
from benchmarks.mjcf import GOAL, InBodies, InJoints, Pair, page, worst

BALL = '<geom size="0.1" density="1000"/>'
EGG = '<geom type="ellipsoid" size="0.1 0.2 0.3" pos="0.1 0.05 -0.02" euler="20 30 40" density="500"/>'
FEATURES = {
    "hinge": f"""<worldbody><body pos="1 2 3" euler="10 20 30"><joint name="j" pos="0.1 0.2 0.3" axis="1 2 3" ref="30" springref="70"
        stiffness="3" damping="0.4" armature="0.05"/>{EGG}</body></worldbody>""",
    "slide": f"""<worldbody><body pos="1 2 3"><joint type="slide" axis="1 0 1" ref="0.2" springref="0.5" stiffness="30"
        damping="4" armature="2"/>{EGG}<body pos="0 0 1"><joint axis="0 1 0"/>{EGG}</body></body></worldbody>""",
    "ball": f"""<worldbody><body euler="10 20 30"><joint type="ball" pos="0.1 0 0.2" stiffness="2" damping="0.3"/>{EGG}
        <body pos="0 0 1" euler="0 40 0"><joint type="ball" damping="0.1"/>{EGG}</body></body></worldbody>""",
    "free": f"""<worldbody><body pos="1 2 3" euler="10 20 30"><joint type="free" damping="0.7" stiffness="5"/>{EGG}
        <body pos="0 1 0"><joint axis="1 1 0" armature="0.01"/>{EGG}</body></body></worldbody>""",
    "several joints": f"""<worldbody><body pos="0 0 1"><joint type="slide" axis="1 0 0" armature="0.2"/><joint type="slide"
        axis="0 0 1" pos="1 0 0"/><joint axis="0 1 0" pos="0.1 0 0.2" damping="0.3"/>{EGG}<body pos="0.5 0 0" euler="0 0 50"><joint
        axis="1 0 0" armature="0.03"/><joint axis="0 1 0" pos="0 0.1 0" stiffness="2"/><joint axis="0 0 1"/>{EGG}</body></body>
        </worldbody>""",
    "ball after hinge": f"""<worldbody><body><joint axis="0 1 0" armature="0.1"/><joint type="ball" pos="0 0 0.3"/>{EGG}</body>
        </worldbody>""",
    "parts of parents": f"""<worldbody><body pos="0 0 1"><joint axis="0 1 0"/>{BALL}<body pos="1 0 0" euler="30 0 0">{EGG}<body
        pos="0 1 0" gravcomp="0.5"><inertial pos="0.1 0.2 0.3" mass="2" fullinertia="1 1.2 1.4 0.1 0.2 0.3"/></body></body></body>
        <body pos="3 0 0"><body pos="0 0 1"><joint axis="1 0 0"/>{EGG}</body></body></worldbody>""",
    "motors": f"""<worldbody><body><joint name="a" axis="0 1 0"/>{EGG}<body pos="0 0 1"><joint name="b" axis="1 0 0"/>{EGG}<body
        pos="0 0 1"><joint name="c" type="slide" axis="0 0 1" actuatorfrcrange="-2 2"/>{BALL}</body></body></body></worldbody>
        <actuator><motor name="a" joint="a" gear="3" ctrlrange="-1 1"/><general joint="b" gear="-2" gainprm="5" forcerange="-3 3"/>
        <motor joint="c" gear="4"/><motor jointinparent="a" gear="0.5"/></actuator>""",
    "servos": f"""<worldbody><body><joint name="a" axis="0 1 0"/>{EGG}<body pos="0 0 1"><joint name="b" axis="1 0 0" ref="20"/>{EGG}
        <body pos="0 0 1"><joint name="c" type="slide" axis="0 0 1"/>{BALL}</body></body></body></worldbody><actuator>
        <position joint="a" kp="7" kv="0.4" gear="2" forcerange="-4 4" ctrlrange="-0.5 0.5"/><position joint="b" kp="3" kv="0.2"/>
        <velocity joint="c" kv="6" gear="-1.5"/><general joint="a" gainprm="2" biastype="affine" biasprm="0.3 -4 -0.5" gear="3"/>
        <motor joint="b" armature="0.2" damping="0.3" gear="2"/></actuator>""",
    "sums of joints": f"""<worldbody><body><joint name="a" axis="0 1 0"/>{EGG}<body pos="0 0 1"><joint name="b"
        axis="1 0 0"/>{EGG}</body></body></worldbody><tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b"
        coef="-0.5"/></fixed><fixed name="u"><joint joint="b" coef="3"/></fixed></tendon><actuator><motor tendon="t" gear="1.5"
        forcerange="-1 1"/><position tendon="u" kp="2" kv="0.1"/></actuator>""",
    "cables": f"""<worldbody><site name="s" pos="1 0 0"/><body><joint axis="0 1 0"/><joint axis="1 0 0"/>{EGG}<site name="p"
        pos="0 0.2 0.3"/><site name="r" pos="0.1 0.2 0.3"/><body pos="0 0 1"><joint axis="1 0 0"/>{EGG}<site name="q" pos="0.1 0 0.3"/></body></body></worldbody>
        <tendon><spatial stiffness="20" damping="2" springlength="0.7"><site site="s"/><site site="p"/><site site="q"/></spatial>
        <spatial stiffness="5"><site site="q"/><site site="s"/></spatial><spatial stiffness="9" damping="1" springlength="0.2 0.8"><site
        site="p"/><site site="r"/><site site="s"/></spatial></tendon>""",
    "medium": f"""<option density="300" viscosity="0.4" wind="1 2 -0.5"/><worldbody><body euler="20 30 0"><freejoint/>{EGG}<body
        pos="0 1 0" euler="0 50 0">{BALL}{EGG}</body><body pos="1 0 0"><joint axis="0 1 0"/>{EGG}</body></body></worldbody>""",
    "made by the compiler": """<default><joint damping="0.2"/><default class="long"><geom type="capsule" size="0.05 0.4"/></default>
        </default><worldbody><replicate count="3" offset="0.5 0 0" euler="0 30 0"><body pos="0 0 1" childclass="long"><joint
        axis="0 1 0"/><geom/><frame pos="0 0 0.4" euler="0 20 0"><body><joint axis="1 0 0"/><geom fromto="0 0 0 0.2 0.2 0.2"
        size="0.03"/></body></frame></body></replicate></worldbody>""",
    "switched off": f"""<option gravity="1 2 3"><flag spring="disable" damper="disable" clampctrl="disable"/></option><worldbody>
        <body><joint name="j" stiffness="3" damping="4" axis="1 0 0"/>{EGG}</body></worldbody><actuator><motor joint="j"
        ctrlrange="-0.1 0.1"/></actuator>""",
    "motors on tendons": f"""<worldbody><body><joint name="a" axis="0 1 0" ref="20" springref="5"/>{EGG}<site name="p" pos="0.3 0 0.2"/>
        <body pos="0 0 1"><joint name="b" type="slide" axis="1 0 0" ref="0.3"/>{EGG}<site name="q" pos="0.1 0.2 0.1"/></body></body>
        <site name="s" pos="0.5 0.5 0.5"/></worldbody><tendon><fixed name="t" stiffness="7" damping="0.4" springlength="-0.2 0.1"><joint
        joint="a" coef="2"/><joint joint="b" coef="-0.5"/></fixed><spatial name="l" stiffness="3"><site site="s"/><site site="p"/><site
        site="q"/></spatial></tendon><actuator><motor tendon="l" gear="2"/><position tendon="l" kp="5" kv="0.3" forcerange="-2 1"/><velocity
        tendon="t" kv="3"/><position tendon="t" kp="4" forcerange="-0.5 1.5" gear="-2"/><damper tendon="t" kv="2" ctrlrange="0 1"/><general
        tendon="t" gaintype="affine" biastype="affine" gainprm="0.3 0.2 -0.1" biasprm="0.1 -4 -0.02" gear="1.5"/></actuator>""",
    "motors on sites": f"""<worldbody><body name="o" euler="10 20 30"><joint name="a" axis="0 1 0"/><joint axis="1 0 0"/>{EGG}<site name="p"
        pos="0.3 0 0.2" euler="5 40 3"/><body pos="0 0 1"><joint name="b" axis="1 0 0"/><joint axis="0 0 1" type="slide"/>{EGG}<site name="q"
        pos="0.1 0.2 0.1" euler="50 4 30"/></body></body><body pos="3 0 0"><freejoint/>{EGG}<site name="f" pos="0.1 0 0"/></body><site
        name="s" pos="0.5 0.5 0.5" euler="0 30 0"/></worldbody><actuator><motor site="q" gear="1 2 3 0.4 0.5 0.6"/><motor site="f" gear="0 0 2
        0 0.1 0"/><motor site="q" refsite="p" gear="1 -2 0.5 0.3 0 0.2"/><position site="q" refsite="s" gear="0.5 0 1 0 0 0" kp="3" kv="0.2"/>
        <position site="q" refsite="p" gear="0 0 0 0.2 1 0" kp="2" kv="0.4" forcerange="-1 1"/><velocity site="q" gear="0 1 0 0 0 0.4"
        kv="0.8"/></actuator>""",
    "filters": f"""<worldbody><body><joint name="a" axis="0 1 0"/>{EGG}<body pos="0 0 1"><joint name="b" axis="1 0 0"/>{EGG}<site
        name="q" pos="0.1 0.2 0.1"/></body></body></worldbody><tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b"
        coef="1"/></fixed></tendon><actuator><general joint="a" dyntype="filter" dynprm="0.1" gainprm="3"/><position joint="b" kp="2" kv="0.1"
        timeconst="0.2"/><general tendon="t" dyntype="filterexact" dynprm="0.03" gainprm="2" biastype="affine" biasprm="0.2 -1 -0.1"/>
        <general site="q" dyntype="filter" dynprm="0.1" gear="1 0 0 0 0 0" gainprm="0.7"/></actuator>""",
    "no gravity": f"""<option gravity="1 2 3"><flag gravity="disable" actuation="disable"/></option><worldbody>
        <body gravcomp="1"><joint name="j" axis="1 0 0"/>{EGG}<body pos="0 1 0"><joint axis="0 1 1"/>{EGG}</body></body></worldbody>
        <actuator><motor joint="j"/></actuator>""",
}  # fmt: skip


def written(folder, text):
    path = folder / "model.xml"
    path.write_text(f"<mujoco>{text}</mujoco>", encoding="utf-8")
    return path


@pytest.mark.parametrize("feature", FEATURES)
def test_accelerations_are_those_of_mujoco(feature, tmp_path):
    pair = Pair(written(tmp_path, FEATURES[feature]))
    assert not [remark for remark in pair.remarks if "left out" in remark.why]
    assert worst(pair, InJoints(pair), states=10) < 1e-10


@pytest.mark.parametrize("feature", ["several joints", "servos", "motors on tendons", "motors on sites", "filters"])
def test_in_maximal_coordinates_too(feature, tmp_path):
    pair = Pair(written(tmp_path, FEATURES[feature]))
    assert worst(pair, InBodies(pair), states=5) < 1e-9


def test_bodies_at_a_keyframe_are_where_mujoco_has_them(tmp_path):
    text = f"""<worldbody><body name="base" pos="1 2 3" euler="10 20 30"><freejoint/>{EGG}<body name="arm" pos="0 0 1"
        euler="0 40 0"><joint type="ball" pos="0.1 0.2 0"/>{EGG}<body name="tip" pos="1 0 0"><joint name="j" ref="30" axis="1 2 0"/>
        <joint type="slide" axis="0 1 0"/>{EGG}</body></body></body></worldbody><actuator><motor name="m" joint="j"/></actuator>
        <keyframe><key name="home" qpos="0.1 0.2 0.3 0.5 0.5 -0.5 0.5 0.6 0 0.8 0 8.2 -0.3"
        qvel="1 2 3 4 5 6 0.7 0.8 0.9 -2 3" ctrl="0.7"/><key/></keyframe>"""  # fmt: skip
    path = written(tmp_path, text)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    world = lw.load(path, contact="none")
    assert list(world.keyframes) == ["home", "key1"]
    for solver in ("tree", "aba"):
        sim = lw.Simulation(world, solver=solver)
        sim.step(3)
        sim.reset("home")
        assert sim.time == 0.0
        assert sim.control["m"] == 0.7
        assert abs(sim.angle("j") - (8.2 - np.pi / 6)) < 1e-9, "turns are counted from as built"
        for name in ("base", "arm", "tip"):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, model.body(name).id, speed := np.empty(6), 0)
            assert np.allclose(sim.position(name), data.body(name).xpos, atol=1e-12)
            assert np.allclose(np.abs(sim.orientation(name) @ data.body(name).xquat), 1.0, atol=1e-12)
            assert np.allclose(sim.angular_velocity(name), speed[:3], atol=1e-11)
            assert np.allclose(sim.velocity(name), speed[3:], atol=1e-11)
        sim.reset()
        assert np.allclose(sim.position("base"), (1, 2, 3))


def test_limits_are_hard_or_as_stiff_as_mujocos(tmp_path):
    path = written(tmp_path, f"""<compiler angle="radian"/><worldbody><body><joint name="j" axis="0 1 0" ref="0.5" range="-1 0.2"
        solreflimit="0.03 0.8" solimplimit="0.9 0.9 0.001"/>{EGG}</body></worldbody>""")  # fmt: skip
    hard = lw.load(path).find("j limit")
    assert isinstance(hard, lw.HardLimit)
    assert np.allclose((hard.lower, hard.upper), (-1.5, -0.3)), "coordinates are zero as built, where qpos is 0.5"
    soft = lw.load(path, limits="soft").find("j limit")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    stiffness, damping = data.efc_KBIP[0][:2] * model.dof_M0[0]
    assert np.allclose((soft.stiffness, soft.damping), (stiffness, damping), rtol=1e-9)
    assert "j limit" not in lw.load(path, limits="none")


def test_what_is_equal_stays_so(tmp_path):
    link = '<geom type="capsule" size="0.05 0.3" pos="0 0 -0.3"/>'
    path = written(tmp_path, f"""<compiler angle="radian"/><option gravity="3 0 -9"/><worldbody>
        <body name="a" pos="0 0 2"><joint name="ja" axis="0 1 0"/>{link}<body name="c" pos="0 0 -1" euler="0 -1.5707963267948966 0">
        <joint name="jc" axis="0 1 0"/><geom type="capsule" size="0.05" fromto="0 0 0 0 0 -1"/><site name="end" pos="0 0 -1"/></body>
        </body><body name="b" pos="1 0 2"><joint name="jb" axis="0 1 0"/>{link}<site name="eye" pos="0 0 -1"/></body>
        <body name="d" pos="5 0 2"><joint name="jd" axis="0 1 0"/>{link}</body>
        <body name="e" pos="5 1 2"><joint name="je" type="slide" axis="1 0 0"/>{link}</body>
        <body name="f" pos="5 2 2"><joint name="jf" axis="0 1 0"/>{link}</body>
        <body name="g" pos="5 2 5"><freejoint/>{link}</body><body name="h" pos="5 3 5"><freejoint/>{link}</body>
        <body name="i" pos="8 0 2"><joint name="ji" axis="0 1 0"/>{link}</body>
        <body name="k" pos="8 1 2"><joint name="jk" axis="0 1 0"/>{link}</body></worldbody>
        <tendon><fixed name="t"><joint joint="ji" coef="2"/><joint joint="jk" coef="-1"/></fixed></tendon>
        <equality><connect site1="end" site2="eye"/><joint joint1="jd" joint2="je" polycoef="0 2 0 0 0"/>
        <joint joint1="jf"/><weld body1="g" body2="h"/><tendon tendon1="t"/><connect name="off" body1="d" body2="e" anchor="0 0 0"
        active="false"/><joint name="bent" joint1="ji" joint2="jk" polycoef="0 1 1 0 0"/></equality>""")  # fmt: skip
    with pytest.warns(lw.Note, match="2 things in it not taken as written"):
        world = lw.load(path, contact="none")
    assert sorted(remark.what for remark in world.remarks) == ['equality "bent"', 'equality "off"']
    sim = lw.Simulation(world, dt=2e-3)
    before = sim.position("h") - sim.position("g")
    sim.run(0.5)
    assert np.abs(sim.point("c", (0, 0, -1)) - sim.point("b", (0, 0, -1))).max() < 1e-9
    assert abs(sim.angle("jd") - 2 * sim.angle("je")) < 1e-9
    assert abs(sim.angle("jf")) < 1e-9
    assert np.abs(sim.position("h") - sim.position("g") - before).max() < 1e-9
    assert abs(2 * sim.angle("ji") - sim.angle("jk")) < 1e-9
    assert abs(sim.angle("ja")) > 1e-3, "it moves at all"


def test_a_servo_on_the_sum_of_coupled_joints(tmp_path):
    """A gripper: MuJoCo's forces and inertia with the equality held exactly, by Lagrange's multiplier."""
    finger = '<geom type="capsule" size="0.02" fromto="0 0 0 0.1 0 0"/>'
    path = written(tmp_path, f"""<compiler angle="radian"/><worldbody><body name="a"><joint name="a" axis="0 0 1" ref="0.2"
        damping="0.001"/>{finger}</body><body name="b" pos="0 1 0"><joint name="b" axis="0 0 1"/>{finger}</body></worldbody>
        <equality><joint joint1="a" joint2="b" polycoef="0.3 -2 0 0 0"/></equality><tendon><fixed name="t"><joint joint="a"
        coef="0.5"/><joint joint="b" coef="0.7"/></fixed></tendon><actuator><general name="grip" tendon="t" gear="1.5" gainprm="0.3"
        biastype="affine" biasprm="0.1 -4 -0.02"/></actuator><keyframe><key name="open" qpos="-0.3 0.4" qvel="1 -0.5" ctrl="2"/>
        </keyframe>""")  # fmt: skip
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, M := np.zeros((2, 2)))
    J = np.array([[1.0, 2.0]])
    whole = np.block([[M, J.T], [J, np.zeros((1, 1))]])
    there = np.linalg.solve(whole, [*(data.qfrc_smooth), 0.0])[:2]
    with pytest.warns(lw.Note, match="it is open by 0.3 as built"):
        world = lw.load(path, contact="none")
    world.assemble()
    sim = lw.Simulation(world)
    sim.reset("open")
    assert isinstance(world.find("grip"), lw.Motor)
    assert np.allclose([sim.angular_acceleration(name)[2] for name in "ab"], there, rtol=1e-9)


def test_the_committed_table_reaches_its_goal():
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "mjcf.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    compared = [row for row in result["rows"] if "refused" not in row]
    assert len(compared) == 32
    assert max(row[way] for row in compared for way in ("joints", "bodies")) <= GOAL
    assert path.with_suffix(".md").read_text(encoding="utf-8") == page(result) + "\n", "run python -m benchmarks.mjcf"


SUMS = f"""<compiler angle="radian"/><option gravity="0 0 -9"/><worldbody><body><joint name="a" axis="0 1 0" ref="0.4"/>{EGG}<body
    pos="0 0 1"><joint name="b" axis="1 0 0"/>{EGG}<site name="q" pos="0.1 0.2 0.1"/></body></body><body pos="3 0 0"><joint
    name="c" type="slide" axis="0 0 1"/>{EGG}<site name="r" pos="0 0 0.3"/></body><site name="s" pos="0.5 0.5 3"/></worldbody>"""


def test_lengths_are_mujocos_and_held_as_it_says(tmp_path):
    path = written(tmp_path, f"""{SUMS}<tendon><fixed name="t" range="0.1 1.2" limited="true"><joint joint="a" coef="2"/><joint joint="b"
        coef="0.5"/></fixed><fixed name="u" frictionloss="4"><joint joint="c" coef="0.3"/></fixed><spatial name="l"><site site="s"/><site
        site="q"/><site site="r"/></spatial></tendon><actuator><motor tendon="t"/><motor name="pull" tendon="l"/></actuator><equality>
        <tendon tendon1="l" tendon2="u" polycoef="0 2 0 0 0"/></equality>""")  # fmt: skip
    world = lw.load(path, contact="none")
    assert world.remarks == ()
    stop = world.find("t limit")
    assert np.allclose((stop.lower, stop.upper), (0.1 - 0.8, 1.2 - 0.8))
    sim = lw.Simulation(world, dt=1e-3)
    model = mujoco.MjModel.from_xml_path(str(path))
    data, before = mujoco.MjData(model), sim.length("l")
    sim.control["pull"] = 3.0
    sim.run(1.0)
    data.qpos[:] = [sim.angle("a") + 0.4, sim.angle("b"), sim.travel("c")]
    mujoco.mj_forward(model, data)
    assert np.allclose([sim.length("t") + 0.8, sim.length("u"), sim.length("l")], data.ten_length, atol=1e-12)
    assert abs((sim.length("l") - before) - 2 * sim.length("u")) < 1e-9
    assert 0.1 - 1e-3 < data.ten_length[0] < 1.2 + 1e-3
    assert abs(sim.reaction("u frictionloss").generalised[0]) <= 4.0 + 1e-9


def test_a_filter_follows_mujocos_over_a_run(tmp_path):
    path = written(tmp_path, f"""<option timestep="1e-4"/>{SUMS}<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="1"/>
        </fixed></tendon><actuator><general name="m" tendon="t" dyntype="filterexact" dynprm="0.05" gainprm="2" biastype="affine"
        biasprm="0 -3 -0.5"/></actuator><keyframe><key name="k" qpos="0.4 0.1 0" act="0.3" ctrl="1"/></keyframe>""")  # fmt: skip
    world = lw.load(path, contact="none")
    sim = lw.Simulation(world, dt=1e-4, integrator="rk4")
    sim.reset("k")
    assert (sim.activation("m"), sim.control["m"]) == (0.3, 1.0)
    sim.step(1000)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, 1000)
    assert np.isclose(sim.activation("m"), data.act[0], rtol=1e-9)
    assert np.allclose([sim.angle("a") + 0.4, sim.angle("b")], data.qpos[:2], atol=5e-4), "MuJoCo's step is of order one"
