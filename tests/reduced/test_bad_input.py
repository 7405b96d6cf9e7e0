"""What is refused, in one sentence that names it."""

import numpy as np
import pytest

import linkwork as lw

R = lw.reduced


def bar(world, x=1.0, name="bar"):
    return world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(x, 0, 0), name=name))


def pendulum():
    world = lw.World()
    world.add(lw.Hinge(world.ground, bar(world), at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    return world


def test_an_empty_world():
    with pytest.raises(lw.ModelError, match="^World: there is no body in it; add one, for example .*"):
        R.compile(lw.World())


def test_a_loop():
    world = pendulum()
    world.add(lw.Ball("bar", bar(world, 3.0, "rod"), at=(2, 0, 0), name="pin"))
    world.add(lw.Slider(world.ground, "rod", at=(4, 0, 0), axis=(1, 0, 0), name="guide"))
    with pytest.raises(
        lw.ModelError,
        match='^(Slider "guide"|Ball "pin"): it closes a loop, .*; remove it, or simulate with solver="ltdl", or solver="tree", integrator="rattle"$',
    ):
        R.compile(world)


def test_a_constraint_without_a_coordinate():
    world = pendulum()
    world.add(lw.Distance(world.ground, "bar", 1.0, name="rope"))
    with pytest.raises(
        lw.ModelError,
        match='^Distance "rope": it has no joint coordinate; remove it, or simulate with solver="ltdl", or solver="tree", integrator="rattle"$',
    ):
        R.compile(world)


def test_a_body_that_is_not_rigid():
    world = pendulum()
    world.add(lw.Particle(1.0, name="bead"))
    with pytest.raises(
        lw.ModelError, match='^Particle "bead": joint coordinates are those of rigid bodies; give a RigidBody instead$'
    ):
        R.compile(world)


@pytest.mark.parametrize("q", [[0.0, 1.0], 0.0, [[[0.0]]], np.zeros((2, 3))])
def test_q_of_the_wrong_length(q):
    tree = R.compile(pendulum())
    with pytest.raises(lw.ElementError, match=r"^q has the shape \(.*\); give one of the shape \(.*\)"):
        R.rnea(tree, q, [0.0], [0.0])


def test_states_of_different_counts():
    tree = R.compile(pendulum())
    with pytest.raises(lw.ElementError, match=r"^qd has the shape \(2, 1\); give one of the shape \(3, 1\), one state a row$"):
        R.rnea(tree, np.zeros((3, 1)), np.zeros((2, 1)), np.zeros((3, 1)))


def test_no_numbers():
    with pytest.raises(lw.ElementError, match="^qd is 'fast'; give an array of numbers$"):
        R.rnea(R.compile(pendulum()), [0.0], "fast", [0.0])


def test_out_of_another_shape():
    with pytest.raises(
        lw.ElementError, match=r"^out is float64 of the shape \(2,\); give a contiguous array of float64 of the shape \(1,\)$"
    ):
        R.rnea(R.compile(pendulum()), [0.0], [0.0], [0.0], out=np.zeros(2))


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"lock": {"axle": (0.0, 1.0)}}, 'Hinge "axle": lock is (0, 1); give its 1 coordinate'),
        ({"lock": {"axle": np.nan}}, 'Hinge "axle": lock is nan; give its 1 coordinate'),
        ({"armature": {"axle": -1.0}}, 'Hinge "axle": armature is -1; give a number of at least 0'),
        ({"damping": {"axle": (1.0, 2.0)}}, 'Hinge "axle": damping is (1, 2); give a number of at least 0'),
        ({"damping": {"bar": 1.0}}, 'RigidBody "bar": it is no joint and does not float, so it has no damping; give a joint'),
        ({"lock": {"axel": 1.0}}, 'World: there is no element named "axel"; did you mean "axle"?'),
    ],
)
def test_what_joints_are_given(options, sentence):
    with pytest.raises(lw.LinkworkError) as refused:
        R.compile(pendulum(), **options)
    assert str(refused.value) == sentence


def test_names_that_have_no_coordinate():
    tree = R.compile(pendulum(), lock={"axle": 0.5})
    with pytest.raises(
        lw.ModelError, match='^Hinge "axle": it has no coordinate in this tree; give a joint that is neither a weld nor locked$'
    ):
        tree.coordinates("axle")
    with pytest.raises(lw.ModelError, match='^Hinge "axle": it has no position of its own; .*'):
        R.jacobian(tree, [], "axle")


@pytest.mark.parametrize(
    "wrenches, sentence",
    [
        (np.zeros(6), "wrenches have the shape (6,); give (1, 6), or that with the states in front"),
        (np.zeros((2, 1, 6)), "wrenches are of 2 states, tau of 3; give as many of both"),
    ],
)
def test_wrenches_of_another_shape(wrenches, sentence):
    with pytest.raises(lw.ElementError) as refused:
        R.aba(R.compile(pendulum()), np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1)), wrenches=wrenches)
    assert str(refused.value) == sentence
