"""Notes are few: what is said of many elements is one sentence, with their number and the first names."""

import warnings

import pytest

import linkwork as lw


def held_twice(count):
    world = lw.World()
    for k in range(count):
        body = world.add(lw.RigidBody(1.0, shape=lw.Box(1, 0.1, 0.1), position=(0, 0, k)))
        world.add(lw.Hinge(world.ground, body, at=(-0.5, 0, k), axis=(0, 1, 0), name=f"p{k}"))
        world.add(lw.Hinge(world.ground, body, at=(-0.5, 1, k), axis=(0, 1, 0), name=f"q{k}"))
    return world


@pytest.mark.filterwarnings("ignore::linkwork.errors.Note")
@pytest.mark.parametrize("count, who", [
    (1, 'Hinge "q0": 5 of the 10 rows between its bodies'),
    (2, 'Hinge "q0" and Hinge "q1": 10 of the 20 rows between their bodies'),
    (4, 'Hinge "q0", Hinge "q1", Hinge "q2" and Hinge "q3": 20 of the 40 rows'),
    (30, 'Hinge "q0", Hinge "q1", Hinge "q2" and 27 more: 150 of the 300 rows'),
])  # fmt: skip
def test_redundant_hinges_are_counted_in_one_note(count, who):
    (note,) = lw.Simulation(held_twice(count)).notes
    assert note.startswith(who) and note.count("redundant as built") == 1


def test_constraints_that_are_drawn_in_together_are_told_together():
    world = lw.World(gravity=(0, 0, 0))
    beads = [world.add(lw.Particle(1.0, position=(k, 0, 0), name=f"bead{k}")) for k in range(20)]
    sim = lw.Simulation(world)
    for k, bead in enumerate(beads):
        world.add(lw.Motion(bead, lambda t, k=k: (k, 0, 0.01 * (1 + k)), name=f"lift{k}"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sim.step()
    (note,) = (str(one.message) for one in told if "drawn in" in str(one.message))
    assert note.startswith(
        'Motion "lift0", Motion "lift1", Motion "lift2" and 17 more: they are off where their bodies are now, '
    )
    assert "by 0.2 at most" in note and len(sim._system.arrangement.drawn) == 20


@pytest.mark.filterwarnings("ignore::linkwork.errors.Note")
def test_redundant_rows_are_those_of_joints_and_told_once():
    """Rotors add rows that are never redundant, and a keyframe changes nothing that was told."""
    world = held_twice(1)
    world.add([lw.Armature(name, 0.1, name=f"rotor of {name}") for name in ("p0", "q0")])
    sim = lw.Simulation(world)
    for _ in range(2):
        sim.reset(lw.Keyframe({"p0": 0.3}))
        sim.step()
    (note,) = (text for text in sim.notes if "redundant" in text)
    assert note.startswith('Hinge "q0": 5 of the 10 rows between its bodies are redundant as built')
