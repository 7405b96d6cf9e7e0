"""linkwork convert: a model from one kind of file to another."""

from pathlib import Path

import typer

from linkwork.cli.options import AsFound, Floating, Packages, Root, Settings, Strict, say
from linkwork.errors import LinkworkError


def convert(
    source: str = typer.Argument(metavar="FROM", help="A .urdf, .xml (MJCF) or .yaml file, or the name of a scene."),
    target: Path = typer.Argument(metavar="TO", help="The scene file to write (.yaml)."),
    settings: Settings = [],  # noqa: B006
    strict: Strict = False,
    floating: Floating = False,
    meshes_as_found: AsFound = False,
    packages: Packages = [],  # noqa: B006
    root: Root = None,
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace the file if there is one."),
):
    """Write a URDF, an MJCF or a scene as linkwork's own scene file, which says every number that is used."""
    if target.suffix.lower() not in (".yaml", ".yml"):
        raise LinkworkError(f'"{target}": linkwork writes scene files, which end in .yaml; give such a name')
    if target.exists() and not overwrite:
        raise LinkworkError(f'"{target}": there is such a file already; give another name, or --overwrite')
    from linkwork import save
    from linkwork.cli.models import pick

    words = {"strict": strict, "floating": floating, "meshes_as_found": meshes_as_found, "packages": packages, "root": root}
    chosen = pick(source, settings, **words)
    world = chosen.world
    if chosen.path is None:
        world.simulate = dict(chosen.suggested)
    save(world, target)
    from linkwork.cli.report import count

    parts = (world.bodies, "body", "bodies"), (world.constraints, "constraint"), (world.forces, "force")
    say(f"{target}: {', '.join(count(len(elements), *words) for elements, *words in parts)}")
