"""L^T L and L^T D L: they rebuild H, every product and solve equals the dense one, and zeros are never touched."""

import numpy as np
import pytest

from linkwork.codegen.jit import INTERPRETED
from linkwork.errors import ArrayError
from linkwork.reduced import (
    Factors,
    cost,
    expanded,
    from_paper,
    inverse,
    ltdl,
    ltl,
    mul_L,
    mul_LT,
    packed_drivers,
    parent_array,
    solve,
    solve_L,
    solve_LT,
    solve_matrix,
    sparse_drivers,
    tile_drivers,
    tiles,
)
from linkwork.reduced.ways import Way, packing, way
from tests.oracles import branches

HUMANOID = expanded([-1, *(0 if i % 6 == 0 else i for i in range(24))], [6] + [1] * 24)
BUSHY = cost.TABLE_2["short side branches"].parents(40)  # runs of one, and deep: packed rows
TREES = [*branches.parent_arrays(150), HUMANOID]


def diagonal(D):
    return D[..., None] * np.eye(D.shape[-1])


def rebuilt(L, D=None):
    D = np.ones(L.shape[:-1]) if D is None else D
    return np.swapaxes(L, -1, -2) @ diagonal(D) @ L


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10 * max(1.0, np.abs(wanted).max(initial=0)))


@pytest.fixture(scope="module")
def problems():
    rng = np.random.default_rng(1)
    return [(parents, branches.matrix(parents, rng), rng) for parents in TREES]


def test_both_factorisations_rebuild_the_matrix_without_fill(problems):
    for parents, H, _ in problems:
        allowed = branches.related(parents)
        for L, D in (ltdl(parents, H), (ltl(parents, H), None)):
            close(rebuilt(L, D), H)
            assert not L[~allowed].any()
        assert (ltdl(parents, H).L.diagonal() == 1).all()


@pytest.mark.parametrize("parents", TREES[:40])
def test_every_way_gives_one_answer(parents):
    H = branches.matrix(parents, np.random.default_rng(4))[None]
    n = len(parents)
    parents = parent_array.parent_array(parents)
    steps, (by_rows, by_tiles, packed) = tiles.plan(parents), [(np.zeros((1, n, n)), np.empty((1, n))) for _ in range(3)]
    assert sparse_drivers.ltdl_by_rows(parents, H, *by_rows) == sparse_drivers.DONE
    flat = H.reshape(1, -1), by_tiles[0].reshape(1, -1), by_tiles[1]
    assert tile_drivers.ltdl_by_tiles(steps.flat, steps.pivots, *steps.program.single, *flat) == sparse_drivers.DONE
    assert packed_drivers.ltdl_packed(parents, *packing(parents), H, *packed) == sparse_drivers.DONE
    for one, other, third in zip(by_rows, by_tiles, packed, strict=True):
        close(one, other)
        close(one, third)
    x = np.random.default_rng(5).normal(size=(1, n))
    y = x.copy()
    assert packed_drivers.solve_packed(parents, *packing(parents), H, y, np.empty((1, n))) == sparse_drivers.DONE
    close(H[0] @ y[0], x[0])
    assert len(steps.program.operations) == tiles.operation_count(parents)


def test_products_and_solves_are_those_of_dense_matrices(problems):
    for parents, H, rng in problems:
        n = len(parents)
        for x in (rng.normal(size=n), rng.normal(size=(n, 3)), rng.normal(size=(n, 0))):
            for L in (ltl(parents, H), ltdl(parents, H).L):
                close(mul_L(parents, L, x), L @ x)
                close(mul_LT(parents, L, x), L.T @ x)
                close(solve_L(parents, L, x), np.linalg.solve(L, x))
                close(solve_LT(parents, L, x), np.linalg.solve(L.T, x))
            for factors in (ltdl(parents, H), ltl(parents, H)):
                close(H @ solve(parents, factors, x), x)
        for factors in (ltdl(parents, H), ltl(parents, H)):
            close(inverse(parents, factors) @ H, np.eye(n))
        x = rng.normal(size=n)
        close(H @ solve_matrix(parents, H, x), x)


def test_zeros_are_neither_read_nor_written(problems):
    for parents, H, rng in problems:
        allowed, x = branches.related(parents), rng.normal(size=len(parents))
        holes = np.where(allowed, H, np.nan)
        for factor in (ltl, lambda parents, H: ltdl(parents, H).L):
            L = factor(parents, holes)
            assert np.array_equal(L, factor(parents, H))
            with_holes = np.where(allowed, L, np.nan)
            for use in (mul_L, mul_LT, solve_L, solve_LT, solve):
                assert np.array_equal(use(parents, with_holes, x), use(parents, L, x))
            assert np.array_equal(inverse(parents, with_holes), inverse(parents, L))
        assert np.array_equal(solve_matrix(parents, holes, x), solve_matrix(parents, H, x))
        out = Factors(np.full(H.shape, 7.0), np.empty(len(parents)))
        ltdl(parents, holes, out)
        assert (out.L[~allowed] == 7.0).all()


@pytest.mark.parametrize("parents", [*TREES[2:40:3], HUMANOID])
def test_an_array_of_matrices_has_the_bits_of_each_alone(parents):
    rng = np.random.default_rng(3)
    n, k = len(parents), 7  # four side by side, and three more
    H = np.array([branches.matrix(parents, rng) for _ in range(k)])
    vectors, matrices = rng.normal(size=(k, n)), rng.normal(size=(k, n, 2))
    together, lower = ltdl(parents, H), ltl(parents, H)
    all_inverse = inverse(parents, together)
    for b in range(k):
        alone = ltdl(parents, H[b])
        assert np.array_equal(together.L[b], alone.L) and np.array_equal(together.D[b], alone.D)
        assert np.array_equal(lower[b], ltl(parents, H[b]))
        assert np.array_equal(all_inverse[b], inverse(parents, alone))
        assert np.array_equal(solve_matrix(parents, H, vectors)[b], solve_matrix(parents, H[b], vectors[b]))
        for use in (mul_L, mul_LT, solve_L, solve_LT):
            assert np.array_equal(use(parents, lower, vectors)[b], use(parents, lower[b], vectors[b]))
            assert np.array_equal(use(parents, lower, matrices)[b], use(parents, lower[b], matrices[b]))
        for x in (vectors, matrices):
            assert np.array_equal(solve(parents, together, x)[b], solve(parents, alone, x[b]))
        column = solve(parents, alone, matrices[b])[:, 1]
        assert np.array_equal(column, solve(parents, alone, matrices[b][:, 1]))


def test_results_go_where_they_are_told():
    rng = np.random.default_rng(5)
    parents, H = HUMANOID, branches.matrix(HUMANOID, rng)
    wanted, x = ltdl(parents, H), rng.normal(size=30)
    L, D = np.zeros((30, 30)), np.empty(30)
    found = ltdl(parents, H, (L, D))
    assert found.L is L and found.D is D and np.array_equal(L, wanted.L)
    in_place = H.copy()
    assert ltl(parents, in_place, in_place) is in_place
    assert np.array_equal(np.tril(in_place), ltl(parents, H))
    assert np.array_equal(np.triu(in_place, 1), np.triu(H, 1))  # the upper triangle stays
    for use in (mul_L, mul_LT, solve_L, solve_LT):
        y = x.copy()
        assert use(parents, L, y, y) is y
        assert np.array_equal(y, use(parents, L, x))
    y = x.copy()
    assert solve(parents, wanted, y, out=y) is y and np.array_equal(y, solve(parents, wanted, x))
    y = x.copy()
    assert solve_matrix(parents, H, y, y) is y and np.array_equal(y, solve_matrix(parents, H, x))
    into = np.empty((30, 30))
    assert inverse(parents, wanted, into) is into and np.array_equal(into, into.T)


def test_ltl_is_the_cholesky_factor_of_the_reversed_matrix(problems):
    for parents, H, _ in problems:
        G = np.linalg.cholesky(H[::-1, ::-1])
        close(ltl(parents, H).T, G[::-1, ::-1])  # section 3: L^T = R G R


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_every_layout_is_one_to_the_drivers():
    rng = np.random.default_rng(11)
    for parents in (HUMANOID, np.array([-1, 0, 0, 1, 1, 2, 2]), BUSHY):
        H, x = branches.matrix(parents, rng) + np.eye(len(parents)), rng.normal(size=len(parents))
        frozen, fixed = H.copy(), parents.copy()
        frozen.flags.writeable = fixed.flags.writeable = False
        many = np.repeat(H[None], 8, axis=0)
        for given in (H, frozen, np.asfortranarray(H), H.astype(np.float32), H[::-1, ::-1][::-1, ::-1], many, many[::2]):
            for order in (parents, fixed, parents.tolist(), parents.astype(np.int32)):
                factors = ltdl(order, given)
                b = np.broadcast_to(x, factors.D.shape)
                np.testing.assert_allclose(
                    solve(order, factors, b), np.broadcast_to(np.linalg.solve(H, x), b.shape), rtol=1e-3, atol=1e-3
                )
                inverse(order, factors)
                solve_matrix(order, given, b)
                ltl(order, given)
    for driver in (sparse_drivers.ltdl_by_rows, tile_drivers.ltdl_by_tiles, tile_drivers.ltdl_in_lanes, sparse_drivers.solve,
                   sparse_drivers.inverse, sparse_drivers.scale_rows, tile_drivers.solve_by_tiles, tile_drivers.solve_in_lanes,
                   packed_drivers.ltdl_packed, packed_drivers.solve_packed):  # fmt: skip
        assert len(driver.signatures) == 1


def test_a_tree_may_stand_for_its_parents():
    class Tree:
        expanded_parents = (-1, 0)

    L, D = ltdl(Tree(), [[3.0, 1.0], [1.0, 2.0]])
    np.testing.assert_array_equal(D, [2.5, 2.0])


def test_nothing_and_one():
    assert ltdl([], np.zeros((0, 0))).L.shape == (0, 0)
    assert ltdl([-1], np.zeros((0, 1, 1))).D.shape == (0, 1)
    assert ltl([-1], [[4.0]]) == [[2.0]]


@pytest.mark.parametrize("parents", [HUMANOID, branches.star(5), np.array([-1, 0, 0, 1, 1, 2, 2]), BUSHY])
def test_a_matrix_that_is_not_positive_definite_is_named(parents):
    rng = np.random.default_rng(6)
    good = branches.matrix(parents, rng)
    bad = good.copy()
    bad[1, 1] = -3.0
    for factor in (ltdl, ltl, lambda parents, H: solve_matrix(parents, H, np.ones(H.shape[:-1]))):
        with pytest.raises(ArrayError, match=r"H is not positive definite: the pivot of row 1 is -"):
            factor(parents, bad)
        for which in (2, 5):  # among those side by side, and behind them
            many = np.array([good] * 6)
            many[which] = bad
            with pytest.raises(ArrayError, match=rf"H\[{which}\] is not positive definite: the pivot of row 1"):
                factor(parents, many)
    good[0, 0] = np.nan
    with pytest.raises(ArrayError, match="the pivot of row 0 is nan"):
        ltdl(parents, good)


def test_what_breaks_the_promised_sparsity_is_named_on_request():
    parents = from_paper((0, 1, 1))
    H = np.array([[4.0, 1.0, 2.0], [1.0, 2.0, 0.5], [2.0, 0.5, 5.0]])
    ltdl(parents, H)  # never looks
    with pytest.raises(ArrayError, match=r"H: entry \(1, 2\) is 0.5, and neither row is an ancestor of the other; give"):
        ltdl(parents, H, check=True)
    with pytest.raises(ArrayError, match=r"H\[1\]: entry \(1, 2\) is 0.5"):
        ltl(parents, np.array([np.eye(3), H]), check=True)
    with pytest.raises(ArrayError, match=r"entries \(0, 1\) and \(1, 0\) differ by 1; give a symmetric matrix"):
        ltdl(branches.chain(2), [[4.0, 1.0], [2.0, 5.0]], check=True)
    ltdl(branches.chain(3), H, check=True)


@pytest.mark.parametrize(
    ("parents", "sentence"),
    [
        ((0, 0), r"entry 0 is 0; number parents before their children, so that it lies from -1 \(no parent\) to -1"),
        ((-1, 2, 0), "entry 1 is 2; number parents"),
        ((-1, -2), "entry 1 is -2"),
        ((-1.0, 0.0), "float64 numbers; give integers"),
        (((-1, 0), (-1, 0)), r"shape \(2, 2\); give one number for each row"),
    ],
)
def test_parents_that_are_no_regular_numbering_are_named(parents, sentence):
    with pytest.raises(ArrayError, match=sentence):
        ltdl(parents, np.eye(2))


def test_shapes_that_do_not_fit_are_named():
    parents, L = branches.chain(3), np.eye(3)
    with pytest.raises(ArrayError, match=r"H: shape \(2, 2\) beside 3 parents; give \(3, 3\)"):
        ltdl(parents, np.eye(2))
    with pytest.raises(ArrayError, match=r"x: shape \(2,\) beside L of shape \(3, 3\)"):
        mul_L(parents, L, [1.0, 2.0])
    with pytest.raises(ArrayError, match=r"give \(k, n\) or \(k, n, m\), n = 3"):
        mul_L(parents, np.array([L, L]), [1.0, 2.0, 3.0])
    with pytest.raises(ArrayError, match=r"L: cannot be written into; give a contiguous array of float64 of shape \(3, 3\)"):
        ltl(parents, L, np.eye(3, dtype=np.float32))
    with pytest.raises(ArrayError, match=r"D: shape \(2,\); give \(3,\)"):
        ltdl(parents, L, (L.copy(), np.empty(2)))
    with pytest.raises(ArrayError, match=r"b: shape \(3, 1\); give \(3,\)"):
        solve_matrix(parents, L, np.ones((3, 1)))
    with pytest.raises(ArrayError, match="factors: 3 arrays; give"):
        solve(parents, (L, L, L), np.ones(3))
    with pytest.raises(ArrayError, match=r"D: shape \(2,\); give \(3,\)"):
        solve(parents, (L, np.ones(2)), np.ones(3))
    with pytest.raises(ArrayError, match="freedoms"):
        expanded(parents, [1, 1])


def test_every_way_solves_deep_trees_of_many_runs():
    """Several runs above a run: panels, tiles and substitution beyond the nearest."""
    rng = np.random.default_rng(12)
    trees = [branches.chain(40), expanded([-1, 0, 1, 1, 3, 3], [6, 5, 9, 13, 2, 20])]
    for parents in trees:
        H, x = branches.matrix(parents, rng), rng.normal(size=len(parents))
        H += np.eye(len(parents))
        assert way(parents) is Way.TILES
        close(rebuilt(*ltdl(parents, H)), H)
        close(H @ solve_matrix(parents, H, x), x)
        close(H @ solve(parents, ltdl(parents, H), x), x)


@pytest.mark.parametrize(
    "parents",
    [BUSHY, branches.chain(200), (np.arange(1023) + 1) // 2 - 1, branches.random_tree(np.random.default_rng(3), 600, 20)],
    ids=["bushy", "chain", "balanced", "forest"],
)
def test_packed_rows_factor_and_solve_what_is_large(parents):
    rng = np.random.default_rng(13)
    n = len(parents)
    assert way(parent_array.parent_array(parents)) is Way.PACKED
    pattern = branches.related(parents)
    L = np.where(pattern, rng.normal(size=(n, n)) * 0.5 / np.sqrt(n), 0.0) + np.diag(rng.uniform(1, 2, n))
    H, x = L.T @ L, rng.normal(size=n)
    out = np.full((2, n, n), 7.0), np.empty((2, n))
    many = np.where(pattern, [H, 4 * H], np.nan)  # what the parent array leaves out is not looked at
    ltdl(parents, many, out)
    close(np.where(pattern, out[0][0], 0.0).T @ np.diag(out[1][0]) @ np.where(pattern, out[0][0], 0.0), H)
    assert (out[0][:, ~pattern] == 7.0).all()
    assert np.array_equal(out[1][1], 4 * out[1][0])
    close(H @ solve_matrix(parents, H, x), x)
    close(H @ solve(parents, ltl(parents, H), x), x)
    in_place = H.copy()
    assert np.array_equal(np.tril(ltdl(parents, in_place, (in_place, None)).L), np.where(pattern, out[0][0], 0.0))


def numbers_touched(parents, monkeypatch):
    """Numbers of H that a factorisation in packed rows reads, and of L that it writes: the drivers as Python, on matrices
    that count."""

    class Row:
        def __init__(self, seen, i):
            self.seen, self.i = seen, i

        def __getitem__(self, j):
            self.seen.add((self.i, j))
            return 4.0 if j == self.i else 0.0

        def __setitem__(self, j, value):
            self.seen.add((self.i, j))

    class Matrix:
        def __init__(self):
            self.seen = set()

        def __getitem__(self, i):
            return Row(self.seen, i)

    class Matrices(list):
        shape = (1,)

    plain = {name: getattr(f, "py_func", f) for name, f in vars(packed_drivers).items() if callable(f)}
    for name in ("_carry", "_add_rows", "eliminate_packed"):
        monkeypatch.setattr(packed_drivers, name, plain[name])
    H, L = Matrix(), Matrix()
    given = Matrices([H]), Matrices([L]), np.empty((1, len(parents)))
    assert plain["ltdl_packed"](parents, *packing(parents), *given) == sparse_drivers.DONE
    return H.seen, L.seen


def test_the_work_follows_the_numbers_and_not_the_rows(monkeypatch):
    """featherstone05 section 4: of a balanced tree of n rows n log n numbers are read, and as many are written."""
    for rows in (63, 255):
        parents = (np.arange(rows) + 1) // 2 - 1
        wanted = {(int(i), int(j)) for i, j in np.argwhere(branches.related(parents))}
        read, written = numbers_touched(parents, monkeypatch)
        assert read == written == wanted


def test_figure_2_is_expanded_as_printed():
    found = expanded(from_paper((0, 1, 1, 2, 2, 3, 3)), (2, 2, 1, 1, 1, 3, 1))
    assert tuple(found + 1) == (0, 1, 2, 3, 2, 4, 4, 5, 8, 9, 5)


def test_a_joint_without_freedoms_hands_on_its_parent():
    assert expanded([-1, 0, 1, 1], [1, 0, 1, 2]).tolist() == [-1, 0, 0, 2]
    assert expanded([-1, 0], [0, 1]).tolist() == [-1]
