"""A controller at 1 kHz on Panda, in Python: gravity compensation, frames and sensors read in every step.

    python -m benchmarks.control_loop --out benchmarks/results/control_loop.json

How many times faster than the robot itself the loop runs, of the processor's time. Writes JSON and a Markdown page.
"""

import argparse
import math
import time
import warnings
from functools import partial

import linkwork as lw
from benchmarks import machine, tables
from benchmarks.robots import FOLDER, ROBOTS, loaded

DT = 1e-3  # s
TURN = 200  # steps
WANTED = 20.0  # times real time
TOOL = "panda_hand_tcp"
JOINTS = [f"panda_joint{k}" for k in range(1, 8)]
TARGET = {"panda_joint2": -0.4, "panda_joint4": -1.8, "panda_joint6": 1.6}  # rad
STIFFNESS = dict(zip(JOINTS, (600, 600, 600, 600, 250, 150, 50), strict=True))  # N m/rad
DAMPING = dict(zip(JOINTS, (50, 50, 50, 50, 30, 25, 15), strict=True))  # N m s/rad


def panda():
    """The robot, its fingers locked; encoders of its joints, a gyroscope, a velocimeter and an accelerometer at its tool."""
    fingers = dict.fromkeys(("panda_finger_joint1", "panda_finger_joint2"), 0.02)
    world = loaded(FOLDER / ROBOTS["Panda"][0], False, visuals=False, contact=False, lock=fingers)
    for joint in JOINTS:
        world.add(lw.JointPositionSensor(joint, name=f"{joint} position"))
        world.add(lw.JointVelocitySensor(joint, name=f"{joint} velocity"))
    world.add(lw.GyroSensor(TOOL, name="gyro"))
    world.add(lw.VelocimeterSensor(TOOL, name="velocimeter"))
    world.add(lw.AccelerometerSensor(TOOL, name="accelerometer"))
    return world


def loops():
    """{what is done in every step: one step}, each of a simulation of its own that is at rest."""
    found = {}
    for what, accelerometer, parts in (
        ("a controller", False, 0),
        ("and a frame's pose and Jacobian", False, 1),
        ("and encoders, gyroscope and velocimeter", False, 2),
        ("and an accelerometer", True, 2),
    ):
        world = panda()
        if not accelerometer:
            world.remove("accelerometer")
        sim = lw.Simulation(world, dt=DT)
        controller = lw.control.PD(world, STIFFNESS, DAMPING)
        for joint, angle in TARGET.items():
            controller.target[controller.tree.coordinates(joint)] = angle
        sim.set_state(q=controller.target)
        found[what] = sim, partial(step, sim, controller, parts)
    return found


def step(sim, controller, parts):
    if parts >= 1:
        sim.pose(TOOL)
        sim.frame_jacobian(TOOL)
    if parts >= 2:
        sim.sensors.values  # noqa: B018 (read, as a loop would)
    controller(sim)
    sim.step()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="benchmarks/results/control_loop.json")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", lw.Note)
    calls = loops()
    seconds = dict.fromkeys(calls, math.inf)
    for _ in range(options.rounds):
        for what, (_, call) in calls.items():
            begin = time.thread_time()
            for _ in range(TURN):
                call()
            seconds[what] = min(seconds[what], (time.thread_time() - begin) / TURN)
    sim = calls["a controller"][0]
    result = {"machine": machine.describe(), "choice": str(sim.choice), "seconds": seconds, "wanted": WANTED}
    print({what: f"{DT / s:.0f} times real time" for what, s in seconds.items()})
    tables.write(options.out, result, page(result))


def page(result):
    rows = [[what, tables.microseconds(s), f"{DT / s:.0f}"] for what, s in result["seconds"].items()]
    header = ["in every step", "us a step", "times real time"]
    told = f"Panda at 1 kHz, by {result['choice']}. At least {result['wanted']:.0f} times real time is asked for."
    return "\n\n".join(["# A control loop in Python", machine.sentence(result["machine"]), told, tables.markdown(header, rows)])


if __name__ == "__main__":
    main()
