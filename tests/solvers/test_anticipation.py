"""`anticipation`: W against the dense Schur complement, loops against dense algebra, forces that constraints name themselves."""

import copy
import itertools
import pickle
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.engines.maximal.loop_schur import divider
from linkwork.engines.traits import TABLE
from tests.solvers.forests import accelerations, assembled, motion, solution, w_against_schur

G = 10.0


def quiet(world, solver="anticipation", integrator="euler", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        return lw.Simulation(world, solver=solver, integrator=integrator, **options)


@pytest.mark.parametrize("seed", range(8))
def test_w_is_the_schur_complement_of_the_dense_matrix(seed):
    """Ja H^-1 Ja^T with H of the primary rows alone; symmetric, positive semidefinite. (More of them: `forests.compared`.)"""
    sim = quiet(net(seed))
    error, least = w_against_schur(sim)
    assert error < 1e-12 and least > -1e-12


def net(seed):
    """Rigid bodies on balls and hinges, in a tree on the ground, and rods between any two of them."""
    rng = np.random.default_rng(seed)
    world = lw.World()
    bodies, joined = [world.ground], set()
    for k in range(rng.integers(4, 12)):
        place = rng.normal(size=3)
        body = lw.RigidBody(rng.uniform(0.5, 2), rng.uniform(0.1, 0.15, 3), position=place, velocity=rng.normal(size=3))
        world.add(body)
        parent = bodies[rng.integers(len(bodies))]
        joined.add(frozenset((parent, body)))
        at, axis = place + 0.3 * rng.normal(size=3), rng.normal(size=3)
        world.add(lw.Ball(parent, body, at=at) if k % 2 else lw.Hinge(parent, body, at=at, axis=axis))
        bodies.append(body)
    free = [pair for pair in itertools.combinations(bodies, 2) if frozenset(pair) not in joined]
    for k in rng.choice(len(free), 3, replace=False):
        world.add(lw.Distance(*free[k], on_a=rng.normal(size=3), on_b=rng.normal(size=3)))
    return world


@pytest.mark.parametrize("seed", range(10, 18))
def test_loops_are_solved_as_by_dense_algebra(seed):
    world = net(seed)
    sim, dense = quiet(world), quiet(world, "dense")
    for one in (sim, dense):
        accelerations(one)
    (H, r), found = assembled(sim), solution(sim)
    exact = np.linalg.solve(H, r)
    assert np.abs(found - exact).max() < 1e-12 * np.abs(exact).max()
    assert np.allclose(motion(sim), motion(dense), atol=1e-10 * np.abs(motion(dense)).max())


CASES = [(scene, {"n": 4}, integrator) for scene in ("four-bars", "ladder") for integrator in TABLE["fronts"]]
CASES.append(("squeezer", {}, "rattle"))


@pytest.mark.parametrize("scene, options, integrator", CASES)
def test_it_moves_as_tree_does(scene, options, integrator):
    sims = [quiet(lw.scenes.get(scene, **options), solver, integrator, dt=1e-3) for solver in ("fronts", "anticipation")]
    assert sims[0].notes == sims[1].notes
    assert sims[1].model.summary()["auxiliary"] > 0 == sims[0].model.summary()["auxiliary"]
    for sim in sims:
        sim.step(40)
    one, other = (np.concatenate([sim.position(body) for body in sim.world.bodies]) for sim in sims)
    assert np.allclose(one, other, atol=1e-9)
    assert sims[1].drift() == pytest.approx(sims[0].drift(), abs=1e-9)
    constraint = sims[0].world.constraints[-1].name
    one, other = (sim.reaction(constraint) for sim in sims)
    assert np.allclose(one.force, other.force, atol=1e-6 * max(1, np.abs(one.force).max()))
    assert one.determined == other.determined
    if sims[0].integrator.traits.keeps_impulses:
        assert np.allclose(*(sim.impulse(constraint) for sim in sims), atol=1e-7)


def test_the_tree_keeps_as_many_rows_as_it_can():
    """Wheels on the ground and gears between them: the hinges are primary, of five rows each, the gears of one auxiliary."""
    world = lw.World(gravity=(0, 0, 0))
    for k in range(5):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(k, 0, 0), name=f"wheel{k}"))
        world.add(lw.Hinge(world.ground, f"wheel{k}", at=(k, 0, 0), axis=(0, 0, 1), name=f"axle{k}"))
    for k in range(4):
        world.add(lw.Gear(f"axle{k}", f"axle{k + 1}", -1.0))
    world.add(lw.Wrench("wheel0", torque=(0, 0, 1.0)))
    sim = quiet(world)
    assert sim.model.summary()["auxiliary"] == 4
    assert sim.angular_acceleration("wheel4")[2] == pytest.approx(1.0 / 0.5)


def test_redundant_rows_are_told_and_shared_as_by_tree():
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(2.0, (0.3, 0.2, 0.1), position=(0.5, 0, 0), name="door"))
    world.add(lw.RigidBody(2.0, (0.3, 0.2, 0.1), position=(0.5, 0, 1), name="post"))
    for k, z in enumerate((-0.5, 0.5)):
        world.add(lw.Hinge(world.ground, "door", at=(0, 0, z), axis=(0, 0, 1), name=f"hinge{k}"))
    world.add(lw.Hinge("door", "post", at=(0, 0, 0.7), axis=(0, 0, 1), name="between"))
    world.add(lw.Hinge(world.ground, "post", at=(0, 0, 1.5), axis=(0, 0, 1), name="top"))
    with pytest.warns(lw.Note, match="redundant"):
        found = {solver: lw.Simulation(world, solver=solver) for solver in ("tree", "anticipation")}
    for sim in found.values():
        sim.step(5)
        assert not sim.reaction("hinge0").determined
    for name in ("hinge0", "hinge1", "between", "top"):
        one, other = (sim.reaction(name) for sim in found.values())
        assert np.allclose(one.force, other.force, atol=1e-8) and np.allclose(one.torque, other.torque, atol=1e-8)


def test_dividing_by_a_singular_w_gives_the_shortest():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 3))
    W = A @ A.T
    rows = W @ rng.normal(size=6)
    shortest = np.linalg.lstsq(W, rows, rcond=1e-10)[0]
    none = np.zeros(6, dtype=bool)
    broken = W - 1e-14 * np.eye(6)  # rounding has made it indefinite: there are no factors
    assert np.allclose(divider(lambda: broken.copy(order="F"), none)(rows), shortest, atol=1e-9)
    unknown = np.full((6, 6), np.nan, order="F")
    assert np.isnan(divider(lambda: unknown.copy(order="F"), none)(np.ones(6))).all()


def test_a_named_force_that_cannot_hold_its_row_gives_no_number():
    W = np.array([[2.0, 1.0, 0.0], [0.5, 3.0, 0.0], [0.0, 0.0, 0.0]])
    named = np.array([True, False, True])
    found = divider(lambda: W.copy(order="F"), named)(np.array([3.0, 3.5, 0.0]))
    assert np.allclose(found[:2], (1, 1)) and np.isnan(found[2])
    well = divider(lambda: W[:2, :2].copy(order="F"), named[:2])(np.array([3.0, 3.5]))
    assert np.allclose(well, (1, 1))


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_copies_go_on_with_the_same_bits(clone):
    sim = quiet(held_by_a_flywheel(), integrator="rattle")
    sim.step(10)
    twin = clone(sim)
    for one in (sim, twin):
        one.step(10)
    assert np.array_equal(sim.state.values, twin.state.values)


# -- forces that constraints name ------------------------------------------------------------------------------------------


def held_by_a_flywheel(level=0.0):
    """An arm on the ground with a flywheel at its middle: its tip stays at a height by a torque between wheel and arm."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    world.add(lw.RigidBody(2.0, (0.2, 0.3, 0.2), position=(1, 0, 0), name="wheel"))
    world.add(lw.Hinge(world.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    world.add(lw.Hinge("arm", "wheel", at=(1, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Constraint("arm", "wheel", lambda a, w, t: a.point((1, 0, 0))[2] - level, name="level",
                            force=lambda a, w, t: w.spin((0, 1, 0)) - a.spin((0, 1, 0))))  # fmt: skip
    return world


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5"])
def test_a_tip_is_held_by_a_torque_elsewhere(integrator):
    sim = quiet(held_by_a_flywheel(), integrator=integrator, dt=1e-3)
    torque = (1 + 2) * G * 1.0  # of the weight about the shoulder
    assert sim.reaction("level", "wheel").torque == pytest.approx((0, torque, 0))
    assert sim.reaction("level", "arm").torque == pytest.approx((0, -torque, 0))
    assert sim.reaction("level", "arm").force == pytest.approx((0, 0, 0))
    assert sim.angular_acceleration("wheel")[1] == pytest.approx(torque / 0.3)
    before = sim.energy()
    sim.step(200)
    assert sim.position("arm") == pytest.approx((1, 0, 0), abs=1e-9)
    assert sim.angular_velocity("wheel")[1] == pytest.approx(0.2 * torque / 0.3, rel=1e-9)
    after = sim.energy()
    spun = 0.5 * 0.3 * sim.angular_velocity("wheel")[1] ** 2
    assert after.kinetic - before.kinetic == pytest.approx(spun)
    assert after.work == pytest.approx(spun, rel=1e-2 if integrator == "euler" else 1e-6)  # what the torque has put in
    if integrator != "euler":
        assert sim.impulse("level")[0] == pytest.approx(1e-3 * torque)


def along(seed):
    """A net with rows that name forces on other bodies."""
    rng = np.random.default_rng(seed)
    world = net(seed)
    bodies = list(world.bodies)
    for _ in range(2):
        a, b = (bodies[k] for k in rng.choice(len(bodies), 2, replace=False))
        d, e, p = rng.normal(size=(3, 3))
        start = float(d @ np.asarray(a.position))
        world.add(lw.Constraint(a, b, lambda a, b, t, d=d, x=start: lw.dot(d, a.position) - x,
                                force=lambda a, b, t, e=e, p=p: lw.dot(e, b.point_velocity(p)) + b.spin(e)))  # fmt: skip
    return world


def test_named_forces_against_dense_algebra_that_is_not_symmetric():
    worst = []
    for seed in range(20, 28):
        try:
            sim = quiet(along(seed))
        except lw.ModelError as error:  # a force on a branch that the row knows nothing of
            assert "the force that it names cannot hold its rows" in str(error)
            continue
        accelerations(sim)
        (H, r), found, n = assembled(sim), solution(sim), sim.model.velocities
        first = n + np.concatenate([[0], np.cumsum([node.kind.size for node in sim.model.nodes])]).astype(int)
        starts = np.concatenate([[0], np.cumsum([kind.nv for kind in sim.model.bodies.kinds])]).astype(int)
        for k, node in enumerate(sim.model.nodes):
            if node.kind.force_directed:
                for end, pull in zip(node.ends, pulls_by_reports(sim, node), strict=True):
                    H[starts[end] : starts[end + 1], first[k] : first[k + 1]] = pull
        exact = np.linalg.solve(H, r)
        worst.append(np.abs(found - exact).max() / np.abs(exact).max() / max(1.0, 1e-3 * np.linalg.cond(H)))
    assert len(worst) > 2 and max(worst) < 1e-12


def pulls_by_reports(sim, node):
    """K of an aimed node, a block (6, rows) for each of its bodies: what its rates say of points and spins, by hand."""
    found = np.zeros((len(node.ends), 6, len(node.elements)))
    for row, element in enumerate(node.elements):
        b = element.bodies[1]
        k, (e, p) = sim.model.names[b.name][1], element.force.__defaults__
        arm = sim.point(b, p) - sim.work[sim.model.field_of_body(k, "q")][:3]
        turned = sim.frame(b) @ (e / np.linalg.norm(e))
        found[node.ends.index(k), :, row] = np.concatenate([e, np.cross(arm, e) + turned])
    return found


def test_a_speed_is_held_by_a_force_elsewhere():
    """The first of two beads on a wire moves at a given speed, because the second one, at the end of a rod, is pushed."""
    world = lw.World(gravity=(0, 0, 0))
    for k in range(2):
        world.add(lw.Particle(1.0 + k, position=(k, 0, 0), name=f"bead{k}"))
        world.add(lw.PointOnLine(world.ground, f"bead{k}", at=(k, 0, 0), axis=(1, 0, 0)))
    world.add(lw.Distance("bead0", "bead1", name="rod"))
    world.add(lw.VelocityConstraint("bead0", "bead1", lambda a, b, t: a.velocity[0] - 2 * t, name="pace",
                                    force=lambda a, b, t: 4 * b.velocity[0]))  # fmt: skip
    sim = quiet(world, integrator="rattle")
    assert sim.reaction("pace", "bead1").force == pytest.approx((3 * 2.0, 0, 0))
    assert sim.reaction("pace", "bead1").generalised == pytest.approx([6.0 / 4])
    assert sim.reaction("rod", "bead0").force == pytest.approx((2.0, 0, 0))
    sim.step(500)
    assert sim.velocity("bead0")[0] == pytest.approx(1.0)
    assert sim.energy().work == pytest.approx(sim.energy().kinetic)


def test_a_named_force_that_is_its_own_gradient_changes_nothing():
    """force= the row's own rate is the constraint without it."""

    def world(**options):
        made = lw.World(gravity=(0, 0, -G))
        rod = made.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(1, 0, 0), angular_velocity=(1, 2, 0.5), name="rod"))
        made.add(lw.Constraint(rod, lambda b, t: b.point((-1, 0, 0)), name="nail", **options))
        return made

    sims = [quiet(world(), integrator="rk4"), quiet(world(force=lambda b, t: b.point_velocity((-1, 0, 0))), integrator="rk4")]
    for sim in sims:
        sim.step(100)
    assert np.allclose(sims[0].position("rod"), sims[1].position("rod"), atol=1e-12)
    assert np.allclose(sims[0].reaction("nail").force, sims[1].reaction("nail").force, atol=1e-10)


def test_what_a_named_force_cannot_do_is_refused_by_name():
    def world(force, rows=lambda a, w, t: a.point((1, 0, 0))[2]):
        made = held_by_a_flywheel()
        made.remove("level")
        made.add(lw.Constraint("arm", "wheel", rows, name="level", force=force))
        return made

    for force, said in {
        (lambda a, w, t: w.position[0]): "its force speaks of no velocity; give the rate that it works on",
        (lambda a, w, t: w.spin((0, 1, 0)) ** 2): "its force is not linear in velocities",
        (lambda a, w, t: w.velocity): "its force gives 3 numbers for 1 rows; give one rate a row",
        (lambda a, w, t: 0 * w.spin((0, 1, 0))): "the force of row 1 moves none of its bodies",
    }.items():
        with pytest.raises(lw.LinkworkError, match=f'Constraint "level": {said}'):
            lw.Simulation(world(force), solver="anticipation")
    for solver in ("tree", "fronts", "dense", "implicit"):
        with pytest.raises(lw.LinkworkError, match='Constraint "level": it names the force that holds it.*"anticipation"'):
            lw.Simulation(held_by_a_flywheel(), solver=solver)
    along_the_axle = r'Constraint "level": the force that it names cannot hold its rows as built'
    with pytest.raises(lw.LinkworkError, match=along_the_axle):
        lw.Simulation(world(lambda a, w, t: w.velocity[1]), solver="anticipation")
