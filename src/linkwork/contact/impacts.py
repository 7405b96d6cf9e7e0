"""Contact where there is no step with inertia: impulses from outside go through what touches, in one stage between steps at the
places where bodies are; in first-order motion forces are velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.contact.hook import CLOSING
from linkwork.contact.inverse_mass import BySweeps
from linkwork.contact.rows import STOP_RESTITUTION
from linkwork.contact.stage import contact_stage
from linkwork.contact.stage_kernels import INSTANT
from linkwork.elements.core.checks import label
from linkwork.errors import ModelError

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem


def respond_to_impulse(contact: ContactSystem, work: np.ndarray) -> None:
    """The velocities that bodies are about to have are v + x, with factors and right-hand sides of one solve for velocities:
    x gets what contacts give to those that touch and approach, bounces included."""
    if contact.impact_stage is None:
        contact.load_solver()
        contact.impact_stage = contact.stage_of(BySweeps(contact.schedules))
    contact.forget()
    contact.work = work
    contact_stage(work, contact.schedules.table, contact.impact_stage, INSTANT, CLOSING)
    if contact.asked.failure is not None:
        contact.asked.raise_failure()


def act_without_inertia(contact: ContactSystem) -> None:
    """Velocities follow forces at once: what stands for impulses are forces (N), and nothing bounces."""
    for stop in contact.stops:
        if stop.element.rubs:
            raise ModelError(f"{label(stop.element)}: first-order motion takes no dry friction of joints; leave it out")
    for rule in contact.contacts:
        if rule.stiffness is not None:
            raise ModelError(f"{label(rule)}: first-order motion takes no soft contact; leave stiffness out")
    contact.of_forces = True
    contact.materials.own[:, 1] = contact.materials.of_rule[:, 1] = contact.hard_stops.numbers[:, STOP_RESTITUTION] = 0.0
