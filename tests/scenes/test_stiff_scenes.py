"""Scenes with springs in their joints: known shapes and frequencies, and the solver that each asks for."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork import scenes
from linkwork.scenes import hands, robots, rods, skins
from linkwork.viz.views import rotations


def simulate(name, **parameters):
    scene = scenes.find(name)
    return lw.Simulation(scene(**parameters), dt=scene.dt, **scene.options)


def test_scenes_name_the_solver_that_suits_them():
    assert scenes.find("chain").options == {}
    assert scenes.find("hanging-chain").options == {"solver": "implicit"}
    assert simulate("hair", strands=1).integrator_name == "backward-euler"


def test_a_long_stiff_cantilever_sags_as_a_beam():
    """w l^4 / 8 E I at the tip, where the deflection is small."""
    n, length, weight, stiffness = 100, 1.5, 0.2, 4e4
    sag = length / n * np.sin(rods.cantilever(n, length, weight, stiffness)).sum()
    assert sag == pytest.approx(weight * length**3 / (8 * stiffness * length / n), rel=1e-4)


def test_a_bent_rod_swings_as_a_beam():
    """Its first frequency is 1.875^2 sqrt(E I / m l^3)."""
    n, mass, stiffness = 20, 0.2, 200.0
    world = scenes.get("bent-rod", n=n, mass=mass, stiffness=stiffness, damping=0.0, bend=0.02)
    world.gravity = (0, 0, 0)
    expected = 1.8751**2 * math.sqrt(stiffness / n / mass)
    sim = lw.Simulation(world, dt=2e-4, solver="implicit")
    heights = sim.run(1.0, record_every=2e-3)[f"link{n}"].position[:, 2]
    crossings = np.flatnonzero(np.diff(np.sign(heights)))
    assert len(crossings) > 5
    half_period = np.diff(crossings).mean() * 2e-3
    assert math.pi / half_period == pytest.approx(expected, rel=0.01)


def test_a_rod_is_at_rest_only_once_it_has_settled():
    sim = simulate("bent-rod")
    assert scenes.find("bent-rod").check(sim) == []


def test_a_stiff_chain_stays_straight_and_a_slack_one_does_not():
    def bent(stiffness):
        sim = simulate("hanging-chain", n=10, stiffness=stiffness)
        sim.step(30)
        first, last = (sim.frame(name)[:, 2] for name in ("link1", "link10"))
        return math.acos(min(first @ last, 1.0))

    assert bent(1e5) < 1e-3 < 0.2 < bent(1e-3)


def test_the_wind_moves_the_plant():
    calm, windy = (simulate("plant", depth=3, wind=speed) for speed in (0.0, 10.0))
    for sim in (calm, windy):
        sim.step(100)
    assert windy.position("leaf1")[0] > calm.position("leaf1")[0] + 0.01


def test_hair_stays_out_of_the_head():
    sim = simulate("hair", strands=30, wind=0.0)
    sim.step(300)
    depth = [0.1 - np.linalg.norm(sim.position(link)) for link in sim.world.bodies]
    assert max(depth) < 2e-3
    tips = np.array([sim.position(f"link10-{k}") for k in range(1, 31)])
    assert tips[:, 2].mean() < 0.0


def test_strands_do_not_touch_each_other():
    """A forest moves as its trees alone."""
    sim = simulate("hair", strands=20, links=3)
    world = scenes.get("hair", strands=20, links=3)
    for element in (*world.forces, *world.constraints, *world.bodies):
        if not element.name.endswith("-7"):
            world.remove(element)
    single = lw.Simulation(world, dt=sim.dt, solver="implicit", iterations=1)
    for each in (sim, single):
        each.step(40)
    np.testing.assert_allclose(sim.position("link3-7"), single.position("link3-7"), atol=1e-12)


@pytest.fixture(scope="module")
def grasp():
    sim = simulate("hand")
    recording = sim.run(3.0, record_every=0.1)
    return sim, recording


def test_the_hand_has_16_bones_and_15_joints(grasp):
    world = grasp[0].world
    assert len(world.bodies) == 16 + 1  # and the ball
    assert len(world.constraints) == 15
    assert sum(isinstance(joint, lw.Hinge) for joint in world.constraints) == 10


def test_the_hand_holds_the_ball_in_the_air(grasp):
    sim, recording = grasp
    heights = recording["ball"].position[:, 2]
    assert heights[0] == pytest.approx(0.03, abs=1e-12)
    assert heights[-1] > 0.06
    assert np.abs(sim.velocity("ball")).max() < 0.01


def test_fingers_do_not_bend_backwards_as_the_glove_asks(grasp):
    _, recording = grasp
    assert min(min(hands.OPEN[finger][2:]) for finger in ("index", "middle", "ring", "little")) == -0.25
    bends = [recording[f"{finger}-joint2"].angle for finger in ("index", "middle", "ring", "little")]
    assert -0.05 < np.min(bends) < 0.0


def test_a_heavy_ball_slips():
    sim = simulate("hand", mass=2.0)
    sim.step(300)
    assert sim.position("ball")[2] < 0.04


def test_the_glove_poses_the_bones_as_built_where_it_is_straight():
    world = scenes.get("hand")
    bones = [body for body in world.bodies if body.name != "ball"]
    straight = {name: np.zeros(len(angles)) for name, angles in hands.OPEN.items()}
    open_, hands.OPEN = hands.OPEN, straight
    try:
        poses = hands._pose(bones, 0.0, 0.05)
    finally:
        hands.OPEN = open_
    for bone, pose in zip(bones, poses, strict=True):
        np.testing.assert_allclose(pose, np.r_[bone.position, bone.orientation], atol=1e-6, err_msg=bone.name)


def test_the_skin_is_closed_and_follows_the_bones(grasp):
    _, recording = grasp
    vertices, faces = skins.skin(recording)
    assert vertices.shape[0] == len(recording) and vertices.shape[2] == 3
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    corners = vertices[0][faces]
    volume = np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert 3e-4 < volume < 5e-4  # m^3: seen from outside anticlockwise
    tip = recording["index-distal"]
    place = tip.position[0] + lw.scenes.layout.rotate(tip.orientation[0], (0, 0, 0.014))
    near = np.argmin(np.linalg.norm(vertices[0] - place, axis=1))
    apart = np.linalg.norm(vertices[:, near] - tip.position, axis=1)
    np.testing.assert_allclose(apart, apart[0], atol=1e-3)


def test_a_skin_of_one_bone_moves_with_it():
    sim = simulate("hanging-chain", n=1)
    recording = sim.run(0.2, record_every=0.1)
    vertices, _ = skins.skin(recording, ["link1"])
    local = [(vertices[k] - recording["link1"].position[k]) @ rotations(recording["link1"].orientation)[k] for k in range(3)]
    np.testing.assert_allclose(local[2], local[0], atol=1e-12)
    with pytest.raises(lw.ElementError, match="neither a capsule nor a box"):
        skins.skin(simulate("top").run(0.01), ["top"])


@pytest.mark.parametrize("stiffness", [0.0, 40.0])
def test_the_handle_bears_what_the_waist_does_not(stiffness):
    """Once all is at rest, the handle, the waist and the weight are in balance."""
    sim = simulate("robot-drag", stiffness=stiffness)
    recording = sim.run(12.0, record_every=1.0)
    felt = robots.handle_force(sim.world, recording)[-1]
    weight = sum(body.mass for body in sim.world.bodies) * 9.81
    np.testing.assert_allclose(sim.reaction("waist").force - felt, (0, 0, weight), atol=0.5)


def test_stiff_joints_are_felt_and_can_be_switched_off():
    sim = simulate("robot-drag")
    stiff = robots.handle_force(sim.world, sim.run(6.0, record_every=0.05))
    sim.reset()
    sim.set("stiffness", 0.0)
    slack = robots.handle_force(sim.world, sim.run(6.0, record_every=0.05))
    assert np.linalg.norm(stiff, axis=1).max() > 3 * np.linalg.norm(slack, axis=1).max()
