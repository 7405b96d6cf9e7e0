"""Every scene builds, starts consistently, and refuses what it does not know."""

import inspect
import math

import numpy as np
import pytest

from linkwork import scenes
from linkwork.elements import Gear, Ground
from linkwork.errors import ElementError, UnknownNameError
from tests.scenes.consistency import residuals

# parameters away from the defaults, where a mistake in a formula would show
VARIED = [
    ("bent-rod", {"n": 7, "bend": -1.0, "stiffness": 20.0, "damping": 1.5, "mass": 0.1}),
    ("bowling", {"rows": 2, "distance": 6.0, "speed": 5.0, "curve": 0.7, "spin": 20.0, "oil": 0.2}),
    ("box-stack", {"n": 8, "size": 0.1, "mass": 0.5, "top": 100.0}),
    ("bridge", {"n": 6, "span": 0.4, "length": 0.1}),
    ("cardan", {"bend": -0.4, "rate": 3.0}),
    ("chain", {"n": 3, "angle": 0.7, "speed": -2.0}),
    ("four-bars", {"n": 1, "speed": -2.0}),
    ("gear-train", {"n": 5, "ratio": 0.7}),
    ("governor", {"rate": 3.0, "angle": 0.9}),
    ("hair", {"strands": 3, "links": 4, "wind": -8.0}),
    ("hand", {"mass": 0.02, "lift": 0.03}),
    ("hanging-chain", {"n": 5, "stiffness": 1e4, "damping": 0.0}),
    ("ladder", {"n": 3, "width": 0.2, "mass": 1.0}),
    ("mixed", {"thread": 0.1}),
    ("net", {"rows": 3, "columns": 4, "spacing": 0.2, "ripple": -0.5}),
    ("plant", {"depth": 2, "branches": 1, "wind": 20.0}),
    ("rag-doll", {"height": 1.2, "mass": 30.0, "drag": 0.0}),
    ("robot-drag", {"stiffness": 0.0, "handle": 500.0}),
    ("rolling-disc", {"lean": -0.6, "rate": 5.0, "radius": 0.1}),
    ("scissor-lift", {"n": 2, "angle": 0.9, "push": 100.0}),
    ("skate", {"rate": -1.0}),
    ("slider-crank", {"crank": 0.3, "rate": -4.0}),
    ("spinning-top", {"friction": 0.0, "tilt": 0.5, "spin": -250.0}),
    ("stewart", {"mass": 2.0, "tilt": 0.0}),
    ("star", {"arms": 3, "links": 2, "bend": 0.0}),
    ("top", {"spin": -50.0, "tilt": 0.2}),
    ("tree", {"depth": 3, "spread": 1.0}),
    ("turntable", {"rate": -3.0, "speed": -0.5}),
]
SMALL = {
    "hair": {"strands": 20},
    "dominoes": {"n": 4},
    "wall": {"rows": 3, "columns": 2, "links": 3},
}  # what takes long by default
BUILDS = [(name, SMALL.get(name, {})) for name in scenes.names()] + VARIED


@pytest.mark.parametrize("name", scenes.names())
def test_a_scene_says_what_it_is(name):
    scene = scenes.find(name)
    assert scene.summary.endswith(".") and len(scene.summary) <= 110
    assert scene.dt > 0 and scene.seconds >= 10 * scene.dt
    assert all(type(default) in (int, float) for default in scene.parameters.values())
    words = inspect.getdoc(scene.build)
    assert all(parameter in words for parameter in scene.parameters)
    assert name.replace("-", "_") in scenes.__all__ and getattr(scenes, name.replace("-", "_")) is scene.build


def test_names_are_unique_and_sorted():
    assert len(set(scenes.names())) == len(scenes.names())
    assert list(scenes.names()) == sorted(scenes.names())
    with pytest.raises(ValueError, match="two scenes"):
        scenes.scene("chain")(lambda: None)


@pytest.mark.parametrize(("name", "parameters"), BUILDS)
def test_the_start_keeps_every_constraint(name, parameters):
    world = scenes.get(name, **parameters)
    for constraint in world.constraints:
        for values in residuals(constraint):
            assert np.abs(np.r_[values, 0.0]).max() < 1e-12, constraint


LOOPED = ("bicycle-chain", "ladder", "net", "scissor-lift")


@pytest.mark.parametrize(("name", "parameters"), [b for b in BUILDS if b[0] not in LOOPED])
def test_moving_bodies_make_a_forest(name, parameters):
    """Constraints between moving bodies close no loop, except in scenes made for it; two between the same pair are one node."""
    world = scenes.get(name, **parameters)
    pairs = set()
    for constraint in world.constraints:
        ends = [item for _, _, item in constraint.references()]
        if isinstance(constraint, Gear):
            ends = [hinge.b for hinge in ends]
        moving = frozenset(body.name for body in ends if body.sort == "body" and not isinstance(body, Ground))
        pairs |= {moving} if len(moving) == 2 else set()
    leader = {body.name: body.name for body in world.bodies}

    def find(name):
        while leader[name] != name:
            name = leader[name]
        return name

    for a, b in pairs:
        assert find(a) != find(b), (a, b)
        leader[find(a)] = find(b)


def test_the_tree_is_that_of_figure_3():
    world = scenes.get("tree")
    assert len(world.bodies) == len(world.constraints) == 127
    assert sum(joint.rows for joint in world.constraints) == 381


def test_parameters_reach_the_world():
    assert len(scenes.get("chain", n=7).bodies) == 7
    assert len(scenes.get("chain", n=7.0).bodies) == 7
    assert scenes.get("pendulum", mass=3).find("rod").mass == 3.0
    assert scenes.get("chain", n=2) is not scenes.get("chain", n=2)


def test_the_rag_doll_weighs_what_is_asked_for():
    assert sum(body.mass for body in scenes.get("rag-doll", mass=35.0).bodies) == pytest.approx(35.0)


def test_the_bridge_is_as_wide_as_its_span():
    world = scenes.get("bridge", n=11, length=0.2, span=1.3)
    left, right = world.find("left").at, world.find("right").at
    np.testing.assert_allclose(right - left, (1.3, 0, 0), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("chan", {}, 'no scene named "chan"; did you mean "chain"?'),
        ("zzz", {}, "there are bead-on-wire, bent-rod,"),
        ("chain", {"lenght": 1.0}, 'Scene "chain": there is no parameter "lenght"; did you mean "length"?'),
        ("chain", {"q": 1.0}, "it has n, length, width"),
    ],
)
def test_unknown_names_are_refused(name, parameters, words):
    with pytest.raises(UnknownNameError, match="there is no") as caught:
        scenes.get(name, **parameters)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("chain", {"n": 0}),
        ("chain", {"n": 2.5}),
        ("chain", {"length": -1.0}),
        ("chain", {"mass": float("nan")}),
        ("chain", {"angle": math.pi / 2}),
        ("pendulum", {"angle": 4.0}),
        ("top", {"spin": 1.0}),
        ("spinning-top", {"spin": 10.0}),
        ("bicycle-chain", {"rear": 4}),
        ("bowling", {"speed": 1.0, "spin": -100.0, "curve": 0.0}),
        ("tree", {"depth": 30}),
        ("bridge", {"span": 2.0}),
        ("bridge", {"n": 1}),
        ("cardan", {"bend": 2.0}),
        ("turntable", {"rate": 0.0}),
        ("rolling-disc", {"lean": 0.0}),
        ("skate", {"rate": 0.0}),
        ("bead-on-wire", {"pitch": 0.0}),
        ("hanging-chain", {"stiffness": -1.0}),
        ("plant", {"depth": 200}),
    ],
)
def test_values_out_of_range_are_refused_in_one_sentence(name, parameters):
    with pytest.raises(ElementError) as caught:
        scenes.get(name, **parameters)
    assert "; " in str(caught.value) and "\n" not in str(caught.value)
