"""A recording as other tools want it: an xarray Dataset, figures by matplotlib. Both are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import printable
from linkwork.recording.fields import CONTACT_FIELDS, COORDINATES, FIELDS, fields_of
from linkwork.recording.files import facts_of
from linkwork.recording.frames import TRACKS, frame_record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset

    from linkwork.recording.fields import BodyRecord
    from linkwork.recording.recording import Recording
    from linkwork.util.array_types import FloatArray


def dataset(rec: Recording) -> Dataset:
    """The frames of a recording as an xarray Dataset."""
    import xarray

    values = {"time": rec.time, "axis": list("xyz"), "quaternion": list("wxyz"), "local_axis": list("xyz")}
    values |= {"body": np.array(rec.bodies, str), "joint": np.array(rec.joints, str)}
    fields = fields_of(rec)
    if rec.frame is None:
        del values["local_axis"]
    coordinates = {name: (name, value, _says(*COORDINATES[name])) for name, value in values.items()}
    variables = {name: (FIELDS[name][0], value, _says(*FIELDS[name][1:])) for name, value in fields.items()}
    if rec.frames:
        records = [frame_record(rec, name) for name, *_ in rec.frames]
        coordinates["frame_name"] = ("frame_name", np.array([r.name for r in records], str), _says(*COORDINATES["frame_name"]))
        for name, track in TRACKS.items():
            tracks = np.stack([getattr(record, track.field) for record in records], axis=1)
            variables[name] = (track.dimensions, tracks, _says(track.unit, track.text))
    facts, arrays = facts_of(rec)
    for name, value in arrays.items():
        variables[name] = (tuple(f"{name}_{k}" for k in range(value.ndim)), value, _says("m or 1", "of a shape"))
    for name, value in rec.extra.items():
        safe = name.replace("/", ".")  # a slash would be a group in the file
        while safe in variables or safe in coordinates:
            safe += "_"
        inner = ["axis" if size == 3 else f"entry{size}" for size in value.shape[1:]]
        inner = [d if d not in inner[:k] else f"{d}_{k}" for k, d in enumerate(inner)]  # each dimension once
        variables[safe] = (("time", *inner), value, _says(rec.extra_units[name], name) | {"extra": name})
    if rec.touching is not None:
        coordinates["collider"] = ("collider", np.array(rec.touching.names, str), _says(*COORDINATES["collider"]))
        variables["contact_count"] = (("time",), rec.touching.count, _says("1", "number of contacts"))
        for name, value in rec.touching.columns().items():
            dimensions, *says = CONTACT_FIELDS[name]
            variables[f"contact_{name}"] = (dimensions, value, _says(*says))
    plain = {k: v for k, v in rec.attributes.items() if _fits_netcdf(v)}
    return xarray.Dataset(variables, coordinates, {**plain, "linkwork": facts})


def _fits_netcdf(value: object) -> bool:
    """Whether it can stand as an attribute of its own; all of them are in the JSON besides."""
    return isinstance(value, (str, float)) or (type(value) is int and abs(value) < 2**63)


def _says(unit: str, text: str) -> dict[str, str]:
    return {"units": unit, "long_name": text}


def figure_of(rec: Recording, record: BodyRecord | None, shown: bool) -> Figure:
    """A matplotlib Figure of the run, or of one body's record; `shown`: one that pyplot shows."""
    figure = _figure(shown)
    _draw_run(figure, rec) if record is None else _draw_body(figure, record)
    figure.align_ylabels()
    return figure


def _figure(shown: bool) -> Figure:
    """One that pyplot shows, or one of its own that is only saved."""
    if shown:
        from matplotlib import pyplot

        return pyplot.figure(figsize=(7, 7), layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 7), layout="constrained")


def _draw_run(figure: Figure, rec: Recording) -> None:
    reactions = {name.removeprefix("reaction "): v for name, v in rec.extra.items() if name.startswith("reaction ")}
    rows = 3 + bool(rec.joints) + bool(reactions)
    if rows > 4:
        figure.set_size_inches(7, 8.5)
    energy, error, drift, *more = figure.subplots(rows, 1, sharex=True)
    energies = np.stack([rec.kinetic, rec.potential, rec.energy], axis=1)
    _lines(energy, rec.time, energies, ("kinetic", "potential", "total"))
    _dress(energy, "energy, J", legend=True)
    error.plot(rec.time, rec.energy - rec.energy[0], color="#b86f7a", lw=1.3)
    _dress(error, "energy error, J")
    positive = rec.drift > 0
    if positive.any():  # a logarithm has no place for zeros: they leave gaps
        gaps = {} if positive.all() else {"marker": ".", "ms": 2}
        drift.semilogy(rec.time, np.where(positive, rec.drift, np.nan), color="#8f7fa8", lw=1.3, **gaps)
    else:
        drift.plot(rec.time, rec.drift, color="#8f7fa8")
    _dress(drift, "drift, m")
    if rec.joints:
        _lines(more[0], rec.time, rec.angle, rec.joints)
        _dress(more[0], "joints, rad or m", legend=len(rec.joints) <= 8)
    if reactions:
        forces = np.stack([np.linalg.norm(v, axis=1) for v in reactions.values()], axis=1)
        _lines(more[-1], rec.time, forces, list(reactions))
        _dress(more[-1], "reactions, N", legend=len(reactions) <= 8)
    (more or [drift])[-1].set_xlabel("time, s")
    figure.suptitle(str(rec.attributes.get("scene") or "run"), fontsize=11)


def _draw_body(figure: Figure, record: BodyRecord) -> None:
    labels = ("position, m", "velocity, m/s", "angular velocity, rad/s")
    panels = figure.subplots(3, 1, sharex=True)
    for axes, values, label in zip(panels, (record.position, record.velocity, record.angular_velocity), labels, strict=True):
        _lines(axes, record.time, values, "xyz")
        _dress(axes, label, legend=axes is panels[0])
    panels[-1].set_xlabel("time, s")
    figure.suptitle(record.name, fontsize=11)


def _lines(axes: Axes, time: FloatArray, values: FloatArray, labels: Sequence[str]) -> None:
    from linkwork.viz.views import colours

    for column, label, colour in zip(values.T, labels, colours(len(labels)), strict=False):
        axes.plot(time, column, label=printable(label), color=colour, lw=1.3)


def _dress(axes: Axes, label: str, legend: bool = False) -> None:
    axes.set_ylabel(label, fontsize=9)
    axes.grid(color="#e2dfd7", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", labelsize=8)
    axes.yaxis.get_offset_text().set_fontsize(8)
    axes.margins(x=0.01)
    if legend:
        for text in axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1)).get_texts():
            text.set_parse_math(False)  # a name with dollar signs is no formula
