"""What kernels of a tree read and write: records of links, of bodies on them, of points, and sums over all links."""

from __future__ import annotations

from linkwork.codegen.trace import Record
from linkwork.kernels.implicit_forces import TANGENT

GRAVITY = (0, 0, 3)  # pointer, offset, size
CONSTANTS = {"E": 9, "t": 3, "mass": 1, "h": 3, "inertia": 6}  # the joint's frame on the parent; moments about the origin
COMMON = {"R": 9, "p": 3, "r": 3, "w": 3, "v": 3, "a": 6, "f": 6, "I": 21, "c": 6}  # what links of all kinds have alike
BODY = Record(position=3, rotation=9, velocity=6, wrench=6, tangent=TANGENT)
GIVEN = Record(position=3, quaternion=4, velocity=6)  # of a body whose maximal coordinates are given, in the place of the above
BODY_CONSTANTS = Record(o=3, Q=9)  # the body's frame in its link's
POINT = Record(x=3, rate=3, axes=9, place=12)  # a point, its velocity, the axes of its frame; position and axes in its link's
SUMS = Record(mass=1, h=3, P=3, L=3, kinetic=1, potential=1)  # of all links: h = m c, momenta about the origin
LINK = Record(**COMMON)
