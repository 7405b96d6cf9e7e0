"""Plots and animations: files of the right kind, views that fit the motion, meshes that are closed."""

import doctest
import math
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from linkwork.elements import Box, Capsule, ConvexHull, Cylinder, Mesh, Plane, Sphere
from linkwork.recording import recording
from linkwork.recording.recording import Recording, RecordingError
from linkwork.viz import facets, views
from linkwork.viz import ground as surroundings
from linkwork.viz import plot as drawing
from tests.recording.made_up import COLLIDERS, EVERY_SHAPE, everything, make, replace, turning

TILTED = np.array([1.0, 2, 2]) / 3


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")


HULL = ConvexHull(np.random.default_rng(1).normal(size=(15, 3)))


def volume(mesh):
    quads = mesh.vertices[mesh.faces]
    halves = (quads[:, (0, 1, 2)], quads[:, (0, 2, 3)])
    return sum(np.einsum("mi,mi->", h[:, 0], np.cross(h[:, 1], h[:, 2])) / 6 for h in halves)


@pytest.mark.parametrize("shape", [*EVERY_SHAPE, Capsule(0.05, 0.3), HULL], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("detail", [8, 12, 24])
def test_a_mesh_is_closed_and_as_large_as_its_shape(shape, detail):
    mesh = facets.mesh(shape, detail)
    triangles = (np.sort(mesh.faces)[:, 1:] == np.sort(mesh.faces)[:, :-1]).any(axis=1)
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.faces) == 2  # Euler
    assert 2 * len(mesh.edges) == 4 * len(mesh.faces) - triangles.sum()
    assert 0.7 * shape.volume < volume(mesh) <= shape.volume * (1 + 1e-12)
    assert np.all(np.ptp(mesh.vertices, axis=0) > 0)


def test_a_finer_mesh_comes_nearer():
    for shape in EVERY_SHAPE[1:]:
        gaps = [shape.volume - volume(facets.mesh(shape, detail)) for detail in (8, 16, 32)]
        assert gaps[0] > 3 * gaps[1] > 9 * gaps[2] > 0


def test_rotations_turn_as_the_conventions_say():
    np.testing.assert_allclose(views.rotations(turning((0, 1, 0), np.array(np.pi / 2))) @ (0, 0, 1), (1, 0, 0), atol=1e-15)


@pytest.mark.parametrize("axis, towards", [((0.0, 1, 0), (0, -1, 0)), ((0.0, 0, 1), (0, 0, 1)), (TILTED, -TILTED)])
def test_a_planar_motion_is_seen_straight_on(axis, towards):
    rec = make(frames=20, axis=axis)
    position = rec.position - np.multiply.outer(rec.position @ axis, axis)  # into the plane, for the tilted one
    view, flat = views.choose_view(position, views.rotations(rec.orientation))
    assert flat
    np.testing.assert_allclose(np.abs(view[2] @ towards), 1, atol=1e-6)
    np.testing.assert_allclose(view @ view.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(view) > 0


def test_a_motion_in_space_is_seen_from_above():
    rec = make(frames=20)
    spinning = views.rotations(turning((1, 0, 0), 3 * rec.time[:, None] * np.ones(2)))
    leaving = rec.position + np.multiply.outer(rec.time, np.ones((2, 1)) * (0, 0.3, 0))
    side_by_side = rec.position + np.array([[0, 0, 0], [0, 9, 0]])
    for position, frame in (
        (rec.position, spinning),
        (leaving, views.rotations(rec.orientation)),
        (side_by_side, views.rotations(rec.orientation)),
    ):
        view, flat = views.choose_view(position, frame)
        assert not flat and view[2, 2] > 0.2 and view[1, 2] > 0.8
        np.testing.assert_allclose(view @ view.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("axis", [(0.0, 1, 0), TILTED])
def test_a_gif_has_the_pace_of_the_run(tmp_path, axis):
    path = make(frames=101, axis=axis).animate(tmp_path / "run.gif", fps=30, size=(160, 120), trace="body1")
    with Image.open(path) as gif:
        assert gif.size == (160, 120) and gif.n_frames == 31
        spent = []
        for k in range(gif.n_frames):
            gif.seek(k)
            spent.append(gif.info["duration"])
    assert sum(spent) == 1030 and set(spent) == {30, 40}  # ms: 31 pictures at a thirtieth of a second each
    assert [p.name for p in tmp_path.iterdir()] == ["run.gif"]


def test_a_sparse_recording_holds_its_pictures(tmp_path):
    with Image.open(make(frames=3).animate(tmp_path / "run.gif", fps=20, size=(96, 64))) as gif:
        assert gif.n_frames == 3


def test_bodies_are_where_they_should_be():
    rec = make(frames=2, shapes=(EVERY_SHAPE[0],), orientation=np.tile([1.0, 0, 0, 0], (2, 1, 1)), links=[])
    rec = replace(rec, position=np.array([[[0.0, 0, 0]], [[2.0, 0, 0]]]))
    first, last = (np.asarray(drawing.Scene(rec, [0, 1], (300, 200)).draw([k])).astype(int) for k in (0, 1))
    columns = np.nonzero(np.abs(first - last).sum(axis=2)[40:].max(axis=0) > 60)[0]  # below the clock
    half = columns < 150
    assert half.any() and (~half).any()
    assert abs((columns[half].mean() + columns[~half].mean()) / 2 - 150) < 2  # one left, one right of the middle


@pytest.mark.parametrize("build", [everything, lambda: make(frames=1), lambda: make(shapes=()), lambda: make(links=[])])
def test_every_recording_can_be_drawn(tmp_path, build):
    rec = build()
    for ending in ("gif", "png"):
        path = rec.animate(tmp_path / f"run.{ending}", size=(120, 90), trace=rec.bodies[:1])
        with Image.open(path) as image:
            assert image.size == (120, 90)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_a_body_that_flew_away_does_not_spoil_the_picture(tmp_path, value):
    rec = make()
    rec.position[-1, 0] = value
    rec.velocity[-1, 0] = value
    rec.drift[-1] = np.nan
    rec.animate(tmp_path / "run.gif", size=(120, 90), trace="body0")
    rec.plot(path=tmp_path / "run.png")


@pytest.mark.parametrize(
    "options, sentence", [({"fps": 0}, "fps is 0"), ({"fps": 60}, "fps is 60"), ({"size": (9, 9)}, "size is")]
)
def test_settings_out_of_bounds_are_refused(tmp_path, options, sentence):
    with pytest.raises(RecordingError, match=sentence):
        make().animate(tmp_path / "run.gif", **options)


def test_plots_show_what_they_say(tmp_path):
    rec = make()
    figure = rec.plot("body1", path=tmp_path / "body.pdf")
    assert [a.get_ylabel() for a in figure.axes] == ["position, m", "velocity, m/s", "angular velocity, rad/s"]
    np.testing.assert_array_equal(figure.axes[0].lines[2].get_ydata(), rec.position[:, 1, 2])
    figure = rec.plot(path=tmp_path / "run.svg")
    energy, error, drift, joints = figure.axes
    assert [line.get_label() for line in energy.lines] == ["kinetic", "potential", "total"]
    np.testing.assert_allclose(error.lines[0].get_ydata(), 0, atol=1e-15)
    assert drift.get_yscale() == "log" and np.isnan(drift.lines[0].get_ydata()[0])  # the zero
    assert len(joints.lines) == 2
    assert {p.name for p in tmp_path.iterdir()} == {"body.pdf", "run.svg"}


def test_plots_without_drift_or_joints(tmp_path):
    figure = make(drift=np.zeros(6), joints=[], angle=np.zeros((6, 0))).plot(path=tmp_path / "run.png")
    assert len(figure.axes) == 3 and figure.axes[2].get_yscale() == "linear"


def test_a_plot_without_a_path_is_for_pyplot():
    from matplotlib import pyplot

    figure = make().plot()
    assert pyplot.gcf() is figure
    pyplot.close(figure)


def test_no_progress_bar_for_quick_work(capsys, monkeypatch):
    monkeypatch.setattr(drawing, "SLOW", math.inf)
    assert list(drawing.slow([1, 2, 3], "drawing")) == [1, 2, 3]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(drawing, "SLOW", -1.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert list(drawing.slow([1, 2, 3], "drawing")) == [1, 2, 3]
    assert "drawing" in capsys.readouterr().err


def test_a_frame_is_as_few_collections_with_many_bodies_as_with_few(tmp_path, monkeypatch):
    """What a frame costs is what matplotlib is asked to draw: the bodies of a frame are one collection."""
    from matplotlib.axes import Axes

    asked, add = [], Axes.add_collection
    monkeypatch.setattr(Axes, "add_collection", lambda self, what, **k: asked.append(type(what)) or add(self, what, **k))
    found = []
    for bodies in (3, 30):
        asked.clear()
        make(frames=4, shapes=(Capsule(0.05, 0.3),) * bodies, axis=TILTED).animate(tmp_path / "run.gif", fps=4)
        found.append(Counter(asked))
    assert found[0] == found[1] and 0 < found[0].total() < 40


def test_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rec = replace(make(frames=101, shapes=(None,)), bodies=["rod"], joints=["axle"], links=[], time=np.linspace(0, 2, 101))
    rec.position[0] = 1, 0, 0
    result = doctest.testmod(recording, extraglobs={"rec": rec, "Recording": Recording})
    assert result.attempted > 0 and result.failed == 0


def looked_at(rec, **options):
    scene = drawing.Scene(rec, range(len(rec)), (300, 200), **options)
    return np.asarray(scene.draw([0])).astype(int)


def free(**changes):
    """One ball that moves in space, nothing else."""
    rec = make(frames=4, shapes=(Sphere(0.2),), links=[], joints=[], angle=np.zeros((4, 0)), **changes)
    return replace(rec, position=rec.time[:, None, None] * (0.4, 0.02, 0.3) + np.array([0, 0, 0.5]))


def test_colliders_of_bodies_and_of_the_ground_are_drawn():
    bare = looked_at(free())
    for name, body, shape, _, q in COLLIDERS:
        rec = free(colliders=[(name, body and "body0", shape, (0.2, 0.2, 0.2), q)])
        assert np.abs(looked_at(rec) - bare).max() > 20, name


def test_a_wall_hides_what_is_behind_it_and_nothing_else():
    """The eye looks along -y, from a little above."""
    ball = {}
    for side in (-1.0, 1.0):
        wall = ("wall", None, Box(4, 0.1, 4), (0, 0.3 * side, 0.5), (1, 0, 0, 0))
        picture = looked_at(free(colliders=[wall]))
        blue = picture[..., 2] - picture[..., 0]  # of all that is here, the ball alone is blue
        ball[side] = int((blue > 25).sum())
    assert ball[-1.0] == 0 < 100 < ball[1.0], ball


def test_a_body_in_front_of_a_solid_is_hidden_by_none_of_its_points():
    """Rays from points of random balls to the eye, through random solids of the ground, by their planes."""
    rng, cases = np.random.default_rng(5), {True: 0, False: 0}
    for _ in range(300):
        towards = rng.normal(size=3)
        towards /= np.linalg.norm(towards)
        shape = (Box(*rng.uniform(0.2, 1.5, 3)), Cylinder(*rng.uniform(0.2, 1.0, 2)), HULL)[rng.integers(3)]
        q = rng.normal(size=4)
        solid = ("solid", None, shape, rng.normal(size=3), q / np.linalg.norm(q))
        far = np.full(3, 50.0)
        (thing,) = surroundings.standing([solid], views.rotations, towards, -far, far)
        other = facets.mesh(shape, 4 if isinstance(shape, Box) else 24)
        corners = facets.moved(other, views.rotations(solid[4]), solid[3]).vertices[other.faces]
        planes = facets.normals(corners)
        offsets = np.einsum("mi,mi->m", planes, corners[:, 0])
        points = rng.normal(size=3) * 1.5 + 0.2 * rng.normal(size=(40, 3))
        front = bool(thing.in_front(points, [0], 0.0)[0])
        ahead, rate = offsets - points @ planes.T, planes @ towards  # a ray is inside where rate t <= ahead
        t = ahead / np.where(np.abs(rate) < 1e-12, 1e-12, rate)
        enter, leave = np.where(rate < 0, t, -np.inf).max(axis=1), np.where(rate >= 0, t, np.inf).min(axis=1)
        hits = (np.maximum(enter, 0.0) < leave - 1e-9).any()
        assert not (front and hits)
        cases[bool(hits)] += 1
    assert min(cases.values()) > 30, cases


def test_what_is_cut_stays_in_the_picture():
    low, high = np.array([-1.2, -1.1, -0.9]), np.array([1.2, 1.3, 0.3])
    things = surroundings.standing(COLLIDERS, views.rotations, np.array([0.0, -0.6, 0.8]), low, high)
    assert [thing.sort for thing in things] == sorted(thing.sort for thing in things) and len(things) >= 4
    for thing in things:
        for part in (*thing.facets, *thing.edges):
            assert (part >= low - 1e-12).all() and (part <= high + 1e-12).all()


def test_the_floor_is_where_the_plane_is():
    assert surroundings.floor_height(COLLIDERS) == -1.0 and surroundings.floor_height(COLLIDERS[1:]) is None
    rec = free(colliders=[("floor", None, Plane(), (0, 0, -0.2), (1, 0, 0, 0))])
    assert drawing.Scene(rec, range(4), (300, 200)).low[2] == -0.2


def test_visuals_are_drawn_in_their_colours_in_the_place_of_shapes(tmp_path):
    corners = 0.2 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    block = Mesh(corners, ConvexHull(corners).triangles)
    seen = [("skin", "body0", block, (0, 0, 0), (1, 0, 0, 0), (0.9, 0.05, 0.05, 1))]
    leaf = [
        ("leaf", "body0", Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), (0, 0, 0), (1, 0, 0, 0), (0.9, 0.05, 0.05, 1))
    ]
    red = {}
    for name, visuals in {"without": [], "with": seen, "flat": leaf}.items():  # a flat one cannot be painted
        path = make(frames=2, shapes=(Sphere(0.05),), visuals=visuals).animate(tmp_path / f"{name}.png", size=(160, 120))
        picture = np.asarray(Image.open(path).convert("RGB"), int)
        red[name] = int(((picture[..., 0] > 2 * picture[..., 1]) & (picture[..., 0] > 90)).sum())
    assert red["with"] > 200 and red["without"] == red["flat"] == 0
