"""Arguments that make no sense end in one sentence of our own, wherever they are given, and change nothing."""

import inspect

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import LinkworkError

ODD = [None, [], (), "", "nobody", -1, 0, 1.5, np.nan, np.inf, 1e308, 10**30, True, {}, object(), b"x", np.zeros((2, 2)), ["x", 3],
       1j, [None], {"a": 1}, "\x1b[31m", ...]  # fmt: skip
GOOD = {"body": "b", "joint": "j", "constraint": "j", "element": "j", "local": (0, 0, 0), "impulse": (0, 0, 1), "n": 1, "seconds": 0.01,
        "parameter": "p", "value": 3.0, "on": True, "t": 0.0, "y": np.zeros(26), "path": "none.npz", "frame": 0, "frames": 1}  # fmt: skip


def linkage():
    world = lw.World()
    for k, name in enumerate("ab"):
        world.add(lw.RigidBody(1.0, shape=lw.Box(0.1, 0.1, 0.1), position=(k, 0, 1), name=name))
    world.add(lw.Hinge(world.ground, "a", at=(0, 0, 0), axis=(0, 1, 0), name="j"))
    world.add(lw.Ball("a", "b", at=(0.5, 0, 1), name="k"))
    world.add(lw.JointSpring("j", lw.Parameter(2.0, name="p"), name="spring"))
    world.add(lw.Motor("j", kind="torque", name="m"))
    return world


def ends(call, what):
    """It is taken, or refused by us."""
    try:
        call()
    except LinkworkError as error:
        assert str(error), what
    except Exception as error:
        raise AssertionError(f"{what} ends in {type(error).__name__}: {error}") from error


def methods(owner, *left_out):
    """(name, parameter, the others that it needs) of every public method and each of its parameters."""
    for name in dir(type(owner)):
        if name.startswith("_") or name in left_out or not callable(method := getattr(owner, name)):
            continue
        parameters = inspect.signature(method).parameters.values()
        plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        needed = {p.name: GOOD.get(p.name) for p in plain if p.default is p.empty}
        yield from ((name, p.name, needed) for p in plain)


def test_methods_of_a_simulation():
    sim = lw.Simulation(linkage())
    sim.step(3)
    start = sim.state.copy()
    for name, parameter, needed in methods(sim, "note"):
        for odd in ODD:
            ends(lambda: getattr(sim, name)(**{**needed, parameter: odd}), f"{name}({parameter}={odd!r})")  # noqa: B023
            for hand in sim._hands:
                hand.release()
            sim.state = start
    assert np.isfinite(sim.state.values).all()


def test_options_of_a_simulation():
    world = linkage()
    for option in ("world", "dt", "solver", "integrator", "tolerance", "stiffness", "damping", "tangent", "iterations", "off"):
        for odd in ODD:
            ends(lambda: lw.Simulation(**{"world": world, option: odd}), f"Simulation({option}={odd!r})")  # noqa: B023


def test_commands_keyframes_and_states():
    sim = lw.Simulation(linkage())
    for odd in ODD:
        ends(lambda: sim.control[odd], f"control[{odd!r}]")  # noqa: B023
        ends(lambda: sim.control.__setitem__(odd, 1.0), f"control[{odd!r}] = 1")  # noqa: B023
        ends(lambda: sim.control.__setitem__("m", odd), f"control = {odd!r}")  # noqa: B023
        ends(lambda: setattr(sim, "state", odd), f"state = {odd!r}")  # noqa: B023
        ends(lambda: setattr(sim, "time", odd), f"time = {odd!r}")  # noqa: B023
        for part in ("positions", "velocities", "controls"):
            ends(lambda: sim.reset(lw.Keyframe(**{part: odd})), f"Keyframe({part}={odd!r})")  # noqa: B023
            ends(lambda: sim.reset(lw.Keyframe(**{part: {"j": odd}})), f"Keyframe({part}=j: {odd!r})")  # noqa: B023
    for wrong in (np.nan, np.inf, -np.inf):
        for call in (
            lambda: sim.control.__setitem__("m", wrong),
            lambda: sim.set("p", wrong),
            lambda: setattr(sim, "time", wrong),
        ):  # noqa: B023
            with pytest.raises(LinkworkError, match=r"is (nan|-?inf)"):
                call()
    with pytest.raises(LinkworkError, match=r'^Keyframe "given": "b" is no motor'):
        sim.reset(lw.Keyframe(controls={"b": 1.0}))


def test_worlds_and_scenes():
    for odd in ODD:
        ends(lambda: lw.World(odd), f"World({odd!r})")  # noqa: B023
        ends(lambda: lw.load(odd), f"load({odd!r})")  # noqa: B023
        ends(lambda: lw.scenes.get(odd), f"scenes.get({odd!r})")  # noqa: B023
        ends(lambda: lw.scenes.get("pendulum", length=odd), f"scenes.get(pendulum, length={odd!r})")  # noqa: B023
        for name, parameter, needed in methods(linkage()):
            ends(lambda: getattr(linkage(), name)(**{**needed, parameter: odd}), f"{name}({parameter}={odd!r})")  # noqa: B023
        for name in ("gravity", "keyframes", "simulate", "remarks", "ground", "version"):
            ends(lambda: setattr(linkage(), name, odd), f"world.{name} = {odd!r}")  # noqa: B023


def test_recordings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recording = lw.Simulation(linkage()).run(0.02)
    for name, parameter, needed in methods(recording, "to_xarray", "render"):
        for odd in ODD:
            ends(lambda: getattr(recording, name)(**{**needed, parameter: odd}), f"{name}({parameter}={odd!r})")  # noqa: B023
    for odd in ODD:
        ends(lambda: recording[odd], f"recording[{odd!r}]")  # noqa: B023


def test_algorithms_in_joint_coordinates():
    world = linkage()
    tree = lw.reduced.compile(world)
    good = {"tree": tree, "world": world, "q": lw.reduced.neutral(tree), "qd": np.zeros(tree.nv), "qdd": np.zeros(tree.nv),
            "tau": np.zeros(tree.nv), "body": "b"}  # fmt: skip
    for name in ("compile", "rnea", "aba", "crba", "forward_kinematics", "velocities", "jacobian", "jacobian_rate", "energy",
                 "centre_of_mass", "centroidal_momentum", "neutral", "random", "integrate", "difference", "to_bodies",
                 "from_bodies", "from_paper"):  # fmt: skip
        function = getattr(lw.reduced, name)
        parameters = inspect.signature(function).parameters.values()
        needed = {p.name: good.get(p.name, 1.0) for p in parameters if p.default is p.empty}
        for parameter in parameters:
            for odd in ODD:
                ends(lambda: function(**{**needed, parameter.name: odd}), f"{name}({parameter.name}={odd!r})")  # noqa: B023


def test_functions_of_expressions():
    for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh"):
        for odd in (None, [], object(), {}, [None]):
            ends(lambda: getattr(lw, name)(odd), f"{name}({odd!r})")  # noqa: B023
