"""Kernels of the readout: bodies, joints, forces and reactions as users see them, from records into arrays of the readout.

What is written behind the bodies goes to entries of the readout, which is an array beside the workspace
(codegen/sweep_into.py). Kernels take the state of bodies alone, not their derived poses.
"""

from __future__ import annotations

import casadi as ca

from linkwork.codegen.trace import Kernel, Trace
from linkwork.kernels.node import NodeKind, load_parameters, parameter_record
from linkwork.symbolic.autodiff import Tape
from linkwork.symbolic.bodies import BodyKind, StateView, View, load_global


def _states(trace: Trace, kinds) -> list[StateView | None]:
    """Views of the bodies at pointers 2, 3, ...; None for the ground."""
    return [None if kind is None else StateView(kind, trace, 2 + k) for k, kind in enumerate(kinds)]


def body_read_kernel(kind: BodyKind) -> Kernel:
    """Pointer 1: the body; 2 to 5: its rows of positions, orientations, velocities (linear, angular) and frames."""

    def write(trace: Trace) -> None:
        pose = kind.read_pose(StateView(kind, trace, 1))
        velocity = ca.vertcat(pose.velocity, pose.angular_velocity)
        for pointer, value in enumerate((pose.position, pose.orientation, velocity, pose.frame), start=2):
            trace.store(pointer, 0, value)

    return Kernel(f"read|{kind.name}|pose", write)


def body_own_kernel(kind: BodyKind) -> Kernel:
    """Pointer 1: the body; 2 and 3: where its own coordinates and velocities go."""

    def write(trace: Trace) -> None:
        view = View(kind, trace, 1)
        trace.store(2, 0, view.q)
        trace.store(3, 0, view.v)

    return Kernel(f"read|{kind.name}|own", write)


def joint_read_kernel(node: NodeKind, part: int, start: int) -> Kernel:
    """Pointer 1: the node, whose parameters begin at `start`; 2 and 3: its bodies; behind them: where the coordinates of one of
    its constraints go, its velocities, and the constants that it needs beside its parameters."""

    def write(trace: Trace) -> None:
        relation, offset = node.parts[part].relation, start
        offset += sum(parameter_record(other.relation).size for other in node.parts[:part])
        p, at = load_parameters(trace, 1, offset, relation), 0
        for name, size in relation.read_fields.items():
            p[name] = trace.load(node.behind + 2, at, size)
            at += size
        tape = Tape(_states(trace, node.kinds), load_global(trace, "time"))
        for k, value in enumerate(tape.resolve(list(relation.read_coordinates(node.parts[part].arranged(tape.handles), p)))):
            trace.store(node.behind + k, 0, value)

    return Kernel(f"read|{node.key}|{part}|{start}|joint", write)
