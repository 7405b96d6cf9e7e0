"""The build backend: hatchling's. A wheel is made with what linkwork runs on, since its drivers are compiled then."""

import tomllib
from pathlib import Path

from hatchling.build import *  # noqa: F403
from hatchling.build import get_requires_for_build_wheel as _required


def get_requires_for_build_wheel(config_settings=None):
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*_required(config_settings), *project["dependencies"]]
