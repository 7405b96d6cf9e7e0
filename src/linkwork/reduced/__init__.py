"""Mechanisms in joint coordinates: trees, their dynamics and kinematics."""

from .algorithms import aba, crba, rnea
from .configurations import difference, integrate, neutral, random
from .convert import Bodies, State, from_bodies, to_bodies
from .kinematics import (
    Poses,
    centre_of_mass,
    centroidal_momentum,
    energy,
    forward_kinematics,
    jacobian,
    jacobian_rate,
    velocities,
)
from .tree import Tree, compile, expanded

__all__ = [
    "Bodies",
    "Poses",
    "State",
    "Tree",
    "aba",
    "centre_of_mass",
    "centroidal_momentum",
    "compile",
    "crba",
    "difference",
    "energy",
    "expanded",
    "forward_kinematics",
    "from_bodies",
    "integrate",
    "jacobian",
    "jacobian_rate",
    "neutral",
    "random",
    "rnea",
    "to_bodies",
    "velocities",
]
