"""Constraints of which each is nearly redundant beside the other: neither can wait for ever."""

import numpy as np

from linkwork.model.graph import GROUND, elimination_order, forest

SMALL = 1e-5


def test_two_that_wait_for_each_other_are_both_eliminated():
    """Each has a row that is the other's first one, but for its size: below what is regular, above what is not coupled."""
    blocks = [np.array([[1.0, 0, 0, 0], [0, SMALL, 0, 0]]), np.array([[0, 1.0, 0, 0], [SMALL, 0, 0, 0]])]
    ends = [(GROUND, 0), (GROUND, 0)]
    order = elimination_order(forest(1, ends), ends, [True, True], [4], lambda k: [np.zeros((2, 0)), blocks[k]])
    assert sorted(order.vertices) == [0, 1, 2] and order.vertices[0] == 0
    assert sum(order.redundant.values()) == 2 and order.soft == {0, 1}
