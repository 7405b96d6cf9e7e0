"""A user's code and a user's mistakes under mypy --strict and pyright: nothing is said of the one, and every mistake is refused."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import linkwork

HERE = Path(__file__).parent
SOURCES = Path(linkwork.__file__).parents[1]
MARK = "# refused"


def mypy(file: Path, folder: Path) -> dict[int, str]:
    """Line -> what `mypy --strict` says of it, as a user has it: without the settings of this package."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--follow-imports", "silent",
               "--cache-dir", str(folder / "cache"), "--no-error-summary", "--hide-error-context", str(file)]  # fmt: skip
    found = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "MYPYPATH": str(SOURCES)})
    assert found.returncode in (0, 1), found.stdout + found.stderr
    said = [re.match(r".*?\.py:(\d+): error: (.*)", line) for line in found.stdout.splitlines()]
    return {int(one[1]): one[2] for one in reversed(said) if one is not None}


def pyright(file: Path, folder: Path) -> dict[int, str]:
    """Line -> what pyright says of it, in its standard mode."""
    settings = {"typeCheckingMode": "standard", "include": [str(file)], "extraPaths": [str(SOURCES)], "pythonVersion": "3.11",
                "reportUnusedExpression": False}  # fmt: skip
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert found.returncode in (0, 1), found.stdout + found.stderr
    said = [one for one in json.loads(found.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    return {one["range"]["start"]["line"] + 1: one["message"] for one in reversed(said)}


@pytest.fixture(scope="module", params=[mypy, pyright], ids=["mypy", "pyright"])
def checker(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param.__name__)
    return lambda name: request.param(HERE / name, folder)


@pytest.mark.slow
def test_a_users_code_passes(checker):
    assert checker("users_code.py") == {}


@pytest.mark.slow
def test_every_mistake_is_refused_and_nothing_else(checker):
    lines = (HERE / "users_mistakes.py").read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, start=1) if line.endswith(MARK)}
    found = checker("users_mistakes.py")
    assert {lines[n - 1]: "accepted" for n in sorted(wrong - found.keys())} == {}
    assert {lines[n - 1]: found[n] for n in sorted(found.keys() - wrong)} == {}
    assert len(wrong) > 50


def test_the_first_lines_of_the_readme_are_among_what_is_checked():
    readme = (HERE.parents[1] / "README.md").read_text()
    block = re.search(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert block is not None and block[1].split("import linkwork as lw\n")[1] in (HERE / "users_code.py").read_text()
