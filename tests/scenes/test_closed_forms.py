"""The closed forms of linkwork.scenes.facts against what is known of them, without a simulation."""

import math

import numpy as np
import pytest
from scipy.special import ellipk

from linkwork.scenes import Fact, facts, find

GRAVITY = 9.81


def test_a_pendulum_comes_back_after_its_period():
    frequency, amplitude = 3.0, 1.2
    period = 4 * ellipk(math.sin(amplitude / 2) ** 2) / frequency
    times = np.array([0, 0.25, 0.5, 1.0]) * period
    found = [facts.pendulum_angle(frequency, amplitude, t) for t in times]
    np.testing.assert_allclose(found, [amplitude, 0, -amplitude, amplitude], atol=1e-12)


def test_two_slender_rods_start_as_known():
    """alpha = (9/7, -3/7) g/l: the angles grow by alpha t^2/2."""
    m, l, t = 2.0, 0.5, 1e-3
    angles = facts.rod_angles((0.0, 0.0), m, l, m * l**2 / 12, GRAVITY, t)
    np.testing.assert_allclose(2 * angles / t**2, np.array([9, -3]) / 7 * GRAVITY / l, rtol=1e-4)


def test_one_rod_is_a_pendulum():
    m, l, t = 1.5, 0.8, 1.3
    inertia = m * l**2 / 12
    frequency = math.sqrt(m * GRAVITY * l / 2 / (inertia + m * l**2 / 4))
    below = facts.rod_angles((0.0,), m, l, inertia, GRAVITY, t)[0]
    assert below == pytest.approx(math.pi / 2 - facts.pendulum_angle(frequency, math.pi / 2, t), abs=1e-8)


def test_a_fact_holds_within_its_tolerance():
    assert Fact("x", 1.0, 1.1, 0.2).holds and not Fact("x", 1.0, 1.1, 0.05).holds
    assert not Fact("x", float("nan"), 1.0, 10.0).holds


def test_the_disc_leans_into_its_circle():
    """Newton's law for the centre: the contact force's line passes above the centre or below as the torque asks."""
    world = find("rolling-disc")()
    disc = world.find("disc")
    rate = find("rolling-disc").parameters["rate"]
    vertical = np.array([0, 0, 1.0])
    force = disc.mass * (rate * np.cross(vertical, disc.velocity) + GRAVITY * vertical)
    axle = world.find("rim").axis
    up = vertical - (vertical @ axle) * axle
    contact = -0.3 * up / np.linalg.norm(up)
    R = np.column_stack([up / np.linalg.norm(up), np.cross(axle, up / np.linalg.norm(up)), axle])
    momentum = R @ np.diag(np.diag(disc.inertia)) @ R.T @ disc.angular_velocity
    np.testing.assert_allclose(np.cross(contact, force), rate * np.cross(vertical, momentum), atol=1e-12)
