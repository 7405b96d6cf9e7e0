"""Robots of `example-robot-data` in Pinocchio, and the same bodies and joints as a linkwork World."""

from dataclasses import dataclass
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
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def pinocchio_model(name):
    """The robot as Pinocchio reads it; fixed joints are merged."""
    file, floats = ROBOTS[name]
    base = [pin.JointModelFreeFlyer()] if floats else []
    return pin.buildModelFromUrdf(str(FOLDER / file), *base)


def world_of(model):
    """Bodies where Pinocchio has them at its neutral configuration, joints between them; a FreeFlyer is a body that floats."""
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    world = lw.World(gravity=model.gravity.linear)
    bodies = [world.ground]
    for i in range(1, model.njoints):
        place, inertia = data.oMi[i], model.inertias[i]
        turn = pin.Quaternion(place.rotation)
        body = lw.RigidBody(inertia.mass, inertia.inertia, position=place.translation, com=inertia.lever,
                            orientation=(turn.w, turn.x, turn.y, turn.z), name=f"{model.names[i]} link")  # fmt: skip
        bodies.append(world.add(body))
        if model.joints[i].shortname() != "JointModelFreeFlyer":
            kind, axis = _kind_and_axis(model.joints[i])
            above = bodies[model.parents[i]]
            world.add(kind(above, body, at=place.translation, axis=place.rotation @ axis, name=model.names[i]))
    return world


def _kind_and_axis(joint):
    name = joint.shortname().removeprefix("JointModel")
    if name in ("RevoluteUnaligned", "PrismaticUnaligned"):
        return (lw.Hinge if name[0] == "R" else lw.Slider), np.array(joint.extract().axis)
    if len(name) == 2 and name[0] in "RP" and name[1] in AXES:
        return (lw.Hinge if name[0] == "R" else lw.Slider), np.array(AXES[name[1]])
    raise NotImplementedError(f"the joint {name} has no counterpart here")


@dataclass
class Pair:
    """One robot in both, and how their numbers translate: order of joints, and the axes of what floats.

    Pinocchio has quaternions as x, y, z, w, and velocities of a floating base in the base's own axes; linkwork has w, x, y, z
    and the world's axes.
    """

    name: str

    def __post_init__(self):
        self.model = pinocchio_model(self.name)
        self.data = self.model.createData()
        self.tree = lw.reduced.compile(world_of(self.model))
        self.q_order, self.v_order = np.zeros(self.tree.nq, dtype=int), np.zeros(self.tree.nv, dtype=int)
        self.base = None
        for i in range(1, self.model.njoints):
            joint = self.model.joints[i]
            floats = joint.shortname() == "JointModelFreeFlyer"
            name = f"{self.model.names[i]} link" if floats else self.model.names[i]
            q = np.arange(joint.idx_q, joint.idx_q + joint.nq)
            self.q_order[self.tree.coordinates(name)] = q[[0, 1, 2, 6, 3, 4, 5]] if floats else q
            self.v_order[self.tree.velocities(name)] = np.arange(joint.idx_v, joint.idx_v + joint.nv)
            if floats:
                self.base = self.tree.velocities(name)
                self.turn = self.tree.coordinates(name).start + 3

    def states(self, count, seed=0):
        """Random states in Pinocchio's numbers: q, v, tau (or accelerations)."""
        rng = np.random.default_rng(seed)
        q = np.array([pin.integrate(self.model, pin.neutral(self.model), rng.normal(size=self.model.nv)) for _ in range(count)])
        return q, rng.normal(size=(count, self.model.nv)), rng.normal(size=(count, self.model.nv))

    def coordinates(self, q):
        return np.ascontiguousarray(q[..., self.q_order])

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
