"""What must not change: momentum, energy to its order, and everything under renaming, renumbering and rigid motion."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.lookup import body_number
from tests.integrators.problems import skew, turn

G = 9.81


def free_chain(joint=lw.Ball, n=5, seed=0, kinds=("rigid",)):
    """A crooked chain that floats, with springs and a motor inside: nothing acts from outside."""
    rng = np.random.default_rng(seed)
    world = lw.World(gravity=(0, 0, 0))
    x, before = np.zeros(3), None
    for k in range(n):
        way = rng.normal(size=3)
        way *= 0.25 / np.linalg.norm(way)
        centre = x + way
        kind = kinds[k % len(kinds)]
        if kind == "rigid":
            body = lw.RigidBody(rng.uniform(0.5, 2), rng.uniform(0.03, 0.05, 3), position=centre, name=f"b{k}",
                                orientation=turn(rng.normal(size=3), 1.0)[0])  # fmt: skip
        elif kind == "particle":
            body = lw.Particle(rng.uniform(0.5, 2), position=x, name=f"b{k}")
        elif kind == "affine":
            body = lw.AffineBody(1.0, rng.uniform(0.02, 0.03, 3), position=centre, stiffness=20.0, name=f"b{k}")
        else:
            body = lw.ScalableBody(1.0, rng.uniform(0.02, 0.03, 3), position=centre, stiffness=20.0, name=f"b{k}")
        world.add(body)
        if before is not None:
            if kind == "particle" or joint is lw.Ball:
                world.add(lw.Ball(before, body, at=x, name=f"j{k}"))
            else:
                world.add(joint(before, body, at=x, axis=rng.normal(size=3), name=f"j{k}"))
        before, x = body, x if kind == "particle" else centre + way
    for k in range(1, n):
        world.find(f"b{k}").velocity[:] = rng.normal(0, 0.3, 3)
    if kinds == ("rigid",):
        world.add(lw.Spring("b0", f"b{n - 1}", 8.0, damping=0.3, on_b=(0.1, 0, 0)))
        world.find("b1").angular_velocity[:] = (3, -2, 1)
    if joint is lw.Hinge:
        world.add(lw.Motor("j1", kind="velocity", kd=0.1, limit=0.5, name="motor"))
    return world


def momentum(sim):
    """Linear and angular momentum of rigid bodies and particles."""
    linear, angular = np.zeros(3), np.zeros(3)
    for body in sim.world.bodies:
        v = sim.velocity(body)
        linear += body.mass * v
        angular += np.cross(sim.position(body), body.mass * v)
        if isinstance(body, lw.RigidBody):
            R = sim.frame(body)
            angular += R @ body.inertia @ R.T @ sim.angular_velocity(body)
        elif not isinstance(body, lw.Particle):
            # second moment of the points: sum of x y^T and x v^T
            number = body_number(sim._system, body)
            q, rate = (sim.work[sim.model.field_of_body(number, f)] for f in ("q", "v"))
            if isinstance(body, lw.AffineBody):
                F, dF = q[3:].reshape(3, 3), rate[3:].reshape(3, 3)
            else:
                F = sim.frame(body)
                dF = skew(rate[3:6]) @ F + F / q[7:10] * rate[6:9]
            S = F @ body.second_moment @ dF.T  # sum of m r v^T
            angular += (S[1, 2] - S[2, 1], S[2, 0] - S[0, 2], S[0, 1] - S[1, 0])
    return linear, angular


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("solver", ["tree", "fronts", "dense"])
@pytest.mark.parametrize("kinds", [("rigid",), ("rigid", "particle"), ("rigid", "affine")])
def test_rattle_keeps_both_momenta_each_step(solver, kinds):
    sim = lw.Simulation(free_chain(kinds=kinds), dt=2e-3, solver=solver)
    start = momentum(sim)
    for _ in range(60):
        sim.step()
        for found, was in zip(momentum(sim), start, strict=True):
            np.testing.assert_allclose(found, was, atol=5e-12)


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("integrator", ["rattle", "shake"])
def test_both_momenta_are_kept_with_motors_and_hinges(integrator):
    sim = lw.Simulation(free_chain(lw.Hinge), dt=2e-3, integrator=integrator)
    sim.control["motor"] = 5.0
    start = momentum(sim)
    sim.step(300)
    assert sim.drift() < 1e-10
    for found, was in zip(momentum(sim), start, strict=True):
        np.testing.assert_allclose(found, was, atol=5e-11)


@pytest.mark.filterwarnings("ignore::linkwork.Note")
def test_a_stretching_chain_keeps_linear_momentum_and_nearly_the_angular():
    errors = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(free_chain(kinds=("rigid", "scalable")), dt=dt)
        start = momentum(sim)
        sim.step(round(0.4 / dt))
        end = momentum(sim)
        np.testing.assert_allclose(end[0], start[0], atol=1e-11)
        errors.append(np.abs(end[1] - start[1]).max())
    assert errors[1] < max(0.35 * errors[0], 1e-10), errors  # second order, or better


@pytest.mark.filterwarnings("ignore::linkwork.Note")
@pytest.mark.parametrize("joint", [lw.Ball, lw.Hinge])
def test_euler_keeps_linear_momentum(joint):
    sim = lw.Simulation(free_chain(joint), dt=1e-3, integrator="euler")
    start = momentum(sim)[0]
    for _ in range(50):
        sim.step()
        np.testing.assert_allclose(momentum(sim)[0], start, atol=5e-12)


def test_a_free_rotor_keeps_its_angular_momentum_and_energy_bounded():
    world = lw.World(gravity=(0, 0, 0))
    inertia = np.array([0.1, 0.25, 0.3])
    world.add(
        lw.RigidBody(1.0, inertia, angular_velocity=(0.1, 15.0, 0.1), com=(0.1, 0.2, 0), velocity=(1, 2, 3), name="racket")
    )
    sim = lw.Simulation(world, dt=2e-3)

    def spin():
        R = sim.frame("racket")
        return R @ np.diag(inertia) @ R.T @ sim.angular_velocity("racket")

    L, E = spin(), sim.energy().kinetic
    worst = 0.0
    for _ in range(20):  # it tumbles about its middle axis over and over
        sim.step(250)
        np.testing.assert_allclose(spin(), L, atol=1e-11)
        worst = max(worst, abs(sim.energy().kinetic / E - 1))
    assert worst < 2e-3
    # the centre of mass goes straight
    v = np.array([1, 2, 3.0]) + np.cross((0.1, 15.0, 0.1), (0.1, 0.2, 0))
    np.testing.assert_allclose(sim.point("racket", (0.1, 0.2, 0)), np.array([0.1, 0.2, 0]) + 10 * v, atol=1e-9)


# -- energy -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("integrator", "order"), [("rattle", 2), ("euler", 1), ("rk4", 4)])
@pytest.mark.parametrize("scene", ["balls", "hinges", "scalable", "affine", "rolling", "skate"])
def test_the_order_of_the_energy_error(scene, integrator, order):
    def world():
        if scene in ("balls", "hinges"):
            made = free_chain(lw.Ball, 3)
            made.remove(made.forces[0])
            made.gravity = (0, 0, -G)
            for body in made.bodies:
                body.velocity[:] = 0
                body.angular_velocity[:] = 0
            made.add(lw.Ball(made.ground, "b0", at=(0, 0, 0)) if scene == "balls"
                     else lw.Hinge(made.ground, "b0", at=(0, 0, 0), axis=(1, 1, 0)))  # fmt: skip
            return made
        from tests.integrators import problems

        return {"scalable": problems.scalable, "affine": problems.affine, "rolling": problems.disc,
                "skate": lambda: problems.sleigh("rigid")}[scene]().world()  # fmt: skip

    errors = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(world(), dt=dt, integrator=integrator)
        E, worst = sim.energy().total, 0.0
        for _ in range(20):
            sim.step(round(0.02 / dt))
            worst = max(worst, abs(sim.energy().total - E))
        errors.append(worst)
    assert errors[1] < 1e-11 or math.log2(errors[0] / errors[1]) > order - 0.5, errors


@pytest.mark.slow
@pytest.mark.parametrize(
    "dt",
    [
        5e-3,
        1e-2,
    ],
)
def test_rattle_does_not_lose_energy_over_many_swings(dt):
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.02, 0.03, 0.04), position=(0.5, 0, 0), name="bob"))
    world.add(lw.Ball(world.ground, "bob", at=(0, 0, 0)))
    sim = lw.Simulation(world, dt=dt)
    worst = []
    for _ in range(4):
        found = []
        for _ in range(300):
            sim.step(round(0.1 / dt))
            found.append(sim.energy().total)
        worst.append(np.max(np.abs(found)))
    assert max(worst) < 3e-2 and worst[-1] < 1.5 * worst[0]


@pytest.mark.parametrize(("integrator", "order"), [("rattle", 2), ("euler", 1), ("rk4", 4), ("dopri5", None)])
@pytest.mark.parametrize("name", ["carried pivot", "arm driven by a motion", "arm driven by a drive", "a bead of given speed"])
def test_prescribed_motion_does_the_work_that_energy_gains(integrator, order, name):
    from tests.integrators.problems import PROBLEMS

    errors = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(PROBLEMS[name].world(), dt=dt, integrator=integrator)
        E, worst = sim.energy(), 0.0
        assert E.work == 0.0
        for _ in range(20):
            sim.step(round(0.02 / dt))
            now = sim.energy()
            worst = max(worst, abs(now.total - now.work - E.total))
        errors.append(worst)
    assert abs(now.work) > 0.05  # there is something to balance
    if order is None:
        assert errors[1] < 1e-5
    else:
        assert errors[1] < 1e-9 or math.log2(errors[0] / errors[1]) > order - 0.4, errors


@pytest.mark.parametrize("how", ["position", "velocity"])
def test_a_users_constraint_that_depends_on_time_does_work(how):
    """A bead is lifted along a leaning wall; the wall itself takes nothing."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.Particle(0.5, velocity=(0.3, 0, 0), name="bead"))
    if how == "position":
        world.add(lw.Constraint("bead", lambda b, t: b.position[2] - 0.2 * b.position[0] ** 2 - 0.6 * t**2))
    else:
        world.add(lw.VelocityConstraint("bead", lambda b, t: b.velocity[2] - 0.4 * b.position[0] * b.velocity[0] - 1.2 * t))
    errors = []
    for dt in (4e-3, 2e-3):
        sim = lw.Simulation(world, dt=dt)
        E = sim.energy()
        sim.step(round(0.8 / dt))
        now = sim.energy()
        errors.append(abs(now.total - now.work - E.total))
    assert now.work > 1.0 and math.log2(errors[0] / errors[1]) > 1.6, errors


def test_only_prescribed_motion_is_counted_as_work():
    """Motors, wrenches, dampers, drag, users' forces, damping of bodies and impacts do what they do, uncounted."""
    world = lw.World(gravity=(0, 0, -G))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0), name="arm"))
    world.add(lw.AffineBody(1.0, shape=lw.Box(1, 1, 1), position=(0, 0, 3), stiffness=50.0, damping=1.0, name="jelly"))
    world.add(lw.Hinge(world.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Motor("axle", name="motor"))
    world.add(lw.Wrench("arm", force=(0, 0, 3)))
    world.add(lw.Drag("arm", 0.3))
    world.add(lw.Damper(world.ground, "arm", 0.3, on_a=(1, 0, 1)))
    world.add(lw.Force("arm", lambda b, t: -0.2 * b.velocity))
    sim = lw.Simulation(world, dt=1e-3)
    sim.control["motor"] = 2.0
    before = sim.energy()
    sim.strike("arm", (0, 0, 0.4))
    sim.step(100)
    assert sim.energy().work == 0.0 and abs(sim.energy().total - before.total) > 0.05


def test_damping_only_takes():
    world = free_chain(lw.Ball, 4)
    with pytest.warns(lw.Note):
        sim = lw.Simulation(world, dt=1e-3)
    before = sim.energy().total
    for _ in range(20):
        sim.step(50)
        now = sim.energy().total
        assert now <= before + 1e-6
        before = now


# -- independence -------------------------------------------------------------------------------------------------
def tree(order, turned=(1, 0, 0, 0), moved=(0, 0, 0), flipped=False, solver="tree", integrator="rattle"):
    """A small branched tree on the ground, its elements added in any order, its joints written either way round."""
    R = np.eye(3)
    pose = np.asarray(turned, dtype=float)
    if pose[0] != 1:
        pose, R = turn(pose[1:], pose[0])

    def move(x):
        return R @ np.asarray(x, dtype=float) + moved

    world = lw.World(gravity=R @ (0, 0, -G))
    places = {"a": (0.5, 0, 0), "b": (1, 0.5, 0), "c": (1, 0, 0.5), "d": (1, 1, 0.3)}
    for name in order:
        k = "abcd".index(name) + 1
        inertia = R @ np.diag([0.02 * k, 0.03 * k, 0.04 * k]) @ R.T  # the body's frame is the world's: the same solid
        world.add(lw.RigidBody(0.5 * k, inertia, position=move(places[name]), velocity=(0, 0, 0), name=name))
    joints = [
        lambda w: lw.Hinge(*_ends(w, "ground", "a", flipped), at=move((0, 0, 0)), axis=R @ (0, 1, 0), name="root"),
        lambda w: lw.Ball(*_ends(w, "a", "b", flipped), at=move((1, 0, 0)), name="ab"),
        lambda w: lw.Hinge(*_ends(w, "a", "c", flipped), at=move((1, 0, 0)), axis=R @ (1, 0, 0), name="ac"),
        lambda w: lw.Universal(
            *_ends(w, "b", "d", False), at=move((1, 1, 0)), first=R @ (1, 0, 0), second=R @ (0, 1, 0), name="bd"
        ),
    ]
    for k in np.argsort(["abcd".index(name) for name in order]):
        world.add(joints[k](world))
    world.add(lw.Spring("c", "d", 5.0, rest=0.4))
    sim = lw.Simulation(world, dt=2e-3, solver=solver, integrator=integrator)
    sim.step(100)
    return sim, {name: R.T @ (sim.position(name) - moved) for name in "abcd"}, R


def _ends(world, a, b, flipped):
    return (b, a) if flipped else (a, b)


@pytest.mark.parametrize("integrator", ["rattle", "rk4", "euler"])
def test_results_do_not_depend_on_numbering_direction_or_place(integrator):
    _, base, _ = tree("abcd", integrator=integrator)
    for options in ({"order": "dcba"}, {"order": "bdac", "flipped": True}, {"order": "abcd", "moved": (3, -2, 1)},
                    {"order": "abcd", "turned": (1.1, 1, 2, 3)}, {"order": "cadb", "solver": "fronts"},
                    {"order": "abcd", "solver": "dense"}):  # fmt: skip
        _, found, _ = tree(**options, integrator=integrator)
        for name in "abcd":
            np.testing.assert_allclose(
                found[name], base[name], atol=1e-5 if integrator == "euler" else 2e-8, err_msg=str(options)
            )


def test_angles_run_the_other_way_when_a_joint_is_written_the_other_way_round():
    one, two = tree("abcd")[0], tree("abcd", flipped=True)[0]
    assert one.angle("ac") == pytest.approx(-two.angle("ac"), abs=1e-8)
    assert one.angle("root") == pytest.approx(-two.angle("root"), abs=1e-8)
    # the ground has no reactions of its own: the second body that moves
    np.testing.assert_allclose(one.reaction("root").force, two.reaction("root").force, atol=1e-6)


def test_a_forest_is_its_trees_run_apart():
    from tests.integrators.problems import PROBLEMS

    names = ["top", "wobbling disc", "nailed jelly"]
    apart = []
    for name in names:
        sim = lw.Simulation(PROBLEMS[name].world(), dt=2e-3)
        sim.step(50)
        apart.append(PROBLEMS[name].observe(sim))
    together = lw.World(gravity=(0, 0, -G))
    for name in names:
        world = PROBLEMS[name].world()
        for element in (*world.bodies, *world.constraints):
            world.remove(element, cascade=True) if element in world else None
            for end in ("a", "b"):
                if getattr(element, end, None) is world.ground:
                    setattr(element, end, together.ground)
            together.add(element)
    sim = lw.Simulation(together, dt=2e-3)
    sim.step(50)
    for name, alone in zip(names, apart, strict=True):
        np.testing.assert_allclose(PROBLEMS[name].observe(sim), alone, atol=1e-9)


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5"])
def test_quaternions_stay_normalised(integrator):
    from tests.integrators.problems import PROBLEMS

    for name in ("top", "nailed jelly", "wobbling disc"):
        problem = PROBLEMS[name]
        sim = lw.Simulation(problem.world(), dt=5e-3, integrator=integrator)
        for _ in range(40):
            sim.step()
            body = problem.world().bodies[0].name
            assert np.linalg.norm(sim.orientation(body)) == pytest.approx(1, abs=1e-14)
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (1, 2, 2.5), orientation=(0.7071, 0, 0.7071, 0), angular_velocity=(20, 30, 10), name="a"))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    assert np.linalg.norm(sim.orientation("a")) == pytest.approx(1, abs=1e-14)
    sim.step(1000)
    assert np.linalg.norm(sim.orientation("a")) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("solver", ["tree", "fronts", "dense"])
@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5"])
def test_reactions_are_there_before_the_first_step_and_agree(solver, integrator):
    """They are of the moment, not of the scheme."""
    from tests.integrators.problems import PROBLEMS

    for name, constraint in (("three rigid rods", "pin1"), ("wobbling disc", "rim"), ("arm driven by a drive", "told"),
                             ("nailed jelly", "nail"), ("a bead of given speed", "pace")):  # fmt: skip
        reference = lw.Simulation(PROBLEMS[name].world(), solver="dense").reaction(constraint)
        found = lw.Simulation(PROBLEMS[name].world(), solver=solver, integrator=integrator).reaction(constraint)
        np.testing.assert_allclose(found.force, reference.force, atol=1e-9)
        np.testing.assert_allclose(found.torque, reference.torque, atol=1e-9)


# -- turns --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5"])
@pytest.mark.parametrize("ratio", [-2.37, 0.313])
def test_turns_are_counted_past_many_revolutions_through_gears(integrator, ratio):
    world = lw.World(gravity=(0, 0, 0))
    for k, name in enumerate("ab"):
        world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.3), position=(k, 0, 0), name=name))
        world.add(lw.Hinge(world.ground, name, at=(k, 0, 0), axis=(0, 0, 1), name=f"axle {name}"))
    world.add(lw.Gear("axle a", "axle b", ratio, name="mesh"))
    torque = 15.0
    world.add(lw.Wrench("a", torque=lambda t: (0, 0, torque * lw.sin(0.5 * t))))  # there, and slower, and further
    sim = lw.Simulation(world, dt=2e-3, integrator=integrator)
    inertia = 0.3 * (1 + 1 / ratio**2)
    for _ in range(5):
        sim.step(500)
        t = sim.time
        expected = torque / inertia * (2 * t - 4 * math.sin(0.5 * t))
        assert sim.angle("axle a") == pytest.approx(expected, rel=5e-3 if integrator == "euler" else 1e-4)
        assert sim.angle("axle a") == pytest.approx(ratio * sim.angle("axle b"), abs=1e-3 if integrator == "euler" else 1e-7)
    assert abs(sim.angle("axle a")) > 6 * math.pi


@pytest.mark.parametrize("integrator", ["rattle", "rk4", "euler", "first-order"])
def test_turns_are_counted_backwards_too(integrator):
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.3), name="a"))
    world.add(lw.Hinge(world.ground, "a", at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    world.add(lw.Motion("axle", lambda t: 30 * lw.sin(2 * t), name="told"))
    sim = lw.Simulation(world, dt=1e-3, integrator=integrator) if integrator == "first-order" else None
    if sim is None:
        world.find("a").angular_velocity[:] = (0, 0, 60)
        sim = lw.Simulation(world, dt=1e-3, integrator=integrator)
    for _ in range(6):
        sim.step(500)
        close = {"rattle": 1e-9, "rk4": 1e-9, "euler": 0.05, "first-order": 0.3}[integrator]
        assert sim.angle("axle") == pytest.approx(30 * math.sin(2 * sim.time), abs=close)


def test_rows_with_turns_start_anywhere():
    """A hinge that stands as built at half a turn of its frames, and swings across it."""
    for start in (math.pi, -math.pi, 3.1, 1.0):
        pose, _ = turn((0, 1, 0), start)
        world = lw.World(gravity=(0, 0, 0))
        world.add(lw.RigidBody(1.0, (0.2, 0.2, 0.3), orientation=pose, angular_velocity=(0, 10, 0), name="a"))
        world.add(lw.Hinge(world.ground, "a", at=(0, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 1, 0), name="axle"))
        world.add(lw.Screw(world.ground, world.add(lw.RigidBody(1.0, (1, 1, 1), orientation=pose, name="n")), at=(0, 0, 0),
                           axis=(0, 1, 0), pitch=0.1, name="thread"))  # fmt: skip
        sim = lw.Simulation(world, dt=1e-3)
        assert sim.angle("axle") == pytest.approx(0, abs=1e-12)
        sim.step(1000)
        assert sim.angle("axle") == pytest.approx(10.0, rel=1e-6)
