"""Distances of collision shapes: beside Coal's, gradients beside differences, and what is left out or refused."""

import coal
import numpy as np
import pytest

import linkwork as lw

from .forests import joint_between, unit

R = lw.reduced
H = 1e-6
POINTS = [(0.1, 0, 0), (-0.1, 0.05, 0), (0, -0.1, 0.02), (0, 0.02, 0.15), (0.03, 0.1, -0.1)]
SHAPES = (
    lw.Sphere(0.12),
    lw.Box(0.2, 0.3, 0.1),
    lw.Capsule(0.05, 0.3),
    lw.Cylinder(0.08, 0.2),
    lw.Ellipsoid(0.1, 0.15, 0.2),
    lw.ConvexHull(POINTS),
)


def in_coal(shape):
    if isinstance(shape, lw.Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, lw.Box):
        return coal.Box(shape.x, shape.y, shape.z)
    if isinstance(shape, lw.Capsule):
        return coal.Capsule(shape.radius, shape.length)
    return coal.Cylinder(shape.radius, shape.length)


def forest(seed, shapes=SHAPES, n=7, spread=0.5):
    """Bodies in two chains of mixed joints, each with a shape; a collider with another one on some; a plane."""
    rng, world = np.random.default_rng(seed), lw.World()
    world.add(lw.Collider(world.ground, lw.Plane(), position=(0, 0, -3), name="floor"))
    before = [world.ground, world.ground]
    for k in range(n):
        shape = shapes[(seed + k) % len(shapes)]
        body = world.add(
            lw.RigidBody(
                1.0, shape=shape, position=spread * rng.normal(size=3), orientation=unit(rng.normal(size=4)), name=f"body{k}"
            )
        )
        kind = ("Hinge", "Ball", "Slider", "Universal")[(seed + k) % 4]
        world.add(joint_between(rng, kind, before[k % 2], body, body.position + 0.2 * rng.normal(size=3)))
        if k % 3 == 0:
            world.add(lw.Collider(body, shapes[(seed + k + 1) % len(shapes)], position=0.3 * rng.normal(size=3),
                                  orientation=unit(rng.normal(size=4)), name=f"extra{k}"))  # fmt: skip
        before[k % 2] = body
    return world


@pytest.mark.parametrize("seed", range(8))
def test_gradients_are_those_of_differences(seed):
    tree = R.compile(forest(seed))
    q = R.random(tree, seed)
    found = R.distances(tree, q)
    rng = np.random.default_rng(seed)
    checked = 0
    for _ in range(3):
        qd = rng.normal(size=tree.nv)
        values = [R.distances(tree, R.integrate(tree, q, qd, h)).distance for h in (-H, H, -H / 2, H / 2)]
        slope, finer = (values[1] - values[0]) / (2 * H), (values[3] - values[2]) / H
        smooth = np.abs(slope - finer) < 1e-5  # elsewhere the nearest feature changes just there
        assert smooth.mean() > 0.9
        assert np.abs(found.gradient @ qd - slope)[smooth].max() < 1e-4
        checked += smooth.sum()
    assert checked > 30 and not np.isnan(found.gradient).any()


@pytest.mark.parametrize("seed", range(6))
def test_distances_are_those_of_coal(seed):
    shapes = SHAPES[:4]
    world = forest(seed, shapes, spread=0.8)
    tree = R.compile(world)
    for q in R.random(tree, seed, 4):
        found = R.distances(tree, q)
        poses = R.forward_kinematics(tree, q)
        place = {}
        for name in {name for pair in found.names for name in pair} - {"floor"}:
            element = world.find(name)
            body = element if isinstance(element, lw.RigidBody) else element.body
            x, turn = poses.position[tree.body(body)], poses.rotation[tree.body(body)]
            if element is not body:
                from scipy.spatial.transform import Rotation

                x, turn = (
                    x + turn @ element.position,
                    turn @ Rotation.from_quat(element.orientation, scalar_first=True).as_matrix(),
                )
            place[name] = in_coal(element.shape), coal.Transform3s(turn, x)
        for (a, b), d, on_a, on_b in zip(found.names, found.distance, found.on_first, found.on_second, strict=True):
            assert np.isclose(np.linalg.norm(on_b - on_a), abs(d), atol=1e-9)
            if "floor" not in (a, b) and d > 0.0:
                result = coal.DistanceResult()
                expected = coal.distance(*place[a], *place[b], coal.DistanceRequest(), result)
                assert np.isclose(d, expected, atol=2e-5)


def test_pairs_that_are_left_out():
    world = forest(1)
    world.add(lw.NoContact("body0", "body3"))
    tree = R.compile(world)
    pairs = set(R.collision_pairs(tree))
    names = {frozenset(pair) for pair in pairs}
    assert len(names) == len(pairs)
    for a, b in (
        ("body0", "body2"),
        ("body1", "body3"),
        ("body0", "body3"),
        ("body0", "extra0"),
        ("extra0", "body2"),
        ("body0", "floor"),
    ):
        assert frozenset((a, b)) not in names
    for a, b in (("body0", "body1"), ("body0", "body4"), ("body4", "floor"), ("extra0", "body4")):
        assert frozenset((a, b)) in names


def test_arrays_of_states_and_pairs_by_name():
    tree = R.compile(forest(3))
    states = R.random(tree, 5, 6)
    many = R.distances(tree, states, [("body0", "body5"), ("floor", "extra3")])
    assert many.names == (("body0", "body5"), ("extra0", "body5"), ("floor", "extra3"))
    assert many.gradient.shape == (6, 3, tree.nv)
    for k, q in enumerate(states):
        one = R.distances(tree, q, [("body0", "body5"), ("floor", "extra3")])
        assert np.array_equal(one.distance, many.distance[k]) and np.allclose(one.gradient, many.gradient[k], atol=1e-12)
    turned = R.distances(tree, states[0], [("extra3", "floor")])
    assert np.isclose(turned.distance[0], many.distance[0, 2]) and np.allclose(turned.normal[0], -many.normal[0, 2])
    assert np.allclose(turned.gradient[0], many.gradient[0, 2])


def test_overlap_is_negative():
    world = lw.World()
    for k in range(2):
        ball = world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.5), position=(k, 0, 0), name=f"ball{k}"))
        world.add(lw.Slider(world.ground, ball, at=(0, 0, 0), axis=(1, 0, 0)))
    found = R.distances(R.compile(world), [0.0, -0.3])
    assert np.allclose(found.distance, [-0.3]) and np.allclose(found.gradient, [[-1.0, 1.0]])


def test_bad_input():
    tree = R.compile(forest(2))
    q = R.random(tree, 1)
    with pytest.raises(lw.UnknownNameError, match='^World: there is no element named "body77"; did you mean "body'):
        R.distances(tree, q, [("body77", "floor")])
    with pytest.raises(lw.ElementError, match=r"^distances: a pair is 'floor'; give two bodies or colliders"):
        R.distances(tree, q, ["floor"])
    with pytest.raises(
        lw.ModelError, match=r'"hinge1": it is no body and no collider of this tree; give it one, or name another'
    ):
        R.distances(tree, q, [("hinge1", "floor")])
    with pytest.raises(lw.ElementError, match="^q has the shape"):
        R.distances(tree, q[:-1])
    world = lw.World()
    stone = world.add(lw.RigidBody(1.0, shape=lw.Sphere(0.1), name="stone"))
    world.add(lw.Collider(world.ground, lw.HeightField(np.zeros((3, 3)), (2.0, 2.0)), name="hills"))
    with pytest.raises(
        lw.ElementError, match='^Collider "hills": a HeightField is a surface, and distances are those of solids; give'
    ):
        R.distances(R.compile(world), R.neutral(R.compile(world)), [(stone, "hills")])
    assert R.collision_pairs(R.compile(world)) == ()
