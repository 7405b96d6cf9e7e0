"""Piles and a rag doll at 240 steps a second; linkwork and MuJoCo on the same bodies.

    python -m benchmarks.contact --out benchmarks/results/contact.json

From the start: time a step on average, one call a step, and the deepest overlap on the way. What falls is timed with nothing in
between, the best of five tries in turns; it is chaotic, so the doll falls from several starts, and the mean of them counts. Of
what should stand: the farthest that any box has gone since it settled (one second), and the energy that was gained since.
`--only wall` makes the runs whose names have that in them, `--share 0.01` a hundredth of each. Writes JSON and a Markdown page.
"""

import argparse
import time

import numpy as np

import linkwork as lw
from benchmarks import machine, tables

DT = 1 / 240  # s
SETTLED = 1.0  # s
LOOKS = 0.25  # s between looks at what should stand
TRIES = 5
SPEEDS = (1.35, 1.4, 1.45, 1.5, 1.55, 1.6, 1.65, 1.7)  # m/s, at which the doll sets out; 1.5 is the scene's


def standing_wall():
    """Ten rows of twenty blocks, with half blocks at the ends of every second row: 205."""
    world = lw.scenes.get("wall", rows=10, columns=20, links=1)
    for name in ("hook", "joint0", "ball", "link0"):
        world.remove(name)
    return world


def stack():
    return lw.scenes.get("box-stack", n=20, size=0.1, top=100.0)


def falling_doll(speed):
    return lambda: lw.scenes.get("rag-doll-on-stairs", speed=speed)


def struck_wall():
    return lw.scenes.get("wall", rows=10, columns=20)


# what: the worlds that it starts from, seconds, whether it should stand
RUNS = {
    "stack of 20, the top 100 times as heavy": ([stack], 60.0, True),
    "rag doll of 15 bodies on stairs": ([falling_doll(speed) for speed in SPEEDS], 2.0, False),
    "ball on a chain, wall of 205 blocks": ([struck_wall], 1.0, False),
    "wall of 205 blocks": ([standing_wall], 60.0, True),
}


class Ours:
    def __init__(self, world, integrator="rattle"):
        self.sim, self.world = lw.Simulation(world, dt=DT, integrator=integrator), world
        start = self.sim.state.copy()
        self.sim.step(3)  # whatever is compiled
        self.sim.state = start

    def step(self):
        self.sim.step()

    def overlap(self):
        return self.sim.contact_report().penetration

    def positions(self):
        return np.array([self.sim.position(body) for body in self.world.bodies])

    def energy(self):
        return float(self.sim.energy().total)

    def failures(self):
        return 0


class Mujoco:
    """The same bodies, joints, limits and colliders: free ones, and trees of joints."""

    def __init__(self, world):
        import mujoco

        self.mujoco = mujoco
        spec = mujoco.MjSpec()
        spec.option.timestep = DT
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        friction = next(e for e in world.contacts if isinstance(e, lw.Contact)).friction
        self.sliding = (friction, 0.0, 0.0)
        for element in world.contacts:
            if isinstance(element, lw.Collider):
                assert element.body is world.ground
                spec.worldbody.add_geom(**self._geom(element.shape), pos=element.position, quat=element.orientation,
                                        friction=self.sliding)  # fmt: skip
        limits = {e.joint: (e.lower, e.upper) for e in world.contacts if isinstance(e, lw.HardLimit)}
        joints = {joint.b: joint for joint in world.constraints}
        made = {}
        for body in world.bodies:
            joint = joints.get(body)
            parent = made.get(joint.a) if joint else None
            origin = np.zeros(3) if parent is None else parent[1]
            start = np.asarray(body.position)
            child = (spec.worldbody if parent is None else parent[0]).add_body(pos=start - origin)
            child.add_geom(**self._geom(body.shape), mass=body.mass, friction=self.sliding, quat=body.orientation)
            if joint is None:
                child.add_freejoint()
            else:
                self._join(child, joint, np.asarray(joint.at) - start, limits.get(joint))
            made[body] = (child, start)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        for k, body in enumerate(world.bodies):
            if joints.get(body) is None:
                at = self.model.jnt_dofadr[self.model.body_jntadr[k + 1]]
                self.data.qvel[at : at + 3] = body.velocity

    def _join(self, child, joint, at, limits):
        kinds = self.mujoco.mjtJoint
        if isinstance(joint, lw.Ball):
            child.add_joint(type=kinds.mjJNT_BALL, pos=at)
            return
        axes = (joint.first, joint.second) if isinstance(joint, lw.Universal) else (joint.axis,)
        for axis in axes:
            made = child.add_joint(type=kinds.mjJNT_HINGE, pos=at, axis=axis)
            if limits is not None:
                made.limited, made.range = self.mujoco.mjtLimited.mjLIMITED_TRUE, np.degrees(limits)

    def _geom(self, shape):
        kinds = self.mujoco.mjtGeom
        if isinstance(shape, lw.Plane):
            return {"type": kinds.mjGEOM_PLANE, "size": (0, 0, 1)}
        if isinstance(shape, lw.Box):
            return {"type": kinds.mjGEOM_BOX, "size": (shape.x / 2, shape.y / 2, shape.z / 2)}
        if isinstance(shape, lw.Ellipsoid):
            return {"type": kinds.mjGEOM_ELLIPSOID, "size": (shape.x / 2, shape.y / 2, shape.z / 2)}
        if isinstance(shape, lw.Capsule):
            return {"type": kinds.mjGEOM_CAPSULE, "size": (shape.radius, shape.length / 2, 0)}
        assert isinstance(shape, lw.Sphere)
        return {"type": kinds.mjGEOM_SPHERE, "size": (shape.radius, 0, 0)}

    def step(self):
        self.mujoco.mj_step(self.model, self.data)

    def overlap(self):
        return float(max(0.0, -self.data.contact.dist.min())) if self.data.ncon else 0.0

    def positions(self):
        return self.data.xpos[1:].copy()

    def energy(self):
        self.mujoco.mj_energyPos(self.model, self.data)
        self.mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy.sum())

    def failures(self):
        """How often it has become unstable, and begun again from the start."""
        kinds = self.mujoco.mjtWarning
        return sum(int(self.data.warning[int(kind)].number) for kind in (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL,
                                                                        kinds.mjWARN_BADQACC))  # fmt: skip


def contestants(stands):
    """What falls is made with `shake`, too, which has one stage of contact a step, as MuJoCo has."""
    made = {"linkwork": Ours} if stands else {"linkwork": Ours, "linkwork, shake": lambda world: Ours(world, "shake")}
    try:
        import mujoco  # noqa: F401

        made["MuJoCo"] = Mujoco
    except ImportError:
        pass
    return made


def stand(one, steps):
    """Seconds a step, the deepest overlap; drift (m) and energy gained (J) since it settled."""
    deepest, spent, settled, drift, gained = 0.0, 0.0, None, 0.0, 0.0
    for k in range(1, steps + 1):
        begin = time.perf_counter()
        one.step()
        spent += time.perf_counter() - begin
        deepest = max(deepest, one.overlap())
        if settled is None and k >= min(round(SETTLED / DT), steps // 2):
            settled = one.positions(), one.energy()
        elif settled is not None and k % round(LOOKS / DT) == 0:
            drift = max(drift, float(np.linalg.norm(one.positions() - settled[0], axis=1).max()))
            gained = max(gained, one.energy() - settled[1])
    return {"seconds_a_step": spent / steps, "deepest": deepest, "drift": drift, "gained": gained}


def pace(one, steps):
    """Seconds a step."""
    begin = time.perf_counter()
    for _ in range(steps):
        one.step()
    return (time.perf_counter() - begin) / steps


def deepest_overlap(one, steps):
    """On the way (m), and how often it became unstable."""
    deepest = 0.0
    for _ in range(steps):
        one.step()
        deepest = max(deepest, one.overlap())
    return deepest, one.failures()


def fall(starts, contestants, steps):
    """Of each contestant: seconds a step, the mean over all starts of the best of all tries; the deepest overlap; failures."""
    found = {}
    best = {name: np.full(len(starts), np.inf) for name in contestants}
    for _ in range(TRIES):
        for k, world in enumerate(starts):
            for name, make in contestants.items():  # in turns
                best[name][k] = min(best[name][k], pace(make(world()), steps))
    for name, make in contestants.items():
        deepest, failures = zip(*(deepest_overlap(make(world()), steps) for world in starts), strict=True)
        found[name] = {"seconds_a_step": float(best[name].mean()), "deepest": max(deepest),
                       "of_each_start": best[name].tolist(), "failures": sum(map(bool, failures))}  # fmt: skip
    return found


def measure(share, only):
    rows = []
    for what, (starts, seconds, stands) in RUNS.items():
        if only not in what:
            continue
        steps = max(8, round(share * seconds / DT))
        if stands:
            found = {name: stand(make(starts[0]()), steps) for name, make in contestants(stands).items()}
        else:
            found = fall(starts, contestants(stands), steps)
        rows += [{"scene": what, "contestant": name, "steps": steps, **one} for name, one in found.items()]
        print(*rows[-len(found) :], sep="\n", flush=True)
    return rows


def report(result):
    """The Markdown page."""
    header = [
        "scene",
        "contestant",
        "seconds",
        "us a step",
        "steps a second",
        "deepest overlap, m",
        "drift, m",
        "energy gained, J",
        "unstable",
    ]
    rows = []
    for row in result["rows"]:
        pace = [tables.microseconds(row["seconds_a_step"]), f"{1 / row['seconds_a_step']:,.0f}", f"{row['deepest']:.1e}"]
        stood = [f"{row[name]:.1e}" if name in row else None for name in ("drift", "gained")]
        stood.append(f"{row['failures']} of {len(row['of_each_start'])}" if "failures" in row else None)
        rows.append([row["scene"], row["contestant"], f"{row['steps'] * result['dt']:.3g}", *pace, *stood])
    says = (
        "240 steps a second. Drift: the farthest that any box of what should stand has gone since it settled (after one second)"
    )
    says += "; energy gained: the most since then. Unstable: runs that the contestant began again, as it says itself."
    return "\n\n".join(["# Contact", machine.sentence(result["machine"]), says, tables.markdown(header, rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/contact.json")
    parser.add_argument("--share", type=float, default=1.0, help="of the seconds of each run")
    parser.add_argument("--only", default="", help="runs whose names have this in them")
    arguments = parser.parse_args()
    result = {"machine": machine.describe(), "dt": DT, "rows": measure(arguments.share, arguments.only)}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
