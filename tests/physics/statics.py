"""Structures of blocks in a plane: whether contact forces within Coulomb's cones carry them, by linear programming; an arch and a
tower of cards, as statics and as worlds."""

from itertools import pairwise

import numpy as np
from scipy.optimize import linprog

import linkwork as lw

G = 9.81
ACROSS = (np.cos(np.pi / 4), np.sin(np.pi / 4), 0, 0)  # the axis of a capsule along y
DEEP = 0.06  # m: cards along y
CARD, ROUND, LEANS = 0.09, 1e-3, 0.35  # m between rounded edges, their radius; rad from the vertical
BETWEEN = 2 * (CARD * np.sin(LEANS) + ROUND) + 0.01  # m from one pair of leaning cards to the next
KILOS = 2e-3


def carried(masses, centres, touches, mu):
    """Whether some forces hold all bodies. touches: (below, above, point, normal on the one above); -1: the ground."""
    n = 2 * len(touches)
    balance, load = np.zeros((3 * len(masses), n)), np.zeros(3 * len(masses))
    load[1::3] = G * np.array(masses)
    for k, (below, above, point, normal) in enumerate(touches):
        for column, d in ((2 * k, normal), (2 * k + 1, (-normal[1], normal[0]))):
            for body, sign in ((below, -1.0), (above, 1.0)):
                if body >= 0:
                    x, z = np.subtract(point, centres[body])
                    balance[3 * body : 3 * body + 3, column] = sign * np.array([*d, x * d[1] - z * d[0]])
    cones = np.zeros((n, n))
    cones[0::2, 0::2] = cones[1::2, 0::2] = -mu * np.eye(n // 2)
    cones[0::2, 1::2], cones[1::2, 1::2] = np.eye(n // 2), -np.eye(n // 2)
    return linprog(np.zeros(n), cones, np.zeros(n), balance, load, [(0, None), (None, None)] * (n // 2)).status == 0


def critical(holds, low, high):
    """The number from which on `holds` is true."""
    for _ in range(24):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def stone(k, n, thick):
    """Corners (4, 2) of a stone of a semicircular arch of mean radius 1 m."""
    a, b = np.pi * k / n, np.pi * (k + 1) / n
    corners = ((a, 1 - thick / 2), (a, 1 + thick / 2), (b, 1 + thick / 2), (b, 1 - thick / 2))
    return np.array([[r * np.cos(angle), r * np.sin(angle)] for angle, r in corners])


def area_and_middle(corners):
    """Of a polygon."""
    x, y = corners.T
    x1, y1 = np.roll(x, -1), np.roll(y, -1)
    w = x * y1 - x1 * y
    return w.sum() / 2, np.array([((x + x1) * w).sum(), ((y + y1) * w).sum()]) / (3 * w.sum())


def arch_is_carried(n, thick, mu):
    """A semicircular arch of n stones that stands on the ground."""
    made = [area_and_middle(stone(k, n, thick)) for k in range(n)]
    touches = []
    for k in range(n + 1):
        below, above = (k - 1, k) if k < n else (-1, n - 1)
        normal = (-np.sin(np.pi * k / n), np.cos(np.pi * k / n)) if k < n else (0.0, 1.0)
        touches += [
            (below, above, (r * np.cos(np.pi * k / n), r * np.sin(np.pi * k / n)), normal)
            for r in (1 - thick / 2, 1 + thick / 2)
        ]
    return carried([area for area, _ in made], [middle for _, middle in made], touches, mu)


def arch(n, thick, mu):
    """The same as a world."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k in range(n):
        corners = stone(k, n, thick)
        _, (x, z) = area_and_middle(corners)
        points = [(px - x, y, pz - z) for px, pz in corners for y in (-0.15, 0.15)]
        world.add(lw.RigidBody(shape=lw.ConvexHull(points), density=1000.0, position=(x, 0, z), name=f"stone{k}"))
    world.add(lw.Contact(friction=mu))
    return world


def cards(levels):
    """A tower of cards: (angle, x, z) of each, None for the angle of those that lie; what touches."""
    made, touches, below, z = [], [], [], 0.0
    for level in range(levels):
        pairs = levels - level
        first, tops = -(pairs - 1) * BETWEEN / 2, []
        for k in range(pairs):
            x, n = first + k * BETWEEN, len(made)
            for side in (-1, 1):
                made.append(
                    (-side * LEANS, x + side * (ROUND + CARD * np.sin(LEANS) / 2), z + ROUND + CARD * np.cos(LEANS) / 2)
                )
                foot = (x + side * (ROUND + CARD * np.sin(LEANS)), z)
                touches.append((below[k] if below else -1, len(made) - 1, foot, (0.0, 1.0)))
            touches.append((n, n + 1, (x, z + ROUND + CARD * np.cos(LEANS)), (1.0, 0.0)))
            tops.append((x, n))
        z, below = z + CARD * np.cos(LEANS) + 2 * ROUND, []
        for (x, left), (other, right) in pairwise(tops):
            touches += [(left + 1, len(made), (x + ROUND, z), (0.0, 1.0)), (right, len(made), (other - ROUND, z), (0.0, 1.0))]
            below.append(len(made))
            made.append((None, (x + other) / 2, z + ROUND))
        z += 2 * ROUND
    return made, touches


def cards_are_carried(levels, mu):
    """Whether friction mu can hold a tower."""
    made, touches = cards(levels)
    return carried([KILOS] * len(made), [card[1:] for card in made], touches, mu)


def tower(levels, mu):
    """The same as a world: leaning cards with rounded edges, and boxes."""
    world = lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), name="floor"))
    for k, (angle, x, z) in enumerate(cards(levels)[0]):
        if angle is None:
            shape = lw.Box(BETWEEN - 2e-4, DEEP, 2 * ROUND)
            world.add(lw.RigidBody(KILOS, shape=shape, position=(x, 0, z), name=f"card{k}"))
            continue
        inertia = KILOS / 12 * np.array([DEEP**2 + CARD**2, CARD**2, DEEP**2])
        card = lw.RigidBody(
            KILOS, inertia, position=(x, 0, z), orientation=(np.cos(angle / 2), 0, np.sin(angle / 2), 0), name=f"card{k}"
        )
        world.add(card)
        for end in (-1, 1):
            world.add(lw.Collider(card, lw.Capsule(ROUND, DEEP), position=(0, 0, end * CARD / 2), orientation=ACROSS))
    world.add(lw.Contact(friction=mu))
    return world
