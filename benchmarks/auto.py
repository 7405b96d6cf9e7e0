"""solver="auto" beside all other pairs of solver and integrator: the time that each takes to come to equal error.

Every pair makes the same stretch of a scene's motion with several steps. Its error is how far any body ends from a reference,
its time that of the processor; between steps both are interpolated on logarithmic scales. Compared are the times that the pair
that `auto` chooses, and the best pair of all, take to one error: the one that tree with rattle has with the step that the scene
suggests or, where that step is too long for it, the one that `auto` has. Where the reference itself moves by more than
that when its step is halved, as where things tumble in contact, there is no error to speak of: times of a step are compared.

    python -m benchmarks.auto [scene or robot ...]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import linkwork as lw
from benchmarks import machine, tables
from linkwork.engines.traits import PAIRS

LEFT_OUT = ("dense", "anticipation", "fronts")  # references, and a part of tree
SMALLER = {"hair": {"strands": 20}, "net": {"rows": 8, "columns": 8}, "wall": {"n": 3}, "bridge": {"n": 15}}
NOT_IN = ("hair", "wall")  # the same as hanging-chain and box-stack, many times
ROBOTS = {"panda": "panda_description/urdf/panda.urdf", "ur5": "ur_description/urdf/ur5_robot.urdf",
          "anymal": "anymal_b_simple_description/robots/anymal.urdf", "talos": "talos_data/robots/talos_full_v2.urdf",
          "kinova": "kinova_description/robots/kinova.urdf", "solo": "solo_description/robots/solo12.urdf"}  # fmt: skip
PARTS = (16.0, 4.0, 1.0, 0.25)  # of the suggested step
LONGEST = 0.3  # s of motion
MOST_SECONDS = 1.0  # of the processor for one run of one pair: dearer ones are no contestants
EXACT = 1e-9  # m: errors below it are as good as none, as of what hangs at rest
WORTHLESS = 0.1  # m: an error above which nobody would take a step
WHERE = "benchmarks/results/auto.json"


def cases(names):
    """(name, world maker, dt, options)."""
    from linkwork.scenes import registry

    lw.scenes.get("pendulum")
    for name, scene in registry._SCENES.items():
        if (not names and name not in NOT_IN) or name in names:
            yield name, lambda name=name: lw.scenes.get(name, **SMALLER.get(name, {})), scene.dt, scene
    for name, path in ROBOTS.items():
        if not names or name in names:
            yield name, lambda path=path: robot(path), 1e-3, None


def robot(path):
    """A robot that swings, or floats and falls, with its damping and limits, without colliders."""
    from benchmarks.robots import FOLDER

    return lw.load(FOLDER / path, root=FOLDER, contact=False, visuals=False)


def run(make, dt, seconds, **options):
    """(where bodies end, seconds of the processor), or why not."""
    steps = max(1, round(seconds / dt))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim = lw.Simulation(make(), dt=dt, **options)
            start = sim.state.copy()
            spent = []
            for _ in range(3):
                sim.state = start.copy()
                sim.step(1)
                begun = time.process_time()
                sim.step(steps - 1)
                spent.append((time.process_time() - begun) * steps / max(1, steps - 1))
                if sum(spent) > MOST_SECONDS:
                    break
            end = np.concatenate([sim.positions.ravel()])
    except lw.LinkworkError as error:
        return str(error)
    return (end, min(spent), sim) if np.isfinite(end).all() else "it is not finite at the end"


def measured(make, dt, scene):
    seconds = min(scene.seconds, LONGEST) if scene is not None else LONGEST
    seconds = max(1, round(seconds / dt / PARTS[0])) * dt * PARTS[0]
    off = {} if scene is None or "off" not in scene.options else {"off": scene.options["off"]}
    auto = run(make, dt, seconds, solver="auto", **off)
    assert not isinstance(auto, str), auto
    choice = auto[2].choice
    found = {}
    for solver, integrator in PAIRS:
        if solver in LEFT_OUT or integrator == "first-order":
            continue
        curve = []
        for part in PARTS:
            made = run(make, dt * part, seconds, solver=solver, integrator=integrator, **off)
            if isinstance(made, str):
                if any(word in made for word in ("takes no contact", "does not go with", "joint coordinate")):
                    break
                continue
            curve.append((part, made[0], made[1]))
            if made[1] > MOST_SECONDS:
                break
        if curve:
            found[solver, integrator] = curve
    return choice, auto, found, seconds


def compared(choice, auto, found):
    """The error, whether times are those to that error, and (pair, time) of all that come to it, the fastest first."""
    order = {"joint-rk4": 0, "rk4": 1, "dopri5": 2, "rattle": 3, "joint-implicit": 4, "backward-euler": 5, "joint-euler": 6}
    best = sorted(found, key=lambda pair: (order.get(pair[1], 9), pair[0] != "aba"))
    key = next(pair for pair in best if len(found[pair]) > 1)
    ends = [end for _, end, _ in found[key]]
    reference, doubt = ends[-1], np.abs(ends[-1] - ends[-2]).max()
    usual = next((end for part, end, _ in found.get(("tree", "rattle"), ()) if part == 1.0), auto[0])
    error = float(np.abs(usual - reference).max())
    if error > WORTHLESS:
        error = float(np.abs(auto[0] - reference).max())
    error = max(error, EXACT)
    settled = error > 2.0 * doubt
    reach = time_to if settled else at_equal_steps
    found = {choice[:2]: [], **found}
    rows = [(pair, spent) for pair, curve in found.items() if (spent := reach(curve, reference, error)) is not None]
    return error, settled, sorted(rows, key=lambda row: row[1])


def at_equal_steps(curve, reference, error):
    return next((spent for part, _, spent in curve if part == 1.0), None)


def time_to(curve, reference, error):
    """Seconds of the processor, by the two steps between which the error comes below."""
    errors = [max(np.abs(end - reference).max(), 1e-15) for _, end, _ in curve]
    first = next((k for k, e in enumerate(errors) if e <= error), None)
    if first is None or first == 0:
        return None if first is None else curve[0][2]
    a, b = np.log(errors[first - 1 : first + 1])
    share = float(np.clip((a - np.log(error)) / max(a - b, 1e-12), 0.0, 1.0))
    return float(np.exp((1 - share) * np.log(curve[first - 1][2]) + share * np.log(curve[first][2])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", help=f"where results go; unless told {WHERE}, and nowhere where cases are named")
    given = parser.parse_args()
    result = {"machine": machine.describe(), "cases": {}}
    for name, make, dt, scene in cases(given.names):
        try:
            choice, auto, found, seconds = measured(make, dt, scene)
        except (ImportError, FileNotFoundError) as error:
            print(f"{name}: {error}")
            continue
        error, settled, rows = compared(choice, auto, found)
        times = dict(rows)
        best, least = rows[0]
        result["cases"][name] = {
            "dt": dt, "seconds": seconds, "pair": list(choice[:2]), "reason": choice.reason, "error": error,
            "by": "equal error" if settled else "equal steps", "best": list(best),
            "ratio": times.get(choice[:2], np.inf) / least, "times": {"/".join(pair): spent for pair, spent in rows},
        }  # fmt: skip
        one = result["cases"][name]
        pair, other = "/".join(one["pair"]), "/".join(one["best"])
        print(f"{name}: {pair} {one['ratio']:.2f} of {other}, error {error:.1e} m ({one['by']})", flush=True)
        if where := given.out or (None if given.names else WHERE):
            tables.write(where, result, page(result))  # what there is by now: all cases take half an hour


def page(result):
    rows = [
        (name, f"{case['dt']:g}", "/".join(case["pair"]), f"{case['error']:.1e}", case["by"], "/".join(case["best"]),
         f"{case['ratio']:.2f}")
        for name, case in result["cases"].items()
    ]  # fmt: skip
    ratios = [case["ratio"] for case in result["cases"].values() if case["by"] == "equal error"]
    good = sum(ratio <= 1.3 for ratio in ratios)
    return "\n\n".join([
        "# solver=\"auto\"",
        machine.sentence(result["machine"]),
        "Time of the pair that `auto` chooses over that of the best pair of solver and integrator, to the error that `tree` "
        "with `rattle` has with the step that the scene suggests (where that is too long for it, the one of `auto`); where "
        "paths part (contact), at equal steps. References and `fronts` are left out.",
        tables.markdown(["case", "dt, s", "auto", "error, m", "compared at", "best pair", "time over the best"], rows),
        f"At equal error {good} of {len(ratios)} are at most 1.3; median {np.median(ratios):.2f}, worst {max(ratios):.2f}.",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
