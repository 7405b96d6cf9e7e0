"""The hand of figures 1 and 5, and the robot of figure 3, with numbers: what is held, what is felt, and the time of a step."""

import math
import time
import warnings

import numpy as np

import linkwork as lw
from linkwork.scenes import hands, robots

PAPER_HAND = 0.36e-3  # s a frame: "the solution to articulated dynamics"
WAYS = {  # step, options
    "until done, 10 ms": (0.01, {}),
    "until done, 5 ms": (0.005, {}),
    "exact tangent, 10 ms": (0.01, {"tangent": "exact"}),
    "one iteration, 10 ms": (0.01, {"iterations": 1}),
    "one iteration, 5 ms": (0.005, {"iterations": 1}),
}
SECONDS = {"hand": 3.0, "robot-drag": 6.0}
JOINTS = ("index-joint2", "middle-joint2", "ring-joint2", "little-joint2")


def quietly(work):
    """What work() returns; notes of steps that were cut are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return work()


def seconds_a_step(name, dt, options, rounds):
    """The best of several whole runs."""
    sim = lw.Simulation(lw.scenes.get(name), dt=dt, solver="implicit", **options)
    steps, best = round(SECONDS[name] / dt), math.inf
    for _ in range(rounds):
        sim.reset()
        begin = time.perf_counter()
        quietly(lambda: sim.step(steps))
        best = min(best, time.perf_counter() - begin)
    return best / steps, sim


def hand(rounds=3):
    rows = []
    for way, (dt, options) in WAYS.items():
        took, sim = seconds_a_step("hand", dt, options, rounds)
        place = sim.position("ball")
        rows.append({"way": way, "seconds": took, "ball": place.tolist(), "drift": sim.drift()})
    sim = lw.Simulation(lw.scenes.get("hand"), dt=0.01, solver="implicit")
    recording = quietly(lambda: sim.run(SECONDS["hand"], record_every=0.02))
    bends = np.array([recording[name].angle for name in JOINTS])
    asked = [[hands.glove(t)[1][name.split("-")[0]][2] for name in JOINTS] for t in recording.time]
    return {
        "rows": rows,
        "times": recording.time.tolist(),
        "ball": recording["ball"].position[:, 2].tolist(),
        "palm": recording["palm"].position[:, 2].tolist(),
        "bend": bends[0].tolist(),
        "asked": [row[0] for row in asked],
        "most_backwards": {"asked": float(np.min(asked)), "found": float(bends.min())},
        "recorded": recorded(),
    }


def recorded(dt=0.01):
    """The hand that follows a motion from a file: how far its bones are from it."""
    motions = lw.Trajectory.load_all(hands.DRUMMING)
    sim = lw.Simulation(lw.scenes.get("hand-recorded"), dt=dt, solver="implicit", iterations=1)
    off, drift = [], 0.0
    for _ in range(round(SECONDS["hand"] / dt)):
        sim.step()
        drift = max(drift, sim.drift())
        off.append([float(np.linalg.norm(sim.position(name) - motion.at(sim.time)[0, :3])) for name, motion in motions.items()])
    keys = len(next(iter(motions.values())))
    return {"keys": keys, "bones": len(motions), "off": float(np.max(off)), "mean": float(np.mean(off)), "drift": float(drift),
            "dt": dt}  # fmt: skip


def drag(rounds=3):
    """What the user feels, with the joints' torques on and off."""
    found = {}
    for name, stiffness in (("on", 40.0), ("off", 0.0)):
        world = lw.scenes.get("robot-drag")
        sim = lw.Simulation(world, dt=0.01, solver="implicit")
        sim.set("stiffness", stiffness)
        recording = sim.run(SECONDS["robot-drag"], record_every=0.02)
        force = np.linalg.norm(robots.handle_force(world, recording), axis=1)
        found[name] = {"force": force.tolist(), "largest": float(force.max()), "held": float(force[-1])}
    found["times"] = recording.time.tolist()
    found["seconds"] = {way: seconds_a_step("robot-drag", 0.01, options, rounds)[0]
                        for way, options in (("until done", {}), ("one iteration", {"iterations": 1}))}  # fmt: skip
    return found


def measure(report=lambda text: None, *, rounds=3):
    report("the hand")
    found = {"hand": hand(rounds)}
    report("the robot")
    return found | {"drag": drag(rounds)}
