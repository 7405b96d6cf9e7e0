"""Worlds of about 100 bodies changed while they run: from the change to the end of the next step.

    python -m benchmarks.edits --out benchmarks/results/edits.json

Each case is made again and again in one process: the first one of a kind has its kernels to compile, those after it find them.
Kernels are cached in a folder that is empty at the start, so that "never seen" is what it says; a user's constraint has a
number in it that no other has. The clock runs from before `world.add` (or what it is) until one step of the simulation is made;
a step alone is timed beside it. Times are those of the process, so that what else runs on the machine does not count; that of
the first one is the wall clock's, since two threads compile.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
import warnings

import numpy as np

import linkwork as lw
from benchmarks import machine, tables
from linkwork.codegen.store import cache_folder

SCENES = {
    "chain": lambda: lw.scenes.get("chain", n=100),
    "hinge-chain": lambda: lw.scenes.get("hinge-chain", n=100, angle=0.5),
    "tree": lambda: lw.scenes.get("tree"),
    "ladder": lambda: lw.scenes.get("ladder", n=33),
    "wall": lambda: lw.scenes.get("wall", rows=10, columns=9),
}


def empty_cache():
    """A cache without kernels, but with the drivers that there are: those are not made anew by any change."""
    drivers, folder = cache_folder() / "drivers", tempfile.TemporaryDirectory(prefix="linkwork-edits-")
    os.symlink(drivers, f"{folder.name}/drivers")
    os.environ["LINKWORK_CACHE"] = folder.name
    cache_folder.cache_clear()
    return folder


class Run:
    """A scene in motion, and the changes that are timed."""

    def __init__(self, make):
        self.world = make()
        self.sim = lw.Simulation(self.world)
        self.sim.step(400)
        self.count = 0
        self.stiffness = lw.Parameter(3.0, name="stiffness")
        self.world.add(lw.Spring(*self.ends(), self.stiffness))
        self.sim.step()

    def ends(self):
        bodies = self.world.bodies
        return bodies[len(bodies) // 3], bodies[len(bodies) // 2]

    def name(self, what):
        self.count += 1
        return f"{what} {self.count}"

    def step(self):
        pass

    def set_a_parameter(self):
        self.sim.set("stiffness", random.uniform(1, 5))

    def add_a_force(self):
        self.world.add(lw.Spring(*self.ends(), 2.0, name=self.name("spring")))

    def remove_a_force(self):
        self.world.remove(self.world.forces[-1])

    def add_a_body_on_a_joint(self):
        other = self.world.bodies[self.count % 10]
        at = self.sim.position(other)
        body = lw.RigidBody(0.1, shape=lw.Sphere(0.01), position=at + np.array([0, 0, 0.4]), velocity=self.sim.velocity(other),
                            angular_velocity=self.sim.angular_velocity(other), name=self.name("body"))  # fmt: skip
        self.sim.add([body, lw.Ball(other, body, at=at, name=self.name("joint"))])

    def remove_a_body_with_its_joint(self):
        self.world.remove(self.world.bodies[-1], cascade=True)

    def add_a_violated_joint(self):
        a, b = self.ends()
        self.world.add(
            lw.Distance(a, b, 0.99 * np.linalg.norm(self.sim.position(b) - self.sim.position(a)), name=self.name("rod"))
        )

    def remove_a_joint(self):
        self.world.remove(self.world.constraints[-1])

    def switch_off(self):
        self.switched = self.world.constraints[-1 - self.count % 3]
        self.count += 1
        self.sim.switch(self.switched, on=False)

    def switch_on(self):
        self.sim.switch(self.switched, on=True)

    def add_a_constraint_never_seen(self):
        body, factor = self.world.bodies[3], random.uniform(1, 2)
        place = [float(x) for x in self.sim.position(body)]
        self.world.add(
            lw.Constraint(body, lambda b, t: factor * lw.dot(b.position - place, (1, 0.2, 0.1)), name=self.name("rail"))
        )

    def grab_and_release(self):
        with self.sim.grab(self.world.bodies[5]):
            self.sim.step()


CASES = {
    "a step alone": ["step"],
    "a parameter set": ["set_a_parameter"],
    "a force added": ["add_a_force", "remove_a_force"],
    "a force removed": ["remove_a_force", "add_a_force"],
    "a body on a joint added": ["add_a_body_on_a_joint", "remove_a_body_with_its_joint"],
    "a body with its joint removed": ["remove_a_body_with_its_joint", "add_a_body_on_a_joint"],
    "a violated constraint added": ["add_a_violated_joint", "remove_a_joint"],
    "a joint switched off": ["switch_off", "switch_on"],
    "a joint switched on": ["switch_on", "switch_off"],
    "a body grabbed and released": ["grab_and_release"],
    "a user's constraint never seen": ["add_a_constraint_never_seen", "remove_a_joint"],
}


def timed(run, change, clock=time.process_time):
    begin = clock()
    getattr(run, change)()
    run.sim.step()
    return 1e3 * (clock() - begin)


def measure(make, repeats):
    """{case: ms of the first, and best and median of all others}."""
    run, found = Run(make), {}
    for case, (change, *undo) in CASES.items():
        if case.startswith(("a force removed", "a body with")):
            timed(run, undo[0])
        if case == "a joint switched on":
            timed(run, "switch_off")
        times = []
        for k in range(repeats):
            times.append(timed(run, change, time.process_time if k else time.perf_counter))
            for other in undo:
                timed(run, other)
        found[case] = {"first": times[0], "best": min(times[1:]), "median": statistics.median(times[1:])}
        if case.startswith(("a force removed", "a body with")):
            timed(run, change)
        if case == "a joint switched on":
            timed(run, "switch_on")
    return found


def report(result):
    """The Markdown page."""
    scenes = list(result["scenes"])
    rows = []
    for case in CASES:
        cells = [result["scenes"][scene][case] for scene in scenes]
        rows.append([case, *(f"{c['best']:.1f}, {c['median']:.1f} ({c['first']:.0f})" for c in cells)])
    table = tables.markdown(["ms", *(f"{s}: {result['bodies'][s]} bodies" for s in scenes)], rows)
    return (
        f"# Changes while running\n\n{machine.sentence(result['machine'])}\n\nFrom the change to the end of the next step, in "
        f"milliseconds: best, median (first) of {result['repeats']}. The first one compiles the kernels of its kind; of a "
        f"user's constraint each one does.\n\n{table}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/edits.json")
    parser.add_argument("--repeats", type=int, default=12)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    described = machine.describe()
    with empty_cache():
        scenes = {name: measure(make, arguments.repeats) for name, make in SCENES.items()}
    bodies = {name: len(make().bodies) for name, make in SCENES.items()}
    result = {"machine": described, "repeats": arguments.repeats, "bodies": bodies, "scenes": scenes}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
