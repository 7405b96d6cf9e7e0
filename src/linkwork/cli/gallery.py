"""A scene and its parameters from the words of a command."""

from pathlib import Path

from ..errors import LinkworkError

FILES = {".urdf", ".xml", ".mjcf", ".yaml", ".yml"}


def pick(name, settings):
    """(Scene, parameters) from a name and a list of "parameter=number"."""
    from .. import scenes

    if Path(name).suffix.lower() in FILES:
        raise LinkworkError(f'"{name}": files cannot be read yet; give one of the names that "linkwork scenes" lists')
    scene = scenes.find(name)
    return scene, scene.complete(dict(_setting(text) for text in settings))


def _setting(text):
    name, equals, value = text.partition("=")
    try:
        if not equals:
            raise ValueError
        return name.strip(), float(value)
    except ValueError:
        raise LinkworkError(f'--set "{text}": give a parameter and a number, such as --set n=5') from None
