"""Sizes of the sources: files, functions, and modules that stand flat in the package."""

import ast
from pathlib import Path

import linkwork

PACKAGE = Path(linkwork.__file__).parent
FILE_LINES, FUNCTION_LINES, FLAT_MODULES = 400, 60, 8


def sources() -> dict[str, str]:
    return {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def long_functions(name: str, text: str) -> set[str]:
    """Functions whose node of the syntax tree, docstring included, is too long."""
    return {
        f"{name}:{node.name}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    }


def test_no_file_is_too_long():
    assert {name for name, text in sources().items() if len(text.splitlines()) > FILE_LINES} == set()


def test_no_function_is_too_long():
    assert {each for name, text in sources().items() for each in long_functions(name, text)} == set()


def test_few_modules_stand_flat_in_the_package():
    assert len([name for name in sources() if "/" not in name]) <= FLAT_MODULES


def test_lines_of_a_function_are_counted_with_its_docstring():
    body = "\n".join("    x = 1" for _ in range(FUNCTION_LINES - 2))
    assert long_functions("a.py", f'def f():\n    """Says."""\n{body}\n') == set()
    assert long_functions("a.py", f'def f():\n    """Says."""\n    x = 0\n{body}\n') == {"a.py:f"}
