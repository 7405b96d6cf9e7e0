"""A world of a batch makes the bits of a Simulation, with every solver and integrator, whoever is stepped with it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.engines.traits import TABLE

PAIRS = [(solver, integrator) for solver, row in TABLE.items() for integrator in row]
TOUCHING = [(solver, integrator) for solver, integrator in PAIRS if solver not in ("fronts", "dense", "cg")]
NO_LOOPS = [pair for pair in PAIRS if pair[0] == "aba" or (pair[0] == "tree" and pair[1].startswith("joint-"))]
N = 4


def same(batch, i, sim):
    """Whether a world and a Simulation are in the same state, to the bit, and read the same."""
    mine, its = batch.state(i), sim.state
    return (np.array_equal(mine.values, its.values) and mine.time == its.time and mine.age == its.age and mine.steps == its.steps
            and all(np.array_equal(getattr(batch, name)[i], getattr(sim, name))
                    for name in ("q", "qd", "positions", "orientations", "velocities")))  # fmt: skip


def lockstep(world, solver, integrator, dt, rounds=4, seed=0, threads=2, first=3):
    """A batch and as many simulations, in different states, stepped with random masks: the worlds that differ."""
    rng = np.random.default_rng(seed)
    batch = lw.Batch(world, N, dt, solver, integrator, threads=threads)
    sims = [lw.Simulation(world, dt, solver, integrator) for _ in range(N)]
    for i, sim in enumerate(sims):
        sim.step(first * i)
        batch.put([i], sim)
    for _ in range(rounds):
        mask, n = rng.random(N) < 0.7, int(rng.integers(1, 9))
        batch.step(n, worlds=mask)
        for i in np.flatnonzero(mask):
            sims[i].step(n)
    return [i for i in range(N) if not same(batch, i, sims[i])]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("scene", ["double-pendulum", "slider-crank"])
def test_trees_and_loops(scene, pair):
    refused = scene == "slider-crank" and pair in NO_LOOPS
    if refused:
        with pytest.raises(lw.LinkworkError, match="it has no joint coordinate"):
            lw.Batch(lw.scenes.get(scene), N, 1e-3, *pair)
    else:
        assert lockstep(lw.scenes.get(scene), *pair, 1e-3) == []


def falling_box():
    world = lw.World()
    floor = world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k in range(2):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.2), position=(0, 0, 0.105 + 0.25 * k), name=f"box {k}"))
    world.add(lw.Contact(friction=0.5, restitution=0.3))
    assert floor.name in world
    return world


@pytest.mark.parametrize("pair", TOUCHING, ids="-".join)
def test_contact(pair):
    try:
        lw.Simulation(falling_box(), 0.004, *pair)
    except lw.LinkworkError:
        return  # it takes no contact, and says so
    assert lockstep(falling_box(), *pair, 0.004, first=12) == []


@pytest.mark.parametrize("pair", [("tree", "rattle"), ("aba", "joint-euler"), ("implicit", "backward-euler")], ids="-".join)
def test_a_rag_doll_on_stairs(pair):
    assert lockstep(lw.scenes.get("rag-doll-on-stairs"), *pair, 1 / 240, first=60, rounds=6) == []


def test_contacts_need_more_room_than_there_is_at_first():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k in range(6):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.2, 0.2, 0.2), position=(0.3 * k, 0, 0.12), name=f"box {k}"))
    world.add(lw.Contact())
    batch = lw.Batch(world, N, 0.004, threads=2)
    few = batch._arrays.memories.labels.shape[1]
    sims = [lw.Simulation(world, 0.004) for _ in range(N)]
    batch._arrays.memories.renew(labels=np.zeros((N, 3, 5), dtype=np.int64), impulses=np.zeros((N, 3, 9)))
    for _ in range(10):
        batch.step(8)
        for sim in sims:
            sim.step(8)
    assert few > 3
    assert batch._arrays.memories.labels.shape[1] >= 24
    assert all(same(batch, i, sims[i]) for i in range(N))


def pendulums():
    """Two links on hinges with motors, the damping and the gain of a spring Parameters."""
    world = lw.World()
    damping, gain = lw.Parameter(0.1, "damping"), lw.Parameter(2.0, "gain")
    bob = world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.05), position=(0.4, 0, 0), name="bob"))
    rod = world.add(lw.RigidBody(0.5, shape=lw.Capsule(0.02, 0.3), position=(0, 0, -0.2), name="rod"))
    hinge = world.add(lw.Hinge(world.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    world.add(lw.Motor(hinge, name="motor"))
    world.add(lw.Spring(rod, bob, stiffness=gain, rest=0.3, damping=damping))
    return world


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_order_of_steps_resets_and_changes(data):
    world, threads = pendulums(), data.draw(st.sampled_from([1, 2, 3]))
    batch, sims = lw.Batch(world, N, 2e-3, threads=threads), [lw.Simulation(world, 2e-3) for _ in range(N)]
    numbers = st.floats(0.1, 3.0)
    for _ in range(data.draw(st.integers(1, 6))):
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=N, max_size=N)))
        chosen = np.flatnonzero(mask)
        match data.draw(st.sampled_from(["step", "reset", "set", "control", "state"])):
            case "step":
                n = data.draw(st.integers(1, 12))
                batch.step(n, worlds=mask)
                for i in chosen:
                    sims[i].step(n)
            case "reset":
                batch.reset(mask)
                for i in chosen:
                    sims[i].reset()
            case "set":
                name, values = data.draw(st.sampled_from(["damping", "gain"])), [data.draw(numbers) for _ in chosen]
                batch.set(name, values, worlds=mask)
                for i, value in zip(chosen, values, strict=True):
                    sims[i].set(name, value)
            case "control":
                values = [data.draw(numbers) for _ in chosen]
                batch.controls[chosen, 0] = values
                for i, value in zip(chosen, values, strict=True):
                    sims[i].control["motor"] = value
            case "state":
                angles = [data.draw(numbers) for _ in chosen]
                rows = [[*sims[i].q] for i in chosen]
                for row, angle in zip(rows, angles, strict=True):
                    row[0] = angle
                if len(chosen):
                    batch.set_state(mask, q=rows)
                for i, row in zip(chosen, rows, strict=True):
                    sims[i].set_state(q=row)
    assert [i for i in range(N) if not same(batch, i, sims[i])] == []


@pytest.mark.parametrize("scene", ["rag-doll-on-stairs", "slider-crank"])
def test_threads_change_no_bit(scene):
    found = []
    for threads in (1, 2, 4):
        batch = lw.Batch(lw.scenes.get(scene), 9, 1 / 240, threads=threads)
        for k in range(9):
            batch.step(k, worlds=[k])
        batch.step(20)
        found.append(np.concatenate([batch.state(k).values for k in range(9)]))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
