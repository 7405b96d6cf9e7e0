"""First-order motion, f = m v (kinematic manipulation): velocities follow forces at once, M v = F + J^T lambda,
J v = -(C_t + k C); velocity rows hold as they are. Forces that depend on velocity are refused. Where rows depend on others
positions that are on the constraints are brought back onto them after the step, and rows that are violated are as soft as that
(regularised_projection_steps.py). In a singular place a step that does not come back to them is made in parts.

A step leaves (1 - k h) of C: it takes all of C away with k = 1/h, and more than that, from 2/h on without end, would bring it
back. So k is at most 1/h. A force with df/dq = -K asks for h K / m < 2; where it is more, bodies fly apart, and the run stops
when one goes further in a step than anything should.

Contact acts by forces on that velocity: bodies that are led into others stop at them, push them, or slide along. Nothing
bounces."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.engines.engine import Engine
from linkwork.engines.maximal import first_order_steps
from linkwork.engines.maximal.regularised_projection import no_projection, projection
from linkwork.engines.step_driver import Cutting, add_impulses
from linkwork.engines.traits import TRAITS
from linkwork.kernels.vocabulary import BodyKernel, RowMode

FAR = 1e3  # times the size of the world as built, and at least so many metres: nothing goes further in a step


class FirstOrder(Engine):
    traits = TRAITS["first-order"]
    attempt, reject = staticmethod(first_order_steps.attempt), staticmethod(first_order_steps.reject)
    cutting, finest = Cutting.LONGER_EACH_STEP, 1 << 10

    @cached_property
    def inverse_mass(self):
        from linkwork.contact.inverse_mass import BySweeps

        return BySweeps(self.schedules, carried=0.0)

    @cached_property
    def sweeps(self):
        p = self.schedules
        opening = p.body(BodyKernel.KICK), p.up(RowMode.FIRST_ORDER, warm=True)
        way = (p.backward(), p.body(BodyKernel.FIRST_ORDER)) if self.touches else (p.body(), p.backward(BodyKernel.FIRST_ORDER))
        return *opening, *way, p.work(), p.count(), p.body(BodyKernel.UPDATE_POSE)

    @cached_property
    def plan(self) -> first_order_steps.FirstOrderPlan:
        p, hook, sweeps = self.schedules, self.hook, self.sweeps  # before the table, which has the kernels of sweeps made
        own = projection(p) if p.model.redundant else no_projection(p)  # after the sweeps: it holds the table of kernels
        speeds, farthest = self.bounds
        return first_order_steps.FirstOrderPlan(
            p.table, *sweeps, own, self.places, np.zeros(len(self.places)), speeds, np.array([farthest]),
            np.array([bool(p.model.redundant)], dtype=np.int64), hook, self.empty_table(),
        )  # fmt: skip

    @cached_property
    def places(self):
        """Entries of all coordinates, where a step may have to be made again."""
        model = self.schedules.model
        bodies = range(len(model.bodies.kinds)) if model.redundant else ()
        return np.concatenate([np.zeros(0, dtype=np.int64), *(np.r_[model.field_of_body(k, "q")] for k in bodies)])

    @cached_property
    def bounds(self):
        """Entries of all velocities, and the farthest that a body may go in a step (m, rad)."""
        model = self.schedules.model
        speeds = [np.r_[model.field_of_body(k, "v")] for k in range(len(model.bodies.kinds))]
        places = [np.abs(frames.start()["q"]).max(initial=0.0) for frames in model.bodies.frames.values()]
        return np.concatenate(speeds), FAR * max(1.0, *places)

    def complete_impulses(self, work, impact=False):
        """A step is one solve, for a force."""
        add_impulses(work, *self.impulses, 1.0 if impact else self.dt, True)
