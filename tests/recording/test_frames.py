"""Frames in recordings: their motion is what the simulation read, in files too."""

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.recording.recording import Recording, RecordingError
from tests.recording.made_up import make, replace
from tests.recording.test_files import ENDINGS, assert_same

FIELDS = ("position", "orientation", "velocity", "angular_velocity")
TURN = (0.5, 0.5, -0.5, 0.5)


def world(*bodies):
    made = lw.World()
    for k, body in enumerate((*bodies, made.ground)):
        made.add(body) if body is not made.ground else None
        made.add(lw.Frame(body, position=(0.1, 0.2 * k, -0.3), orientation=TURN, name=f"frame {k}"))
    return made


def bodies():
    """Of several kinds, that tumble and stretch."""
    jelly = lw.ScalableBody(1.0, shape=lw.Box(0.3, 0.2, 0.1), stretch=(1.3, 0.8, 1), angular_velocity=(1, 2, 3), stiffness=20.0)
    sheet = lw.AffineBody(1.0, (0.1, 0.1, 0.1), position=(0, 3, 0), deformation_rate=np.diag((1, 2, -1)), stiffness=5.0)
    return lw.RigidBody(1, (1, 2, 3), angular_velocity=(3, 0.1, 2)), lw.PlanarBody(1, 1, angular_velocity=4), jelly, sheet


@pytest.mark.parametrize("many", [2, 4])
def test_what_is_recorded_is_what_was_read(many):
    sim, seen = lw.Simulation(world(*bodies()[:many])), []
    rec = sim.run(0.1, record_every=0.02, control=lambda sim: seen.append(sim.frames) if sim.steps % 20 == 0 else None)
    seen.append(sim.frames)
    assert len(rec.frames) == many + 1 and (rec["frame 0"].frame is None) == (many == 2)
    for k, name in enumerate(sim.frames.names):
        record = rec[name]
        assert record.name == name and record.shape is None
        for field in (*FIELDS, *(["frame"] if many == 4 else [])):
            then = np.array([getattr(frames, field)[k] for frames in seen])
            np.testing.assert_allclose(getattr(record, field), then, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_keep_frames(tmp_path, ending):
    rec = lw.Simulation(world(*bodies())).run(0.1, record_every=0.02)
    found = Recording.load(rec.save(tmp_path / f"run{ending}"))
    assert_same(rec, found)
    for name, *_ in rec.frames:
        for field in (*FIELDS, "frame"):
            np.testing.assert_array_equal(getattr(rec[name], field), getattr(found[name], field))


def test_frames_stay_with_parts_and_joins_and_go_to_xarray():
    rec = lw.Simulation(world(*bodies()[:1])).run(0.1, record_every=0.02)
    assert rec.first(3).frames == rec.joined(rec).frames == rec.frames
    assert rec.first(3)["frame 0"].position.shape == (3, 3)
    data = rec.to_xarray()
    track = data.frame_position.sel(frame_name="frame 0", axis="y")
    assert np.array_equal(track, rec["frame 0"].position[:, 1]) and data.frame_velocity.units == "m/s"
    assert data.frame_orientation.dims == ("time", "frame_name", "quaternion")
    assert "frame_position" not in make().to_xarray()


def test_frames_are_drawn_as_bodies_are(tmp_path):
    rec = lw.Simulation(world(*bodies()[:1])).run(0.2, record_every=0.02)
    assert len(rec.plot("frame 0", path=tmp_path / "frame.png").axes) == 3
    bare, traced = (rec.animate(tmp_path / f"{k}.png", size=(160, 120), trace=trace).read_bytes()
                    for k, trace in enumerate((None, ["frame 0", "frame 1"])))  # fmt: skip
    assert bare != traced


def test_files_from_before_there_were_frames_open(tmp_path):
    path = make().save(tmp_path / "run.npz")
    arrays = dict(np.load(path))
    facts = json.loads(str(arrays["facts"]))
    assert facts.pop("frames") == []
    np.savez(path, **arrays | {"facts": np.array(json.dumps(facts))})
    assert_same(make(), Recording.load(path))


def test_what_is_refused():
    with pytest.raises(lw.UnknownNameError, match='^Recording: there is no body named "rod"; it has body0, body1'):
        replace(make(), frames=[("tool", "rod", (0, 0, 0), (1, 0, 0, 0))])
    with pytest.raises(RecordingError, match="^Recording: frames are .*; give names, each once"):
        replace(make(), frames=[("tool", None, (0, 0, 0), (1, 0, 0, 0))] * 2)
    rec = replace(make(), frames=[("tool", None, (0, 0, 0), (1, 0, 0, 0))])
    with pytest.raises(
        lw.UnknownNameError, match='^Recording: there is no body, frame, sensor or joint named "tol"; did you mean "tool"'
    ):
        rec["tol"]
    with pytest.raises(lw.UnknownNameError, match='^Recording: there is no body or frame named "hinge0"'):
        rec.plot("hinge0", path="never.png")
