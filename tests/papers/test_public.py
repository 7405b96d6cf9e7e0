"""What the papers use is public: modules that are listed here, and no private or internal attributes."""

import ast
from pathlib import Path

import pytest

PAPERS = Path(__file__).resolve().parents[2] / "papers"
FILES = sorted(PAPERS.rglob("*.py"))
PUBLIC = {
    "linkwork",
    "linkwork.reduced",
    "linkwork.reduced.cost",
    "linkwork.reduced.cost.mechanisms",
    "linkwork.reduced.cost.timers",
    "linkwork.scenes",
    "linkwork.scenes.layout",
    "linkwork.scenes.skins",
}
INTERNAL = {"schedules", "integrator", "model", "work"}  # of a simulation, but for model.summary()


def imported(tree):
    """(line, module) of all imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module


def problems(text):
    tree = ast.parse(text)
    found = [f"line {line} imports {module}" for line, module in imported(tree)
             if module.split(".")[0] == "linkwork" and module not in PUBLIC]  # fmt: skip
    summaries = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "summary"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        private = node.attr.startswith("_") and not node.attr.startswith("__")
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        inside = node.attr in INTERNAL and isinstance(node.value, ast.Name | ast.Attribute) and not own
        if (private and not own) or (inside and id(node) not in summaries):
            found.append(f"line {node.lineno} uses .{node.attr}")
    return found


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PAPERS)) for path in FILES])
def test_a_paper_uses_public_names_alone(path):
    assert problems(path.read_text(encoding="utf-8")) == []


def test_what_is_not_public_is_found():
    assert problems("from linkwork.model import graph") == ["line 1 imports linkwork.model"]
    assert problems("import linkwork.codegen.jit") == ["line 1 imports linkwork.codegen.jit"]
    assert problems("sim._derive()") == ["line 1 uses ._derive"]
    assert problems("x = system.sim.work[3]") == ["line 1 uses .work"]
    assert problems("sim.model.nodes") == ["line 1 uses .model"]
    assert problems("sim.model.summary(); sim.energy().work; self._mine = np.zeros(3)") == []
