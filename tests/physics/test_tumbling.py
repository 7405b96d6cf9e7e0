"""Free bodies that turn by radians in a step: energy is kept, or somebody is told."""

import numpy as np
import pytest

import linkwork as lw

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.Note")
DT = 0.01
INERTIAS = [(0.1, 0.2, 0.25), (0.3, 0.2, 0.12), (0.5, 0.26, 0.25), (0.2, 0.2, 0.3), (0.1, 0.3, 0.3)]
SPINS = [(0.2, 1, 0.15), (1, 0.1, 0.1), (0.3, 0.5, 0.8), (0.0, 1.0, 0.01)]


def tumbling(inertia, spin, turn):
    """A body that turns by so many radians in a step."""
    world = lw.World(gravity=(0, 0, 0))
    speed = np.array(spin) / np.linalg.norm(spin) * turn / DT
    world.add(lw.RigidBody(1.0, inertia, angular_velocity=speed, name="stone"))
    return world


def energies(sim, steps):
    found = []
    for _ in range(steps):
        sim.step()
        found.append(sim.energy().total)
    return np.array(found)


@pytest.mark.parametrize("turn", [1.0, 5.0, 12.0])
@pytest.mark.parametrize("spin", SPINS)
@pytest.mark.parametrize("inertia", INERTIAS)
def test_rattle_keeps_the_energy_and_momentum_of_a_body_that_turns_fast(inertia, spin, turn):
    sim = lw.Simulation(tumbling(inertia, spin, turn), dt=DT)
    start, R, w = sim.energy().total, sim.frame("stone"), sim.angular_velocity("stone")
    momentum = R @ (np.array(inertia) * (R.T @ w))
    assert np.abs(energies(sim, 100) / start - 1).max() < 0.05
    R, w = sim.frame("stone"), sim.angular_velocity("stone")
    np.testing.assert_allclose(R @ (np.array(inertia) * (R.T @ w)), momentum, atol=1e-9 * np.linalg.norm(momentum))
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-9)


def test_rattle_says_that_it_makes_such_steps_in_parts():
    sim = lw.Simulation(tumbling(INERTIAS[0], SPINS[0], 5.0), dt=DT)
    sim.step(10)
    (note,) = sim.notes
    assert note.startswith('RigidBody "stone": it tumbles by 5 rad (500 rad/s) in a step of 0.01 s') and "made in parts" in note


@pytest.mark.parametrize("spin", np.eye(3).tolist())
def test_a_wheel_that_turns_about_an_axis_of_its_own_is_not_cut(spin):
    sim = lw.Simulation(tumbling((0.1, 0.2, 0.25), spin, 1.5), dt=DT)
    sim.run(1.0, record_every=None)
    assert not sim.notes and sim.angular_velocity("stone") == pytest.approx(150 * np.array(spin), abs=1e-6)


@pytest.mark.parametrize(
    "solver, integrator", [("tree", "euler"), ("tree", "rk4"), ("aba", "joint-euler"), ("ltdl", "joint-rk4")]
)
def test_steps_that_are_too_long_for_an_explicit_integrator_are_told(solver, integrator):
    slow = lw.Simulation(tumbling(INERTIAS[0], SPINS[0], 0.02), dt=DT, solver=solver, integrator=integrator)
    start = slow.energy().total
    assert np.abs(energies(slow, 100) / start - 1).max() < 1e-2 and not slow.notes
    fast = lw.Simulation(tumbling(INERTIAS[0], SPINS[0], 1.0), dt=DT, solver=solver, integrator=integrator)
    fast.step(10)
    (note,) = fast.notes
    assert 'RigidBody "stone": it tumbles by 1 rad' in note and "its energy grows: take dt=" in note


def test_dopri5_chooses_its_steps():
    sim = lw.Simulation(tumbling(INERTIAS[0], SPINS[0], 5.0), dt=DT, integrator="dopri5")
    start = sim.energy().total
    assert np.abs(energies(sim, 100) / start - 1).max() < 1e-6 and not sim.notes
