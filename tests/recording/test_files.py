"""Saved and loaded again: the same bits, and never half a file."""

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements import Capsule, Mesh
from linkwork.recording.recording import FIELDS, Recording, RecordingError
from tests.recording.made_up import COLLIDERS, everything, make

ENDINGS = [".nc", ".npz"]


def assert_same(a, b):
    assert (a.bodies, a.joints) == (b.bodies, b.joints)
    assert (a.shapes, a.links, a.attributes, a.extra_units) == (b.shapes, b.links, b.attributes, b.extra_units)
    assert (a.colliders, a.visuals, a.frames) == (b.colliders, b.visuals, b.frames)
    np.testing.assert_array_equal(a.time, b.time, strict=True)
    for name in FIELDS:
        if getattr(a, name) is None:
            assert getattr(b, name) is None
        else:
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)
    assert list(a.extra) == list(b.extra)
    for name, value in a.extra.items():
        np.testing.assert_array_equal(value, b.extra[name], strict=True)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("build", [make, everything, lambda: make(frames=1), lambda: make(shapes=()), lambda: no_joints()])
def test_a_round_trip_keeps_every_bit(tmp_path, ending, build):
    rec = build()
    assert rec.save(tmp_path / f"run{ending}") == tmp_path / f"run{ending}"
    assert_same(rec, Recording.load(str(tmp_path / f"run{ending}")))
    assert [p.name for p in tmp_path.iterdir()] == [f"run{ending}"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_large_shape_is_saved_once_as_arrays(tmp_path, ending):
    grid = np.stack(np.meshgrid(np.arange(200.0), np.arange(200.0), [0.0]), axis=-1).reshape(-1, 3)
    cells = np.arange(199 * 200).reshape(199, 200)[:, :-1].reshape(-1, 1) + np.array([[0, 1, 200]])
    large = Mesh(grid, cells)
    same = Mesh(grid.copy(), cells.copy())
    seen = [(f"part{k}", f"body{k % 2}", (large, same)[k % 2], (k, 0, 0), (1, 0, 0, 0), None) for k in range(20)]
    rec = make(visuals=seen)
    path = rec.save(tmp_path / f"run{ending}")
    assert path.stat().st_size < 1.3 * (large.vertices.nbytes + large.triangles.nbytes)
    found = Recording.load(path)
    assert_same(rec, found)
    assert len({id(shape) for _, _, shape, *_ in found.visuals}) == 1


def no_joints():
    return make(joints=[], angle=np.zeros((6, 0)))


@pytest.mark.parametrize("ending", ENDINGS)
def test_many_bodies_and_lost_ones(tmp_path, ending):
    rec = make(frames=2, shapes=(Capsule(0.1, 0.2),) * 3000)  # half a megabyte of JSON
    rec.position[1, 7] = np.nan, np.inf, -np.inf
    rec.save(tmp_path / f"run{ending}")
    assert_same(rec, Recording.load(tmp_path / f"run{ending}"))


def test_numbers_of_numpy_in_attributes_become_plain(tmp_path):
    rec = make(attributes={"dt": np.float64(0.5), "n": np.int64(3), "limits": np.ones(2), "seed": 2**80})
    rec.save(tmp_path / "run.nc")
    assert Recording.load(tmp_path / "run.nc").attributes == {"dt": 0.5, "n": 3, "limits": [1.0, 1.0], "seed": 2**80}


def test_other_tools_can_read_the_netcdf(tmp_path):
    xarray = pytest.importorskip("xarray")
    rec = make()
    rec.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        assert data.position.sel(body="body1", axis="x").dims == ("time",)
        assert data.time.dtype == float and data.time.units == "s"
        assert json.loads(data.attrs["linkwork"])["shapes"]["body0"] == ["Box", {"x": 0.4, "y": 0.1, "z": 0.1}]


@pytest.mark.parametrize("name", ["run.csv", "run", "run.NC"])
def test_other_endings_are_refused(tmp_path, name):
    for call in (make().save, Recording.load):
        with pytest.raises(RecordingError, match=r"ends in neither \.nc nor \.npz; give one of these endings$"):
            call(tmp_path / name)
    with pytest.raises(RecordingError, match=r"neither \.gif nor \.png"):
        make().animate(tmp_path / name)
    with pytest.raises(RecordingError, match=r"neither \.png nor \.pdf nor \.svg"):
        make().plot(path=tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(lw.FileError, match=r"nowhere.* does not exist; make it first"):
        make().save(tmp_path / "nowhere" / "run.nc")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failing_save_leaves_the_old_file_and_nothing_else(tmp_path, ending, monkeypatch):
    path = tmp_path / f"run{ending}"
    old = make()
    old.save(path)

    def half(target, *_, **__):
        target.write_bytes(b"half a file")
        raise OSError("disk full")

    monkeypatch.setattr("numpy.savez", half)
    monkeypatch.setattr("xarray.Dataset.to_netcdf", lambda self, target, **_: half(target))
    with pytest.raises(OSError, match="disk full"):
        make(frames=9).save(path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert_same(old, Recording.load(path))


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_no_recording_is_refused_in_a_sentence(tmp_path, ending):
    path = tmp_path / f"run{ending}"
    with pytest.raises(FileNotFoundError, match="there is no file"):
        Recording.load(path)
    path.write_bytes(b"not a recording")
    with pytest.raises(RecordingError, match="is no whole recording"):
        Recording.load(path)
    make().save(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(RecordingError, match="is no whole recording"):
        Recording.load(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_of_the_first_format_are_read(tmp_path, ending, monkeypatch):
    """They had no visuals, and the numbers of every shape in the JSON."""
    rec = make(colliders=COLLIDERS)

    def described(self, shape):
        return None if shape is None else [type(shape).__name__, shape.given()]

    monkeypatch.setattr("linkwork.recording.files.FORMAT", 1)
    monkeypatch.setattr("linkwork.recording.files.Described.__call__", described)
    rec.save(tmp_path / f"run{ending}")
    monkeypatch.undo()
    assert_same(rec, Recording.load(tmp_path / f"run{ending}"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_newer_format_and_an_unknown_shape_are_refused(tmp_path, ending, monkeypatch):
    path = tmp_path / f"run{ending}"
    make(shapes=(Capsule(0.1, 0.2),)).save(path)
    with monkeypatch.context() as patched:
        patched.setattr("linkwork.recording.files.named", lambda name: None)  # a linkwork without capsules
        with pytest.raises(RecordingError, match='body "body0" has a Capsule, which this linkwork does not know'):
            Recording.load(path)
    monkeypatch.setattr("linkwork.recording.files.FORMAT", 3)
    make().save(path)
    monkeypatch.undo()
    with pytest.raises(RecordingError, match="reads formats 1 and 2, the file has 3"):
        Recording.load(path)
