"""Things that roll and mesh: a disc, a ball on a turntable, gears."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.elements import Cylinder, Disc, Drive, Gear, Hinge, RigidBody, Rolling, Sphere, Wrench
from linkwork.elements.core import checks
from linkwork.scenes import facts
from linkwork.scenes.layout import turn
from linkwork.scenes.registry import Fact, scene
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.util.array_types import FloatArray


GRAVITY = 9.81  # m/s^2


def _rolling_spin(disc: RigidBody, radius: float, lean: float, rate: float) -> float:
    """rad/s: the angular velocity along the axle of a disc that rolls in a circle at `rate`, leaning inwards.

    With the axle at the angle th = pi/2 - lean to the vertical, steady motion asks for
    (I3 + m r^2) w3 rate sin(th) = I1 rate^2 sin(th) cos(th) - m g r cos(th).
    """
    cos, sin = math.sin(lean), math.cos(lean)
    I1, I3 = disc.inertia[0, 0], disc.inertia[2, 2]
    side = I1 * rate**2 * sin * cos - disc.mass * GRAVITY * radius * cos
    found: float = side / ((I3 + disc.mass * radius**2) * rate * sin)
    return found


def _rolling_disc_facts(sim: Simulation, **parameters: Any) -> list[Fact]:
    body = rolling_disc(**parameters).find("disc")
    angle = parameters["rate"] * sim.time
    expected = turn_about_z(body.position, angle)
    return facts.point("the disc's centre", sim.position("disc"), expected, 1e-3)


def turn_about_z(p: FloatArray, angle: float) -> FloatArray:
    """The point p turned about the vertical through the origin."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]])


@scene("rolling-disc", seconds=5.0, facts=_rolling_disc_facts)
def rolling_disc(
    *, radius: float = 0.3, thickness: float = 0.03, mass: float = 2.0, lean: float = 0.35, rate: float = 2.0
) -> World:
    """A coin that rolls without slip, leaning into a circle: a steady motion.

    radius m, thickness m, mass kg; lean (rad) of the disc from the vertical, rate (rad/s) at which it goes round.
    With little lean or a small circle it is too slow to be stable, and falls away from the circle in a few seconds.
    """
    if not 0 < abs(lean) < math.pi / 2 or rate == 0:
        checks.fail('Scene "rolling-disc"', f"lean is {lean:g} and rate {rate:g}", "give 0 < lean < pi/2, and a rate")
    world = World(gravity=(0, 0, -GRAVITY))
    axle = np.array([math.cos(lean), 0, math.sin(lean)])
    up = np.array([-math.sin(lean), 0, math.cos(lean)])  # in the disc's plane
    pose = turn((0, 1, 0), math.pi / 2 - lean)
    body = RigidBody(mass=mass, shape=Disc(radius, thickness), orientation=pose, name="disc")
    spin = _rolling_spin(body, radius, lean, rate)
    body.angular_velocity = rate * math.cos(lean) * up + spin * axle
    body.velocity = radius * np.cross(body.angular_velocity, up)
    # the circle's centre is the origin: the velocity is that of a turn about it
    body.position = np.array([body.velocity[1] / rate, -body.velocity[0] / rate, radius * math.cos(lean)])
    world.add(body)
    world.add(Rolling(world.ground, "disc", radius, axis=axle, name="rim"))
    return world


def _turntable_facts(
    sim: Simulation, *, rate: float, radius: float, mass: float, start: float, speed: float, **_: float
) -> list[Fact]:
    share = 2 / 7  # I / (I + m r^2) of a solid ball
    turning = share * rate
    # v' = turning z x v: the centre circles about c with v = turning z x (x - c)
    x, v = np.array([start, 0.0, radius]), np.array([0.0, speed, 0.0])
    c = x + np.cross((0, 0, 1), v) / turning
    c[2] = 0.0
    return facts.point("the ball", sim.position("ball"), c + turn_about_z(x - c, turning * sim.time), 1e-4)


@scene("turntable", seconds=6.0, facts=_turntable_facts)
def turntable(
    *, rate: float = 4.0, radius: float = 0.05, mass: float = 0.5, start: float = 0.4, speed: float = 0.2, table: float = 1.0
) -> World:
    """A ball that rolls on a driven turntable: it goes round in a circle at 2/7 of the table's rate.

    rate (rad/s) of the table, other than 0; radius m and mass kg of the ball, start m from the axle, speed m/s across
    at the start; table m: its radius.
    """
    if rate == 0:
        checks.fail('Scene "turntable"', "rate is 0", "give the table's rate in rad/s, other than 0")
    world = World(gravity=(0, 0, -GRAVITY))
    thick, up = 0.04, np.array([0.0, 0.0, 1.0])
    world.add(RigidBody(mass=10.0, shape=Disc(table, thick), position=(0, 0, -thick / 2), name="table",
                        angular_velocity=rate * up))  # fmt: skip
    x, v = np.array([start, 0.0, radius]), np.array([0.0, speed, 0.0])
    slip = v - rate * np.cross(up, x)  # what the ball's spin must make up for at the contact
    world.add(RigidBody(mass=mass, shape=Sphere(radius), position=x, velocity=v, name="ball",
                        angular_velocity=np.cross(up, slip) / radius))  # fmt: skip
    world.add(Hinge(world.ground, "table", at=(0, 0, 0), axis=up, name="axle"))
    world.add(Drive("axle", rate, name="drive"))
    world.add(Rolling("table", "ball", radius, at=(0, 0, 0), normal=up, name="contact"))
    return world


def _gear_facts(sim: Simulation, *, n: int, torque: float, **parameters: Any) -> list[Fact]:
    world = gear_train(n=n, torque=torque, **parameters)
    wheels = [world.find(f"wheel{i + 1}") for i in range(n)]
    felt = sum(w.inertia[2, 2] * (wheels[0].shape.radius / w.shape.radius) ** 2 for w in wheels)
    expected = 0.5 * torque / felt * sim.time**2
    last = -expected if n % 2 == 0 else expected
    last *= wheels[0].shape.radius / wheels[-1].shape.radius
    return [
        Fact("angle of the first wheel, rad", float(sim.angle("axle1")), expected, 1e-6 * (1 + expected)),
        Fact("angle of the last wheel, rad", float(sim.angle(f"axle{n}")), last, 1e-6 * (1 + abs(last))),
    ]


@scene("gear-train", seconds=3.0, facts=_gear_facts)
def gear_train(
    *, n: int = 4, radius: float = 0.1, ratio: float = 2.0, thickness: float = 0.04, mass: float = 0.5, torque: float = 0.1
) -> World:
    """Wheels on fixed axles that mesh one after another, driven by a torque on the first.

    n wheels, the first of radius m and mass kg, every second one `ratio` times as large; thickness m; torque N m.
    """
    world = World(gravity=(0, 0, -GRAVITY))
    facing = turn((1, 0, 0), -math.pi / 2)  # the cylinder's axis along y
    x, radii = 0.0, [radius * (ratio if i % 2 else 1.0) for i in range(n)]
    for i, r in enumerate(radii):
        x += radii[i - 1] + r if i else 0.0
        shape, weight = Cylinder(r, thickness), mass * (r / radius) ** 2
        world.add(RigidBody(mass=weight, shape=shape, position=(x, 0, 0), orientation=facing, name=f"wheel{i + 1}"))
        world.add(Hinge(world.ground, f"wheel{i + 1}", at=(x, 0, 0), axis=(0, 1, 0), name=f"axle{i + 1}"))
        if i:
            world.add(Gear(f"axle{i}", f"axle{i + 1}", -r / radii[i - 1], name=f"mesh{i}"))
    world.add(Wrench("wheel1", torque=(0, torque, 0), name="crank"))
    return world
