"""What compiled steps in joint coordinates are given: sweeps, where numbers lie, and what is the same in every call."""

from __future__ import annotations

import numpy as np

from linkwork.codegen.struct import Struct
from linkwork.contact.hook import ContactHook
from linkwork.engines.joint_coordinates.loop_closure import Inertia
from linkwork.engines.step_driver import StepTable

# dynamics: accelerations by the articulated-body algorithm, by H = L^T D L, or those of bodies in maximal coordinates
ABA, LTDL, FOLLOWING = range(3)
# TreePlan.marks: offsets of globals, of scalars and of what the last call left; the dynamics; whether no one reads bodies in a
# step; whether limits of joints are all that contact knows
TIME, KICK, DONE, WEIGHT, REACH, KNOWN, PLACED, LEFT, DYNAMICS, LIGHT, GUARDED = range(11)
STOP_A, STOP_B = 1, 2  # columns of the labels of contact's stops: their bodies
# Loops are closed until they are open by less than CLOSED (m, rad), in ROUNDS at most; a step that leaves more than OPEN stops
# the run.
CLOSED, ROUNDS, OPEN = 1e-12, 20, 1e-6
# In a singular place a step is made in PARTS, with RESCUES projections in each, and up to MOST_RESCUES until loops are open by
# less than NEARLY_CLOSED (m, rad).
PARTS, RESCUES, MOST_RESCUES, NEARLY_CLOSED = 16, 8, 64, 1e-9
# TreePlan.closing: how loops close where rows depend on others, as in `maximal/regularised_projection_steps.py`
TIGHTLY, SOFTEST, SLOW, ROUNDED, HARDER, SINGULAR = range(6)


class TreePlan(Struct):
    """What is the same in every call. Sweeps that a plan does not need are empty."""

    kernels: np.ndarray  # of the model
    own_kernels: np.ndarray  # of the tree
    # of the model
    loads: np.ndarray  # forces on bodies, or their accelerations
    place: np.ndarray  # what is derived from bodies' coordinates
    place_in_step: np.ndarray  # the same, where a step needs it
    count: np.ndarray  # turns
    forces: np.ndarray  # one operation for each implicit force at a joint: its tangent
    # of the tree
    recover: np.ndarray
    move: np.ndarray  # outwards: links in place
    signs: np.ndarray  # of bodies' quaternions, where they come from continuous orientations of links
    bodies: np.ndarray  # bodies brought along
    bodies_in_step: np.ndarray  # what of them a step needs
    rates: np.ndarray  # velocities of links, where the kick does not leave them
    velocities: np.ndarray  # of bodies, and where they are, if a step does not begin with that
    wrenches: np.ndarray  # forces on bodies, put on their links
    inwards: np.ndarray  # the way inwards, or all of it that gives accelerations
    last: np.ndarray  # accelerations of the articulated-body algorithm, where they are not a part of what follows
    leap: np.ndarray  # a step of Euler's method
    kick: np.ndarray  # its velocities alone ...
    drift: np.ndarray  # ... and its places with them
    open: np.ndarray  # of several stages
    stage: np.ndarray
    last_stage: np.ndarray
    close: np.ndarray
    correct_position: np.ndarray
    apply_impulses: np.ndarray
    release: np.ndarray
    hold: np.ndarray
    inertia: Inertia
    q: np.ndarray  # (nq,) entries
    qd: np.ndarray  # (nv,)
    x: np.ndarray  # (nv,)
    sentinels: np.ndarray  # of qd, one of each tree
    coordinates: np.ndarray  # of bodies that move
    watched: np.ndarray  # entries by which it is known whether somebody has moved anything
    turns: np.ndarray  # (k, 2): the entry of an angle of q, that of its turn counter
    guards: np.ndarray  # (k, 2): of each stop of contact the entries of the coordinate that has a bound, and of its velocity
    bounds: np.ndarray  # (k, 3): 1 of an upper bound, -1 of a lower one; the bound; how near to it a limit acts
    shown_by: np.ndarray  # (bodies,): the operation of `velocities` that shows each, -1: none
    rotors: np.ndarray  # (k, 2): the entry of a rotor inertia of a link, that of the model which is added to it
    weights: np.ndarray  # of stages
    reaches: np.ndarray  # from each stage to the next, in steps from the beginning
    closing: np.ndarray  # TIGHTLY, SOFTEST, ...
    marks: np.ndarray
    began: np.ndarray  # (nq + nv,) scratch: q and qd as a step begins
    given: np.ndarray  # (coordinates,) scratch: those of bodies before links are put in place
    hook: ContactHook
    steps: StepTable
