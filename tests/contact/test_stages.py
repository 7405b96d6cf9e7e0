"""Rows of ropes and limits against finite differences; targets and what is carried from step to step."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact import stage_kernels
from linkwork.contact.hook import CLOSING, OPENING
from linkwork.contact.rows import BODY_A, BODY_B, COLLIDER_A, GAP, NORMAL, SIGN, rows_for, stop_value


def stopped(kind):
    """A free and a jointed body in motion, with a rope or a limit between them."""
    world = lw.World(gravity=(0, 0, 0))
    moving = {"velocity": (0.3, -0.2, 0.5), "angular_velocity": (1.0, -2.0, 0.7)}
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), position=(0.2, 0.1, 0.4), com=(0.05, 0, 0.1), name="a", **moving))
    spin = np.array([1.0, -2.0, 0.7])
    at, axis = np.array([0.5, 0.2, 0.6]), np.array([0.6, 0.0, 0.8])
    place = np.array([0.9, 0.3, 0.8])
    more = 1.5 * axis if kind == "hinge" else np.zeros(3)
    away = np.zeros(3) if kind == "hinge" else 0.4 * axis
    speed = np.array(moving["velocity"]) + np.cross(spin, place - (0.2, 0.1, 0.4)) + np.cross(more, place - at) + away
    world.add(lw.RigidBody(2.0, (0.2, 0.2, 0.3), position=place, velocity=speed, angular_velocity=spin + more, name="b"))
    if kind == "rope":
        world.add(lw.Rope("a", "b", length=5.0, on_a=(0.1, 0, 0.2), on_b=(0, 0.3, 0), name="stop"))
        return world
    make = {"hinge": lw.Hinge, "slider": lw.Slider, "cylinder": lw.Cylindrical}[kind]
    world.add(make("a", "b", at=at, axis=axis, name="joint"))
    world.add(lw.HardLimit("joint", lower=-3.0, upper=3.0, name="stop"))
    return world


@pytest.mark.parametrize("kind", ["rope", "hinge", "slider", "cylinder"])
def test_rates_of_stops_are_those_of_their_values(kind):
    sim = lw.Simulation(stopped(kind), dt=1e-5)
    contact = sim._system.contact
    Ja, Jb = np.zeros(6), np.zeros(6)

    def value():
        contact.look(sim.work, sim.dt)
        return stop_value(
            sim.work, contact.hard_stops.labels[0], contact.hard_stops.numbers[0], contact.axes, contact.origins, Ja, Jb
        )[0]

    sim.step(5)
    before = value()
    sim.step()
    velocities = [sim.work[sim.model.field_of_body(k, "v")].copy() for k in range(2)]
    value()
    rate = Ja @ velocities[0] + Jb @ velocities[1]
    sim.step()
    assert np.isclose(rate, (value() - before) / (2 * sim.dt), rtol=1e-6, atol=1e-8)
    assert abs(rate) > 0.1
    if kind in ("hinge", "slider"):
        assert np.isclose(value(), sim.angle("joint"), atol=1e-12)


def test_bounds_open_where_their_value_goes_back():
    sim = lw.Simulation(stopped("hinge"))
    numbers = sim._system.contact.hard_stops.numbers
    assert numbers[:, SIGN].tolist() == [-1.0, 1.0]


def made_up(gaps, labels):
    rows = rows_for(len(gaps))
    rows.numbers[:, GAP], rows.labels[:, COLLIDER_A] = gaps, labels
    rows.labels[:, BODY_A], rows.labels[:, BODY_B] = -1, 0
    rows.slot_a[:], rows.slot_b[:] = -1, 0
    rows.Jb[:, 0, 2] = rows.numbers[:, NORMAL + 2] = 1.0
    rows.numbers[:, stage_kernels.RECOVERY] = 0.5
    return rows


def test_targets_let_gaps_close_and_take_overlap_back_no_faster_than_recovery():
    rows, u, h = made_up([0.01, -1e-4, -1.0], [0, 1, 2]), np.zeros((1, 6)), 0.01
    stage_kernels.aim(rows, 3, u, h, 1e-5, OPENING, rows.labels, np.zeros((3, 9)), 0)
    quiet = stage_kernels.QUIET * 1e-5
    assert np.allclose(rows.target[:, 0], [-(0.01 - quiet) / h, 0.2 * (1e-4 - quiet) / h, 0.5])
    stage_kernels.aim(rows, 3, u, h, 1e-5, CLOSING, rows.labels, np.zeros((3, 9)), 0)
    assert rows.target[0, 0] <= -10 and rows.target[1:, 0].tolist() == [0.0, 0.0]


def test_impulses_are_known_again_by_what_touches():
    old, new = made_up([0, 0, 0], [1, 3, 5]), made_up([0, 0, 0, 0], [0, 3, 4, 5])
    cached = np.arange(27.0).reshape(3, 9)
    stage_kernels.aim(new, 4, np.zeros((1, 6)), 0.01, 1.0, CLOSING, old.labels, cached, 3)
    assert np.allclose(new.impulse[:, 0], [0, 14, 0, 23])  # along the normal, z
    kept, labels = np.ones((4, 9)), np.zeros((4, 5), dtype=np.int64)
    old.impulse[:] = [[1, 0, 0], [2, 0, 0], [3, 0, 0]]
    stage_kernels.remember(new, 4, labels, kept, old, 3, True)
    assert np.allclose(kept[:, :3], [[0, 0, 0], [0, 0, 2], [0, 0, 0], [0, 0, 3]])
    assert np.allclose(kept[:, 3:6], [[0, 0, 0], [12, 13, 14], [0, 0, 0], [21, 22, 23]])
    assert np.array_equal(labels, new.labels)
    stage_kernels.remember(new, 4, labels, kept, old, 3, False)
    assert not kept[:, 3:6].any()


def test_impulses_stay_where_they_are_though_tangents_turn():
    old, new = made_up([0], [1]), made_up([0], [1])
    old.numbers[0, NORMAL : NORMAL + 3], new.numbers[0, NORMAL : NORMAL + 3] = (1e-9, 0, 1), (0, 1e-9, 1)
    old.impulse[0] = 5.0, 1.0, 2.0
    cached, labels = np.zeros((1, 9)), np.zeros((1, 5), dtype=np.int64)
    stage_kernels.remember(old, 1, labels, cached, old, 0, True)
    stage_kernels.aim(new, 1, np.zeros((1, 6)), 0.01, 1.0, CLOSING, labels, cached, 1)
    assert not np.allclose(new.impulse, old.impulse)
    again = np.zeros((1, 9))
    stage_kernels.remember(new, 1, labels, again, new, 0, True)
    assert np.allclose(again, cached)


def test_only_what_meets_within_the_step_and_is_fast_bounces():
    rows, h = made_up([0.0, 0.005, 0.02], [0, 1, 2]), 0.01
    rows.numbers[:, stage_kernels.RESTITUTION], rows.numbers[:, stage_kernels.ABOVE_SPEED] = 0.5, 0.1
    assert stage_kernels.bounce(rows, 3, np.array([[0, 0, -1.0, 0, 0, 0]]), h, 0.2, 1e-5, OPENING)
    assert rows.target[:2, 0].tolist() == [0.5, 0.5] and rows.target[2, 0] <= -10
    assert not stage_kernels.bounce(rows, 3, np.array([[0, 0, -0.15, 0, 0, 0]]), h, 0.2, 1e-5, OPENING)
