"""Reads of tendons and filters: lengths, and what the activation of a motor is now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError
from linkwork.kernels.force_kernels import force_length_kernel
from linkwork.kernels.node import parameter_record
from linkwork.model.graph import GROUND
from linkwork.model.nodes import evaluator
from linkwork.simulation.lookup import lookup
from linkwork.symbolic.views import GLOBALS

if TYPE_CHECKING:
    from linkwork.elements.core.element import ElementLike
    from linkwork.simulation.system import System
    from linkwork.util.array_types import FloatArray


def length_of(system: System, tendon: ElementLike) -> FloatArray:
    """(2,): the length of a FixedTendon or a Cable, and its rate."""
    number, _ = lookup(system, tendon, "force")
    force, model = system.model.forces[number], system.model
    if not hasattr(force.element, "transmission"):
        raise LinkworkError(f"{checks.label(force.element)}: it has no length; ask for that of a FixedTendon or a Cable")
    system.place()
    work = system.work
    kernel = force_length_kernel(force.kind)
    bodies = {2 + k: work[model.body_at[end] :] for k, end in enumerate(force.ends) if end != GROUND}
    found: FloatArray = evaluator(kernel, 2 + len(force.ends))(
        {0: work[: GLOBALS.size], 1: work[model.force_at[number] :], **bodies}
    )
    return found


def activation_at(system: System, motor: ElementLike) -> tuple[int, int]:
    """The entries of a motor's activation, and of the time at which it had that."""
    number, _ = lookup(system, motor, "force")
    force = system.model.forces[number]
    if "activation" not in force.kind.law.state_fields:
        raise LinkworkError(f"{checks.label(force.element)}: it has no activation; give its Motor a filter=")
    layout, at = parameter_record(force.kind.law), int(system.model.force_at[number])
    return at + layout.offset("activation"), at + layout.offset("since")


def activation_of(system: System, motor: ElementLike) -> float:
    """The activation of a motor at the end of the last step."""
    return float(system.work[activation_at(system, motor)[0]])


def set_activations(system: System, values: dict[str, Any]) -> None:
    """Those of the motors that are named."""
    for motor, value in values.items():
        activation, since = activation_at(system, motor)
        given = checks.number("Keyframe", f'the activation of "{motor}"', value)
        system.work[[activation, since]] = np.array([given, system.time])
