"""Every ```python block of the README and of docs/ runs as it stands.

The blocks of one document run from top to bottom in one namespace and in an empty working directory. A block fenced
as ```python no-run is left out; MOST_NO_RUN bounds how many there may be. Other languages (console, ...) are not run.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
MOST_NO_RUN = 3  # in all documents together
OTHER_SPELLINGS = {"py", "python3", "py3", "pycon", "ipython", "Python"}  # would slip through unrun


@dataclass(frozen=True)
class Block:
    path: Path
    line: int  # of the opening fence, from 1
    language: str
    options: tuple[str, ...]
    code: str

    @property
    def where(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return "no-run" not in self.options


def blocks_in(path: Path) -> list[Block]:
    """The fenced blocks of one document, in order."""
    found = []
    for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
        if token.type == "fence" and token.map:
            language, *options = token.info.split() or [""]
            found.append(Block(path, token.map[0] + 1, language, tuple(options), token.content))
    return found


def documents() -> list[Path]:
    return [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if p.exists()]


BLOCKS = [block for path in documents() for block in blocks_in(path)]
PYTHON = [block for block in BLOCKS if block.language == "python"]
WITH_PYTHON = sorted({block.path for block in PYTHON if block.runs})


@pytest.mark.parametrize("path", WITH_PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in PYTHON:
        if block.path == path and block.runs:
            run(block, namespace)


def run(block: Block, namespace: dict[str, object]) -> None:
    """Run one block; a failure names the document and the line in it."""
    # Empty lines in front make the line numbers of the block those of the document.
    source = "\n" * block.line + block.code
    try:
        exec(compile(source, str(block.path), "exec", dont_inherit=True), namespace)
        return
    except (Exception, SystemExit) as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(block.path)]
        line = lines[-1] if lines else getattr(error, "lineno", block.line)
        what = f"{type(error).__name__}: {error}\n\n{traceback.format_exc()}"
    pytest.fail(f"block at {block.where} failed in line {line}: {what}", pytrace=False)


def test_blocks_that_do_not_run_are_few() -> None:
    left_out = [block.where for block in PYTHON if not block.runs]
    assert len(left_out) <= MOST_NO_RUN, f"too many blocks marked no-run: {', '.join(left_out)}"


def test_fences_are_spelt_so_that_they_run() -> None:
    wrong = [f"{block.where} ({block.language})" for block in BLOCKS if block.language in OTHER_SPELLINGS]
    assert not wrong, f"write ```python, so that the block is run: {', '.join(wrong)}"
    unknown = [f"{block.where} ({' '.join(block.options)})" for block in PYTHON if set(block.options) - {"no-run"}]
    assert not unknown, f"the only option of a python block is no-run: {', '.join(unknown)}"
