"""Who takes part: linkwork with two integrators, and every peer that is installed."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial


@dataclass(frozen=True)
class Contestant:
    """One column of the table."""

    label: str  # "linkwork euler", "MuJoCo"
    version: str
    work: str  # "step" or "forward dynamics"
    ours: bool
    ball: Callable  # (n, dt) -> Chain
    hinge: Callable


def contestants():
    """All that can be imported, linkwork first."""
    return linkwork() + peers()


def linkwork():
    """linkwork with `euler` and `rattle`; empty if it can't be imported."""
    module = _adapter("linkwork_peer", "linkwork")
    if module is None:
        return []
    return [
        Contestant(
            f"{module.name} {integrator}",
            module.version,
            module.work,
            True,
            partial(module.ball_chain, integrator=integrator),
            partial(module.hinge_chain, integrator=integrator),
        )
        for integrator in ("euler", "rattle")
    ]


def peers():
    """The peers that are installed."""
    packages = {"mujoco": "mujoco", "pinocchio": "pinocchio", "dart": "dartpy"}  # adapter: the package it needs
    modules = [_adapter(f"{stem}_peer", package) for stem, package in packages.items()]
    return [
        Contestant(module.name, module.version, module.work, False, module.ball_chain, module.hinge_chain)
        for module in modules
        if module is not None
    ]


@cache
def _adapter(module, package):
    """The adapter, or None if its package is not installed. Any other failure to import is an error."""
    try:
        return importlib.import_module(f"benchmarks.peers.{module}")
    except ModuleNotFoundError as missing:
        if missing.name != package:
            raise
        print(f"{package} is not installed: left out")
        return None
