"""Options that several commands have, and how names from files are shown."""

from typing import Annotated

import typer

from linkwork.errors import printable

Settings = Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the scene; repeatable.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a file that says something which linkwork does not do.")]
Floating = Annotated[bool, typer.Option("--floating", help="Leave the root link of a URDF free.")]
AsFound = Annotated[bool, typer.Option("--meshes-as-found", help="Leave out meshes of a URDF that are missing.")]
Root = Annotated[str | None, typer.Option("--root", metavar="FOLDER", help="Read what the file names from all of this folder.")]
Packages = Annotated[
    list[str], typer.Option("--package", metavar="[NAME=]FOLDER", help="Where package://NAME is, or packages are; repeatable.")
]


def escape(text):
    """A text as rich shows it: as it is, but for what a terminal would obey."""
    from rich.markup import escape

    return escape(printable(text))


def say(text, **options):
    """Print a text line by line; what a terminal would obey is escaped."""
    typer.echo("\n".join(map(printable, str(text).split("\n"))), **options)
