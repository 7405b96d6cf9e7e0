"""Checkpoints: where a simulation is, as a file of plain arrays and JSON, from which it goes on with the same bits."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from linkwork.contact.contact_system import Memory
from linkwork.elements.constraints.ramped import Ramp
from linkwork.errors import FileError, LinkworkError, ModelError, NotFiniteError
from linkwork.model import states
from linkwork.model.held_samples import Samples
from linkwork.model.model import Arrangement, State
from linkwork.util import archives
from linkwork.util.atomic_io import whole

if TYPE_CHECKING:
    from numpy.lib.npyio import NpzFile

    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import AnyArray, FilePath, FloatArray


FORMAT = 3  # raised when an older linkwork could not read them


@dataclass(frozen=True)
class Checkpoint:
    """A state, the values of parameters at that moment, and facts (plain data) beside them."""

    state: State
    parameters: dict[str, float]  # name -> number
    notes: list[str]  # what was told until then, which is not told again
    facts: dict[str, Any]

    def put(self, sim: Simulation) -> None:
        """Bring a simulation of the same world to where it was: with the same solver, integrator and dt the next steps have the
        same bits, with others it is there to rounding. After an error the simulation is as it was.

        >>> import linkwork as lw, tempfile, pathlib
        >>> first, second = (lw.Simulation(lw.scenes.get("pendulum")) for _ in range(2))
        >>> first.step(100)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = save(first, pathlib.Path(folder) / "checkpoint.npz")
        ...     load(path).put(second)
        >>> first.step(100), second.step(100)
        (None, None)
        >>> bool(first.angle("pivot") == second.angle("pivot"))
        True
        """
        before, values = sim.state, {name: sim.get(name) for name in sim.model.parameters}
        try:
            sim.state = self.state
            for name, value in self.parameters.items():
                sim.set(name, value)
        except (LinkworkError, KeyError) as error:
            sim.state = before
            for name, value in values.items():
                sim.set(name, value)
            if isinstance(error, NotFiniteError):
                raise ModelError(f"checkpoint: {str(error).removeprefix('Simulation: ')}") from None
            raise ModelError(
                f"checkpoint: it is of another model ({error}); give the world and the options of the run"
            ) from None
        sim.notes[:] = self.notes


def save(sim: Simulation, path: FilePath, **facts: Any) -> Path:
    """Write a checkpoint (.npz), whole or not at all; returns the path. The world is not in it."""
    path = Path(path)
    state = sim.state
    if state.arrangement.own or sim._system.compiled_at:
        raise LinkworkError("checkpoint: the simulation was changed while it ran; pickle it instead, with its world")
    layout = state.layout
    assert layout is not None
    told = {
        "format": FORMAT,
        "time": state.time,
        "steps": int(state.steps),
        "age": int(state.age),
        "layout": states.plain(layout),
        "off": sorted(state.arrangement.off),
        "drawn": [[name, list(one.offset), one.since, one.lasts] for name, one in state.arrangement.drawn],
        "parameters": {name: sim.get(name) for name in sim.model.parameters},
        "notes": list(sim.notes),
        "facts": facts,
        "sensors": list(state.held or {}),
    }
    arrays: dict[str, Any] = {"values": state.values, "home": layout.home, "axes": layout.axes}
    if state.contact is not None:
        arrays |= {
            "margins": state.contact.margins,
            "labels": state.contact.labels,
            "impulses": state.contact.impulses,
        }
    for k, samples in enumerate((state.held or {}).values()):
        arrays |= {f"sampled{k}": samples.steps, f"samples{k}": samples.values}
    with whole(path) as beside:
        np.savez(beside, told=np.array(json.dumps(told)), **arrays)
    return path


def load(path: FilePath) -> Checkpoint:
    """The Checkpoint that a file holds."""
    try:
        path = Path(path)
    except TypeError:
        raise FileError(f"checkpoint: path is {path!r}; give that of a file") from None
    if not path.is_file():
        raise FileError(f"{path}: there is no such checkpoint; give the folder of a run that left one")
    try:
        with archives.opened(path) as data:
            return _read(data)
    except Exception as error:  # whatever a broken archive makes zipfile, zlib, numpy and json raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise FileError(f"{path}: it is no whole checkpoint ({reason}); begin the run anew") from None


def _read(data: NpzFile) -> Checkpoint:
    told = json.loads(str(_array(data, "told", None, ())), parse_constant=_no_number)
    if told["format"] != FORMAT:
        raise ValueError(f"this linkwork reads format {FORMAT}, the file has {told['format']}")
    contact = None
    if "labels" in data:
        labels = _array(data, "labels", np.int64, (None, 5))
        impulses = _array(data, "impulses", float, (len(labels), 9))
        contact = Memory(_array(data, "margins", float, (None,)), labels, impulses)
    drawn = [(_text(name), Ramp(tuple(map(_number, offset)), _number(since), _number(lasts)))
             for name, offset, since, lasts in told["drawn"]]  # fmt: skip
    arrangement = Arrangement(frozenset(map(_text, told["off"])), tuple(drawn))
    layout = _layout(told["layout"], _array(data, "home", float, (None, 3)), _array(data, "axes", float, (None, 4)))
    values = _array(data, "values", float, (layout.size,))
    counts = _number(told["time"]), _count(told["steps"]), _count(told["age"])
    state = State(values, *counts, layout, contact, arrangement, _held(data, told.get("sensors", [])))
    parameters = {_text(name): _number(value) for name, value in dict(told["parameters"]).items()}
    return Checkpoint(state, parameters, list(map(_text, told["notes"])), dict(told["facts"]))


def _held(data: NpzFile, names: list[Any]) -> dict[str, Samples] | None:
    """What sensors had sampled."""
    found = {}
    for k, name in enumerate(names):
        samples = Samples(_array(data, f"sampled{k}", np.int64, (None,)), _array(data, f"samples{k}", float, (None, None)))
        if not samples.fits(samples.values.shape[1]):
            raise ValueError(f"the samples of {name!r} do not fit together")
        found[_text(name)] = samples
    return found or None


def _layout(told: dict[str, Any], home: FloatArray, axes: FloatArray) -> states.Layout:
    """The layout that `states.plain` has described."""
    if told["format"] != states.FORMAT:
        raise ValueError(f"this linkwork reads states of format {states.FORMAT}, the file has {told['format']}")
    solver, integrator, dt = told["made with"]
    parts = tuple((_text(name), _count(size)) for name, size in told["parts"])
    commands = tuple((_text(name), _count(size)) for name, size in told["commands"])
    found = states.Layout(
        parts, _text(told["signature"]), (_text(solver), _text(integrator), _number(dt)), home, axes, commands
    )
    found.check()
    return found


def _array(data: NpzFile, name: str, kind: type | None, shape: tuple[int | None, ...]) -> AnyArray:
    """An array of the file, of this kind (None: text) and shape (None: any length)."""
    found = data[name]
    fits = (
        (found.dtype.kind == "U" if kind is None else found.dtype == kind)
        and found.ndim == len(shape)
        and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
    )
    if not fits:
        raise ValueError(f"{name} is {found.dtype} of shape {found.shape}")
    result: AnyArray = found
    return result


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"it says {text} where a number should be")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"it says {value!r} where a name should be")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"it says {value!r} where a number should be")
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
        raise ValueError(f"it says {value!r} where a count should be")
    return value
