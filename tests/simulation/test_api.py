"""The public face: DESIGN.md's first script, controls and notes."""

import math
import warnings

import numpy as np
import pytest

import linkwork as lw
from tests.simulation.worlds import crank_and_rod, make, same


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


def test_changes_are_taken_up():
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
    sim.step()
    assert sim.velocity("other")[2] < 0


def test_commands_stay_when_a_force_is_added():
    world = crank_and_rod()
    world.add(lw.Motor("axle", name="drive"))
    sim = lw.Simulation(world)
    sim.control["drive"] = 2.0
    world.add(lw.Drag("rod", linear=0.1))
    sim.step()
    assert dict(sim.control) == {"drive": 2.0}


def test_a_force_that_joins_other_bodies_leaves_implicit_steps_where_they_are():
    """Fewer joints are limbs then, and the coordinates of their bodies are kept elsewhere."""
    world = lw.World()
    for k in range(4):
        world.add(lw.RigidBody(0.3, shape=lw.Box(0.1, 0.03, 0.02), position=(0.1 * k + 0.05, 0, 0), name=f"link{k}"))
        world.add(
            lw.Hinge(f"link{k - 1}" if k else world.ground, f"link{k}", at=(0.1 * k, 0, 0), axis=(0, 1, 0), name=f"axle{k}")
        )
    sim = lw.Simulation(world, dt=2e-3, solver="implicit")

    def seen():
        links = [f"link{k}" for k in range(4)]
        return [[*sim.position(b), *sim.velocity(b), *sim.orientation(b), sim.angle(f"axle{b[-1]}")] for b in links]

    start = seen()
    sim.step(300)
    before, limbs = seen(), len(sim.model.joint_pivot_of)
    world.add(lw.Spring("link0", "link2", 100.0))
    sim.step(0)
    assert len(sim.model.joint_pivot_of) < limbs
    np.testing.assert_allclose(seen(), before, rtol=0, atol=1e-14)
    sim.step(10)
    assert sim.drift() < 1e-10 and not sim.notes
    sim.reset()
    np.testing.assert_allclose(seen(), start, rtol=0, atol=1e-14)


def test_drift_is_told_of_the_right_rows_after_a_force_was_added():
    world = crank_and_rod()
    sim = lw.Simulation(world)
    sim.step(10)
    before = sim.drift(), sim.drift(velocity=True)
    assert 0 < before[0] < 1e-10 and before[1] < 1e-10
    world.add(lw.Spring(world.ground, "rod", 3.0))
    sim.position("rod")  # the force is taken up
    assert (sim.drift(), sim.drift(velocity=True)) == before


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


ROUNDED = {
    0.001: (1, "record_every is 0.001 s, less than dt; each step is recorded, 0.002 s apart"),
    0.005: (2, "record_every is 0.005 s, no whole number of steps; one step in 2 is recorded, 0.004 s apart"),
    0.0021: (1, "record_every is 0.0021 s, no whole number of steps; each step is recorded, 0.002 s apart"),
}


@pytest.mark.parametrize("asked", ROUNDED)
def test_a_rounded_record_every_is_told(asked):
    steps, sentence = ROUNDED[asked]
    sim = make("rattle", crank_and_rod())
    with pytest.warns(lw.Note, match=f"^Simulation: {sentence}$") as told:
        rec = sim.run(0.04, record_every=asked)
    assert told[0].filename == __file__ and sim.notes == [f"Simulation: {sentence}"]
    np.testing.assert_allclose(np.diff(rec.time), steps * sim.dt)


def test_whole_numbers_of_steps_and_what_nobody_asked_for_are_not_told():
    sim = make("rattle", crank_and_rod(), dt=0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(sim.run(0.3)) == 11
        assert len(sim.run(0.9, record_every=0.09)) == 11
        assert len(sim.run(0.3, record_every=0.1 + 0.2)) == 2


def test_a_run_of_no_step_is_told():
    sim = make("rattle", crank_and_rod())
    with pytest.warns(lw.Note, match="seconds is 0.0009, less than half a step of 0.002 s: none is made; take a smaller dt$"):
        sim.run(0.0009)
    assert sim.steps == 0


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


def test_controls_are_checked():
    sim = make("rattle")
    assert list(sim.control) == ["servo"] and len(sim.control) == 1
    with pytest.raises(lw.UnknownNameError, match=r'"sevro".*did you mean "servo"'):
        sim.control["sevro"] = 1.0
    with pytest.raises(lw.LinkworkError, match=r"servo"):
        sim.control["servo"] = float("inf")


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
