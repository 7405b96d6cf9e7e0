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


def ends(what, call, *given, **named):
    """It is taken, or refused by us."""
    try:
        call(*given, **named)
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


def reset(sim, part, given):
    sim.reset(lw.Keyframe(**{part: given}))


def test_methods_of_a_simulation():
    sim = lw.Simulation(linkage())
    sim.step(3)
    start = sim.state.copy()
    for name, parameter, needed in methods(sim, "note"):
        for odd in ODD:
            ends(f"{name}({parameter}={odd!r})", getattr(sim, name), **{**needed, parameter: odd})
            for hand in sim._hands.held:
                hand.release()
            sim.state = start
    assert np.isfinite(sim.state.values).all()


def test_options_of_a_simulation():
    world = linkage()
    for option in ("world", "dt", "solver", "integrator", "tolerance", "stiffness", "damping", "tangent", "iterations", "off"):
        for odd in ODD:
            ends(f"Simulation({option}={odd!r})", lw.Simulation, **{"world": world, option: odd})


def test_commands_keyframes_and_states():
    sim = lw.Simulation(linkage())
    for odd in ODD:
        ends(f"control[{odd!r}]", sim.control.__getitem__, odd)
        ends(f"control[{odd!r}] = 1", sim.control.__setitem__, odd, 1.0)
        ends(f"control = {odd!r}", sim.control.__setitem__, "m", odd)
        ends(f"state = {odd!r}", setattr, sim, "state", odd)
        ends(f"time = {odd!r}", setattr, sim, "time", odd)
        for part in ("positions", "velocities", "controls"):
            ends(f"Keyframe({part}={odd!r})", reset, sim, part, odd)
            ends(f"Keyframe({part}=j: {odd!r})", reset, sim, part, {"j": odd})
    for wrong in (np.nan, np.inf, -np.inf):
        for call, *given in ((sim.control.__setitem__, "m"), (sim.set, "p"), (setattr, sim, "time")):
            with pytest.raises(LinkworkError, match=r"is (nan|-?inf)"):
                call(*given, wrong)
    with pytest.raises(LinkworkError, match=r'^Keyframe "given": "b" is no motor'):
        sim.reset(lw.Keyframe(controls={"b": 1.0}))


def test_worlds_and_scenes():
    for odd in ODD:
        ends(f"World({odd!r})", lw.World, odd)
        ends(f"load({odd!r})", lw.load, odd)
        ends(f"scenes.get({odd!r})", lw.scenes.get, odd)
        ends(f"scenes.get(pendulum, length={odd!r})", lw.scenes.get, "pendulum", length=odd)
        for name, parameter, needed in methods(linkage()):
            ends(f"{name}({parameter}={odd!r})", getattr(linkage(), name), **{**needed, parameter: odd})
        for name in ("gravity", "keyframes", "simulate", "remarks", "ground", "version"):
            ends(f"world.{name} = {odd!r}", setattr, linkage(), name, odd)


def test_recordings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recording = lw.Simulation(linkage()).run(0.02)
    for name, parameter, needed in methods(recording, "to_xarray", "render"):
        for odd in ODD:
            ends(f"{name}({parameter}={odd!r})", getattr(recording, name), **{**needed, parameter: odd})
    for odd in ODD:
        ends(f"recording[{odd!r}]", recording.__getitem__, odd)


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
                ends(f"{name}({parameter.name}={odd!r})", function, **{**needed, parameter.name: odd})


def test_functions_of_expressions():
    for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh"):
        for odd in (None, [], object(), {}, [None]):
            ends(f"{name}({odd!r})", getattr(lw, name), odd)
