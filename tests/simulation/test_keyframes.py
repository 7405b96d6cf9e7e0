"""Keyframes: joints are read back as they were given, whatever counts their turns; stepping starts from there."""

import numpy as np
import pytest

import linkwork as lw
from tests.physics.linkages import bennett, goldberg

ANGLES = [-2.0, 2.0, -np.pi, np.pi, 3.5, -3.5, 3 * np.pi, 7.0, -7.0, 0.0, 1.5707963, -1.5707963, 33.3, -20.0]
JOINTS = {
    "hinge": (lw.Hinge, {"axis": (0, 1, 0)}, lambda a: a),
    "screw": (lw.Screw, {"axis": (0, 1, 0), "pitch": 0.1}, lambda a: a),
    "cylindrical": (lw.Cylindrical, {"axis": (0, 1, 0)}, lambda a: (a, 0.0)),
    "universal": (lw.Universal, {"first": (0, 1, 0), "second": (0, 0, 1)}, lambda a: (a, 0.4 - a / 2)),
    "planar": (lw.Planar, {"normal": (0, 1, 0)}, lambda a: (0.0, 0.0, a)),
}


def one(joint, turned):
    """A body on a joint, in either order, with a spring that counts the turns of each of its angles."""
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.2, 0.25), position=(1, 0, 0), com=(0.1, 0, 0), name="b"))
    ends = ("b", world.ground) if turned else (world.ground, "b")
    kind, more, _ = JOINTS[joint]
    world.add(kind(*ends, at=(0.3, 0.1, 0), name="j", **more))
    world.add(lw.JointSpring("j", 2.0, name="spring"))
    return world


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("joint", JOINTS)
def test_every_angle_is_read_back(joint, turned):
    world, given = one(joint, turned), JOINTS[joint][2]
    sims = [lw.Simulation(world, solver=solver) for solver in ("tree", "dense", "aba", "implicit")]
    for angle in ANGLES:
        turns = np.atleast_1d(given(angle))
        for sim in sims:
            sim.reset(lw.Keyframe({"j": given(angle)}))
            assert sim.energy().potential == pytest.approx(turns @ turns, abs=1e-9)  # 2 / 2 * angle^2, of each
            if joint in ("hinge", "screw", "cylindrical"):
                assert sim.angle("j") == pytest.approx(angle, abs=1e-9)
            sim.step()
            assert sim.energy().total == pytest.approx(turns @ turns, rel=1e-2, abs=1e-9)


def test_gears_and_motors_count_from_there():
    """Of a gear between a slider and a hinge, the hinge alone counts."""
    world = lw.World(gravity=(0, 0, 0))
    for k, name in enumerate("abc"):
        world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, k, 0), name=name))
    world.add(lw.Slider(world.ground, "a", at=(0, 0, 0), axis=(1, 0, 0), name="rack"))
    world.add(lw.Hinge(world.ground, "b", at=(0, 1, 0), axis=(0, 1, 0), name="pinion"))
    world.add(lw.Hinge("b", "c", at=(0, 2, 0), axis=(0, 1, 0), name="second"))
    world.add(lw.Gear("rack", "pinion", 0.1, name="mesh"))
    world.add(lw.Motor("second", kind="position", kp=3.0, name="servo"))
    sim = lw.Simulation(world)
    sim.reset(lw.Keyframe({"rack": 0.9, "pinion": 9.0, "second": -8.0}, controls={"servo": -8.0}))
    assert sim.drift() < 1e-12 and sim.notes == []
    sim.step(50)
    assert sim.angle("pinion") == pytest.approx(9.0, abs=1e-9) and sim.angle("second") == pytest.approx(-8.0, abs=1e-9)


@pytest.mark.parametrize("solver,integrator", [
    ("aba", "joint-rk4"), ("aba", "joint-euler"), ("aba", "joint-implicit"), ("ltdl", "joint-rk4"), ("tree", "joint-rk4"),
    ("tree", "rattle"),
])  # fmt: skip
def test_an_angle_of_half_a_turn_stays_what_it_is(solver, integrator):
    """Rounded to half a turn, the sine alone says on which side of it an angle is. Here it hangs at rest."""
    world = lw.World()
    bob = world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(0, 0, 1), name="bob"))
    hinge = world.add(lw.Hinge(world.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    sim = lw.Simulation(world, dt=1e-2, solver=solver, integrator=integrator)
    for turns in (-3, -1, 1, 3, 1001):
        for angle in (turns * np.pi, np.nextafter(turns * np.pi, np.inf), np.nextafter(turns * np.pi, -np.inf)):
            sim.reset(lw.Keyframe(positions={hinge.name: angle}))
            assert sim.angle(hinge) == pytest.approx(angle, abs=1e-9)
            sim.step(20)
            assert sim.angle(hinge) == pytest.approx(angle, abs=1e-9)
            sim.set_state(q=sim.q)
            sim.step(1)
            assert sim.angle(hinge) == pytest.approx(angle, abs=1e-9)


@pytest.mark.parametrize("angle", [-2.0, -3.0, 4.5])
def test_a_hard_limit_does_not_drive_what_is_within_it(angle):
    world = one("hinge", False)
    world.remove("spring")
    world.add(lw.HardLimit("j", -5.0, 5.0, name="stop"))
    sim = lw.Simulation(world)
    sim.reset(lw.Keyframe({"j": angle}))
    sim.step(20)
    assert sim.angle("j") == pytest.approx(angle, abs=1e-9) and abs(sim.rate("j")) < 1e-9


def test_a_joint_that_is_assembled_beyond_a_quarter_turn_has_turned_by_less_than_half():
    world = lw.World(gravity=(0, 0, 0))
    world.add(lw.RigidBody(1.0, (0.1, 0.1, 0.1), position=(1, 0, 0), name="arm"))
    world.add(lw.Hinge(world.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), name="j"))
    world.add(lw.Constraint("arm", lambda b, t: lw.atan2(b.position[2], b.position[0]) - 2.2, name="back"))
    world.assemble()
    for solver in ("tree", "dense"):
        assert lw.Simulation(world, solver=solver).angle("j") == pytest.approx(-2.2, abs=1e-6)


MJCF = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body name="b" pos="0 0 {z}"><freejoint name="root"/>
<geom size=".1"/><body name="arm" pos="0 0 .3"><joint name="shoulder" axis="0 1 0" range="-250 250" limited="true"/>
<geom type="capsule" size=".02" fromto="0 0 0 .2 0 0"/></body></body></worldbody>
<keyframe><key name="home" qpos="0 0 .5 1 0 0 0 {angle}"/></keyframe></mujoco>"""


@pytest.mark.parametrize("angle", [-2.0, 4.0])
def test_a_file_s_keyframe_is_read_back(tmp_path, angle):
    path = tmp_path / "robot.xml"
    path.write_text(MJCF.format(z=0.5, angle=angle))
    sim = lw.Simulation(lw.load(path))
    sim.reset("home")
    assert sim.angle("shoulder") == pytest.approx(angle, abs=1e-9)
    sim.step(5)
    assert sim.angle("shoulder") == pytest.approx(angle, abs=1e-2)


def test_what_lies_in_the_floor_as_built_starts_from_its_keyframe(tmp_path):
    """Overlaps are looked at when stepping starts."""
    path = tmp_path / "robot.xml"
    path.write_text(MJCF.format(z=-0.3, angle=0.5))
    sim = lw.Simulation(lw.load(path))
    sim.reset("home")
    sim.step(10)
    assert sim.position("b")[2] == pytest.approx(0.5, abs=0.01) and sim.notes == []
    other = lw.Simulation(sim.world)
    other.state = sim.state
    other.step()
    assert other.position("b")[2] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, "x", None, (1.0, 2.0), []])
def test_a_keyframe_that_is_no_number_is_refused_by_name(wrong):
    sim = lw.Simulation(one("hinge", False))
    sim.step(5)
    before = sim.state.copy()
    for keyframe in (lw.Keyframe({"j": wrong}), lw.Keyframe(velocities={"j": wrong}), lw.Keyframe(controls={"j": wrong})):
        with pytest.raises(lw.LinkworkError, match='"j"'):
            sim.reset(keyframe)
        assert sim.state.values.tobytes() == before.values.tobytes()


def parallelogram(swapped=False):
    """A crank, a coupler and a rocker on four hinges, in a plane; `swapped`: the last one tells of the ground as seen from the
    rocker."""
    world = lw.World(gravity=(0, 0, 0))
    for name, place in (("crank", (0, 0, 0.25)), ("coupler", (0.4, 0, 0.5)), ("rocker", (0.8, 0, 0.25))):
        world.add(lw.RigidBody(1.0, (0.02, 0.02, 0.02), position=place, name=name))
    ends = ((world.ground, "crank", (0, 0, 0)), ("crank", "coupler", (0, 0, 0.5)), ("coupler", "rocker", (0.8, 0, 0.5)),
            (world.ground, "rocker", (0.8, 0, 0)) if swapped else ("rocker", world.ground, (0.8, 0, 0)))  # fmt: skip
    for k, (a, b, at) in enumerate(ends):
        world.add(lw.Hinge(a, b, at=at, axis=(0, 1, 0), name=f"hinge{k}"))
    return world


HINGES = [f"hinge{k}" for k in range(4)]


def driven(world, angle, solver="tree"):
    """A simulation in which the first hinge has been led to an angle, without a jump."""
    sim = lw.Simulation(world, dt=2e-3, solver=solver)
    sim.reset(lw.Keyframe(velocities={"hinge0": float(np.sign(angle))}))
    while abs(sim.angle("hinge0")) < abs(angle):
        sim.step()
    return sim


@pytest.mark.parametrize("turned", [7.0, -16.0])
@pytest.mark.parametrize("swapped", [False, True])
def test_what_closes_a_loop_has_turned_as_if_it_had_been_led_there(swapped, turned):
    """In the plane, whatever counts its turns."""
    world = parallelogram(swapped)
    world.add([lw.JointSpring(name, 1e-9, name=f"spring{k}") for k, name in enumerate(HINGES)])
    sim = driven(world, turned)
    angles, potential = {name: sim.angle(name) for name in HINGES}, sim.energy().potential
    assert sum(abs(angle) > np.pi for angle in angles.values()) == 4
    for closing in HINGES:
        other = lw.Simulation(world, solver="dense")
        other.reset(lw.Keyframe({name: angle for name, angle in angles.items() if name != closing}))
        for name in HINGES:
            assert other.angle(name) == pytest.approx(angles[name], abs=1e-6), (closing, name)
        assert other.energy().potential == pytest.approx(potential, rel=1e-5)  # springs count turns, too


def test_all_joints_of_a_loop_may_be_named_where_they_agree():
    sim = driven(parallelogram(), 7.0)
    angles, rates = ({name: ask(name) for name in HINGES} for ask in (sim.angle, sim.rate))
    sim.reset(lw.Keyframe(angles, rates))
    assert [sim.angle(name) for name in HINGES] == pytest.approx([*angles.values()], abs=1e-9)
    assert [sim.rate(name) for name in HINGES] == pytest.approx([*rates.values()], abs=1e-6)
    sim.reset(lw.Keyframe(angles | {"hinge3": angles["hinge3"] + 4 * np.pi}))  # turns are those that are given
    assert sim.angle("hinge3") == pytest.approx(angles["hinge3"] + 4 * np.pi, abs=1e-9)
    for wrong, word in (
        (lw.Keyframe(angles | {"hinge3": 0.3}), "put it at"),
        (lw.Keyframe(angles, rates | {"hinge3": 9.0}), "move"),
    ):
        with pytest.raises(
            lw.ElementError, match=rf'"hinge3" is .*, but it closes a loop, and the other joints around it {word}'
        ):
            sim.reset(wrong)


@pytest.mark.parametrize("make, turned", [(bennett, 7.0), (bennett, -16.0), (goldberg, 2.0), (goldberg, -9.0)])
def test_a_spatial_loop_has_turned_as_if_it_had_been_led_there(make, turned):
    """Four and five hinges, of which none is parallel to another."""
    world = make()
    world.gravity = (0, 0, 0)
    sim, names = driven(world, turned), [joint.name for joint in world.constraints]
    angles = {name: sim.angle(name) for name in names}
    assert max(map(abs, angles.values())) > 2 * np.pi
    for closing in names:
        sim.reset(lw.Keyframe({name: angle for name, angle in angles.items() if name != closing}))
        assert [sim.angle(name) for name in names] == pytest.approx([*angles.values()], abs=1e-6)


def test_what_has_no_coordinate_is_named_in_vain():
    world = parallelogram()
    world.add(lw.Distance("crank", "rocker", name="rod"))
    with pytest.raises(lw.ElementError, match='Keyframe "given": "rod" has no joint coordinate; leave it out'):
        lw.Simulation(world).reset(lw.Keyframe({"rod": 1.0}))


@pytest.mark.parametrize("angle", [1e5, -1e9])
def test_many_turns_around_a_loop_take_no_time(angle):
    sim = lw.Simulation(parallelogram())
    sim.reset(lw.Keyframe({"hinge0": angle, "hinge1": -angle, "hinge2": angle}))
    assert sim.angle("hinge3") == pytest.approx(-angle, rel=1e-12)
