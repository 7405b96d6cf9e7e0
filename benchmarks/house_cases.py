"""The cases of `benchmarks.house`, timed in the process of one tree, by what linkwork offers to users alone.

A case is made once; each request then gives the best time of some batches. Times are those of the process, so that what else
runs on the machine counts as little as can be.
"""

import math
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import linkwork as lw
from benchmarks import children

TURN = 0.06  # s of one turn
MOST = 1000  # steps of a batch
FIRST = 1  # step after a state is set, which is not timed: it puts derived fields in place
JOINTS: dict[str, dict[str, Any]] = {"aba, joint-euler": {"solver": "aba", "integrator": "joint-euler"},
          "ltdl, joint-euler": {"solver": "ltdl", "integrator": "joint-euler"}}  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {"rattle": {}, "euler": {"integrator": "euler"},
                                   "implicit, 1 iteration": {"solver": "implicit", "iterations": 1}}  # fmt: skip
ARM: dict[str, Any] = {"meshes": "as found", "visuals": False, "contact": False, "lock": {"panda_finger_joint1": 0.0}}
ALONE: dict[str, Any] = {"contact": "none", "limits": "none"}
ROBOTS = ("humanoid", "walker", "cheetah")
FALL = 1500  # steps until a robot lies
SKEW = (0, 0.3, 1)
CARRIERS: dict[str, Callable[..., Any]] = {
    "sliders": partial(lw.Slider, axis=SKEW), "cylinders": partial(lw.Cylindrical, axis=SKEW), "welds": lw.Weld,
    "screws": partial(lw.Screw, axis=SKEW, pitch=0.1), "planar joints": partial(lw.Planar, normal=SKEW),
}  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {"pendulum": {}, "chain": {"n": 100}, "rag-doll-on-stairs": {}}


class Batches:
    """Something that is done `count` times in a batch; `ready` comes before each batch and is not timed."""

    def __init__(self, work, ready=lambda: None, most=MOST):
        self.work, self.ready = work, ready
        self.ready()
        self.work(1)
        self.count = max(1, min(most, int(TURN / 3 / max(1e-9, self._timed(1)))))  # the other tree is told to make as many

    def turn(self):
        """The best seconds of one, of the batches of a turn."""
        best, spent = math.inf, 0.0
        while spent < TURN:
            seconds = self._timed(self.count)
            spent += seconds
            best = min(best, seconds / self.count)
        return best

    def _timed(self, count):
        self.ready()
        begin = time.process_time()
        self.work(count)
        return time.process_time() - begin


def repeated(function):
    def work(count):
        for _ in range(count):
            function()

    return work


def stepping(sim, single=False):
    """Steps from the start, in one call or one by one."""
    start = sim.state.copy()

    def ready():
        sim.state = start
        sim.step(FIRST)

    return Batches(repeated(sim.step) if single else sim.step, ready)


def scene(name, parameters=None, dt=1e-3, **options):
    return lw.Simulation(lw.scenes.get(name, **(parameters or {})), dt=dt, **options)


def run_of(name, parameters=None, single=False, **options):
    return stepping(scene(name, parameters, **options), single)


def robot(path, reading, **options):
    return stepping(lw.Simulation(lw.load(path, **reading), **options))


def building(make_world):
    """A Simulation of a world that is there, its code compiled before."""
    world = make_world()
    return Batches(repeated(lambda: lw.Simulation(world)))


def first_step(make_world):
    """The first step of a new Simulation, which is made before the clock starts."""
    world = make_world()
    made: list[lw.Simulation] = []

    def ready():
        made[:] = [lw.Simulation(world)]

    return Batches(lambda count: made[0].step(), ready, most=1)


def reading(name, moved):
    """A read, after a step each or with nothing changed since the last one."""
    sim = scene("hinge-chain", {"n": 10})
    body, joint = sim.world.bodies[-1].name, sim.world.constraints[-1].name
    what = body if name in ("position", "velocity") else joint
    asked = getattr(sim, name)
    start = sim.state.copy()

    def ready():
        sim.state = start
        sim.step(FIRST)

    def stepped():
        sim.step()
        asked(what)

    return Batches(repeated(stepped if moved else lambda: asked(what)), ready)


def states(do):
    sim = scene("chain", {"n": 100})
    sim.step(10)
    kept = sim.state.copy()

    def put():
        sim.state = kept

    return Batches(repeated({"get": lambda: sim.state, "set": put, "reset": sim.reset}[do]))


def panda():
    """The file, or None where example-robot-data is not installed."""
    spec = find_spec("pinocchio")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parents[4] / "share/example-robot-data/robots/panda_description/urdf/panda.urdf"
    return path if path.is_file() else None


def of_suite(name):
    """The file of a model of dm_control, or None."""
    spec = find_spec("dm_control")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "suite" / f"{name}.xml"
    return path if path.is_file() else None


def lying(path, **options):
    """A robot that has fallen."""
    sim = lw.Simulation(lw.load(path), dt=2e-3, **options)
    sim.step(FALL)
    return stepping(sim)


def row_of(joint, count=20, **options):
    """Bodies one behind the other, each on a joint to the one before."""
    world = lw.World()
    before: lw.Body = world.ground
    for k in range(count):
        body = world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(k + 0.5, 0, 0), com=(0.1, 0, 0.05)))
        world.add(joint(before, body, at=(k, 0, 0)))
        before = body
    return stepping(lw.Simulation(world, dt=1e-4, **options))


def _table() -> dict[str, Callable[[], Batches]]:
    """{name: a function that makes its Batches}."""
    found: dict[str, Callable[[], Batches]] = {"pendulum, step()": partial(run_of, "pendulum", single=True)}
    for n in (10, 100, 1000):
        for way, options in WAYS.items():
            found[f"chain of {n}, {way}"] = partial(run_of, "chain", {"n": n}, **options)
    for way in ("rattle", "euler"):  # with longer steps, a batch of euler would diverge
        found[f"50 four-bars, {way}"] = partial(run_of, "four-bars", {"n": 50}, dt=1e-4, integrator=way)
    for way in ("rattle", "shake"):
        found[f"rag doll on stairs, {way}"] = partial(run_of, "rag-doll-on-stairs", integrator=way)
        found[f"box stack, {way}"] = partial(run_of, "box-stack", integrator=way)
    for way in ("rattle", "euler"):
        for name in ROBOTS:
            if (path := of_suite(name)) is not None:
                found[f"{name} lying, {way}"] = partial(lying, path, integrator=way)
                found[f"{name} without contact, {way}"] = partial(robot, path, ALONE, dt=2e-3, integrator=way)
        for name, joint in CARRIERS.items():
            found[f"20 {name}, {way}"] = partial(row_of, joint, integrator=way)
    found["hand"] = partial(run_of, "hand", solver="implicit")
    found["net, cg"] = partial(run_of, "net", solver="cg")
    for way, options in JOINTS.items():
        found[f"hinge chain of 10, {way}"] = partial(run_of, "hinge-chain", {"n": 10}, **options)
        if (path := panda()) is not None:
            found[f"Panda, {way}"] = partial(robot, path, ARM, **options)
        if (path := of_suite("humanoid")) is not None:
            found[f"humanoid with limits, {way}"] = partial(robot, path, {"contact": "none"}, **options)
    if (path := panda()) is not None:
        found["build, Panda"] = partial(building, partial(lw.load, path, **ARM))
    for name, parameters in SMALL.items():
        found[f"build, {name}"] = partial(building, partial(lw.scenes.get, name, **parameters))
        found[f"first warm step, {name}"] = partial(first_step, partial(lw.scenes.get, name, **parameters))
    for name in ("position", "velocity", "angle", "rate", "reaction"):
        found[f"read {name}"] = partial(reading, name, moved=False)
        found[f"step and read {name}"] = partial(reading, name, moved=True)
    for do in ("get", "set", "reset"):
        found[f"state {do}, chain of 100"] = partial(states, do)
    return found


MADE: dict[str, Batches] = {}


def cases():
    """The names of all cases, and what is missing on this machine."""
    missing = [name for name, path in (("Panda", panda()), ("dm_control", of_suite("humanoid"))) if path is None]
    return {"cases": list(_table()), "missing": missing}


def make(case, count):
    """Make a case, the only one that there is in memory. Returns how many a batch has: `count`, unless that is None. Both trees
    must make as many, since steps of one run do not all cost the same."""
    MADE.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MADE[case] = _table()[case]()
    MADE[case].count = MADE[case].count if count is None else count
    return MADE[case].count


def turn(case):
    """The best seconds of one turn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MADE[case].turn()


if __name__ == "__main__":
    children.serve({"cases": cases, "make": make, "turn": turn})
