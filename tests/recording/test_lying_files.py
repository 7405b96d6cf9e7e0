"""Files that are not what they say: refused in one sentence, before they take more memory than a file of their length can."""

import io
import json
import tracemalloc
import zipfile

import h5py
import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.recording.recording import Recording
from linkwork.simulation import checkpoints
from tests.recording.made_up import everything, make

MUCH = 5e7  # bytes of memory that no small file may take
HUGE = 150_000_000  # numbers that a small file claims to have


def refused(load, path):
    """The sentence with which a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(LinkworkError) as caught:
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MUCH and "\n" not in str(caught.value)
    return str(caught.value)


def npy(shape, data, kind="<f8"):
    """A .npy file whose header says what it likes."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def zipped(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, parts in members.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                for part in parts:
                    file.write(part)
    return path


LOADERS = {"recording": Recording.load, "checkpoint": checkpoints.load}


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_archives_that_declare_more_than_they_hold(tmp_path, load):
    zeros = [npy((HUGE // 40,), b"")] + [bytes(2**20)] * (HUGE // 40 * 8 // 2**20 + 1)
    bomb = zipped(tmp_path / "bomb.npz", {"time": zeros}, zipfile.ZIP_DEFLATED)
    assert "declares" in refused(load, bomb)
    assert "declares" in refused(load, zipped(tmp_path / "claim.npz", {"time": [npy((HUGE,), bytes(80))]}))
    assert "declares" in refused(load, zipped(tmp_path / "overflow.npz", {"time": [npy((2**40, 2**40), bytes(80))]}))
    assert "declares" in refused(load, zipped(tmp_path / "text.npz", {"told": [npy((), b"", f"<U{HUGE}")]}))
    assert "objects" in refused(load, zipped(tmp_path / "code.npz", {"facts": [npy((1,), bytes(8), "|O")]}))
    assert "records" in refused(
        load, zipped(tmp_path / "records.npz", {"time": [npy((1,), bytes(16), [("a", "<f8"), ("b", "<f8")])]})
    )
    many = zipped(tmp_path / "many.npz", {f"extra{k}": [npy((0,), b"")] for k in range(10_001)})
    assert "10001 arrays" in refused(load, many)


@pytest.mark.parametrize("what", ["claim", "packed", "link", "external", "virtual"])
def test_netcdf_that_declares_more_than_it_holds_or_lies_elsewhere(tmp_path, what):
    path = everything().save(tmp_path / "run.nc")
    (tmp_path / "secret").write_bytes(bytes(8000))
    with h5py.File(path, "a") as file:
        size = file["time"].shape
        del file["time"]
        if what == "claim":
            file.create_dataset("time", (HUGE,), float)
        elif what == "packed":
            file.create_dataset("time", (HUGE // 40,), float, chunks=(10_000,), compression="gzip", fillvalue=0.0)
        elif what == "link":
            file["time"] = h5py.ExternalLink("other.nc", "time")
        elif what == "external":
            file.create_dataset("time", size, float, external=[(str(tmp_path / "secret"), 0, 8000)])
        elif what == "virtual":
            layout = h5py.VirtualLayout(size, float)
            layout[:] = h5py.VirtualSource(str(path), "drift", size)
            file.create_virtual_dataset("time", layout)
    text = refused(Recording.load, path)
    assert "declares" in text if what in ("claim", "packed") else "another file" in text


def test_many_names_that_are_one_in_the_file_are_not_all_read(tmp_path):
    """References to one long text: each is a text of its own once it is read."""
    from linkwork.recording.files import _text_size

    class Names:
        ndim, size, name = 1, 10**9, "body"

        def __getitem__(self, part):
            return ["x" * 10_000] * 1000

    assert _text_size(Names(), 10**11) > 10**10


def changed(path, change):
    """A recording with its arrays and words changed."""
    with np.load(path) as data:
        arrays = dict(data)
    facts = json.loads(str(arrays.pop("facts")))
    change(facts, arrays)
    np.savez(path, facts=np.array(json.dumps(facts)), **arrays)


def put(name, index, value):
    return lambda facts, arrays: arrays[name].__setitem__(index, value)


LIES = {
    "a time that is none": put("time", 2, np.nan),
    "an endless time": put("time", -1, np.inf),
    "times that go back": put("time", 2, 0.0),
    "a time twice": lambda facts, arrays: arrays["time"].__setitem__(2, arrays["time"][1]),
    "times as text": lambda facts, arrays: arrays.update(time=arrays["time"].astype(str)),
    "complex numbers": lambda facts, arrays: arrays.update(position=arrays["position"] + 1j),
    "numbers as text": lambda facts, arrays: arrays.update(kinetic=np.full(arrays["kinetic"].shape, "much")),
    "one frame less": lambda facts, arrays: arrays.update(drift=arrays["drift"][1:]),
    "no time": lambda facts, arrays: arrays.pop("time"),
    "a body twice": lambda facts, arrays: facts.update(bodies=[facts["bodies"][0]] * len(facts["bodies"])),
    "a body without a name": lambda facts, arrays: facts["bodies"].__setitem__(0, None),
    "a body too many": lambda facts, arrays: facts["bodies"].append("more"),
    "bodies that are no list": lambda facts, arrays: facts.update(bodies=7),
    "joints by number": lambda facts, arrays: facts.update(joints=list(range(len(facts["joints"])))),
    "a link of nobody": lambda facts, arrays: facts["links"].append(["x", "nobody", [0, 0, 0], None, [0, 0, 0]]),
    "a link of less": lambda facts, arrays: facts["links"].append(["x", None]),
    "a shape of text": lambda facts, arrays: facts["shapes"].update(body0=["Box", {"x": "long", "y": 1, "z": 1}]),
    "a shape that is none": lambda facts, arrays: facts["shapes"].update(body0=["__class__", {}]),
    "shapes that are no table": lambda facts, arrays: facts.update(shapes=[1, 2]),
    "attributes that are no table": lambda facts, arrays: facts.update(attributes="x"),
    "no facts": lambda facts, arrays: facts.clear(),
    "a later format": lambda facts, arrays: facts.update(format=99),
    "counts below zero": put("contact_count", 0, -1),
    "counts too high": put("contact_count", 0, 10**12),
    "counts that are no whole numbers": lambda facts, arrays: arrays.update(contact_count=arrays["contact_count"] + 0.5),
    "a body that is not there": put("contact_bodies", (0, 1), 77),
    "a collider that is not there": put("contact_colliders", (0, 1), 77),
}


@pytest.fixture(scope="module")
def touched(tmp_path_factory):
    recording = lw.Simulation(lw.scenes.get("box-stack", n=2), dt=0.005).run(0.1, record_every=0.02)
    return recording.save(tmp_path_factory.mktemp("touched") / "run.npz").read_bytes()


@pytest.mark.parametrize("lie", LIES)
def test_what_does_not_agree_is_refused(tmp_path, touched, lie):
    path = tmp_path / "run.npz"
    if lie.startswith(("counts", "a body that is not", "a collider")):
        path.write_bytes(touched)
    else:
        everything().save(path)
    changed(path, lambda facts, arrays: None)
    Recording.load(path)
    changed(path, LIES[lie])
    refused(Recording.load, path)


@pytest.mark.parametrize(("ending", "count"), [(".npz", 200), (".nc", 60)])
def test_broken_files_end_in_a_sentence(tmp_path, ending, count):
    path = everything().save(tmp_path / f"run{ending}")
    data, random = path.read_bytes(), np.random.default_rng(5)
    kept = 0
    for _ in range(count):
        broken = bytearray(data[: random.integers(len(data))] if random.random() < 0.3 else data)
        for place in random.integers(max(len(broken), 1), size=random.integers(1, 12)):
            if broken:
                broken[place] = random.integers(256)
        path.write_bytes(bytes(broken))
        try:
            kept += isinstance(Recording.load(path), Recording)
        except LinkworkError as error:
            assert "\n" not in str(error)
    assert kept < count


def test_a_recording_that_begins_anew_is_not_saved(tmp_path):
    twice = make().joined(make())
    with pytest.raises(LinkworkError, match=r"^Recording: time goes from 1 s to 0 s in frame 6, and should increase"):
        twice.save(tmp_path / "run.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [None, [], 3, b"run.npz", "", "run.txt", "none.npz"])
def test_paths_that_are_none(path):
    with pytest.raises(LinkworkError):
        Recording.load(path)
