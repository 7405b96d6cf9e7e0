"""Kinds of bodies: what must be there is asked for when a kind is declared, and what is derived is what kinds know better."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.bodies.rigid import RIGID, Rigid
from linkwork.elements.core.body_kind import BodyKind
from linkwork.elements.core.registry import kind_class, kind_for, kind_of, outside_digest
from tests.symbolic.kinds import KINDS

ANY = lw.Box(0.1, 0.2, 0.3)


class Slab(lw.RigidBody):
    pass


@dataclass(eq=False, repr=False)
class Heated(lw.RigidBody):
    temperature: float = 300.0


def test_a_kind_that_lacks_something_is_refused_when_it_is_declared():
    class Nothing(BodyKind):
        name, nq, nv = "nothing", 3, 3

    with pytest.raises(
        TypeError,
        match=r"Nothing: it lacks build_at, mass, placement, point, weight, axis, spin, quaternion; a kind of Heated needs them",
    ):
        kind_of(Heated)(Nothing)


def test_a_promise_must_be_kept():
    class Elastic(Rigid):
        elastic = collapses = True

    with pytest.raises(TypeError, match="Elastic: it lacks elasticity, volume"):
        kind_of(Heated)(Elastic)


def test_kinds_that_have_one_name_are_told_apart():
    @dataclass(eq=False, repr=False)
    class Warm(lw.RigidBody):
        temperature: float = 300.0

    @kind_of(Warm)
    class WarmKind(Rigid):
        """With the name of its base."""

    world = lw.World()
    world.add(lw.RigidBody(1.0, shape=ANY, name="cold"))
    world.add(Warm(1.0, shape=ANY, name="warm"))
    with pytest.raises(
        lw.ModelError, match=r'"cold": its kind Rigid and .*WarmKind both have the name "\w+"; give one of them'
    ):
        lw.Simulation(world)


def test_a_subclass_without_fields_of_its_own_is_what_its_parent_is():
    assert kind_for(Slab(1.0, shape=ANY)) is RIGID
    world = lw.World()
    slab = world.add(Slab(1.0, shape=ANY, name="slab"))
    sim = lw.Simulation(world, dt=0.01)
    sim.step(10)
    assert sim.velocity(slab)[2] == pytest.approx(-0.981)


def test_a_subclass_with_fields_of_its_own_needs_a_kind():
    with pytest.raises(
        lw.LinkworkError,
        match=r"Heated: it has fields of its own \(temperature\), and no kind is declared for it; write one with @kind_of\(Heated\)",
    ):
        kind_class(Heated)
    world = lw.World()
    world.add(Heated(1.0, shape=ANY))
    with pytest.raises(lw.LinkworkError, match="no kind is declared"):
        lw.Simulation(world)


def test_kernels_of_a_kind_from_outside_are_kept_under_the_digest_of_its_file():
    class Other(Rigid):
        pass

    assert outside_digest(Rigid) == "" and RIGID.key == "RigidBody"
    assert outside_digest(Other).startswith("@") and Other._only().key == "RigidBody" + outside_digest(Other)


def made(name):
    plane = {"plane": name.split("-")[-1]}
    if name.startswith("PlanarBody"):
        return lw.PlanarBody(2.0, 0.3, position=(1, 2), angle=0.4, velocity=(0.3, -1), angular_velocity=2.0, **plane)
    if name.startswith("PlanarParticle"):
        return lw.PlanarParticle(2.0, position=(1, 2), velocity=(0.3, -1), **plane)
    turned = {"orientation": (0.5, 0.1, -0.7, 0.5), "angular_velocity": (1, -2, 0.5)}
    where = {"position": (1, 2, 3), "velocity": (0.3, -1, 2)}
    stretched = ((1.1, 0.1, 0), (0, 0.9, 0.2), (0.1, 0, 1.2))
    return {
        "RigidBody": lambda: lw.RigidBody(2.0, shape=ANY, **where, **turned),
        "Particle": lambda: lw.Particle(2.0, **where),
        "ScalableBody": lambda: lw.ScalableBody(2.0, shape=ANY, stretch=(1.1, 0.8, 1.3), **where, **turned),
        "AffineBody": lambda: lw.AffineBody(2.0, shape=ANY, deformation=stretched, deformation_rate=np.eye(3) * 0.3, **where),
    }[name]()


@pytest.mark.parametrize("name", KINDS)
def test_what_is_derived_is_what_a_kind_knows(name):
    """The numbers that `BodyKind` derives from primitives against those that a kind gives itself."""
    kind, body = KINDS[name], made(name)
    assert kind_for(body) is kind
    start = kind.placement([body]).start()
    constants = [start[field] for field in kind.constants]
    q, v, rng = start["q"], start["v"], np.random.default_rng(3)
    local, x, at = (rng.normal(size=n) for n in (3, kind.nv, 3))
    pose, derived = kind.poses(q, v, *constants), BodyKind.poses(kind, q, v, *constants)
    for field, values in vars(pose).items():
        np.testing.assert_allclose(getattr(derived, field), values, atol=1e-14, err_msg=field)
    own = [field[0] for field in constants]
    if not kind.is_a_point:
        given = q[0], pose, local, *own
        np.testing.assert_allclose(BodyKind.point_jacobian(kind, *given), kind.point_jacobian(*given), atol=1e-14)
    state = q[0], v[0], *own
    read, same = (numbers(kind, lambda view, of=of: vars(of(view)).values(), *state)
                  for of in (kind.read_pose, lambda view: BodyKind.read_pose(kind, view)))  # fmt: skip
    for field, one, other in zip(vars(pose), read, same, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14, err_msg=field)
        np.testing.assert_allclose(one, getattr(pose, field)[0].reshape(one.shape), atol=1e-14, err_msg=field)
    linear, angular = numbers(kind, lambda view: BodyKind.read_acceleration(kind, view, x), *state)
    told = numbers(kind, lambda view: kind.read_acceleration(view, x), *state)
    np.testing.assert_allclose(linear, told[0], atol=1e-12)
    if not kind.stretches:  # of these the angular one is left out
        np.testing.assert_allclose(angular, told[1], atol=1e-12)
        for one, other in zip(kind.wrench(q[0], x, at, *own), wrench(kind, x, at, *state), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)


def numbers(kind, expressions, *state):
    """What expressions of a body's symbols are for its coordinates, velocities and constants."""
    view, symbols = kind._symbols()
    found = ca.Function("read", symbols, [ca.densify(ca.SX(value)) for value in expressions(view)])
    values = found.call([ca.DM(value) for value in state])
    return [value.full() if value.shape[1] > 1 else value.full().ravel() for value in values]


def wrench(kind, generalised, at, *state):
    """A generalised force as force and torque about a point."""
    return numbers(kind, lambda view: kind.read_wrench(view, ca.SX(generalised), ca.SX(at)), *state)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.stretches])
def test_the_wrench_of_a_body_that_stretches_turns_it_as_much(name):
    """Pulls of a rigid motion: their power is that of the generalised force."""
    kind = KINDS[name]
    start = kind.placement([made(name)]).start()
    at, rng = np.array([0.2, -0.4, 1.0]), np.random.default_rng(5)
    generalised, q = rng.normal(size=kind.nv), start["q"]
    force, torque = wrench(kind, generalised, at, q[0], start["v"][0])
    v, w = rng.normal(size=3), rng.normal(size=3)
    motion = (
        np.concatenate([v, w, np.zeros(3)])
        if kind.nv == 9
        else np.concatenate([v, np.cross(w, q[0, 3:].reshape(3, 3), axisb=0, axisc=0).ravel()])
    )
    assert generalised @ motion == pytest.approx(force @ (v + np.cross(w, at - q[0, :3])) + torque @ w)
