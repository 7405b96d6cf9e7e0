"""Who waits for a compiler is told."""

from types import SimpleNamespace

import pytest

from linkwork.codegen import compiled, jit
from linkwork.contact.stage import contact_stage
from linkwork.engines.maximal import euler_steps

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")


class Timer:
    """One that goes off when it is told to."""

    def __init__(self, seconds, function):
        self.seconds, self.function, self.waiting = seconds, function, False
        Timer.last = self

    def start(self):
        self.waiting = True

    def cancel(self):
        self.waiting = False

    def go_off(self):
        if self.waiting:
            self.function()


@pytest.mark.parametrize("long", [True, False])
def test_a_driver_that_takes_long_is_told_once(capsys, monkeypatch, long):
    monkeypatch.setattr(compiled.threading, "Timer", Timer)
    patience = compiled.Patience(7.0)
    for _ in range(2):
        hear(patience, euler_steps.attempt, long)
    said = capsys.readouterr().err
    assert said.count("linkwork: compiling drivers") == int(long) and "contact" not in said


def test_contact_is_spoken_of_when_it_is_compiled(capsys, monkeypatch):
    monkeypatch.setattr(compiled.threading, "Timer", Timer)
    patience = compiled.Patience(7.0)
    for driver in (contact_stage, contact_stage, euler_steps.attempt):
        hear(patience, driver, long=True)
    said = capsys.readouterr().err
    assert said == "linkwork: compiling drivers of contact, for a minute or more (kept for next time) ...\n"


def hear(patience, driver, long):
    """What a Patience hears of a driver that is compiled, and that takes long or does not."""
    event = SimpleNamespace(data={"dispatcher": driver})
    patience.on_start(event)
    patience.on_start(event)  # one within the other
    assert Timer.last.seconds == 7.0
    if long:
        Timer.last.go_off()
    patience.on_end(event)
    patience.on_end(event)
    Timer.last.go_off()  # too late: it has been compiled
