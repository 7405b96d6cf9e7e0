"""Writes the table of docs/integrators.md, by trying everything in it: `python docs/make_integrators.py`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.integrators.support import table  # noqa: E402

BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def main() -> None:
    page = ROOT / "docs" / "integrators.md"
    text = page.read_text(encoding="utf-8")
    fresh = f"{BEGIN}\n{table()}\n{END}"
    page.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: fresh, text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
