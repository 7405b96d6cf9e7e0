"""Forces of stiff joints on every pair of bodies: down the gradient of their potential, without momentum of their own, with
a tangent that is exact where forces vanish and positive semidefinite everywhere."""

import zlib
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.compile import compile
from tests.oracles import poses
from tests.symbolic.pairs import KINDS, P, build
from tests.symbolic.probe import STENCIL, Force, difference

H = 3e-4
PITCH = 0.4  # m a turn, of the screws of pairs.py
Y = np.array([0.0, 1.0, 0.0])
TURNING = [
    (a, b) for a in KINDS for b in KINDS if "particle" not in a and "particle" not in b and (a, b) != ("ground", "ground")
]


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
def probe(name, kinds, number=0):
    """The force `name` of the table below on a pair of bodies."""
    joint, makes = FORCES[name][:2]
    world, element = build(joint, kinds)
    made = world.add(makes(element))
    assert world.forces == (made,)
    return Force(compile(world, limbs=False))


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
    "universal with a rest": ("Universal", lambda j: lw.JointSpring(j, 3.0, rest=(0.4, 0.1)), of_universal, (0.0, -4.0), False),
}  # fmt: skip


def configurations(name, kinds):
    """(force, coordinates, velocities, generator) of every configuration of the table."""
    rng = np.random.default_rng(zlib.crc32(f"{name}{kinds}".encode()))
    force = probe(name, kinds)
    pair = Pair(force)
    for angle in FORCES[name][3]:
        q = FORCES[name][2](pair, rng, angle)
        yield force, q, [rng.normal(size=k.nv) for k in force.kinds], f"{name} {kinds} at {angle}"


def near_a_branch(name, kinds, label):
    """The rotation vector of a ball on an affine body takes the shorter way: at pi it jumps."""
    return name.startswith("ball") and "affine" in kinds and label.endswith(f"{np.pi}")


@pytest.mark.parametrize("name", FORCES)
def test_they_push_down_their_potential(name):
    for kinds in TURNING:
        for force, q, v, label in configurations(name, kinds):
            if near_a_branch(name, kinds, label):
                continue
            samples = [(0.0, q, v)] + [force.flowed(0.0, q, v, k * H) for k, _ in STENCIL]
            f, energy, _, _ = force.at(samples)
            power = f[0] @ np.concatenate(v)
            scale = 1 + np.abs(f[0]).max() + abs(energy[0])
            assert np.isfinite(f).all() and np.isfinite(energy).all(), label
            assert abs(power + difference(energy[1:], H)) < 1e-7 * scale, label


@pytest.mark.parametrize("name", FORCES)
def test_their_tangents_are_positive_semidefinite(name):
    for kinds in TURNING:
        for force, q, v, label in configurations(name, kinds):
            _, _, K, D = force.at([(0.0, q, v)])
            for matrix in (K[0], D[0]):
                assert np.isfinite(matrix).all(), label
                np.testing.assert_allclose(matrix, matrix.T, atol=1e-12, err_msg=label)
                assert np.linalg.eigvalsh(matrix).min() > -1e-12 * (1 + np.abs(matrix).max()), label


def slope(force, q, v, by_velocity=False, h=H):
    """-df/dq, or -df/dv: columns by finite differences along each velocity."""
    columns, sizes = [], [k.nv for k in force.kinds]
    for e in np.eye(sum(sizes)):
        push = np.split(e, np.cumsum(sizes)[:-1])
        if by_velocity:
            samples = [(0.0, q, [x + k * h * d for x, d in zip(v, push, strict=True)]) for k, _ in STENCIL]
        else:
            samples = [(0.0, force.flowed(0.0, q, push, k * h)[1], v) for k, _ in STENCIL]
        columns.append(-difference(force.at(samples)[0], h))
    return np.array(columns).T


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
        f = force.at([(0.0, q, v)])[0][0]
        np.testing.assert_allclose(f[:3] + f[6:9], 0, atol=1e-12, err_msg=label)
        moment = f[3:6] + f[9:12] + np.cross(q[0][:3], f[:3]) + np.cross(q[1][:3], f[6:9])
        np.testing.assert_allclose(moment, 0, atol=1e-11, err_msg=label)
