"""Who waits for a compiler is told."""

import pytest

from linkwork.codegen import jit

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
    monkeypatch.setattr(jit.threading, "Timer", Timer)
    patience = jit.Patience(7.0)
    for _ in range(2):
        patience.on_start(None)
        patience.on_start(None)  # one within the other
        assert Timer.last.seconds == 7.0
        if long:
            Timer.last.go_off()
        patience.on_end(None)
        patience.on_end(None)
        Timer.last.go_off()  # too late: it has been compiled
    assert capsys.readouterr().err.count("linkwork: compiling drivers") == int(long)
