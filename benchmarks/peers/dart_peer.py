"""DART: a full step (articulated bodies, semi-implicit Euler in joint coordinates), called from a loop in Python.

Building a chain takes time cubic in n: 40 ms for 100 ball links, about 100 s for 1,000. That is not in the figures.
A chain that stands still to the last bit (no gravity) steps three times as fast as one that moves; these chains move.
"""

import dartpy as dart
import numpy as np

from benchmarks.peers.interface import GRAVITY, INERTIA, LENGTH, MASS

name = "DART"
version = dart.__version__
work = "step"


class _Chain:
    def __init__(self, create, n, dt):
        self.skeleton = dart.dynamics.Skeleton("chain")
        inertia = dart.dynamics.Inertia(MASS, np.array([LENGTH / 2, 0, 0]), np.diag(INERTIA))
        body = None
        for i in range(n):
            body = create(self.skeleton, body, i)
            body.setInertia(inertia)
        self.last = body
        self.world = dart.simulation.World()
        self.world.setGravity([0, 0, GRAVITY])
        self.world.setTimeStep(dt)
        sleeping = self.world.getDeactivationOptions()
        sleeping.mEnabled = False  # a chain put to sleep would be timed doing nothing
        self.world.setDeactivationOptions(sleeping)
        self.world.addSkeleton(self.skeleton)  # bodies have no shapes: nothing to collide
        self.reset()

    def step(self, k):
        step = self.world.step
        for _ in range(k):
            step()

    advance = step

    def reset(self):
        self.skeleton.setPositions(np.zeros(self.skeleton.getNumDofs()))
        self.skeleton.setVelocities(np.zeros(self.skeleton.getNumDofs()))
        self.world.reset()

    def tip(self):
        place = self.last.getWorldTransform()
        return tuple(float(x) for x in place.translation() + place.rotation() @ np.array([LENGTH, 0, 0]))


def _anchored(properties, i):
    """Joint properties with the joint at the end of the parent link; a link's frame lies at its joint."""
    properties.mName = f"joint{i}"
    if i:
        place = dart.math.Isometry3()
        place.set_translation([LENGTH, 0, 0])
        properties.mT_ParentBodyToJoint = place
    return properties


def _ball(skeleton, parent, i):
    properties = _anchored(dart.dynamics.BallJointProperties(), i)
    return skeleton.createBallJointAndBodyNodePair(parent, properties)[1]


def _hinge(skeleton, parent, i):
    properties = _anchored(dart.dynamics.RevoluteJointProperties(), i)
    properties.mAxis = np.array([0.0, 1.0, 0.0])
    return skeleton.createRevoluteJointAndBodyNodePair(parent, properties)[1]


def ball_chain(n, dt):
    """n links on ball joints."""
    return _Chain(_ball, n, dt)


def hinge_chain(n, dt):
    """n links on hinges about y."""
    return _Chain(_hinge, n, dt)
