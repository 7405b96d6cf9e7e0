"""Draws docs/pictures/imports.svg, which folder imports which, from the sources: `python docs/make_architecture.py`."""

import ast
import html
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "linkwork"
PICTURE = ROOT / "docs" / "pictures" / "imports.svg"
CELL, LEFT, TOP, RIGHT = 22, 110, 100, 720  # pixels: a cell, names of rows, names of columns, what a folder is for


def layers() -> list[str]:
    """The folders and modules of the package from top to bottom, as the contract of the imports in pyproject.toml has them."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contract = tomllib.loads(text)["tool"]["importlinter"]["contracts"][0]
    names = [name.strip(" ()") for layer in contract["layers"] for name in layer.replace(":", "|").split("|")]
    return [name for name in names if _file(name).is_file()]


def _file(name: str) -> Path:
    return SOURCES / f"{name}.py" if (SOURCES / f"{name}.py").is_file() else SOURCES / name / "__init__.py"


def purpose(name: str) -> str:
    """The first sentence of a folder's docstring, or of a module's."""
    text = ast.get_docstring(ast.parse(_file(name).read_text(encoding="utf-8"))) or ""
    sentence = " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".")
    return sentence.split(";")[0]


def imports(name: str) -> set[str]:
    """The folders and modules of the package that one imports, inside functions too; not those for type checkers alone."""
    place = SOURCES / name
    found: set[str] = set()
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in _run(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "linkwork":
                parts = str(node.module).split(".")
                found |= {parts[1]} if len(parts) > 1 else {each.name for each in node.names}
    return found - {name}


def _run(node: ast.AST):
    """All nodes below one that are run."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield child
            yield from _run(child)


def drawing() -> str:
    """A row and a column for each layer, the lowest first; a square where the row's folder imports the column's. All squares
    are below the diagonal, since imports go downwards only."""
    names = layers()[::-1]
    width, height = LEFT + CELL * len(names) + RIGHT, TOP + CELL * len(names) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="white"/>']  # fmt: skip
    for k, name in enumerate(names):
        x, y = LEFT + CELL * k, TOP + CELL * k
        out.append(f'<text x="{x + 15}" y="{TOP - 6}" transform="rotate(-60 {x + 15} {TOP - 6})">{name}</text>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">{name}</text>')
        out.append(f'<text x="{LEFT + CELL * len(names) + 12}" y="{y + 16}" fill="#555">{html.escape(purpose(name))}</text>')
        found = imports(name)
        for m, other in enumerate(names):
            fill = "#d5d5d5" if m == k else "#2b6cb0" if other in found else "#f4f4f4"
            out.append(f'<rect x="{LEFT + CELL * m + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" fill="{fill}"/>')
    return "\n".join([*out, "</svg>", ""])


def main() -> None:
    PICTURE.write_text(drawing(), encoding="utf-8")


if __name__ == "__main__":
    main()
