"""Derivatives of every force law by places and velocities, on every pair of bodies, against finite differences."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import linkwork as lw
from linkwork.codegen.trace import Trace
from linkwork.kernels import implicit_bodies, implicit_forces
from linkwork.model.compile_model import compile
from linkwork.symbolic.views import GLOBALS, View
from tests.implicit.worlds import blown, pulled, twisted
from tests.oracles import poses
from tests.oracles.loads import generalised
from tests.symbolic.kinds import KINDS as KINDS_BY_NAME
from tests.symbolic.pairs import APART, KINDS, P, body, hinge, slider
from tests.symbolic.probe import STENCIL, Probe, difference
from tests.symbolic.test_joint_forces import ALL as JOINT_FORCES
from tests.symbolic.test_joint_forces import (
    CONTACTS,
    Pair,
    contact,
    contact_pairs,
    follower,
    near_a_branch,
    probe,
    touching,
)

H = 1e-3
POINTS = ("particle", "planar particle")
LAGRANGIAN = "Lagrangian"  # has tests of its own, against SymPy and against constraints
MOVING = [kind for kind in KINDS if kind not in ("ground", LAGRANGIAN)]
PAIRS = [(a, b) for a in KINDS for b in MOVING if a != LAGRANGIAN]
TURNING = [(a, b) for a, b in PAIRS if a not in POINTS and b not in POINTS]
FEW = [("rigid", "rigid"), ("ground", "rigid"), ("planar", "rigid"), ("scalable", "planar"), ("rigid", "affine")]


class Tangent(Probe):
    """Generalised force of one force of a model, and -df/dq, -df/dv as implicit steps have them."""

    def __init__(self, model, number=0, exact=True):
        self.force, self.exact = model.forces[number], exact
        kind = self.force.kind

        def write(trace):
            for k, x in enumerate(implicit_forces.linearised(trace, kind, implicit_bodies.BEGIN, exact)):
                trace.store(4, 2000 * k, x)

        super().__init__(model, self.force.ends, kind.kinds, self.force.values.copy(), write)

    def at(self, samples):
        f, K, D = self.results(samples)
        n = f.shape[1]
        return f, K.reshape(-1, n, n), D.reshape(-1, n, n)

    def results(self, samples):
        """As those of a Probe."""
        records = {0: np.zeros((len(samples), GLOBALS.size)), 1: np.tile(self.record, (len(samples), 1))}
        records[0][:, GLOBALS.offset("time")] = [t for t, _, _ in samples]
        for b, (kind, start, pointer) in enumerate(zip(self.kinds, self.bodies, self.pointers, strict=True)):
            entries = records[pointer] = np.tile(start, (len(samples), 1))
            for k, (_, q, v) in enumerate(samples):
                entries[k, kind.record.slice("q")], entries[k, kind.record.slice("v")] = q[b], v[b]
                entries[k, kind.record.slice("R")] = poses.derived(kind.name, q[b])
        return self.batch(records)

    def placed(self, q, v):
        found = [poses.Ground()] * (2 - len(self.kinds))
        for b, number in enumerate(self.numbers):
            found.append(poses.Placed(self.model.bodies.elements[number], self.kinds[b].name, self.q0[b], q[b], v[b]))
        return found


def slopes(tangent, t, q, v, H=H):
    """(-df/dq, -df/dv) by finite differences, a column for each velocity component."""
    sizes, samples = [kind.nv for kind in tangent.kinds], []
    for e in np.eye(sum(sizes)):
        push = np.split(e, np.cumsum(sizes)[:-1])
        for k, _ in STENCIL:
            samples.append((t, tangent.flowed(0.0, q, push, k * H)[1], v))
            samples.append((t, q, [x + k * H * d for x, d in zip(v, push, strict=True)]))
    f = tangent.at(samples)[0].reshape(sum(sizes), len(STENCIL), 2, -1)
    return [np.array([-difference(column[:, which], H) for column in f]).T for which in (0, 1)]


def check(tangent, t, q, v, label, tolerance=1e-7):
    f, K, D = (x[0] for x in tangent.at([(t, q, v)]))
    by_place, by_velocity = slopes(tangent, t, q, v)
    assert np.isfinite(f).all() and np.isfinite(K).all() and np.isfinite(D).all(), label
    scale = 1 + max(np.abs(by_place).max(), np.abs(by_velocity).max(), np.abs(f).max())
    np.testing.assert_allclose(K, by_place, atol=tolerance * scale, err_msg=f"{label}: by place")
    np.testing.assert_allclose(D, by_velocity, atol=tolerance * scale, err_msg=f"{label}: by velocity")
    return f


def at(kind, local):
    return (0.0, 0.0, 0.0) if kind in POINTS else local


def on(kinds):
    return {"on_a": at(kinds[0], (0.1, 0.0, 0.2)), "on_b": at(kinds[1], (-0.2, 0.0, 0.1))}


def alone(make):
    return lambda kinds, w, a, b: make(kinds[1], b)


def of_joint(joint, make):
    return lambda kinds, w, a, b: make(w.add(joint(a, b)))


# name -> (make(kinds, world, a, b), the pairs that it takes, whether its anchors coincide)
LAWS = {
    "Spring": (lambda kinds, w, a, b: lw.Spring(a, b, 20.0, rest=0.4, **on(kinds)), PAIRS, False),
    "Spring with a damper": (lambda kinds, w, a, b: lw.Spring(a, b, 20.0, rest=0.9, damping=3.0, **on(kinds)), PAIRS, False),
    "Damper": (lambda kinds, w, a, b: lw.Damper(a, b, 3.0, **on(kinds)), PAIRS, False),
    "Drag": (alone(lambda k, b: lw.Drag(b, 0.5, 0.3, 0.0 if k in POINTS else 0.2, at=at(k, (0.1, 0.0, 0.2)))),
             [("ground", b) for b in MOVING], False),
    "Wrench": (alone(lambda k, b: lw.Wrench(b, force=lambda t: (1, t, 2), at=at(k, (0.1, 0.0, 0.2)))), [("ground", b) for b in MOVING], False),
    "Wrench of a body": (alone(lambda k, b: lw.Wrench(b, (1, 2, 3), (2, 1, 0.5), at=(0.1, 0, 0.2), frame="body")),
                         [("ground", b) for b in MOVING if b not in POINTS], False),
    "Force": (alone(lambda k, b: lw.Force(b, blown, at=at(k, (0.1, 0.0, 0.2)))), [("ground", b) for b in MOVING], False),
    "Force on two": (lambda kinds, w, a, b: lw.Force(a, b, pulled, **on(kinds)), [p for p in PAIRS if p[0] != "ground"], False),
    "torque on two": (lambda kinds, w, a, b: lw.Force(a, b, twisted, torque=True), [p for p in TURNING if p[0] != "ground"], False),
    "TorsionSpring": (lambda kinds, w, a, b: lw.TorsionSpring(a, b, 4.0, damping=0.3), TURNING, False),
    "TorsionSpring of three": (lambda kinds, w, a, b: lw.TorsionSpring(a, b, (4.0, 3.0, 2.0), damping=(0.3, 0.2, 0.1)), TURNING, False),
    "Motor (position)": (of_joint(hinge, lambda j: lw.Motor(j, "position", kp=5.0, kd=0.4)), TURNING, True),
    "Motor (velocity)": (of_joint(hinge, lambda j: lw.Motor(j, "velocity", kd=0.4)), TURNING, True),
    "Motor (torque)": (of_joint(hinge, lambda j: lw.Motor(j)), TURNING, True),
    "Motor (slider)": (of_joint(slider, lambda j: lw.Motor(j, "position", kp=5.0, kd=0.4)), TURNING, True),
}  # fmt: skip


@cache
def built(name, kinds, exact=True):
    make, _, together = LAWS[name]
    world = lw.World()
    a, b = body(world, kinds[0], P, "a"), body(world, kinds[1], P if together else P + APART, "b")
    world.add(make(kinds, world, a, b))
    return Tangent(compile(world, limbs=False), exact=exact)


def configurations(tangent, name):
    """Anywhere and moving; as built and moving; as built and at rest."""
    rng = np.random.default_rng(len(name))
    moving = [rng.normal(size=kind.nv) for kind in tangent.kinds]
    yield tangent.jittered(rng, 0.2)
    yield tangent.q0, moving
    yield tangent.q0, [np.zeros(kind.nv) for kind in tangent.kinds]


def check_law(name, kinds):
    tangent = built(name, kinds)
    for k, (q, v) in enumerate(configurations(tangent, name)):
        kinked = name == "Drag" and not np.concatenate(v).any()  # |v| v has no second derivative at rest
        f = check(tangent, 0.7, q, v, f"{name} {kinds} {k}", H if kinked else 1e-7)
        expected = generalised(*tangent.placed(q, v), tangent.force.element, 0.7)
        np.testing.assert_allclose(f, np.concatenate(expected), atol=1e-9 * (1 + np.abs(f).max()))


@pytest.mark.parametrize("name", LAWS)
def test_the_law_and_its_derivatives(name):
    for kinds in [pair for pair in LAWS[name][1] if pair in FEW]:
        check_law(name, kinds)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_the_law_and_its_derivatives_on_all_other_pairs(name):
    for kinds in [pair for pair in LAWS[name][1] if pair not in FEW]:
        check_law(name, kinds)


@pytest.mark.parametrize("name", ["Spring", "Spring with a damper", "Damper"])
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "symmetric"])
def test_springs_without_a_length_have_finite_derivatives(name, exact):
    """Where both points are one there is no direction, and no force."""
    world = lw.World()
    a, b = world.add(lw.Particle(1.0, (0, 0, 1))), world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1)))
    make = {"Spring": lambda: lw.Spring(a, b, 20.0, rest=0.4, on_b=(0, 0, 1)), "Damper": lambda: lw.Damper(a, b, 3.0, on_b=(0, 0, 1)),
            "Spring with a damper": lambda: lw.Spring(a, b, 20.0, rest=0.4, damping=3.0, on_b=(0, 0, 1))}[name]  # fmt: skip
    world.add(make())
    tangent = Tangent(compile(world, limbs=False), exact=exact)
    f, K, D = (x[0] for x in tangent.at([(0.0, tangent.q0, [np.ones(3), np.ones(6)])]))
    assert not f.any() and np.isfinite(K).all() and np.isfinite(D).all()


# -- springs of joints, up to 3.1 rad and beyond --------------------------------------------------------------------------


def as_tangent(plain):
    """The exact derivatives of a force that another probe has, with its numbers."""
    return Tangent(plain.model, plain.model.forces.index(plain.force))


def smooth(tangent, q, v):
    """Whether no limit begins or ends, and no damper is held back, within the reach of finite differences."""
    near, nearer = (slopes(tangent, 0.0, q, v, size)[0] for size in (H, H / 8))
    return np.allclose(near, nearer, atol=1e-3 * (1 + np.abs(near).max()))


def check_joint_force(name, kinds):
    """How many of the configurations could be checked."""
    checked, plain, rng = 0, probe(name, kinds), np.random.default_rng(7)
    tangent = as_tangent(plain)
    for angle in JOINT_FORCES[name][3]:
        label = f"{name} {kinds} at {angle}"
        if near_a_branch(name, kinds, label) or (name, angle) in KINKS:
            continue
        q = JOINT_FORCES[name][2](Pair(plain), rng, angle)  # sets the turn counters of `plain`
        tangent.record, v = plain.record, [rng.normal(size=kind.nv) for kind in tangent.kinds]
        if smooth(tangent, q, v):
            check(tangent, 0.0, q, v, label)
            checked += 1
    return checked


KINKS = {("closed cone", 0.0)}  # the tip of a cone


@pytest.mark.parametrize("name", JOINT_FORCES)
def test_the_derivatives_of_forces_of_joints(name):
    assert sum(check_joint_force(name, kinds) for kinds in FEW[:2]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", JOINT_FORCES)
def test_the_derivatives_of_forces_of_joints_on_all_other_pairs(name):
    others = [pair for pair in TURNING if pair not in FEW[:2]]
    assert sum(check_joint_force(name, kinds) for kinds in others) > 0.8 * len(others)


# -- contact, following ---------------------------------------------------------------------------------------------------


def check_contact(name, kinds, **options):
    """Where they touch, and where they do not; not where they begin to. How often they touched."""
    tangent, rng, felt = as_tangent(contact(name, kinds, damping=0.2, **options)), np.random.default_rng(6), 0
    for q, v in touching(tangent, rng):
        near = tangent.at([(0.0, moved(tangent, q, 3 * H, rng), v) for _ in range(20)])[0]
        if len({bool(f.any()) for f in near}) == 1:
            felt += check(tangent, 0.0, q, v, f"{name} {kinds}").any()
    return felt


def moved(tangent, q, size, rng):
    return [poses.flow(kind.name, x, size * rng.normal(size=kind.nv), 1.0) for kind, x in zip(tangent.kinds, q, strict=True)]


@pytest.mark.parametrize("name", CONTACTS)
def test_the_derivatives_of_contact(name):
    for options in ({}, {"friction": 0.4, "slip": 0.1}):
        taken = [pair for pair in contact_pairs(name, friction=bool(options)) if LAGRANGIAN not in pair]
        assert sum(check_contact(name, kinds, **options) for kinds in FEW if kinds in taken) > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTACTS)
def test_the_derivatives_of_contact_on_all_other_pairs(name):
    assert sum(check_contact(name, kinds) for kinds in contact_pairs(name) if kinds not in FEW and LAGRANGIAN not in kinds) > 5


@pytest.mark.parametrize("kind", MOVING)
def test_the_derivatives_of_following(kind):
    rng = np.random.default_rng(8)
    turn = (0.8, 0, 0.6, 0) if "planar" in kind else (0.9, 0.3, 0.1, 0.3)
    target = np.concatenate([[0.3], rng.normal(size=3), np.array(turn) / np.linalg.norm(turn), rng.normal(size=6)])
    plain = follower(kind, target, damping=0.6)
    tangent = as_tangent(plain)
    tangent.record = plain.record
    for size in (0.0, 0.5):
        q, v = tangent.jittered(rng, size)
        check(tangent, 0.7, q, v, kind)


# -- elastic bodies -------------------------------------------------------------------------------------------------------


class Elastic:
    """Elastic forces of a kind of body, with stiffness 3 and damping 0.7."""

    def __init__(self, name):
        self.kind, self.trace = KINDS_BY_NAME[name], Trace()
        view = View(self.kind, self.trace, 1)
        results = [*self.kind.elasticity(view), self.kind.weight(view, np.zeros(3))]
        self.function = ca.Function("elastic", [ca.vertcat(*self.trace.symbols)], results)

    def at(self, q, v):
        """K, D, forces."""
        record = np.zeros(self.kind.record.size)
        for name, value in {"q": q, "v": v, "stiffness": 3.0, "damping": 0.7, "mass": 1.0}.items():
            record[self.kind.record.slice(name)] = value
        return [x.full() for x in self.function(record[[place for source in self.trace.sources for _, place in source]])]


def test_elasticity_of_affine_bodies_is_positive_semidefinite_and_exact_at_rest():
    elastic, rng = Elastic("AffineBody"), np.random.default_rng(4)
    still, nothing = np.concatenate([np.zeros(3), poses.turn(rng.normal(size=3)).ravel()]), np.zeros(12)
    for size in (0.0, 0.05, 0.3, 1.0):
        for found in elastic.at(still + size * np.concatenate([np.zeros(3), rng.normal(size=9)]), nothing)[:2]:
            assert np.allclose(found, found.T) and np.linalg.eigvalsh(found)[0] > -1e-12
    K, D, _ = elastic.at(still, nothing)
    for k, e in enumerate(1e-6 * np.eye(12)):
        by_place = elastic.at(still - e, nothing)[2] - elastic.at(still + e, nothing)[2]
        by_velocity = elastic.at(still, -e)[2] - elastic.at(still, e)[2]
        np.testing.assert_allclose(np.hstack([by_place, by_velocity]) / 2e-6, np.stack([K[:, k], D[:, k]], 1), atol=1e-8)
