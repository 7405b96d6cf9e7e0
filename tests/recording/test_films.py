"""Films and stills, by their pixels: a body is where it is recorded, in every frame. Where a machine cannot draw, nothing is
looked at here; test_render.py has the sentence that says so."""

import numpy as np
import pytest
from PIL import Image

from linkwork.elements import Box, Plane, Sphere
from linkwork.errors import LinkworkError
from linkwork.viz import offscreen
from linkwork.viz.offscreen import Picture
from tests.recording.made_up import make

FLOOR = ("floor", None, Plane(), (0, 0, -1.2), (1, 0, 0, 0))
RED = [("skin", "body0", Sphere(0.15), (0, 0, 0), (1, 0, 0, 0), (0.9, 0.1, 0.1, 1))]
SIZE = (320, 240)


def swinging(frames=11):
    return make(frames=frames, shapes=(None,), visuals=RED, colliders=[FLOOR])


@pytest.fixture(autouse=True, scope="module")
def can_draw():
    try:
        with Picture(swinging(2), (64, 48)) as picture:
            picture.at(0.0)
    except LinkworkError as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Textures of the ground that are drawn quickly."""
    monkeypatch.setattr(offscreen, "PIXELS", 256)
    monkeypatch.setattr(offscreen, "SHADOW", 256)


def red(picture):
    """(2,): the middle of what is red, column and row."""
    picture = np.asarray(picture, int)
    found = np.argwhere((picture[..., 0] > 1.6 * picture[..., 1]) & (picture[..., 0] > 90))
    assert len(found) > 50
    return found.mean(axis=0)[::-1]


def expected(picture, rec, frame):
    """(2,): where the body is in the picture, by the camera of the plotter: column and row."""
    renderer = picture.plotter.renderer
    renderer.SetWorldPoint(*rec.position[frame, 0], 1.0)
    renderer.WorldToDisplay()
    x, y, _ = renderer.GetDisplayPoint()
    width, height = picture.plotter.render_window.GetSize()
    return np.array([x * SIZE[0] / width, SIZE[1] - 1 - y * SIZE[1] / height])


def test_a_body_is_drawn_where_it_is_in_every_frame():
    rec = swinging()
    with Picture(rec, SIZE) as picture:
        order = [0, 3, 10, 5, 0, 7]
        for frame in order:  # back and forth
            found = red(picture.at(rec.time[frame]))
            assert np.linalg.norm(found - expected(picture, rec, frame)) < 4, frame
        spans = np.array([expected(picture, rec, frame) for frame in order])
    assert np.ptp(spans, axis=0).max() > 40  # that is, it moved


def test_the_same_moment_is_the_same_picture_and_another_is_not():
    rec = swinging()
    with Picture(rec, SIZE) as picture:
        first, later, again = (np.array(picture.at(t), int) for t in (0.0, 0.5, 0.0))
    assert np.array_equal(first, again) and np.abs(first - later).max() > 100


def test_a_shadow_goes_with_its_body(monkeypatch):
    rec = make(frames=11, shapes=(Box(0.3, 0.3, 0.3),), colliders=[FLOOR])

    def shadows():
        with Picture(rec, SIZE) as picture:
            return [np.array(picture.at(t), int) for t in (0.0, 0.5)]

    with_them = shadows()
    monkeypatch.setattr(offscreen, "DARK", 0.0)
    darker = [(bare - dark).max(axis=-1) for bare, dark in zip(shadows(), with_them, strict=True)]
    places = [np.argwhere(d > 15).mean(axis=0) for d in darker]
    assert np.linalg.norm(places[0] - places[1]) > 8


def test_a_still_is_of_its_moment(tmp_path):
    rec = swinging()
    with Picture(rec, SIZE) as picture:
        picture.at(0.0)
        for at, frame in ((0.0, 0), (0.5, 5), (None, -1)):
            rec.render(tmp_path / "still.png", at=at, size=SIZE)
            assert np.linalg.norm(red(Image.open(tmp_path / "still.png")) - expected(picture, rec, frame)) < 4


@pytest.mark.slow
def test_a_film_moves_as_was_recorded(tmp_path):
    reader = pytest.importorskip("imageio.v3")
    rec = swinging(21)
    rec.render(tmp_path / "run.mp4", fps=20, size=SIZE)
    film = list(reader.imiter(tmp_path / "run.mp4"))
    assert len(film) == 21
    with Picture(rec, SIZE) as picture:
        picture.at(0.0)
        wanted = np.array([expected(picture, rec, frame) for frame in range(21)])
    found = np.array([red(frame) for frame in film])
    assert np.linalg.norm(found - wanted, axis=1).max() < 5
    assert np.linalg.norm(np.diff(found, axis=0), axis=1).max() > 3
