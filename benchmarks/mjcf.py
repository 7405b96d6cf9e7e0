"""MJCF models of dm_control's suite and of gymnasium, beside MuJoCo: accelerations at random states.

    python -m benchmarks.mjcf --out benchmarks/results/mjcf.json

Contacts, limits, dry friction and equalities are left out on both sides: MuJoCo's are soft, linkwork's hard. Gravity, inertia,
armature, damping, springs, drag of the medium and actuators with random commands are not. What linkwork leaves out (actuators
and tendons) is taken out of MuJoCo's model as well and named in the table.
Writes JSON and, beside it, a Markdown page.
"""

import argparse
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

import linkwork as lw
from benchmarks import machine, tables
from linkwork.formats.mjcf import read as mjcf
from linkwork.formats.source import Reading

STATES = 20
STEP = 1e-2  # s: what a single step of semi-implicit Euler adds to velocities tells accelerations
GOAL = 1e-8  # relative
FOLDERS = {"dm_control": ("suite", "*.xml"), "gymnasium": ("envs/mujoco/assets", "*.xml")}
IN_JOINTS = {"solver": "aba", "integrator": "joint-euler"}
QUIET = {"limits": "none", "friction": "none", "contact": "none"}
LACKING = {"actuator": "actuator", "equality": "equality", "tendon": "tendon that wraps"}


def models():
    """{name: path} of all models that are installed."""
    found = {}
    for package, (folder, pattern) in FOLDERS.items():
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            for path in sorted((Path(spec.origin).parent / folder).glob(pattern)):
                found[f"{package}/{path.stem}"] = path
    return found


class Pair:
    """A model in MuJoCo and the same in linkwork, without what is soft in the one and hard in the other."""

    def __init__(self, path, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lw.Note)
            self.draft = mjcf.drafted(Reading(Path(path)), **{**QUIET, **options})
        self.world, self.remarks = self.draft.world, self.draft.reading.remarks
        self.model = self.draft.model
        self._strip()
        self.data = mujoco.MjData(self.model)

    def _strip(self):
        model, world = self.model, self.world
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        for a in range(model.nactuator):
            if not self.draft.motors.get(a):
                model.actuator_gainprm[a] = model.actuator_biasprm[a] = 0.0
        for t in range(model.ntendon):
            if not self.draft.tendons.get(t):
                model.tendon_stiffness[t] = model.tendon_damping[t] = model.tendon_armature[t] = 0.0
        for spring in self.draft.springs.values():
            world.remove(spring)
        joints = {*self.draft.joints.values(), *self.draft.welds.values()}
        for element in world.constraints:
            if element not in joints and not isinstance(element, lw.Armature):
                world.remove(element, cascade=True)

    def draw(self, rng):
        """A random state in MuJoCo, and as a Keyframe."""
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
        data.qvel[:] = rng.normal(size=model.nv)
        data.ctrl[:] = rng.uniform(-1.5, 1.5, size=model.nu)
        for a in np.flatnonzero(model.actuator_actnum):
            data.act[model.actuator_actadr[a]] = rng.uniform(-1.5, 1.5)
        return mjcf.keyframe(self.draft, data.qpos, data.qvel, data.ctrl, data.act)

    def accelerations(self):
        """MuJoCo's, in its own order."""
        mujoco.mj_forward(self.model, self.data)
        return self.data.qacc.copy()

    def told(self, rates):
        """Rates of joint coordinates, by the names of joints and floating bodies, in MuJoCo's order and axes."""
        model, data, found = self.model, self.data, np.zeros(self.model.nv)
        for j in range(model.njnt):
            dof, kind, b = int(model.jnt_dofadr[j]), int(model.jnt_type[j]), int(model.jnt_bodyid[j])
            who = self.draft.joints.get(j, self.draft.bodies[b])
            value = np.atleast_1d(rates[who.name])
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                value = np.concatenate([value[:3], data.xmat[b].reshape(3, 3).T @ value[3:]])
            elif kind == mujoco.mjtJoint.mjJNT_BALL:
                value = self._of_ball(j, value)
            found[dof : dof + len(value)] = value
        return found

    def _of_ball(self, j, value):
        at = int(self.model.jnt_qposadr[j])
        mujoco.mju_mulQuat(here := np.empty(4), self.draft.data.xquat[self.model.jnt_bodyid[j]], self.data.qpos[at : at + 4])
        mujoco.mju_rotVecQuat(found := np.empty(3), np.ascontiguousarray(value), here * (1, -1, -1, -1))
        return found


class InJoints:
    """Accelerations of joint coordinates by one step."""

    def __init__(self, pair):
        self.pair, self.tree = pair, lw.reduced.compile(pair.world)
        self.sim = lw.Simulation(pair.world, dt=STEP, **IN_JOINTS)

    def accelerations(self, key):
        self.sim.reset(key)
        before = self._rates()
        self.sim.step()
        after = self._rates()
        return self.pair.told({name: (after[name] - before[name]) / STEP for name in after})

    def _rates(self):
        sim, bodies = self.sim, self.pair.world.bodies
        place = np.array([sim.position(body) for body in bodies]), np.array([sim.orientation(body) for body in bodies])
        speed = np.array([[*sim.velocity(body), *sim.angular_velocity(body)] for body in bodies])
        qd = lw.reduced.from_bodies(self.tree, *place, speed).qd
        return {link.element.name: qd[self.tree.velocities(link.element)] for link in self.tree.links}


class InBodies:
    """Accelerations of joint coordinates from those of all bodies, which the solver `tree` gives."""

    def __init__(self, pair):
        self.pair, self.tree = pair, lw.reduced.compile(pair.world)
        self.sim = lw.Simulation(pair.world, dt=STEP)

    def accelerations(self, key):
        from linkwork.reduced.keyframes import placed

        self.sim.reset(key)
        sim, tree, bodies = self.sim, self.tree, self.pair.world.bodies
        q, qd = lw.reduced.from_bodies(tree, *placed(self.pair.world, "drawn", key)[0])
        columns, biases, given = [], [], []
        for body in bodies:
            columns.append(lw.reduced.jacobian(tree, q, body))
            biases.append(lw.reduced.jacobian_rate(tree, q, qd, body) @ qd)
            given.append(np.concatenate([sim.acceleration(body), sim.angular_acceleration(body)]))
        qdd = np.linalg.lstsq(np.vstack(columns), np.concatenate(given) - np.concatenate(biases))[0]
        return self.pair.told({link.element.name: qdd[tree.velocities(link.element)] for link in tree.links})


def worst(pair, solver, states=STATES, seed=0):
    """The largest difference of accelerations over random states, relative to the largest acceleration of each."""
    rng, found = np.random.default_rng(seed), 0.0
    for _ in range(states):
        key = pair.draw(rng)
        there = pair.accelerations()
        here = solver.accelerations(key)
        found = max(found, float(np.abs(here - there).max() / np.abs(there).max()))
    return found


def missing(remarks):
    """What the dynamics lack, in short words, counted."""
    found = Counter()
    for remark in remarks:
        kind = remark.what.split(" ")[0]
        if "left out" in remark.why and kind != "camera":
            found[LACKING.get(kind, kind)] += 1
    return dict(found)


def compare(name, path):
    """A row of the table."""
    row = {"model": name}
    try:
        pair = Pair(path)
        row.update(
            nv=pair.model.nv, missing=missing(pair.remarks), remarks=[str(r).split("site-packages/")[-1] for r in pair.remarks]
        )
        if not pair.world.bodies:
            return {**row, "refused": "it has no body: a program adds them"}
        row["joints"] = worst(pair, InJoints(pair))
        row["bodies"] = worst(pair, InBodies(pair))
    except lw.LinkworkError as error:
        row["refused"] = str(error).split("site-packages/")[-1]
    return row


def page(result):
    """The result for people."""
    rows = []
    for row in result["rows"]:
        lacks = ", ".join(f"{count} x {what}" if count > 1 else what for what, count in row.get("missing", {}).items())
        cells = [f"{row[key]:.1e}" if key in row else None for key in ("joints", "bodies")]
        rows.append([row["model"], row.get("nv"), *cells, row.get("refused") or lacks or "nothing"])
    good = [row for row in result["rows"] if row.get("joints", 1.0) <= GOAL]
    whole = [row for row in good if not row["missing"]]
    return "\n".join([
        "# MJCF beside MuJoCo", "",
        f"{len(result['rows'])} models; {len(good)} agree with MuJoCo's `qacc` to {GOAL:g} relative at {STATES} random states "
        f"each, {len(whole)} of them with all that their dynamics have (contacts, limits, dry friction and equalities aside: "
        "they are soft in MuJoCo and hard here).", "",
        "`joints`: the largest relative difference by joint coordinates (`aba`); `bodies`: by maximal ones (`tree`). What "
        "linkwork leaves out is left out of MuJoCo's model, too, and stands in the last column.", "",
        tables.markdown(["model", "nv", "joints", "bodies", "left out"], rows), "",
        machine.sentence(result["machine"]),
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="benchmarks/results/mjcf.json")
    parser.add_argument("--only", default="", help="models whose name has this in it")
    given = parser.parse_args()
    rows = []
    for name, path in models().items():
        if given.only in name:
            rows.append(compare(name, path))
            print({key: value for key, value in rows[-1].items() if key != "remarks"}, flush=True)
    result = {"machine": machine.describe(), "rows": rows}
    if not given.only:
        tables.write(given.out, result, page(result))


if __name__ == "__main__":
    main()
