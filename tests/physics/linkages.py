"""Mechanisms that move although they have more rows than freedoms to hold, and mechanisms that begin where rows depend on each
other. Rings of hinges are given by Denavit and Hartenberg's lengths and twists, and closed by Newton's method."""

import itertools
import math

import numpy as np

import linkwork as lw

BOX = (0.02, 0.03, 0.05)  # kg m^2: moments of every link, about axes of the world as built


def _about_z(angle, offset=0.0):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, offset], [0, 0, 0, 1]])


def _along_x(length, twist):
    c, s = math.cos(twist), math.sin(twist)
    return np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def _frames(lengths, twists, offsets, angles):
    """Of the joints: z is the axis of each; the last one closes the ring."""
    frames = [np.eye(4)]
    for length, twist, offset, angle in zip(lengths, twists, offsets, angles, strict=True):
        frames.append(frames[-1] @ _about_z(angle, offset) @ _along_x(length, twist))
    return frames


def closed_angles(lengths, twists, offsets, start, fixed=1):
    """Angles of the joints that close a ring, by Newton's method from `start`; the first `fixed` of them stay."""
    angles = np.array(start, dtype=float)

    def gap(angles):
        return (_frames(lengths, twists, offsets, angles)[-1] - np.eye(4))[:3].ravel()

    for _ in range(50):
        slope = np.array([(gap(angles + 1e-6 * e) - gap(angles - 1e-6 * e)) / 2e-6 for e in np.eye(len(angles))[fixed:]]).T
        angles[fixed:] -= np.linalg.lstsq(slope, gap(angles), rcond=1e-7)[0]
    assert np.abs(gap(angles)).max() < 1e-13, f"the ring stays open by {np.abs(gap(angles)).max():.2g}"
    return angles


def ring(lengths, twists, start, offsets=None, fixed=1, mass=1.0, size=1.0, out=0.0):
    """A ring of hinges; the last of its links is the ground. `mass` kg: of all, or of each; `size` m: of a unit of length;
    `out`: of these, how far the links' centres are from their hinges, along the axes."""
    offsets = offsets or [0.0] * len(lengths)
    angles = closed_angles(lengths, twists, offsets, start, fixed)
    frames = _frames(lengths, twists, offsets, angles)[:-1]
    at, axes = [size * frame[:3, 3] for frame in frames], [frame[:3, 2] for frame in frames]
    world = lw.World()
    masses = np.broadcast_to(mass, len(at) - 1)
    centres = [(at[k] + at[k + 1] + size * out * (axes[k] + axes[k + 1])) / 2 for k in range(len(at) - 1)]
    links = [world.add(lw.RigidBody(m, tuple(m * size**2 * x for x in BOX), position=place, name=f"link{k}"))
             for k, (m, place) in enumerate(zip(masses, centres, strict=True))]  # fmt: skip
    for k, (a, b) in enumerate(zip([world.ground, *links], [*links, world.ground], strict=True)):
        world.add(lw.Hinge(a, b, at=at[k], axis=axes[k], name=f"hinge{k}"))
    return world


def bennett(a=1.0, twist=math.pi / 3, b=0.8, angle=1.0, **others):
    """Four hinges, none parallel to another: sin(twist) / length is the same for all links."""
    other = math.asin(b * math.sin(twist) / a)
    second = 2 * math.atan(math.sin((other + twist) / 2) / math.sin((other - twist) / 2) / math.tan(angle / 2))
    return ring([a, b, a, b], [twist, other, twist, other], [angle, second, -angle, -second], **others)


def goldberg(angle=2.0, **others):
    """Five hinges: two of Bennett's rings on a common link, which is then left out; two links become one."""
    b, twist, a1, a2 = 0.8, math.radians(40), 1.0, 0.6
    twist1, twist2 = (math.asin(a * math.sin(twist) / b) for a in (a1, a2))
    return ring([a1 + a2, b, a1, a2, b], [twist1 + twist2, twist, twist1, twist2, twist],
                [angle, -3.05523, -0.52444, -2.08637, -2.61716], **others)  # fmt: skip


def goldberg_six(angle=2.0, **others):
    """Six hinges: a third of Bennett's rings on a link of `goldberg`, which is then left out."""
    b, twist, a1, a2, a3 = 0.8, math.radians(40), 1.0, 0.6, 0.5
    twist1, twist2, twist3 = (math.asin(a * math.sin(twist) / b) for a in (a1, a2, a3))
    return ring([a1 + a2 + a3, b, a1, a2, a3, b], [twist1 + twist2 + twist3, twist, twist1, twist2, twist3, twist],
                [angle, -3.11835, -0.1441, -0.81645, -1.8559, -2.34838], **others)  # fmt: skip


def myard(angle=1.0, **others):
    """Five hinges, symmetric about a plane."""
    twist, b = math.radians(50), 1.0
    a, quarter = b * math.sin(twist), math.pi / 2
    return ring([a, b, 0.0, b, a], [twist, quarter, math.pi - 2 * twist, quarter, math.pi - twist],
                [angle, 2.0409, 1.0708, -2.0708, -2.0409], **others)  # fmt: skip


def bricard(angle=0.7, **others):
    """Six hinges at right angles to their neighbours, all of the same length."""
    quarter = math.pi / 2
    return ring([1.0] * 6, [quarter, -quarter] * 3, [angle, 2.01903] * 3, **others)


def four_bar(tilt=(0.4, 0.7, 0.3)):
    """Four parallel hinges, with the whole of it tilted in space: three rows are redundant."""
    world = lw.World()
    turn = _about_z(tilt[0])[:3, :3] @ _along_x(0, tilt[1])[:3, :3] @ _about_z(tilt[2])[:3, :3]
    corners = [turn @ x for x in np.array([(0, 0, 0), (0, 1, 0), (2, 1.5, 0), (2.5, 0, 0)], dtype=float)]
    links = [world.add(lw.RigidBody(1.0, BOX, position=(a + b) / 2, name=f"link{k}"))
             for k, (a, b) in enumerate(itertools.pairwise(corners))]  # fmt: skip
    for k, (a, b) in enumerate(zip([world.ground, *links], [*links, world.ground], strict=True)):
        world.add(lw.Hinge(a, b, at=corners[k], axis=turn[:, 2], name=f"hinge{k}"))
    return world


def spherical_four_bar(angle=0.9, **others):
    """Four hinges whose axes meet in one point."""
    arcs = [0.9, 1.2, 1.0, 1.4]
    return ring([0.0] * 4, arcs, [angle, 1.48521, 0.75724, 1.65653], out=1.0, **others)


def sarrus(legs=2, bend=0.6):
    """A plate that hinges on two legs, or more, guide along a straight line: each leg has three parallel hinges."""
    world = lw.World()
    plate = world.add(lw.RigidBody(1.0, BOX, position=(0, 0, 2 * math.cos(bend)), name="plate"))
    for k in range(legs):
        turn = _about_z(2.0 * k / (legs - 1))[:3, :3]
        out, across = turn @ (1.0, 0, 0), turn @ (0, 1.0, 0)
        foot, knee, top = (
            0.5 * out,
            (0.5 + math.sin(bend)) * out + [0, 0, math.cos(bend)],
            0.5 * out + [0, 0, 2 * math.cos(bend)],
        )
        lower = world.add(lw.RigidBody(1.0, BOX, position=(foot + knee) / 2, name=f"lower{k}"))
        upper = world.add(lw.RigidBody(1.0, BOX, position=(knee + top) / 2, name=f"upper{k}"))
        for name, a, b, at in (("foot", world.ground, lower, foot), ("knee", lower, upper, knee), ("top", upper, plate, top)):
            world.add(lw.Hinge(a, b, at=at, axis=across, name=f"{name}{k}"))
    return world


def straight_chain(count=6, joint=lw.Ball, length=0.1, mass=0.1, slope=0.0, push=None):
    """Links in line between two nails, `slope` rad below the horizontal; push (N) on the one in the middle. Rows depend on each
    other here, and in no other place."""
    world = lw.World()
    way = np.array([math.cos(slope), 0.0, -math.sin(slope)])
    turned, previous = (math.cos(slope / 2), 0.0, math.sin(slope / 2), 0.0), world.ground
    others = {"axis": (0, 1, 0)} if joint is lw.Hinge else {}
    for k in range(count):
        link = world.add(lw.RigidBody(mass, shape=lw.Box(length, length / 5, length / 5), position=(k + 0.5) * length * way,
                                      orientation=turned, name=f"link{k}"))  # fmt: skip
        world.add(joint(previous, link, at=k * length * way, **others))
        previous = link
    world.add(joint(previous, world.ground, at=count * length * way, name="end", **others))
    if push is not None:
        world.add(lw.Wrench(f"link{count // 2}", force=push, name="push"))
    return world


def flat_parallelogram(speed=2.0, spatial=True):
    """Two cranks of 1 m and a coupler of 2 m, all in line as built, in the dead point: it could go on as a parallelogram or
    crossed. `speed` rad/s of the cranks, as a parallelogram has it."""
    world = lw.World(gravity=(0, 0, 0))
    turning, up = (0, speed, 0), np.array([0, 0, -speed])
    centres, velocities = ((0.5, 0, 0), (2.0, 0, 0), (2.5, 0, 0)), (up / 2, up, up / 2)
    for k, (centre, velocity) in enumerate(zip(centres, velocities, strict=True)):
        world.add(lw.RigidBody(1.0, BOX, position=centre, velocity=velocity, angular_velocity=turning if k != 1 else (0, 0, 0),
                               name=f"bar{k}"))  # fmt: skip
    for a, b, x in ((world.ground, "bar0", 0), ("bar0", "bar1", 1), ("bar1", "bar2", 3), ("bar2", world.ground, 2)):
        world.add(lw.Hinge(a, b, at=(x, 0, 0), axis=(0, 1, 0)) if spatial or x != 3 else
                  lw.PointOnLine(a, b, at=(x, 0, 0), axis=(0, 1, 0)))  # fmt: skip
    return world
