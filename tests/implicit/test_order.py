"""Backward Euler converges at order one to references of their own, for every kind of row and body, in each of its forms."""

import math

import numpy as np
import pytest

import linkwork as lw
from tests.integrators.problems import PROBLEMS, Problem

FORMS = {
    "symmetric": {"tangent": "symmetric"}, "symmetric, once": {"tangent": "symmetric", "iterations": 1},
    "exact": {"tangent": "exact"}, "exact, once": {"tangent": "exact", "iterations": 1},
}  # fmt: skip
LARGEST = 0.3  # error with an eighth of a problem's step: the rods and the top are fast


def gears():
    """Two wheels under a torque, their speeds geared."""
    ratio, T, I = -0.31, 3.0, 0.3
    rate = T / (I * (1 + 1 / ratio**2)) / ratio

    def world():
        made = lw.World()
        for k, name in enumerate("ab"):
            made.add(lw.RigidBody(1.0, (0.2, 0.2, I), position=(k, 0, 0), name=name))
            made.add(lw.Hinge(made.ground, name, at=(k, 0, 0), axis=(0, 0, 1), name=f"axle {name}"))
        made.add(lw.Gear("axle a", "axle b", ratio, level="velocity", name="mesh"))
        made.add(lw.Wrench("a", torque=(0, 0, T)))
        return made

    return Problem("gears", world, lambda sim: np.array([sim.angle("axle b"), sim.rate("axle b")]),
                   lambda t, y: [y[1], rate], np.zeros(2), lambda t, y: y)  # fmt: skip


def swing(kind):
    """A bob on a damped spring, alone or with a body that turns at its end."""
    m, k, c, rest, g = 0.8, 60.0, 0.7, 0.5, 9.81
    x0, v0 = np.array([0.4, 0.0, -0.5]), np.array([0.0, 0.6, 0.3])

    def world():
        made = lw.World(gravity=(0, 0, -g))
        options = {"position": x0, "velocity": v0, "name": "bob"}
        made.add(lw.Particle(m, **options) if kind == "particle" else lw.RigidBody(m, (0.1, 0.2, 0.3), **options))
        made.add(lw.Spring(made.ground, "bob", k, rest=rest, damping=c))
        return made

    def rates(t, y):
        x, v = y[:3], y[3:]
        length = np.linalg.norm(x)
        u = x / length
        return np.concatenate([v, [0, 0, -g] - (k * (length - rest) + c * u @ v) * u / m])

    return Problem(f"{kind} on a spring", world, lambda sim: np.concatenate([sim.position("bob"), sim.velocity("bob")]), rates,
                   np.concatenate([x0, v0]), lambda t, y: y)  # fmt: skip


def jointed():
    """A physical pendulum with a spring and damper at its hinge."""
    m, I, d, k, c, g, rest = 1.2, 0.05, 0.4, 8.0, 0.3, 9.81, 0.6

    def world():
        made = lw.World(gravity=(0, 0, -g))
        made.add(lw.RigidBody(m, (0.03, I, 0.04), position=(0, 0, -d), name="bob"))
        made.add(lw.Hinge(made.ground, "bob", at=(0, 0, 0), axis=(0, -1, 0), name="pin"))
        made.add(lw.JointSpring("pin", k, damping=c, rest=rest))
        return made

    def rates(t, y):
        return [y[1], (-m * g * d * math.sin(y[0]) - k * (y[0] - rest) - c * y[1]) / (I + m * d**2)]

    return Problem("spring at a hinge", world, lambda sim: np.array([sim.angle("pin"), sim.rate("pin")]), rates, np.zeros(2),
                   lambda t, y: y)  # fmt: skip


MORE = {p.name: p for p in (gears(), swing("particle"), swing("rigid"), jointed())}
ALL = PROBLEMS | MORE


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ALL)
def test_order_one(name, form):
    p = ALL[name]
    errors = [p.error("backward-euler", p.dt / parts, "implicit", **FORMS[form]) for parts in (2, 8)]
    assert 0.85 < math.log2(errors[0] / errors[1]) / 2 < 1.3, errors
    assert errors[1] < LARGEST


@pytest.mark.parametrize("name", ALL)
def test_both_tangents_make_the_same_steps(name):
    """Newton's method ends at the same place, whatever its tangent: to what its tolerance leaves over many steps."""
    p, ends = ALL[name], []
    for tangent in ("symmetric", "exact"):
        sim = lw.Simulation(p.world(), dt=p.dt, solver="implicit", tangent=tangent, tolerance=1e-12)
        sim.step(20)
        ends.append(np.concatenate([p.observe(sim), *[[*sim.position(b), *sim.velocity(b)] for b in sim.world.bodies]]))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-8)
