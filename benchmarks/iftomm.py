"""Problem A02 of the IFToMM library of multibody benchmarks: four-bar linkages in a row, which lie flat on the way.

    python -m benchmarks.iftomm --out benchmarks/results/iftomm.json

2 N + 1 uniform rods of 1 m and 1 kg, upright, the upper pins at 1 m/s. The motion is that of one angle, phi'' = c sin(phi) with
c = g [(N+1)/2 + N] / [(N+1)/3 + N], which SciPy integrates to 1e-13; errors are the largest of the first upper pin at 400
outputs. linkwork with planar bodies, Exudyn with its own, each with steps from long to short.
"""

import argparse
import math
import time

import numpy as np

import linkwork as lw
from benchmarks import machine, tables

PROBLEMS = ((2, 10.0), (40, 20.0))  # N, seconds
OUTPUTS = 400
ASKED = 1e-3  # m: the library's higher accuracy
STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)  # s; the longest that reaches the accuracy counts


def rods(n, speed=1.0):
    """Planar rods on pins; those that close a loop take two rows as all of them do in the plane."""
    world = lw.World(gravity=(0, 0, -9.81))
    for k in range(n + 1):
        post = lw.PlanarBody(
            1.0, 1 / 12, position=(k, 0, 0.5), velocity=(speed / 2, 0, 0), angular_velocity=speed, name=f"post{k}"
        )
        world.add(lw.Ball(world.ground, world.add(post), at=(k, 0, 0)))
    for k in range(n):
        bar = world.add(lw.PlanarBody(1.0, 1 / 12, position=(k + 0.5, 0, 1), velocity=(speed, 0, 0), name=f"bar{k}"))
        world.add(lw.Ball(f"post{k}", bar, at=(k, 0, 1)))
        world.add(lw.Ball(f"post{k + 1}", bar, at=(k + 1, 0, 1)))
    return world


def exact(n, seconds):
    """(outputs + 1, 2): x and height of the first upper pin."""
    from scipy.integrate import solve_ivp

    pull = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    times = np.linspace(0, seconds, OUTPUTS + 1)
    found = solve_ivp(lambda t, y: [y[1], pull * math.sin(y[0])], (0, seconds), [0.0, 1.0], method="DOP853", rtol=1e-13,
                      atol=1e-13, t_eval=times)  # fmt: skip
    return np.column_stack([np.sin(found.y[0]), np.cos(found.y[0])])


class Linkwork:
    def __init__(self, n, h):
        self.name, self.sim = "linkwork rk4", lw.Simulation(rods(n), dt=h, integrator="rk4")
        self.start = self.sim.state.copy()
        self.sim.step(1)  # compiled

    def places(self, seconds):
        self.sim.state = self.start.copy()
        steps, found = round(seconds / self.sim.dt / OUTPUTS), [self.pin()]
        for _ in range(OUTPUTS):
            self.sim.step(steps)
            found.append(self.pin())
        return np.array(found)

    def pin(self):
        return self.sim.point("post0", (0, 0, 0.5))[[0, 2]]


class Exudyn:
    def __init__(self, n, h):
        from benchmarks.peers.exudyn_peer import FourBars

        self.name, self.bars = "Exudyn generalised alpha", FourBars(n, h=h)

    def places(self, seconds):
        return self.bars.run(seconds, seconds / OUTPUTS)[:, 1:]


def measure(repeats):
    """Rows {N, seconds, contestant, h, wall seconds, error}, each contestant's steps down to the first that is accurate."""
    rows = []
    for n, seconds in PROBLEMS:
        wanted = exact(n, seconds)
        for contestant in (Linkwork, Exudyn):
            for h in STEPS:
                try:
                    one = contestant(n, h)
                except ImportError:
                    break
                best, error = math.inf, math.inf
                for _ in range(repeats):
                    begin = time.perf_counter()
                    try:
                        found = one.places(seconds)
                    except (lw.DivergenceError, RuntimeError):
                        break
                    best = min(best, time.perf_counter() - begin)
                    error = float(np.abs(found - wanted).max()) if found.shape == wanted.shape else math.inf
                print(n, one.name, h, best, error, flush=True)
                rows.append({"N": n, "seconds": seconds, "contestant": one.name, "h": h, "wall": best, "error": error})
                if error <= ASKED:
                    break
    return rows


def report(result):
    header = ["N", "s", "contestant", "step, s", "time, s", "largest error, m"]
    rows = [[row["N"], f"{row['seconds']:g}", row["contestant"], f"{row['h']:g}",
             f"{row['wall']:.3g}" if math.isfinite(row["wall"]) else "stopped",
             f"{row['error']:.1e}" if math.isfinite(row["error"]) else "-"] for row in result["rows"]]  # fmt: skip
    text = f"Steps from long to short, down to the first with an error of at most {ASKED:g} m."
    return "\n\n".join(["# IFToMM A02", machine.sentence(result["machine"]), text, tables.markdown(header, rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/iftomm.json")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    result = {"machine": machine.describe(), "rows": measure(arguments.repeats)}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
