"""Functions for arguments of given types alone: compiled by their first call, where Ctrl-C is felt, and by no other."""

import threading

import numpy as np
import pytest

from linkwork.codegen import dispatch, jit


def doubled():
    @jit.jit_exactly("float64(float64)", "float64(float64[::1])")
    def twice(x):
        return 2.0 * np.sum(np.asarray(x))

    return twice


def test_it_is_compiled_by_its_first_call_and_by_one_that_waits(monkeypatch):
    waited = []
    monkeypatch.setattr(dispatch, "interruptible", lambda work: (waited.append(1), work())[1])
    twice = doubled()
    assert twice.signatures == [] and waited == []
    assert twice(3.0) == 6.0 and twice(np.ones(4)) == 8.0 and twice(1.0) == 2.0
    assert len(twice.signatures) == 2 and len(waited) == 2


def test_others_are_refused_whether_they_come_first_or_not():
    twice = doubled()
    for _ in range(2):
        with pytest.raises(TypeError, match="No matching definition"):
            twice("word")
        assert twice(2.0) == 4.0


def test_threads_may_call_it_first_together():
    twice, found = doubled(), []
    start = threading.Barrier(4)

    def call(k):
        start.wait()
        found.append(twice(float(k)))

    threads = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0.0, 2.0, 4.0, 6.0]
