"""Steps in joint coordinates: nothing can drift. With the solver `aba` the bodies' forces come from the model, the
accelerations from the articulated-body algorithm; with `tree` accelerations come from the model, too (baraff96 section 2.2:
the middle ground). The model is brought along. Every step begins with the joint coordinates of the bodies as they are, so
that a state in maximal coordinates is all there is.

`joint-euler`: semi-implicit Euler, order 1. `joint-rk4`: the classical Runge-Kutta method on the manifold of configurations
(Munthe-Kaas), order 4.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwork.codegen.jit import jit, sweep
from linkwork.elements import Parameter, Screw, checks
from linkwork.errors import ModelError
from linkwork.integrators.base import DIVERGED, KICK, OK, STEP, TIME, Integrator, finite
from linkwork.model.frames import RigidFrames

WEIGHTS = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
REACHES = (0.5, 0.5, 1.0, 0.0)  # from each stage to the next, in steps from the beginning


@jit
def copied(source, places, target, there):
    for i in range(places.shape[0]):
        target[there[i]] = source[places[i]]


@jit
def accelerations(work, table, loads, own, own_table, dynamics, forces_at, loads_at, tau_at):
    """qdd of the tree, with the forces (or the accelerations) that the model has at its present state."""
    sweep(work, table, loads)
    copied(work, forces_at, own, loads_at)
    for i in tau_at:
        own[i] = 0.0
    sweep(own, own_table, dynamics)


@jit
def bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at):
    """The model where the tree is."""
    sweep(own, own_table, outwards)
    copied(own, state_at, work, coordinates_at)
    sweep(work, table, place)


@jit
def steps_in_joints(work, model, own, tree, places, weights, reaches, entries, sentinels, steps):
    """`model`: table, loads, place, count; `tree`: table, recover, dynamics, outwards, and open, stage and close of a step
    with stages, or nothing, euler and nothing; `places`: coordinates and forces in the model, state, loads and tau in the
    tree."""
    table, loads, place, count = model
    own_table, recover, dynamics, outwards, begin, stage, end = tree
    coordinates_at, forces_at, state_at, loads_at, tau_at = places
    h = work[STEP]
    work[KICK] = 1.0
    own[entries[0]] = h
    for k in range(steps):
        start = work[TIME]
        copied(work, coordinates_at, own, state_at)
        sweep(own, own_table, recover)
        sweep(own, own_table, begin)
        for s in range(weights.shape[0]):
            accelerations(work, table, loads, own, own_table, dynamics, forces_at, loads_at, tau_at)
            own[entries[1]] = weights[s] * h
            own[entries[2]] = reaches[s] * h
            sweep(own, own_table, stage)
            work[TIME] = start + reaches[s] * h
            if s + 1 < weights.shape[0]:
                bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
        sweep(own, own_table, end)
        work[TIME] = start + h
        bring_along(work, table, place, own, own_table, outwards, coordinates_at, state_at)
        sweep(work, table, count)
        if not finite(work, sentinels):
            return k + 1, DIVERGED, 0
    return steps, OK, 0


class InJoints(Integrator):
    """The base: a tree beside the model."""

    takes_feedback = keeps_impulses = False
    weights: tuple[float, ...]
    reaches: tuple[float, ...]
    parts: tuple[str, str, str]  # the sweeps that open a step, make a stage and close the step; "" is none

    def __init__(self, *given):
        super().__init__(*given)
        self.stepper = self._stepper()

    def _stepper(self):
        from linkwork.reduced.stepping import Stepper  # numba compiles what only those need who step in joint coordinates
        from linkwork.reduced.tree import compile

        model = self.programs.model
        for joint in model.world.constraints:
            if isinstance(joint, Screw) and isinstance(joint.pitch, Parameter):
                raise ModelError(f"{checks.label(joint)}: its pitch is a Parameter, which joint coordinates do not follow; "
                                 "give a number")  # fmt: skip
        tree, frames = compile(model.world), model.bodies.frames["RigidBody"]
        assert isinstance(frames, RigidFrames)
        return Stepper(tree, list(zip(frames.axes, frames.origin, strict=True)))

    @cached_property
    def plan(self) -> tuple:
        p, own = self.programs, self.stepper
        solved = p.name == "tree"  # bodies tell accelerations, else forces
        fields = [[p.model.field_of_body(b, name) for name in ("q", "v", "x" if solved else "b")] for b in own.moving]
        coordinates, told = [np.r_[q, v] for q, v, _ in fields], [np.r_[last] for _, _, last in fields]
        places = (_flat(coordinates), _flat(told), own.state, own.loads, own.tau)
        none = np.zeros((0, own.sweep("euler").shape[1]), dtype=np.int32)
        parts = [own.sweep(name) if name else none for name in self.parts]
        solve = (p.up("acceleration", first=("accelerate",), light=True), p.backward(light=True)) if solved else (p.loads(),)
        sweeps = np.concatenate(solve), p.body("place"), p.count()  # made first: they complete the table
        dynamics = own.sweep("following" if solved else "dynamics")
        return (p.table, *sweeps), (own.table, own.sweep("recover"), dynamics, own.sweep("outwards"), *parts), places

    def advance(self, work, steps, age):
        from linkwork.reduced.stepping import ENTRIES

        model, tree, places = self.plan
        weights, reaches, entries = np.array(self.weights), np.array(self.reaches), np.array(ENTRIES)
        return steps_in_joints(work, model, self.stepper.work, tree, places, weights, reaches, entries, self.sentinels, steps)


def _flat(parts) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


class JointEuler(InJoints):
    name, order = "joint-euler", 1
    weights, reaches, parts = (1.0,), (1.0,), ("", "euler", "")


class JointRK4(InJoints):
    name, order = "joint-rk4", 4
    weights, reaches, parts = WEIGHTS, REACHES, ("open_step", "stage", "close_step")
