"""The structures that the paper speaks of, as worlds. Links point in random directions, so that no entry of a block is
zero by an accident of the axes."""

import numpy as np

import linkwork as lw
from linkwork.scenes.layout import rod

LENGTH, RADIUS, MASS = 0.1, 0.01, 0.1  # m, m, kg of a link


def _directions(n, seed):
    d = np.random.default_rng(seed).normal(size=(n, 3))
    return d / np.linalg.norm(d, axis=1, keepdims=True)


def chain(n, *, tip=1.0, seed=1):
    """Figure 1a: n links on ball joints, the first on the ground. tip: the last link's mass over the others'."""
    world = lw.World()
    start, previous = np.zeros(3), world.ground
    for k, direction in enumerate(_directions(n, seed)):
        end = start + LENGTH * direction
        link = world.add(rod(start, end, RADIUS, MASS * (tip if k == n - 1 else 1.0), name=f"link{k + 1}"))
        world.add(lw.Ball(previous, link, at=start, name=f"joint{k + 1}"))
        start, previous = end, link
    return world


def star(n, *, seed=2):
    """Figure 1b: n bodies, each joined to one hub."""
    world = lw.World()
    hub = world.add(lw.RigidBody(mass=10 * MASS, shape=lw.Sphere(LENGTH), name="hub"))
    for k, direction in enumerate(_directions(n, seed)):
        start = LENGTH * direction
        arm = world.add(rod(start, start + LENGTH * direction[[1, 2, 0]], RADIUS, MASS, name=f"arm{k + 1}"))
        world.add(lw.Ball(hub, arm, at=start, name=f"joint{k + 1}"))
    return world


def tree(n):
    """A binary tree of about n links, the first on the ground: the scene "tree", whose 127 links are figure 3."""
    depth = max(1, round(np.log2(n + 1)))
    return lw.scenes.get("tree", depth=depth, ratio=0.9)


def planar_tree(joints, *, seed=3):
    """Bodies in a plane, free in it, with this many pins of two rows each between them; a binary tree."""
    world = lw.World(gravity=(0, 0, 0))
    angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, joints + 1)
    ends = []
    for k, angle in enumerate(angles):
        start = ends[(k - 1) // 2] if k else np.zeros(3)
        direction = LENGTH * np.array([np.cos(angle), 0.0, -np.sin(angle)])
        shape = lw.Box(LENGTH, RADIUS, RADIUS)
        body = lw.PlanarBody(mass=MASS, shape=shape, position=start + direction / 2, angle=angle, name=f"body{k}")
        world.add(body)
        if k:
            world.add(lw.Ball(f"body{(k - 1) // 2}", body, at=start, name=f"pin{k}"))
        ends.append(start + direction)
    return world


def planar_loops(joints, loops, *, seed=3):
    """The same tree with more pins, each midway between two of its last bodies that have no body in common."""
    world = planar_tree(joints, seed=seed)
    last = list(world.bodies)[::-1]
    for k in range(loops):
        a, b = (last[4 * (k // 2) + k % 2 + j] for j in (0, 2))
        x, z = (np.asarray(a.position) + np.asarray(b.position)) / 2
        world.add(lw.Ball(a, b, at=(x, 0, z), name=f"loop{k + 1}"))
    return world


def touching(links, planes, *, seed=5):
    """A binary tree of links on ball joints, the first on the ground; so many of the last touch planes, without friction:
    rows that hold, one for each."""
    world, ends = _branching(links, seed)
    for k in range(planes):
        link = links - k
        world.add(lw.PointOnPlane(world.ground, f"link{link}", at=ends[link], normal=(0, 0, 1), name=f"contact{k + 1}"))
    return world


def standing(links, contacts, *, seed=5):
    """The same tree, whose tips stand on plates by contact, without friction. Links have no shape, so that nothing else
    touches; a tip is a small sphere."""
    world, ends = _branching(links, seed)
    for k in range(contacts):
        link = world.find(f"link{links - k}")
        tip = LENGTH / 2 * np.array([0.0, 0.0, 1.0])  # a capsule lies along its z axis
        plate = ends[links - k] - (0, 0, RADIUS + RADIUS / 2)
        world.add(lw.Collider(link, lw.Sphere(RADIUS), position=tip, name=f"tip{k + 1}"))
        world.add(lw.Collider(world.ground, lw.Box(LENGTH, LENGTH, RADIUS), position=plate, name=f"plate{k + 1}"))
    if contacts:
        world.add(lw.Contact(friction=0.0, restitution=0.0))
    return world


def _branching(links, seed):
    """(world, tips): a binary tree of links without shapes on ball joints, the first on the ground."""
    world, ends = lw.World(), [np.zeros(3)]
    for k, direction in enumerate(_directions(links, seed)):
        start = ends[(k + 1) // 2]
        shaped = rod(start, start + LENGTH * direction, RADIUS, MASS)
        link = world.add(lw.RigidBody(mass=MASS, inertia=shaped.inertia, position=shaped.position,
                                      orientation=shaped.orientation, name=f"link{k + 1}"))  # fmt: skip
        above = world.ground if k == 0 else f"link{(k + 1) // 2}"
        world.add(lw.Ball(above, link, at=start, name=f"joint{k + 1}"))
        ends.append(start + LENGTH * direction)
    return world, ends


def ball_on_a_planar_body():
    """A rigid body, and a body that can only move in a plane, joined by a ball: three rows, of which the planar body
    feels two."""
    world = lw.World()
    arm = world.add(rod((0, 0, 0), (0.3, 0.2, 0.1), RADIUS, MASS, name="arm"))
    puck = world.add(lw.PlanarBody(mass=MASS, shape=lw.Disc(0.1, 0.02), position=(0.1, 0.0), name="puck"))
    world.add(lw.Ball(arm, puck, at=(0, 0, 0), name="ball"))
    return world


def weak_row(scale, *, seed=4):
    """Two bodies and a constraint of three rows, whose third row hardly feels the second body."""
    world, rng = lw.World(), np.random.default_rng(seed)
    A, B = rng.normal(size=(3, 3)), np.diag([1.0, 1.0, scale]) @ rng.normal(size=(3, 3))
    first, second = (world.add(lw.RigidBody(mass=1.0, shape=lw.Box(0.3, 0.2, 0.1), name=name)) for name in "ab")

    def rows(a, b, t):
        return [lw.dot(tuple(A[k]), a.position) - lw.dot(tuple(B[k]), b.position) for k in range(3)]

    world.add(lw.Constraint(first, second, rows, name="rows"))
    return world
