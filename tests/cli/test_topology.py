"""The picture of a world's trees."""

from rich.console import Console

from linkwork import reduced, scenes
from linkwork.cli.topology import draw, forest, joint_tree, moving
from linkwork.elements import Ball, Gear, Hinge, Particle, RigidBody
from linkwork.world import World


def drawn(world, lines=60):
    console = Console(width=200, color_system=None)
    with console.capture() as capture:
        console.print(draw(world, lines))
    return capture.get()


def test_constraints_speak_of_the_bodies_that_move():
    world = scenes.get("gear-train")
    assert [b.name for b in moving(world.find("mesh1"))] == ["wheel1", "wheel2"]
    world = scenes.get("cardan")
    assert [b.name for b in moving(world.find("drive"))] == ["input"]
    assert [b.name for b in moving(world.find("cross"))] == ["input", "output"]


def test_every_body_is_in_one_tree():
    for name in scenes.names():
        world, todo, seen = scenes.get(name), [], []
        todo += forest(world)
        while todo:
            branch = todo.pop()
            seen.append(branch.body)
            todo += branch.children
        assert len(seen) == len(set(seen)) == len(world.bodies)


def test_trees_start_at_the_ground():
    (root,) = forest(scenes.get("rag-doll"))
    assert root.body.name == "hand-left" and [j.name for j in root.grounded] == ["grip"]


def test_nothing_hangs_on_a_gear():
    assert [root.body.name for root in forest(scenes.get("gear-train"))] == ["wheel1", "wheel2", "wheel3", "wheel4"]
    text = drawn(scenes.get("gear-train"))
    assert "wheel1 rigid, 0.5 kg  Hinge axle1 to the ground  and Gear mesh1 to wheel2\n" in text and text.count("Gear") == 3
    world = gripper()
    (arm,) = forest(world)
    assert [[j.name for j in branch.joints] for branch in (arm, *arm.children)] == [[], ["knuckle1"], ["knuckle2"]]
    parents, freedoms = joint_tree(world)
    assert (parents, freedoms) == ([-1, 0, 0, 2], [1, 1, 1, 1])
    world.remove("mimic", cascade=True)
    assert reduced.compile(world).nv == sum(freedoms)


def gripper():
    """An arm with two fingers; the tip of the second follows the first."""
    world, bodies = World(), []
    for name in ("arm", "finger1", "finger2", "tip"):
        bodies.append(world.add(RigidBody(1.0, (0.1, 0.1, 0.1), position=(len(bodies), 0, 0), name=name)))
    for name, a, b in (("shoulder", world.ground, 0), ("knuckle1", 0, 1), ("knuckle2", 0, 2), ("joint", 2, 3)):
        a = a if a is world.ground else bodies[a]
        world.add(Hinge(a, bodies[b], at=(b, 0, 0), axis=(0, 1, 0), name=name))
    world.add(Gear("joint", "knuckle1", 0.5, name="mimic"))
    return world


def test_a_long_row_shows_its_ends():
    text = drawn(scenes.get("chain", n=2000))
    assert "link1 " in text and "1998 more in a row" in text and "link2000 " in text and text.count("\n") == 4


def test_separate_bodies_stand_apart():
    world = World()
    for k in range(3):
        world.add(Particle(1.0, position=(k, 0, 0)))
    world.add(Ball(world.ground, "particle3", at=(2, 0, 0)))
    assert drawn(world).count("free") == 2
    assert drawn(World()) == "ground\n"
