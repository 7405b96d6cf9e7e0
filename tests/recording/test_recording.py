"""The data of a Recording: names, units, checks."""

import subprocess
import sys

import numpy as np
import pytest

from linkwork.elements import Box, Particle
from linkwork.errors import LinkworkError, UnknownNameError
from linkwork.recording.recording import RecordingError
from tests.recording.made_up import make, replace


def test_length_energy_and_repr():
    rec = make()
    assert len(rec) == 6
    np.testing.assert_allclose(rec.energy, 1.0)
    assert repr(rec) == "<Recording: 6 frames from 0 to 1 s, 2 bodies, 2 joints>"
    assert repr(make(frames=1, shapes=(None,))) == "<Recording: 1 frame from 0 to 0 s, 1 body, 1 joint>"


def test_a_body_and_a_joint_by_name_or_element():
    rec = make()
    body = rec["body1"]
    np.testing.assert_array_equal(body.position, rec.position[:, 1])
    np.testing.assert_array_equal(body.orientation, rec.orientation[:, 1])
    np.testing.assert_array_equal(body.velocity, rec.velocity[:, 1])
    assert body.shape is None and rec["body0"].shape == Box(0.4, 0.1, 0.1) and body.frame is None
    np.testing.assert_array_equal(rec["hinge1"].angle, rec.angle[:, 1])
    assert rec[Particle(1.0, name="body1")].name == "body1"


@pytest.mark.parametrize(
    "ask", [lambda r: r["bdy1"], lambda r: r.plot("bdy1"), lambda r: r.animate("x.gif", trace=["body0", "bdy1"])]
)
def test_an_unknown_name_is_refused_with_a_suggestion(ask):
    with pytest.raises(UnknownNameError, match=r'there is no body.* named "bdy1"; did you mean "body1"\?'):
        ask(make())


def test_an_unlike_name_gets_the_names_there_are():
    with pytest.raises(UnknownNameError, match='"zebra"; it has body0, body1, hinge0, hinge1'):
        make()["zebra"]
    with pytest.raises(UnknownNameError, match='"ankle"'):
        make(links=[("pin", None, (0, 0, 0), "ankle", (0, 0, 0))])


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"position": np.zeros((6, 3, 3))}, r"position has shape \(6, 3, 3\); 6 frames, 2 bodies .* need \(6, 2, 3\)"),
        ({"orientation": np.zeros((6, 2, 3))}, r"orientation has shape"),
        ({"drift": np.zeros(5)}, r"drift has shape \(5,\)"),
        ({"angle": np.zeros((6, 0))}, r"angle has shape \(6, 0\)"),
        ({"frame": np.zeros((6, 2, 3))}, r"frame has shape"),
        ({"time": []}, r"time has shape \(0,\); give one number for each frame"),
        ({"extra": {"heat": np.zeros(3)}}, r'extra "heat" has shape \(3,\); give 6 frames'),
    ],
)
def test_data_that_do_not_fit_are_refused_by_name(changes, sentence):
    with pytest.raises(RecordingError, match=sentence) as caught:
        make(**changes)
    assert isinstance(caught.value, LinkworkError) and "\n" not in str(caught.value)


def test_xarray_has_names_and_units_everywhere():
    rec = make(extra={"reaction pin": np.ones((6, 3)), "torque": np.ones(6), "heat": (np.ones(6), "W"), "luck": np.ones(6)})
    data = rec.to_xarray()
    assert dict(data.sizes) == {"time": 6, "body": 2, "axis": 3, "quaternion": 4, "joint": 2}
    assert data.position.dims == ("time", "body", "axis") and data.orientation.dims == ("time", "body", "quaternion")
    assert all(v.attrs["units"] and v.attrs["long_name"] for v in data.variables.values())
    units = {name: data[name].units for name in ("time", "position", "velocity", "angular_velocity", "kinetic", "drift")}
    assert list(units.values()) == ["s", "m", "m/s", "rad/s", "J", "m"]
    assert [data[name].units for name in ("reaction pin", "torque", "heat", "luck")] == ["N", "N m", "W", "not stated"]
    np.testing.assert_array_equal(data.velocity.sel(body="body1", axis="z"), rec.velocity[:, 1, 2])
    assert data.attrs["scene"] == "swing" and data.attrs["dt"] == 1e-3


def test_xarray_of_stretching_bodies_has_their_frames():
    data = replace(make(), frame=np.ones((6, 2, 3, 3))).to_xarray()
    assert data.frame.dims == ("time", "body", "axis", "local_axis")


def test_importing_stays_quick():
    code = "import sys, linkwork.recording.recording; print({'xarray', 'matplotlib', 'PIL', 'rich'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
