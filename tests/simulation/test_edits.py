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
from linkwork.elements.core.element import Pose
from linkwork.elements.core.placement import matrices
from linkwork.model.poses import poses_of
from linkwork.model.state_transfer import counters
from tests.simulation.worlds import crank_and_rod, same

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.Note")
DT = 1e-3
SOLVERS = ("tree", "fronts", "dense", "anticipation")  # implicit steps end with velocities that no world can be built with


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


def floor(p):
    """Far below all else."""
    return p[2] + 50


def ball(p):
    return lw.dot(p, p) - 0.04


class Edits(RuleBasedStateMachine):
    """Bodies, joints, forces come and go, are switched, and step; nothing tells the world from one that is built afresh."""

    @initialize(seed=st.integers(0, 2**16), solver=st.sampled_from(SOLVERS))
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

    @rule()
    @precondition(lambda self: len(self.world.bodies) < 7)
    def lay_a_ball_on_the_floor(self):
        """Where two surfaces touch is found in each step."""
        r, name = self.rng, self.name("body")
        x, y = r.normal(size=2)
        body = lw.RigidBody(r.uniform(0.5, 2), (0.1, 0.2, 0.25), position=(x, y, -49.8), velocity=(*r.normal(size=2), 0),
                            angular_velocity=r.normal(size=3), name=name)  # fmt: skip
        self.built[name] = pose_as_built(body)
        self.world.add([body, lw.Tangent(self.world.ground, body, floor, ball, at=(x, y, -50), name=self.name("touch"))])

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
        while self.sim._system.arrangement.drawn:
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
TestEdits.settings = settings(max_examples=8, stateful_step_count=10, deadline=None, derandomize=True,
                              suppress_health_check=list(HealthCheck))  # fmt: skip


def test_implicit_steps_go_on_as_in_a_world_built_afresh():
    """From a change on that makes velocities consistent: implicit steps leave them off the constraints where they end."""
    world = swinging()
    built = {body.name: pose_as_built(body) for body in world.bodies}
    sim = lw.Simulation(world, dt=DT, solver="implicit")
    sim.step(20)
    at = sim.position(world.bodies[2])
    lamp = lw.RigidBody(0.4, (0.01, 0.02, 0.02), position=at + np.array([0, 0, 0.3]), name="lamp")
    built["lamp"] = pose_as_built(lamp)
    sim.add([lamp, lw.Ball(world.bodies[2], lamp, at=at, name="hook"), lw.Spring(world.bodies[0], lamp, 30.0, 0.2)])
    fresh = afresh(sim, built)
    sim.step()
    fresh.step()
    after = motion(fresh)
    for name, moving in motion(sim).items():
        np.testing.assert_allclose(moving, after[name], atol=1e-8 * (1 + np.abs(moving).max()))


def swinging(n=6):
    return quietly(lw.scenes.get, "chain", n=n)


def test_what_stays_keeps_its_bits():
    world = swinging()
    sim = lw.Simulation(world)
    sim.step(100)
    before, state = motion(sim), sim.state
    world.add(lw.Particle(1.0, position=(5, 0, 0), name="other"))
    world.add(lw.Spring("link2", "other", 3.0))
    after = motion(sim)
    assert all(np.array_equal(after[name], before[name]) for name in before)
    assert (sim.time, sim.steps, sim.age) == (state.time, state.steps, state.age)
    assert sim.energy().kinetic > 0
    world.remove("other", cascade=True)
    same(sim.state, state)


def test_the_work_and_the_turns_that_were_counted_stay():
    world = crank_and_rod()
    world.add(lw.Motion("axle", lambda t: 7 * t, name="told"))
    sim = quietly(lw.Simulation, world)
    sim.step(1500)
    work, angle = sim.energy().work, sim.angle("axle")
    assert angle > 2 * np.pi
    world.remove("rod", cascade=True)
    assert sim.energy().work == work and sim.angle("axle") == pytest.approx(angle, abs=1e-12)


def test_every_living_simulation_follows():
    world = swinging()
    one, other = lw.Simulation(world), lw.Simulation(world, dt=2e-3, integrator="euler")
    one.step(10)
    world.remove("link6", cascade=True)
    one.step()
    other.step()
    assert len(one.model.bodies.elements) == len(other.model.bodies.elements) == 5


def test_contact_goes_on_as_if_nothing_had_happened():
    """Impulses of the last step, which the next one starts from, are kept for those who still touch."""
    world, sims = lw.World(), []
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k in range(3):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 0.1), position=(k, 0, 0.05), name=f"box{k}"))
    world.add(lw.Contact())
    for _ in range(2):
        sims.append(lw.Simulation(world))
        sims[-1].step(20)
    memory = sims[0].state.contact
    world.remove("box1")
    kept = sims[0].state.contact
    assert len(memory) == 12 and len(kept) == 8
    gone = np.isin(memory.labels[:, 3:], 1).any(axis=1)
    np.testing.assert_array_equal(kept.impulses, memory.impulses[~gone])
    sims[0].step(5)
    assert sims[0].contact_report().iterations <= 1  # it starts from its solution
    np.testing.assert_allclose(sims[0].velocity("box2"), 0, atol=1e-9)


def test_a_violated_constraint_is_drawn_in_at_a_bounded_speed_and_told():
    world = lw.World(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 1.0)):
        world.add(lw.Particle(1.0, position=(x, 0, 0), name=name))
    sim = lw.Simulation(world)
    with pytest.warns(lw.Note, match=r'Ball "snap": it is off by 1 where its bodies are now; it is drawn in until 1.5 s'):
        world.add(lw.Ball("a", "b", on_a=(0, 0, 0), on_b=(0, 0, 0), name="snap"))
        sim.step()
    speeds, gaps = [], []
    for _ in range(1600):
        sim.step()
        gaps.append(np.linalg.norm(sim.position("b") - sim.position("a")))
        speeds.append(np.linalg.norm(sim.velocity("b") - sim.velocity("a")))
    assert max(speeds) == pytest.approx(1.0, abs=1e-5)
    assert np.all(np.diff(gaps) < 1e-10) and gaps[-1] < 1e-10 and speeds[-1] < 1e-9
    np.testing.assert_allclose(sim.position("a"), (0.5, 0, 0), atol=1e-12)  # momentum is kept
    assert not sim._system.arrangement.drawn


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5", "first-order"])
@pytest.mark.parametrize("solver", ["tree", "dense"])
def test_every_integrator_draws_in(integrator, solver):
    world = lw.World(gravity=(0, 0, -1.0 if integrator != "first-order" else 0.0))
    for k, x in enumerate((0.5, -0.5)):
        body = world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.1, 0.1), position=(x, 0.1 * k, 0), name=f"part{k}"))
        world.add(lw.Ball(world.ground, body, at=(1.5 * x, 0, 0.1), name=f"nail{k}"))
    sim = quietly(lw.Simulation, world, integrator=integrator, solver=solver)
    world.add(lw.Distance("part0", "part1", 1.15, name="rod"))
    quietly(sim.step, 600)
    assert not sim._system.arrangement.drawn
    assert sim.drift() < (1e-9 if integrator not in ("euler", "first-order") else 1e-4)


def test_steps_one_by_one_or_all_at_once_draw_in_alike():
    sims = []
    for parts in (1, 600):
        world = swinging(3)
        sim = lw.Simulation(world)
        world.add(lw.Ball("link3", world.ground, on_a=(0.05, 0, 0), on_b=(0.2, 0.1, 0), name="snap"))
        for _ in range(parts):
            quietly(sim.step, 600 // parts)
        sims.append(sim)
    same(sims[0].state, sims[1].state)


def test_an_impulse_makes_velocities_consistent_and_is_told():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, velocity=(2, 0, 0), name="a"))
    world.add(lw.Particle(3.0, position=(0, 1, 0), name="b"))
    sim = lw.Simulation(world)
    with pytest.warns(lw.Note, match=r'Ball "snap": velocities when it came into force were off by 2; an impulse'):
        sim.add(lw.Ball("a", "b", on_a=(0, 0, 0), on_b=(0, 0, 0), name="snap"))
        sim.velocity("a")
    np.testing.assert_allclose(sim.velocity("a"), (0.5, 0, 0), atol=1e-12)
    np.testing.assert_allclose(sim.velocity("b"), (0.5, 0, 0), atol=1e-12)


def test_at_is_of_the_world_as_built_or_of_this_moment():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), velocity=(1, 0, 0), angular_velocity=(0, 0, 1), name="disc"))
    sim = lw.Simulation(world)
    sim.step(500)
    turned = sim.position("disc")
    now = sim.add(lw.Hinge(world.ground, "disc", at=turned, axis=(0, 0, 1), name="pin"))
    quietly(sim.step)
    assert sim.angle("pin") == pytest.approx(DT, abs=1e-5) and sim.drift() < 1e-10
    clone = pickle.loads(pickle.dumps(sim))
    sim.step(100)
    clone.step(100)
    same(sim.state, clone.state)
    world.remove(now)
    world.add(lw.Hinge(world.ground, "disc", at=(0, 0, 0), axis=(0, 0, 1), name="pin"))
    assert quietly(sim.angle, "pin") == pytest.approx(0.6, abs=0.01)
    quietly(sim.step, 1000)
    np.testing.assert_allclose(sim.position("disc"), 0, atol=1e-10)


def test_a_limit_of_a_joint_that_is_off_is_off_and_a_collider_has_no_impulse():
    world = crank_and_rod()
    world.add(lw.HardLimit("axle", -1.0, 1.0, name="stop"))
    world.add(lw.Collider("rod", lw.Sphere(0.01), name="bulb"))
    world.add(lw.Contact())
    sim = lw.Simulation(world)
    sim.step()
    assert sim.impulse("stop").tolist() == [0.0]
    sim.switch("axle", on=False)
    for read in (sim.impulse, sim.reaction, sim.force):
        with pytest.raises(lw.LinkworkError, match=r'^HardLimit "stop": it is switched off, or what it refers to is'):
            read("stop")
        with pytest.raises(lw.LinkworkError, match=r'^Collider "bulb": it is no (constraint|force); sim.contacts tells'):
            read("bulb")


def test_switching():
    world = crank_and_rod()
    world.add(lw.JointSpring("axle", 5.0, name="spring"))
    world.add(lw.Drag("rod", 0.1, name="air"))
    sim = lw.Simulation(world)
    start = sim.state.copy()
    sim.switch("axle", on=False)
    assert sim.off == ("axle",) and sim.model.summary()["constraints"] == 1 and sim.model.summary()["forces"] == 1
    with pytest.raises(
        lw.LinkworkError, match=r'^Hinge "axle": it is switched off, or what it refers to is; switch it on first$'
    ):
        sim.reaction("axle")
    sim.step(10)
    assert not np.allclose(sim.acceleration("crank"), 0) and sim.position("crank")[2] < 0
    sim.state = start  # the switch is a part of the state
    assert sim.off == () and sim.model.summary()["constraints"] == 2
    sim.step(10)
    first = sim.state
    sim.reset()
    sim.step(10)
    same(sim.state, first)
    sim.switch("air", False)
    clone = copy.deepcopy(sim)
    assert clone.off == ("air",)
    sim.step(5)
    clone.step(5)
    same(sim.state, clone.state)


def test_a_simulation_may_start_with_parts_switched_off():
    world = lw.World()
    world.add(lw.Particle(1.0, name="bob"))
    world.add(lw.Distance(world.ground, "bob", 1.0, on_a=(3, 0, 0), name="far"))
    with pytest.raises(lw.ModelError, match=r'Distance "far": it is off by 2 as built; .*world.assemble'):
        lw.Simulation(world)
    sim = lw.Simulation(world, off=["far"])
    sim.step()
    assert sim.off == ("far",)


def test_contact_is_switched_too():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=(0, 0, 0.1), name="ball"))
    world.add(lw.Contact(name="touch"))
    sim = lw.Simulation(world)
    sim.step(10)
    assert abs(sim.velocity("ball")[2]) < 1e-9
    sim.switch("touch", on=False)
    sim.step(10)
    assert sim.velocity("ball")[2] == pytest.approx(-0.0981, abs=1e-9)


def test_reset_goes_back_to_the_start_of_a_changed_world():
    world = swinging(3)
    sim = lw.Simulation(world)
    start = motion(sim)
    sim.step(100)
    world.add(lw.Particle(1.0, position=(9, 0, 0), name="other"))
    sim.step(100)
    sim.reset()
    assert sim.time == 0 and all(np.allclose(motion(sim)[name], start[name], atol=1e-14) for name in start)
    np.testing.assert_array_equal(sim.position("other"), (9, 0, 0))


def test_a_user_s_constraint_may_come_at_any_time():
    world = swinging(3)
    sim = lw.Simulation(world)
    sim.step(30)
    z = float(sim.position("link3")[2])
    world.add(lw.Constraint("link3", lambda b, t: b.position[2] - z, name="rail"))
    quietly(sim.step, 100)
    assert sim.position("link3")[2] == pytest.approx(z, abs=1e-10)
    world.remove("rail")
    sim.step(10)


def test_the_ode_view_follows():
    world = swinging(3)
    sim = lw.Simulation(world)
    sim.step(30)
    world.remove("link3", cascade=True)
    y = sim.pack()
    assert len(y) == 2 * 13 and np.isfinite(sim.derivative(sim.time, y)).all()
    sim.switch("joint2", on=False)
    np.testing.assert_allclose(sim.derivative(sim.time, y)[20:23], (0, 0, -9.81), atol=1e-9)


@pytest.mark.parametrize("solver", ["aba", "ltdl"])
def test_joint_coordinates_follow(solver):
    world = swinging(4)
    sim = quietly(lw.Simulation, world, solver=solver)
    sim.step(20)
    world.remove("link4", cascade=True)
    sim.step(20)
    assert sim.drift() < 1e-12
    sim.switch("joint3", on=False)
    sim.step(20)
    assert sim.drift() < 1e-12
    with pytest.raises(lw.ModelError, match=r'^Ball "joint3": it is off by .* which joint coordinates cannot draw in; '):
        sim.switch("joint3", on=True)
    assert sim.off == ("joint3",)
    at = 0.5 * (sim.position("link2") + sim.position("link3"))
    sim.add(lw.Hinge("link2", "link3", at=at, axis=(0, 1, 0), name="new"))
    before = sim.point("link3", (0.05, 0, 0)) - sim.point("link2", (0.05, 0, 0))
    quietly(sim.step)
    assert sim.drift() < 1e-12
    assert np.linalg.norm(sim.point("link3", (0.05, 0, 0)) - sim.point("link2", (0.05, 0, 0)) - before) < 0.02


def test_bad_input():
    world = crank_and_rod()
    sim = lw.Simulation(world)
    with pytest.raises(
        lw.ModelError, match=r'^RigidBody "rod": still used by Ball "pin"; remove those first or give cascade=True'
    ):
        world.remove("rod")
    with pytest.raises(
        lw.LinkworkError, match=r'^RigidBody "rod": a body is not switched off; remove it, or switch what acts on it'
    ):
        sim.switch("rod", on=False)
    with pytest.raises(lw.LinkworkError, match=r'^Simulation: on is 2 for "pin"; give True or False$'):
        sim.switch("pin", on=2)
    with pytest.raises(lw.UnknownNameError, match=r'there is no element named "pim"; did you mean "pin"'):
        sim.switch("pim", on=True)
    sim.step()
    before = sim.state
    world.add(lw.Constraint("rod", lambda b, t: lw.sqrt(b.position[2] - 5.0), name="never"))
    for _ in range(2):
        with pytest.raises(lw.ModelError, match=r'^Constraint "never": '):
            sim.step()
    world.remove("never")
    same(sim.state, before)
    sim.step()


def test_constraints_that_contradict_are_named():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, velocity=(1, 0, 0), name="a"))
    world.add(lw.Motion("a", lambda t: (t, 0, 0), name="told"))
    sim = lw.Simulation(world)
    sim.step(10)
    sim.add(lw.Ball(world.ground, "a", at=sim.position("a"), name="nail"))
    with pytest.raises(
        lw.ModelError,
        match=r'^Ball "nail": no impulse .*; Motion "told" and Ball "nail" contradict '
        "each other by 1 m/s, remove one of them$",
    ):
        quietly(sim.step)
    world.remove("nail")
    sim.step()


def test_what_can_never_be_met_is_named_when_drawing_in_fails():
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0.3, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="near"))
    sim = lw.Simulation(world)
    world.add(lw.Distance(world.ground, "bob", 1.0, on_a=(3, 0, 0), name="far"))
    with pytest.raises(
        lw.DivergenceError,
        match=r'since Distance "near" and Distance "far" contradict each other by .* m/s at .*; remove one of them',
    ):
        quietly(sim.step, 3000)


def test_a_recording_tells_who_was_there_when():
    """Coordinates of a body lie elsewhere in each model, and are read as they were."""
    world = swinging(3)
    sim, seen = lw.Simulation(world), []

    def control(sim):
        if sim.steps == 30:
            world.add(lw.Particle(1.0, position=(7, 0, 0), name="other"))
        if sim.steps == 60:
            world.remove("link3", cascade=True)
        if sim.steps == 80:
            world.remove("joint2")
        if sim.steps % 10 == 0:
            seen.append(sim.position("link2"))

    rec = sim.run(0.1, record_every=0.01, control=control)
    here, other = list(rec.bodies).index("link2"), list(rec.bodies).index("other")
    np.testing.assert_allclose(rec.position[:10, here], seen, atol=1e-14)
    np.testing.assert_array_equal(np.isnan(rec.position[:, other, 0]), [True] * 4 + [False] * 7)
    gone = list(rec.bodies).index("link3")
    np.testing.assert_array_equal(np.isnan(rec.position[:, gone, 0]), [False] * 7 + [True] * 4)
