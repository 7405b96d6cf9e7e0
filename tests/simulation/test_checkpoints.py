"""Checkpoints: the same bits again, in another simulation of the same world; and nothing from files that are not whole."""

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FileError, LinkworkError, ModelError
from linkwork.simulation import checkpoints


def motor():
    world = lw.World()
    k = lw.Parameter(3.0, name="k")
    arm = world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.3), position=(1, 0, 0), name="arm"))
    world.add(lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    world.add(lw.Motor("axle", kind="velocity", kd=5.0, name="drive"))
    world.add(lw.JointSpring("axle", k, damping=0.1, name="spring"))
    return world


CASES = {
    "a motor": (motor, {}),
    "contact": (lambda: lw.scenes.get("box-stack", n=2), {"dt": 0.005}),
    "implicit": (lambda: lw.scenes.get("hanging-chain", n=3), {"dt": 0.01, "solver": "implicit"}),
    "joint coordinates": (motor, {"solver": "aba"}),
}


@pytest.mark.parametrize("case", CASES)
def test_it_goes_on_with_the_same_bits(tmp_path, case):
    build, options = CASES[case]
    first, second = (lw.Simulation(build(), **options) for _ in range(2))
    if case in ("a motor", "joint coordinates"):
        first.control["drive"] = 2.5
        first.set("k", 11.0)
    first.step(37)
    path = checkpoints.save(first, tmp_path / "checkpoint.npz", seconds=3.0)
    kept = checkpoints.load(path)
    assert kept.facts == {"seconds": 3.0}
    kept.put(second)
    assert second.time == first.time and second.steps == first.steps == 37
    for sim in (first, second):
        sim.step(83)
    assert first.state.values.tobytes() == second.state.values.tobytes() and first.time == second.time
    assert first.energy().total == second.energy().total


def test_what_is_switched_off_stays_off(tmp_path):
    first, second = (lw.Simulation(motor()) for _ in range(2))
    first.switch("spring", on=False)
    first.step(10)
    checkpoints.load(checkpoints.save(first, tmp_path / "c.npz")).put(second)
    assert second.off == ("spring",)


def test_files_that_are_not_whole_are_refused(tmp_path):
    path = tmp_path / "c.npz"
    with pytest.raises(FileError, match="there is no such checkpoint"):
        checkpoints.load(path)
    sim = lw.Simulation(motor())
    data = checkpoints.save(sim, path).read_bytes()
    random = np.random.default_rng(0)
    for _ in range(200):
        broken = bytearray(data[: random.integers(len(data))] if random.random() < 0.5 else data)
        for place in random.integers(max(len(broken), 1), size=8):
            if broken:
                broken[place] = random.integers(256)
        path.write_bytes(bytes(broken))
        try:
            checkpoints.load(path).put(lw.Simulation(motor()) if random.random() < 0.05 else sim)
        except LinkworkError as error:
            assert "\n" not in str(error)
    np.savez(path, told=np.array("{}"))
    with pytest.raises(FileError, match="it is no whole checkpoint"):
        checkpoints.load(path)
    np.savez(path, told=np.array([{"format": 1}], dtype=object))  # a pickle: never opened
    with pytest.raises(FileError, match="it is no whole checkpoint"):
        checkpoints.load(path)


def test_numbers_that_are_not_finite_are_refused_by_name(tmp_path):
    """The simulation that refuses them stays as it was."""
    sim, path = lw.Simulation(motor()), tmp_path / "c.npz"
    sim.set("k", 5.0)
    sim.step(10)
    before = sim.state.copy()
    state = before.copy()
    state.values[3 + 7] = np.nan
    checkpoints.save(sim, path)
    kept = checkpoints.load(path)
    with pytest.raises(ModelError, match=r'^checkpoint: velocity 1 of RigidBody "arm" is nan in the state; give'):
        checkpoints.Checkpoint(state, {"k": 7.0}, kept.notes, kept.facts).put(sim)
    with pytest.raises(ModelError, match="^checkpoint: .*nan"):
        checkpoints.Checkpoint(kept.state, {"k": np.nan}, kept.notes, kept.facts).put(sim)
    assert sim.get("k") == 5.0 and sim.state.values.tobytes() == before.values.tobytes()


def rewritten(path, change):
    """The same file with its arrays and its words changed."""
    with np.load(path) as data:
        arrays = dict(data)
    told = json.loads(str(arrays.pop("told")))
    change(told, arrays)
    np.savez(path, told=np.array(json.dumps(told)), **arrays)


LIES = {
    "format": lambda told, arrays: told.update(format=99),
    "no format": lambda told, arrays: told.pop("format"),
    "time": lambda told, arrays: told.update(time=float("nan")),
    "steps": lambda told, arrays: told.update(steps=-4),
    "steps in text": lambda told, arrays: told.update(steps="many"),
    "age": lambda told, arrays: told.update(age=1.5),
    "parameters": lambda told, arrays: told.update(parameters={"k": None}),
    "names": lambda told, arrays: told.update(off=[7]),
    "notes": lambda told, arrays: told.update(notes=[["x"]]),
    "state format": lambda told, arrays: told["layout"].update(format=99),
    "parts": lambda told, arrays: told["layout"]["parts"].append(["rigid", 13]),
    "huge parts": lambda told, arrays: told["layout"]["parts"].append(["warm", 2**50]),
    "commands": lambda told, arrays: told["layout"].update(commands=[]),
    "too few values": lambda told, arrays: arrays.update(values=arrays["values"][:-1]),
    "whole values": lambda told, arrays: arrays.update(values=arrays["values"].astype(int)),
    "axes": lambda told, arrays: arrays.update(axes=0 * arrays["axes"]),
    "home": lambda told, arrays: arrays.update(home=arrays["home"] + np.inf),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_does_not_agree_is_refused(tmp_path, lie):
    path = checkpoints.save(lw.Simulation(motor()), tmp_path / "c.npz")
    rewritten(path, lambda told, arrays: None)
    checkpoints.load(path)
    rewritten(path, LIES[lie])
    with pytest.raises(FileError, match=r"c.npz: it is no whole checkpoint \(") as caught:
        checkpoints.load(path)
    assert "\n" not in str(caught.value)


def test_contacts_that_are_not_there_are_not_remembered(tmp_path):
    build = lambda: lw.scenes.get("box-stack", n=2)  # noqa: E731
    sim, path = lw.Simulation(build(), dt=0.005), tmp_path / "c.npz"
    sim.step(20)
    checkpoints.save(sim, path)
    rewritten(path, lambda told, arrays: arrays.update(labels=arrays["labels"] + 1000))
    other = lw.Simulation(build(), dt=0.005)
    checkpoints.load(path).put(other)
    assert len(sim.state.contact) > 0 and len(other.state.contact) == 0
    other.step(5)
    rewritten(path, lambda told, arrays: arrays.update(impulses=arrays["impulses"] * np.nan))
    with pytest.raises(ModelError, match="^checkpoint: the state remembers a contact with the impulse nan"):
        checkpoints.load(path).put(other)


def test_another_model_is_refused(tmp_path):
    path = checkpoints.save(lw.Simulation(motor()), tmp_path / "c.npz")
    with pytest.raises(ModelError, match="checkpoint: it is of another model"):
        checkpoints.load(path).put(lw.Simulation(lw.scenes.get("pendulum")))
