"""Constraints of three bodies and more: against dense algebra written by hand, pulleys, differentials, and what is told of them."""

import copy
import os
import pickle
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from tests.solvers.forests import accelerations, assembled, solution

ROOT = Path(__file__).parents[2]
SOLVERS = ("tree", "fronts", "anticipation", "cg", "dense")
INTEGRATORS = ("rattle", "euler", "rk4", "dopri5", "first-order")
G = 10.0
TIP = (0.3, 0.0, -0.4)


def swarm(n, seed=0, rows=2):
    """n particles and rows w_k . x^2 / 2 + a_k . x = const, which all of them feel; w and a by row and coordinate."""
    rng = np.random.default_rng(seed)
    world = lw.World(gravity=(0, 0, -G))
    x, v, masses = rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.uniform(0.5, 2.0, n)
    w, a = rng.normal(size=(2, rows, n, 3))
    bodies = [world.add(lw.Particle(masses[k], position=x[k], velocity=v[k], name=f"bead{k}")) for k in range(n)]

    def function(*arguments):
        places = [body.position for body in arguments[:-1]]
        return [sum(lw.dot(w[r, k] * p / 2 + a[r, k], p) - (w[r, k] * x[k] / 2 + a[r, k]) @ x[k]
                    for k, p in enumerate(places)) for r in range(rows)]  # fmt: skip

    world.add(lw.Constraint(*bodies, function, name="all"))
    return world, x, masses, w, a


def by_hand(sim, x, masses, w, a):
    """(accelerations, multipliers) of the swarm at velocities that the simulation has made consistent."""
    v = np.array([sim.velocity(f"bead{k}") for k in range(len(x))])
    J = (w * x + a).reshape(len(w), -1)
    bias = (w * v**2).reshape(len(w), -1).sum(axis=1)
    n = 3 * len(x)
    H = np.zeros((n + len(J), n + len(J)))
    H[:n, :n], H[n:, :n], H[:n, n:] = np.diag(np.repeat(masses, 3)), J, J.T
    force = np.outer(masses, (0, 0, -G)).ravel()
    found = np.linalg.solve(H, np.concatenate([force, -bias]))
    return found[:n].reshape(-1, 3), -found[n:]


@pytest.mark.parametrize("solver", SOLVERS)
def test_swarms_move_as_dense_algebra_by_hand_says(solver):
    worst = 0.0
    for seed, n in enumerate((3, 4, 5, 9)):
        world, *numbers = swarm(n, seed)
        sim = lw.Simulation(world, solver=solver, integrator="euler")
        acceleration, multipliers = by_hand(sim, *numbers)
        found = np.array([sim.acceleration(f"bead{k}") for k in range(n)])
        worst = max(worst, np.abs(found - acceleration).max() / np.abs(acceleration).max())
        worst = max(worst, np.abs(sim.reaction("all").generalised - multipliers).max() / np.abs(multipliers).max())
        x, _, w, a = numbers
        for k in (0, n - 1):
            pull = (w[:, k] * x[k] + a[:, k]).T @ multipliers
            assert np.allclose(sim.reaction("all", f"bead{k}").force, pull, atol=1e-9 * np.abs(multipliers).max())
    assert worst < 1e-12


def all_kinds(seed):
    """Rows over bodies of many kinds, some on joints, some in separate trees, with loops among them."""
    rng = np.random.default_rng(seed)
    world = lw.World()
    bodies = []
    for k, kind in enumerate(rng.permutation(["rigid", "planar", "particle", "affine", "scalable", "rigid"])):
        place, speed = rng.normal(size=3), rng.normal(size=3)
        if kind == "rigid":
            body = lw.RigidBody(1.0, (0.1, 0.12, 0.15), position=place, velocity=speed)
        elif kind == "planar":
            body = lw.PlanarBody(1.5, 0.2, position=place[[0, 2]])
        elif kind == "particle":
            body = lw.Particle(0.7, position=place, velocity=speed)
        else:
            make = lw.AffineBody if kind == "affine" else lw.ScalableBody
            body = make(1.2, (0.1, 0.1, 0.1), position=place)
        bodies.append(world.add(body))
        if k in (1, 3) and kind in ("rigid", "affine", "scalable"):
            world.add(lw.Ball(world.ground, body, at=place + np.array((0.2, 0, 0))))
    for size in (3, 4, 6):
        chosen = rng.choice(len(bodies), size, replace=False)
        heavy = rng.normal(size=size)
        start = sum(c * np.asarray(_place(bodies[k])) for c, k in zip(heavy, chosen, strict=True))

        def centre(*arguments, heavy=heavy, start=start):
            return (sum(float(c) * b.position for c, b in zip(heavy, arguments[:-1], strict=True)) - start)[::2]

        world.add(lw.Constraint(*[bodies[k] for k in chosen], centre))
    return world


def errors(world):
    """Of accelerations and multipliers by each solver, against dense algebra; and what rows are off by after some steps."""
    found = []
    for solver in SOLVERS:
        sim = lw.Simulation(world, solver=solver, integrator="euler")
        accelerations(sim)
        (H, r), x = assembled(sim), solution(sim)
        exact = np.linalg.solve(H, r)
        sim.step(5)
        found += [np.abs(x - exact).max() / np.abs(exact).max(), sim.drift()]
    return found


def test_bodies_of_all_kinds_that_hang_together_are_solved_as_by_dense_algebra():
    """In another process that compiles nothing, as interpreted kernels are a test by themselves."""
    lines = interpreted("for seed in range(2):\n    print(*errors(all_kinds(seed)))")
    assert len(lines) == 2
    found = np.array(lines)
    assert found[:, ::2].max() < 1e-10 and found[:, 1::2].max() < 1e-3


def interpreted(program):
    """What a program on this module prints in a process that runs kernels as CasADi functions, a list of numbers a line."""
    begin = "from tests.simulation.test_many_bodies import *\n"
    environment = {**os.environ, "LINKWORK_KERNELS": "casadi", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-W", "ignore", "-c", begin + program]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return [[float(x) for x in line.split()] for line in run.stdout.splitlines()]


def _place(body):
    given = np.asarray(body.position)
    return given if len(given) == 3 else (given[0], 0.0, given[1])


# -- pulleys, differentials, centroids -----------------------------------------------------------------------------------


def atwood(masses, hanging=False):
    """Loads on vertical rails and one rope: over a fixed pulley, or through a block that hangs in its bight with a third load."""
    world = lw.World(gravity=(0, 0, -G))
    loads = [world.add(lw.Particle(m, position=(k, 0, -1), name=f"load{k}")) for k, m in enumerate(masses)]
    for k, load in enumerate(loads):
        world.add(lw.PointOnLine(world.ground, load, at=(k, 0, -1), axis=(0, 0, 1)))
    if hanging:  # the rope goes from the first load over a pulley, down around the block (the second), up and over to the third
        world.add(lw.Constraint(*loads, lambda a, b, c, t: a.position[2] + 2 * b.position[2] + c.position[2] + 4, name="rope"))
    else:
        lengths = ((0, 0, 0), (1, 0, 0))
        world.add(lw.Constraint(*loads, world.ground, lambda a, b, g, t: lw.norm(a.position - g.point(lengths[0]))
                                + lw.norm(b.position - g.point(lengths[1])) - 2, name="rope"))  # fmt: skip
    return world


@pytest.mark.parametrize("solver", SOLVERS)
def test_atwoods_machine(solver):
    sim = lw.Simulation(atwood((3.0, 2.0)), solver=solver)
    assert sim.acceleration("load1")[2] == pytest.approx(G * (3 - 2) / (3 + 2), rel=1e-13)
    assert sim.reaction("rope", "load0").force == pytest.approx((0, 0, 2 * 3 * 2 * G / (3 + 2)), rel=1e-13)
    sim.step(300)
    assert sim.position("load1")[2] == pytest.approx(-1 + 0.5 * 2.0 * 0.3**2, abs=1e-9)
    assert sim.drift() < 1e-10


def test_a_block_in_the_bight_of_a_rope():
    """With tension T: m1 a1 = T - m1 g, m2 a2 = 2 T - m2 g, m3 a3 = T - m3 g, a1 + 2 a2 + a3 = 0."""
    m = np.array([1.0, 5.0, 2.0])
    ways = np.array([1.0, 2.0, 1.0])
    tension = G * ways.sum() / (ways**2 / m).sum()
    for solver in SOLVERS:
        sim = lw.Simulation(atwood(m, hanging=True), solver=solver)
        found = [sim.acceleration(f"load{k}")[2] for k in range(3)]
        assert np.allclose(found, ways * tension / m - G, atol=1e-12)
        assert sim.reaction("rope").force[2] == pytest.approx(2 * tension)  # on its second body
        assert sim.reaction("rope", "load2").force[2] == pytest.approx(tension)


def differential():
    """Three shafts on the ground; the third turns at the mean of the others. A torque on the first."""
    world = lw.World(gravity=(0, 0, 0))
    moments = (0.1, 0.3, 0.2)
    shafts = []
    for k, moment in enumerate(moments):
        shafts.append(world.add(lw.RigidBody(1.0, (moment, 1, 1), position=(0, k, 0), name=f"shaft{k}")))
        world.add(lw.Hinge(world.ground, shafts[-1], at=(0, k, 0), axis=(1, 0, 0), name=f"axle{k}"))
    axis = (1, 0, 0)
    world.add(lw.VelocityConstraint(*shafts, lambda a, b, c, t: a.spin(axis) + b.spin(axis) - 2 * c.spin(axis), name="cage"))
    world.add(lw.Wrench("shaft0", torque=(6.0, 0, 0)))
    return world, np.array(moments)


@pytest.mark.parametrize("options", [*({"integrator": name} for name in INTEGRATORS[:4]), {"solver": "anticipation"},
                                     {"solver": "implicit"}, {"solver": "implicit", "tangent": "exact"}])  # fmt: skip
def test_a_differential_between_three_shafts(options):
    world, moments = differential()
    ways, torque = np.array([1.0, 1.0, -2.0]), np.array([6.0, 0.0, 0.0])
    multiplier = -(ways * torque / moments).sum() / (ways**2 / moments).sum()
    rates = (torque + ways * multiplier) / moments
    sim = lw.Simulation(world, dt=1e-3, **options)
    for k in range(3):
        assert sim.angular_acceleration(f"shaft{k}")[0] == pytest.approx(rates[k], abs=1e-11)
        assert sim.reaction("cage", f"shaft{k}").torque[0] == pytest.approx(ways[k] * multiplier)
    sim.step(200)
    for k in range(3):
        assert sim.angular_velocity(f"shaft{k}")[0] == pytest.approx(0.2 * rates[k], abs=1e-9)
    assert sim.drift(velocity=True) < 1e-10


def held_centroid(n=5):
    """n pendulums of two rods; the centroid of their tips is nailed."""
    world = lw.World(gravity=(0, 0, -G))
    tips = []
    for k in range(n):
        places = [(k, 0.3, -0.4), (k + 0.3, 0.6, -1.2)]
        rods = [world.add(lw.RigidBody(1.0 + 0.1 * k, (0.1, 0.1, 0.05), position=place)) for place in places]
        world.add(lw.Ball(world.ground, rods[0], at=(k, 0, 0)))
        world.add(lw.Ball(*rods, at=(k, 0.6, -0.8)))
        tips.append(rods[1])
    middle = (sum(range(n)) / n + 0.6, 0.6, -1.6)
    world.add(lw.Constraint(*tips, lambda *b: sum(tip.point(TIP) for tip in b[:-1]) / n - middle, name="nail"))
    world.add(lw.Wrench(tips[0], force=(0, 3, 1)))
    return world


@pytest.mark.parametrize("options", [*({"solver": s, "integrator": i} for s in SOLVERS[:3] for i in INTEGRATORS),
                                     {"solver": "implicit"}, {"solver": "implicit", "tangent": "exact"}])  # fmt: skip
def test_a_centroid_is_held_by_all_that_steps(options):
    sim = lw.Simulation(held_centroid(), dt=1e-3, **options)
    sim.step(50)
    tips = [body.name for body in list(sim.world.bodies)[1::2]]
    centroid = np.mean([sim.point(tip, TIP) for tip in tips], axis=0)
    assert np.allclose(centroid, (2.6, 0.6, -1.6), atol=1e-4 if options.get("integrator") in ("euler", "first-order") else 1e-9)
    forces = np.array([sim.reaction("nail", tip).force for tip in tips])
    assert np.allclose(forces, forces[0], atol=1e-9)
    if options.get("integrator") in ("rattle", "rk4", "dopri5"):
        assert len(sim.impulse("nail")) == 3


def test_what_solvers_and_integrators_find_is_the_same_motion():
    found = {}
    for options in ({"solver": "tree"}, {"solver": "dense"}, {"solver": "anticipation"}, {"integrator": "rk4"}):
        sim = lw.Simulation(held_centroid(), dt=1e-3, **options)
        sim.step(100)
        found[str(options)] = np.concatenate([sim.position(body) for body in sim.world.bodies])
    for one, other in combinations(found.values(), 2):
        assert np.allclose(one, other, atol=1e-6)


# -- order, redundancy, copies, drawings, refusals -----------------------------------------------------------------------


def test_the_fill_does_not_grow_with_the_number_of_bodies():
    few, many = (lw.Simulation(swarm(n, rows=1)[0], integrator="euler").model.summary() for n in (4, 40))
    assert few["neighbours"] == many["neighbours"] == 1
    assert few["loops"] == many["loops"] == 0 and many["trees"] == 1


def test_loops_through_many_bodies_are_counted():
    world, _ = differential()
    sim = lw.Simulation(world)
    assert sim.model.summary()["loops"] == 2  # three shafts on the ground, joined once
    assert lw.Simulation(swarm(4)[0]).model.summary()["loops"] == 0


def test_what_is_said_twice_is_told_and_shared():
    world = atwood((1.0, 5.0, 2.0), hanging=True)
    alone = lw.Simulation(world)
    tension, falling = alone.reaction("rope").generalised[0], alone.acceleration("load1")[2]
    again = lambda a, b, c, t: 2 * (a.position[2] + 2 * b.position[2] + c.position[2] + 4)  # noqa: E731
    world.add(lw.Constraint("load0", "load1", "load2", again, name="second rope"))
    for solver in SOLVERS[:3]:
        with pytest.warns(lw.Note, match="1 of the 2 rows between its bodies are redundant"):
            sim = lw.Simulation(world, solver=solver)
        assert not sim.reaction("rope").determined
        assert sim.reaction("rope").generalised[0] == pytest.approx(tension / 5)  # T = y1 + 2 y2, the shortest (y1, y2)
        assert sim.reaction("second rope").generalised[0] == pytest.approx(2 * tension / 5)
        assert sim.acceleration("load1")[2] == pytest.approx(falling)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
@pytest.mark.parametrize("solver", ["tree", "anticipation", "implicit"])
def test_copies_go_on_with_the_same_bits(clone, solver):
    sim = lw.Simulation(held_centroid(), solver=solver)
    sim.step(10)
    twin = clone(sim)
    for one in (sim, twin):
        one.step(10)
    assert np.array_equal(sim.state.values, twin.state.values)


def test_it_is_recorded_and_drawn(tmp_path):
    sim = lw.Simulation(held_centroid(3))
    record = sim.run(0.02, record_every=0.01)
    record.animate(tmp_path / "run.gif")
    assert record.drift.max() < 1e-10 and (tmp_path / "run.gif").stat().st_size > 1000


def test_parameters_stand_in_it():
    length = lw.Parameter(4.0, name="length")
    world = lw.World(gravity=(0, 0, -G))
    loads = [world.add(lw.Particle(1.0, position=(k, 0, -1), name=f"load{k}")) for k in range(3)]
    world.add(lw.Constraint(*loads, lambda a, b, c, t: a.position[2] + 2 * b.position[2] + c.position[2] + length, name="rope"))
    sim = lw.Simulation(world)
    sim.set("length", 4.0 + 1e-9)
    sim.step(5)
    assert sum(w * sim.position(f"load{k}")[2] for k, w in enumerate((1, 2, 1))) == pytest.approx(-4.0 - 1e-9, abs=1e-12)


def test_bad_input_is_refused_by_name():
    world, _ = differential()
    with pytest.raises(
        lw.LinkworkError, match=r'Constraint "c": it names RigidBody "shaft1" twice; name each of its bodies once'
    ):
        world.add(lw.Constraint("shaft0", "shaft1", "shaft1", lambda a, b, c, t: a.position[0], name="c"))
    world.add(lw.Particle(1.0, name="bead"))
    turning = lw.Constraint("shaft0", "shaft1", "bead", lambda a, b, c, t: c.direction((0, 0, 1))[0], name="turning")
    world.add(turning)
    with pytest.raises(lw.LinkworkError, match=r'Constraint "turning": Particle "bead" has no directions'):
        lw.Simulation(world)
    world.remove(turning)
    world.add(lw.Constraint("shaft0", "shaft1", "bead", lambda a, b, c, t: c.point((0, 0, 1))[0], name="beside"))
    with pytest.raises(lw.LinkworkError, match=r'Constraint "beside": .* a point beside Particle "bead"'):
        lw.Simulation(world)
    world.remove("beside")
    world.add(lw.Constraint("shaft0", "shaft1", "bead", lambda a, b, c, t: 0 * c.position[0] + 0 * b.position[1], name="flat"))
    with pytest.raises(lw.LinkworkError, match=r'Constraint "flat": row 1 does not change when its bodies move'):
        lw.Simulation(world)
    world.remove("flat")
    world.add(lw.Constraint("shaft0", "shaft1", "bead", lambda a, b, c, t: c.position[0] + b.position[1], name="off"))
    with pytest.raises(lw.LinkworkError, match=r'Constraint "off": it is off by 1 as built'):
        lw.Simulation(world)
    for solver in ("aba", "tree"):
        with pytest.raises(lw.LinkworkError, match=r'VelocityConstraint "cage": '):
            lw.Simulation(differential()[0], solver=solver, integrator="joint-rk4")


def test_a_value_that_is_not_finite_is_told_by_name():
    world = lw.World(gravity=(0, 0, -G))
    beads = [world.add(lw.Particle(1.0, position=(k, 0, 1))) for k in range(3)]
    world.add(lw.Constraint(*beads, lambda a, b, c, t: lw.sqrt(a.position[2] - b.position[2]) - c.position[2] + 1, name="root"))
    with pytest.raises(lw.LinkworkError, match=r'Constraint "root"'):
        lw.Simulation(world).step(10)


def test_interpreted_kernels_give_the_same():
    solvers = ("fronts", "anticipation")
    program = (
        f"for solver in {solvers}:\n"
        "    sim = lw.Simulation(held_centroid(4), solver=solver, integrator='euler'); sim.step(2)\n"
        "    print(*sim.state.values)"
    )
    for line, solver in zip(interpreted(program), solvers, strict=True):
        sim = lw.Simulation(held_centroid(4), solver=solver, integrator="euler")
        sim.step(2)
        assert np.allclose(sim.state.values, line, atol=1e-13)
