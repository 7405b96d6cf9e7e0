"""Pictures with light and shadow. Where a machine cannot draw, the sentence that says so is looked at instead."""

import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from linkwork.elements import Box, Plane, Sphere
from linkwork.errors import LinkworkError
from linkwork.recording.recording import RecordingError
from linkwork.viz import offscreen
from tests.recording.made_up import VISUALS, everything, make

FLOOR = ("floor", None, Plane(), (0, 0, -1), (1, 0, 0, 0))
NO_OPENGL = "this machine has no OpenGL to draw with; install libegl1"


def drawn(rec, path, **options):
    """The picture (height, width, 3), or None where this machine cannot draw and says so."""
    try:
        rec.render(path, **options)
    except LinkworkError as error:
        assert NO_OPENGL in str(error) and not path.exists()
        return None
    return np.asarray(Image.open(path), int)


def test_a_still_shows_the_colours_of_the_moment(tmp_path):
    red = [("skin", "body0", Sphere(0.3), (0, 0, 0), (1, 0, 0, 0), (0.9, 0.1, 0.1, 1))]
    rec = make(frames=11, shapes=(None,), visuals=red, colliders=[FLOOR])
    first, last = (drawn(rec, tmp_path / f"{at}.png", at=at, size=(320, 240)) for at in (0.0, 0.5))
    if first is None:
        return
    assert first.shape == (240, 320, 3) and sorted(p.name for p in tmp_path.iterdir()) == ["0.0.png", "0.5.png"]
    for picture in (first, last):
        body = (picture[..., 0] > 1.6 * picture[..., 1]) & (picture[..., 0] > 90)
        assert 200 < body.sum() < 20000
    where = [np.argwhere((p[..., 0] > 1.6 * p[..., 1]) & (p[..., 0] > 90)).mean(axis=0) for p in (first, last)]
    assert np.linalg.norm(where[0] - where[1]) > 10  # it moved


def test_there_is_a_shadow_on_the_ground_and_nowhere_else(tmp_path, monkeypatch):
    rec = make(frames=2, shapes=(Box(0.5, 0.5, 0.1),), colliders=[("floor", None, Plane(), (0, 0, -0.3), (1, 0, 0, 0))])
    with_it = drawn(rec, tmp_path / "with.png", at=0.0, size=(320, 240))
    monkeypatch.setattr(offscreen, "DARK", 0.0)
    without = drawn(rec, tmp_path / "without.png", at=0.0, size=(320, 240))
    if with_it is None:
        return
    darker = (without - with_it).max(axis=-1)
    assert darker.min() >= -1 and darker.max() > 30 and 500 < (darker > 15).sum() < 20000
    top = without[..., 2] > 1.15 * without[..., 0]  # the blue box itself
    assert top.sum() > 500 and (darker[top] > 15).sum() < 0.05 * top.sum()


def test_everything_can_be_drawn(tmp_path):
    for k, rec in enumerate((everything(), make(frames=1, shapes=()), make(visuals=VISUALS))):
        picture = drawn(rec, tmp_path / f"{k}.png", size=(64, 48))
        assert picture is None or np.ptp(picture) > 10
    lost = make(frames=8)
    lost.position[3:, 1] = np.nan
    picture = drawn(lost, tmp_path / "lost.png", at=1.0, size=(64, 48))
    assert picture is None or np.ptp(picture) > 10


def test_a_video_has_the_pace_of_the_recording(tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    try:
        path = make(frames=21).render(tmp_path / "run.mp4", fps=10, size=(97, 64))
    except LinkworkError as error:
        assert NO_OPENGL in str(error)
        return
    with imageio.get_reader(path) as reader:
        about = reader.get_meta_data()
        frames = sum(1 for _ in reader)
    assert frames == 11 and about["codec"] == "h264" and about["size"] == (96, 64) and about["fps"] == 10
    assert [p.name for p in tmp_path.iterdir()] == ["run.mp4"]


def test_a_machine_that_cannot_draw_says_so(tmp_path):
    """Without any driver of EGL, VTK falls back on a library, which it would end the process for."""
    make().save(tmp_path / "recording.nc")
    hidden = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    environment = hidden | {"__EGL_VENDOR_LIBRARY_FILENAMES": os.devnull}
    command = [
        sys.executable,
        "-m",
        "linkwork.cli",
        "render",
        str(tmp_path),
        "--png",
        str(tmp_path / "a.png"),
        "--size",
        "64x48",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode == 0:  # it has that library, or another window system
        assert (tmp_path / "a.png").exists()
    else:
        assert done.returncode == 2 and NO_OPENGL in done.stderr and done.stderr.count("\n") == 1
        assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("run.gif", {}, r"ends in neither \.mp4 nor \.png"),
        ("run.png", {"at": 3.0}, "at is 3 s; the recording is from 0 to 1 s"),
        ("run.mp4", {"at": 0.5}, "a video is of all that was recorded"),
        ("run.mp4", {"fps": 0}, "fps is 0"),
        ("run.png", {"size": (10, 10)}, "give width and height in pixels"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, path, options, words):
    with pytest.raises(RecordingError, match=words):
        make().render(tmp_path / path, **options)
    assert not list(tmp_path.iterdir())


def test_libraries_that_are_not_there_are_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(
        LinkworkError, match=r'render: pictures are drawn by pyvista; install it with pip install "linkwork\[pictures\]"'
    ):
        make().render(tmp_path / "run.png")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to write; give --video out.mp4"),
        (("--png", "a.jpg"), 'give a name that ends in .png'),
        (("--video", "a.png"), 'give a name that ends in .mp4'),
        (("--png", "a.png", "--size", "big"), '--size "big": give width and height in pixels'),
        (("--png", "a.png", "--at", "9"), "at is 9 s"),
        (("--video", "a.mp4", "--at", "0.1"), "give --png out.png too"),
    ],
)  # fmt: skip
def test_the_command_refuses_in_one_sentence(tmp_path, monkeypatch, capsys, arguments, words):
    from linkwork.cli import main

    monkeypatch.chdir(tmp_path)
    make().save(tmp_path / "recording.nc")
    for where in ("recording.nc", "."):
        with pytest.raises(SystemExit) as caught:
            main(["render", where, *arguments])
        out, err = capsys.readouterr()
        assert caught.value.code == 2 and out == "" and words in err and err.count("\n") == 1
    with pytest.raises(SystemExit) as caught:
        main(["render", "nowhere", "--png", "a.png"])
    assert caught.value.code == 2 and "there is no such folder or file" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["recording.nc"]
