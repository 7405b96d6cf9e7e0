"""Who waits for a compiler is told what is compiled, and how far it is."""

import io
import subprocess
import sys

import pytest

from linkwork.codegen import jit

if jit.INTERPRETED:
    pytest.skip("nothing is compiled", allow_module_level=True)

from linkwork.codegen import telling


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(telling, "_TOLD", [])


def test_a_terminal_gets_a_bar_that_goes_away():
    told = telling.Telling("contact.stage", {print, len, abs, max}, Terminal())
    assert told.tell(0.0) == telling.PATIENCE and told.stream.getvalue() == ""
    for function in (print, len, print):
        told.heard(function)
    told.tell(telling.PATIENCE)
    assert told.stream.getvalue() == "\rlinkwork: compiling contact.stage [##########..........] 2 of 4: print"
    told.heard(abs)
    told.machine_code = True
    told.tell(telling.PATIENCE)
    assert told.stream.getvalue().split("\r")[-1].rstrip() == f"linkwork: compiling contact.stage [{'#' * 20}] machine code"
    told.clear()
    *_, blank, end = told.stream.getvalue().split("\r")
    assert blank.strip() == end == "" and len(blank) >= len("linkwork: compiling contact.stage [####################] machine")


def test_a_driver_that_is_made_quickly_is_not_told():
    told = telling.Telling("contact.stage", {print}, Terminal())
    told.tell(0.5 * telling.PATIENCE)
    told.clear()
    assert told.stream.getvalue() == ""


def test_a_line_is_no_longer_than_a_terminal_is_wide():
    assert len(telling.Telling("contact.stage", {print}, Terminal()).line(30)) == 29


def test_where_there_is_no_terminal_one_line_is_said():
    stream = io.StringIO()
    for _ in range(2):
        told = telling.Telling("contact.stage", {print}, stream)
        assert told.tell(1.0) == telling.SILENCE - 1.0 and told.tell(telling.SILENCE) is None
        told.clear()
    assert stream.getvalue() == "linkwork: compiling contact.stage and others (kept for next time) ...\n"


def test_functions_that_are_compiled_with_a_driver_are_known_before():
    """In a process that has compiled none of them."""
    program = ("from linkwork.codegen import telling; from linkwork.contact.stage import contact_stage; "
               "from linkwork.engines.maximal import euler_steps; found = telling.reached(contact_stage); "
               "print(contact_stage in found, len(found), len(telling.reached(euler_steps.attempt)), "
               "*{f.py_func.__module__.split('.')[0] for f in found})")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    there, stage, step, *packages = done.stdout.split()
    assert there == "True" and int(stage) > 20 and int(step) < int(stage) and packages == ["linkwork"]
