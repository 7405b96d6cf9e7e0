"""What an element is, its kind says: outside the rooms of elements, of files and of scenes nothing asks for one class of them."""

import ast
from pathlib import Path

import linkwork

PACKAGE = Path(linkwork.__file__).parent
ROOMS = ("elements/", "formats/", "scenes/")  # where elements are defined, read and written, and made
CONCRETE = ("bodies", "joints", "constraints", "forces", "contacts", "shapes")  # folders of elements, a file a kind

# The ground is a body of its own, and kernels that are written for the record of rigid bodies know it by identity.
ALLOWED = {"Ground", "RIGID"}
# What contact is made of: shapes that touch, what they are made of, and pairs that pass through each other.
ALLOWED_IN = {
    "contact/contact_build.py": {"Collider", "Contact", "NoContact"},
    "reduced/proximity.py": {"NoContact"},
    "reduced/cost/mechanisms.py": {"RigidBody"},
}


def declared(folder: str) -> set[str]:
    """Names of classes, and of instances of kinds, that the files of a folder of elements declare."""
    found = set()
    for path in (PACKAGE / "elements" / folder).glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name) and target.id == "RIGID"}
    return found


def asked(text: str, known: set[str]) -> set[str]:
    """Classes and instances of kinds that something is compared with, and names of kinds."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                found |= {each.id for each in ast.walk(side) if isinstance(each, ast.Name) and each.id in known}
                if isinstance(side, ast.Attribute) and side.attr == "name" and "kind" in ast.unparse(side.value):
                    found.add(ast.unparse(side))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
            found |= {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name) and each.id in known}
        elif isinstance(node, ast.MatchClass):
            found |= {each.id for each in ast.walk(node.cls) if isinstance(each, ast.Name) and each.id in known}
    return found


def test_no_class_of_elements_is_asked_for_outside_its_room():
    known = set().union(*map(declared, CONCRETE))
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(ROOMS):
            wrong = asked(path.read_text(encoding="utf-8"), known) - ALLOWED - ALLOWED_IN.get(name, set())
            if wrong:
                found[name] = wrong
    assert found == {}


def test_comparisons_are_found():
    known = {"Hinge", "RIGID"}
    assert asked("x = isinstance(a, (Hinge, int))", known) == {"Hinge"}
    assert asked("x = a is RIGID or type(a) == Hinge", known) == {"Hinge", "RIGID"}
    assert asked("x = body_kind.name == 'rigid'", known) == {"body_kind.name"}
    assert asked("match a:\n    case Hinge():\n        pass", known) == {"Hinge"}
    assert asked("x = Hinge(a, b)", known) == set()
