"""Robots of `example-robot-data` in Pinocchio and in linkwork, each from the same file."""

import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin

import linkwork as lw

FOLDER = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
ROBOTS = {  # name: (file, whether its base floats)
    "Talos": ("talos_data/robots/talos_reduced.urdf", True),
    "G1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "Panda": ("panda_description/urdf/panda.urdf", False),
}
SAME_INERTIA = 1e-12  # relative


def robot(name):
    """The Pair of one of ROBOTS."""
    file, floats = ROBOTS[name]
    return Pair(name, FOLDER / file, floats)


def loaded(path, floats, **options):
    """The World of a file, without its note."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.load(path, floating=floats, meshes="as found", **options)


@dataclass
class Pair:
    """One robot in both, and how their numbers translate: order of joints, angles that go round, the axes of what floats.

    Pinocchio has quaternions as x, y, z, w, angles of continuous joints as cosine and sine, and velocities of a floating base
    in the base's own axes; linkwork has w, x, y, z, angles, and the world's axes. In both, joints that mimic others are free,
    and fixed joints are merged.
    """

    name: str
    path: Path
    floats: bool
    lock: dict = field(default_factory=dict)  # joints -> coordinates at which they are fixed, with what mimics them

    def __post_init__(self):
        base = [pin.JointModelFreeFlyer()] if self.floats else []
        self.model = pin.buildModelFromUrdf(str(self.path), *base)
        self.world = loaded(self.path, self.floats, visuals=False, contact=False, lock=self.lock)
        if self.lock:  # all of them at zero
            fixed = [i for i in range(1, self.model.njoints) if not self._is_here(i)]
            self.model = pin.buildReducedModel(self.model, fixed, pin.neutral(self.model))
        self.tree = lw.reduced.compile(self.world, loops=True)
        self.mended = self._mend()
        self.data = self.model.createData()
        self.q_order, self.v_order = np.zeros(self.tree.nq, dtype=int), np.zeros(self.tree.nv, dtype=int)
        self.round = []  # of continuous joints: where the angle is here, and where its cosine is there
        self.base = None
        for i in range(1, self.model.njoints):
            joint = self.model.joints[i]
            name, floats = self._element(i), joint.shortname() == "JointModelFreeFlyer"
            q = np.arange(joint.idx_q, joint.idx_q + joint.nq)
            here = self.tree.coordinates(name)
            self.q_order[here] = q[[0, 1, 2, 6, 3, 4, 5]] if floats else q[0]
            self.v_order[self.tree.velocities(name)] = np.arange(joint.idx_v, joint.idx_v + joint.nv)
            if (joint.nq, joint.nv) == (2, 1):
                self.round.append((here.start, joint.idx_q))
            if floats:
                self.base = self.tree.velocities(name)
                self.turn = here.start + 3

    def _element(self, i):
        """What joint i of Pinocchio's is here: a joint, or the body that floats."""
        name = self.model.names[i]
        if self.model.joints[i].shortname() == "JointModelFreeFlyer":
            return self.world.bodies[0].name
        return name if name in self.world and isinstance(self.world.find(name), lw.Joint) else f"{name} joint"

    def _is_here(self, i):
        return self._element(i) in self.world

    def _mend(self):
        """How many links have an inertia that no body has: linkwork takes the nearest, which Pinocchio is given, too."""
        count = 0
        for i in range(1, self.model.njoints):
            found = self.world.find(self._element(i))
            body, there = (found.b if isinstance(found, lw.Joint) else found), self.model.inertias[i]
            if np.abs(body.inertia - there.inertia).max() > SAME_INERTIA * np.abs(there.inertia).max():
                self.model.inertias[i] = pin.Inertia(body.mass, body.com, body.inertia)
                count += 1
        said = sum(remark.what.startswith("<inertia>") for remark in self.world.remarks)
        if count != said:
            raise AssertionError(f"{self.name}: {count} inertias differ, and {said} were told")
        return count

    def states(self, count, seed=0):
        """Random states in Pinocchio's numbers: q, v, tau (or accelerations)."""
        rng = np.random.default_rng(seed)
        q = np.array([pin.integrate(self.model, pin.neutral(self.model), rng.normal(size=self.model.nv)) for _ in range(count)])
        return q, rng.normal(size=(count, self.model.nv)), rng.normal(size=(count, self.model.nv))

    def coordinates(self, q):
        found = np.ascontiguousarray(q[..., self.q_order])
        for here, there in self.round:
            found[..., here] = np.arctan2(q[..., there + 1], q[..., there])
        return found

    def turned(self, q):
        """T (nv, nv): linkwork's velocities from Pinocchio's, joint by joint in linkwork's order, at linkwork's q."""
        T = np.eye(self.tree.nv)
        if self.base is not None:
            w, x, y, z = q[self.turn : self.turn + 4]
            R = pin.Quaternion(w, x, y, z).toRotationMatrix()
            at = self.base.start
            T[at : at + 3, at : at + 3] = T[at + 3 : at + 6, at + 3 : at + 6] = R
        return T

    def velocities(self, q, v):
        """Velocities, or forces, in linkwork's order and axes."""
        return self.turned(q) @ v[self.v_order]

    def accelerations(self, q, v, a):
        """Those of a floating base: (R v)' = R v' + w x R v."""
        found, speed = self.turned(q) @ a[self.v_order], self.velocities(q, v)
        if self.base is not None:
            linear, angular = slice(self.base.start, self.base.start + 3), slice(self.base.start + 3, self.base.stop)
            found[linear] += np.cross(speed[angular], speed[linear])
        return found
