"""linkwork info: what a scene is made of."""

import typer


def info(
    scene: str = typer.Argument(help='A name that "linkwork scenes" lists.'),
    settings: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="A parameter of the scene; repeatable."),
    lines: int = typer.Option(60, "--lines", min=1, help="The longest picture of the tree."),
):
    """Show bodies, joints, freedoms, what joint coordinates would cost, and the tree of a scene."""
    from collections import Counter

    from rich.console import Console

    from .gallery import pick

    chosen, parameters = pick(scene, settings)
    from .. import Simulation
    from ..memory import readable
    from .topology import draw, joint_tree

    world = chosen.build(**parameters)
    model = Simulation(world, dt=chosen.dt, **chosen.options).model.summary()
    console = Console(highlight=False)
    console.print(f"[bold]{chosen.name}[/]: {chosen.summary}")
    rows = {
        "parameters": ", ".join(f"{name} {value:.4g}" for name, value in parameters.items()),
        "bodies": _kinds(model["bodies"], Counter(body.kind for body in world.bodies)),
        "constraints": _kinds(model["constraints"], Counter(type(c).__name__ for c in world.constraints)),
        "forces": _kinds(model["forces"], Counter(type(f).__name__ for f in world.forces)),
        "freedoms": f"{model['freedoms']}: {model['velocities']} velocities less {model['rows']} rows"
        + (f", {model['redundant']} of them redundant" if model["redundant"] else ""),
        "trees": f"{model['trees']}, with {model['nodes']} nodes of elimination",
        "loops": str(model["loops"]),
        "memory": readable(model["bytes"]),
    }
    for name, text in rows.items():
        console.print(f"  {name:<12}{text}", soft_wrap=True)
    tree = joint_tree(world)
    if tree:
        from ..reduced.cost import report

        console.print("[bold]in joint coordinates[/]")
        for line in report(*tree).splitlines():
            console.print(f"  {line}", soft_wrap=True)
    console.print(draw(world, lines))


def _kinds(total, counts):
    """`5: 4 rigid, 1 particle`."""
    return f"{total}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}" if counts else str(total)
