"""Recordings in files: NetCDF and NumPy's own; what is no array is JSON, and shapes made of arrays are kept once each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core.outside import named
from linkwork.elements.core.shape import OfArrays, Shape
from linkwork.recording.fields import CONTACT_FIELDS, FIELDS, RecordingError, contact_records, fields_of
from linkwork.util import archives

if TYPE_CHECKING:
    from pathlib import Path

    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import AnyArray


FORMAT = 2  # of saved files: raised when an older linkwork could not read them
READ = (1, 2)  # formats that this one reads
TEXTS = 1000  # names that are read at a time
_SOLID = re.compile(r"solid\d+_\w+")  # arrays of a shape


class NewerError(RecordingError):
    """A file that a newer linkwork has written."""


class Described:
    """[kind, sizes] of shapes; of those that are made of arrays [kind, a name], and each once."""

    def __init__(self) -> None:
        self.arrays: dict[str, AnyArray] = {}
        self.named: dict[Shape, str] = {}
        self.known: dict[int, list[Any]] = {}

    def __call__(self, shape: Shape | None) -> list[Any] | None:
        if shape is None:
            return None
        if not isinstance(shape, OfArrays):
            return [shape.family.__name__, shape.given()]
        if id(shape) not in self.known:  # comparing large ones takes time
            self.known[id(shape)] = self._described(shape)
        return self.known[id(shape)]

    def _described(self, shape: Shape) -> list[Any]:
        if shape not in self.named:
            name = self.named[shape] = f"solid{len(self.named)}"
            self.arrays |= {f"{name}_{f.name}": getattr(shape, f.name) for f in fields(shape.family) if f.init}
        return [shape.family.__name__, self.named[shape]]


def facts_of(rec: Recording, **more: Any) -> tuple[str, dict[str, AnyArray]]:
    """What is no array, as JSON; and the arrays that shapes are made of, by the names that it has for them."""
    known = Described()
    facts = {
        "format": FORMAT,
        "shapes": {name: known(shape) for name, shape in rec.shapes.items()},
        "links": rec.links,
        "colliders": [(name, body, known(shape), *pose) for name, body, shape, *pose in rec.colliders],
        "visuals": [(name, body, known(shape), *pose) for name, body, shape, *pose in rec.visuals],
        "frames": rec.frames,
        "sensors": rec.sensors,
        "attributes": rec.attributes,
    }
    text = json.dumps(facts | more, default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value))
    return text, known.arrays


def write_npz(rec: Recording, path: Path) -> None:
    """All of a recording in one archive of arrays."""
    arrays = fields_of(rec) | {f"extra{i}": value for i, value in enumerate(rec.extra.values())}
    extra = [(name, rec.extra_units[name]) for name in rec.extra]
    facts, solids = facts_of(rec, bodies=rec.bodies, joints=rec.joints, extra=extra)
    arrays |= solids
    if rec.touching is not None:
        touching = rec.touching.columns() | {"count": rec.touching.count, "names": np.array(rec.touching.names, str)}
        arrays |= {f"contact_{name}": value for name, value in touching.items()}
    np.savez(path, time=rec.time, facts=np.array(facts), **arrays)


def read_netcdf(path: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, AnyArray]]:
    import xarray

    _check_netcdf(path)
    with xarray.open_dataset(path, engine="h5netcdf", decode_times=False) as data:
        facts = _parse(data.attrs.get("linkwork"))
        fields: dict[str, Any] = {name: data[name].values for name in FIELDS if name in data}
        fields |= {
            "time": data["time"].values,
            "bodies": data["body"].values.tolist(),
            "joints": data["joint"].values.tolist(),
        }
        if "contact_count" in data:
            columns = {name: data[f"contact_{name}"].values for name in _contact_columns(data)}
            fields["touching"] = contact_records(data["collider"].values.tolist(), columns)
        extras = [v for v in data.data_vars.values() if "extra" in v.attrs]
        fields["extra"] = {v.attrs["extra"]: (v.values, v.attrs["units"]) for v in extras}
        arrays = {str(n): v.values for n, v in data.data_vars.items() if _SOLID.fullmatch(str(n)) and "extra" not in v.attrs}
    return facts, fields, arrays


def read_npz(path: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, AnyArray]]:
    with archives.opened(path) as data:
        facts = _parse(str(data["facts"]) if "facts" in data else None)
        fields: dict[str, Any] = {name: data[name] for name in ("time", *FIELDS) if name in data}
        if "contact_count" in data:
            columns = {name: data[f"contact_{name}"] for name in _contact_columns(data)}
            fields["touching"] = contact_records(data["contact_names"].tolist(), columns)
        fields["extra"] = {name: (data[f"extra{i}"], unit) for i, (name, unit) in enumerate(facts["extra"])}
        arrays = {name: data[name] for name in data.files if _SOLID.fullmatch(name)}
    return facts, fields | {"bodies": facts["bodies"], "joints": facts["joints"]}, arrays


def _contact_columns(data: Any) -> list[str]:
    """Names of the contact fields of a file; all but torques must be there."""
    return [name for name in ("count", *CONTACT_FIELDS) if name != "torque" or "contact_torque" in data]


def _check_netcdf(path: Path) -> None:
    """ValueError where the file declares more than it can hold, or speaks of other files."""
    import h5py

    left = archives.most(path)
    with h5py.File(path) as file:
        if len(file) > archives.PARTS:
            raise ValueError(f"it declares {len(file)} arrays")
        for name in file:
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                raise ValueError(f"{name} lies in another file")
            found = file[name]
            if not isinstance(found, h5py.Dataset):
                continue
            if found.external or found.is_virtual:
                raise ValueError(f"{name} lies in another file")
            left -= found.size * found.dtype.itemsize if found.dtype != object else _text_size(found, left)
            if left < 0:
                raise ValueError(f"{name} declares more than {path.stat().st_size} bytes can hold")


def _text_size(dataset: Any, most: int) -> int:
    """The bytes that a list of texts takes, read in pieces until they are more than `most`: many may be one in the file."""
    if dataset.ndim != 1:
        raise ValueError(f"{dataset.name} is no list of names")
    taken = 16 * dataset.size
    for k in range(0, dataset.size, TEXTS):
        if taken > most:
            break
        taken += sum(map(len, dataset[k : k + TEXTS]))
    found: int = taken
    return found


def _parse(text: Any) -> dict[str, Any]:
    facts = json.loads(text) if text else {}
    if not isinstance(facts, dict):
        raise ValueError("it does not say what it holds")
    if facts.get("format") not in READ:
        known = " and ".join(map(str, READ))
        raise ValueError(f"this linkwork reads formats {known}, the file has {facts.get('format', 'none')}")
    return facts


def shape_of(who: str, given: Any, arrays: Mapping[str, AnyArray], known: dict[Any, Shape]) -> Shape | None:
    """The shape that [kind, sizes] or [kind, a name of arrays] describes; `known`: those that were made already."""
    if given is None:
        return None
    key = json.dumps(given)
    if key not in known:
        kind = named(given[0])
        if not (isinstance(kind, type) and issubclass(kind, Shape)):
            raise NewerError(f"load: {who} has a {given[0]}, which this linkwork does not know; use a newer one")
        sizes = given[1]
        if isinstance(sizes, str):
            sizes = {name.partition("_")[2]: value for name, value in arrays.items() if name.partition("_")[0] == sizes}
        known[key] = kind(**sizes)
    return known[key]
