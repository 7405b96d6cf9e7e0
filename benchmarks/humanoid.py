"""dm_control's humanoid without contact, in joint coordinates, beside MuJoCo: a step while it falls, and under random controls.

    python -m benchmarks.humanoid --out benchmarks/results/humanoid.json

Both take explicit steps of the model's own length (`mj_step`, its Euler; here `aba` with `joint-euler`) from the model's first
state. Contact is left out on both sides; limits of joints are there, soft in MuJoCo and hard here. Random controls are drawn
anew every HELD steps; setting them is not timed. Rows of limits that act are counted in runs of their own: in MuJoCo rows that
there are, here limits that push. The two take turns, and of each piece of HELD steps the best of all rounds counts.

Writes JSON and, beside it, a Markdown page.
"""

import argparse
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

import linkwork as lw
from benchmarks import machine, tables

HELD = 10  # steps between two draws of controls
DRAWS = 60  # of a run
GOALS = {"falling freely": 0.8, "random controls": 1.0}  # parts of MuJoCo's time
LEAST_ROWS = 4  # that act on average under random controls


def model_path():
    """Where dm_control has the model."""
    spec = find_spec("dm_control")
    if spec is None or spec.origin is None:
        raise SystemExit("benchmarks.humanoid: dm_control is not installed; pip install dm_control")
    return Path(spec.origin).parent / "suite" / "humanoid.xml"


class Theirs:
    """The model in MuJoCo."""

    def __init__(self, path):
        common = {f"./common/{file.name}": file.read_bytes() for file in (path.parent / "common").glob("*.xml")}
        self.model = mujoco.MjModel.from_xml_string(path.read_text(), common)
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.data = mujoco.MjData(self.model)
        self.motors = [self.model.actuator(a).name for a in range(self.model.nu)]

    def reset(self):
        mujoco.mj_resetData(self.model, self.data)

    def command(self, values):
        self.data.ctrl[:] = values

    def step(self, count):
        mujoco.mj_step(self.model, self.data, count)

    def rows(self):
        return self.data.nefc


class Ours:
    """The model here."""

    def __init__(self, path, dt, motors):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            self.world = lw.load(str(path), contact="none")
            self.sim = lw.Simulation(self.world, dt=dt, solver="aba", integrator="joint-euler")
        self.motors = [name if name in self.sim.control else f"{name} motor" for name in motors]  # joints are called so, too
        self.start = self.sim.state
        self.limits = [element for element in self.world.contacts if isinstance(element, lw.HardLimit)]

    def reset(self):
        self.sim.state = self.start

    def command(self, values):
        for name, value in zip(self.motors, values, strict=True):
            self.sim.control[name] = value

    def step(self, count):
        self.sim.step(count)

    def rows(self):
        return sum(bool(np.any(self.sim.reaction(limit).torque)) for limit in self.limits)


def controls(motors):
    """(DRAWS, motors): the extremes of what motors take, at random."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(DRAWS, motors))


def falling(one):
    """Seconds of pieces of a fall without controls, ten times as many steps in a call, each from the first state."""
    spent = []
    for _ in range(DRAWS // 10):
        one.reset()
        one.command(np.zeros(len(one.motors)))
        one.step(1)
        start = time.perf_counter()
        one.step(10 * HELD)
        spent.append(time.perf_counter() - start)
    return spent


def driven(one, drawn):
    """Seconds of each piece of HELD steps, under random controls."""
    one.reset()
    spent = []
    for values in drawn:
        one.command(values)
        start = time.perf_counter()
        one.step(HELD)
        spent.append(time.perf_counter() - start)
    return spent


def rows(one, drawn):
    """Rows of limits that act, on average."""
    one.reset()
    found = []
    for values in drawn:
        one.command(values)
        for _ in range(HELD):
            one.step(1)
            found.append(one.rows())
    return float(np.mean(found))


def measure(rounds):
    theirs = Theirs(model_path())
    ours = Ours(model_path(), theirs.model.opt.timestep, theirs.motors)
    drawn = controls(len(theirs.motors))
    both = {"linkwork": ours, "mujoco": theirs}
    found = {name: {} for name in GOALS}
    for _ in range(rounds + 1):  # the first one warms up
        for name, one in both.items():
            for case, pieces in (("falling freely", falling(one)), ("random controls", driven(one, drawn))):
                found[case].setdefault(name, []).append(pieces)
    best = {case: {name: float(np.min(pieces[1:], axis=0).sum()) / (HELD * DRAWS) for name, pieces in times.items()}
            for case, times in found.items()}  # fmt: skip
    none = np.zeros((10, len(theirs.motors)))  # a fall, as long as the one that is timed
    acting = {case: {name: rows(one, values) for name, one in both.items()}
              for case, values in (("falling freely", none), ("random controls", drawn))}  # fmt: skip
    return {"steps": best, "rows": acting, "rounds": rounds, "dt": theirs.model.opt.timestep}


def page(result):
    """The result for people."""
    table = []
    for case, times in result["steps"].items():
        ratio, goal = times["linkwork"] / times["mujoco"], GOALS[case]
        acting = [result["rows"][case][name] for name in ("linkwork", "mujoco")]
        met = ratio <= goal and (case != "random controls" or min(acting) >= LEAST_ROWS)
        table.append([case, *(tables.microseconds(times[name]) for name in ("linkwork", "mujoco")), f"{ratio:.2f}",
                      f"{goal:.1f}", *(f"{count:.1f}" for count in acting), "yes" if met else "no"])  # fmt: skip
    header = ["", "linkwork, us a step", "MuJoCo, us a step", "ratio", "goal", "rows here", "rows in MuJoCo", "met"]
    return "\n\n".join([
        "# dm_control's humanoid in joint coordinates, beside MuJoCo",
        f"Without contact, steps of {result['dt']:g} s; best of {result['rounds']} rounds in turns. Rows: of limits, that act "
        f"on average; under random controls at least {LEAST_ROWS} are asked for.",
        tables.markdown(header, table),
        machine.sentence(result["machine"]),
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="benchmarks/results/humanoid.json")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    described = machine.describe()
    result = {"machine": described, **measure(options.rounds)}
    tables.write(options.out, result, page(result))
    print(page(result))


if __name__ == "__main__":
    main()
