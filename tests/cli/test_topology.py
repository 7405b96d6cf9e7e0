"""The picture of a world's trees."""

from rich.console import Console

from linkwork import scenes
from linkwork.cli.topology import draw, forest, moving
from linkwork.elements import Ball, Particle
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
