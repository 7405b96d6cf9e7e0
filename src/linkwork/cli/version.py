"""linkwork --version, and the versions that a report names."""

import typer


def versions():
    """Name -> version of linkwork, Python and the libraries that a result depends on."""
    import platform
    from importlib import metadata

    found = {}
    for name in ("linkwork", "numpy", "casadi", "numba", "llvmlite"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found | {"python": platform.python_version(), "system": platform.platform()}


def _show(asked: bool):
    if asked:
        typer.echo(f"linkwork {versions()['linkwork']}")
        raise typer.Exit


def version(
    version: bool = typer.Option(False, "--version", callback=_show, is_eager=True, help="Print the version."),
):
    pass
