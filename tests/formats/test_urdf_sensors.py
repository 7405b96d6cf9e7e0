"""Sensors that a URDF has for Gazebo."""

import warnings

import numpy as np
import pytest

import linkwork as lw

LINK = '<link name="{0}"><inertial><origin xyz="0 0 {1}"/><mass value="{2}"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>'
ROBOT = f"""<robot name="arm"><link name="base"/>{LINK.format("upper", 0.5, 1)}{LINK.format("tool", 0.1, 2)}<link name="tip"/>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="mount" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/></joint>
<joint name="end" type="fixed"><parent link="tool"/><child link="tip"/><origin xyz="0 0 0.2"/></joint>
<gazebo reference="tip"><sensor name="imu" type="imu"><update_rate>100</update_rate><pose>0.1 0 0 0 0 0.5</pose>
 <imu><angular_velocity><x><noise type="gaussian"><mean>0</mean><stddev>0.01</stddev></noise></x></angular_velocity>
 <linear_acceleration><x><noise><stddev>0.2</stddev><bias_mean>0.1</bias_mean></noise></x></linear_acceleration></imu></sensor></gazebo>
<gazebo reference="mount"><sensor name="wrist" type="force_torque"><plugin name="p"/></sensor></gazebo>
<gazebo reference="mount"><sensor name="wrist on child" type="force_torque"><force_torque><frame>parent</frame>
 <measure_direction>parent_to_child</measure_direction></force_torque></sensor></gazebo>
<gazebo reference="tip"><sensor name="beam" type="ray"><ray><scan><horizontal><samples>1</samples><min_angle>0</min_angle></horizontal></scan>
 <range><min>0.1</min><max>5</max></range></ray></sensor><sensor name="fan" type="gpu_lidar"><lidar><scan><horizontal><samples>9</samples>
 </horizontal></scan></lidar></sensor></gazebo>
<gazebo reference="upper"><sensor name="bump" type="contact"><contact><collision>c</collision></contact></sensor></gazebo>
<gazebo reference="nowhere"><sensor name="lost" type="imu"/></gazebo>
<gazebo reference="end"><sensor name="stuck" type="force_torque"/></gazebo>
<gazebo reference="tip"><sensor name="film" type="camera"/></gazebo></robot>"""


def load(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ROBOT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.load(path)


def test_gazebos_sensors(tmp_path):
    world = load(tmp_path)
    assert [str(sensor.name) for sensor in world.sensors] == [
        "imu orientation", "imu angular velocity", "imu linear acceleration", "wrist", "wrist on child", "beam", "bump"]  # fmt: skip
    gyro, accelerometer, beam = (world.find(n) for n in ("imu angular velocity", "imu linear acceleration", "beam"))
    assert (float(gyro.noise), gyro.rate, float(accelerometer.noise), beam.reach) == (0.01, 100.0, 0.2, 5.0)
    assert isinstance(world.find("mount"), lw.Weld) and "end" not in world
    told = " ".join(str(remark) for remark in world.remarks)
    for words in ('"film": there is no sensor of the type "camera" here: it is left out', '"lost": there is no link "nowhere"',
                  '"stuck": the joint "end" is fixed, and nothing beyond it has mass', '"fan": only a single beam is told here',
                  '<bias_mean> of sensor "imu": no sensor has a bias here', "plugins are programs, and none is run"):  # fmt: skip
        assert words in told, words
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, dt=1e-3)
    R, alpha = sim.frame("tool"), sim.angular_acceleration("tool")
    arm = 0.1 * R[:, 2]
    force = 2.0 * (
        sim.acceleration("tool") + np.cross(alpha, arm) + (0, 0, 9.81)
    )  # what the upper link puts on the tool, at rest
    torque = np.cross(arm, force) + 0.1 * alpha
    np.testing.assert_allclose(sim.frame("upper") @ sim.sensors["wrist on child"][:3], force, atol=1e-9)
    np.testing.assert_allclose(R @ sim.sensors["wrist"][:3], -force, atol=1e-9)
    np.testing.assert_allclose(R @ sim.sensors["wrist"][3:], -torque, atol=1e-9)
    assert sim.position("imu frame") == pytest.approx(sim.point("tip", (0.1, 0, 0)))
