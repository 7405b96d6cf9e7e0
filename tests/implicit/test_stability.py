"""Networks of springs however stiff, at a sixtieth of a second: energy only ever falls."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from tests.solvers.forests import unit

STEPS = 2000
STIFFNESSES = (1e0, 1e4, 1e6, 1e8, 1e10)
NETS = {  # kinds of bodies, constraint between neighbours
    "particles": (("particle",), None),
    "particles on rods": (("particle",), lw.Distance),
    "rigid bodies": (("rigid",), None),
    "rigid bodies on balls": (("rigid",), lw.Ball),
    "both": (("rigid", "particle"), None),
}


def network(name, stiffness, count=5):
    """Hanging from the ground, at rest length, moving."""
    (kinds, joint), rng = NETS[name], np.random.default_rng(1)
    world, bodies = lw.World(), []
    for k in range(count):
        x, v = np.array([0.8 * k, 0, 0]) + 0.3 * rng.normal(size=3), rng.normal(size=3)
        if kinds[k % len(kinds)] == "particle":
            bodies.append(world.add(lw.Particle(1.0, x, v)))
        else:
            bodies.append(world.add(lw.RigidBody(1.0, (0.1, 0.12, 0.15), position=x, orientation=unit(rng, 4), velocity=v,
                                                 angular_velocity=rng.normal(size=3))))  # fmt: skip
        if joint is not None and k:
            at = [] if joint is lw.Distance else [(bodies[-1].position + bodies[-2].position) / 2]
            world.add(joint(bodies[-2], bodies[-1], *at))
    for k, b in enumerate(bodies):
        for a in [world.ground, *bodies[:k]]:
            if rng.random() < 0.6 or (a is world.ground and k == 0):
                place = [np.zeros(3) if isinstance(x, lw.Particle) else 0.3 * rng.normal(size=3) for x in (a, b)]
                above = (0, 0, 1) if a is world.ground else (0, 0, 0)
                world.add(lw.Spring(a, b, stiffness, on_a=place[0] + above, on_b=place[1]))
    return world


def energies(world, steps, **options):
    """(steps + 1,): kinetic and potential together; and the scale of what is exchanged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.Note)
        sim = lw.Simulation(world, dt=1 / 60, solver="implicit", **options)
        start, found = sim.energy(), [sim.energy().total]
        for _ in range(steps):
            sim.step()
            found.append(sim.energy().total)
    return np.array(found), start.kinetic + sum(body.mass for body in world.bodies) * 9.81


@pytest.mark.parametrize("stiffness", STIFFNESSES)
@pytest.mark.parametrize("name", NETS)
def test_energy_falls_whatever_the_stiffness(name, stiffness):
    found, scale = energies(network(name, stiffness), STEPS)
    assert np.isfinite(found).all() and np.diff(found).max() <= 1e-9 * scale


@pytest.mark.parametrize("stiffness", STIFFNESSES)
@pytest.mark.parametrize("name", NETS)
def test_with_exact_tangents_too(name, stiffness):
    """Steps may have to be cut: exact tangents of springs that are pressed are not definite."""
    found, scale = energies(network(name, stiffness), 300, tangent="exact")
    assert np.isfinite(found).all() and (found - found[0]).max() <= 1e-9 * scale


@pytest.mark.parametrize("stiffness", [k for k in STIFFNESSES if k <= 1e6])
@pytest.mark.parametrize("name", NETS)
def test_one_iteration_up_to_a_meganewton_a_metre(name, stiffness):
    """Beyond, turning by (h w)^2 / 2 of a length strains springs by more than what the bodies' motion has in energy."""
    found, scale = energies(network(name, stiffness), STEPS, iterations=1)
    assert np.isfinite(found).all() and (found - found[0]).max() <= 1e-9 * scale
