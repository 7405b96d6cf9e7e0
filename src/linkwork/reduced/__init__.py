"""Mechanisms in joint coordinates: trees, their dynamics and kinematics."""

from .algorithms import aba, crba, rnea
from .configurations import difference, integrate, neutral, random
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
    "Poses",
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
    "integrate",
    "jacobian",
    "jacobian_rate",
    "neutral",
    "random",
    "rnea",
    "velocities",
]
