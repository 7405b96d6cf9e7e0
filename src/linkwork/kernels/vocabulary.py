"""Words of kernels and sweeps. Each is a part of the keys by which compiled kernels are found, so values are never changed."""

from __future__ import annotations

from linkwork.symbolic.vocabulary import Word


class BodyKernel(Word):
    """What a kernel does to one body (`body_kernels.py`)."""

    UPDATE_POSE = "place"
    # accelerations
    ACCELERATE = "accelerate"
    DEFECT = "defect"
    REFINE = "mend"
    # impulses, displacements
    KICK = "kick"
    LOAD = "impulse"
    CLEAR = "clear"
    APPLY_IMPULSE = "strike"
    CORRECT_POSITION = "nudge"
    # steps of RATTLE and SHAKE
    OPEN = "open"
    RESTORE = "retry"
    DRIFT = "fly"
    FIRST_DRIFT = "first-fly"
    DRIFT_IN_HALVES = "fly-halves"
    START_IMPLICIT_DRIFT = "start-flight"
    REFINE_IMPLICIT_DRIFT = "refine-flight"
    LAST_REFINEMENT = "last-refinement"
    END_IMPLICIT_DRIFT = "end-flight"
    ACCEPT_DRIFT = "land"
    CLOSE = "close"
    VELOCITY_ITERATION = "settle"
    VELOCITY_ITERATION_FRONT = "settle-front"
    # other steps
    EULER = "euler"
    FIRST_ORDER = "first-order"
    PACK = "pack"
    UNPACK = "unpack"
    NORMALISE = "normalise"
    RATES = "rates"
    # reports
    ENERGY = "energy"
    CHECK_COLLAPSE = "look"


class ImplicitKernel(Word):
    """What a kernel does to one body in an implicit step (`implicit_bodies.py`)."""

    ADVANCE_ONCE = "advance-once"  # the only iteration of a step
    ADVANCE_FIRM = "advance-firm"  # of a step with a second solve
    ADVANCE_FIRST = "advance-first"
    ADVANCE = "advance"
    SHIFT = "shift"  # by what x has been set to
    PLACE_FIRM = "place-firm"
    LAG = "lag"
    REACH = "reach"
    ACCEPT = "accept"
    RESTORE = "retry"


class Iteration(Word):
    """An iteration of an implicit step: which system is assembled (the head of `implicit_bodies.py`)."""

    BEGIN = "begin"
    FIRM = "firm"
    DRAW = "draw"
    AGAIN = "again"


class RowMode(Word):
    """What rows ask for: their right-hand side."""

    ACCELERATION = "acceleration"
    VELOCITY = "velocity"
    CLOSING = "closing"  # velocities at the end of a drift, where rotors have kept their speeds
    FIRST_ORDER = "first-order"
    PROJECT = "project"  # displacements onto the constraints
    DAMPED = "damped"  # the same, with rows as soft as they are violated


class Sweep(Word):
    """A pass over the elimination."""

    FACTOR = "factor"  # factors, with the forward sweep
    FORWARD = "forward"
    BACKWARD = "backward"


class PivotSweep(Word):
    """What a pass does at a joint pivot."""

    UP = "up"  # assembles, factors, forward sweep
    FORWARD = "forward"
    BACKWARD = "backward"
    MOTION = "motion"  # backward, without multipliers
    FORWARD_ALONE = "forward-alone"  # of forces alone
    BACKWARD_ALONE = "backward-alone"
    RESIDUAL = "landing"  # of positions


class Piece(Word):
    """A front whole, or a piece of one, in the order of their numbers in `front_ops.py`."""

    WHOLE = "whole"
    PIVOT = "pivot"
    PANEL = "panel"
    UPDATE = "update"
    CROSS = "cross"
    SOLVE = "solve"
    PUSH = "push"
    BEGIN = "begin"
    PULL = "pull"
    FINISH = "finish"


class NodeBlocks(Word):
    """Blocks of all constraints that are written out."""

    JACOBIAN = "jacobian"
    RATE = "rate"  # of J
    PULLS = "pulls"  # how multipliers pull at bodies, where that is not J
