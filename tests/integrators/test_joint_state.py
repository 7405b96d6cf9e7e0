"""Joint coordinates as the state: the same bits however steps are divided, forces and limits that act on the joints themselves,
and states that know nothing of joints."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw

WAYS = [("aba", "joint-euler"), ("ltdl", "joint-euler"), ("aba", "joint-rk4"), ("ltdl", "joint-rk4")]


def mixed(*further, swapped=False, limits=None):
    """A hinge, a slider, a screw and a cylinder in a row, that turn fast; forces or limits at them."""
    world, before = lw.World(), "ground"
    kinds = {"hinge": (lw.Hinge, {"axis": (0, 1, 0)}), "slider": (lw.Slider, {"axis": (1, 0, 0.2)}),
             "screw": (lw.Screw, {"axis": (0, 0, 1), "pitch": 0.02}),
             "cylinder": (lw.Cylindrical, {"axis": (0.3, 0, 1)})}  # fmt: skip
    for k, (name, (kind, options)) in enumerate(kinds.items()):
        body = world.add(lw.RigidBody(1.0 + k, (0.2, 0.3, 0.25), position=(0.5 * k + 0.3, 0.1 * k, 0), name=f"body{k}"))
        a = world.ground if before == "ground" else before
        a, b = (body, a) if swapped else (a, body)
        world.add(kind(a, b, at=(0.5 * k, 0.1 * k, 0), name=name, **options))
        before = body
    for element in further:
        world.add(element())
    for name, options in (limits or {}).items():
        world.add(lw.HardLimit(name, name=f"{name} stop", **options))
    return world


def started(world, solver, integrator, dt=1e-3):
    sim = lw.Simulation(world, solver=solver, integrator=integrator, dt=dt)
    rates = {"hinge": 20.0, "slider": -1.0, "screw": 15.0, "cylinder": (-10.0, 0.5)}
    sim.reset(lw.Keyframe({"hinge": 7.0, "slider": 0.1, "screw": -4.0, "cylinder": (0.2, 0.1)}, rates))
    return sim


def seen(sim):
    bodies = [np.r_[sim.position(b), sim.velocity(b), sim.angular_velocity(b)] for b in sim.world.bodies]
    return np.concatenate([*bodies, *(np.atleast_1d(sim.angle(name)) for name in ("hinge", "screw", "cylinder"))])


@pytest.mark.parametrize(("solver", "integrator"), WAYS)
def test_how_steps_are_divided_and_restored_changes_no_bit(solver, integrator):
    world = mixed(lambda: lw.JointSpring("hinge", 3.0, 0.1), lambda: lw.Motor("screw", kind="velocity", kd=0.2))
    sim = started(world, solver, integrator)
    assert sim.integrator.light
    sim.step(30)
    kept = sim.state.copy()
    sim.step(300)
    end = sim.state.copy()
    sim.state = kept
    before = [sim.orientation(b) for b in world.bodies]
    for _ in range(300):
        sim.step()
        after = [sim.orientation(b) for b in world.bodies]
        assert all(np.dot(x, y) > 0 for x, y in zip(before, after, strict=True))  # no quaternion changes its sign
        before = after
    assert np.array_equal(sim.state.values, end.values)
    assert abs(sim.angle("hinge")) > 2 * np.pi  # turns were counted


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("solver", ["aba", "ltdl"])
def test_forces_along_joints_are_those_on_their_bodies(solver, swapped):
    """The solver `tree` has forces on bodies."""
    forces = (lambda: lw.JointSpring("hinge", 3.0, 0.1, rest=6.0), lambda: lw.JointSpring("slider", 20.0, 0.5),
              lambda: lw.Motor("screw", kind="position", kp=2.0, kd=0.1, limit=0.7, gear=3.0, name="servo"),
              lambda: lw.JointLimit("hinge", -1.0, 7.01, stiffness=50.0, damping=1.0))  # fmt: skip
    one, other = (started(mixed(*forces, swapped=swapped), name, "joint-rk4") for name in (solver, "tree"))
    assert one.integrator.light and not other.integrator.light
    for sim in (one, other):
        sim.control["servo"] = -2.0
        sim.step(200)
    assert np.allclose(seen(one), seen(other), rtol=1e-9, atol=1e-9)
    assert one.energy().total == pytest.approx(other.energy().total, abs=1e-8)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("solver", ["aba", "ltdl", "tree"])
def test_limits_that_are_not_reached_need_no_part_in_contact(solver, swapped):
    """A rope that never pulls has contact look at everything."""
    limits = {"hinge": {"upper": 7.3, "restitution": 0.5}, "slider": {"lower": -0.05, "upper": 0.2},
              "screw": {"lower": -6.0, "upper": -3.9}, "cylinder": {"twist": (-0.5, 0.5), "lower": 0.0, "upper": 0.12}}  # fmt: skip
    one = started(mixed(swapped=swapped, limits=limits), solver, "joint-euler")
    other = started(
        mixed(lambda: lw.Rope("ground", "body0", length=1000.0), swapped=swapped, limits=limits), solver, "joint-euler"
    )
    assert one.integrator.guarded and not other.integrator.guarded
    touched = set()
    for _ in range(300):
        one.step()
        other.step()
        assert np.allclose(seen(one), seen(other), rtol=1e-7, atol=1e-7)
        pushed = {name: one.reaction(f"{name} stop") for name in limits}
        touched |= {name for name, by in pushed.items() if np.any(by.force) or np.any(by.torque)}
    assert touched == set(limits)


@pytest.mark.parametrize(("solver", "integrator"), WAYS)
def test_a_state_from_before_there_were_joints_in_it_is_read(solver, integrator):
    sim = started(mixed(), solver, integrator)
    sim.step(20)
    whole = sim.state.copy()
    *parts, (name, count) = whole.layout.parts
    assert name == "joints"
    old = replace(whole, values=whole.values[:-count], layout=replace(whole.layout, parts=tuple(parts)))
    sim.step(50)
    expected = seen(sim)
    sim.state = old
    sim.step(50)
    assert np.allclose(seen(sim), expected, rtol=1e-11, atol=1e-11)
