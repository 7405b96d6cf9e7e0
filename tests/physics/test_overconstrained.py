"""Mechanisms that move although they have more rows than freedoms to hold: by every solver and integrator the same motion.

Their rows depend on each other on the constraints, and only there: whoever obeys them beside it loses energy, or the
motion."""

import numpy as np
import pytest

import linkwork as lw
from tests.physics import linkages

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.Note")
MECHANISMS = {  # the rows that are redundant
    linkages.bennett: 3, linkages.goldberg: 2, linkages.goldberg_six: 1, linkages.myard: 2, linkages.bricard: 1,
    linkages.four_bar: 3, linkages.spherical_four_bar: 3, linkages.sarrus: 1,
}  # fmt: skip
ACCURATE = [("tree", "rk4"), ("fronts", "rk4"), ("anticipation", "rk4"), ("cg", "rk4"), ("tree", "dopri5"),
            ("anticipation", "joint-rk4")]  # fmt: skip
CHEAP = [("tree", "euler"), ("anticipation", "euler"), ("cg", "euler"), ("ltdl", "joint-euler"), ("tree", "shake")]
DT = 1e-3


def motion(world, seconds, solver="ltdl", integrator="joint-rk4", dt=DT):
    """Places of a body along the way, the energy gained, the largest kinetic energy seen, and the simulation."""
    sim = lw.Simulation(world, dt=dt, solver=solver, integrator=integrator)
    body, start, path, kinetic = world.bodies[1].name, sim.energy().total, [], 0.0
    for _ in range(10):
        sim.step(round(seconds / dt / 10))
        path.append(sim.position(body))
        kinetic = max(kinetic, sim.energy().kinetic)
    return np.array(path), sim.energy().total - start, kinetic, sim


@pytest.fixture(scope="module")
def references():
    """One second of each, by `ltdl`."""
    return {make: motion(make(), 1.0) for make in MECHANISMS}


@pytest.mark.parametrize("make", MECHANISMS)
def test_they_move_and_keep_their_energy(make, references):
    path, gain, kinetic, sim = references[make]
    assert sim.model.summary()["redundant"] == MECHANISMS[make] and sim.model.summary()["freedoms"] == 1
    assert kinetic > 0.1 and np.ptp(path, axis=0).max() > 0.01
    assert abs(gain) < 1e-5 * kinetic


@pytest.mark.parametrize("solver,integrator", ACCURATE)
@pytest.mark.parametrize("make", MECHANISMS)
def test_accurate_integrators_agree(make, solver, integrator, references):
    reference, _, kinetic, _ = references[make]
    path, gain, _, sim = motion(make(), 1.0, solver, integrator)
    assert np.abs(path - reference).max() < 1e-6 and abs(gain) < 1e-7 * kinetic
    assert sim.drift() < 1e-13 and sim.drift(velocity=True) < 1e-11


@pytest.mark.parametrize("solver,integrator", CHEAP)
@pytest.mark.parametrize("make", MECHANISMS)
def test_cheap_integrators_are_of_first_order(make, solver, integrator, references):
    reference, _, kinetic, _ = references[make]
    path, gain, _, sim = motion(make(), 1.0, solver, integrator)
    assert np.abs(path - reference).max() < 1e-2 and abs(gain) < 5e-2 * kinetic
    assert not any("contradict" in text for text in sim.notes)


@pytest.mark.parametrize("make", MECHANISMS)
def test_rattle_needs_no_tolerance(make, references):
    """It goes on to rounding, since what is left of redundant rows moves the mechanism along its freedom."""
    reference, _, kinetic, _ = references[make]
    path, gain, _, sim = motion(make(), 1.0, "tree", "rattle")
    assert np.abs(path - reference).max() < 2e-4 and abs(gain) < 5e-4 * kinetic
    assert sim.drift() < 1e-13


@pytest.mark.parametrize("solver", ["tree", "dense"])
def test_the_order_of_rk4_is_four(solver):
    """Stages that are brought onto the constraints cost no order."""
    reference, off = motion(linkages.bennett(), 0.4, dt=2.5e-4)[0], []
    for dt in (8e-3, 4e-3):
        off.append(np.abs(motion(linkages.bennett(), 0.4, solver, "rk4", dt)[0] - reference).max())
    assert off[0] / off[1] > 12


@pytest.mark.parametrize("size,mass", [(0.01, 1e-3), (100.0, 1e3)])
@pytest.mark.parametrize("integrator", ["rk4", "euler", "rattle"])
def test_any_size_will_do(integrator, size, mass):
    """A second of the larger one is a tenth of one of the smaller."""
    dt, seconds = 1e-3 * np.sqrt(size), np.sqrt(size)
    reference = motion(linkages.bennett(), 1.0)[0]
    path, _, _, _ = motion(linkages.bennett(size=size, mass=mass), seconds, "tree", integrator, dt)
    assert np.abs(path / size - reference).max() < (1e-3 if integrator == "euler" else 1e-5)


def test_light_and_heavy_links():
    world = linkages.bennett(mass=(1.0, 1e-3, 10.0))
    path, gain, kinetic, _ = motion(world, 1.0, "tree", "rk4")
    assert np.abs(path - motion(world, 1.0)[0]).max() < 1e-6 and abs(gain) < 1e-7 * kinetic


@pytest.mark.parametrize("solver", ["tree", "anticipation", "cg"])
def test_motion_without_inertia(solver):
    fine = motion(linkages.bennett(), 0.2, "cg", "first-order", 1e-4)[0]
    path, _, _, sim = motion(linkages.bennett(), 0.2, solver, "first-order")
    assert np.abs(path - fine).max() < 2e-4 and sim.drift() < 1e-13


@pytest.mark.parametrize(
    "solver,integrator", [("tree", "rattle"), ("tree", "euler"), ("anticipation", "euler"), ("ltdl", "joint-euler")]
)
@pytest.mark.parametrize("floor", [-5.0, -0.25])
def test_bennetts_linkage_above_a_floor(solver, integrator, floor):
    """Out of reach it makes no difference; in reach the linkage comes to rest on it."""
    world = linkages.bennett()
    world.add(lw.Collider(world.ground, lw.Box(20, 20, 1), position=(0, 0, floor - 0.5)))
    world.add([lw.Collider("link1", lw.Sphere(0.05)), lw.Contact()])
    path, gain, kinetic, sim = motion(world, 1.0, solver, integrator)
    if floor < -1:
        assert np.abs(path - motion(linkages.bennett(), 1.0)[0]).max() < 2e-3 and abs(gain) < 5e-3 * kinetic
    else:
        assert sim.position("link1")[2] == pytest.approx(floor + 0.05, abs=1e-3) and sim.energy().kinetic < 1e-6


def test_feedback_that_has_nothing_to_do_is_told():
    with pytest.warns(lw.Note, match="stiffness and damping"):
        lw.Simulation(linkages.bennett(), integrator="euler", stiffness=100.0)


@pytest.mark.slow
def test_bennetts_linkage_for_twenty_seconds():
    reference = motion(linkages.bennett(), 20.0)[0]
    assert np.abs(motion(linkages.bennett(), 20.0, "tree", "rattle")[0] - reference).max() < 1e-4
    assert np.abs(motion(linkages.bennett(), 20.0, "tree", "rk4")[0] - reference).max() < 1e-7
