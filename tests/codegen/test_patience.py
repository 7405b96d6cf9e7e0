"""Who waits for a compiler is told."""

import time

import pytest

from linkwork.codegen import jit

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")


@pytest.mark.parametrize("seconds, told", [(0.05, True), (5.0, False)])
def test_a_driver_that_takes_long_is_told_once(capsys, seconds, told):
    patience = jit.Patience(seconds)
    for _ in range(2):
        patience.on_start(None)
        patience.on_start(None)  # one within the other
        time.sleep(0.2)
        patience.on_end(None)
        patience.on_end(None)
    assert capsys.readouterr().err.count("linkwork: compiling drivers") == int(told)
