"""Kinematics: forward kinematics and a frame's Jacobian of linkwork and of Pinocchio, and inverse kinematics of Panda.

    python -m benchmarks.kinematics --out benchmarks/results/kinematics.json

First both must agree at random states, then they are timed in turns: one state a call, and 4,096 of them. Inverse kinematics
takes poses that random configurations within the limits have, from other such configurations. Writes JSON and a Markdown page.
"""

import argparse
import time
from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks import machine, tables
from benchmarks.reduced import ONE, Timed, repeat
from benchmarks.robots import robot
from linkwork import reduced

ROBOTS = {"Talos": "gripper_right_base_link", "Panda": "panda_hand_tcp"}  # and the frame of the Jacobian
STATES, TRIED = 4096, 20
AGREEMENT = 1e-10
POSES = 1000  # of inverse kinematics
WITHIN = 1e-6  # m
MOST = {"Talos, one": 1.5, "Talos, many": 0.3}  # of Pinocchio's time


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="benchmarks/results/kinematics.json")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args(arguments)
    result = {"machine": machine.describe(), "agreement": {}, "seconds": {}}
    for name, frame in ROBOTS.items():
        pair = robot(name)
        result["agreement"][name] = agreement(pair, frame)
        result["seconds"][name] = race(pair, frame, options.rounds)
        print(name, {what: f"{times['linkwork'] / times['Pinocchio']:.2f}" for what, times in result["seconds"][name].items()})
    result["inverse"] = inverse(robot("Panda"), ROBOTS["Panda"])
    print(result["inverse"])
    tables.write(options.out, result, page(result))


def agreement(pair, frame):
    """The largest difference of poses and Jacobians, relative to the largest number."""
    model, data, tree, worst = pair.model, pair.data, pair.tree, 0.0
    number = model.getFrameId(frame)
    for q in pair.states(TRIED, seed=1)[0]:
        at = pair.coordinates(q)
        T = pair.turned(at)
        pin.framesForwardKinematics(model, data, q)
        J = pin.computeFrameJacobian(model, data, q, number, pin.LOCAL)[:, pair.v_order] @ T.T
        ours, pose = reduced.jacobian(tree, at, frame, axes="local"), reduced.frame_poses(tree, at, frame)
        there = data.oMf[number]
        off = pose.position[0] - there.translation, pose.rotation[0] - there.rotation, (ours - J) / np.abs(J).max()
        worst = max(worst, *(np.abs(part).max() for part in off))
    if worst > AGREEMENT:
        raise RuntimeError(f"{pair.name}: linkwork and Pinocchio differ by {worst:g}, more than {AGREEMENT:g}")
    return float(worst)


def race(pair, frame, rounds):
    """{"one" or "many": {who: seconds a state}}; Pinocchio's is a loop in both."""
    model, data, tree, number = pair.model, pair.data, pair.tree, pair.model.getFrameId(frame)
    q = pair.states(STATES)[0]
    mine, first = pair.coordinates(q), q[0].copy()
    own, poses, J = mine[0].copy(), np.empty((len(tree.bodies), 12)), np.empty((6, tree.nv))
    many_poses, many_J = np.empty((STATES, *poses.shape)), np.empty((STATES, *J.shape))

    def theirs(at):
        pin.framesForwardKinematics(model, data, at)
        pin.computeFrameJacobian(model, data, at, number, pin.LOCAL)

    def ours(at, x, columns):
        reduced.forward_kinematics(tree, at, out=x)
        reduced.jacobian(tree, at, frame, axes="local", out=columns)

    rows = [row.copy() for row in q[:ONE]]
    timed = {
        "one": {
            "Pinocchio": Timed(partial(repeat, partial(theirs, first)), ONE),
            "linkwork": Timed(partial(repeat, partial(ours, own, poses, J)), ONE),
        },
        "many": {
            "Pinocchio": Timed(lambda: [theirs(row) for row in rows], ONE),
            "linkwork": Timed(partial(ours, mine, many_poses, many_J), STATES),
        },
    }
    every = [one for calls in timed.values() for one in calls.values()]
    for one in every:
        one.call()
    for _ in range(rounds):
        for one in every:
            one.turn()
    return {what: {who: one.best for who, one in calls.items()} for what, calls in timed.items()}


def inverse(pair, frame):
    """How many of random poses are reached, and in what time."""
    tree, rng = pair.tree, np.random.default_rng(1)
    lower, upper = reduced.limits(tree)
    goals, starts = (rng.uniform(lower, upper, (POSES, tree.nq)) for _ in range(2))
    poses = reduced.frame_poses(tree, goals, frame)
    turns = [pin.Quaternion(R).coeffs()[[3, 0, 1, 2]] for R in poses.rotation[:, 0]]
    targets = list(zip(poses.position[:, 0], turns, strict=True))
    seconds, starts_taken, off = np.empty(POSES), np.empty(POSES, dtype=int), np.empty(POSES)
    reduced.inverse_kinematics(tree, {frame: targets[0]}, start=starts[0])
    for k, (target, start) in enumerate(zip(targets, starts, strict=True)):
        begin = time.thread_time()
        found = reduced.inverse_kinematics(tree, {frame: target}, start=start)
        seconds[k] = time.thread_time() - begin
        off[k], starts_taken[k] = np.abs(reduced.frame_poses(tree, found.q, frame).position[0] - target[0]).max(), found.starts
    begin = time.thread_time()
    x, turn = (np.array(part) for part in zip(*targets, strict=True))
    reduced.inverse_kinematics(tree, {frame: (x, turn)}, start=starts)
    together = (time.thread_time() - begin) / POSES
    reached, first = float((off <= WITHIN).mean()), float((starts_taken == 1).mean())
    middle, late = np.quantile(seconds, (0.5, 0.95)).tolist()
    return {"poses": POSES, "reached": reached, "first start": first, "median": middle, "95 %": late, "in one call": together}


def page(result):
    rows = []
    for name, times in result["seconds"].items():
        for what, who in times.items():
            ratio = who["linkwork"] / who["Pinocchio"]
            cells = [tables.microseconds(who[one]) for one in ("Pinocchio", "linkwork")]
            rows.append([f"{name}, {what}", *cells, f"{ratio:.2f}", MOST.get(f"{name}, {what}")])
    found = result["inverse"]
    median, late, together = (tables.microseconds(found[key]) for key in ("median", "95 %", "in one call"))
    told = (
        f"Inverse kinematics of Panda, {found['poses']} poses, all from random places: {100 * found['reached']:.1f} % reached "
        f"to {WITHIN:g} m, {100 * found['first start']:.0f} % from the first start; {median} us a call in the median, "
        f"{late} us at 95 %; {together} us each in one call."
    )
    header = ["poses of all bodies and a frame's Jacobian, us a state", "Pinocchio", "linkwork", "ratio", "at most"]
    return "\n\n".join(["# Kinematics", machine.sentence(result["machine"]), tables.markdown(header, rows), told])


if __name__ == "__main__":
    main()
