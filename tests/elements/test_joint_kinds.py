"""What every joint gets by being declared: rows, coordinates and freedoms agree with each other, forwards and backwards."""

import zlib
from dataclasses import dataclass, fields
from functools import cache

import casadi as ca
import numpy as np
import pytest

import linkwork as lw
import linkwork.kinds as lk
from linkwork.elements import joints
from linkwork.elements.bodies.rigid import RIGID
from linkwork.elements.bodies.rigid_placement import RigidPlacement
from linkwork.elements.core.placement import Fixed, matrices
from linkwork.elements.joints.free import FREE
from linkwork.model import readout
from linkwork.model.compile_model import compile
from linkwork.symbolic.autodiff import Tape
from linkwork.symbolic.views import View, load_global
from tests.elements.outside.barrel_cam import BarrelCam, CamKind
from tests.elements.outside.constant_velocity import ConstantVelocity
from tests.symbolic.probe import Node, Probe
from tests.symbolic.test_relations import check_derivatives

CLASSES = [getattr(joints, name) for name in joints.WHERE if name not in ("Joint", "AxisJoint")] + [BarrelCam, ConstantVelocity]
AT = np.array([0.3, -0.1, 0.2])
GIVEN = {
    "axis": (0.2, 1.0, -0.3),
    "pitch": 0.3,
    "normal": (0.1, 0.2, 1.0),
    "shaft_a": (0.0, 0.6, 0.8),
    "shaft_b": (0.0, 0.6, 0.8),
}
BODIES = ((0, 0.2, 0), (0.8, 0.6, 0, 0)), ((0.5, 0, 0.1), (0.6, 0, 0, 0.8))  # positions and orientations
H = 1e-5

by_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def body(name, position, orientation):
    inertia = ((0.3, 0.02, 0.01), (0.02, 0.25, -0.03), (0.01, -0.03, 0.2))
    return lw.RigidBody(1.2, inertia, position=position, orientation=orientation, com=(0.05, -0.02, 0.1), name=name)


def joint(cls, a, b):
    known = {field.name for field in fields(cls)}
    return cls(a, b, at=AT, name="joint", **{name: value for name, value in GIVEN.items() if name in known})


@cache
def mobilizers(cls):
    """Forwards and, where it is another one, backwards."""
    kind = lk.kind_of_joint(joint(cls, "a", "b"))
    back = kind.mobilizer.reversed.mobilizer
    return [kind.mobilizer, *([] if back is None else [back])]


def constants(cls):
    element = joint(cls, "a", "b")
    return lk.kind_of_joint(element).constants(element)


def evaluated(mobilizer, names, *given):
    """Methods of a mobilizer at numbers: q, then qd if there is one, then constants."""
    symbols = [ca.SX.sym("x", len(x)) for x in given]
    found = []
    for name in names:
        value = getattr(mobilizer, name)(*symbols)
        found += value if isinstance(value, tuple) else [value]
    return [np.array(x) for x in ca.Function("f", symbols, [ca.densify(x) for x in found]).call(list(given))]


def moved(mobilizer, q, step):
    return evaluated(mobilizer, ["integrate"], q, step)[0].ravel()


@by_class
def test_derivatives_of_rows_agree_with_finite_differences(cls):
    world = lw.World()
    a, b = (world.add(body(name, *where)) for name, where in zip("ab", BODIES, strict=True))
    world.add(joint(cls, a, b))
    model = compile(world)
    node = Node(model, 0)
    check_derivatives(
        node,
        model.nodes[0].rows_of(world.constraints[0]),
        np.random.default_rng(zlib.crc32(cls.__name__.encode())),
        cls.__name__,
    )


def coordinates_at_random(mobilizer):
    rng = np.random.default_rng(7)
    return 0.9 * mobilizer.random(rng, 5) if not mobilizer.quaternions else mobilizer.random(rng, 5), rng.normal(
        size=(5, mobilizer.nv)
    )


@by_class
def test_coordinates_undo_transform(cls):
    for mobilizer in mobilizers(cls):
        for q in coordinates_at_random(mobilizer)[0]:
            E, d = evaluated(mobilizer, ["transform"], q, constants(cls))
            assert E @ E.T == pytest.approx(np.eye(3), abs=1e-14)
            made = ca.SX.sym("E", 3, 3), ca.SX.sym("d", 3), ca.SX.sym("p", mobilizer.constants)
            back = ca.Function("f", made, [ca.densify(mobilizer.coordinates(*made))])(E, d, constants(cls))
            found = np.array(back).ravel()
            for at in mobilizer.quaternions:
                found[at] *= np.sign(found[at] @ q[at])
            assert found == pytest.approx(q, abs=1e-12)


@by_class
def test_turns_go_on_without_a_jump(cls):
    for mobilizer in mobilizers(cls):
        for q, qd in zip(*coordinates_at_random(mobilizer), strict=True):
            E, _, turn = evaluated(mobilizer, ["transform", "turn"], q, constants(cls))
            assert matrices(turn.T)[0] == pytest.approx(E, abs=1e-14)
            if cls is ConstantVelocity or not mobilizer.nv:  # which never makes a turn
                continue
            for _ in range(40):
                q, before = moved(mobilizer, q, 0.4 * qd / np.abs(qd).max()), turn.ravel()
                turn = evaluated(mobilizer, ["turn"], q, constants(cls))[0]
                assert before @ turn.ravel() > 0.5


@by_class
def test_the_subspace_is_the_motion_of_the_child(cls):
    p = constants(cls)
    for mobilizer in mobilizers(cls):
        for q, qd in zip(*coordinates_at_random(mobilizer), strict=True):
            E, _, S = evaluated(mobilizer, ["transform", "subspace"], q, p)
            bias, rate = evaluated(mobilizer, ["bias", "subspace_rate"], q, qd, p)
            (Em, dm, Sm), (Ep, dp, Sp) = (
                evaluated(mobilizer, ["transform", "subspace"], moved(mobilizer, q, h * qd), p) for h in (-H, H)
            )
            turning = (Ep - Em) / (2 * H) @ E.T
            spin = [turning[2, 1], turning[0, 2], turning[1, 0]]
            assert S @ qd == pytest.approx(np.concatenate([(dp - dm).ravel() / (2 * H), spin]), abs=1e-8)
            assert rate == pytest.approx((Sp - Sm) / (2 * H), abs=1e-8)
            assert bias.ravel() == pytest.approx(rate @ qd, abs=1e-12)


@by_class
def test_reversed_is_the_inverse(cls):
    mobilizer = mobilizers(cls)[0]
    seen, p = mobilizer.reversed, constants(cls)
    for q in coordinates_at_random(mobilizer)[0]:
        E, d = evaluated(mobilizer, ["transform"], q, p)
        back, away = evaluated(seen.mobilizer or mobilizer, ["transform"], q[::-1] if seen.swapped else q, p)
        assert back == pytest.approx(seen.frame.T @ E.T @ seen.frame, abs=1e-14)
        assert away == pytest.approx(-seen.frame.T @ E.T @ d, abs=1e-14)


@by_class
def test_both_subspaces_span_the_same(cls):
    """S(q), turned into the world, and what the elimination in maximal coordinates takes, for either body as the child."""
    made = body("b", (0.5, 0, 0.1), (0.6, 0, 0, 0.8))
    element = joint(cls, "a", "b")
    kind = lk.kind_of_joint(element)
    A, B = Fixed(1), RigidPlacement([made])
    numbers = {name: np.array(value[0], dtype=float) for name, value in kind.parameters([element], A, B).items()}
    on_a, on_b = kind.frames(element, A, B)
    for q in coordinates_at_random(kind.mobilizer)[0]:
        E, d, S = evaluated(kind.mobilizer, ["transform", "subspace"], q, constants(cls))
        Rb = on_a @ E @ on_b.T @ B.R[0]
        anchor = AT + (on_a @ d).ravel()
        poses = lk.Pose(ca.SX.eye(3), ca.SX.zeros(3)), lk.Pose(ca.SX(Rb), ca.SX(anchor - Rb @ numbers["on_b"]))
        p = {name: ca.SX(value) for name, value in numbers.items()}
        linear, angular = on_a @ S[:3], on_a @ S[3:]
        of_a = -(linear + np.cross(angular, AT - anchor, axis=0)) if kind.mobilizer.nv else linear
        for child, wanted in ((1, np.vstack([linear, angular])), (0, np.vstack([of_a, -angular]))):
            found = np.array(ca.evalf(ca.densify(kind.world_subspace(*poses, p, child))))
            assert found.shape == (6, kind.mobilizer.nv)
            assert np.linalg.matrix_rank(found, tol=1e-9) == kind.mobilizer.nv
            assert np.linalg.matrix_rank(np.hstack([found, wanted]), tol=1e-9) == kind.mobilizer.nv


@by_class
def test_coordinates_are_read_from_the_bodies(cls):
    """What the readout of a kind tells against joint coordinates, for a world that has moved."""
    world = lw.World(gravity=(1.0, 2.0, -5.0))
    one, two = (world.add(body(name, *where)) for name, where in zip("ab", BODIES, strict=True))
    world.add(lw.Weld(world.ground, one))
    element = world.add(joint(cls, one, two))
    sim = lw.Simulation(world, dt=1e-3)
    sim.step(100)
    kind, node = lk.kind_of_joint(element), next(node for node in sim.model.nodes if element in node.elements)
    mobilizer = kind.mobilizer
    assert (len(kind.read_names), len(kind.read_rates)) == (mobilizer.nq, mobilizer.nv)
    assert len(set(kind.read_names)) == mobilizer.nq
    if not mobilizer.nv:
        return
    batches = [RigidPlacement([one]), RigidPlacement([two])]
    own = readout.numbers(sim.model, sim.work, sim.model.nodes.index(node), 0) | {
        n: v[0] for n, v in kind.read_numbers([element], *batches).items()
    }

    def write(trace):
        tape = Tape([View(RIGID, trace, 2 + k) for k in range(2)], load_global(trace, "time"))
        p = {name: ca.SX(np.asarray(value, dtype=float)) for name, value in own.items()}
        for k, value in enumerate(tape.resolve(list(kind.read_coordinates(node.kind.parts[0].arranged(tape.handles), p)))):
            trace.store(4, 1000 * k, value)

    probe = Probe(sim.model, node.ends, node.kind.kinds, np.zeros(1), write)
    state = [[sim.work[sim.model.field_of_body(number, name)] for number in node.ends] for name in ("q", "v")]
    q, qd = (found[0] for found in probe.results([(0.0, *state)]))
    poses = [
        np.array([getattr(sim, name)(b) for b in (one, two)])
        for name in ("position", "orientation", "velocity", "angular_velocity")
    ]
    wanted = lw.reduced.from_bodies(lw.reduced.compile(world), *poses[:2], np.hstack(poses[2:]))
    assert q == pytest.approx(wanted.q, abs=1e-8) and qd == pytest.approx(wanted.qd, abs=1e-8)
    assert np.abs(q - mobilizer.neutral()).max() > 1e-4


def test_a_floating_body_has_the_same():
    for q, qd in zip(*coordinates_at_random(FREE), strict=True):
        _, _, S = evaluated(FREE, ["transform", "subspace"], q, [])
        (_, dm), (_, dp) = (evaluated(FREE, ["transform"], moved(FREE, q, h * qd), []) for h in (-H, H))
        assert (S @ qd)[:3] == pytest.approx((dp - dm).ravel() / (2 * H), abs=1e-8)
    assert [freedom.unit for freedom in FREE.freedoms] == ["m", "m", "m", "1"]


@by_class
def test_units_belong_to_coordinates(cls):
    mobilizer = mobilizers(cls)[0]
    assert (
        sum(freedom.nq for freedom in mobilizer.freedoms) == mobilizer.nq == len(mobilizer.neutral()) == len(mobilizer.angles)
    )
    assert cls.rows + mobilizer.nv == 6
    assert all({freedom.unit, freedom.effort} <= {"rad", "m", "1", "N", "N m"} for freedom in mobilizer.freedoms)


# -- what is lacking is refused where it is declared ----------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Odd(lk.AxisJoint):
    rows = 5
    has_coordinate = True


def declared(**changes):
    return lk.kind_of(Odd)(type("OddKind", (CamKind,), {"constant_fields": (), **changes}))


@pytest.mark.parametrize(("changes", "text"), [
    ({"levels": [lk.POSITION] * 4}, "OddKind: Odd has rows = 5, but there are 4 levels; make them agree"),
    ({"pivot": lk.Pivot.AXES}, "OddKind: it lacks turning, which pivot = Pivot.AXES asks for; define it"),
    ({"meets": True}, "OddKind: it lacks least_turn, which meets = True asks for; define it"),
    ({"law": lk.FreedomLaw.CROSS}, "OddKind: Odd lacks the fields first, second; add them"),
    ({"constant_fields": ("rise",)}, "OddKind: Odd lacks the fields rise; add them"),
    ({"counters": 0}, "OddKind: its coordinate is an angle, whose turns are counted; give counters = 1"),
])  # fmt: skip
def test_a_kind_that_lacks_something_is_refused(changes, text):
    with pytest.raises(TypeError) as caught:
        declared(**changes)
    assert str(caught.value) == text


def test_methods_that_every_joint_has_are_asked_for():
    with pytest.raises(
        TypeError, match=r"Nothing: it lacks frames, parameters, rows, world_subspace; a kind of Odd needs them"
    ):

        @lk.kind_of(Odd)
        class Nothing(lk.JointKind):
            pass

    with pytest.raises(TypeError, match="abstract"):

        class Still(lk.Mobilizer):
            freedoms = ()

        Still()


def test_a_joint_without_a_kind_is_refused():
    world = lw.World()
    bar = world.add(body("bar", (0, 0, 0), (1, 0, 0, 0)))

    @dataclass(eq=False, repr=False)
    class Loose(lw.Hinge):
        play: float = 0.0

    world.add(Loose(world.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    with pytest.raises(lw.LinkworkError, match=r"Loose: it has fields of its own \(play\), and no kind is declared for it"):
        lw.Simulation(world)


def test_a_hinge_by_another_name_is_a_hinge():
    class Knee(lw.Hinge):
        pass

    world = lw.World()
    shin = world.add(body("shin", (0, 0, 0), (1, 0, 0, 0)))
    knee = world.add(Knee(world.ground, shin, at=(0.5, 0, 0), axis=(0, 1, 0)))
    assert lk.kind_of_joint(knee) is lk.kind_of_joint(joint(lw.Hinge, "a", "b"))
