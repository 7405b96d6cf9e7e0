"""Integrators by name."""

from linkwork.engines.engine import Integrator
from linkwork.engines.implicit.backward_euler import BackwardEuler
from linkwork.engines.joint_coordinates.steps import JointEuler, JointImplicit, JointRK4
from linkwork.engines.maximal.euler import Euler
from linkwork.engines.maximal.first_order import FirstOrder
from linkwork.engines.maximal.rattle import Rattle, Shake
from linkwork.engines.maximal.runge_kutta import RK4, Dopri5

INTEGRATORS: dict[str, type[Integrator]] = {
    cls.name: cls for cls in (Rattle, Shake, Euler, RK4, Dopri5, FirstOrder, BackwardEuler, JointRK4, JointEuler, JointImplicit)
}

__all__ = ["INTEGRATORS", "Integrator"]
