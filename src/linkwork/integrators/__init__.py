"""Integrators by name."""

from linkwork.integrators.backward_euler import BackwardEuler
from linkwork.integrators.base import Integrator
from linkwork.integrators.euler import Euler
from linkwork.integrators.first_order import FirstOrder
from linkwork.integrators.joint import JointEuler, JointImplicit, JointRK4
from linkwork.integrators.rattle import Rattle, Shake
from linkwork.integrators.runge_kutta import RK4, Dopri5

INTEGRATORS: dict[str, type[Integrator]] = {
    cls.name: cls for cls in (Rattle, Shake, Euler, RK4, Dopri5, FirstOrder, BackwardEuler, JointRK4, JointEuler, JointImplicit)
}

__all__ = ["INTEGRATORS", "Integrator"]
