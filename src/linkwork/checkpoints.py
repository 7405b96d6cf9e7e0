"""Checkpoints: where a simulation is, as a file of plain arrays and JSON, from which it goes on with the same bits."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .contact.touching import Memory
from .errors import FileError, LinkworkError, ModelError
from .files import whole
from .model.types import Arrangement, State
from .symbolic.drawn import Draw

FORMAT = 2


@dataclass(frozen=True)
class Checkpoint:
    """A state, the values of parameters and the commands of motors at that moment, and facts (plain data) beside them."""

    state: State
    parameters: dict  # name -> number
    commands: dict  # name -> (n,)
    notes: list  # what was told until then, which is not told again
    facts: dict

    def put(self, sim):
        """Bring a simulation of the same world, made with the same options, to where it was.

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
        try:
            for name, value in self.parameters.items():
                sim.set(name, value)
            sim.control.take(self.commands)
            sim.state = self.state
        except (LinkworkError, KeyError) as error:
            raise ModelError(
                f"checkpoint: it is of another model ({error}); give the world and the options of the run"
            ) from None
        sim.notes[:] = self.notes


def save(sim, path, **facts):
    """Write a checkpoint (.npz), whole or not at all; returns the path. The world is not in it."""
    path = Path(path)
    state = sim.state
    if state.arrangement.own or sim._compiled_at:
        raise LinkworkError("checkpoint: the simulation was changed while it ran; pickle it instead, with its world")
    told = {
        "format": FORMAT,
        "time": state.time,
        "steps": int(state.steps),
        "age": int(state.age),
        "signature": state.signature,
        "off": sorted(state.arrangement.off),
        "drawn": [[name, list(one.offset), one.since, one.lasts] for name, one in state.arrangement.drawn],
        "parameters": {name: sim.get(name) for name in sim.model.parameters},
        "notes": list(sim.notes),
        "commands": list(sim.control),
        "facts": facts,
    }
    arrays = {f"command{k}": values for k, values in enumerate(sim.control.entries().values())}
    if state.contact is not None:
        arrays |= {
            "margins": state.contact.margins,
            "labels": state.contact.labels,
            "impulses": state.contact.impulses,
        }
    with whole(path) as beside:
        np.savez(beside, values=state.values, told=np.array(json.dumps(told)), **arrays)
    return path


def load(path):
    """The Checkpoint that a file holds."""
    path = Path(path)
    if not path.is_file():
        raise FileError(f"{path}: there is no such checkpoint; give the folder of a run that left one")
    try:
        with np.load(path, allow_pickle=False) as data:
            told = json.loads(str(data["told"]))
            if told["format"] != FORMAT:
                raise ValueError(f"this linkwork reads format {FORMAT}, the file has {told['format']}")
            contact = None
            if "labels" in data:
                labels = _array(data, "labels", np.int64, (None, 5))
                contact = Memory(
                    _array(data, "margins", float, (None,)), labels, _array(data, "impulses", float, (len(labels), 9))
                )
            drawn = tuple((name, Draw(tuple(offset), since, lasts)) for name, offset, since, lasts in told["drawn"])
            values, time = _array(data, "values", float, (None,)), float(told["time"])
            state = State(values, time, int(told["steps"]), int(told["age"]), str(told["signature"]), contact,
                          Arrangement(frozenset(told["off"]), drawn))  # fmt: skip
            commands = {name: _array(data, f"command{k}", float, (None,)) for k, name in enumerate(told["commands"])}
            return Checkpoint(state, told["parameters"], commands, told["notes"], told["facts"])
    except Exception as error:  # whatever a broken archive makes zipfile, zlib, numpy and json raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise FileError(f"{path}: it is no whole checkpoint ({reason}); begin the run anew") from None


def _array(data, name, kind, shape):
    """An array of the file, of this kind and shape (None: any length)."""
    found = data[name]
    fits = (
        found.dtype == kind
        and found.ndim == len(shape)
        and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
    )
    if not fits:
        raise ValueError(f"{name} is {found.dtype} of shape {found.shape}")
    return found
