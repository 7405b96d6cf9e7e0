"""How a run is recorded: progress, recordings that memory cannot hold, anchors in the users' frames."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation import progress
from linkwork.util import resources


def pendulum(**options):
    return lw.Simulation(lw.scenes.get("pendulum"), **options)


def test_a_long_run_shows_steps_pace_and_time_left(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    pendulum().run(0.1, progress=True)
    err = capsys.readouterr().err
    assert "100 of 100 steps" in err and "steps/s, 0:00 left" in err
    pendulum().run(0.1)  # stderr is no terminal here
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0:00"), (67, "1:07"), (7500, "2:05:00"), (1e6, "12 days"), (1e8, "3.17 years"), (1e300, "3.17e+292 years")],
)
def test_durations_as_a_person_says_them(seconds, text):
    assert progress.duration(seconds) == text


def test_a_recording_that_memory_cannot_hold_is_refused(monkeypatch):
    sim = pendulum()
    monkeypatch.setattr(resources, "installed", lambda: 1_000_000)
    with pytest.raises(
        lw.LinkworkError, match=r"frames need about .*, and this machine has 1 MB; give a longer record_every, such as \d"
    ):
        sim.run(50.0)
    assert sim.steps == 0
    assert len(sim.run(5.0, record_every=1.0)) == 6
    assert len(sim.run(50.0, record_every=None)) == 2
    assert sim.run(1e6, until=lambda s: True).attributes["note"].startswith("stopped by until")
    monkeypatch.setattr(resources, "installed", lambda: None)  # a system that does not tell
    assert len(sim.run(1.0)) == 101


def test_the_estimate_of_a_recording_is_about_right(monkeypatch):
    sim, seen = lw.Simulation(lw.scenes.get("chain", n=50)), []
    monkeypatch.setattr(resources, "too_large", seen.append)
    rec = sim.run(1.0)
    held = sum(value.nbytes for value in vars(rec).values() if isinstance(value, np.ndarray))
    states = len(rec) * 8 * len(sim.model.state_index)
    assert held + states < seen[0] < 4 * (held + states)


@pytest.mark.parametrize("scene", ["chain", "star", "rag-doll", "bridge", "hinge-chain", "scalable"])
def test_the_anchors_of_a_joint_meet_in_the_users_frames(scene):
    sim = lw.Simulation(lw.scenes.get(scene))
    rec = sim.run(0.05)
    assert rec.links
    for name, a, p, b, q in rec.links:
        ends = [np.array(local) if body is None else sim.point(body, local) for body, local in ((a, p), (b, q))]
        np.testing.assert_allclose(*ends, atol=1e-8, err_msg=name)


@pytest.fixture(scope="module")
def falling():
    """A ball on a chain that swings into a small wall: contacts come and go."""
    return lw.scenes.get("wall", rows=3, columns=2, links=3)


@pytest.mark.parametrize("integrator", ["rattle", "euler"])
def test_contacts_are_recorded_as_the_simulation_tells_them(falling, tmp_path, integrator):
    looked, ran, alone = (lw.Simulation(falling, dt=2e-3, integrator=integrator) for _ in range(3))
    told = [looked.contacts()]
    for _ in range(20):
        looked.step(20)
        told.append(looked.contacts())
    rec = ran.run(0.8, record_every=0.04)
    alone.step(400)
    assert ran.state.values.tobytes() == alone.state.values.tobytes()  # recording changes nothing
    assert len({len(points) for points in told}) > 3
    for kept in (rec, *(lw.Recording.load(rec.save(tmp_path / f"run{ending}")) for ending in (".nc", ".npz"))):
        for k, expected in enumerate(told):
            points = kept.contacts(k)
            assert [tuple(body.name if body.dim else None for body in p.bodies) for p in expected] == [p.bodies for p in points]
            assert [tuple(c.name for c in p.colliders) for p in expected] == [p.colliders for p in points]
            for name in ("points", "normals", "gaps", "forces", "impulses"):
                assert getattr(points, name).tobytes() == getattr(expected, name).tobytes()


def test_frames_without_contact_are_empty_and_others_are_refused(tmp_path):
    rec = pendulum().run(0.1)
    assert rec.contacts(3) == [] and rec.touching is None
    world = lw.World()
    world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), name="ball"))
    world.add(lw.Contact())
    rec = lw.Recording.load(lw.Simulation(world).run(0.1).save(tmp_path / "run.nc"))
    assert rec.contacts(-1) == [] and rec.contacts(-1).forces.shape == (0, 3) and rec.touching.count.sum() == 0
    with pytest.raises(lw.LinkworkError, match="there is no frame 99; give a number from 0 to"):
        rec.contacts(99)
