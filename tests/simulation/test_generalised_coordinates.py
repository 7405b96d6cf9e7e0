"""Generalised coordinates and rates of Lagrangian bodies in users' constraints, forces and motors."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw

PAIRS = [("tree", "rattle"), ("tree", "euler"), ("fronts", "rk4"), ("dense", "rattle"), ("cg", "rattle"),
         ("anticipation", "rattle"), ("implicit", "backward-euler")]  # fmt: skip
LENGTHS, MASSES, ANGLES, RATES = (1.0, 0.7), (1.0, 0.5), (1.0, 1.4), (0.3, 0.3)


def arms(world):
    return world.add(lw.double_pendulum(LENGTHS, MASSES, angles=ANGLES, rates=RATES, name="arms"))


def stiff():
    """A double pendulum whose second angle keeps its distance from the first: a compound pendulum."""
    world = lw.World(gravity=(0, 0, -10))
    arms(world)
    world.add(lw.Constraint("arms", lambda a, t: a.coordinates[1] - a.coordinates[0] - 0.4, name="elbow"))
    return world


def compound_acceleration(angle):
    """u0'' of the stiff pendulum, by the moment of its particles about the pivot."""
    second = angle + 0.4
    x0, x1 = LENGTHS[0] * np.sin(angle), LENGTHS[0] * np.sin(angle) + LENGTHS[1] * np.sin(second)
    reach = LENGTHS[0] ** 2 + LENGTHS[1] ** 2 + 2 * LENGTHS[0] * LENGTHS[1] * np.cos(0.4)
    return -10 * (MASSES[0] * x0 + MASSES[1] * x1) / (MASSES[0] * LENGTHS[0] ** 2 + MASSES[1] * reach)


@pytest.mark.parametrize(("solver", "integrator"), PAIRS)
def test_a_constraint_on_coordinates_makes_a_compound_pendulum(solver, integrator):
    sim = lw.Simulation(stiff(), dt=1e-4, solver=solver, integrator=integrator)
    wanted = compound_acceleration(ANGLES[0])
    before = sim.rates("arms")
    sim.step(10)
    assert sim.coordinates("arms") @ (-1, 1) == pytest.approx(0.4, abs=1e-8)
    np.testing.assert_allclose((sim.rates("arms") - before) / 1e-3, wanted, rtol=2e-3)


def test_a_velocity_constraint_on_rates():
    world = lw.World(gravity=(0, 0, -10))
    world.add(lw.double_pendulum(LENGTHS, MASSES, angles=ANGLES, rates=(0.5, 1.0), name="arms"))
    world.add(lw.VelocityConstraint("arms", lambda a, t: a.rates[1] - 2 * a.rates[0], name="geared"))
    sim = lw.Simulation(world)
    sim.step(300)
    assert sim.rates("arms") @ (-2, 1) == pytest.approx(0, abs=1e-9)
    assert sim.coordinates("arms") @ (-2, 1) == pytest.approx(ANGLES @ np.array((-2, 1)), abs=1e-5)


@pytest.mark.parametrize(("solver", "integrator"), PAIRS)
def test_a_generalised_force_has_the_power_of_its_rates(solver, integrator):
    """M u'' = tau at rest without gravity, with M by hand."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.double_pendulum(LENGTHS, MASSES, angles=ANGLES, name="arms"))
    world.add(lw.Force("arms", lambda a, t: (2.0 - a.rates[0], 3.0 * a.coordinates[1]), generalised=True, name="push"))
    sim = lw.Simulation(world, dt=1e-6, solver=solver, integrator=integrator)
    sim.step(10)
    (l0, l1), (m0, m1) = LENGTHS, MASSES
    cross = m1 * l0 * l1 * np.cos(ANGLES[0] - ANGLES[1])
    M = np.array([[(m0 + m1) * l0**2, cross], [cross, m1 * l1**2]])
    np.testing.assert_allclose(sim.rates("arms") / 1e-5, np.linalg.solve(M, (2.0, 3.0 * ANGLES[1])), rtol=1e-4)


@pytest.mark.parametrize(("solver", "integrator"), PAIRS)
def test_a_motor_on_a_coordinate_is_the_same_as_its_law_as_a_force(solver, integrator):
    def run(*added):
        world = stiff()
        for element in added:
            world.add(element)
        sim = lw.Simulation(world, dt=1e-3, solver=solver, integrator=integrator)
        for name in sim.control:
            sim.control[name] = 0.2
        sim.step(50)
        return np.concatenate([sim.coordinates("arms"), sim.rates("arms")])

    by_motor = run(lw.Motor("arms", "position", kp=3.0, kd=0.5, limit=4.0, gear=2.0, coordinate=1, name="motor"))

    def law(a, t):
        effort = 3.0 * (0.2 - 2.0 * a.coordinates[1]) - 0.5 * 2.0 * a.rates[1]
        return 0, 2.0 * lw.minimum(lw.maximum(effort, -4.0), 4.0)

    np.testing.assert_allclose(by_motor, run(lw.Force("arms", law, generalised=True)), rtol=1e-7)
    assert not np.allclose(by_motor, run(), rtol=1e-3)


def with_all():
    world = stiff()
    world.add(lw.Force("arms", lambda a, t: (-0.1 * a.rates[0], lw.sin(a.coordinates[0])), generalised=True, name="push"))
    world.add(lw.Motor("arms", "velocity", kd=0.5, coordinate=1, name="motor"))
    return world


def ran(world):
    sim = lw.Simulation(world)
    sim.control["motor"] = 1.0
    sim.step(50)
    return sim.coordinates("arms").tolist()


def test_copies_pickles_and_files_go_on_with_the_same_bits(tmp_path):
    wanted = ran(with_all())
    assert ran(copy.deepcopy(with_all())) == ran(pickle.loads(pickle.dumps(with_all()))) == wanted
    path = lw.save(with_all(), tmp_path / "arms.yaml")
    assert ran(lw.load(path)) == wanted


def test_check_finds_nothing_wrong():
    world = with_all()
    for name in ("elbow", "push", "motor"):
        assert lw.check(world.find(name)).ok


REFUSED = {
    "no Lagrangian body": (
        lambda: lw.Constraint("bead", lambda b, t: b.coordinates[0], name="c"),
        '^Constraint "c": its function asks for coordinates of a body that has none of its own; ',
    ),
    "an entry that is not there": (
        lambda: lw.Constraint("arms", lambda b, t: b.coordinates[2], name="c"),
        '^Constraint "c": its function asks for coordinates\\[2\\], and coordinates has 2 entries; ',
    ),
    "rates at the level of positions": (
        lambda: lw.Constraint("arms", lambda b, t: b.rates[0], name="c"),
        '^Constraint "c": its function speaks of velocities; ',
    ),
    "too few numbers": (
        lambda: lw.Force("arms", lambda b, t: (1, 0, 0), generalised=True, name="c"),
        '^Force "c": its function gives 3 numbers where 2 are needed',
    ),
    "a force on a bead": (
        lambda: lw.Force("bead", lambda b, t: (1, 0, 0), generalised=True, name="c"),
        '^Force "c": Particle "bead" has no coordinates of its own; ',
    ),
    "a force on two bodies": (
        lambda: lw.Force("bead", "arms", lambda a, b, t: (1, 0), generalised=True, name="c"),
        '^Force "c": a generalised force acts along the coordinates of one body; ',
    ),
    "a motor on a bead": (lambda: lw.Motor("bead", name="c"), '^Motor "c": Particle "bead" has no coordinates of its own; '),
    "a motor on no coordinate": (
        lambda: lw.Motor("arms", coordinate=2, name="c"),
        '^Motor "c": coordinate is 2, and LagrangianBody "arms" has 2; ',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused(case):
    make, message = REFUSED[case]
    world = lw.World()
    arms(world)
    world.add(lw.Particle(1.0, name="bead"))
    with pytest.raises(lw.LinkworkError, match=message):
        world.add(make())
        lw.Simulation(world)


def test_a_body_that_is_only_a_name_has_no_coordinates_yet():
    with pytest.raises(lw.LinkworkError, match="only a name yet; add the element to the body's world first"):
        pickle.dumps(lw.Constraint("arms", lambda b, t: b.coordinates[0], name="c"))
