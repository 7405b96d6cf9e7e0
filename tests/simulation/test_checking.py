"""lw.check: finds nothing wrong with what is sound, and says what is wrong with what is not, a sentence each."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.bodies.lagrangian import Lagrangian

FINITE = "write it so that it is finite there, for example with lw.norm or lw.where"
KINK = "it has a kink or jump"


def world():
    made = lw.World()
    made.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), position=(0, 0, 1), orientation=(0.8, 0.6, 0, 0), com=(0.1, 0, 0), name="rod"))
    made.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), position=(1, 0, 1), name="box"))
    made.add(lw.Particle(1.0, position=(1, 0, 0), name="bead"))
    made.add(lw.Hinge("rod", "box", at=(0.5, 0, 1), axis=(0, 1, 0), name="axle"))
    return made


SOUND = {
    "hinge": lambda: lw.Hinge("rod", "box", at=(0.5, 0, 1), axis=(0, 1, 0)),
    "distance": lambda: lw.Distance("rod", "bead"),
    "drive": lambda: lw.Drive("axle", lambda t: lw.sin(3 * t)),
    "hoop": lambda: lw.Constraint("bead", lambda b, t: lw.dot(b.position, b.position) - 1 - lw.sin(t)),
    "three": lambda: lw.Constraint("rod", "box", "bead", lambda a, b, c, t: lw.dot(a.position - c.position, b.position)),
    "gear": lambda: lw.VelocityConstraint("rod", "box", lambda a, b, t: a.spin((0, 0, 1)) - 2 * b.spin((0, 0, 1))),
    "given speed": lambda: lw.VelocityConstraint("bead", lambda b, t: lw.dot(b.velocity, b.velocity) - 1),
    "air": lambda: lw.Force("bead", lambda b, t: -lw.norm(b.velocity) * b.velocity),
    "drag": lambda: lw.Drag("rod", 1.0, 2.0),
    "spring": lambda: lw.Spring("rod", "box", 10.0),
    "damped spring": lambda: lw.Spring("rod", "bead", 10.0, damping=2.0),
    "motor": lambda: lw.Motor("axle", kind="velocity", kd=5.0),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_wrong_with_sound_elements(name):
    report = lw.check(world().add(SOUND[name]()))
    assert report and report.problems == [] and report.notes == []
    assert report.states == 12 and report.errors and max(report.errors.values()) < 1e-5


BODIES = {
    "rigid": lambda: lw.RigidBody(1.0, (0.1, 0.2, 0.25), com=(0.1, 0, 0)),
    "planar": lambda: lw.PlanarBody(1.0, 0.1),
    "particle": lambda: lw.Particle(1.0),
    "scalable": lambda: lw.ScalableBody(1.0, (0.1, 0.2, 0.3), stretch=(1.1, 1, 1), stiffness=3.0),
    "affine": lambda: lw.AffineBody(1.0, (0.1, 0.2, 0.3), stiffness=3.0),
    "double pendulum": lambda: lw.double_pendulum(angles=(0.3, 0.5)),
    "beam": lambda: lw.bending_beam(2.0, 1.0, 5.0),
    "wire": lambda: lw.bead_on_wire(lambda s: (lw.cos(s), lw.sin(s), s), at=1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_nothing_is_wrong_with_sound_bodies(name):
    report = lw.check(BODIES[name]())
    assert report.ok and report.notes == [] and max(report.errors.values()) < 1e-8
    assert {"J of points", "bias of points", "power of the inertial force"} <= set(report.errors)


def test_a_place_that_may_never_be_reached_is_noted():
    report = lw.check(lw.squashing_ball())
    assert report.ok and report.notes == [f"a point of it is inf with u = 0, at rest; {FINITE}"]
    cusp = lw.check(lw.bead_on_wire(lambda s: (s**2, s**3, 0), at=1.0))
    assert cusp.ok and cusp.notes == [
        "its mass matrix has no inverse with u = 0, at rest: some coordinate moves no mass; keep it away from there"
    ]


def bent_once(b, t):
    return abs(b.position[1])


CALLS = iter(range(100))


def another_each_time(b, t):
    return b.position[0] - next(CALLS)


WRONG = [
    (lambda: lw.Constraint("bead", lambda b, t: lw.dot(b.position, b.position) - 1.1), "row 1 is off by -0.1 as built; place its bodies so that it holds"),
    (lambda: lw.Constraint("bead", lambda b, t: b.position[1] ** 2), "row 1 has the derivative zero as built, so that no force can hold it there; write it so that it passes through zero, such as lw.norm(d) - length for a square"),
    (lambda: lw.Constraint("bead", bent_once), "row 1 has a kink as built, at rest: derivatives from both sides differ by 1; write a smooth one"),
    (lambda: lw.Constraint("bead", lambda b, t: np.floor(b.position[1] + 0.5)), "row 1 does not change when its bodies move, whatever the state: it has no derivative; write it as an expression of its bodies without rounding and signs"),
    (lambda: lw.Constraint("bead", lambda b, t: lw.where(b.position[0] >= 1, b.position[0] - 1, 0)), f"the derivative of row 1 is 1 where differences give 0.5, as built, at rest; {KINK}"),
    (lambda: lw.Constraint("bead", lambda b, t: (b.position[1], 2 * b.position[1])), "its 2 rows depend on each other in every state (rank 1); leave out what the others say"),
    (lambda: lw.Constraint("bead", lambda b, t: (b.position[2], lw.sqrt(b.position[1]))), f"the rate of row 2 is nan as built, at rest; {FINITE}"),
    (lambda: lw.Constraint("rod", "box", lambda a, b, t: np.arccos(lw.dot(a.direction((1, 0, 0)), b.direction((1, 0, 0))))), f"the rate of row 1 is nan as built, at rest; {FINITE}"),
    (lambda: lw.Constraint("rod", "box", lambda a, b, t: np.arccos(lw.dot(a.direction((0, 1, 0)), b.direction((0, 1, 0)))) - np.arccos(0.28)), f"the rate of row 1 is nan with all bodies unturned, at rest; {FINITE}"),
    (lambda: lw.Constraint("bead", lambda b, t: b.position[0] - 1 - lw.sqrt(t)), f"the rate of row 1 is -inf as built, at rest; {FINITE}"),
    (lambda: lw.Constraint("bead", another_each_time), "its function gives another expression each time that it is called; let it depend on its arguments alone"),
    (lambda: lw.Constraint("bead", lambda b, t: b.velocity[0]), "its function speaks of velocities; use lw.VelocityConstraint"),
    (lambda: lw.Constraint("bead", lambda b, t: b.position[0] if b.position[0] > 1 else 0), "its function branches on an expression with a Python if; use lw.where(condition, a, b)"),
    (lambda: lw.VelocityConstraint("bead", lambda b, t: b.position[0] - 1), "row 1 does not change when its bodies change their speed, whatever the state: it has no derivative; write it as an expression of its bodies without rounding and signs"),
    (lambda: lw.Force("bead", lambda b, t: -b.velocity / lw.sqrt(lw.dot(b.velocity, b.velocity))), f"it is nan as built, at rest; {FINITE}"),
    (lambda: lw.Force("bead", lambda b, t: (lw.where(b.velocity[0] > 0, -1, 1), 0, 0)), f"the derivative by velocity of its component 1 is 0 where differences give -1166.67, as built, at rest; {KINK}"),
]  # fmt: skip


@pytest.mark.parametrize("make, sentence", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_said(make, sentence):
    report = lw.check(world().add(make()))
    assert not report.ok and not report
    assert sentence in report.problems
    assert all("\n" not in problem and problem.count(". ") == 0 for problem in report.problems)
    shown = str(report)
    assert shown.startswith(f"{report.label}: {len(report.problems)} problem") and all(
        f"  - {text}" in shown for text in report.problems
    )


def test_a_wrong_derivation_would_be_found(monkeypatch):
    """What is derived is compared with differences, not with itself."""
    right = Lagrangian.inertial
    monkeypatch.setattr(Lagrangian, "inertial", lambda self, view: 0.5 * right(self, view))
    found = lw.check(lw.double_pendulum(angles=(0.3, 1.5)))
    assert any(text.startswith("its inertial force 1 is") for text in found.problems)
    assert any(text.startswith("the power of its inertial force is") for text in found.problems)
    monkeypatch.undo()
    monkeypatch.setattr(Lagrangian, "mass", lambda self, view: 2 * self.mass_of(view), raising=False)
    monkeypatch.setattr(
        Lagrangian, "mass_of", lambda self, view: self._particles(view)[2].T @ self._particles(view)[2], raising=False
    )
    assert any(text.startswith("its mass [0, 0] is") for text in lw.check(lw.double_pendulum(angles=(0.3, 1.5))).problems)


def test_what_cannot_be_checked_is_refused():
    made = world()
    for element, text in [
        (3, "check: it was given 3; give a body, joint, constraint or force"),
        (made.ground, 'Ground "ground": it is no body, joint, constraint, force or inequality; check one of these'),
        (
            lw.Contact(name="touch"),
            'Contact "touch": it is no body, joint, constraint, force or inequality; check one of these',
        ),
    ]:
        with pytest.raises(lw.LinkworkError) as error:
            lw.check(element)
        assert str(error.value) == text
    report = lw.check(lw.Distance("rod", "bead", name="loose"))
    assert report.problems == ['it is in no world, so that "rod" is not known; add it to a world first']


def test_the_world_stays_as_it_is():
    made = world()
    hoop = made.add(lw.Constraint("bead", lambda b, t: lw.dot(b.position, b.position) - 1))
    before = made.version
    lw.check(hoop)
    assert made.version == before and hoop in made and hoop.bodies == (made.find("bead"),)
