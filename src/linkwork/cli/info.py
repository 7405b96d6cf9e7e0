"""linkwork info: what a scene or a file is made of, and what of the file is not taken as written."""

import typer

from linkwork.cli.options import AsFound, Floating, Packages, Root, Settings, escape

NAMED = 6  # frames in one line


def info(
    scene: str = typer.Argument(help='A name that "linkwork scenes" lists, or a .urdf, .xml (MJCF) or .yaml file.'),
    settings: Settings = [],  # noqa: B006
    lines: int = typer.Option(60, "--lines", min=1, help="The longest picture of the tree."),
    floating: Floating = False,
    meshes_as_found: AsFound = False,
    packages: Packages = [],  # noqa: B006
    root: Root = None,
):
    """Show bodies, joints, frames, freedoms, loops, what joint coordinates would cost, the tree, and what is not supported."""
    import warnings

    from rich.console import Console

    from linkwork.cli.models import pick
    from linkwork.errors import Note

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Note)  # all remarks are listed at the end
        chosen = pick(scene, settings, floating=floating, meshes_as_found=meshes_as_found, packages=packages, root=root)
    from linkwork.cli.topology import draw, joint_tree

    world, console = chosen.world, Console(highlight=False)
    console.print(f"[bold]{escape(chosen.name)}[/]: {escape(chosen.summary)}", soft_wrap=True)
    for name, text in _rows(chosen).items():
        console.print(f"  {name:<12}{escape(text)}", soft_wrap=True)
    tree = joint_tree(world)
    if tree and tree[0]:
        from linkwork.elements.core.registry import kind_type
        from linkwork.reduced.cost import report

        gears = any(kind_type(constraint).couples_joints for constraint in world.constraints)
        console.print(f"[bold]in joint coordinates[/]{', gears left aside' if gears else ''}")
        for line in report(*tree).splitlines():
            console.print(f"  {line}", soft_wrap=True)
    console.print(draw(world, lines))
    _tell(console, world.remarks)


def _rows(chosen):
    """Name -> text; of a world that cannot be compiled what its elements say, and why not."""
    from collections import Counter

    from linkwork import Simulation
    from linkwork.errors import LinkworkError
    from linkwork.util.resources import readable

    world = chosen.world
    kinds = {
        "bodies": Counter(body.kind for body in world.bodies),
        "constraints": Counter(type(c).__name__ for c in world.constraints),
        "forces": Counter(type(f).__name__ for f in world.forces),
        "contacts": Counter(type(c).__name__ for c in world.contacts),
        "visuals": Counter(type(v.shape).__name__ for v in world.visuals),
    }
    parameters = ", ".join(f"{name} {value:.4g}" for name, value in chosen.parameters.items())
    rows = {"parameters": parameters} if parameters else {}
    rows |= {name: _kinds(counts) for name, counts in kinds.items() if counts or name in ("bodies", "constraints", "forces")}
    if world.frames:
        rows["frames"] = _first([str(frame.name) for frame in world.frames])
    if world.sensors:
        rows["sensors"] = _first([str(sensor.name) for sensor in world.sensors])
    if world.keyframes:
        rows["keyframes"] = ", ".join(world.keyframes)
    try:
        model = Simulation(
            world, dt=chosen.suggested["dt"], **{k: v for k, v in chosen.options.items() if k != "dt"}
        ).model.summary()
    except LinkworkError as error:
        return rows | {"no model": f"it cannot be simulated as it is: {error}"}
    return rows | {
        "freedoms": f"{model['freedoms']}: {model['velocities']} velocities less {model['rows']} rows"
        + (f", {model['redundant']} of them redundant" if model["redundant"] else ""),
        "trees": f"{model['trees']}, with {model['nodes']} nodes of elimination",
        "loops": str(model["loops"]),
        "memory": readable(model["bytes"]),
    }


def _kinds(counts):
    """`5: 4 rigid, 1 particle`."""
    total = str(sum(counts.values()))
    return f"{total}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}" if counts else total


def _first(names):
    """`5: base, tool, left eye and 2 more`."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{len(names)}: {', '.join(names[:NAMED])}{more}"


def _tell(console, remarks):
    """What the file says and linkwork does not do, by file and line."""
    if not remarks:
        return
    console.print(f"[bold]not taken as written[/]: {len(remarks)}")
    for file in dict.fromkeys(remark.file for remark in remarks):
        console.print(f"  {escape(file)}", soft_wrap=True)
        of_file = [remark for remark in remarks if remark.file == file]
        for remark in sorted(of_file, key=lambda r: -1 if r.line is None else r.line):
            line = "" if remark.line is None else str(remark.line)
            console.print(f"  {line:>6}  {escape(remark.what)}: {escape(remark.why)}", soft_wrap=True)
