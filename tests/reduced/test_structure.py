"""The shape of matrices with branches: regular numberings of any tree, patterns, the nested form and its envelope."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import ArrayError
from tests.oracles import branches

TREES = branches.parent_arrays(60, seed=21)


def shuffled(parents, rng):
    """The same tree in any numbering, and the new number of each old one."""
    name = rng.permutation(len(parents))
    found = np.empty(len(parents), dtype=int)
    found[name] = [-1 if p < 0 else name[p] for p in parents]
    return found


@pytest.mark.parametrize("parents", TREES)
def test_any_tree_is_numbered_regularly(parents):
    rng = np.random.default_rng(1)
    given = shuffled(parents, rng)
    order, regular = lw.reduced.number_regularly(given)
    assert sorted(order.tolist()) == list(range(len(given)))
    assert (regular < np.arange(len(given))).all()
    assert [(-1 if p < 0 else order[p]) for p in regular] == given[order].tolist()
    assert sorted(lw.reduced.cost.depths(regular)) == sorted(lw.reduced.cost.depths(parents))
    again = lw.reduced.number_regularly(regular)
    assert again.order.tolist() == list(range(len(given))) and np.array_equal(again.parents, regular)


@pytest.mark.parametrize("parents", TREES[::5])
def test_a_matrix_in_any_numbering_is_factored_in_the_regular_one(parents):
    rng = np.random.default_rng(2)
    name = rng.permutation(len(parents))
    given = np.empty(len(parents), dtype=int)
    given[name] = [-1 if p < 0 else name[p] for p in parents]
    H = np.empty((len(parents),) * 2)
    H[np.ix_(name, name)] = branches.matrix(parents, rng)
    order, regular = lw.reduced.number_regularly(given)
    b, x = rng.normal(size=len(parents)), np.empty(len(parents))
    x[order] = lw.reduced.solve_matrix(regular, H[np.ix_(order, order)], b[order], check=True)
    np.testing.assert_allclose(H @ x, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("parents", "sentence"),
    [
        ([0], "parents: row 0 is its own parent; give one of them -1"),
        ([1, 0, -1], "parents: rows 0, 1 hang on each other in a circle; give one of them -1, or a parent outside the circle"),
        ([*((i + 1) % 9 for i in range(9)), 0], "rows 0, 1, 2, 3, 4, 5 and 3 more hang on each other"),
        ([-1, 7], "parents: entry 1 is 7; give -1 .no parent. or a row from 0 to 1"),
        ([-3], "entry 0 is -3"),
        ([0.5], "float64 numbers; give integers"),
        ([[0]], r"shape \(1, 1\); give one number for each row"),
        ([[0], [1, 2]], "lists of different lengths; give one number for each row"),
        ("tree", r"parents: an array of shape \(\)"),
    ],
)
def test_what_is_no_tree_is_named(parents, sentence):
    with pytest.raises(ArrayError, match=sentence):
        lw.reduced.number_regularly(parents)


@pytest.mark.parametrize("parents", TREES)
def test_the_nested_form_has_no_zero_inside_its_envelope(parents):
    pattern = lw.reduced.pattern(parents)
    assert np.array_equal(pattern, branches.related(parents) | branches.related(parents).T)
    order, blocks = lw.reduced.nested_form(parents)
    nested = pattern[np.ix_(order, order)]
    first = lw.reduced.envelope(nested)
    for place, begin in enumerate(first):
        assert nested[place, begin : place + 1].all() and not nested[place, :begin].any()
    assert int((np.arange(len(parents)) - first).sum()) == lw.reduced.cost.D1(parents)
    for row, (begin, behind) in enumerate(blocks):  # a block: a row behind its descendants, and full
        assert order[behind - 1] == row
        assert set(order[begin:behind]) == {i for i in range(len(parents)) if branches.related(parents)[i, row]}
        assert nested[behind - 1, begin:behind].all()


def test_only_square_patterns_have_an_envelope():
    with pytest.raises(ArrayError, match=r"filled: shape \(3,\); give the pattern of a matrix"):
        lw.reduced.envelope([1, 0, 1])
    assert lw.reduced.envelope(np.zeros((0, 0))).shape == (0,)
