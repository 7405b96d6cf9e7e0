"""Joined kernels against the same kernels one after the other; places of records in a workspace."""

import numpy as np

from linkwork.codegen.fusion import join
from linkwork.codegen.jit import OPERANDS, kernel_table, sweep
from linkwork.codegen.trace import COLD, Joining, Kernel, Record, Space


def small(trace):
    x = trace.load(1, 0, 3)
    trace.store(1, 0, 2 * x + trace.load(0, 0, 1))


def gathering(trace):
    a, b, c = (trace.load(p, 0, 3) for p in (1, 2, 3))
    trace.store(1, 0, a + b * c)
    trace.store(3, 1, c[0:2] - a[1:3])


KERNELS = [
    Kernel("test|joining|small", small, joining=Joining.SMALL),
    Kernel("test|joining|gathering", gathering, joining=Joining.GATHERS),
    Kernel("test|joining|alone", small),
]
SMALL, GATHERING, ALONE = range(3)


def as_rows(*operations):
    rows = np.zeros((len(operations), 1 + OPERANDS), dtype=np.int32)
    for row, (kernel, *offsets) in zip(rows, operations, strict=True):
        row[: 1 + len(offsets)] = [kernel, *offsets]
    return rows


def joined_rows(rows, positions):
    kernels = list(KERNELS)

    def number(kernel):
        kernels.append(kernel)
        return len(kernels) - 1

    return join(rows, np.array(positions), kernels, number), kernels


def result(rows, kernels):
    work = np.random.default_rng(1).normal(size=40)
    sweep(work, kernel_table(kernels), rows)
    return work


def test_joined_operations_do_what_they_did_one_by_one():
    rows = as_rows((SMALL, 10), (SMALL, 20), (GATHERING, 4, 10, 20), (SMALL, 4), (GATHERING, 4, 10, 20), (GATHERING, 30, 4, 20))
    found, kernels = joined_rows(rows, [0, 0, 0, 0, 0, 1])
    assert len(found) == 2
    np.testing.assert_allclose(result(found, kernels), result(rows, KERNELS), rtol=1e-14, atol=1e-14)


def test_only_neighbours_at_one_position_that_share_records_are_joined():
    apart = as_rows((SMALL, 10), (GATHERING, 4, 10, 20), (SMALL, 30), (ALONE, 4), (SMALL, 4), (SMALL, 4))
    found, _ = joined_rows(apart, [0, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(found, apart)


def test_records_never_overlap():
    rng = np.random.default_rng(0)
    space, offsets = Space(20), np.zeros(500, dtype=np.int64)
    records = [Record({"b": int(rng.integers(1, 90))}, a=int(rng.integers(1, 90))) for _ in range(450)]
    records += [Record({"b": 7}, a=int(rng.integers(300, 3000))) for _ in range(50)]
    rng.shuffle(records)
    for k, record in enumerate(records):
        space.place(record.size, offsets, k)
    taken = np.zeros(space.close(), dtype=int)
    taken[:20] += 1
    for offset, record in zip(offsets, records, strict=True):
        for name in ("a", "b"):
            where = record.slice(name)
            taken[offset + where.start : offset + where.stop] += 1
    assert taken.max() == 1


def test_cold_fields_lie_at_a_fixed_distance_unless_the_record_is_large():
    assert Record({"b": 2}, a=3).offset("b") == COLD
    assert Record({"b": 2}, a=3000).offset("b") == 3000
