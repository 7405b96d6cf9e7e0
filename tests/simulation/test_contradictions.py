"""Constraints that contradict each other are named, with how much they disagree; redundant ones that agree are not."""

import re

import numpy as np
import pytest

import linkwork as lw

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.Note")
WAYS = [("tree", "rattle"), ("tree", "euler"), ("tree", "rk4"), ("fronts", "rattle"), ("dense", "euler"), ("anticipation", "rattle"),
        ("cg", "rattle"), ("cg", "euler"), ("ltdl", "joint-rk4"), ("anticipation", "joint-euler")]  # fmt: skip
SAID = re.compile(
    r"^Simulation: (.*) contradict each other by ([\d.e+-]+) (\S+) (as built|at [\d.]+ s); not all of them can hold"
)


def told(sim):
    """{(names, amount, unit)} of all notes on contradictions."""
    found = [SAID.match(note) for note in sim.notes]
    return {(tuple(re.findall(r'"(\w+)"', one[1])), float(one[2]), one[3]) for one in found if one}


def on_a_hinge(*, weld=False, speeds=(), gravity=(0, 0, -10)):
    world = lw.World(gravity=gravity)
    body = world.add(lw.RigidBody(1.5, (0.1, 0.2, 0.3), position=(1, 0.2, 0.1), name="body"))
    hinge = world.add(lw.Hinge(world.ground, body, at=(0.3, 0, 0), axis=(0, 1, 2), name="hinge"))
    if weld:
        world.add(lw.Weld(world.ground, body, at=(1, 0.2, 0.1), name="weld"))
    for k, speed in enumerate(speeds):
        world.add(lw.Drive(hinge, speed, name=f"drive{k}"))
    return world


@pytest.mark.parametrize("solver, integrator", WAYS)
def test_two_drives_of_one_hinge(solver, integrator):
    sim = lw.Simulation(on_a_hinge(speeds=(1.0, 3.5)), solver=solver, integrator=integrator)
    assert told(sim) == {(("drive0", "drive1"), 2.5, "rad/s")}
    assert not any("redundant" in note or "consistent" in note for note in sim.notes)
    sim.step(20)
    assert len(told(sim)) == 1 and sum("contradict" in note for note in sim.notes) == 1


@pytest.mark.parametrize("solver, integrator", WAYS)
def test_a_weld_and_a_drive(solver, integrator):
    """The hinge has no part in it, and agrees with the weld: its five rows are redundant."""
    sim = lw.Simulation(on_a_hinge(weld=True, speeds=(2.0,)), solver=solver, integrator=integrator)
    assert told(sim) == {(("weld", "drive0"), 2.0, "rad/s")}
    assert sum("5 of the 12 rows between its bodies are redundant" in note for note in sim.notes) == 1


@pytest.mark.parametrize("world", [on_a_hinge(speeds=(1.0, 3.5)), on_a_hinge(weld=True, speeds=(2.0,))])
def test_newtons_method_names_what_contradicts_when_it_stops(world):
    sim = lw.Simulation(world, solver="implicit")
    with pytest.raises(lw.DivergenceError, match=r'"drive\d".* contradict each other by 2(\.5)? rad/s') as caught:
        sim.step()
    assert "smaller dt" not in str(caught.value)


@pytest.mark.parametrize("solver, integrator", WAYS)
def test_reactions_add_up_to_mass_times_acceleration(solver, integrator):
    for world in (on_a_hinge(speeds=(1.0, 3.5)), on_a_hinge(weld=True, speeds=(2.0,))):
        sim = lw.Simulation(world, solver=solver, integrator=integrator)
        for steps in (0, 30):
            sim.step(steps)
            force, torque = 1.5 * np.array([0, 0, -10.0]), np.zeros(3)
            for constraint in world.constraints:
                reaction = sim.reaction(constraint)
                force = force + reaction.force
                torque += reaction.torque + np.cross(reaction.at - sim.position("body"), reaction.force)
            R, w = sim.frame("body"), sim.angular_velocity("body")
            inertia = R @ np.diag((0.1, 0.2, 0.3)) @ R.T
            np.testing.assert_allclose(force, 1.5 * sim.acceleration("body"), atol=1e-6)
            turning = inertia @ sim.angular_acceleration("body") + np.cross(w, inertia @ w)
            np.testing.assert_allclose(torque, turning, atol=1e-6)


@pytest.mark.parametrize("solver, integrator", [way for way in WAYS if "joint" not in way[1]])
def test_motions_that_part_later_are_found_while_it_runs(solver, integrator):
    world = lw.World()
    world.add(lw.Particle(1.0, name="bead"))
    world.add(lw.Motion("bead", lambda t: (t, 0, 0), name="one"))
    world.add(lw.Motion("bead", lambda t: (lw.where(t < 0.05, t, 4 * t - 0.15), 0, 0), name="two"))
    sim = lw.Simulation(world, solver=solver, integrator=integrator)
    sim.step(49)
    assert not told(sim)
    sim.run(0.1, record_every=None)
    assert told(sim) == {(("one", "two"), 3.0, "m/s")}


def test_places_that_exclude_each_other_are_told_in_metres():
    """Two motions that have parted, and go on side by side."""
    world = lw.World()
    world.add(lw.Particle(1.0, name="bead"))
    world.add(lw.Motion("bead", lambda t: (0 * t, 0, 0), name="one"))
    world.add(lw.Motion("bead", lambda t: (lw.where(t < 0.05, 0 * t, 0.02), 0, 0), name="two"))
    sim = lw.Simulation(world, integrator="rk4")
    sim.run(0.1, record_every=None)
    assert told(sim) == {(("one", "two"), 0.02, "m")}


@pytest.mark.parametrize("integrator", ["rattle", "euler", "rk4", "dopri5", "backward-euler"])
def test_a_motion_that_goes_further_than_a_rod_is_long(integrator):
    """A tree without loops: both rows are one at the end of the rod."""
    world = lw.World()
    world.add(lw.Particle(1.0, (0.9, 0, -np.sqrt(0.19)), (1, 0, 0.9 / np.sqrt(0.19)), name="bob"))
    world.add(lw.Distance(world.ground, "bob", name="rod"))
    world.add(lw.Constraint("bob", lambda b, t: b.position[0] - 0.9 - t, name="pull"))
    sim = lw.Simulation(world, solver="implicit" if integrator == "backward-euler" else "tree", integrator=integrator)
    try:
        sim.run(0.3, record_every=None)
    except lw.DivergenceError as error:
        assert 'since Distance "rod" and Constraint "pull" contradict each other' in str(error) and "dt" not in str(error)
    else:
        assert any('Distance "rod" and Constraint "pull" contradict' in note for note in sim.notes)


@pytest.mark.parametrize("solver, integrator", [("tree", "rattle"), ("tree", "euler"), ("implicit", None)])
def test_a_drive_against_a_hard_limit(solver, integrator):
    world = on_a_hinge(speeds=(2.0,))
    world.add(lw.HardLimit("hinge", -1.0, 0.02, name="limit"))
    sim = lw.Simulation(world, solver=solver, integrator=integrator)
    sim.step(5)
    assert not told(sim)
    try:
        sim.run(0.1, record_every=None)
    except lw.DivergenceError as error:
        assert 'Drive "drive0" and HardLimit "limit" contradict each other by 2 rad/s' in str(error)
    else:
        assert told(sim) == {(("drive0", "limit"), 2.0, "rad/s")}


def test_a_motion_into_the_floor_names_the_contact():
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), position=(0, 0, 0.12), name="ball"))
    world.add(lw.Motion("ball", lambda t: (0, 0, 0.12 - t), name="push"))
    world.add(lw.Contact())
    sim = lw.Simulation(world)
    sim.run(0.06, record_every=None)
    (note,) = (note for note in sim.notes if "contradict" in note)
    assert note.startswith('Simulation: Motion "push" and the contact of ') and "by 1 m/s" in note


# -- mechanisms that move though their rows are redundant ---------------------------------------------------------------
def about(axis, angle):
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def closed(points, axes):
    """A loop of hinges, the last body being the ground."""
    world = lw.World()
    bodies = [world.add(lw.RigidBody(1.0, (0.02, 0.03, 0.05), position=(points[k] + points[k + 1]) / 2, name=f"b{k}"))
              for k in range(len(points) - 1)]  # fmt: skip
    for k, (a, b) in enumerate(zip([world.ground, *bodies], [*bodies, world.ground], strict=True)):
        world.add(lw.Hinge(a, b, at=points[k], axis=axes[k], name=f"h{k}"))
    return world


def bennett(first=1.0):
    a, alpha, b = 1.0, np.radians(60), 0.8
    beta = np.arcsin(b * np.sin(alpha) / a)
    second = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(first / 2))
    R, p, points, axes = np.eye(3), np.zeros(3), [], []
    for angle, length, twist in ((first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta)):
        points.append(p)
        axes.append(R[:, 2])
        R = R @ about((0, 0, 1), angle)
        p, R = p + length * R[:, 0], R @ about((1, 0, 0), twist)
    assert np.abs(p).max() < 1e-9
    return closed(points, axes)


def tilted_four_bar():
    turn = about((1, 2, 3), 0.7)
    points = [turn @ np.array(p) for p in ((0, 0, 0), (0.2, 0, 0.9), (1.3, 0, 1.1), (1.2, 0, 0))]
    return closed(points, [turn @ np.array((0, 1.0, 0))] * 4)


def sarrus():
    """Two pairs of plates on a base, at right angles: the lid goes straight up."""
    world = lw.World()
    lid = world.add(lw.RigidBody(1.0, (0.02, 0.02, 0.02), position=(0, 0, 1.2), name="lid"))
    for k, turn in enumerate((np.eye(3), about((0, 0, 1), np.pi / 2))):
        along, axis = turn @ (1.0, 0, 0), turn @ (0, 1.0, 0)
        foot, knee, top = 0.5 * along, 0.5 * along + 0.8 * along + (0, 0, 0.6), 0.5 * along + (0, 0, 1.2)
        lower = world.add(lw.RigidBody(1.0, (0.02, 0.02, 0.02), position=(foot + knee) / 2, name=f"lower{k}"))
        upper = world.add(lw.RigidBody(1.0, (0.02, 0.02, 0.02), position=(knee + top) / 2, name=f"upper{k}"))
        pairs = ((world.ground, lower, foot), (lower, upper, knee), (upper, lid, top))
        for j, (a, b, at) in enumerate(pairs):
            world.add(lw.Hinge(a, b, at=at, axis=axis, name=f"h{3 * k + j}"))
    return world


MOVING = {"bennett": bennett, "tilted four-bar": tilted_four_bar, "sarrus": sarrus}


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("solver, integrator", WAYS)
@pytest.mark.parametrize("name", MOVING)
def test_mechanisms_that_move_are_not_said_to_contradict(name, solver, integrator, driven):
    world = MOVING[name]()
    if driven:
        world.add(lw.Drive("h0", 0.8, name="drive"))
    sim = lw.Simulation(world, solver=solver, integrator=integrator, dt=2e-3)
    sim.run(0.2, record_every=None)
    assert not any("contradict" in note for note in sim.notes)
    if driven and integrator != "euler":
        assert sim.rate("h0") == pytest.approx(0.8, abs=1e-4)
