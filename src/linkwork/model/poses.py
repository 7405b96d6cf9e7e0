"""Where bodies are: read from a workspace, kept by elements that are made there, put into the bodies of a world."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.elements import Ground
from linkwork.elements.core.element import Body, Element, Pose
from linkwork.elements.core.registry import kind_for
from linkwork.model import readout
from linkwork.model.model import Model


def poses_of(model: Model, work: np.ndarray) -> dict[str, Pose]:
    """All bodies of a model, by name."""
    found = readout.poses(model, work, np.arange(len(model.bodies.elements)))
    return {str(body.name): Pose(found.position[k], found.orientation[k], found.frame[k], *_coordinates(model, work, k))
            for k, body in enumerate(model.bodies.elements)}  # fmt: skip


def _coordinates(model: Model, work: np.ndarray, number: int) -> list[np.ndarray]:
    """u of a Lagrangian body, and the numbers of its Parameters."""
    kind = model.bodies.kinds[number]
    return [] if kind.framed else [work[model.field_of_body(number, name)].copy() for name in ("q", *kind.constants)]


def made_at(element: Element, poses: Mapping[str, Pose]) -> None:
    """What an element says of the world (`at`, `axis`, lengths that are left out) is of bodies in these poses."""
    bodies = [other for _, _, other in element.references() if isinstance(other, Body) and not isinstance(other, Ground)]
    own = {name: poses[name] for name in (str(body.name) for body in bodies) if name in poses}
    if own:
        vars(element)["built"] = own
    element.made_at(lambda body, local: _point(body, local, poses))


def _point(body, local: np.ndarray, poses: Mapping[str, Pose]) -> np.ndarray:
    """Where a local point of a body (or of the ground) is."""
    pose = poses.get(body.name)
    if pose is None:
        return local
    if not (kind := kind_for(body)).framed:
        assert pose.coordinates is not None and pose.parameters is not None
        where = pose.coordinates[None], np.zeros((1, body.dim)), local[None], pose.parameters[None]
        return kind.located(*where)[0][0]
    return pose.position + pose.frame @ local


def put(body: Body, pose: Pose) -> None:
    """Build a body elsewhere."""
    kind_for(body).build_at(body, pose)
