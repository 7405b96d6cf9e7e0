"""States between solvers and integrators: a state of one is a state of any other of the same world, as a user sees it."""

import functools
import pickle
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.traits import PAIRS
from linkwork.simulation import checkpoints

FEW = [("tree", "rattle"), ("dense", "euler"), ("cg", "rk4"), ("implicit", "backward-euler"), ("ltdl", "joint-rk4")]


def links():
    """Rigid bodies with offset centres and oblique inertias, on hinges, a screw and a cylinder, that turn fast; two motors."""
    world = lw.World()
    skew = ((0.2, 0.03, 0.01), (0.03, 0.3, -0.02), (0.01, -0.02, 0.25))
    for k, name in enumerate("abcd"):
        world.add(lw.RigidBody(1.0 + k, skew, position=(k, 0.2 * k, 0), com=(0.05, -0.1, 0.02 * k), name=name))
    world.add(lw.Hinge(world.ground, "a", at=(-0.3, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(lw.Hinge("b", "a", at=(0.5, 0.1, 0), axis=(0, 1, 0.3), name="elbow"))
    world.add(lw.Screw("b", "c", at=(1.5, 0, 0), axis=(1, 0, 0), pitch=0.05, name="screw"))
    world.add(lw.Cylindrical(world.ground, "d", at=(3, 0, 0), axis=(0, 0, 1), name="sleeve"))
    world.add(lw.Motor("shoulder", kind="torque", name="push"))
    world.add(lw.Motor("elbow", kind="position", kp=0.5, name="hold"))
    world.add(lw.JointSpring("screw", 0.01, name="spring"))
    start = {"shoulder": 9.0, "elbow": -7.5, "screw": 20.0, "sleeve": (-4.0, 0.3)}
    rates = {"shoulder": 2.0, "elbow": -3.0, "screw": 1.0, "sleeve": (5.0, 0.1)}
    world.keyframes["turned"] = lw.Keyframe(start, rates, {"push": 0.3, "hold": -7.0})
    return world


def kinds():
    """A body of every kind, and what finds a point as it goes."""
    world = lw.World()
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), com=(0.1, 0, 0), angular_velocity=(1, 2, 3), name="rigid"))
    world.add(lw.PlanarBody(1.0, 0.1, position=(1, 0), angle=2.5, angular_velocity=3.0, name="flat"))
    world.add(lw.PlanarParticle(1.0, position=(1.5, 0), velocity=(0.1, 0.2), name="flat point"))
    world.add(lw.Particle(1.0, position=(0, 2, 0), velocity=(1, 0, 0), name="point"))
    world.add(lw.ScalableBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), position=(0, 3, 0), stretch=(1.1, 0.9, 1.0), stiffness=5.0,
                              angular_velocity=(1, 0, 2), stretch_rate=(0.1, 0, 0), name="scalable"))  # fmt: skip
    world.add(lw.AffineBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), position=(0, 4, 0), stiffness=5.0, name="affine",
                            deformation_rate=((0, 1, 0), (-1, 0, 0), (0, 0, 0.1))))  # fmt: skip
    world.add(
        lw.LagrangianBody(
            lambda u: ((lw.cos(u[0]), lw.sin(u[0]), 0.1 * u[0]),), [1.0], coordinates=[0.4], rates=[1.0], name="spiral"
        )
    )
    world.add(lw.Hinge(world.ground, "rigid", at=(0.3, 0, 0), axis=(0, 0, 1), name="pin"))
    world.add(lw.Ball(world.ground, "scalable", at=(0.1, 3, 0), name="nail"))
    return world


WORLDS = {"links": (links, "turned"), "kinds": (kinds, None)}


@functools.cache
def simulations(name, pairs):
    """Simulations of one world with those of the pairs that take it, each some steps on its way, by pair."""
    world, keyframe = WORLDS[name][0](), WORLDS[name][1]
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        for solver, integrator in pairs:
            try:
                found[solver, integrator] = sim = lw.Simulation(world, dt=2e-3, solver=solver, integrator=integrator)
            except lw.LinkworkError:
                continue
            sim.reset(keyframe)
            sim.step(0 if integrator == "first-order" else 5)  # whose velocities would be forces
    return found


def seen(sim):
    """What a user sees of a state: a row for each body, angles, commands and the time."""
    bodies = [[sim.position(b), sim.velocity(b), sim.angular_velocity(b), sim.orientation(b)] for b in sim.world.bodies]
    for parts in bodies:
        parts[3] = parts[3] * np.sign(parts[3][np.argmax(np.abs(parts[3]))])
    angles = [sim.angle(j) for j in sim.world.constraints if isinstance(j, (lw.Hinge, lw.Screw, lw.Cylindrical))]
    return np.concatenate([x for parts in bodies for x in parts] + [angles, list(sim.control.values()), [sim.time]])


def check_pairs(name, pairs):
    sims = simulations(name, pairs)
    worst = 0.0
    for sim in sims.values():
        state, before = sim.state.copy(), seen(sim)
        for other in sims.values():
            kept = other.state.copy()
            other.state = pickle.loads(pickle.dumps(state))
            worst = max(worst, np.abs(seen(other) - before).max())
            assert other.steps == state.steps
            if other is sim:
                assert other.state.values.tobytes() == state.values.tobytes() and other.age == state.age
            sim.state = other.state
            worst = max(worst, np.abs(seen(sim) - before).max())
            other.state = kept
            sim.state = state
            assert sim.state.values.tobytes() == state.values.tobytes()
    assert worst < 1e-12
    return set(sims)


@pytest.mark.parametrize("name", WORLDS)
def test_a_state_goes_to_another_solver_and_integrator(name):
    assert len(check_pairs(name, tuple(FEW))) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_a_state_goes_from_every_pair_to_every_other(name):
    taken = check_pairs(name, tuple(PAIRS))
    assert len(taken) > 20 and {"tree", "fronts", "dense", "cg", "anticipation", "implicit"} <= {solver for solver, _ in taken}


@pytest.mark.slow
def test_what_touches_goes_along():
    """Impulses that contact remembers are in the world: they are where another pair starts."""
    pairs = [("tree", "rattle"), ("fronts", "euler"), ("implicit", "backward-euler"), ("ltdl", "joint-euler")]
    world = lw.scenes.get("box-stack", n=2)
    sims = [lw.Simulation(world, dt=5e-3, solver=solver, integrator=integrator) for solver, integrator in pairs]
    for sim in sims:
        sim.step(40)
    for sim in sims:
        state, before = sim.state.copy(), seen(sim)
        for other in sims:
            other.state = state
            assert np.abs(seen(other) - before).max() < 1e-12 and len(other.state.contact) == len(state.contact) > 0
            other.step(10)
            assert np.abs(seen(other) - before)[:-1].max() < 1e-6  # at rest
            sim.state = state


def test_the_motion_goes_on_from_there():
    """Twenty steps of order four, by which no solver may be told from another."""
    sims = simulations("links", tuple(FEW))
    sims = {pair: sim for pair, sim in sims.items() if pair[1] in ("rk4", "joint-rk4")}
    first = next(iter(sims.values())).state.copy()
    ends = []
    for sim in sims.values():
        sim.state = first
        sim.step(20)
        ends.append(seen(sim))
    assert len(ends) == 2 and np.abs(ends[0] - ends[1]).max() < 1e-8


@pytest.mark.parametrize("name", WORLDS)
def test_a_checkpoint_goes_to_another_pair(name, tmp_path):
    (_, one), (_, other), *_ = simulations(name, tuple(FEW)).items()
    path = checkpoints.save(one, tmp_path / "checkpoint.npz")
    checkpoints.load(path).put(other)
    assert np.abs(seen(other) - seen(one)).max() < 1e-12
    before = one.state.copy()
    one.step(7)
    after = one.state.copy()
    checkpoints.load(path).put(one)
    assert one.state.values.tobytes() == before.values.tobytes()
    one.step(7)
    assert one.state.values.tobytes() == after.values.tobytes()


def test_a_state_holds_the_commands():
    world = links()
    sim = lw.Simulation(world)
    sim.control["push"] = 1.5
    state = sim.state.copy()
    sim.control["push"] = -2.0
    sim.state = state
    assert sim.control["push"] == 1.5
    sim.reset()
    assert sim.control["push"] == 1.5
    sim.reset("turned")
    assert sim.control["push"] == 0.3


def test_warm_starts_stay_within_their_integrator_and_step():
    world = links()
    one, finer = lw.Simulation(world, dt=2e-3), lw.Simulation(world, dt=1e-3)
    euler = lw.Simulation(world, dt=2e-3, solver="fronts", integrator="euler")
    dense = lw.Simulation(world, dt=2e-3, solver="dense")
    one.step(10)
    for sim, age in ((finer, 0), (euler, 0), (dense, one.age)):
        sim.state = one.state
        assert sim.age == age
    assert one.age > 0


def test_a_state_of_a_later_format_is_refused():
    state = lw.Simulation(lw.scenes.get("pendulum")).state
    restore, (format, kept) = state.__reduce__()
    with pytest.raises(lw.FileError, match=r"^State: it was pickled in format \d+, and this linkwork reads"):
        restore(format + 1, kept)


@pytest.mark.parametrize("solver", ["tree", "cg"])
def test_numbers_that_are_not_finite_are_refused_by_name(solver):
    world = links()
    sim, other = lw.Simulation(world, solver=solver), lw.Simulation(world, solver="dense")
    sim.step(3)
    before = other.state.copy()
    texts = set()
    for target in (sim, other):
        for place in range(len(sim.state.values)):
            for wrong in (np.nan, np.inf, -np.inf):
                state = sim.state.copy()
                state.values[place] = wrong
                with pytest.raises(lw.ModelError, match=r"^Simulation: .* is (nan|-?inf) in the state; give") as caught:
                    target.state = state
                texts.add(str(caught.value).split(" is ")[0])
    assert other.state.values.tobytes() == before.values.tobytes()
    for wanted in ('coordinate 1 of RigidBody "a"', 'velocity 6 of RigidBody "d"', 'a count of turns of Screw "screw"',
                   'a count of turns of Motor "hold"', 'the command of "push"', "a warm start"):  # fmt: skip
        assert f"Simulation: {wanted}" in texts
    for field, wrong in (("time", np.nan), ("time", "x"), ("steps", 1.5), ("steps", -1), ("age", None), ("values", [1.0])):
        state = sim.state.copy()
        setattr(state, field, wrong)
        with pytest.raises(lw.LinkworkError, match="of the state"):
            sim.state = state
