"""Numbering, parent arrays, locked joints and frames of trees."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw

from .forests import add_body, joint_between, random_state, random_world

R = lw.reduced


def test_the_expanded_parents_of_the_paper():
    """featherstone05, figure 2: Tree 1, whose joints 1, 2 and 6 have 2, 2 and 3 freedoms; the paper counts from 1."""
    tree1 = np.array([0, 1, 1, 2, 2, 3, 3]) - 1
    assert (R.expanded(tree1, [2, 2, 1, 1, 1, 3, 1]) + 1).tolist() == [0, 1, 2, 3, 2, 4, 4, 5, 8, 9, 5]


def test_the_tree_of_the_paper_as_a_world():
    rng, world = np.random.default_rng(1), lw.World()
    bodies = [world.ground]
    kinds = ("Universal", "Cylindrical", "Hinge", "Hinge", "Slider", "Ball", "Screw")
    for above, kind in zip((0, 1, 1, 2, 2, 3, 3), kinds, strict=True):
        body = add_body(world, rng)
        world.add(joint_between(rng, kind, bodies[above], body, rng.normal(size=3)))
        bodies.append(body)
    tree = R.compile(world)
    order = [world.constraints.index(link.element) + 1 for link in tree.links]
    assert order == [1, 2, 4, 5, 3, 6, 7]  # along branches
    assert (tree.expanded_parents + 1).tolist() == [0, 1, 2, 3, 4, 4, 2, 7, 8, 9, 7]


def test_numbering_is_regular_and_goes_along_branches():
    for seed in range(5):
        tree = R.compile(random_world(seed, n=12))
        assert (tree.parent < np.arange(len(tree.links))).all()
        assert (tree.expanded_parents < np.arange(tree.nv)).all()
        assert tree.q_at[-1] == tree.nq and tree.v_at[-1] == tree.nv


def test_H_has_entries_where_the_expanded_parents_say():
    tree = R.compile(random_world(2, n=12))
    H = R.crba(tree, R.random(tree, 1))
    for i in range(tree.nv):
        above, j = set(), i
        while j >= 0:
            above.add(j)
            j = tree.expanded_parents[j]
        assert set(np.nonzero(H[i, : i + 1])[0]) <= above
    rows, columns = tree.pattern
    assert (rows >= columns).all() and len(set(zip(rows, columns, strict=True))) == len(rows)
    assert np.array_equal(R.crba(tree, R.random(tree, 1), packed=True), H[rows, columns])


def test_as_built_every_body_is_where_it_was_put():
    world = random_world(4)
    tree = R.compile(world)
    poses = R.forward_kinematics(tree, R.neutral(tree))
    for body, x in zip(world.bodies, poses.position, strict=True):
        assert np.allclose(x, body.position, atol=1e-14)


@pytest.mark.parametrize("kind", ["Hinge", "Slider", "Ball", "Universal", "Cylindrical", "Planar", "Screw"])
@pytest.mark.parametrize("flip", [False, True])
def test_a_locked_joint_is_a_weld_there(kind, flip):
    rng = np.random.default_rng(7)
    world = lw.World()
    a, b, c = (add_body(world, rng) for _ in range(3))
    world.add(joint_between(rng, "Hinge", world.ground, a, rng.normal(size=3)))
    joint = world.add(joint_between(rng, kind, *((b, a) if flip else (a, b)), rng.normal(size=3)))
    world.add(joint_between(rng, "Hinge", b, c, rng.normal(size=3)))
    tree = R.compile(world)
    q, qd, _ = random_state(tree, 3)
    qd[tree.velocities(joint)] = 0
    locked = R.compile(world, lock={joint: q[tree.coordinates(joint)]})
    short, speed = np.delete(q, tree.coordinates(joint)), np.delete(qd, tree.velocities(joint))
    assert locked.nv == 2
    assert np.allclose(R.forward_kinematics(tree, q).rotation, R.forward_kinematics(locked, short).rotation)
    assert np.allclose(R.velocities(tree, q, qd), R.velocities(locked, short, speed))
    assert np.allclose(
        np.delete(np.delete(R.crba(tree, q), tree.velocities(joint), 0), tree.velocities(joint), 1), R.crba(locked, short)
    )


def test_a_floating_body_can_be_locked():
    world = lw.World()
    stone = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), name="stone"))
    world.add(lw.Hinge(stone, world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0))), at=(1, 0, 0), axis=(0, 0, 1)))
    tree = R.compile(world, lock={"stone": (1, 2, 3, 1, 0, 0, 0)})
    assert tree.nv == 1 and np.allclose(R.forward_kinematics(tree, [0.0]).position, [(1, 2, 3), (2, 2, 3)])


def test_the_angle_of_a_hinge_is_that_of_its_second_body():
    for flip in (False, True):
        world = lw.World()
        bar = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0)))
        ends = (bar, world.ground) if flip else (world.ground, bar)
        world.add(lw.Hinge(*ends, at=(0, 0, 0), axis=(0, 0, 1)))
        found = R.forward_kinematics(R.compile(world), [np.pi / 2]).position[0]
        assert np.allclose(found, (0, -1 if flip else 1, 0))


def test_trees_pickle_and_copy():
    world = random_world(1)
    hinge = next(c for c in world.constraints if isinstance(c, lw.Hinge))
    tree = R.compile(world, lock={world.constraints[-1].name: 0.3}, damping={hinge: 0.2})
    q, qd, qdd = random_state(tree, 1)
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert np.array_equal(R.rnea(twin, q, qd, qdd), R.rnea(tree, q, qd, qdd))


def test_a_tree_without_freedoms():
    world = lw.World()
    box = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 2, 3)))
    world.add(lw.Weld(world.ground, box))
    tree = R.compile(world)
    assert (tree.nq, tree.nv, len(tree.links)) == (0, 0, 0)
    assert R.aba(tree, [], [], []).shape == (0,) and R.crba(tree, []).shape == (0, 0)
    assert R.rnea(tree, np.zeros((3, 0)), np.zeros((3, 0)), np.zeros((3, 0))).shape == (3, 0)
    assert np.allclose(R.forward_kinematics(tree, []).position, [(1, 2, 3)])
    assert R.jacobian(tree, [], box).shape == (6, 0)


def test_a_long_chain_of_balls():
    world = lw.World()
    above = world.ground
    for k in range(300):
        link = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(k + 0.5, 0, 0)))
        world.add(lw.Ball(above, link, at=(k, 0, 0)))
        above = link
    tree = R.compile(world)
    q, qd = R.neutral(tree), np.zeros(tree.nv)
    qdd = np.random.default_rng(0).normal(size=tree.nv)
    assert np.allclose(R.aba(tree, q, qd, R.rnea(tree, q, qd, qdd)), qdd, rtol=1e-7, atol=1e-7)


def test_gears_are_left_aside_with_a_note():
    world = lw.World()
    arm, tip = (world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(k + 0.5, 0, 0), name=f"link{k}")) for k in range(2))
    world.add([lw.Hinge(world.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="a"),
               lw.Hinge(arm, tip, at=(1, 0, 0), axis=(0, 1, 0), name="b"), lw.Gear("b", "a", 2.0, name="mimic")])  # fmt: skip
    with pytest.warns(lw.Note, match='its coordinates leave Gear "mimic" aside; loops=True says that this is meant'):
        tree = lw.reduced.compile(world)
    assert tree.nv == 2 and [c.name for c in tree.closing] == ["mimic"]
    assert lw.reduced.compile(world, loops=True).nv == 2
    with pytest.raises(lw.ModelError, match='Gear "mimic": it has no joint coordinate; remove it'):
        lw.reduced.compile(world, loops=False)
    with pytest.raises(lw.ModelError, match='Gear "mimic"'):
        lw.Simulation(world, solver="aba")
