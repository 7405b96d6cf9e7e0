"""The public face: DESIGN.md's first script, what each report means, states to the bit, and bad input."""

import copy
import math
import warnings

import numpy as np
import pytest

import linkwork as lw

G = 9.81
INTEGRATORS = ["rattle", "euler", "rk4", "dopri5", "first-order"]
SOLVERS = ["tree", "fronts", "dense"]


def crank_and_rod():
    world = lw.World(gravity=(0, 0, -9.81))
    crank = world.add(lw.RigidBody(mass=1.0, shape=lw.Box(0.4, 0.05, 0.05), position=(0.2, 0, 0), name="crank"))
    rod = world.add(lw.RigidBody(mass=0.5, shape=lw.Capsule(0.02, 0.8), position=(0.8, 0, 0),
                                 orientation=(0.7071, 0, 0.7071, 0), name="rod"))  # fmt: skip
    world.add(lw.Hinge(world.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Ball(crank, rod, at=(0.4, 0, 0), name="pin"))
    return world


def zoo(velocity_forces=True):
    """A bit of everything: counters, gears, prescribed motion, rolling, stretch, user's functions, parameters."""
    world = crank_and_rod()
    gains = {"kind": "position", "kp": 3.0, "kd": 0.2} if velocity_forces else {"kind": "torque"}
    world.add(lw.Motor("axle", **gains, limit=4.0, name="servo"))
    for k in (1, 2):
        world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(k, 1, 0), com=(0.01, 0, 0), name=f"wheel{k}"))
        world.add(lw.Hinge(world.ground, f"wheel{k}", at=(k, 1, 0), axis=(0, 0, 1), name=f"axle{k}"))
    world.add(lw.Gear("axle1", "axle2", -1.7, name="mesh"))
    world.add(lw.Motion("axle2", lambda t: 40 * (1 - lw.cos(t)), name="told"))
    world.add(lw.RigidBody(0.4, shape=lw.Sphere(0.1), position=(0, -1, 0.1), name="ball"))
    world.add(lw.Rolling(world.ground, "ball", 0.1, name="contact"))
    world.add(lw.Wrench("ball", force=lambda t: (lw.sin(t), 0.2, 0), torque=(0.01, 0, 0)))
    jelly = lw.ScalableBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), position=(0, 2, 0), stretch=(1.1, 0.9, 1.0),
                            angular_velocity=(0.3, 0.2, -0.4), stiffness=20.0 if velocity_forces else 0.1, damping=0.5 * velocity_forces,
                            name="jelly")  # fmt: skip
    world.add(jelly)
    world.add(lw.Ball(world.ground, jelly, at=(0.1, 2, 0.05), name="nail"))
    k = lw.Parameter(20.0, name="k")
    world.add(lw.Particle(0.2, position=(0.5, 2, 0.4), name="bead"))
    world.add(lw.Spring("jelly", "bead", k, damping=0.1 * velocity_forces, name="spring"))
    world.add(lw.Constraint("bead", lambda b, t: b.position[1] - 2.0 - 0.1 * b.position[0] ** 2 + 0.025, name="sheet"))
    return world


def make(integrator, world=None, dt=2e-3, **options):
    world = world or zoo(velocity_forces=integrator != "first-order")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, dt=dt, integrator=integrator, **options)
    if "servo" in sim.control:
        sim.control["servo"] = 0.7
    return sim


def same(a, b):
    assert a.time == b.time and a.steps == b.steps
    assert a.values.tobytes() == b.values.tobytes()


# -- the script ---------------------------------------------------------------------------------------------------
def test_the_script_of_the_design(tmp_path):
    world = crank_and_rod()
    sim = lw.Simulation(world, dt=1e-3)
    rec = sim.run(2.0, record_every=0.01)
    assert len(rec) == 201 and sim.time == pytest.approx(2.0) and sim.steps == 2000
    for report in (sim.position, sim.velocity, sim.angular_velocity):
        assert report("rod").shape == (3,)
    assert sim.orientation("rod").shape == (4,)
    np.testing.assert_allclose(np.linalg.norm(sim.point("rod", (0, 0, 0.4)) - sim.position("rod")), 0.4)
    assert sim.reaction("pin").force.shape == sim.reaction("pin").torque.shape == (3,)
    energy = sim.energy()
    assert energy.total == energy.kinetic + energy.potential and sim.drift() < 1e-10
    rec.to_xarray()
    rec.save(tmp_path / "run.nc")
    rec.plot("rod")
    assert math.isfinite(sim.angle("axle")) and math.isfinite(sim.rate("axle"))
    assert sim.acceleration("rod").shape == (3,) and sim.jacobian("rod", (0, 0, 0.4)).shape == (3, 6)
    world.add(lw.Motor("axle", kind="velocity", kd=5.0, limit=20.0, name="drive"))
    k = lw.Parameter(20.0, name="k")
    world.add(lw.Spring(world.ground, "rod", k, rest=0.1))
    sim = lw.Simulation(world, dt=1e-3)
    sim.control["drive"] = 2.0
    sim.set("k", 30.0)
    assert sim.get("k") == 30.0 and sim.control["drive"] == 2.0
    s = sim.state.copy()
    sim.run(1.0)
    once = sim.state.copy()
    sim.state = s
    sim.run(1.0)
    same(sim.state, once)


def test_a_motor_added_to_a_running_world():
    """As the design's script has it: world.add(...), then sim.control of the same sim."""
    world = crank_and_rod()
    sim = lw.Simulation(world, dt=1e-3)
    sim.run(0.1)
    world.add(lw.Motor("axle", kind="velocity", kd=5.0, limit=20.0, name="drive"))
    sim.control["drive"] = 2.0


def test_forces_are_taken_up_and_other_changes_told():
    world = crank_and_rod()
    sim = lw.Simulation(world)
    sim.step(10)
    before = sim.position("rod")
    world.add(lw.Drag("rod", linear=0.1, name="air"))
    assert np.array_equal(sim.position("rod"), before) and sim.steps == 10
    sim.step()
    sim.reset()
    assert sim.time == 0.0
    world.add(lw.Particle(1.0, name="other"))
    with pytest.raises(lw.ModelError, match=r"World: .*changed"):
        sim.step()


def test_elements_by_object_and_by_name():
    world = crank_and_rod()
    sim = lw.Simulation(world)
    assert sim.position(world.find("rod")).tobytes() == sim.position("rod").tobytes()
    assert sim.angle(world.find("axle")) == sim.angle("axle")
    assert sim.reaction(world.find("pin"), body=world.find("crank")).force == pytest.approx(-sim.reaction("pin").force)


def test_run_counts_and_records():
    sim = make("rattle", crank_and_rod())
    rec = sim.run(0.1, record_every=0.03)  # the last sample is the end, on the grid or not
    np.testing.assert_allclose(rec.time, [0, 0.03, 0.06, 0.09, 0.1], atol=1e-12)
    rec = sim.run(0.1, record_every=None, record=["pin"])
    np.testing.assert_allclose(rec.time, [0.1, 0.2], atol=1e-12)
    np.testing.assert_allclose(rec.extra["reaction pin"][-1], sim.reaction("pin").force, rtol=1e-12)
    assert len(sim.run(0.0)) == 1
    with pytest.raises(lw.LinkworkError, match=r"seconds"):
        sim.run(-1.0)
    with pytest.raises(lw.LinkworkError, match=r"record_every"):
        sim.run(1.0, record_every=0.0)


def test_control_and_until_are_called_around_each_step():
    world = crank_and_rod()
    world.add(lw.Motor("axle", kind="torque", name="motor"))
    sim = lw.Simulation(world, dt=1e-3)
    seen = []

    def control(s):
        seen.append(s.time)
        s.control["motor"] = 1.0 + s.time

    rec = sim.run(1.0, control=control, until=lambda s: s.time > 0.0495)
    assert sim.time == pytest.approx(0.05) and len(seen) == 50 and seen[0] == 0.0
    assert rec.time[-1] == sim.time and "until" in rec.attributes["note"]
    assert sim.control["motor"] == pytest.approx(1.049)


def test_a_feedback_written_in_python_is_the_motor():
    """A servo by control= at each step is close to the built-in one."""
    found = []
    for built_in in (True, False):
        world = crank_and_rod()
        world.add(lw.Motor("axle", **({"kind": "velocity", "kd": 0.5} if built_in else {}), name="motor"))
        sim = lw.Simulation(world, dt=2e-4)
        if built_in:
            sim.control["motor"] = 2.0
            sim.run(0.5)
        else:
            sim.run(0.5, control=lambda s: s.control.__setitem__("motor", 0.5 * (2.0 - s.rate("axle"))))
        found.append(sim.rate("axle"))
    assert found[0] == pytest.approx(found[1], abs=1e-2)


# -- states -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("solver", ["tree", "dense"])
def test_a_state_brings_the_same_bits_again(integrator, solver):
    sim = make(integrator, solver=solver)
    sim.step(7)
    before = sim.state.copy()
    sim.step(20)
    after = sim.state.copy()
    assert after.values.tobytes() != before.values.tobytes()
    sim.state = before
    same(sim.state, before)
    sim.step(20)
    same(sim.state, after)
    other = make(integrator, solver=solver)  # another world, the same model
    other.state = before
    other.step(20)
    same(other.state, after)
    third = make(integrator, world=sim.world, solver=solver)
    third.step(3)
    third.state = before.copy()
    third.run(20 * 2e-3)
    same(third.state, after)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_looking_changes_nothing(integrator):
    blind, looking = make(integrator), make(integrator)
    blind.step(30)
    for k in range(30):
        looking.step()
        if k % 3 == 0:
            looking.energy()
            looking.drift()
        if k % 4 == 1:
            looking.reaction("pin")
            looking.reaction("told")
            looking.drift(velocity=True)
        if k % 5 == 2:
            looking.acceleration("jelly")
            looking.jacobian("rod")
            looking.angle("axle1")
        if k % 7 == 3:
            looking.control["servo"] = looking.control["servo"]
            looking.set("k", looking.get("k"))
    for sim in (blind, looking):
        sim.step()  # a hinge's counter may lag until somebody looks: the next step is what counts
    same(blind.state, looking.state)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_stretch_of_steps_is_the_same_as_single_ones(integrator):
    whole, single, recorded = (make(integrator) for _ in range(3))
    whole.step(40)
    for _ in range(40):
        single.step()
    recorded.run(40 * 2e-3, record_every=0.006, record=["pin", "contact"], until=lambda s: False)
    same(whole.state, single.state)
    for sim in (whole, recorded):
        sim.step()
    same(whole.state, recorded.state)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_reset_goes_back_to_the_start(integrator):
    sim = make(integrator)
    start, first = sim.state.copy(), []
    for _ in range(2):
        sim.step(15)
        first.append(sim.state.copy())
        sim.reset()
        same(sim.state, start)
        assert sim.time == 0.0 and sim.steps == 0
    same(*first)


def test_a_copy_of_a_state_is_independent():
    sim = make("rattle")
    s = sim.state
    kept = s.copy()
    sim.step(3)
    same(s, kept)
    s.values[:] = 0.0
    assert not np.all(sim.state.values == 0.0) and not np.all(kept.values == 0.0)


def test_a_state_of_another_model_is_refused():
    with pytest.raises(lw.ModelError, match=r"state of .* numbers"):
        make("rattle").state = make("rattle", crank_and_rod()).state


def test_a_state_holds_turns_beyond_one():
    sim = make("rattle", dt=1e-3)
    sim.step(2000)
    turned, s = sim.angle("axle2"), sim.state.copy()
    assert turned == pytest.approx(40 * (1 - math.cos(2.0)), abs=1e-6)
    sim.step(1000)
    sim.state = s
    assert sim.angle("axle2") == turned


def test_a_copied_world_moves_the_same():
    world = zoo()
    twin = copy.deepcopy(world)
    first, second = make("rattle", world), make("rattle", twin)
    first.step(20)
    second.step(20)
    same(first.state, second.state)


# -- reports against differences ----------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", SOLVERS)
def test_accelerations_are_the_rates_of_velocities(solver):
    h = 1e-4
    sim = make("rk4", dt=h, solver=solver)
    bodies = ["crank", "rod", "wheel1", "ball", "jelly", "bead"]
    sim.step(100)
    behind = {b: (sim.velocity(b), sim.angular_velocity(b)) for b in bodies}
    sim.step()
    found = {b: (sim.acceleration(b), sim.angular_acceleration(b)) for b in bodies}
    sim.step()
    ahead = {b: (sim.velocity(b), sim.angular_velocity(b)) for b in bodies}
    for b in bodies:
        for k in (0, 1):
            np.testing.assert_allclose((ahead[b][k] - behind[b][k]) / (2 * h), found[b][k], atol=2e-4, rtol=1e-5, err_msg=b)


@pytest.mark.parametrize("body", ["rod", "wheel1", "jelly", "bead", "flat", "blob"])
def test_jacobians_and_points_against_differences(body):
    """The point's velocity is J times the body's velocities, and the rate of where it is."""
    world = zoo()
    world.add(lw.PlanarBody(1.0, 0.2, position=(3, 3), angle=0.4, velocity=(0.1, 0.2), angular_velocity=1.5, name="flat"))
    rate = np.random.default_rng(1).normal(size=(3, 3))
    world.add(lw.AffineBody(1.0, shape=lw.Box(1, 1, 1), deformation_rate=rate, velocity=(1, 2, 3), name="blob"))
    h, local = 1e-5, np.array([0.2, 0.0 if body == "flat" else -0.3, 0.1])
    if body == "bead":
        local[:] = 0.0
    sim = make("rk4", world, dt=h)
    sim.step(50)
    J = sim.jacobian(body, local)
    if body == "jelly":
        rates = sim.work[sim.model.field_of_body(sim._body("jelly"), "v")]
    elif body == "flat":
        rates = np.array([*sim.velocity("flat")[[0, 2]], sim.angular_velocity("flat")[1]])
    elif body == "bead":
        rates = sim.velocity("bead")
    elif body == "blob":
        rates = sim.work[sim.model.field_of_body(sim._body("blob"), "v")]
    else:
        rates = np.concatenate([sim.velocity(body), sim.angular_velocity(body)])
    before = sim.point(body, local)
    velocity = J @ rates
    sim.step(2)
    middle = (sim.point(body, local) - before) / (2 * h)
    np.testing.assert_allclose(velocity, middle, atol=2e-3, rtol=1e-3)


def test_angles_and_rates_of_joints_between_moving_bodies():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), angular_velocity=(1, 2, 3), name="a"))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), position=(1, 0, 0), name="b"))
    world.add(lw.Cylindrical("a", "b", at=(0.5, 0, 0), axis=(1, 1, 0), name="sleeve"))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), position=(2, 0, 0), velocity=(0, 0, 0.5), name="c"))
    world.add(lw.Slider("c", "b", at=(1.5, 0, 0), axis=(1, 0, 1), name="rail"))
    with pytest.warns(lw.Note):
        sim = lw.Simulation(world, dt=1e-5, integrator="rk4")
    for joint in ("sleeve", "rail"):
        assert sim.angle(joint) == pytest.approx(0, abs=1e-12)
    sim.step(1000)
    before = {j: sim.angle(j) for j in ("sleeve", "rail")}
    sim.step()
    rates = {j: sim.rate(j) for j in before}
    sim.step()
    for joint, rate in rates.items():
        assert (sim.angle(joint) - before[joint]) / 2e-5 == pytest.approx(rate, abs=1e-6)
    with pytest.raises(lw.LinkworkError, match=r'"nail".*no angle'):
        make("rattle").angle("nail")


@pytest.mark.parametrize("solver", SOLVERS)
def test_reactions_balance_each_body(solver):
    """m a = weight + all reactions, and about the centre of mass the torques make L'."""
    world = crank_and_rod()
    world.add(lw.Wrench("rod", torque=(0.3, -0.2, 0.1), force=(1, 2, 3), at=(0, 0, 0.2)))
    sim = make("rattle", world, solver=solver)
    for _ in range(3):
        for name, ends in (("crank", [("axle", 1), ("pin", -1)]), ("rod", [("pin", 1)])):
            body = world.find(name)
            force, torque = np.zeros(3), np.zeros(3)
            for joint, sign in ends:
                reaction = sim.reaction(joint) if sign == 1 else sim.reaction(joint, body=name)
                force += reaction.force
                torque += reaction.torque + np.cross(reaction.at - sim.position(name), reaction.force)
            if name == "rod":
                force += (1, 2, 3)
                torque += np.array([0.3, -0.2, 0.1]) + np.cross(sim.frame("rod") @ (0, 0, 0.2), (1, 2, 3))
            force += body.mass * np.array([0, 0, -G])
            R, w = sim.frame(name), sim.angular_velocity(name)
            inertia = R @ body.inertia @ R.T
            np.testing.assert_allclose(body.mass * sim.acceleration(name), force, atol=1e-10)
            momentum = inertia @ sim.angular_acceleration(name) + np.cross(w, inertia @ w)
            np.testing.assert_allclose(momentum, torque, atol=1e-10)
        sim.step(173)


def test_the_reaction_on_the_other_body_is_opposite():
    sim = make("rattle")
    sim.step(20)
    for joint, first in (("pin", "crank"),):
        a, b = sim.reaction(joint, body=first), sim.reaction(joint)
        np.testing.assert_allclose(a.force, -b.force, atol=1e-12)
        np.testing.assert_allclose(a.at, b.at, atol=1e-9)
        np.testing.assert_allclose(a.torque, -b.torque, atol=1e-9)
    with pytest.raises(lw.LinkworkError, match=r'"pin".*"ball"'):
        sim.reaction("pin", body="ball")


def test_reactions_do_not_feel_baumgarte():
    """Euler's feedback is no force of the mechanism."""
    world = crank_and_rod()
    one, two = make("rattle", world), make("euler", world, stiffness=1e5, damping=1e3)
    two.state = one.state
    np.testing.assert_allclose(two.reaction("pin").force, one.reaction("pin").force, rtol=1e-10)


def test_drift_is_the_largest_residual():
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), velocity=(0, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    sim = lw.Simulation(world)
    s = sim.state.copy()
    q = sim.model.field_of_body(0, "q")
    sim.work[q] = (1.25, 0, 0)
    sim._touched()
    assert sim.drift() == pytest.approx(0.25, rel=1e-12)
    sim.work[sim.model.field_of_body(0, "v")] = (-0.5, 3, 0)
    assert sim.drift(velocity=True) == pytest.approx(0.5, rel=1e-12)
    sim.state = s
    assert sim.drift() == 0.0


def test_energy_against_a_sum_by_hand():
    sim = make("rattle", crank_and_rod())
    sim.step(400)
    kinetic = potential = 0.0
    for name in ("crank", "rod"):
        body = sim.world.find(name)
        w = sim.frame(name).T @ sim.angular_velocity(name)
        kinetic += 0.5 * body.mass * sim.velocity(name) @ sim.velocity(name) + 0.5 * w @ body.inertia @ w
        potential += body.mass * G * sim.position(name)[2]
    energy = sim.energy()
    assert energy.kinetic == pytest.approx(kinetic, rel=1e-12)
    assert energy.potential == pytest.approx(potential, rel=1e-12) and energy.work == 0.0


# -- controls -------------------------------------------------------------------------------------------------------
def test_controls_are_checked():
    sim = make("rattle")
    assert list(sim.control) == ["servo"] and len(sim.control) == 1
    with pytest.raises(lw.UnknownNameError, match=r'"sevro".*did you mean "servo"'):
        sim.control["sevro"] = 1.0
    with pytest.raises(lw.LinkworkError, match=r"servo"):
        sim.control["servo"] = float("inf")


# -- notes --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4"])
def test_inconsistent_velocities_are_put_right_with_a_note(integrator):
    """A free fall along a rod is stopped by an impulse: what is left is the part that the constraint allows."""
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), velocity=(3, 2, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    with pytest.warns(lw.Note, match=r'Distance "rod".*velocities'):
        sim = lw.Simulation(world, integrator=integrator)
    assert len(sim.notes) == 1
    np.testing.assert_allclose(sim.velocity("bob"), [0, 2, 0], atol=1e-12)
    assert sim.drift(velocity=True) < 1e-12


def test_consistent_velocities_are_left_alone():
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), velocity=(0, 2, 0.5), name="bob"))
    world.add(lw.Distance(world.ground, "bob"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = lw.Simulation(world)
    assert sim.velocity("bob").tolist() == [0, 2, 0.5] and not sim.notes


# -- runs that go wrong -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5"])
def test_a_run_that_blows_up_says_where(integrator):
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    world.add(lw.Force("bob", lambda b, t: 1e3 * lw.exp(40 * t) * lw.dot(b.velocity, b.velocity) * b.velocity + (0, 1, 0)))
    sim = lw.Simulation(world, dt=1e-2, integrator=integrator)
    with pytest.raises(lw.DivergenceError) as caught:
        sim.run(20.0, record_every=0.02)
    error = caught.value
    assert error.step == sim.steps and 0 < error.step < 2000 and error.time == sim.time
    assert error.recording is not None and len(error.recording) >= 1 and np.isfinite(error.recording.position).all()
    assert f"step {error.step}" in str(error) and "\n" not in str(error)
    assert error.worst is None or error.worst.name == "rod"


def test_a_run_that_blows_up_names_the_worst_constraint_and_can_go_back():
    world = crank_and_rod()
    world.add(lw.Wrench("crank", torque=lambda t: (0, lw.exp(200 * t), 0)))
    sim = lw.Simulation(world, dt=1e-2)
    start = sim.state.copy()
    with pytest.raises(lw.DivergenceError, match=r"worst constraint is") as caught:
        sim.run(5.0)
    assert caught.value.worst is not None and caught.value.worst.name in str(caught.value)
    sim.state = start
    same(sim.state, start)
    assert sim.drift() < 1e-10 and math.isfinite(sim.energy().total)


def test_stretching_through_zero_stops_by_name():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.ScalableBody(1.0, shape=lw.Box(1, 1, 1), stretch_rate=(-3.0, 0, 0), name="jelly"))
    sim = lw.Simulation(world, dt=1e-2)
    with pytest.raises(lw.LinkworkError, match=r"jelly"):
        sim.run(2.0)


# -- bad input ----------------------------------------------------------------------------------------------------
def body(**k):
    return lw.RigidBody(**({"mass": 1.0, "inertia": (1, 1, 1), "name": "thing"} | k))


def with_bodies(*more):
    world = lw.World()
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(1, 0, 0), name="a"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(2, 0, 0), name="b"))
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(3, 1, 0), name="c"))
    for element in more:
        world.add(element)
    return lw.Simulation(world)


def hinge(a, b, at, name, axis=(0, 1, 0)):
    return lw.Hinge(a, b, at=at, axis=axis, name=name)


BAD = {
    "zero mass": (lambda: body(mass=0.0), 'RigidBody "thing": mass'),
    "negative mass": (lambda: lw.Particle(-1.0, name="thing"), 'Particle "thing": mass'),
    "nan mass": (lambda: body(mass=float("nan")), 'RigidBody "thing": mass'),
    "impossible inertia": (lambda: body(inertia=(1, 1, 5)), 'RigidBody "thing": inertia'),
    "negative inertia": (lambda: body(inertia=(1, 1, -1)), 'RigidBody "thing": inertia'),
    "asymmetric inertia": (lambda: body(inertia=[[1, 0.3, 0], [0, 1, 0], [0, 0, 1]]), 'RigidBody "thing": inertia'),
    "nan position": (lambda: body(position=(0, float("nan"), 0)), 'RigidBody "thing": position'),
    "infinite velocity": (lambda: body(velocity=(0, float("inf"), 0)), 'RigidBody "thing": velocity'),
    "two numbers": (lambda: body(position=(0, 1)), 'RigidBody "thing": position'),
    "far quaternion": (lambda: body(orientation=(1, 1, 0, 0)), 'RigidBody "thing": orientation'),
    "zero axis": (lambda: lw.Hinge("a", "b", at=(0, 0, 0), axis=(0, 0, 0), name="knee"), 'Hinge "knee": axis'),
    "nan axis": (lambda: lw.Hinge("a", "b", at=(0, 0, 0), axis=(0, float("nan"), 0), name="knee"), 'Hinge "knee": axis'),
    "no anchor": (lambda: lw.Ball("a", "b", name="pin"), 'Ball "pin": at is missing'),
    "name twice": (lambda: with_bodies(lw.Particle(1.0, name="a")), 'Particle "a": its name is taken'),
    "unknown body": (lambda: with_bodies(lw.Ball("a", "bb", at=(0, 0, 0), name="pin")), 'Ball "pin": .*"bb".*did you mean "b"'),
    "to itself": (lambda: with_bodies(lw.Ball("a", "a", at=(0, 0, 0), name="pin")), 'Ball "pin": .*'),
    "spring to itself": (lambda: with_bodies(lw.Spring("a", "a", 1.0, name="s")), 'Spring "s": .*'),
    "negative stiffness": (lambda: lw.Spring("a", "b", -1.0, name="s"), 'Spring "s": stiffness'),
    "zero ratio": (lambda: lw.Gear("a", "b", 0.0, name="mesh"), 'Gear "mesh": ratio'),
    "wrong size": (lambda: with_bodies(lw.Force("a", lambda b, t: (1, 2), name="f")), 'Force "f": .* 2 numbers where 3'),
    "motion of wrong size": (
        lambda: with_bodies(lw.Motion("a", lambda t: (t, 0), name="m")),
        'Motion "m": .* 2 numbers where 3',
    ),
    "no rows": (lambda: with_bodies(lw.Constraint("a", lambda b, t: [], name="c0")), 'Constraint "c0": .*no rows'),
    "a python if": (
        lambda: with_bodies(lw.Constraint("a", lambda b, t: b.position[0] if b.position[1] > 0 else b.position[2], name="c0")),
        'Constraint "c0": .*lw.where',
    ),
    "a python if on time": (
        lambda: with_bodies(lw.Force("a", lambda b, t: (1, 0, 0) if t > 1 else (0, 0, 0), name="f")),
        'Force "f": .*lw.where',
    ),
    "a function that fails": (
        lambda: with_bodies(lw.Constraint("a", lambda b, t: b.nowhere, name="c0")),
        'Constraint "c0": .*nowhere',
    ),
    "wrong number of arguments": (
        lambda: with_bodies(lw.Constraint("a", lambda b: b.position, name="c0")),
        'Constraint "c0": ',
    ),
    "constant constraint": (lambda: with_bodies(lw.Constraint("a", lambda b, t: 0 * t, name="c0")), 'Constraint "c0": '),
    "velocity in a constraint": (
        lambda: with_bodies(lw.Constraint("a", lambda b, t: b.velocity[0], name="c0")),
        'Constraint "c0": .*VelocityConstraint',
    ),
    "direction of a point": (lambda: _particle_hinge(), 'Hinge "h": .*'),
    "violated as built": (
        lambda: with_bodies(lw.Ball("a", "b", on_a=(0.5, 0, 0), on_b=(-0.4, 0, 0), name="pin")),
        'Ball "pin": it is off by 0.1 as built',
    ),
    "violated by the start of a motion": (
        lambda: with_bodies(lw.Motion("a", lambda t: (1, 0.2, 0), name="m")),
        'Motion "m": it is off by 0.2 as built',
    ),
    "doubled hinge": (
        lambda: with_bodies(hinge("a", "b", (1.5, 0, 0), "h1"), hinge("a", "b", (1.5, 0, 0), "h2")),
        'Hinge "h[12]": .*(redundant|said already)',
    ),
    "doubled hinge on the ground": (
        lambda: with_bodies(hinge("ground", "b", (1.5, 0, 0), "h1"), hinge("ground", "b", (1.5, 0, 0), "h2")),
        'Hinge "h[12]": .*(redundant|said already)',
    ),
    "coaxial hinges": (
        lambda: with_bodies(hinge("ground", "b", (2, 0, 0), "h1"), hinge("ground", "b", (2, 1, 0), "h2")),
        'Hinge "h[12]": .*(redundant|said already)',
    ),
    "coaxial hinges on two bodies": (
        lambda: with_bodies(
            hinge("ground", "a", (1, 0, 0), "h1"), hinge("a", "b", (1, 1, 0), "h2"), hinge("ground", "b", (1, 2, 0), "h3")
        ),
        'Hinge "h[123]": .*(redundant|said already)',
    ),
    "over-held": (
        lambda: with_bodies(hinge("ground", "b", (2, 0, 0), "h1"), lw.Ball("ground", "b", at=(2, 0, 1), name="p")),
        '(Hinge "h1"|Ball "p"): .*(redundant|said already)',
    ),
    "weld and ball": (
        lambda: with_bodies(lw.Weld("a", "b", name="w"), lw.Ball("a", "b", at=(1.5, 0, 0), name="p")),
        '(Weld "w"|Ball "p"): .*(redundant|said already)',
    ),
    "loop of three": (
        lambda: with_bodies(
            lw.Ball("a", "b", at=(1.5, 0, 0), name="p1"),
            lw.Ball("b", "c", at=(2.5, 0, 0), name="p2"),
            lw.Ball("c", "a", at=(2, 1, 0), name="p3"),
        ),
        'Ball "p[123]": it closes a loop',
    ),
    "empty world": (lambda: lw.Simulation(lw.World()), "World: there is no body"),
    "zero dt": (lambda: lw.Simulation(crank_and_rod(), dt=0.0), "Simulation: dt"),
    "nan dt": (lambda: lw.Simulation(crank_and_rod(), dt=float("nan")), "Simulation: dt"),
    "negative steps": (lambda: make("rattle").step(-1), "Simulation: n is -1"),
    "half a step": (lambda: make("rattle").step(2.5), r"Simulation: n is 2\.5"),
    "unknown solver": (lambda: lw.Simulation(crank_and_rod(), solver="trea"), 'Simulation: .*"trea".*did you mean "tree"'),
    "unknown integrator": (lambda: lw.Simulation(crank_and_rod(), integrator="ratle"), 'Simulation: .*did you mean "rattle"'),
    "tolerance of euler": (lambda: lw.Simulation(crank_and_rod(), integrator="euler", tolerance=1e-6), "Simulation: euler"),
    "negative stiffness of euler": (
        lambda: lw.Simulation(crank_and_rod(), integrator="euler", stiffness=-1.0),
        "Simulation: stiffness",
    ),
    "drag in first-order": (lambda: lw.Simulation(_dragged(), integrator="first-order"), 'Drag "drag": .*velocity'),
    "unknown body asked": (lambda: make("rattle").position("rot"), 'Simulation: .*"rot".*did you mean "rod"'),
    "unknown joint asked": (lambda: make("rattle").reaction("pim"), 'Simulation: .*"pim".*did you mean "pin"'),
    "a joint as a body": (lambda: make("rattle").position("pin"), 'Simulation: no body is called "pin"'),
}


def _particle_hinge():
    world = lw.World()
    world.add(lw.Particle(1.0, name="p"))
    world.add(lw.Hinge(world.ground, "p", at=(0, 0, 0), axis=(0, 1, 0), name="h"))
    return lw.Simulation(world)


def _dragged():
    world = crank_and_rod()
    world.add(lw.Drag("rod", linear=0.1, name="drag"))
    return world


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_that_names_the_element(case):
    build, pattern = BAD[case]
    with pytest.raises(lw.LinkworkError, match=pattern) as caught:
        build()
    text = str(caught.value)
    assert "\n" not in text and len(text) < 260 and "Traceback" not in text


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", ["doubled", "coaxial", "over-held", "two bodies"])
def test_redundant_rows_are_refused_by_every_solver(solver, case):
    world = lw.World()
    world.add(lw.RigidBody(1.0, (1, 1, 1), position=(1, 0, 0), name="a"))
    world.add(lw.RigidBody(1.0, (1, 2, 2), position=(2, 0, 0), name="b"))
    more = {
        "doubled": [hinge("ground", "a", (0, 0, 0), "h1"), hinge("ground", "a", (0, 0, 0), "h2")],
        "coaxial": [hinge("ground", "a", (0, 0, 0), "h1"), hinge("ground", "a", (0, 1, 0), "h2")],
        "over-held": [lw.Weld("ground", "a", name="w"), lw.Distance("ground", "a", name="d")],
        "two bodies": [
            hinge("ground", "a", (0, 0, 0), "h1"),
            hinge("a", "b", (0, 1, 0), "h2"),
            hinge("ground", "b", (0, 0, 0), "h3"),
        ],
    }[case]
    for element in more:
        world.add(element)
    with pytest.raises(lw.ModelError, match=r"redundant|said already"):
        lw.Simulation(world, solver=solver)


@pytest.mark.parametrize("count", [3, 6])
def test_a_loop_names_a_constraint_that_closes_it(count):
    world = lw.World()
    for k in range(count):
        world.add(lw.Particle(1.0, position=(math.cos(k), math.sin(k), k % 2), name=f"p{k}"))
    for k in range(count):
        world.add(lw.Distance(f"p{k}", f"p{(k + 1) % count}", name=f"d{k}"))
    with pytest.raises(lw.ModelError, match=r'Distance "d\d": it closes a loop'):
        lw.Simulation(world)
    world.remove(f"d{count - 1}")
    lw.Simulation(world).step()


def test_two_ground_joints_are_no_loop():
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, -1), name="p"))
    world.add(lw.Particle(1.0, position=(2, 0, -1), name="q"))
    world.add(lw.Distance(world.ground, "p"))
    world.add(lw.Distance("p", "q"))
    world.add(lw.Distance(world.ground, "q", on_a=(3, 0, 0)))
    sim = lw.Simulation(world)
    sim.step(100)
    assert sim.drift() < 1e-10


def test_a_singular_start_that_is_no_redundancy_is_told_or_moves():
    """A stretched-out toggle: two bars in line between two nails, rows depend on each other only here."""
    world = lw.World()
    world.add(lw.Particle(1.0, position=(1, 0, 0), name="knee"))
    world.add(lw.Distance(world.ground, "knee", name="left"))
    world.add(lw.Distance(world.ground, "knee", on_a=(2, 0, 0), name="right"))
    with pytest.raises(lw.ModelError, match=r'Distance "(left|right)".*(redundant|said already)'):
        lw.Simulation(world)
