"""The command line: one file a command. What a command needs is imported when it runs, so that help is quick."""

import sys
import warnings

import typer

from linkwork.cli.convert import convert
from linkwork.cli.info import info
from linkwork.cli.render import render
from linkwork.cli.run import run
from linkwork.cli.scenes import scenes
from linkwork.cli.version import version
from linkwork.errors import LinkworkError, Note

app = typer.Typer(
    name="linkwork",
    help="Constrained multibody dynamics: simulate a scene or a file, look at its structure, draw what happened.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.callback()(version)
app.command()(run)
app.command()(render)
app.command()(info)
app.command()(convert)
app.command()(scenes)


def main(arguments=None):
    """The entry point. Exit codes: 0 done, 2 refused, in one sentence on stderr, 130 stopped by Ctrl-C."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _told(warnings.showwarning)
            app(args=arguments)
    except LinkworkError as error:
        print(f"linkwork: {error}", file=sys.stderr)
        sys.exit(2)


def _told(otherwise):
    """Shows notes as sentences, and any other warning as Python does."""

    def show(message, category, *place):
        if issubclass(category, Note):
            print(f"linkwork: {message}", file=sys.stderr)
        else:
            otherwise(message, category, *place)

    return show
