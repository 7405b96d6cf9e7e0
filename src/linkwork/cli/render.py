"""linkwork render: a video or a still of a run."""

from pathlib import Path

import typer

from linkwork.cli.options import say
from linkwork.errors import LinkworkError


def render(
    run: Path = typer.Argument(metavar="RUN", help="The folder that linkwork run --out left, or a recording (.nc, .npz)."),
    video: Path = typer.Option(None, metavar="FILE.mp4", help="Write a video."),
    png: Path = typer.Option(None, metavar="FILE.png", help="Write a still."),
    at: float = typer.Option(None, metavar="SECONDS", help="The moment of the still; the last one unless told otherwise."),
    size: str = typer.Option("1280x720", metavar="WIDTHxHEIGHT", help="In pixels."),
    fps: float = typer.Option(30, help="Pictures a second of the video."),
):
    """Draw a recorded run with light and shadow, off screen: a video, a still, or both."""
    if video is None and png is None:
        raise LinkworkError("render: nothing to write; give --video out.mp4, --png out.png, or both")
    if at is not None and png is None:
        raise LinkworkError("--at: a video is of the whole run; give --png out.png too, or leave --at out")
    for path, ending in ((video, ".mp4"), (png, ".png")):
        if path is not None and path.suffix != ending:
            raise LinkworkError(f'"{path}": give a name that ends in {ending}')
    pixels = _pixels(size)
    path = run / "recording.nc" if run.is_dir() else run
    if not path.is_file():
        what = "it holds no recording.nc" if run.is_dir() else "there is no such folder or file"
        raise LinkworkError(f'"{run}": {what}; give the folder that "linkwork run --out" left')
    from linkwork.recording.recording import Recording

    recording = Recording.load(path)
    try:
        if png is not None:
            say(recording.render(png, at=at, size=pixels))
        if video is not None:
            say(recording.render(video, fps=fps, size=pixels))
    except OSError as error:
        raise LinkworkError(f"render: {error.strerror or error}; give a folder with room to write") from None


def _pixels(text):
    width, cross, height = text.lower().partition("x")
    try:
        if not cross:
            raise ValueError
        return int(width), int(height)
    except ValueError:
        raise LinkworkError(f'--size "{text}": give width and height in pixels, such as 1280x720') from None
