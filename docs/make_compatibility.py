"""Write docs/compatibility.md: which constraint works on which pair of body kinds, and which solver and integrator take
contact, asked of the package itself.

python docs/make_compatibility.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.contact import support  # noqa: E402
from tests.symbolic.pairs import CONSTRAINTS, KINDS, UNARY, pairs_of, verdict  # noqa: E402

HEAD = """# Which constraint works on which bodies

Written by `python docs/make_compatibility.py`, which builds every pair and asks the package; a test keeps it true. **yes**:
every derivative of the rows is tested against finite differences. Otherwise the pair is refused by name, because of
**d**: a particle or a Lagrangian body has no directions; **s**: a body that stretches. Rows are the first body `a`, columns the
second body `b`.
"""


def cell(name, kinds):
    if kinds not in pairs_of(name):
        return ""
    found = verdict(name, kinds)
    if not isinstance(found, str):
        return "yes"
    return "d" if "has no directions" in found else "s" if "stretches" in found else "refused"


def table(name):
    rows = [("", *KINDS[:-1])] if name in UNARY else [("a \\ b", *KINDS)]
    if name in UNARY:
        rows.append(("", *[cell(name, ("ground", b)) for b in KINDS[:-1]]))
    else:
        rows += [(f"**{a}**", *[cell(name, (a, b)) for b in KINDS]) for a in KINDS]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def groups():
    """Constraints with the same table, in order."""
    found = {}
    for name in CONSTRAINTS:
        found.setdefault(table(name), []).append(name)
    return found


CONTACT = """
## Contact, by solver and integrator

**yes**: what rests on something, on a rope, on a stop or on inequalities stays at rest; a Lagrangian body on spheres around its
points.
`implicit` takes it with `tangent="symmetric"` alone.

"""


def text():
    pairs = "".join(f"\n## {', '.join(names)}\n\n{lines}\n" for lines, names in groups().items())
    return HEAD + pairs + CONTACT + support.table() + "\n"


if __name__ == "__main__":
    (HERE / "compatibility.md").write_text(text())
