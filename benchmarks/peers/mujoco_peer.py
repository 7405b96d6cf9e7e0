"""MuJoCo: a full step, semi-implicit Euler in joint coordinates, the loop over steps in C."""

import mujoco

from benchmarks.peers.interface import GRAVITY, INERTIA, LENGTH, MASS, Refused

name = "MuJoCo"
version = mujoco.__version__
work = "step"

# The mass matrix of a chain has no zeros: a factorisation costs nv^3 / 3. Above this a single step takes many seconds.
MAX_DOFS = 3000


class _Chain:
    def __init__(self, joint, dofs_per_link, n, dt):
        if n * dofs_per_link > MAX_DOFS:
            raise Refused(f"{n * dofs_per_link} freedoms: a step costs their cube, seconds above {MAX_DOFS}")
        self.model = _spec(joint, n, dt).compile()
        self.data = mujoco.MjData(self.model)

    def step(self, k):
        mujoco.mj_step(self.model, self.data, k)

    advance = step

    def reset(self):
        mujoco.mj_resetData(self.model, self.data)

    def tip(self):
        mujoco.mj_kinematics(self.model, self.data)  # a step leaves xpos at the state before it
        along = self.data.xmat[-1].reshape(3, 3)[:, 0]
        return tuple(float(x) for x in self.data.xpos[-1] + LENGTH * along)


def _spec(joint, n, dt):
    """The model, bodies given by their inertia: without geoms there is nothing to collide or to place."""
    spec = mujoco.MjSpec()
    spec.option.timestep = dt
    spec.option.gravity = (0, 0, GRAVITY)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    body = spec.worldbody
    for i in range(n):
        body = body.add_body(
            name=f"link{i}",
            pos=(LENGTH if i else 0, 0, 0),
            mass=MASS,
            ipos=(LENGTH / 2, 0, 0),
            inertia=INERTIA,
            explicitinertial=True,
        )
        body.add_joint(type=joint, axis=(0, 1, 0))
    return spec


def ball_chain(n, dt):
    """n links on ball joints."""
    return _Chain(mujoco.mjtJoint.mjJNT_BALL, 3, n, dt)


def hinge_chain(n, dt):
    """n links on hinges about y."""
    return _Chain(mujoco.mjtJoint.mjJNT_HINGE, 1, n, dt)


def springy_ball_chain(n, dt, stiffness):
    """The model of n links on ball joints with springs between them, for `implicitfast`."""
    spec = _spec(mujoco.mjtJoint.mjJNT_BALL, n, dt)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.enableflags = mujoco.mjtEnableBit.mjENBL_ENERGY
    for joint in spec.joints[1:]:
        joint.stiffness = (stiffness, 0, 0)  # linear, and two higher terms
    return spec.compile()
