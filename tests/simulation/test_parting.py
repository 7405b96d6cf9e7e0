"""Bodies that a joint kept from touching, and that overlap when it is switched off or removed."""

import numpy as np
import pytest

import linkwork as lw

HOW = [{}, {"integrator": "euler"}, {"solver": "ltdl", "integrator": "joint-euler"}, {"solver": "implicit"},
       {"solver": "implicit", "iterations": 1}]  # fmt: skip


def overlapping_links(recovery=1.0, gravity=9.81, contact=True):
    """Boxes that are longer than the distance between their hinges: neighbours overlap by 5 cm."""
    world, above = lw.World(gravity=(0, 0, -gravity)), "ground"
    for k in range(5):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.3, 0.1, 0.1), position=(0.25 * k + 0.125, 0, 2), name=f"box{k}"))
        world.add(lw.Hinge(above, f"box{k}", at=(0.25 * k, 0, 2), axis=(0, 1, 0), name=f"hinge{k}"))
        above = f"box{k}"
    if contact:
        world.add(lw.Contact(friction=0.3, recovery=recovery))
    return world


def told(sim):
    return [note for note in sim.notes if "inside" in note]


@pytest.mark.parametrize("how", HOW, ids=str)
def test_overlap_that_a_joint_leaves_is_told_and_let_out_at_a_bounded_speed(how):
    sim = lw.Simulation(overlapping_links(recovery=0.5, gravity=0.0), dt=2e-3, **how)
    sim.step(10)
    assert not told(sim)
    sim.switch("hinge3", on=False)
    with pytest.warns(lw.Note, match='RigidBody "box2": it is .* m inside RigidBody "box3" at 0.02 s, where no joint keeps'):
        sim.step()
    fastest = 0.0
    for _ in range(200):
        sim.step()
        fastest = max(fastest, float(np.linalg.norm(sim.velocity("box3") - sim.velocity("box2"))))
    assert len(told(sim)) == 1 and fastest <= 0.5 * (1 + 1e-6)


@pytest.mark.filterwarnings("ignore::linkwork.Note")
def test_rattle_lets_it_out_without_giving_it_energy():
    sim = lw.Simulation(overlapping_links(), dt=1e-3)
    sim.step(300)
    before = sim.energy().total
    sim.switch("hinge3", on=False)
    for _ in range(300):
        sim.step()
        assert sim.energy().total < before + 1e-3
    assert len(told(sim)) == 1


@pytest.mark.filterwarnings("ignore::linkwork.Note")
def test_a_joint_that_is_removed_is_as_one_that_is_switched_off():
    world = overlapping_links()
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(10)
    world.remove("hinge3")
    sim.step(10)
    assert len(told(sim)) == 1 and '"box3"' in told(sim)[0]


def test_no_word_where_nothing_touches_or_nothing_was_kept_apart():
    sim = lw.Simulation(overlapping_links(contact=False), dt=1e-3)
    sim.switch("hinge3", on=False)
    sim.step()
    assert not told(sim)
    world = overlapping_links()
    world.add(lw.Damper("ground", "box4", 1.0, on_a=(0, 0, 3), name="damper"))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(5)
    sim.switch("damper", on=False)
    sim.step()
    assert not told(sim)
