"""Robots of dm_control and gymnasium on the ground, lying and under random controls, beside MuJoCo.

    python -m benchmarks.contact_robots --out benchmarks/results/contact_robots.json

Each robot falls from the file's first state for SETTLED seconds without controls. From there, at 2 ms a step, it lies as it is,
or it moves: controls are drawn anew every HELD steps from the ends of their ranges, the same ones for all. Contestants take
turns, and of each piece of HELD steps the best of all rounds counts; a piece is one call. Overlap: the deepest at the end of
any piece. Off: the part of the pieces in which a step was farther from the law of contact than 1e-4 of what gravity gives in a
step, or in an impact than 1e-3 of the fastest approach. `--only humanoid` takes the robots whose names have that in them.
`--held-out --out benchmarks/results/contact_robots_held_out.json` takes others, on which nothing of the solver was chosen.
Writes JSON and, beside it, a Markdown page.
"""

import argparse
import tempfile
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

import linkwork as lw
from benchmarks import machine, tables

DT, SETTLED, HELD, DRAWS = 2e-3, 4.0, 10, 60
SUITE = ("humanoid", "walker", "cheetah", "hopper", "quadruped")
GYMNASIUM = {"ant": "ant.xml"}
HELD_OUT = {"gymnasium humanoid": "humanoid.xml", "gymnasium half cheetah": "half_cheetah.xml",
            "gymnasium walker": "walker2d_v5.xml", "gymnasium hopper": "hopper.xml"}  # fmt: skip
INTEGRATORS = ("euler", "shake", "rattle")


def model(name):
    """MuJoCo's model of a robot, at this step."""
    file = (GYMNASIUM | HELD_OUT).get(name)
    if file is not None:
        folder = Path(find_spec("gymnasium").origin).parent / "envs" / "mujoco" / "assets"
        made = mujoco.MjModel.from_xml_path(str(folder / file))
    else:
        domain, common = import_module(f"dm_control.suite.{name}"), import_module("dm_control.suite.common")
        text = domain.make_model(floor_size=20) if name == "quadruped" else domain.get_model_and_assets()[0]
        made = mujoco.MjModel.from_xml_string(text.decode() if isinstance(text, bytes) else text, common.ASSETS)
    made.opt.timestep = DT
    return made


class Theirs:
    def __init__(self, model):
        self.model, self.data = model, mujoco.MjData(model)

    def step(self, count):
        mujoco.mj_step(self.model, self.data, count)

    def command(self, values):
        self.data.ctrl[:] = values

    def keep(self):
        self.start = mujoco.MjData(self.model)
        mujoco.mj_copyData(self.start, self.model, self.data)

    def reset(self):
        mujoco.mj_copyData(self.data, self.model, self.start)

    def overlap(self):
        return float(max(0.0, -self.data.contact.dist.min())) if self.data.ncon else 0.0

    def off(self):
        return None


class Ours:
    def __init__(self, path, integrator, motors):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            self.sim = lw.Simulation(lw.load(path), dt=DT, integrator=integrator)
        self.motors = [name if name in self.sim.control else f"{name} motor" for name in motors]

    def step(self, count):
        self.sim.step(count)

    def command(self, values):
        for name, value in zip(self.motors, values, strict=True):
            if name in self.sim.control:
                self.sim.control[name] = value

    def keep(self):
        self.start = self.sim.state.copy()

    def reset(self):
        self.sim.state = self.start.copy()

    def overlap(self):
        return self.sim.contact_report().penetration

    def off(self):
        return not self.sim.contact_report().converged


def pace(one, drawn):
    """Seconds of each piece; the overlap at the end of each, and whether the law is off."""
    one.reset()
    spent, overlaps, off = [], [], []
    for values in drawn:
        one.command(values)
        begin = time.perf_counter()
        one.step(HELD)
        spent.append(time.perf_counter() - begin)
        overlaps.append(one.overlap())
        off.append(one.off())
    return spent, max(overlaps), off


def measure_robot(name, rounds):
    made = model(name)
    motors = [made.actuator(a).name for a in range(made.nu)]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / f"{name}.xml")
        mujoco.mj_saveLastXML(path, made)
        contestants = {integrator: Ours(path, integrator, motors) for integrator in INTEGRATORS} | {"MuJoCo": Theirs(made)}
    ends = np.where(made.actuator_ctrllimited[:, None] != 0, made.actuator_ctrlrange, (-1.0, 1.0))
    chosen = np.random.default_rng(0).integers(0, 2, size=(DRAWS, made.nu))
    runs = {"lying": np.zeros((DRAWS, made.nu)), "moving": np.take_along_axis(ends[None], chosen[..., None], 2)[..., 0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        for one in contestants.values():
            one.command(np.zeros(made.nu))
            one.step(round(SETTLED / DT))
            one.keep()
        rows = []
        for run, drawn in runs.items():
            found = {who: [pace(one, drawn) for _ in range(1)] for who, one in contestants.items()}  # which warms up
            for _ in range(rounds):
                for who, one in contestants.items():
                    found[who].append(pace(one, drawn))
            for who, tries in found.items():
                seconds = float(np.min([spent for spent, _, _ in tries[1:]], axis=0).sum()) / (HELD * DRAWS)
                off = [wrong for _, _, told in tries[-1:] for wrong in told if wrong is not None]
                rows.append({"robot": name, "run": run, "contestant": who, "seconds_a_step": seconds, "overlap": tries[-1][1],
                             "off": float(np.mean(off)) if off else None})  # fmt: skip
    theirs = {row["run"]: row["seconds_a_step"] for row in rows if row["contestant"] == "MuJoCo"}
    for row in rows:
        row["ratio"] = row["seconds_a_step"] / theirs[row["run"]]
    return rows


def report(result):
    header = ["robot", "run", "contestant", "us a step", "of MuJoCo's time", "deepest overlap, m", "steps off the law"]
    rows = [[row["robot"], row["run"], row["contestant"], tables.microseconds(row["seconds_a_step"]), f"{row['ratio']:.2f}",
             f"{row['overlap']:.1e}", None if row["off"] is None else f"{100 * row['off']:.1f} %"]
            for row in result["rows"]]  # fmt: skip
    says = f"{DT * 1e3:g} ms a step; every contestant on one thread, in turns. Lying: after {SETTLED:g} s without controls."
    return "\n\n".join(["# Robots on the ground", machine.sentence(result["machine"]), says, tables.markdown(header, rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/contact_robots.json")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--held-out", action="store_true", help="robots on which nothing was chosen")
    arguments = parser.parse_args()
    rows = []
    for name in HELD_OUT if arguments.held_out else (*SUITE, *GYMNASIUM):
        if arguments.only in name:
            rows += measure_robot(name, arguments.rounds)
            print(*rows[-2 * (len(INTEGRATORS) + 1) :], sep="\n", flush=True)
    result = {"machine": machine.describe(), "dt": DT, "rows": rows}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
