"""linkwork scenes: the gallery."""


def scenes():
    """List the built-in scenes, with their parameters and the values that these have unless told otherwise."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from linkwork import scenes as gallery

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("scene", no_wrap=True, style="bold")
    table.add_column("what it shows", ratio=3)
    table.add_column("parameters", ratio=2)
    for name in gallery.names():
        scene = gallery.find(name)
        parameters = "  ".join(f"{key}={value:.4g}" for key, value in scene.parameters.items())
        table.add_row(name, scene.summary, parameters)
    console = Console(highlight=False)
    console.print(table)
    console.print("linkwork run SCENE --set parameter=number --out FOLDER simulates one; angles are in radians.")
