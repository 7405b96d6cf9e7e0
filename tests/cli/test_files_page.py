"""The commands on the page about files run as they stand, one after another."""

import shlex
from pathlib import Path

import pytest

from linkwork.cli import main
from tests.docs.test_blocks import blocks_in

PAGE = Path(__file__).resolve().parents[2] / "docs" / "files-run.md"


def test_the_commands_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_in(PAGE)
    (tmp_path / "gate.yaml").write_text(next(b.code for b in blocks if b.language == "yaml"))
    commands = [line for b in blocks if b.language == "console" for line in b.code.splitlines()]
    assert len(commands) >= 9 and all(line.startswith("$ linkwork ") for line in commands)
    for line in commands:
        with pytest.raises(SystemExit) as caught:
            main(shlex.split(line)[2:])
        err = capsys.readouterr().err
        no_graphics = "render" in line and "no OpenGL" in err
        assert caught.value.code in (0, None) or no_graphics, (line, err)
    assert {"recording.nc", "replay.html", "scene.yaml"} <= {path.name for path in (tmp_path / "run").iterdir()}
    assert (tmp_path / "doll.yaml").exists()
