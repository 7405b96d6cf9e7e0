"""Plain Markdown tables and result files."""

import json
from pathlib import Path


def markdown(header, rows):
    """A Markdown table; None is an empty cell."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join("" if cell is None else str(cell) for cell in line) + " |" for line in lines)


def microseconds(seconds):
    """Three digits: 0.153, 7.11, 1190."""
    value = 1e6 * seconds
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def filled(text, blocks):
    """A document with new content between `<!-- name -->` and the next `<!-- end -->`, for each name of blocks."""
    for name, content in blocks.items():
        before, rest = text.split(f"<!-- {name} -->\n")
        after = rest.split("\n<!-- end -->", 1)[1]
        text = f"{before}<!-- {name} -->\n{content}\n<!-- end -->{after}"
    return text


def fill(path, blocks):
    """Rewrite a document so."""
    path.write_text(filled(path.read_text(encoding="utf-8"), blocks), encoding="utf-8")


def write(path, result, text):
    """`path` (JSON) and the same name with .md; both go under version control."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n")
    path.with_suffix(".md").write_text(text + "\n")
