"""First-order motion stays together, and says so where it does not."""

import re

import numpy as np
import pytest

import linkwork as lw

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.Note")


def bent_rod():
    """A bead that is off its rod as built."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(1.0, position=(1.5, 0, 0), name="bead"))
    world.add(lw.Distance(world.ground, "bead", 1.0, name="rod"))
    return world


@pytest.mark.parametrize("times", [0.5, 1.0, 1.5, 2.5, 1e3, 1e9])
def test_any_stiffness_draws_in(times):
    """A step leaves 1 - k h of what is off, and takes all of it away from k = 1/h on."""
    dt = 1e-2
    sim = lw.Simulation(bent_rod(), dt=dt, integrator="first-order", stiffness=times / dt)
    assert any("stiffness is" in note for note in sim.notes) == (times > 1)
    off = [sim.drift()]
    for _ in range(30):
        sim.step()
        off.append(sim.drift())
    assert off[1] == pytest.approx(0.5 * (1 - min(times, 1.0)), abs=1e-12) and off[-1] < 1e-9
    assert np.all(np.diff(off) <= 1e-12)


def test_forces_that_a_step_cannot_follow_stop_it_before_bodies_are_far():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.Particle(0.1, position=(1, 0, 0), name="bead"))
    world.add(lw.Spring(world.ground, "bead", 1e3, rest=0.5))
    sim = lw.Simulation(world, dt=2e-3, integrator="first-order")
    with pytest.raises(lw.DivergenceError, match="it diverged in step .*; take a smaller dt: ") as caught:
        for _ in range(100):
            sim.step()
            assert np.abs(sim.position("bead")).max() < 1e4
    h = float(re.search(r"dt: (\S+) s gets past it", str(caught.value))[1])
    sim = lw.Simulation(world, dt=h, integrator="first-order")
    sim.run(0.1, record_every=None)
    assert sim.position("bead")[0] == pytest.approx(0.5, abs=1e-3)


def test_constraints_that_steps_do_not_hold_are_told_with_a_step_that_does():
    """A rope of beads under weight: its tension asks for shorter steps than its feedback."""
    world = lw.World()
    for k in range(20):
        world.add(lw.Particle(0.01, position=(0.1 * (k + 1), 0, 0), name=f"bead{k}"))
        world.add(lw.Distance(world.ground if k == 0 else f"bead{k - 1}", f"bead{k}", name=f"link{k}"))
    sim = lw.Simulation(world, dt=5e-3, integrator="first-order")
    sim.run(3.0, record_every=None)
    (note,) = (note for note in sim.notes if "first-order motion leaves" in note)
    h = float(re.search(r"take a smaller dt: (\S+) s holds it better", note)[1])
    other = lw.Simulation(world, dt=h, integrator="first-order")
    other.run(0.5, record_every=None)
    assert other.drift() < 0.1 * sim.drift()
