"""The motion that the scene "hand-recorded" reads from its file: fingers that drum on a table, as a glove would record it.

python -m papers.hernandez11.recording    writes src/linkwork/scenes/drumming.csv

No glove was at hand: the angles are sums of sines, sampled 30 times a second.
"""

import math

import numpy as np

import linkwork as lw
from linkwork.scenes import hands

TIMES = np.linspace(0.0, 3.0, 91)  # s
DIGITS = 6
ROLL = 1.6  # 1/s: how often each finger taps
ORDER = ("little", "ring", "middle", "index", "thumb")


def tap(t, finger):
    """From 0 (lifted) to 1 (down), smoothly; fingers follow each other."""
    phase = 2 * math.pi * (ROLL * t - ORDER.index(finger) / len(ORDER))
    return (0.5 - 0.5 * math.cos(phase)) ** 2 * min(t / 0.3, 1.0)


def pose(t):
    """(the palm's place, m; finger -> angles, rad), as `hands.bent` takes them."""
    palm = np.array([0.004 * math.sin(1.7 * t), 0.006 * math.sin(2.3 * t), hands.OVER_TABLE + 0.003 * math.sin(5.1 * t)])
    angles = {}
    for finger in hands.FINGERS:
        down, sway = tap(t, finger), 0.03 * math.sin(3.1 * t + ORDER.index(finger))
        if finger == "thumb":
            angles[finger] = np.array([0.25 * down, 0.15 * down, sway, 0.2 + 0.2 * down, 0.2])
        else:
            angles[finger] = np.array([0.05 + 0.45 * down, sway, 0.3 + 0.35 * down, 0.2 + 0.15 * down])
    return palm, angles


def motions():
    """{bone: Trajectory}."""
    bones = lw.World(gravity=(0, 0, 0))
    hands.add_bones(bones, np.array([0.0, 0.0, hands.OVER_TABLE]), 1.0, 1.0)
    found = hands.motions(TIMES, [hands.bent(bones.find("palm"), *pose(t)) for t in TIMES])
    return {bone.name: motion for bone, motion in zip(bones.bodies, found, strict=True)}


def main():
    lw.Trajectory.save_all(hands.DRUMMING, motions(), digits=DIGITS)


if __name__ == "__main__":
    main()
