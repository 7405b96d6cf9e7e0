"""Kernels of the readout: bodies, joints, forces and reactions as users see them, from records into arrays of the readout.

What is written behind the bodies goes to entries of the readout, which is an array beside the workspace
(codegen/sweep_into.py). Kernels take the state of bodies alone, not their derived poses.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Kernel, Trace
from linkwork.elements.core.body_kind import BodyKind
from linkwork.kernels.force_kernels import ForceNodeKind
from linkwork.kernels.node import NodeKind, load_parameters, parameter_record
from linkwork.symbolic import rotation
from linkwork.symbolic.autodiff import Tape
from linkwork.symbolic.blocks import cross
from linkwork.symbolic.views import ReadPose, StateView, View, load_global


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

    return Kernel(f"read|{kind.key}|pose", write)


FRAME = 7  # numbers of a frame: where it is on its body, and the quaternion that turns it there


def carried(kind: BodyKind, view: StateView, numbers: SX) -> ReadPose:
    """A frame on a body: where it is, and how the point of the body that is there moves."""
    pose = kind.read_pose(view)
    arm = pose.frame @ numbers[0:3]
    moving = kind.line(view, numbers[0:3]).rate if kind.stretches else cross(pose.angular_velocity, arm)
    turn = rotation.product(pose.orientation, numbers[3:7]), pose.frame @ rotation.matrix(numbers[3:7])
    return ReadPose(pose.position + arm, turn[0], pose.velocity + moving, pose.angular_velocity, turn[1])


def carried_acceleration(kind: BodyKind, view: StateView, numbers: SX) -> tuple[SX, SX]:
    """The linear and the angular acceleration of a frame on a body whose accelerations were solved for."""
    x = view.field("x")
    linear, angular = kind.read_acceleration(view, x)
    if kind.stretches:
        line = kind.line(view, numbers[0:3])
        return linear + line.jacobian @ x + line.bias, angular
    pose = kind.read_pose(view)
    arm, w = pose.frame @ numbers[0:3], pose.angular_velocity
    return linear + cross(angular, arm) + cross(w, cross(w, arm)), angular


def frame_read_kernel(kind: BodyKind) -> Kernel:
    """Pointer 1: the body; 2 to 5: as of `body_read_kernel`, of a frame on it; 6: the numbers of the frame. Its velocity is
    that of the point of the body that is there."""

    def write(trace: Trace) -> None:
        place = carried(kind, StateView(kind, trace, 1), trace.load(6, 0, FRAME))
        velocity = ca.vertcat(place.velocity, place.angular_velocity)
        for pointer, value in enumerate((place.position, place.orientation, velocity, place.frame), start=2):
            trace.store(pointer, 0, value)

    return Kernel(f"read|{kind.key}|frame", write)


def body_own_kernel(kind: BodyKind) -> Kernel:
    """Pointer 1: the body; 2 and 3: where its own coordinates and velocities go."""

    def write(trace: Trace) -> None:
        view = View(kind, trace, 1)
        trace.store(2, 0, view.q)
        trace.store(3, 0, view.v)

    return Kernel(f"read|{kind.key}|own", write)


def joint_read_kernel(node: NodeKind, part: int, start: int) -> Kernel:
    """Pointer 1: the node, whose parameters begin at `start`; 2 and 3: its bodies; behind them: where the coordinates of one of
    its constraints go, its velocities, and the constants that it needs beside its parameters."""

    def write(trace: Trace) -> None:
        element_kind, offset = node.parts[part].kind, start
        offset += sum(parameter_record(other.kind).size for other in node.parts[:part])
        p, at = load_parameters(trace, 1, offset, element_kind), 0
        for name, size in element_kind.read_fields.items():
            p[name] = trace.load(node.behind + 2, at, size)
            at += size
        tape = Tape(_states(trace, node.kinds), load_global(trace, "time"))
        for k, value in enumerate(
            tape.resolve(list(element_kind.read_coordinates(node.parts[part].arranged(tape.handles), p)))
        ):
            trace.store(node.behind + k, 0, value)

    return Kernel(f"read|{node.key}|{part}|{start}|joint", write)


LOAD = 9  # entries that a force or a constraint has for each of its bodies: force, torque about a point, that point


def force_read_kernel(force: ForceNodeKind) -> Kernel:
    """Pointer 1: the force; 2, 3, ...: its bodies; behind them: what it puts on each of them, LOAD entries a body. The point is
    where its force acts on the body; where several do, or a torque alone, its joint's anchor or the body's position."""

    def write(trace: Trace) -> None:
        views = _states(trace, force.kinds)
        tape, p = Tape(views, load_global(trace, "time")), force.parameters_of(trace)
        loads, _ = force.law.law(tape.handles, p, tape.time)
        found, ends = [], [k for k, view in enumerate(views) if view is not None]
        for k in ends:
            own = [(kind, where, vector) for body, kind, where, vector in loads if body == k]
            found += _total(views[k], tape.handles[k], own, p.get("on_a" if k == 0 else "on_b"))
        found = tape.resolve(found)
        for number, k in enumerate(ends):
            for part in range(3):
                trace.store(2 + len(views), LOAD * k + 3 * part, found[3 * number + part])

    return Kernel(f"read|{force.key}|force", write)


def _total(view, handle, loads, anchor) -> list[SX]:
    """Force, torque about `at`, and `at`, of loads (kind, where, vector) on one body."""
    pulls = [(where, vector) for kind, where, vector in loads if kind == "force"]
    places = {SX(where).serialize(): where for where, _ in pulls}
    force = sum((vector for _, vector in pulls), SX.zeros(3))
    torque = sum((vector for kind, _, vector in loads if kind == "torque"), SX.zeros(3))
    if len(places) == 1:
        return [force, torque, handle.point(*places.values())]
    at = view.kind.read_pose(view).position if pulls or anchor is None else handle.point(anchor)
    for where, vector in pulls:
        torque = torque + cross(handle.point(where) - at, vector)
    return [force, torque, at]


def acceleration_read_kernel(kind: BodyKind) -> Kernel:
    """Pointer 1: the body, whose accelerations were solved for; 2: where the linear and the angular one go."""

    def write(trace: Trace) -> None:
        view = StateView(kind, trace, 1)
        trace.store(2, 0, ca.vertcat(*kind.read_acceleration(view, view.field("x"))))

    return Kernel(f"read|{kind.key}|acceleration", write)


def frame_acceleration_kernel(kind: BodyKind) -> Kernel:
    """Pointer 1: the body, whose accelerations were solved for; 2: where the linear and the angular one of a frame on it go; 3:
    the numbers of the frame."""

    def write(trace: Trace) -> None:
        trace.store(2, 0, ca.vertcat(*carried_acceleration(kind, StateView(kind, trace, 1), trace.load(3, 0, FRAME))))

    return Kernel(f"read|{kind.key}|frame acceleration", write)


def reaction_size(node: NodeKind) -> int:
    """Entries of the reactions of a node: LOAD for each body of each constraint, then the multipliers of all rows."""
    return LOAD * len(node.kinds) * len(node.parts) + node.size


def reaction_read_kernel(node: NodeKind, start: int, x: int) -> Kernel:
    """Pointer 1: the node, whose multipliers are at x; 2, 3, ...: its bodies; behind them: what each of its constraints puts on
    each body, as `reaction_size` says. Bodies whose kind tells no wrench are left out."""

    def write(trace: Trace) -> None:
        views, time = _states(trace, node.kinds), load_global(trace, "time")
        pulls = node.pulls_between(trace, views, time, start)
        multipliers = -trace.load(1, x, node.size)
        tape, row, found = Tape(views, time), 0, []
        for number, (part, p) in enumerate(zip(node.parts, node.parameters_of(trace, start), strict=True)):
            rows = slice(row, row + len(part.kept))
            row = rows.stop
            anchor = _anchor(part.arranged(tape.handles), p)
            for k, view in enumerate(views):
                if view is None or not view.kind.tells_wrench:
                    continue
                at = view.kind.read_pose(view).position if anchor is None else anchor
                told = view.kind.read_wrench(view, pulls[k][rows, :].T @ multipliers[rows], at)
                found.append((LOAD * (len(views) * number + k), ca.vertcat(*told, at)))
        for (offset, _), value in zip(found, tape.resolve([value for _, value in found]), strict=True):
            trace.store(node.behind, offset, value)
        trace.store(node.behind, reaction_size(node) - node.size, multipliers)

    return Kernel(f"read|{node.key}|{start}|{x}|reaction", write)


def _anchor(handles, p: dict[str, SX]) -> SX | None:
    """Where a reaction is told: the anchor on the second body, or on the first where that moves alone."""
    a, b, *_ = handles
    if b.view is None:
        return a.point(p["on_a"]) if "on_a" in p else None
    local = p.get("on_b", p.get("centre"))
    return None if local is None else b.point(local)
