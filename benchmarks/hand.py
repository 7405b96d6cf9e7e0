"""The skeleton of the hand scene (16 bones, 15 joints with springs and limits, palm free) in linkwork and in MuJoCo."""

import numpy as np

import linkwork as lw
from benchmarks.timing import Run

DT = 0.01  # s


class Hand(Run):
    """linkwork's hand, one iteration a step."""

    def __init__(self, dt=DT):
        super().__init__(lw.Simulation(skeleton(), dt=dt, solver="implicit", iterations=1))

    def tip(self):
        return tuple(float(x) for x in self.sim.position("index-distal"))


def skeleton():
    """The hand scene without glove, ball and table."""
    world = lw.scenes.get("hand")
    for force in [f for f in world.forces if isinstance(f, (lw.Follow, lw.ContactSpring))]:
        world.remove(force)
    world.remove("ball")
    return world


class MujocoHand:
    """The same bones, joints, springs and limits in MuJoCo with `implicitfast`."""

    def __init__(self, dt=DT):
        import mujoco

        self.mujoco = mujoco
        self.model = _spec(mujoco, skeleton(), dt).compile()
        self.data = mujoco.MjData(self.model)

    def step(self, k):
        self.mujoco.mj_step(self.model, self.data, k)

    def reset(self):
        self.mujoco.mj_resetData(self.model, self.data)

    def tip(self):
        return tuple(float(x) for x in self.data.body("index-distal").xpos)


def _spec(mujoco, world, dt):
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = dt, tuple(world.gravity)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.compiler.degree = False
    bodies = {}
    above = {c.b.name: c for c in world.constraints}
    for bone in world.bodies:
        joint = above.get(bone.name)
        parent = bodies[joint.a.name] if joint else None
        place = bone.position - (joint.a.position if joint else 0)
        # frames of MuJoCo's bodies are all the world's as built, so that only inertias must be turned
        body = (parent or spec.worldbody).add_body(name=bone.name, pos=place, mass=bone.mass, explicitinertial=True,
                                                   iquat=bone.orientation, inertia=np.diag(bone.inertia))  # fmt: skip
        bodies[bone.name] = body
        _add_joint(mujoco, world, body, bone, joint)
    return spec


def _add_joint(mujoco, world, body, bone, joint):
    if joint is None:
        body.add_freejoint()
        return
    spring = next(f for f in world.forces if isinstance(f, lw.JointSpring) and f.joint is joint)
    limit = next((f for f in world.forces if isinstance(f, lw.JointLimit) and f.joint is joint), None)
    given = {"pos": joint.at - bone.position, "stiffness": (spring.stiffness, 0, 0), "damping": (spring.damping, 0, 0)}
    if isinstance(joint, lw.Ball):
        body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL, range=(0, limit.cone), limited=True, **given)
    elif isinstance(joint, lw.Universal):
        for axis in (joint.first, joint.second):
            body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, **given)
    else:
        body.add_joint(
            type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis, range=(limit.lower, limit.upper), limited=True, **given
        )
