"""Every constraint on every pair of body kinds: how each is built, and whether the package takes it.

The table of docs/compatibility.md and the tests of derivatives come from the same worlds.
"""

from functools import cache

import numpy as np

import linkwork as lw
from linkwork.model.compile_model import compile
from tests.oracles.poses import Ground, as_built, bent
from tests.oracles.residuals import user as evaluate

P = np.array([0.3, 0.0, 0.2])  # an anchor in the plane of the planar bodies
APART = np.array([0.4, 0.0, 0.3])  # from a's anchor to b's where they must not coincide
RADIUS = 0.25
KINDS = ("rigid", "planar", "particle", "planar particle", "scalable", "affine", "Lagrangian", "ground")
DIRECTED = ("rigid", "planar", "scalable", "affine", "ground")  # have directions
DEFORMATION = ((1.1, 0.1, -0.05), (0.2, 0.9, 0.1), (-0.1, 0.05, 1.2))


def unit(*x):
    return np.array(x) / np.linalg.norm(x)


def body(world, kind, anchor, side, centred=False):
    """A body of this kind that has a point at the anchor; `centred`: its position is there."""
    if kind == "ground":
        return world.ground
    number = "ab".index(side)
    offset = np.array([[-0.35, 0.0, 0.15], [0.25, 0.0, -0.4]][number])
    if kind not in ("planar", "planar particle"):
        offset = offset + np.array([0, [0.1, -0.2][number], 0])
    position = anchor + (0 if centred or "particle" in kind else offset)
    turned = unit(*[[0.9, 0.2, -0.3, 0.1], [0.7, -0.1, 0.4, 0.5]][number])
    made = {
        "rigid": lambda: lw.RigidBody(1.2, ((0.3, 0.02, 0.01), (0.02, 0.25, -0.03), (0.01, -0.03, 0.2)), position=position,
                                      orientation=turned, com=(0, 0, 0) if centred else (0.05, -0.02, 0.1)),
        "planar": lambda: lw.PlanarBody(1.1, 0.3, position=position[[0, 2]], angle=[0.4, -0.7][number]),
        "particle": lambda: lw.Particle(0.8, position),
        "planar particle": lambda: lw.PlanarParticle(0.7, position[[0, 2]]),
        "scalable": lambda: lw.ScalableBody(1.3, (0.1, 0.2, 0.15), position=position, orientation=turned,
                                            stretch=(1.2, 0.9, 1.1)),
        "affine": lambda: lw.AffineBody(0.9, (0.12, 0.2, 0.1), position=position, deformation=DEFORMATION),
        "Lagrangian": lambda: lagrangian(position, [(0.3, -0.2), (-0.4, 0.5)][number]),
    }[kind]  # fmt: skip
    element = made()
    element.name = side
    return world.add(element)


def lagrangian(position, others):
    """A Lagrangian body with its place p = 0 there."""
    from_zero = np.array(bent((0, 0, 0, *others), np.zeros(3)))
    points = np.vstack([np.zeros(3), np.eye(3)])
    return lw.LagrangianBody(bent, (0.5, 0.2, 0.3, 0.4), points=points, coordinates=(*(position - from_zero), *others))


def local(element, world_point):
    """A world point in a body's own frame, as built."""
    if element.dim == 0:
        return np.array(world_point)
    x, F, _ = as_built(element)
    return np.linalg.inv(F) @ (world_point - x)


def anchored(make):
    """A joint of coinciding anchors."""
    return lambda w, a, b: w.add(make(a, b))


def on_curve(size):
    def build(w, a, b):
        p0 = local(a, P + APART)

        def curve(p):
            x, y, z = (p[k] - float(p0[k]) for k in range(3))
            rows = (x + 0.3 * y * z - 0.5 * x * z + 0.2 * z**2, y + 0.4 * x * y)
            return rows if size == 2 else rows[0] + 0.7 * rows[1]

        make = lw.PointOnCurve if size == 2 else lw.PointOnSurface
        return w.add(make(a, b, curve, on_b=local(b, P + APART)))

    return build


def on_own_coordinates(size):
    """A curve (1) or surface (2) of a with coordinates of its own, through b's point as built."""

    def build(w, a, b):
        x, y, z = (float(x) for x in local(a, P + APART))

        def places(u):
            second = u[1] if size == 2 else 0
            return x + u[0], y + second, z + 0.4 * u[0] + 0.1 * u[0] ** 2 + 0.05 * second**2

        on_b = local(b, P + APART)
        if size == 2:
            return w.add(lw.PointOnSurface(a, b, places, on_b=on_b, start=(0.02, -0.01)))
        return w.add(lw.PointOnCurve(a, b, places, on_b=on_b, start=0.02))

    return build


def tangent(w, a, b):
    """A sphere of b on a bowl of a."""
    foot = local(a, P + APART)
    x, y, z = (float(x) for x in foot)
    if a.dim:
        origin, frame, _ = as_built(a)
    else:
        origin, frame = np.zeros(3), np.eye(3)
    Fa, Fb = frame, np.eye(3) if b.dim == 0 else as_built(b)[1]
    up = np.linalg.inv(Fa).T @ np.array([0, 0, 1.0])  # the bowl's normal at the foot, whatever has stretched it
    inside = Fb.T @ up  # what is lowest of b's sphere is opposite to this
    middle = local(b, origin + frame @ foot) + RADIUS * inside / np.linalg.norm(inside)
    cx, cy, cz = (float(x) for x in middle)
    return w.add(lw.Tangent(
        a, b, lambda u: (x + u[0], y + u[1], z + 0.1 * u[0] ** 2 + 0.05 * u[1] ** 2),
        lambda p: ((p[0] - cx) ** 2 + (p[1] - cy) ** 2 + (p[2] - cz) ** 2 - RADIUS**2) / (2 * RADIUS), start_a=(0.02, -0.01)))  # fmt: skip


def rolling(**options):
    """On the plane that what has the radius where b is not stretched just touches, below b's position."""

    def build(w, a, b):
        centre, F, R = (np.zeros(3), np.eye(3), np.eye(3)) if b.dim == 0 else as_built(b)
        down = F.T @ np.array([0, 0, 1.0])
        if "axis" in options and type(b).__name__ in ("ScalableBody", "AffineBody"):
            axle = R.T @ np.array(options["axis"])
            down -= (down @ axle) * axle
        far = np.linalg.norm(down) if type(b).__name__ in ("ScalableBody", "AffineBody") else 1.0
        return w.add(lw.Rolling(a, b, RADIUS, at=centre - (0, 0, RADIUS * far), **options))

    return build


def gear(level):
    def build(w, a, b):
        one = w.add(lw.Hinge(w.ground, a, at=P, axis=(0, 1, 0)))
        two = w.add(lw.Hinge(b, w.ground, at=P + APART, axis=(0, 1, 0)))
        return w.add(lw.Gear(one, two, -1.7, level=level))

    return build


def on_joint(joint, make):
    def build(w, a, b):
        return w.add(make(w.add(joint(a, b))))

    return build


def hinge(a, b):
    return lw.Hinge(a, b, at=P, axis=(0, 1, 0))


def slider(a, b):
    return lw.Slider(a, b, at=P, axis=(1, 0, 0))


def user_points(a, b, t):
    d = b.position - a.position
    return [d[0] ** 2 + 0.3 * d[2] + 0.2 * t * d[2] - 0.1 * t**2, lw_dot(d, d) * (1 + 0.1 * a.position[0])]


def lw_dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def user_directions(a, b, t):
    return lw_dot(a.direction((0.6, 0, 0.8)), b.point((0.1, 0, 0.2)) - a.point((0.3, 0, 0))) + 0.1 * b.orientation[0, 2] * t


def user_velocities(a, b, t):
    return lw_dot(a.velocity - b.velocity, b.position - a.position) + 0.3 * t + 0.1 * lw_dot(a.velocity, b.velocity)


def user_spins(a, b, t):
    return (
        a.spin((0, 1, 0))
        - 2 * b.angular_velocity[1] * b.position[0]
        + 0.2 * lw_dot(b.point_velocity((0.1, 0, 0.1)), a.position)
    )


def user(make, function):
    """The function less its value as built, so that it holds there."""

    def build(w, a, b):
        bodies = (a, b)
        twins = [placed_as_built(x) for x in bodies]
        element = make(*bodies, function)
        if make is lw.VelocityConstraint:
            return w.add(element)
        offset = [float(x) for x in evaluate(*twins, element, 0.0)[0][1]]

        def shifted(a, b, t):
            rows = function(a, b, t)
            rows = rows if isinstance(rows, list) else [rows]
            return [row - c for row, c in zip(rows, offset, strict=True)]

        return w.add(make(*bodies, shifted))

    return build


def placed_as_built(element):
    if element.dim == 0:
        return Ground()
    built = Ground()
    built.x0, built.F0, built.R0 = as_built(element)
    return built


def body_motion(w, a, b):
    def path(t):
        return P[0] + 0.1 * t + 0.3 * t**2, 0.0, P[2] - 0.2 * t**3

    return w.add(lw.Motion(b, path, at=local(b, P)))


# name -> (build(world, a, b), are b's points apart from a's, who is centred at its anchor, is it on one body)
CONSTRAINTS = {
    "Ball": (anchored(lambda a, b: lw.Ball(a, b, at=P)), False, ""),
    "Hinge": (anchored(hinge), False, ""),
    "Slider": (anchored(slider), False, ""),
    "Cylindrical": (anchored(lambda a, b: lw.Cylindrical(a, b, at=P, axis=(0, 1, 0))), False, ""),
    "Universal": (anchored(lambda a, b: lw.Universal(a, b, at=P, first=(1, 0, 0), second=(0, 1, 0))), False, ""),
    "Planar": (anchored(lambda a, b: lw.Planar(a, b, at=P, normal=(0, 0, 1))), False, ""),
    "Weld": (anchored(lambda a, b: lw.Weld(a, b)), False, ""),
    "Screw": (anchored(lambda a, b: lw.Screw(a, b, at=P, axis=(0, 1, 0), pitch=0.4)), False, ""),
    "Distance": (anchored(lambda a, b: lw.Distance(a, b, on_a=local(a, P), on_b=local(b, P + APART))), True, ""),
    "PointOnLine": (anchored(lambda a, b: lw.PointOnLine(a, b, P + APART, axis=(0.8, 0, 0.6))), True, ""),
    "PointOnPlane": (anchored(lambda a, b: lw.PointOnPlane(a, b, on_b=local(b, P + APART), normal=(0.6, 0, 0.8))), True, ""),
    "PointOnCurve": (on_curve(2), True, ""),
    "PointOnSurface": (on_curve(1), True, ""),
    "PointOnCurve (own coordinate)": (on_own_coordinates(1), True, ""),
    "PointOnSurface (own coordinates)": (on_own_coordinates(2), True, ""),
    "Tangent": (tangent, True, ""),
    "Gear": (gear("position"), True, ""),
    "Gear (velocity)": (gear("velocity"), True, ""),
    "Rolling (ball)": (rolling(), False, "b"),
    "Rolling (disc)": (rolling(axis=(0, 1, 0)), False, "b"),
    "Skate": (lambda w, a, b: w.add(lw.Skate(b, (1, 0, 0), at=P, normal=(0, 1, 0))), False, ""),
    "Drive (hinge)": (on_joint(hinge, lambda j: lw.Drive(j, lambda t: 0.3 + 2 * t**2)), False, ""),
    "Drive (slider)": (on_joint(slider, lambda j: lw.Drive(j, 0.4)), False, ""),
    "Motion (hinge)": (on_joint(hinge, lambda j: lw.Motion(j, lambda t: 0.3 * t + 2 * t**2)), False, ""),
    "Motion (slider)": (on_joint(slider, lambda j: lw.Motion(j, lambda t: 0.3 * t**2)), False, ""),
    "Motion (body)": (body_motion, False, ""),
    "Constraint (points)": (user(lw.Constraint, user_points), True, ""),
    "Constraint (directions)": (user(lw.Constraint, user_directions), True, ""),
    "VelocityConstraint (points)": (user(lw.VelocityConstraint, user_velocities), True, ""),
    "VelocityConstraint (spins)": (user(lw.VelocityConstraint, user_spins), True, ""),
}  # fmt: skip
UNARY = ("Skate", "Motion (body)")


def pairs_of(name):
    """The pairs (a, b) of kinds on which a constraint is tried."""
    if name in UNARY:
        return [("ground", b) for b in KINDS if b != "ground"]
    moving = [k for k in KINDS if k != "ground"] if name.startswith("Gear") else KINDS
    return [(a, b) for a in moving for b in moving if (a, b) != ("ground", "ground")]


def build(name, kinds):
    """(world, element), the constraint as built; raises what the package raises."""
    make, apart, centred = CONSTRAINTS[name]
    world = lw.World()
    a = world.ground if name in UNARY else body(world, kinds[0], P, "a", "a" in centred)
    lifted = RADIUS * np.array([0, 0, 1]) if name.startswith("Rolling") else 0
    b = body(world, kinds[1], P + (APART if apart else 0) + lifted, "b", "b" in centred)
    return world, make(world, a, b)


@cache
def verdict(name, kinds):
    """(model, element), or the sentence with which the pair is refused."""
    try:
        world, element = build(name, kinds)
        return compile(world, limbs=False), element
    except lw.LinkworkError as error:
        return str(error)
