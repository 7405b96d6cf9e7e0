"""Kernels of what stands on the links of a tree: bodies, points, and sums over all links."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
from casadi import SX

from linkwork.codegen.trace import Kernel, Trace
from linkwork.reduced.link_records import BODY, BODY_CONSTANTS, GIVEN, LINK, POINT, SUMS
from linkwork.reduced.spatial_algebra import brought, matrix33
from linkwork.symbolic import rotation
from linkwork.symbolic.blocks import cross


def body_placed(trace: Trace) -> tuple[SX, SX]:
    """Rotation of the link, arm from its origin to the body's."""
    R = matrix33(trace.load(1, *LINK["R"]))
    return R, R @ trace.load(3, *BODY_CONSTANTS["o"])


def body_pose(trace: Trace) -> None:
    """Position and rotation (pointer 2) of a body of the link (1); its constants (3)."""
    R, arm = body_placed(trace)
    trace.store(2, BODY.offset("position"), trace.load(1, *LINK["p"]) + arm)
    trace.store(2, BODY.offset("rotation"), R @ matrix33(trace.load(3, *BODY_CONSTANTS["Q"])))


def body_still(trace: Trace) -> None:
    """The pose (pointer 2) of a body that is fixed to the ground; its constants (3)."""
    trace.store(2, BODY.offset("position"), trace.load(3, *BODY_CONSTANTS["o"]))
    trace.store(2, BODY.offset("rotation"), trace.load(3, *BODY_CONSTANTS["Q"]))


def body_velocity(trace: Trace) -> None:
    w = trace.load(1, *LINK["w"])
    trace.store(2, BODY.offset("velocity"), ca.vertcat(trace.load(1, *LINK["v"]) + cross(w, body_placed(trace)[1]), w))


def body_wrench(trace: Trace) -> None:
    """The wrench on a body is taken off the force that its link needs."""
    wrench, f = trace.load(2, *BODY["wrench"]), trace.load(1, *LINK["f"])
    trace.store(1, LINK.offset("f"), f - brought(wrench, body_placed(trace)[1]))


def body_to_link(trace: Trace) -> None:
    """Where the link (pointer 1) is and how it moves, from one of its bodies (2: position, quaternion, velocity)."""
    given = trace.load(2, 0, GIVEN.size)
    R = rotation.matrix(rotation.normalised(given[3:7])) @ matrix33(trace.load(3, *BODY_CONSTANTS["Q"])).T
    arm, w = R @ trace.load(3, *BODY_CONSTANTS["o"]), given[10:13]
    for name, value in {"R": R, "p": given[0:3] - arm, "v": given[7:10] - cross(w, arm), "w": w}.items():
        trace.store(1, LINK.offset(name), value)


def body_from_link(trace: Trace) -> None:
    """The way back; the quaternion keeps its sign."""
    R, arm = body_placed(trace)
    w, before = trace.load(1, *LINK["w"]), trace.load(2, *GIVEN["quaternion"])
    turn = rotation.quaternion(R @ matrix33(trace.load(3, *BODY_CONSTANTS["Q"])))
    turn = ca.if_else(ca.dot(turn, before) < 0, -turn, turn)
    velocity = ca.vertcat(trace.load(1, *LINK["v"]) + cross(w, arm), w)
    trace.store(2, 0, ca.vertcat(trace.load(1, *LINK["p"]) + arm, turn, velocity))


def point_place(trace: Trace) -> None:
    """A point (pointer 2) that is fixed in the link (1), at `place` in its frame."""
    arm = matrix33(trace.load(1, *LINK["R"])) @ _local(trace)
    trace.store(2, POINT.offset("x"), trace.load(1, *LINK["p"]) + arm)


def point_move(trace: Trace) -> None:
    point_place(trace)
    arm = matrix33(trace.load(1, *LINK["R"])) @ _local(trace)
    trace.store(2, POINT.offset("rate"), trace.load(1, *LINK["v"]) + cross(trace.load(1, *LINK["w"]), arm))


def point_turned(trace: Trace) -> None:
    """A point with axes of its own."""
    point_place(trace)
    turned = matrix33(trace.load(2, POINT.offset("place") + 3, 9))
    trace.store(2, POINT.offset("axes"), matrix33(trace.load(1, *LINK["R"])) @ turned)


def _local(trace: Trace) -> SX:
    return trace.load(2, POINT.offset("place"), 3)


def add_sums(trace: Trace, **results) -> None:
    for name, value in results.items():
        trace.store(2, SUMS.offset(name), trace.load(2, *SUMS[name]) + value)


def sums_clear(trace: Trace) -> None:
    trace.store(1, 0, SX(ca.DM.zeros(SUMS.size)))


def sums_finish(trace: Trace) -> None:
    """The centre of mass; the moment of momentum about it."""
    m, h, P, L = (trace.load(1, *SUMS[name]) for name in ("mass", "h", "P", "L"))
    com = h / m
    trace.store(1, SUMS.offset("h"), com)
    trace.store(1, SUMS.offset("L"), L - cross(com, P))


def plain(write: Callable[[Trace], None]) -> Kernel:
    """The kernel of one of the functions above."""
    return Kernel(f"reduced|{write.__name__}", write, shared=(3,))
