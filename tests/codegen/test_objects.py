"""Arrays by their addresses: the layout is known here, and what is no such array is seen."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.codegen import objects
from linkwork.codegen.jit import INTERPRETED


def test_the_layout_of_arrays_is_known():
    assert objects.known_layout() is not INTERPRETED


@pytest.mark.skipif(INTERPRETED, reason="drivers are plain Python")
def test_a_program_takes_what_it_can_and_says_so():
    tree = lw.reduced.compile(lw.scenes.get("double-pendulum"))
    program, q, out = tree.schedules.get(("gravity",)), np.array([0.3, -0.2]), np.zeros(2)
    still = q.view()
    still.flags.writeable = False
    expected = lw.reduced.gravity_torques(tree, q)
    for given in (q, still):
        out[:] = 0.0
        assert program.one(given, None, None, out) is True and np.array_equal(out, expected)
    out[:] = 7.0
    for wrong in ([0.3, -0.2], 0.3, "q", None, q[:1], q[None], q[::-1], q.astype(np.float32), q.astype(">f8"), np.ma.array(q)):
        assert program.one(wrong, None, None, out) is False
    for wrong in (None, still, np.zeros(3), np.zeros((1, 2)), np.zeros((2, 2))[:, 0], [0.0, 0.0]):
        assert program.one(q, None, None, wrong) is False
    assert (out == 7.0).all()
