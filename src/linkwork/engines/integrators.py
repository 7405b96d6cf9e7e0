"""Engines by the names of their integrators."""

from linkwork.engines.engine import Engine
from linkwork.engines.implicit.backward_euler import BackwardEuler
from linkwork.engines.joint_coordinates.steps import JointEuler, JointImplicit, JointRK4
from linkwork.engines.maximal.euler import Euler
from linkwork.engines.maximal.first_order import FirstOrder
from linkwork.engines.maximal.rattle import Rattle, Shake
from linkwork.engines.maximal.runge_kutta import RK4, Dopri5

INTEGRATORS: dict[str, type[Engine]] = {
    engine.traits.integrator: engine
    for engine in (Rattle, Shake, Euler, RK4, Dopri5, FirstOrder, BackwardEuler, JointRK4, JointEuler, JointImplicit)
}

__all__ = ["INTEGRATORS", "Engine"]
