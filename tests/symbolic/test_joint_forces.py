"""Forces of stiff joints on every pair of bodies: down the gradient of their potential, without momentum of their own, with
a tangent that is exact where forces vanish and positive semidefinite everywhere."""

import zlib
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.compile_model import compile
from tests.oracles import poses
from tests.symbolic.pairs import APART, DIRECTED, KINDS, P, body, build
from tests.symbolic.probe import STENCIL, Force, difference

H = 3e-4
PITCH = 0.4  # m a turn, of the screws of pairs.py
Y = np.array([0.0, 1.0, 0.0])
TURNING = [(a, b) for a in DIRECTED for b in DIRECTED if (a, b) != ("ground", "ground")]


def half_turn(rotation_vector):
    """The quaternion of a rotation vector of any length: its sign goes on with the angle."""
    angle = np.linalg.norm(rotation_vector)
    return np.array([np.cos(angle / 2), *(0.5 * np.sinc(angle / 2 / np.pi) * np.asarray(rotation_vector))])


def carried(kind, q, turn, at, shift):
    """Coordinates after a rigid motion: the turn (a rotation vector) about a point, then a shift."""
    name, _, plane = kind.partition("-")
    R = poses.turn(turn)
    if name == "PlanarBody":
        first, second, normal = poses.PLANE[plane]
        x = at + R @ (poses.frame(kind, q)[0] - at) + shift
        return np.array([x[first], x[second], q[2] + turn[normal]])
    x = at + R @ (q[:3] - at) + shift
    if name == "AffineBody":
        return np.concatenate([x, (R @ q[3:].reshape(3, 3)).ravel()])
    return np.concatenate([x, poses.quaternion_product(half_turn(turn), q[3:7]), q[7:]])


class Pair:
    """Two bodies, one of which can be moved relative to the other, and both together."""

    def __init__(self, force):
        self.force, self.kinds = force, force.kinds
        flat = [k.name.startswith("Planar") for k in self.kinds]
        self.mover = next((k for k in reversed(range(len(flat))) if not flat[k]), len(flat) - 1)
        self.flat, self.both_flat = flat[self.mover], any(flat)
        second = force.force.ends[1] == force.numbers[self.mover]
        self.sign = 1 if second else -1  # of the motion of b relative to a

    def moved(self, turn=(0, 0, 0), shift=(0, 0, 0), at=P, rng=None):
        """Coordinates after b has moved relative to a; with rng both are somewhere else too."""
        turn, shift = np.array(turn, dtype=float), np.array(shift, dtype=float)
        if self.flat:  # what lies in the plane
            turn, shift = turn * (0, 1, 0), shift * (1, 0, 1)
        q = list(self.force.q0)
        if self.sign < 0:
            turn, shift = -turn, -(poses.turn(-turn) @ shift)
        q[self.mover] = carried(self.kinds[self.mover].name, q[self.mover], turn, at, shift)
        if rng is not None and len(q) == 2:
            together = np.array([0, rng.normal(), 0]) if self.both_flat else rng.normal(size=3)
            away = rng.normal(size=3) * ((1, 0, 1) if self.both_flat else 1)
            q = [carried(k.name, x, together, P, away) for k, x in zip(self.kinds, q, strict=True)]
        return q

    def turned(self, turn):
        """What is left of a turn where the bodies lie in a plane."""
        return np.array(turn) * (0, 1, 0) if self.flat else np.array(turn)


@cache
def model_with(joint, kinds):
    """A pair with a joint, and all forces of the tables below that are for it."""
    world, element = build(joint, kinds)
    names = [name for name in ALL if ALL[name][0] == joint]
    for name in names:
        world.add(ALL[name][1](element))
    return compile(world, limbs=False), names


@cache
def probe(name, kinds):
    """The force `name` of the tables below on a pair of bodies."""
    model, names = model_with(ALL[name][0], kinds)
    return Force(model, names.index(name))


def universal(pair, first, second):
    """The turn of b about the first axis (x) and then about the second one (y), which went with it."""
    if pair.flat:
        return np.array([0.0, second, 0.0])
    return rotation_vector(poses.quaternion_product(half_turn((first, 0, 0)), half_turn((0, second, 0))))


def rotation_vector(q):
    sine = np.linalg.norm(q[1:])
    return 2 * np.arctan2(sine, q[0]) / sine * q[1:] if sine > 0 else np.zeros(3)


def of_ball(pair, rng, angle):
    direction = rng.normal(size=3)
    turn = angle * (np.sign(rng.normal()) * Y if pair.flat else direction / np.linalg.norm(direction))
    return pair.moved(turn, rng=rng)


def of_hinge(pair, rng, angle):
    pair.force.count(angle)
    return pair.moved(angle * Y, rng=rng)


def of_screw(pair, rng, angle):
    """Its travel is out of the plane of planar bodies: there it turns alone."""
    pair.force.count(angle)
    return pair.moved(angle * Y, PITCH * angle / (2 * np.pi) * Y, rng=rng)


def of_slider(pair, rng, angle):
    return pair.moved(shift=(angle, 0, 0), rng=rng)


def of_cylinder(pair, rng, angle):
    pair.force.count(angle)
    return pair.moved(angle * Y, 0.3 * Y, rng=rng)


def of_plane(pair, rng, angle):
    """In the plane z = const, about z: planar bodies travel along x alone."""
    pair.force.count(0.0 if pair.flat else angle)
    return pair.moved((0, 0, angle), (0.4, -0.3, 0) if not pair.flat else (0.4, 0, 0), rng=rng)


def of_universal(pair, rng, angle):
    second = 0.5 - angle
    pair.force.count(0.0 if pair.flat else angle, second)
    return pair.moved(universal(pair, angle, second), rng=rng)


REST = tuple(half_turn((0.2, 0.5, -0.4)))
FLAT_REST = tuple(half_turn((0, 0.5, 0)))
# name -> (joint, the force, a configuration in which the joint holds, angles or travels, is it at rest as built)
FORCES = {
    "ball": ("Ball", lambda j: lw.JointSpring(j, 3.0), of_ball, (0.0, 1e-9, 0.7, 3.1, np.pi, 4.0, 5.9), True),
    "ball with a rest": ("Ball", lambda j: lw.JointSpring(j, 3.0, rest=REST), of_ball, (0.0, 1.2, 2.4), False),
    "ball of three": ("Ball", lambda j: lw.JointSpring(j, (3.0, 1.0, 0.5)), of_ball, (0.0, 1e-9, 0.7, 3.1, 4.0), True),
    "hinge": ("Hinge", lambda j: lw.JointSpring(j, 3.0), of_hinge, (0.0, 0.7, 3.1, -3.3, 20.0), True),
    "hinge with a rest": ("Hinge", lambda j: lw.JointSpring(j, 3.0, rest=0.4), of_hinge, (0.0, -9.0), False),
    "screw": ("Screw", lambda j: lw.JointSpring(j, 3.0), of_screw, (0.0, 0.7, -7.0), True),
    "slider": ("Slider", lambda j: lw.JointSpring(j, 3.0), of_slider, (0.0, 0.7), True),
    "slider with a rest": ("Slider", lambda j: lw.JointSpring(j, 3.0, rest=0.4), of_slider, (0.0, 0.7), False),
    "cylinder": ("Cylindrical", lambda j: lw.JointSpring(j, 3.0, travel_stiffness=7.0), of_cylinder, (0.0, -8.0), True),
    "cylinder turning": ("Cylindrical", lambda j: lw.JointSpring(j, 3.0), of_cylinder, (0.0, 4.0), True),
    "plane": ("Planar", lambda j: lw.JointSpring(j, 3.0, travel_stiffness=7.0), of_plane, (0.0, -8.0), True),
    "plane with a rest": ("Planar", lambda j: lw.JointSpring(j, 3.0, rest=0.3, travel_stiffness=7.0, travel_rest=(0.1, 0, 0)),
                          of_plane, (0.0, 2.0), False),
    "universal": ("Universal", lambda j: lw.JointSpring(j, (3.0, 2.0)), of_universal, (0.0, 0.7, 4.0), True),
    "hinge's limit": ("Hinge", lambda j: lw.JointLimit(j, -0.5, 4.0, 3.0), of_hinge, (0.0, 3.9, 4.1, -0.6, -9.0), True),
    "hinge's upper limit": ("Hinge", lambda j: lw.JointLimit(j, upper=-0.2, stiffness=3.0), of_hinge, (0.0, -9.0), False),
    "screw's limit": ("Screw", lambda j: lw.JointLimit(j, -0.5, 4.0, 3.0), of_screw, (0.0, 4.1, -9.0), True),
    "slider's limit": ("Slider", lambda j: lw.JointLimit(j, -0.5, 0.2, 3.0), of_slider, (0.0, 0.7, -0.6), True),
    "cylinder's limit": ("Cylindrical", lambda j: lw.JointLimit(j, upper=0.1, stiffness=3.0), of_cylinder, (0.0, -8.0), True),
    "cylinder's twist": ("Cylindrical", lambda j: lw.JointLimit(j, twist=(-0.5, 4.0), stiffness=3.0), of_cylinder,
                         (0.0, 4.1, -9.0), True),
    "cone": ("Ball", lambda j: lw.JointLimit(j, cone=0.5, axis=(0.6, 0, 0.8), stiffness=3.0), of_ball,
             (0.0, 0.4, 2.0, 3.1, 4.0), True),
    "closed cone": ("Ball", lambda j: lw.JointLimit(j, cone=0.0, axis=(0.6, 0, 0.8), stiffness=3.0), of_ball, (0.0, 0.4), False),
    "twist": ("Ball", lambda j: lw.JointLimit(j, twist=(-0.2, 0.1), axis=(0, 0.6, 0.8), stiffness=3.0), of_ball,
              (0.0, 0.4, 2.0, 3.1, 4.0), True),
    "cone and twist": ("Ball", lambda j: lw.JointLimit(j, cone=0.3, twist=(-0.2, 0.1), axis=(0.6, 0, 0.8), stiffness=3.0),
                       of_ball, (0.0, 0.4, 2.0), True),
    "universal's limits": ("Universal", lambda j: lw.JointLimit(j, (-0.5, -0.6), (4.0, 0.9), 3.0), of_universal,
                           (0.0, 0.7, 4.2, -1.0), True),
    "universal with a rest": ("Universal", lambda j: lw.JointSpring(j, 3.0, rest=(0.4, 0.1)), of_universal, (0.0, -4.0), False),
}  # fmt: skip


DAMPED = {
    "damped ball": ("Ball", lambda j: lw.JointSpring(j, 3.0, damping=0.7), of_ball, (0.0, 4.0), True),
    "damped ball of three": ("Ball", lambda j: lw.JointSpring(j, 3.0, damping=(0.7, 0.2, 0.1)), of_ball, (0.0, 4.0), True),
    "damped hinge": ("Hinge", lambda j: lw.JointSpring(j, 3.0, damping=0.7), of_hinge, (0.0, 4.0), True),
    "damped screw": ("Screw", lambda j: lw.JointSpring(j, 3.0, damping=0.7), of_screw, (0.0, 4.0), True),
    "damped slider": ("Slider", lambda j: lw.JointSpring(j, 3.0, damping=0.7), of_slider, (0.0, 0.7), True),
    "damped cylinder": ("Cylindrical", lambda j: lw.JointSpring(j, 3.0, 0.7, travel_damping=0.9), of_cylinder, (0.0, 4.0), True),
    "damped plane": ("Planar", lambda j: lw.JointSpring(j, 3.0, travel_stiffness=1.0, travel_damping=0.9), of_plane, (0.0,), True),
    "damped universal": ("Universal", lambda j: lw.JointSpring(j, 3.0, damping=(0.7, 0.2)), of_universal, (0.0, 0.7), True),
    "damped hinge's limit": ("Hinge", lambda j: lw.JointLimit(j, -0.5, 4.0, 3.0, 0.7), of_hinge, (0.0, 4.1, -9.0), True),
    "damped slider's limit": ("Slider", lambda j: lw.JointLimit(j, -0.5, 0.2, 3.0, 0.7), of_slider, (0.0, 0.7), True),
    "damped cone and twist": ("Ball", lambda j: lw.JointLimit(j, cone=0.3, twist=(-0.2, 0.1), axis=(0.6, 0, 0.8), stiffness=3.0,
                                                       damping=0.7), of_ball, (0.0, 2.0), True),
    "damped universal's limits": ("Universal", lambda j: lw.JointLimit(j, -0.5, (0.3, 0.9), 3.0, 0.7), of_universal,
                                  (0.0, 0.7, -1.0), True),
    "damped motor": ("Hinge", lambda j: lw.Motor(j, "position", kp=3.0, kd=0.7), of_hinge, (0.0, 4.0), True),
    "damped slider's motor": ("Slider", lambda j: lw.Motor(j, "velocity", kd=0.7), of_slider, (0.0, 0.7), True),
}  # fmt: skip
ALL = FORCES | DAMPED


def configurations(name, kinds):
    """(force, coordinates, velocities, generator) of every configuration of the table."""
    rng = np.random.default_rng(zlib.crc32(f"{name}{kinds}".encode()))
    force = probe(name, kinds)
    pair = Pair(force)
    for angle in ALL[name][3]:
        q = ALL[name][2](pair, rng, angle)
        yield force, q, [rng.normal(size=k.nv) for k in force.kinds], f"{name} {kinds} at {angle}"


def near_a_branch(name, kinds, label):
    """The rotation vector of a ball on an affine body takes the shorter way: at pi it jumps."""
    return name.startswith("ball") and "affine" in kinds and label.endswith(f"{np.pi}")


def check_gradient(force, q, v, label):
    """The power of the force is what its potential loses."""
    samples = [(0.0, q, v)] + [(0.0, force.flowed(0.0, q, v, k * H)[1], v) for k, _ in STENCIL]
    f, energy, _, _ = force.at(samples)
    assert np.isfinite(f).all() and np.isfinite(energy).all(), label
    scale = 1 + np.abs(f[0]).max() + abs(energy[0])
    assert abs(f[0] @ np.concatenate(v) + difference(energy[1:], H)) < 1e-7 * scale, label


def check_semidefinite(force, q, v, label):
    _, _, K, D = force.at([(0.0, q, v)])
    for matrix in (K[0], D[0]):
        assert np.isfinite(matrix).all(), label
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-12, err_msg=label)
        assert np.linalg.eigvalsh(matrix).min() > -1e-12 * (1 + np.abs(matrix).max()), label


def check_momentum(force, q, v, label):
    """Of two rigid bodies."""
    f = force.at([(0.0, q, v)])[0][0]
    np.testing.assert_allclose(f[:3] + f[6:9], 0, atol=1e-12, err_msg=label)
    moment = f[3:6] + f[9:12] + np.cross(q[0][:3], f[:3]) + np.cross(q[1][:3], f[6:9])
    np.testing.assert_allclose(moment, 0, atol=1e-11, err_msg=label)
    return f


def slope(force, q, v, pushes=None, by_velocity=False):
    """-df/dq, or -df/dv: by finite differences along each push, all velocities if not given."""
    sizes = [k.nv for k in force.kinds]
    samples = []
    for push in np.eye(sum(sizes)) if pushes is None else pushes:
        parts = np.split(push, np.cumsum(sizes)[:-1])
        for k, _ in STENCIL:
            pushed = [x + k * H * d for x, d in zip(v, parts, strict=True)]
            samples.append((0.0, q, pushed) if by_velocity else (0.0, force.flowed(0.0, q, parts, k * H)[1], v))
    columns = force.at(samples)[0].reshape(-1, len(STENCIL), sum(sizes))
    return -np.array([difference(column, H) for column in columns]).T


def check_damping(force, q, v, label, tolerance=1e-8):
    """Of forces that are linear in velocities, or nearly so within the stencil: along some directions."""
    D = force.at([(0.0, q, v)])[3][0]
    pushes = np.random.default_rng(len(label)).normal(size=(3, len(D)))
    along = slope(force, q, v, pushes, by_velocity=True)
    np.testing.assert_allclose(D @ pushes.T, along, atol=tolerance * (1 + np.abs(D).max()), err_msg=label)
    return D


@pytest.mark.parametrize("name", FORCES)
def test_they_push_down_their_potential(name):
    for kinds in TURNING:
        for force, q, v, label in configurations(name, kinds):
            if not near_a_branch(name, kinds, label):
                check_gradient(force, q, v, label)


@pytest.mark.parametrize("name", FORCES)
def test_their_tangents_are_positive_semidefinite(name):
    for kinds in TURNING:
        for force, q, v, label in configurations(name, kinds):
            check_semidefinite(force, q, v, label)


AT_REST = [name for name in FORCES if FORCES[name][4]]


@pytest.mark.parametrize("name", AT_REST)
def test_their_tangents_are_exact_at_rest(name):
    for kinds in TURNING:
        force = probe(name, kinds)
        q, v = force.q0, [np.zeros(k.nv) for k in force.kinds]
        if "turns" in force.layout:
            force.count(*[0.0] * force.law.counters)
        f, _, K, _ = force.at([(0.0, q, v)])
        np.testing.assert_allclose(f[0], 0, atol=1e-14, err_msg=f"{name} {kinds}")
        np.testing.assert_allclose(K[0], slope(force, q, v), atol=1e-7, err_msg=f"{name} {kinds}")


@pytest.mark.parametrize("angle", (0.0, 1e-9, 0.7, 3.1, np.pi))
def test_a_ball_spring_has_the_symmetric_part_of_every_block(angle):
    for kinds in (("rigid", "rigid"), ("ground", "rigid")):
        force, rng = probe("ball", kinds), np.random.default_rng(3)
        q = of_ball(Pair(force), rng, angle)
        v = [np.zeros(6) for _ in q]
        K, exact = force.at([(0.0, q, v)])[2][0], slope(force, q, v)
        for i in range(0, len(K), 6):
            for j in range(0, len(K), 6):
                block, found = exact[i : i + 6, j : j + 6], K[i : i + 6, j : j + 6]
                np.testing.assert_allclose(found, (block + block.T) / 2, atol=1e-7)


@pytest.mark.parametrize("name", ["hinge", "screw", "cylinder turning"])
def test_an_axial_spring_on_the_ground_has_its_tangent_at_every_angle(name):
    for force, q, _, label in configurations(name, ("ground", "rigid")):
        v = [np.zeros(6)]
        np.testing.assert_allclose(force.at([(0.0, q, v)])[2][0], slope(force, q, v), atol=1e-6, err_msg=label)


@pytest.mark.parametrize("name", FORCES)
def test_they_keep_momentum(name):
    for force, q, v, label in configurations(name, ("rigid", "rigid")):
        check_momentum(force, q, v, label)


def test_limits_are_felt_beyond_them_alone():
    force = probe("hinge's limit", ("ground", "rigid"))
    pair, v = Pair(force), [np.zeros(6)]
    for angle, torque in ((0.0, 0), (-0.49, 0), (3.99, 0), (4.5, -1.5), (-1.5, 3.0), (-9.5, 27.0)):
        f, energy, K, _ = force.at([(0.0, of_hinge(pair, None, angle), v)])
        np.testing.assert_allclose(f[0], [0, 0, 0, 0, torque, 0], atol=1e-12)
        assert abs(energy[0] - torque**2 / 6) < 1e-12 and K[0, 4, 4] == (3.0 if torque else 0.0)
    force = probe("universal's limits", ("ground", "rigid"))
    for angle, torques in (
        (0.0, (0, 0)),
        (-0.8, (0.9, -1.2)),
        (1.2, (0, 0.3)),
        (4.5, (-1.5, 10.2)),
    ):  # the second is 0.5 - angle
        f, energy, _, _ = force.at([(0.0, of_universal(Pair(force), np.random.default_rng(0), angle), v)])
        second = np.array([0, np.cos(angle), np.sin(angle)])
        np.testing.assert_allclose(f[0, 3:], torques[0] * np.array([1, 0, 0]) + torques[1] * second, atol=1e-12)
        assert abs(energy[0] - np.sum(np.square(torques)) / 6) < 1e-12
    force = probe("cone and twist", ("ground", "rigid"))
    for turn, torque in (((0, 0.29, 0), 0), ((0, 0.5, 0), -0.6), (0.05 * np.array([0.6, 0, 0.8]), 0),
                         (0.4 * np.array([0.6, 0, 0.8]), -0.9), (-0.5 * np.array([0.6, 0, 0.8]), -0.9)):  # fmt: skip
        f = force.at([(0.0, Pair(force).moved(turn), v)])[0][0]
        np.testing.assert_allclose(f[3:], torque * np.array(turn) / max(np.linalg.norm(turn), 1e-9), atol=1e-12)


def test_a_ball_spring_goes_on_beyond_half_a_turn():
    u = np.array([0.6, 0.0, 0.8])
    for kind, longest in (("rigid", 6.28), ("scalable", 6.28), ("affine", np.pi)):
        force = probe("ball", ("ground", kind))
        for angle in (1.0, 3.0, 3.3, 6.2):
            f = force.at([(0.0, Pair(force).moved(angle * u), [np.zeros(k.nv) for k in force.kinds])])[0][0]
            short = angle if angle < longest else angle - 2 * np.pi
            if kind != "affine":
                np.testing.assert_allclose(f[3:6], -3.0 * short * u, atol=1e-12)
            else:  # the torque as its power
                v = np.concatenate(
                    [np.zeros(3), (poses.skew(u) @ poses.turn(angle * u) @ force.q0[0][3:].reshape(3, 3)).ravel()]
                )
                assert abs(f @ v + 3.0 * short) < 1e-9


@pytest.mark.parametrize("name", DAMPED)
def test_damping_is_what_its_tangent_says(name):
    for kinds in TURNING:
        for force, q, v, label in configurations(name, kinds):
            D = check_damping(force, q, v, label)
            check_semidefinite(force, q, v, label)
            if kinds == ("rigid", "rigid"):
                check_momentum(force, q, v, label)
            assert np.abs(D).max() > 0 or "limit" in name or "cone" in name or "planar" in kinds, label


# -- forces without a joint --------------------------------------------------------------------------------------------


def alone(kinds, make, apart=0.0):
    """The force that make(a, b, world) gives, on bodies somewhere near P."""
    world = lw.World()
    a, b = body(world, kinds[0], P, "a"), body(world, kinds[1], P + apart, "b")
    world.add(make(a, b, world))
    return Force(compile(world, limbs=False))


def test_a_torsion_spring_is_a_ball_spring_without_the_ball():
    for kinds in TURNING:
        torsion = alone(kinds, lambda a, b, world: lw.TorsionSpring(a, b, (3.0, 1.0, 2.0), damping=0.4, rest=REST))
        world, ball = build("Ball", kinds)
        world.add(lw.JointSpring(ball, (3.0, 1.0, 2.0), damping=0.4, rest=REST))
        spring = Force(compile(world, limbs=False))
        rng = np.random.default_rng(5)
        q, v = torsion.jittered(rng, 0.3)
        for found, wanted in zip(torsion.at([(0.0, q, v)]), spring.at([(0.0, q, v)]), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_a_rest_is_where_a_ball_spring_is_at_rest():
    rest = half_turn((0.2, 0.5, -0.4))
    for sign in (1, -1):
        for kinds in (("rigid", "rigid"), ("scalable", "affine"), ("ground", "rigid"), ("rigid", "ground")):
            force = alone(kinds, lambda a, b, world, sign=sign: lw.TorsionSpring(a, b, 3.0, rest=sign * rest))
            v = [np.zeros(k.nv) for k in force.kinds]
            f, energy, K, _ = force.at([(0.0, Pair(force).moved(rotation_vector(rest)), v)])
            assert np.abs(f).max() < 1e-12 and energy[0] < 1e-24, (sign, kinds)
            energy = force.at([(0.0, force.q0, v)])[1][0]
            assert abs(energy - 1.5 * np.sum(rotation_vector(rest) ** 2)) < 1e-12  # the shorter way, whatever the sign


CONTACTS = {
    "plane": {"plane": ((0.1, 0, 0), (0.6, 0, 0.8)), "at": (0.1, 0, 0.2), "radius": 0.1},
    "point on a plane": {"plane": ((0.1, 0, 0), (0.6, 0, 0.8)), "at": (0.1, 0, 0.2)},
    "sphere": {"sphere": ((0.1, 0, 0.2), 0.6), "at": (0.1, 0, 0.2), "radius": 0.3},
    "point on a sphere": {"sphere": ((0.1, 0, 0.2), 0.9), "at": (0.1, 0, 0.2)},
}


def contact(name, kinds, **options):
    shape = dict(CONTACTS[name])
    if "particle" in kinds[1]:
        shape["at"] = (0, 0, 0)
    if "particle" in kinds[0] and "sphere" in shape:
        shape["sphere"] = ((0, 0, 0), shape["sphere"][1])
    return alone(kinds, lambda a, b, world: lw.ContactSpring(a, b, 30.0, **shape, **options), APART)


def contact_pairs(name, friction=False):
    figure = [k for k in KINDS if k in DIRECTED or ("plane" not in name and not friction)]
    if "plane" in name:
        figure = [k for k in figure if k not in ("scalable", "affine")]
    other = [k for k in KINDS if k != "ground" and (k in DIRECTED or not friction or "point" in name)]
    return [(a, b) for a in figure for b in other]


def touching(force, rng):
    """Coordinates near those as built: some where they touch, some where they do not."""
    for size in (0.1, 0.4, 0.4, 0.4):
        yield force.jittered(rng, size)


@pytest.mark.parametrize("name", CONTACTS)
def test_contact_pushes_down_its_potential_on_every_pair(name):
    rng, felt = np.random.default_rng(6), set()
    for kinds in contact_pairs(name):
        force = contact(name, kinds)
        for q, v in touching(force, rng):
            check_gradient(force, q, v, f"{name} {kinds}")
            check_semidefinite(force, q, v, f"{name} {kinds}")
            f, energy, K, _ = force.at([(0.0, q, v)])
            felt.add(bool(energy[0] > 0))
            assert (energy[0] > 0) == (np.abs(f).max() > 0) == (np.abs(K).max() > 0)
            if kinds == ("rigid", "rigid"):
                check_momentum(force, q, v, name)
    assert felt == {True, False}


@pytest.mark.parametrize("name", CONTACTS)
def test_friction_works_against_the_slip(name):
    rng = np.random.default_rng(7)
    for kinds in contact_pairs(name, friction=True):
        smooth, rough = contact(name, kinds), contact(name, kinds, friction=0.4, slip=0.1)
        for q, v in touching(rough, rng):
            label = f"{name} {kinds}"
            check_semidefinite(rough, q, v, label)
            f, energy, _, D = rough.at([(0.0, q, v)])
            f_smooth, _, _, D_smooth = smooth.at([(0.0, q, v)])
            rub = f[0] - f_smooth[0]
            secant = (D[0] - D_smooth[0]) @ np.concatenate(v)
            np.testing.assert_allclose(secant, -rub, atol=1e-12 * (1 + np.abs(D[0]).max()), err_msg=label)
            assert rub @ np.concatenate(v) <= 1e-12, label
            assert energy[0] > 0 or np.abs(rub).max() == 0, label
            if kinds == ("rigid", "rigid"):
                check_momentum(rough, q, v, label)
                normal = np.sqrt(2 * 30.0 * energy[0])
                assert np.linalg.norm(rub[:3]) <= 0.4 * normal * (1 + 1e-12), label


def test_contact_never_pulls():
    world = lw.World()
    bead = world.add(lw.Particle(1.0, (0, 0, -0.1)))
    world.add(lw.ContactSpring(world.ground, bead, 30.0, damping=2.0, plane=((0, 0, 0), (0, 0, 1))))
    force = Force(compile(world))
    for speed, wanted, tangent in ((0.0, 3.0, (30, 2)), (-1.0, 5.0, (30, 2)), (1.0, 1.0, (30, 2)), (1.6, 0.0, (0, 0)),
                                   (9.0, 0.0, (0, 0)), (-1.6, 6.0, (60, 0)), (-9.0, 6.0, (60, 0))):  # fmt: skip
        f, _, K, D = force.at([(0.0, force.q0, [np.array([0.3, 0, speed])])])
        np.testing.assert_allclose(f[0], (0, 0, wanted), atol=1e-14)
        assert (K[0, 2, 2], D[0, 2, 2]) == tangent


@pytest.mark.parametrize("speed", [-5.0, -0.3, 0.0, 0.3, 5.0])
def test_a_damped_limit_begins_without_a_jump_and_never_pulls(speed):
    force = probe("damped hinge's limit", ("ground", "rigid"))
    pair, v = Pair(force), [np.array([0, 0, 0, 0, speed, 0])]
    for bound, side in ((4.0, 1.0), (-0.5, -1.0)):
        for depth in (0.0, 1e-9, 1e-3, 0.1, 1.0):
            f = force.at([(0.0, of_hinge(pair, None, bound + side * depth), v)])[0][0, 4]
            assert -2 * 3.0 * depth - 1e-12 <= side * f <= 1e-12
            spring, damper = 3.0 * depth, 0.7 * speed * side
            assert abs(-side * f - (spring + np.clip(damper, -spring, spring))) < 1e-12


MOVING = [k for k in KINDS if k != "ground"]


def follower(kind, target=None, **options):
    """A Follow, with its target set (when, then 13 numbers)."""
    points = "particle" in kind
    angular = {"angular_stiffness": 3.0} if kind in DIRECTED else {}
    given = {"stiffness": 20.0, **angular, "at": (0, 0, 0) if points else (0.2, 0, -0.3), **options}
    force = alone(("ground", kind), lambda a, b, world: lw.Follow(b, **given))
    if target is not None:
        force.record[force.layout.offset("when") : force.layout.slice("spin").stop] = target
    return force


@pytest.mark.parametrize("kind", MOVING)
def test_following_pushes_down_its_potential(kind):
    rng = np.random.default_rng(8)
    resting = follower(kind)
    still = [np.zeros(k.nv) for k in resting.kinds]
    f, _, K, _ = resting.at([(0.0, resting.q0, still)])
    np.testing.assert_allclose(f, 0, atol=1e-13)
    np.testing.assert_allclose(K[0], slope(resting, resting.q0, still), atol=1e-6)
    for _ in range(4):
        turn = half_turn(rng.normal(size=3) * (1 if "planar" not in kind else Y))
        target = np.concatenate([[0.3], rng.normal(size=3), turn, rng.normal(size=6)])
        force, damped = follower(kind, target), follower(kind, target, damping=0.6)
        q, v = force.jittered(rng, 0.5)
        check_gradient(force, q, v, kind)
        check_semidefinite(force, q, v, kind)
        check_damping(damped, q, v, kind)


def test_a_target_moves_on_between_the_times_at_which_it_is_given():
    rng = np.random.default_rng(9)
    position, velocity, spin = rng.normal(size=(3, 3))
    turn = half_turn(rng.normal(size=3))
    force = follower("rigid", np.concatenate([[0.3], position, turn, velocity, spin]), damping=0.6, angular_damping=0.2)
    later = np.concatenate([[0.5], position + 0.2 * velocity, poses.quaternion_product(half_turn(0.2 * spin), turn),
                            velocity, spin])  # fmt: skip
    same = follower("rigid", later, damping=0.6, angular_damping=0.2)
    q, v = force.jittered(rng, 0.5)
    for time in (0.3, 0.4, 0.5):
        np.testing.assert_allclose(force.at([(time, q, v)])[0], same.at([(time, q, v)])[0], atol=1e-12)


@pytest.mark.parametrize("kind", MOVING)
def test_drag_has_the_tangent_of_its_force(kind):
    angular = 0.2 if kind in DIRECTED else 0.0
    at = (0, 0, 0) if "particle" in kind else (0.2, 0, -0.3)
    force = alone(("ground", kind), lambda a, b, world: lw.Drag(b, 0.5, 0.3, angular, at=at))
    rng = np.random.default_rng(10)
    for _ in range(3):
        q, v = force.jittered(rng, 0.3)
        check_damping(force, q, v, kind, tolerance=1e-7)
    check_semidefinite(force, q, [0 * x for x in v], kind)


def test_a_motor_at_its_limit_has_no_tangent():
    for limit, wanted in ((2.0, (3.0, 0.7)), (0.5, (0.0, 0.0))):
        world, hinge = build("Hinge", ("ground", "rigid"))
        world.add(lw.Motor(hinge, "position", kp=3.0, kd=0.7, limit=limit))
        force = Force(compile(world, limbs=False))
        force.count(0.4)
        f, _, K, D = force.at([(0.0, Pair(force).moved(0.4 * Y), [np.zeros(6)])])
        assert (K[0, 4, 4], D[0, 4, 4]) == wanted
        np.testing.assert_allclose(f[0], [0, 0, 0, 0, -min(1.2, limit), 0], atol=1e-12)
