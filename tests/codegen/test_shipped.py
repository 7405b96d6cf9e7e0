"""Bitcode that a wheel brings: it becomes machine code here, or counts for nothing."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linkwork.codegen import jit, store

if jit.INTERPRETED:
    pytest.skip("nothing is compiled", allow_module_level=True)

from linkwork.codegen import drivers, native

ROOT = Path(__file__).resolve().parents[2]
X = np.random.default_rng(5).normal(size=50)
NEW_ENGINE = native._engine.__wrapped__
ENGINES: list[object] = []  # live as long as what is loaded into them


def make():
    @jit.jit_inner
    def smoothed(x, k):
        return (x[k - 1] + 2.0 * x[k] + x[k + 1]) / 3.0

    @jit.jit
    def ways(x):
        out = np.zeros_like(x)
        for k in range(1, len(x) - 1):
            out[k] = smoothed(x, k) * np.exp(x[k]) + np.sqrt(abs(x[k]))
        return out, np.sum(out)

    return ways


def found(monkeypatch, folder):
    """(bytes of results, drivers by where they were found), as in a process of its own with an empty cache."""
    engine = NEW_ENGINE()
    ENGINES.append(engine)
    monkeypatch.setattr(native, "_engine", lambda: engine)
    monkeypatch.setattr(drivers, "_LOADED", {})
    monkeypatch.setenv("LINKWORK_CACHE", str(folder))
    store.cache_folder.cache_clear()
    drivers.FOUND.clear()
    out, total = make()(X)
    return out.tobytes() + np.float64(total).tobytes(), +drivers.FOUND


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """(where the bitcode of `ways` is, what it finds with its own compiler)."""
    place = tmp_path / "shipped"
    place.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(drivers, "SHIP", lambda name, content: (place / name).write_bytes(content))
        found(patch, tmp_path / "maker")
    own, where = found(monkeypatch, tmp_path / "without")
    assert where == {"compiled": 1}
    monkeypatch.setattr(drivers, "SHIPPED", place)
    monkeypatch.setattr(store, "_TOLD", set())
    (file,) = place.iterdir()
    yield file, own
    monkeypatch.undo()
    store.cache_folder.cache_clear()


def test_the_bits_are_the_same_and_machine_code_is_kept(wheel, monkeypatch, tmp_path):
    assert found(monkeypatch, tmp_path / "user") == (wheel[1], {"shipped": 1})
    assert found(monkeypatch, tmp_path / "user") == (wheel[1], {"kept": 1})


@pytest.mark.parametrize("at", [0, 40, 0.5, -1])
def test_a_wrong_bit_counts_for_nothing(wheel, monkeypatch, tmp_path, at):
    file, own = wheel
    content = bytearray(file.read_bytes())
    content[int(at * len(content)) if isinstance(at, float) else at] ^= 4
    file.write_bytes(content)
    assert found(monkeypatch, tmp_path / "user") == (own, {"compiled": 1})


@pytest.mark.parametrize("what", ["VERSIONS", "sources"])
def test_other_versions_and_sources_are_compiled(wheel, monkeypatch, tmp_path, what):
    if what == "VERSIONS":
        monkeypatch.setattr(drivers, "VERSIONS", ("0.0", *drivers.VERSIONS[1:]))
    else:
        monkeypatch.setattr(drivers, "driver_sources", lambda module: "0" * 20)
    assert found(monkeypatch, tmp_path / "user") == (wheel[1], {"compiled": 1})


def test_what_others_may_change_is_not_run(wheel, monkeypatch, tmp_path, capsys):
    file, own = wheel
    file.chmod(0o666)
    assert found(monkeypatch, tmp_path / "user") == (own, {"compiled": 1})
    assert f'"{file}" belongs to another user or can be changed by one' in capsys.readouterr().err
    file.chmod(0o644)
    mine = os.stat(store.__file__)
    assert store._as_sources(mine, Path(store.__file__).parent)
    other = os.stat_result((mine.st_mode, 0, 0, 1, mine.st_uid + 1, 0, 0, 0, 0, 0))
    assert not store._as_sources(other, Path(store.__file__).parent)


SCRIPT = """
import linkwork as lw
from linkwork.codegen import drivers
sim = lw.Simulation(lw.scenes.get("double-pendulum"))
sim.run(0.05)
print(sim.state.values.tobytes().hex(), *sorted((+drivers.FOUND).items()))
"""


@pytest.mark.slow
def test_an_installed_wheel_compiles_nothing(tmp_path):
    """With the libraries of this Python, and linkwork from the wheel alone."""
    environment = {**os.environ, "LINKWORK_BITCODE": "double-pendulum tree/rattle", "PYTHONPATH": ""}
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "wheel", ROOT]
    subprocess.run(build, env=environment, check=True, capture_output=True)
    (wheel,) = (tmp_path / "wheel").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", tmp_path / "site", wheel], check=True, capture_output=True)
    told = []
    for place in (tmp_path / "site", ROOT / "src"):
        environment |= {"PYTHONPATH": str(place), "LINKWORK_CACHE": str(tmp_path / place.name)}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.split(" ", 1))
    (bits, ways), (same, otherwise) = told
    assert bits == same and "compiled" not in ways and "shipped" in ways and "shipped" not in otherwise
