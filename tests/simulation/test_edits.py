"""Worlds that are changed while they run: against worlds that are built afresh, and what stays as it was."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import linkwork as lw
from linkwork.elements.base import Pose
from linkwork.model.carrying import counters
from linkwork.model.frames import matrices
from linkwork.model.places import poses_of
from tests.simulation.worlds import crank_and_rod, same

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.Note")
DT = 1e-3


def quietly(function, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return function(*given, **named)


def motion(sim):
    """Places and velocities of all bodies, by name."""
    return {b.name: np.concatenate([sim.position(b), sim.frame(b).ravel(), sim.velocity(b), sim.angular_velocity(b)])
            for b in sim.world.bodies}  # fmt: skip


def accelerations(sim):
    return {b.name: np.concatenate([sim.acceleration(b), sim.angular_acceleration(b)]) for b in sim.world.bodies}


def pose_as_built(body):
    turn = getattr(body, "orientation", np.array([1.0, 0, 0, 0]))
    return Pose(body.position, turn, matrices(turn[None])[0])


def afresh(sim, built):
    """A simulation of a world that is built anew from what is in force, its bodies where they are; `built`: poses by name, where
    they were built first."""
    world, moving, off = lw.World(sim.world.gravity), motion(sim), set(sim.off)
    poses = poses_of(sim.model, sim.work)
    for element in sim.world.elements:
        others = [other.name for _, _, other in element.references()]
        if element.name in off or off.intersection(others):
            off.add(element.name)
            continue
        twin = copy.copy(element)
        if isinstance(element, lw.Body):
            pose, now = poses[element.name], moving[element.name]
            twin.position, twin.velocity = pose.position, now[12:15]
            if isinstance(element, lw.RigidBody):
                twin.orientation, twin.angular_velocity = pose.orientation, now[15:18]
        else:
            twin.replace_references([world.find(name) for name in others])
            twin.built = twin.built or {name: built[name] for name in others if name in built}
        world.add(twin)
    fresh = quietly(lw.Simulation, world, dt=sim.dt, solver=sim.solver, integrator=sim.integrator_name)
    fresh.time = sim.time
    turns = {element.name: sim.work[entries] for element, entries in counters(sim.model)}
    for element, entries in counters(fresh.model):
        fresh.work[entries] = turns[element.name]
    return fresh


class Edits(RuleBasedStateMachine):
    """Bodies, joints, forces come and go, are switched, and step; nothing tells the world from one that is built afresh."""

    @initialize(seed=st.integers(0, 2**16), solver=st.sampled_from(["tree", "fronts", "dense"]))
    def begin(self, seed, solver):
        self.rng, self.count, self.built = np.random.default_rng(seed), 0, {}
        self.world = lw.World(gravity=(0, 0, -9.81))
        self.body()
        self.sim = quietly(lw.Simulation, self.world, dt=DT, solver=solver)

    def name(self, what):
        self.count += 1
        return f"{what}{self.count}"

    def pick(self, elements):
        return elements[self.rng.integers(len(elements))]

    def body(self):
        r, name = self.rng, self.name("body")
        if r.random() < 0.7:
            q = r.normal(size=4)
            body = lw.RigidBody(r.uniform(0.5, 2), shape=lw.Box(*r.uniform(0.1, 0.4, 3)), position=r.normal(size=3),
                                orientation=q / np.linalg.norm(q), velocity=r.normal(size=3),
                                angular_velocity=r.normal(size=3), com=0.05 * r.normal(size=3), name=name)  # fmt: skip
        else:
            body = lw.Particle(r.uniform(0.5, 2), position=r.normal(size=3), velocity=r.normal(size=3), name=name)
        self.built[name] = pose_as_built(body)
        return self.world.add(body)

    @rule()
    @precondition(lambda self: len(self.world.bodies) < 7)
    def add_a_body(self):
        self.body()

    @rule()
    @precondition(lambda self: len(self.world.bodies) < 7)
    def hang_a_body(self):
        """On another or on the ground, where it is built: in a tree, so that nothing contradicts."""
        other, body = self.pick([self.world.ground, *self.world.bodies]), self.body()
        self.sim.add(self.joint(other, body, self.name("joint")))

    def joint(self, a, b, name):
        r = self.rng
        points = isinstance(a, lw.Particle) or isinstance(b, lw.Particle)
        if points or r.random() < 0.3:
            return lw.Distance(a, b, name=name, on_b=(0, 0, 0) if isinstance(b, lw.Particle) else 0.1 * r.normal(size=3))
        at, axis = self.sim.position(b) + 0.1 * r.normal(size=3), r.normal(size=3)
        kind = r.integers(3)
        return lw.Ball(a, b, at=at, name=name) if kind == 0 else lw.Hinge(a, b, at=at, axis=axis, name=name) if kind == 1 else lw.Universal(
            a, b, at=at, first=np.cross(axis, (1.0, 0, 0)), second=np.cross(axis, np.cross(axis, (1.0, 0, 0))), name=name)  # fmt: skip

    @rule()
    @precondition(lambda self: len(self.world.bodies) > 1)
    def add_a_spring(self):
        a, b = self.rng.choice(len(self.world.bodies), 2, replace=False)
        bodies = self.world.bodies
        self.world.add(lw.Spring(bodies[a], bodies[b], 30.0, 0.3, damping=0.4, name=self.name("spring")))

    @rule()
    @precondition(lambda self: any(isinstance(c, lw.Hinge) for c in self.world.constraints))
    def add_a_motor(self):
        hinge = self.pick([c for c in self.world.constraints if isinstance(c, lw.Hinge)])
        self.world.add(lw.JointSpring(hinge, 2.0, damping=0.1, name=self.name("motor")))

    @rule()
    @precondition(lambda self: len(self.world.bodies) > 1)
    def remove_a_body(self):
        self.world.remove(self.pick(self.world.bodies), cascade=True)

    @rule()
    @precondition(lambda self: len(self.world.constraints + self.world.forces) > 0)
    def remove_another(self):
        self.world.remove(self.pick(self.world.constraints + self.world.forces), cascade=True)

    @rule()
    @precondition(lambda self: len(self.world.constraints + self.world.forces) > 0)
    def switch(self):
        """A constraint that comes on may be violated by now, and is drawn in: it is on for good when it has been."""
        element = self.pick(self.world.constraints + self.world.forces)
        quietly(self.sim.switch, element, element.name in self.sim.off)
        while self.sim._arrangement.drawn:
            quietly(self.sim.step, 50)
            self.sim.drift()

    @rule(n=st.integers(1, 20))
    def step(self, n):
        quietly(self.sim.step, n)

    @invariant()
    def is_as_built_afresh(self):
        if not hasattr(self, "sim"):
            return
        fresh, here = afresh(self.sim, self.built), accelerations(self.sim)
        largest = max(np.abs(a).max() for a in here.values()) + 1
        for name, acceleration in accelerations(fresh).items():
            np.testing.assert_allclose(here[name], acceleration, atol=3e-9 * largest)
        before = self.sim.state.copy()
        quietly(self.sim.step)
        fresh.step()
        after = motion(fresh)
        for name, moving in motion(self.sim).items():
            np.testing.assert_allclose(moving, after[name], atol=1e-8 * (1 + np.abs(moving).max()))
        self.sim.state = before


TestEdits = Edits.TestCase
TestEdits.settings = settings(max_examples=12, stateful_step_count=12, deadline=None, derandomize=True,
                              suppress_health_check=list(HealthCheck))  # fmt: skip
