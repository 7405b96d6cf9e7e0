"""The driver that finds the order of elimination, against the same elimination by numpy."""

import numpy as np
import pytest

from linkwork.model.rank import eliminated
from linkwork.model.rank_elimination import least_share
from tests.oracles import elimination


def random_graph(rng, bodies, constraints):
    """Bodies of one to six velocities, constraints of one to four rows on one to three of them; some repeat what others say, and
    some may go with a body."""
    dims = rng.integers(1, 7, bodies).tolist()
    ends, blocks = [], []
    seats = [[] for _ in range(bodies)]
    for _ in range(constraints):
        if ends and rng.random() < 0.2:
            ends.append(ends[-1])
            blocks.append([rng.normal(size=(2, block.shape[0])) @ block for block in blocks[-1]])
            continue
        chosen = rng.choice(bodies, size=min(bodies, rng.integers(1, 4)), replace=False).tolist()
        rows = int(rng.integers(1, 5))
        ends.append(chosen)
        blocks.append([rng.normal(size=(rows, dims[b])) for b in chosen])
        if len(chosen) < 3 and rng.random() < 0.5:
            for b in chosen:
                if rows <= dims[b]:
                    seats[b].append(len(ends) - 1)
    own = [[k for k, together in enumerate(ends) if body in together] for body in range(bodies)]
    sequence = rng.permutation(bodies).tolist()
    many = [len(together) > 2 for together in ends]
    rotors = [(k, 0) for k in range(constraints) if rng.random() < 0.1]
    rows = [several[0].shape[0] for several in blocks]
    return sequence, [own[b] for b in sequence], seats, ends, blocks, many, rotors, [*dims, *rows]


@pytest.mark.parametrize("seed", range(40))
def test_order_and_redundant_rows_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(1, 15))
    graph = random_graph(rng, bodies, int(rng.integers(1, 2 * bodies + 1)))
    assert eliminated(*graph) == elimination.eliminated(*graph)


def test_a_net_that_fills_in_finds_the_room_it_needs():
    """Every body with every other: far more blocks a vertex than there is room for at first."""
    n = 16
    ends = [[a, b] for a in range(n) for b in range(a)]
    rng = np.random.default_rng(0)
    blocks = [[rng.normal(size=(1, 3)), rng.normal(size=(1, 3))] for _ in ends]
    own = [[k for k, together in enumerate(ends) if body in together] for body in range(n)]
    order, redundant = eliminated(range(n), own, [[]] * n, ends, blocks, [False] * len(ends), [], [3] * n + [1] * len(ends))
    assert sorted(order) == list(range(n + len(ends)))
    assert sum(redundant.values()) == len(ends) - 3 * n


def test_least_share_is_the_smallest_eigenvalue_of_the_pencil():
    rng = np.random.default_rng(1)
    for n in range(1, 7):
        a, b = (x @ x.T for x in rng.normal(size=(2, n, n)))
        assert least_share(a, a + b) == pytest.approx(np.linalg.eigvals(np.linalg.solve(a + b, a)).real.min(), rel=1e-6)
