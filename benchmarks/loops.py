"""Loops in a row: four-bar linkages and ladders, linkwork (`tree`, `anticipation`), MuJoCo (`connect`) and Exudyn in turns.

    python -m benchmarks.loops --out benchmarks/results/loops.json

Writes JSON and, beside it, a Markdown page. What the numbers mean: README.md.
"""

import argparse
import os
import time

for library in ("OMP", "OPENBLAS", "MKL"):  # LAPACK on one thread, like everything else
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import linkwork as lw  # noqa: E402
from benchmarks import machine, tables  # noqa: E402
from benchmarks.peers.exudyn_peer import FourBars  # noqa: E402
from benchmarks.timing import Run, best_of_turns  # noqa: E402

DT = 1e-3  # s
COUNTS = (50, 500, 2000)
PEERS = ("MuJoCo", "Exudyn")
PEER_COUNTS = (50, 500)  # a step of MuJoCo takes seconds beyond
FEWEST = 20  # steps of a batch
FIRST = 1  # steps of a reset; Exudyn begins anew with every batch
WAYS = {"rattle": {"integrator": "rattle"}, "euler": {"integrator": "euler"},
        "anticipation, euler": {"integrator": "euler", "solver": "anticipation"}}  # fmt: skip
ANTICIPATED = (50, 500)  # W has 6,000 rows beyond
TURNS = 30  # of its parts


class Linkage(Run):
    """A scene of n loops."""

    def __init__(self, scene, n, options):
        begin = time.perf_counter()
        super().__init__(lw.Simulation(lw.scenes.get(scene, n=n), dt=DT, **options))
        self.compile_seconds = time.perf_counter() - begin
        self.last = list(self.sim.world.bodies)[-1].name

    def reset(self):
        super().reset()
        self.sim.step(FIRST)  # puts derived fields in place, which is not timed

    def tip(self):
        return tuple(float(x) for x in self.sim.position(self.last))

    def off(self):
        """The largest |C|, m."""
        return float(self.sim.drift())


class MujocoFourBars:
    """The same four-bars: posts on hinges, each bar on the post before it, connected to the next."""

    def __init__(self, n, speed=1.0):
        import mujoco

        self._mujoco = mujoco
        spec = mujoco.MjSpec()
        spec.option.timestep = DT
        spec.option.gravity = (0, 0, -9.81)
        for k in range(n + 1):
            post = spec.worldbody.add_body(name=f"post{k}", pos=(k, 0, 0), mass=1.0, ipos=(0, 0, 0.5),
                                           inertia=(1 / 12, 1 / 12, 1e-3), explicitinertial=True)  # fmt: skip
            post.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0))
            post.add_site(name=f"top{k}", pos=(0, 0, 1))
            if k < n:
                bar = post.add_body(name=f"bar{k}", pos=(0, 0, 1), mass=1.0, ipos=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12),
                                    explicitinertial=True)  # fmt: skip
                bar.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0))
                bar.add_site(name=f"end{k}", pos=(1, 0, 0))
        for k in range(n):
            spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=f"end{k}",
                              name2=f"top{k + 1}")  # fmt: skip
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.speed = speed
        self.reset()

    def step(self, k):
        self._mujoco.mj_step(self.model, self.data, k)

    def reset(self):
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qvel[0::2] = self.speed  # posts; bars stay level
        self.data.qvel[1::2] = -self.speed
        self.step(FIRST)

    def tip(self):
        return tuple(float(x) for x in self.data.xpos[-1])

    def off(self):
        """The largest distance between pins that belong together, m."""
        self._mujoco.mj_kinematics(self.model, self.data)
        sites = {self.model.site(k).name: self.data.site_xpos[k] for k in range(self.model.nsite)}
        return max(float(np.abs(sites[f"end{k}"] - sites[f"top{k + 1}"]).max()) for k in range(self.model.neq))


def contestants(counts, peers):
    made = {}
    for scene in ("four-bars", "ladder"):
        for n in counts:
            print(f"{scene}, {n} loops", flush=True)
            for way, options in WAYS.items():
                if "solver" not in options or n in ANTICIPATED:
                    made[scene, n, f"linkwork {way}"] = Linkage(scene, n, options)
            if scene == "four-bars" and n in peers:
                try:
                    made[scene, n, "MuJoCo"] = MujocoFourBars(n)
                    made[scene, n, "Exudyn"] = FourBars(n, h=DT)
                except ImportError:
                    pass
    return made


def measure(counts, peers, rounds):
    """Rows {scene, n, contestant, seconds a loop, against the shortest, |C| after 200 steps, seconds of compiling}; and what
    `anticipation` does with its time."""
    made = contestants(counts, peers)
    best = best_of_turns({key: one for key, one in made.items() if key[2] not in PEERS}, rounds, FEWEST)
    best |= best_of_turns({key: one for key, one in made.items() if key[2] in PEERS}, rounds)
    rows = []
    for (scene, n, who), one in made.items():
        one.reset()
        one.step(200 if who == "Exudyn" else 200 - FIRST)
        shortest = best[scene, min(counts), who] / min(counts)
        rows.append({"scene": scene, "n": n, "contestant": who, "seconds_a_loop": best[scene, n, who] / n,
                     "against_shortest": best[scene, n, who] / n / shortest, "off": one.off(),
                     "compile_seconds": getattr(one, "compile_seconds", None)})  # fmt: skip
    split = [anticipated(scene, n, one, made[scene, n, "linkwork euler"])
             for (scene, n, who), one in made.items() if "anticipation" in who]  # fmt: skip
    return rows, split


def anticipated(scene, n, one, tree):
    """Seconds of W, of LAPACK's factor and solve of it, of a step with all else, taking turns; how much faster `tree` is."""
    from scipy.linalg import lapack

    sim, responses = one.sim, one.sim.schedules.responses
    W = np.array(responses.matrix(sim.work), order="F")
    copy, right = np.empty_like(W, order="F"), np.ones(len(W))

    def solve():
        factors, _ = lapack.dpotrf(copy, lower=1, clean=0, overwrite_a=1)
        lapack.dpotrs(factors, right, lower=1)

    ways = {
        "W": lambda: responses.matrix(sim.work),
        "LAPACK": solve,
        "step": lambda: one.step(1),
        "tree": lambda: tree.step(20),
    }
    best = dict.fromkeys(ways, np.inf)
    for _ in range(TURNS):
        copy[:] = W
        one.reset()
        tree.reset()
        for way, run in ways.items():
            start = time.perf_counter()
            run()
            best[way] = min(best[way], time.perf_counter() - start)
    return {"scene": scene, "n": n, "rows": len(W), **{f"{way}_seconds": best[way] for way in ("W", "LAPACK", "step")},
            "step_over_LAPACK": best["step"] / best["LAPACK"], "tree_faster": best["step"] / (best["tree"] / 20)}  # fmt: skip


def report(result):
    """The Markdown page."""
    header = ["mechanism", "loops", "contestant", "us a loop and step", "against shortest", "largest \\|C\\| after 0.2 s, m",
              "compile, s"]  # fmt: skip
    rows = [
        [row["scene"], f"{row['n']:,}", row["contestant"], f"{1e6 * row['seconds_a_loop']:.3g}",
         f"{row['against_shortest']:.2f}", f"{row['off']:.1e}", row["compile_seconds"] and f"{row['compile_seconds']:.1f}"]
        for row in result["rows"]
    ]  # fmt: skip
    times = ("W_seconds", "LAPACK_seconds", "step_seconds")
    split = [
        [row["scene"], row["n"], row["rows"], *(f"{1e3 * row[key]:.3g}" for key in times), f"{row['step_over_LAPACK']:.2f}",
         f"{row['tree_faster']:.0f}"]
        for row in result["anticipation"]
    ]  # fmt: skip
    what = ("`anticipation` with `euler`: its auxiliary rows, W formed, LAPACK's Cholesky factor and solve of it, a whole "
            "step (one of each, and the tree); how many such steps `tree` makes in that time:")  # fmt: skip
    columns = ["mechanism", "loops", "rows of W", "W, ms", "LAPACK, ms", "step, ms", "step / LAPACK", "`tree` is faster by"]
    return "\n\n".join(["# Loops", machine.sentence(result["machine"]), tables.markdown(header, rows), what,
                        tables.markdown(columns, split)])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/loops.json")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    arguments = parser.parse_args()
    rows, split = measure(arguments.counts, PEER_COUNTS, arguments.rounds)
    result = {"machine": machine.describe(), "dt": DT, "rows": rows, "anticipation": split}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
