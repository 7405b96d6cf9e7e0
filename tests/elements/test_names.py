"""Public names: the table that runs and the imports that type checkers read are the same, and nothing heavy is loaded early."""

import ast
import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import linkwork as lw
from linkwork import elements


def declared(module: ModuleType) -> dict[str, str]:
    """Name -> module, of the imports under `if TYPE_CHECKING`."""
    found = {}
    for block in ast.parse(inspect.getsource(module)).body:
        if isinstance(block, ast.If):
            for line in (line for line in block.body if isinstance(line, ast.ImportFrom)):
                for name in line.names:
                    found[name.name] = f"{line.module}.{name.name}" if line.module == module.__name__ else line.module
    return found


def test_checkers_and_table_of_elements_agree():
    assert declared(elements) == elements.WHERE


def test_checkers_and_table_of_linkwork_agree():
    found = declared(lw)
    assert found.pop("*") == "linkwork.elements"
    assert {**elements.WHERE, **found} == lw._LATER


def test_every_name_is_there():
    assert [name for name in (*lw.__all__, *elements.__all__) if getattr(lw, name, None) is None] == []
    assert set(lw.__all__) <= set(dir(lw))
    assert all(getattr(elements, name) is getattr(lw, name) for name in elements.__all__)


@pytest.mark.parametrize("statement", ["import linkwork", "import linkwork; linkwork.World()", "import linkwork.elements"])
def test_nothing_heavy_is_loaded_early(statement):
    heavy = "[m for m in ('casadi', 'numba', 'scipy', 'matplotlib', 'llvmlite') if m in sys.modules]"
    told = subprocess.run(
        [sys.executable, "-c", f"import sys; {statement}; print({heavy})"], capture_output=True, check=True, text=True
    )
    assert told.stdout.strip() == "[]"


def test_names_of_worlds_that_were_pickled_before():
    from linkwork.elements import bodies, constraints, contacts, drives, forces, handles, joint_forces, lagrangian, shapes

    assert constraints.Distance is lw.Distance and constraints.VelocityConstraint is lw.VelocityConstraint
    assert drives.Armature is lw.Armature and forces.Spring is lw.Spring and joint_forces.Follow is lw.Follow
    assert contacts.Collider is lw.Collider and handles.Pull("lamp").name is None
    assert bodies.RigidBody is lw.RigidBody and bodies.Ground is lw.Ground
    assert shapes.Box is lw.Box and lagrangian.LagrangianBody is lw.LagrangianBody
