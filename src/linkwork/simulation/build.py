"""Build: what does not change while a simulation runs: model, schedules, integrator, contact.

Buffers of contact belong to a Build, so that one System steps it at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from linkwork.elements.core.element import Pose
from linkwork.engines.integrators import INTEGRATORS
from linkwork.engines.solvers import SOLVERS
from linkwork.model.active_world import ActiveWorld
from linkwork.model.compile_model import compile
from linkwork.model.graph import Order
from linkwork.model.model import Arrangement, Model
from linkwork.model.parameter_check import ParameterCheck, parameter_checks
from linkwork.model.states import Layout
from linkwork.schedules.schedules import Schedules
from linkwork.simulation.options import Options, first_contact
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.contact.contact_system import ContactSystem
    from linkwork.engines.engine import Engine


class Build(NamedTuple):
    """A world as it is at some time, compiled."""

    model: Model
    parameter_checks: dict[str, ParameterCheck]
    schedules: Schedules
    integrator: Engine
    contact: ContactSystem | None
    layout: Layout  # of states

    @classmethod
    def made(
        cls,
        active_world: World | ActiveWorld,
        options: Options,
        arrangement: Arrangement,
        compiled_at: Mapping[str, Pose],
        order: Order | None,
        patient: bool,
    ) -> Build:
        """What does not change while a simulation runs in a world as it is. `patient`: nothing is running that waits."""
        touches = first_contact(active_world) is not None
        make, solver, tangent, iterations = (
            INTEGRATORS[options.integrator], SOLVERS[options.solver], options.variant, options.iterations
        )  # fmt: skip

        def compiled() -> Model:
            return compile(active_world, packed=make.traits.packed, poses=compiled_at, drawn=dict(arrangement.drawn),
                           order=order, **solver.layout(tangent, iterations))  # fmt: skip

        model = compiled()
        goes_on = iterations == 1 and bool(model.redundant)  # a linear step ends where these rows contradict each other
        if goes_on:
            iterations = 0
            if solver.layout(tangent, iterations) != solver.layout(tangent, 1):
                model = compiled()
        options.refuse_velocity_forces(model)
        schedules = solver(model)
        schedules.variant = tangent
        schedules.patient = patient
        integrator = make.for_model(schedules, touches)(schedules, options.dt, options.tolerance, iterations, touches)
        model = schedules.model  # with what the integrator keeps
        if goes_on:
            integrator.remarks = ["Simulation: one iteration does not hold redundant rows, which differ beside constraints; "
                                  "steps go on until the tolerance is met"]  # fmt: skip
        if touches:
            integrator.make_contact(options.traits.contact)
        layout = Layout.of(model, (options.solver, options.integrator, options.dt))
        return cls(model, parameter_checks(model), schedules, integrator, integrator.contact, layout)
