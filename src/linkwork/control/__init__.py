"""Controllers of robots: short classes that read a simulation, or q and qd, and tell the efforts of joints."""

from linkwork.control.computed_torque import ComputedTorque
from linkwork.control.controller import Controller
from linkwork.control.operational_space import OperationalSpace
from linkwork.control.pd import PD

__all__ = ["PD", "ComputedTorque", "Controller", "OperationalSpace"]
