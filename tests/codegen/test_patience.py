"""Who waits for a compiler is told."""

import time
from types import SimpleNamespace

import pytest

from linkwork.codegen import jit
from linkwork.contact.whole import contact_stage
from linkwork.integrators import euler

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")


@pytest.mark.parametrize("seconds, told", [(0.05, True), (5.0, False)])
def test_a_driver_that_takes_long_is_told_once(capsys, seconds, told):
    patience = jit.Patience(seconds)
    for _ in range(2):
        compile_for_a_while(patience, euler.steps_of_euler)
    said = capsys.readouterr().err
    assert said.count("linkwork: compiling drivers") == int(told) and "contact" not in said


def test_contact_is_spoken_of_when_it_is_compiled(capsys):
    patience = jit.Patience(0.05)
    compile_for_a_while(patience, contact_stage)
    compile_for_a_while(patience, contact_stage)
    compile_for_a_while(patience, euler.steps_of_euler)
    said = capsys.readouterr().err
    assert said == "linkwork: compiling drivers of contact, for a minute or more (kept for next time) ...\n"


def compile_for_a_while(patience, driver):
    """What a Patience hears of a driver that takes 0.2 s."""
    event = SimpleNamespace(data={"dispatcher": driver})
    patience.on_start(event)
    patience.on_start(event)  # one within the other
    time.sleep(0.2)
    patience.on_end(event)
    patience.on_end(event)
