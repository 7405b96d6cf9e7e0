"""Bodies that commands move: a Motion without a function."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.simulation import checkpoints

PAIRS = [("tree", "rattle"), ("tree", "euler"), ("tree", "rk4"), ("fronts", "rattle"), ("dense", "rattle"), ("cg", "rattle"),
         ("anticipation", "rattle"), ("implicit", "backward-euler"), ("ltdl", "joint-euler"), ("ltdl", "joint-rk4"),
         ("ltdl", "joint-implicit"), ("anticipation", "joint-euler")]  # fmt: skip
GOAL = np.array([0.3, -0.2, 1.2, *Rotation.from_rotvec((0.4, 0.9, -0.5)).as_quat(scalar_first=True)])


def held(within=0.1, **pose):
    """A hand that commands move, with a rod welded to it and a pendulum on the rod; heavy, and none of it falls."""
    world = lw.World()
    hand = {"position": (0, 0, 1), "orientation": (0.6, 0.8, 0, 0), **pose}
    world.add(lw.RigidBody(2.0, (0.1, 0.2, 0.25), com=(0.05, 0, 0.02), name="hand", **hand))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 1), name="rod"))
    world.add(lw.RigidBody(0.5, (0.01, 0.01, 0.01), position=(0.8, 0, 0.8), name="bob"))
    world.add(lw.Weld("rod", "hand", name="grip"))
    world.add(lw.Hinge("rod", "bob", at=(0.8, 0, 1), axis=(0, 1, 0.2), name="pin"))
    world.add(lw.Motion("hand", within=within, name="hand of the user"))
    return world


FOLLOWING = [*PAIRS, ("tree", "first-order"), ("cg", "first-order"), ("dense", "first-order")]


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize(("solver", "integrator"), FOLLOWING)
def test_a_command_in_every_step_is_followed(solver, integrator):
    """A hand that is led at 0.5 m/s lags by less than it goes in `within`."""
    sim = lw.Simulation(held(within=0.02), dt=2e-3, solver=solver, integrator=integrator)
    start, speed = sim.position("hand").copy(), np.array([0.5, 0, 0.2])
    for k in range(250):
        sim.control["hand of the user"] = start + speed * sim.dt * (k + 1)
        sim.step()
    behind = start + speed * 0.5 - sim.position("hand")
    assert np.linalg.norm(behind) < 0.02 * np.linalg.norm(speed)
    assert sim.velocity("hand") == pytest.approx(speed, abs=0.01)


def pose(sim, body):
    return np.r_[sim.position(body), sim.orientation(body)]


def off(sim, goal, body="hand"):
    turn = sim.orientation(body)
    return max(np.abs(sim.position(body) - goal[:3]).max(), 1.0 - abs(turn @ goal[3:]))


@pytest.mark.parametrize(("solver", "integrator"), PAIRS)
def test_a_body_goes_where_it_is_told_and_carries_what_is_on_it(solver, integrator):
    sim = lw.Simulation(held(), solver=solver, integrator=integrator)
    start = pose(sim, "hand")
    sim.step(100)
    exact = 1e-3 if integrator == "euler" else 1e-9
    assert off(sim, start) < exact, "until then it stands still"
    grip = [sim.position("rod") - sim.position("hand"), sim.orientation("hand")]
    sim.control["hand of the user"] = GOAL[:3], GOAL[3:]
    assert np.array_equal(sim.control["hand of the user"], GOAL)
    sim.step(50)
    assert off(sim, GOAL) > 0.05 and np.linalg.norm(sim.velocity("hand")) > 1.0, "half way, and on its way"
    sim.step(70)
    assert off(sim, GOAL) < exact
    turned = (
        Rotation.from_quat(sim.orientation("hand"), scalar_first=True) * Rotation.from_quat(grip[1], scalar_first=True).inv()
    )
    assert np.allclose(sim.position("rod"), GOAL[:3] + turned.apply(grip[0]), atol=exact)
    assert np.abs(sim.velocity("hand")).max() < (0.1 if integrator == "euler" else 1e-9)


def test_the_way_is_a_cubic_that_begins_with_the_velocity_it_has():
    sim = lw.Simulation(held(), dt=1e-3, integrator="rk4")
    sim.control["hand of the user"] = GOAL[:3], GOAL[3:]
    start, s = pose(sim, "hand"), np.linspace(0.0, 1.0, 101)
    found = []
    for _ in s:
        found.append(pose(sim, "hand"))
        sim.step()
    way = (Rotation.from_quat(GOAL[3:], scalar_first=True) * Rotation.from_quat(start[3:], scalar_first=True).inv()).as_rotvec()
    shares = s**2 * (3 - 2 * s)
    assert np.allclose(np.array(found)[:, :3], start[:3] + shares[:, None] * (GOAL - start)[:3], atol=1e-10)
    for share, there in zip(shares, found, strict=True):
        turn = Rotation.from_rotvec(share * way) * Rotation.from_quat(start[3:], scalar_first=True)
        assert abs(abs(turn.as_quat(scalar_first=True) @ there[3:]) - 1.0) < 1e-12
    sim.control["hand of the user"] = start[:3], start[3:]
    sim.step(40)
    before = sim.velocity("hand"), sim.angular_velocity("hand")
    sim.control["hand of the user"] = (0.5, 0.5, 0.5)
    assert np.array_equal(sim.control["hand of the user"][3:], start[3:]), "a position leaves the orientation as it was told"
    sim.step()
    after = sim.velocity("hand"), sim.angular_velocity("hand")
    assert np.linalg.norm(before[0]) > 3.0 and np.abs(np.subtract(before, after)).max() < 0.5, "no jump"
    sim.step(120)
    assert off(sim, np.r_[(0.5, 0.5, 0.5), start[3:]]) < 1e-9


def test_commands_in_every_step_are_followed_with_a_lag():
    sim = lw.Simulation(held(within=0.01), dt=1e-3)

    def lead(sim):
        sim.control["hand of the user"] = (0.2 * np.sin(3 * sim.time), 0, 1)

    sim.run(0.4, record_every=None, control=lead)
    x = [0.2 * np.sin(3 * (sim.time - lag)) for lag in (0.0, 0.02)]
    assert min(x) - 1e-4 < sim.position("hand")[0] < max(x) + 1e-4
    assert sim.velocity("hand")[0] == pytest.approx(0.6 * np.cos(3 * sim.time), abs=0.02)


def test_a_tray_lifts_what_lies_on_it_and_nothing_moves_the_tray():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane()))
    world.add(lw.RigidBody(0.1, shape=lw.Box(0.4, 0.4, 0.02), position=(0, 0, 0.5), name="tray"))
    world.add(lw.RigidBody(30.0, shape=lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.56), name="brick"))
    world.add(lw.Contact(friction=0.5))
    world.add(lw.Motion("tray", within=0.5, name="lift"))
    sim = lw.Simulation(world)
    sim.step(100)
    sim.control["lift"] = (0.1, 0, 0.7)
    sim.step(700)
    assert np.allclose(sim.position("tray"), (0.1, 0, 0.7), atol=1e-9)
    assert np.allclose(sim.position("brick"), (0.1, 0, 0.76), atol=2e-3)


def test_states_pickles_and_checkpoints_know_the_way(tmp_path):
    sim = lw.Simulation(held())
    sim.step(30)
    sim.control["hand of the user"] = GOAL[:3], GOAL[3:]
    sim.step(30)
    state, twin = sim.state, pickle.loads(pickle.dumps(sim))
    checkpoint = checkpoints.save(sim, tmp_path / "half.npz")
    sim.step(50)
    end = pose(sim, "hand")
    sim.control["hand of the user"] = (0, 0, 5)
    sim.state = state
    fresh = lw.Simulation(held())
    checkpoints.load(checkpoint).put(fresh)
    for other in (sim, twin, fresh):
        other.step(50)
        assert np.array_equal(pose(other, "hand"), end)
        assert np.array_equal(other.control["hand of the user"], GOAL)
    sim.reset()
    assert np.array_equal(sim.control["hand of the user"], pose(sim, "hand"))
    sim.step(10)
    assert off(sim, np.r_[(0, 0, 1), (0.6, 0.8, 0, 0)]) < 1e-12


def test_the_way_goes_on_when_the_world_changes():
    sim = lw.Simulation(held())
    sim.control["hand of the user"] = GOAL[:3], GOAL[3:]
    sim.step(30)
    sim.add(lw.Particle(1.0, position=(5, 5, 5)))
    sim.step(80)
    assert off(sim, GOAL) < 1e-9


def test_a_keyframe_puts_it_and_it_stays_there():
    world = held()
    world.keyframes["there"] = lw.Keyframe(positions={"hand": GOAL})
    for solver in ("tree", "ltdl"):
        sim = lw.Simulation(world, solver=solver)
        sim.reset("there")
        sim.step(100)
        assert off(sim, GOAL) < 1e-9 and off(sim, sim.control["hand of the user"]) < 1e-9
        assert sim.drift() < 1e-9


def test_scene_files_keep_it(tmp_path):
    world = lw.load(lw.save(held(within=0.3), tmp_path / "held.yaml"))
    motion = world.find("hand of the user")
    assert motion.live and motion.within == 0.3
    (tmp_path / "twice.yaml").write_text(
        "linkwork: 1\nelements:\n  - {include: held.yaml, prefix: a/}\n  - {include: held.yaml, prefix: b/, position: [0, 3, 0]}\n"
    )
    sim = lw.Simulation(lw.load(tmp_path / "twice.yaml"))
    sim.step(50)
    assert np.allclose(sim.position("b/hand"), (0, 3, 1), atol=1e-9), "it is placed as what it holds"
    sim.control["b/hand of the user"] = (0, 3, 2)
    sim.step(310)
    assert np.allclose(sim.position("b/hand"), (0, 3, 2), atol=1e-9) and np.allclose(
        sim.position("a/hand"), (0, 0, 1), atol=1e-9
    )


def test_what_takes_no_commands_is_refused():
    world = held()
    world.add(lw.Particle(1.0, name="bead"))
    for given, said in (({"target": "pin"}, "give a function of t"), ({"target": "bead"}, "give a function of t"),
                        ({"target": "rod", "at": (0, 0, 1)}, "leave at= out"), ({"target": "rod", "within": -1.0}, "within is -1")):  # fmt: skip
        with pytest.raises(lw.ElementError, match=said):
            world.add(lw.Motion(**given))
    sim = lw.Simulation(world)
    for value in (1.0, (1, 2), ((1, 2, 3), (0, 0, 0, 0)), (1, 2, float("nan"))):
        with pytest.raises(lw.LinkworkError, match="hand of the user"):
            sim.control["hand of the user"] = value
    assert lw.check(world.find("hand of the user")).ok


def test_the_way_goes_from_solver_to_solver():
    sims = [lw.Simulation(held(), solver=solver, integrator=integrator) for solver, integrator in PAIRS[:9:4]]
    for sim in sims[1:]:
        sims[0].reset()
        sims[0].control["hand of the user"] = GOAL[:3], GOAL[3:]
        sims[0].step(60)
        sim.state = sims[0].state
        for one in (sims[0], sim):
            one.step(50)
            assert off(one, GOAL) < 1e-9
