"""Piles: a stack with a heavy top, a wall that a ball on a chain swings into; linkwork and MuJoCo on the same bodies.

    python -m benchmarks.contact --out benchmarks/results/contact.json

A run of so many seconds from the start, once each: time a step on average, and the deepest overlap on the way. Writes JSON
and a Markdown page.
"""

import argparse
import time

import numpy as np

import linkwork as lw
from benchmarks import machine, tables

DT = 2e-3  # s
SCENES = {
    "stack of 20, the top 100 times as heavy": ("box-stack", {"n": 20, "size": 0.1, "top": 100.0}, 1.0),
    "wall of 200 blocks": ("wall", {"rows": 10, "columns": 20}, 1.0),
}


class Ours:
    def __init__(self, world):
        self.sim = lw.Simulation(world, dt=DT)
        start = self.sim.state.copy()
        self.sim.step(3)  # whatever is compiled
        self.sim.state = start

    def step(self):
        self.sim.step()

    def overlap(self):
        return self.sim.contact_report().penetration


class Mujoco:
    """The same bodies: free ones, and chains of ball joints from the ground."""

    def __init__(self, world):
        import mujoco

        self.mujoco = mujoco
        spec = mujoco.MjSpec()
        spec.option.timestep = DT
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        friction = next(e for e in world.contacts if isinstance(e, lw.Contact)).friction
        sliding = (friction, 0.0, 0.0)
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), friction=sliding)
        joints = {joint.b: joint for joint in world.constraints}
        made = {}
        for body in world.bodies:
            joint = joints.get(body)
            parent = made.get(joint.a) if joint else None
            origin = np.zeros(3) if parent is None else parent[1]
            start = np.asarray(body.position)
            child = (spec.worldbody if parent is None else parent[0]).add_body(pos=start - origin)
            child.add_geom(**self._geom(body), mass=body.mass, friction=sliding, quat=body.orientation)
            if joint is None:
                child.add_freejoint()
            else:
                child.add_joint(type=mujoco.mjtJoint.mjJNT_BALL, pos=np.asarray(joint.at) - start)
            made[body] = (child, start)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def _geom(self, body):
        kinds, shape = self.mujoco.mjtGeom, body.shape
        if isinstance(shape, lw.Box):
            return {"type": kinds.mjGEOM_BOX, "size": (shape.x / 2, shape.y / 2, shape.z / 2)}
        if isinstance(shape, lw.Capsule):
            return {"type": kinds.mjGEOM_CAPSULE, "size": (shape.radius, shape.length / 2, 0)}
        return {"type": kinds.mjGEOM_SPHERE, "size": (shape.radius, 0, 0)}

    def step(self):
        self.mujoco.mj_step(self.model, self.data)

    def overlap(self):
        return float(max(0.0, -self.data.contact.dist.min())) if self.data.ncon else 0.0


def contestants(world):
    made = {"linkwork": Ours}
    try:
        import mujoco  # noqa: F401

        made["MuJoCo"] = Mujoco
    except ImportError:
        pass
    return {name: make(world()) for name, make in made.items()}


def measure(seconds_share):
    rows = []
    for what, (scene, parameters, seconds) in SCENES.items():
        for name, one in contestants(lambda scene=scene, parameters=parameters: lw.scenes.get(scene, **parameters)).items():
            steps, deepest, spent = max(5, round(seconds_share * seconds / DT)), 0.0, 0.0
            for _ in range(steps):
                begin = time.perf_counter()
                one.step()
                spent += time.perf_counter() - begin
                deepest = max(deepest, one.overlap())
            rows.append({"scene": what, "contestant": name, "seconds_a_step": spent / steps, "deepest": deepest})
            print(rows[-1], flush=True)
    return rows


def report(result):
    """The Markdown page."""
    header = ["scene", "contestant", "us a step", "steps a second", "deepest overlap, m"]
    rows = [[row["scene"], row["contestant"], tables.microseconds(row["seconds_a_step"]), f"{1 / row['seconds_a_step']:,.0f}",
             f"{row['deepest']:.1e}"] for row in result["rows"]]  # fmt: skip
    return "\n\n".join(["# Contact", machine.sentence(result["machine"]), tables.markdown(header, rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/contact.json")
    parser.add_argument("--share", type=float, default=1.0, help="of the seconds of each run")
    arguments = parser.parse_args()
    result = {"machine": machine.describe(), "dt": DT, "rows": measure(arguments.share)}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
