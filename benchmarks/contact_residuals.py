"""How far contact is from its law, step by step: robots, stacks, tables, what slides and bounces, piles, a wall that is struck.

    python -m benchmarks.contact_residuals --out benchmarks/results/contact_residuals.json

Each scene makes `--steps` steps of 2 ms with each integrator, one at a time, and is asked after each what it tells of contact.
Calm scenes must be within 1e-4 of what gravity gives in a step, or in impacts within 1e-3 of the fastest approach
(`contact_report().converged`), in 99.8 % of the steps; piles and the wall within 4e-3 m/s in 90 %. A step beyond must name
its pair. Energy: the most that was gained over what it was at any time before, in parts of what the scene has to lose (its
largest energy less its smallest one), where nothing drives it; 1 % may be. `--seeds 0 1000` starts each scene from other
velocities, controls and places; no constant of the solver was chosen on the second. `--only pile` makes the scenes that have
that in their names.
Writes JSON and a Markdown page with verdicts.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np

import linkwork as lw
from benchmarks import machine, tables

DT, STEPS, OF_WALL = 2e-3, 10_000, 1_000
INTEGRATORS = ("rattle", "euler")
ROBOTS = ("humanoid", "walker", "cheetah", "hopper", "quadruped", "ant")
HELD = 10  # steps for which controls stay
CALM, WITHIN, OFF = 0.998, 0.9, 4e-3  # parts of the steps: of calm scenes, and of piles within OFF (m/s)
GAINED = 0.01
SETTLED = 10  # steps at the start, and those until limits hold that do not as built: energy is what taking these back gives
SMALL = 1e-3  # J: what has less to lose is at rest


def floor(friction=0.6, **options):
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.Contact(friction=friction, **options))
    return world


def turned(rng):
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def stack(rng):
    """Twenty boxes, the top one a hundred times as heavy."""
    world = floor()
    for k in range(20):
        size, mass = 0.1, 100.0 if k == 19 else 1.0
        place = (*rng.uniform(-2e-3, 2e-3, 2), size * (k + 0.5))
        world.add(lw.RigidBody(mass, shape=lw.Box(size, size, size), position=place, name=f"box{k}"))
    return world


def table(rng):
    """A table on 24 legs that is pushed until it slides."""
    world = floor(0.5)
    top = world.add(lw.RigidBody(10.0, shape=lw.Box(2.2, 1.2, 0.04), position=(0, 0, 0.5), velocity=(*rng.normal(size=2), 0)))
    for x in np.linspace(-1, 1, 6):
        for y in (-0.5, -0.2, 0.2, 0.5):
            world.add(lw.Collider(top, lw.Capsule(0.02, 0.44), position=(x, y, -0.26)))
    return world


def slide(rng):
    """Boxes that slide down an incline, some of which come to rest, and dominoes."""
    world = lw.World(gravity=9.81 * np.array([np.sin(0.4), 0, -np.cos(0.4)]))
    world.add(lw.Collider(world.ground, lw.Plane(), name="incline"))
    world.add(lw.Contact())
    for k in range(10):
        shape, place = lw.Box(0.2, 0.1, 0.06), (0.0, 0.3 * k, 0.03)
        body = world.add(
            lw.RigidBody(10 ** rng.uniform(-1, 1), shape=shape, position=place, velocity=(rng.uniform(-2, 2), 0, 0))
        )
        world.add(lw.Contact(body, friction=rng.uniform(0.1, 1.0)))
    return world


def dominoes(rng):
    world = floor(0.5)
    for k in range(15):
        spin = (0, 5.0 + rng.uniform(), 0) if k == 0 else (0, 0, 0)
        body = {"position": (0.06 * k, 0, 0.08), "angular_velocity": spin, "name": f"domino{k}"}
        world.add(lw.RigidBody(0.1, shape=lw.Box(0.02, 0.08, 0.16), **body))
    return world


def bounce(rng):
    """Ten boxes that fall and bounce."""
    world = floor(0.4, restitution=0.5)
    for k in range(10):
        body = {"position": (0.3 * (k % 3), 0.3 * (k // 3 % 3), 0.4 + 0.3 * (k // 9)), "orientation": turned(rng)}
        world.add(lw.RigidBody(10 ** rng.uniform(-0.5, 0.5), shape=lw.Box(0.2, 0.14, 0.1), velocity=rng.normal(size=3), **body))
    return world


def pile(friction):
    """24 bodies of many masses that fall between four walls."""

    def make(rng):
        world = floor(friction)
        for k, (x, y) in enumerate(((-0.4, 0.1), (0.62, 0.1), (0.1, -0.4), (0.1, 0.62))):
            shape = lw.Box(0.4, 1.2, 2.0) if k < 2 else lw.Box(1.2, 0.4, 2.0)
            world.add(lw.Collider(world.ground, shape, position=(x, y, 1.0), name=f"wall{k}"))
        for k in range(24):
            place = np.array([k % 2, k // 2 % 2, k // 4]) * 0.22 + (*rng.uniform(-0.03, 0.03, 2), 0.15)
            shape = (lw.Box(0.2, 0.14, 0.12), lw.Sphere(0.09), lw.Capsule(0.05, 0.16))[k % 3]
            mass = 10 ** rng.uniform(-1, 1)
            world.add(lw.RigidBody(mass, shape=shape, position=place, orientation=turned(rng), name=f"thing{k}"))
        return world

    return make


def wall(rng):
    return lw.scenes.get("wall", rows=10, columns=20)


CALM_SCENES = {
    "stack of 20, 100:1": stack,
    "table of 24 legs": table,
    "sliding": slide,
    "dominoes": dominoes,
    "bouncing": bounce,
}
WILD_SCENES = {"pile, mu 0.3": pile(0.3), "pile, mu 1": pile(1.0), "pile, mu 2": pile(2.0), "struck wall of 205": wall}


class Driven:
    """A robot of the suites, lying or under random controls."""

    def __init__(self, name, moving):
        from mujoco import mj_saveLastXML

        from benchmarks.contact_robots import model

        made, self.moving = model(name), moving
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / f"{name}.xml")
            mj_saveLastXML(path, made)
            self.world = lw.load(path)
        limited = made.actuator_ctrllimited[:, None] != 0
        names = [made.actuator(a).name for a in range(made.nu)]
        self.ends = dict(zip(names, np.where(limited, made.actuator_ctrlrange, (-1.0, 1.0)), strict=True))

    def __call__(self, rng):
        return self.world

    def control(self, sim, rng):
        for name, (low, high) in self.ends.items():
            own = name if name in sim.control else f"{name} motor"
            if own in sim.control:
                sim.control[own] = rng.choice((low, high)) if self.moving else 0.0


def watch(make, integrator, steps, seed):
    """The residual of each step, whether it was solved, whether one that was not named its pair; the energy gained."""
    rng = np.random.default_rng(seed)
    sim = lw.Simulation(make(rng), dt=DT, solver="tree", integrator=integrator)
    residuals, solved, named, energies = np.zeros(steps), np.zeros(steps, dtype=bool), True, []
    for k in range(steps):
        if k % HELD == 0 and isinstance(make, Driven):
            make.control(sim, rng)
        sim.step()
        report = sim.contact_report()
        residuals[k], solved[k] = report.residual, report.converged
        named = named and (report.converged or len(report.worst) > 0)
        driven = isinstance(make, Driven) and make.moving
        if k >= SETTLED and not driven and (energies or not report.beyond):
            energies.append(sim.energy().total)
    return residuals, solved, bool(named), gained(np.array(energies))


def gained(energies):
    """The most that energy was above any earlier value, in parts of all that was lost; None where nothing was."""
    if len(energies) == 0 or np.ptp(energies) < SMALL:
        return None
    return float((energies - np.minimum.accumulate(energies)).max() / np.ptp(energies))


def verdict(name, integrator, seed, wild, told):
    residuals, solved, named, more = told
    part = float(np.mean(residuals <= OFF) if wild else np.mean(solved))
    kept = part >= (WITHIN if wild else CALM) and named and (more is None or more <= GAINED)
    return {"scene": name, "integrator": integrator, "seed": seed, "steps": len(solved), "within": part,
            "limit": f"{OFF:g} m/s in {100 * WITHIN:g} %" if wild else f"the law in {100 * CALM:g} %",
            "p99": float(np.percentile(residuals, 99)), "worst": float(residuals.max()), "beyond": int(np.sum(~solved)),
            "named": named, "gained": more, "kept": bool(kept)}  # fmt: skip


def scenes():
    """(name, how it is made, whether it is wild, the part of the steps that it makes)."""
    yield from ((f"{name}, {how}", (name, how == "moving"), False, 1.0) for name in ROBOTS for how in ("lying", "moving"))
    yield from ((name, make, False, 1.0) for name, make in CALM_SCENES.items())
    yield from ((name, make, True, OF_WALL / STEPS if make is wall else 1.0) for name, make in WILD_SCENES.items())


def measure(steps, seeds, only=""):
    rows = []
    for name, make, wild, part in scenes():
        for seed in seeds if only in name else ():
            for integrator in INTEGRATORS:
                made = Driven(*make) if isinstance(make, tuple) else make
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", lw.Note)
                    told = watch(made, integrator, max(2 * SETTLED, round(part * steps)), seed)
                rows.append(verdict(name, integrator, seed, wild, told))
                print(rows[-1], flush=True)
    return rows


def report(result):
    header = ["scene", "integrator", "seed", "steps", "within", "of", "99 %, m/s", "worst, m/s", "energy gained", "beyond",
              "each with its pair", "kept"]  # fmt: skip
    rows = [[row["scene"], row["integrator"], row["seed"], row["steps"], f"{100 * row['within']:.2f} %", row["limit"],
             f"{row['p99']:.1e}", f"{row['worst']:.1e}", None if row["gained"] is None else f"{100 * row['gained']:.2f} %",
             row["beyond"], "yes" if row["named"] else "**no**", "yes" if row["kept"] else "**no**"]
            for row in result["rows"]]  # fmt: skip
    kept = sum(row["kept"] for row in result["rows"])
    says = f"Steps of {DT * 1e3:g} ms, `tree`. {kept} of {len(rows)} runs keep what they must."
    return "\n\n".join(["# The law of contact, step by step", machine.sentence(result["machine"]), says,
                        tables.markdown(header, rows)])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/contact_residuals.json")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1000])
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    result = {"machine": machine.describe(), "rows": measure(arguments.steps, arguments.seeds, arguments.only)}
    text = report(result)
    print(text)
    tables.write(arguments.out, result, text)


if __name__ == "__main__":
    main()
