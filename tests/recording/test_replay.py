"""Replay pages: one file without a network, in which every body is where the recording says."""

import base64
import re

import numpy as np
import pytest

from linkwork.elements import AffineBody, Ball, Box, Sphere
from linkwork.errors import LinkworkError
from linkwork.recording.recording import RecordingError
from linkwork.simulation.simulation import Simulation
from linkwork.viz import replay_page, views
from linkwork.viz import scene as staging
from linkwork.world import World
from tests.recording.made_up import EVERY_SHAPE, VISUALS, everything, make, replace


def contents(path):
    """What is serialised in a page: its messages (time, message) and its length in seconds; and the text of the page."""
    import msgspec
    import zstandard

    text = path.read_text(encoding="utf-8")
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', text).group(1))
    inner = zstandard.ZstdDecompressor().decompress(data[8:], max_output_size=int.from_bytes(data[:8], "little"))
    told = msgspec.msgpack.decode(inner[8 : 8 + int.from_bytes(inner[:8], "little")])
    return told, text


def test_a_page_is_one_file_without_a_network(tmp_path):
    path = make(frames=20).replay(tmp_path / "run.html")
    told, text = contents(path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]
    assert "<title>swing</title>" in text
    loaded = re.findall(r"""<(?:script|link|img|iframe)[^>]*?\b(?:src|href)\s*=\s*["']([^"']+)""", text)
    assert all(address.startswith("data:") for address in loaded)
    assert told["durationSeconds"] == pytest.approx(1.0)
    assert path.stat().st_size < 1_200_000


def test_poses_in_a_page_are_those_of_the_recording(tmp_path, monkeypatch):
    """What is told to the scene, frame by frame: the vertices of each body where the recording has them."""
    rec = make(frames=9, shapes=(Box(0.4, 0.1, 0.2), Sphere(0.1), None), visuals=VISUALS)
    stage = staging.Stage(rec)
    shown = []

    class Handle:
        def __setattr__(self, name, value):
            shown.append((name, value))
            object.__setattr__(self, name, value)

    class Scene:
        def add_batched_meshes_simple(self, name, vertices, triangles, *pose, **options):
            return Handle()

    solids = [s for s in stage.solids if s.body != staging.GROUND]
    for solid in solids:
        player = replay_page._Instances(Scene(), "solid", [solid])
        for frame in range(9):
            shown.clear()
            player.show(frame, *stage.pose(frame))
            told = dict(shown)
            R = views.rotations(told["batched_wxyzs"].astype(float))
            found = solid.surface.vertices @ R[0].T + told["batched_positions"][0]
            x, F = stage.pose(frame)
            np.testing.assert_allclose(found, solid.of_body() @ F[solid.body].T + x[solid.body], atol=2e-6)


def test_quaternions_are_the_way_back_of_rotations():
    random = np.random.default_rng(5)
    q = random.normal(size=(2000, 4)) * 10.0 ** random.uniform(-8, 0, size=(2000, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    found = replay_page.quaternions(views.rotations(q))
    np.testing.assert_allclose(np.abs(np.einsum("ni,ni->n", found, q)), 1, atol=1e-14)
    np.testing.assert_allclose(views.rotations(found), views.rotations(q), atol=1e-14)


def test_frames_are_thinned_so_that_a_page_stays_small(monkeypatch):
    rec = make(frames=5000)
    assert len(replay_page._frames(rec, 100)) == replay_page.MOST_FRAMES
    few = replay_page._frames(rec, replay_page.MOST_NUMBERS // 10)
    assert len(few) == 10 and few[0] == 0 and few[-1] == 4999
    assert replay_page._frames(make(frames=7), 1).tolist() == list(range(7))
    assert replay_page._frames(make(frames=1), 1).tolist() == [0]


def test_everything_has_a_page(tmp_path):
    everything().replay(tmp_path / "all.html")
    make(frames=1, shapes=()).replay(tmp_path / "none.html")
    rec = make(frames=8, shapes=EVERY_SHAPE)
    rec.position[3:, 1] = np.nan
    rec.position[5, 2] = 1e35
    rec.replay(tmp_path / "lost.html")
    names = {message["name"] for _, message in contents(tmp_path / "all.html")[0]["messages"] if "name" in message}
    for folder in ("/grid", "/links", "/bodies/", "/ground/", "/colliders/"):
        assert any(name.startswith(folder) for name in names), folder


def test_a_body_that_stretches_is_sent_by_its_vertices(tmp_path):
    world = World()
    jelly = world.add(AffineBody(mass=1.0, shape=Box(0.2, 0.2, 0.2), name="jelly"))
    world.add(Ball(world.ground, jelly, at=(0.1, 0.1, 0.1), name="nail"))
    rec = Simulation(world, dt=1e-3).run(0.05)
    told, _ = contents(rec.replay(tmp_path / "jelly.html"))
    updates = [m for _, m in told["messages"] if m["type"] == "SceneNodeUpdateMessage" and "vertices" in m["updates"]]
    assert len(updates) >= len(rec) - 1


def test_what_is_wrong_is_told(tmp_path, monkeypatch):
    with pytest.raises(RecordingError, match=r"replay: .* does not end in \.html; give that ending$"):
        make().replay(tmp_path / "run.htm")
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(
        LinkworkError, match=r'replay: pages are made by viser; install it with pip install "linkwork\[studio\]"'
    ):
        make().replay(tmp_path / "run.html")
    assert not list(tmp_path.iterdir())


def test_edges_are_sharp_and_round_things_smooth():
    box = staging.surfaces(Box(1, 2, 3), 24)[0]
    assert np.allclose(np.abs(box.normals).max(axis=1), 1)  # along an axis, at every vertex
    for ball in staging.surfaces(Sphere(0.5), 24):
        np.testing.assert_allclose(ball.normals, ball.vertices / 0.5, atol=0.06)
    dark, light = staging.surfaces(Sphere(0.5), 24)
    assert len(dark.triangles) == len(light.triangles)
    assert len(staging.surfaces(Sphere(0.5), 24, toned=False)) == 1


def test_surfaces_keep_what_they_enclose():
    random = np.random.default_rng(2)
    for shape in EVERY_SHAPE:
        whole = staging.surfaces(shape, 40, toned=False)[0]
        a, b, c = (whole.vertices[whole.triangles[:, k]] for k in range(3))
        volume = np.einsum("ti,ti->", a, np.cross(b, c)) / 6
        assert 0.97 * shape.volume < volume <= shape.volume * (1 + 1e-12)
        turned = np.einsum("ti,ti->t", np.cross(b - a, c - a), whole.normals[whole.triangles[:, 0]])
        assert np.all(turned > 0)  # normals point outwards
    order = random.permutation(len(whole.triangles))
    again = staging.smooth(whole.vertices, whole.triangles[order])
    assert len(again.vertices) == len(whole.vertices)


def test_what_stands_for_a_body():
    rec = make(shapes=(Box(0.1, 0.1, 0.1), Sphere(0.1), None))

    def names(rec, hidden=False):
        return {(s.name, s.body) for s in staging.Stage(rec).solids if s.hidden == hidden}

    assert {("body0", 0), ("body1", 1), ("body2", 2)} <= names(rec)  # the last one is a dot
    dressed = replace(rec, visuals=VISUALS, colliders=[("knob", "body0", Sphere(0.05), (0.1, 0, 0), (1, 0, 0, 0))])
    assert {("skin", 0), ("wing", 1), ("glass", 1), ("sky", staging.GROUND)} <= names(dressed)
    assert {("knob", 0), ("body0", 0), ("body1", 1)} <= names(dressed, hidden=True)
    assert not any(body == 2 for _, body in names(dressed))
