"""baraff96: the appendix, its errata, the matrices taken from models, and a quick run of everything."""

import numpy as np
import pytest

from linkwork.kernels.vocabulary import BodyKernel, RowMode
from papers.baraff96 import auxiliary, errata, figures, inequalities, multipliers, sizes, structures, workless
from papers.baraff96.appendix import accelerations, factor, hang, solve
from papers.baraff96.forests import dense, nodes_of, random_forest, whole
from papers.baraff96.matrices import System
from papers.baraff96.timing import slope

WORLDS = {
    "chain": lambda: structures.chain(8),
    "star": lambda: structures.star(8),
    "tree": lambda: structures.tree(15),
    "planar": lambda: structures.planar_tree(9),
    "mixed": structures.ball_on_a_planar_body,
}


@pytest.fixture(params=WORLDS)
def system(request):
    return System(WORLDS[request.param]())


@pytest.fixture(params=range(10))
def forest(request):
    """nodes, forward, M, J, place, rng"""
    rng = np.random.default_rng(request.param)
    while True:
        nodes, forward = random_forest(rng)
        if any(n.isconstraint for n in nodes):
            return nodes, forward, *dense(nodes), rng


def test_the_appendix_as_printed_returns_minus_lambda(forest):
    nodes, forward, M, J, place, rng = forest
    b = rng.normal(size=len(J))
    expected = np.linalg.solve(J @ np.linalg.solve(M, J.T), b)
    factor(forward)
    given = {n.i: b[place[n]] for n in nodes if n.isconstraint}
    for as_printed, sign in ((True, -1.0), (False, 1.0)):
        found = solve(forward, given, as_printed=as_printed)
        for n in nodes:
            if n.isconstraint:
                np.testing.assert_allclose(found[n.i], sign * expected[place[n]], atol=1e-7 * np.abs(expected).max())


def test_accelerations_come_out_of_one_solve(forest):
    nodes, forward, M, J, place, rng = forest
    F, c = rng.normal(size=len(M)), rng.normal(size=len(J))
    x = np.linalg.solve(whole(M, J), np.concatenate([F, -c]))
    factor(forward)
    forces = {n.i: F[place[n]] for n in nodes if not n.isconstraint}
    biases = {n.i: c[place[n]] for n in nodes if n.isconstraint}
    moved, multiplied = accelerations(forward, forces, biases)
    for n in nodes:
        found, expected = (multiplied[n.i], -x[len(M) :]) if n.isconstraint else (moved[n.i], x[: len(M)])
        np.testing.assert_allclose(found, expected[place[n]], atol=1e-7 * np.abs(x).max())


def test_a_model_gives_the_matrices_of_the_dense_solver(system):
    import linkwork as lw

    sim = lw.Simulation(system.sim.world, solver="dense")
    p = sim.schedules
    sim.integrator.run(sim.work, p.body(BodyKernel.UPDATE_POSE, BodyKernel.KICK), p.up(RowMode.VELOCITY))
    np.testing.assert_array_equal(system.H.toarray(), p.matrix(sim.work))
    M, J = system.M.toarray(), system.J.toarray()
    np.testing.assert_allclose(system.A.toarray(), J @ np.linalg.solve(M, J.T), rtol=1e-9, atol=1e-9)


def test_linkwork_finds_the_multipliers_again_and_again(system):
    A = system.A.toarray()
    for seed in (0, 1):
        b = np.random.default_rng(seed).normal(size=system.rows)
        np.testing.assert_allclose(A @ system.multipliers(b), b, atol=1e-10)


@pytest.mark.parametrize("name", ["chain", "star"])
def test_all_ways_agree(name):
    rows = multipliers.compare(name, 12, seconds=0.0)
    assert {row["way"] for row in rows} >= {"A, dense Cholesky", "H, SuperLU", "H, linkwork"}
    assert ("A, banded Cholesky" in {row["way"] for row in rows}) == (name == "chain")
    assert max(row["residual"] for row in rows) < 1e-10


def test_A_of_a_star_is_dense_and_H_fills_in_only_in_the_wrong_order():
    system = System(structures.star(6))
    assert system.A.nnz == system.rows**2
    H = figures.blocks_of(system.H.toarray(), [*system.body_sizes, *system.row_sizes])
    ordered = H[np.ix_(system.order, system.order)]
    assert figures.fill_of(H).sum() > H.sum()
    assert figures.fill_of(ordered).sum() == ordered.sum()
    stored = np.tril(ordered).sum()
    assert stored == system.elimination.stored


def test_the_printed_errors_are_errors():
    table = {e.place: e for e in errata.table(forests=10)}
    harmless = table.pop("eq. (8) has -J, (9) and App. A have +J")
    assert max(harmless.error_printed, harmless.error_right) < 1e-12
    for erratum in table.values():
        if not isinstance(erratum.error_right, str):
            assert erratum.error_right < 1e-10
            assert isinstance(erratum.error_printed, str) or erratum.error_printed > 0.5
    assert table["7.3, `if i != n`"].error_printed == "2 of 3 roots ask for a parent"


def test_footnote_8_has_counterexamples():
    leaf, puck = errata.footnote_8()
    for found in (leaf, puck):
        assert found["rank"] == found["rows"]
        assert found["condition"] < 1e7
        assert np.abs(found["pivot"]).min() < 1e-12
        assert np.max(found["pivot_reordered"]) < -1.0
        assert found["error_of_linkwork"] < 1e-12


def test_the_order_matters_near_lost_rank():
    (row,) = errata.near_footnote_8(scales=(1e-4,))
    assert row["condition of A"] < 100
    assert row["above"] < 1e-12 < 1e-5 < row["below"]


def test_explicit_inverses_lose_digits_and_so_does_not_pivoting():
    (row,) = errata.accuracy(links=30, ratios=(1e6,))
    assert 100 * row["same order, pivoting (SuperLU)"] < row["same order, no pivoting (SuperLU)"]
    assert row["dense LU (LAPACK)"] < row["LDL^T of blocks (linkwork)"] < row["explicit inverse (App. A)"]


@pytest.fixture(scope="module")
def paper_sizes():
    return sizes.measure(seconds=0.01)


def test_the_papers_sizes(paper_sizes):
    for key, found in paper_sizes.items():
        assert f"{found['multipliers']} multipliers" in sizes.PAPER[key]["what"]
        assert found["arithmetic"]["factor"] > found["arithmetic"]["solve"] > 0
        assert found["appendix"]["ratio"] > found["arithmetic"]["factor_over_solve"]
        assert found["seconds"]["elimination"] > 0


@pytest.fixture(scope="module")
def section_9():
    return auxiliary.measure(seconds=0.0)


def test_section_9_with_auxiliary_constraints(section_9):
    for key, found in section_9.items():
        primary, rest = (*map(int, key.split("+")), 0)[:2]
        assert (found["primary"], found["auxiliary"]) == (primary, rest)
        assert (found["seconds"]["W"] > 0) == (rest > 0)
        for tolerance, gradients in found["cg"].items():
            assert gradients["residual"] < 1.1 * float(tolerance) and gradients["iterations"] > 10


@pytest.mark.parametrize("lift", [False, True])
def test_three_contacts_are_inequalities(lift):
    """a >= 0, mu >= 0, a mu = 0 by trying all subsets, and the same forces by contact."""
    mu, a, count, held = inequalities.dense(lift)
    assert count == 1 and (a * mu < 1e-9).all()
    assert (held.min() < 0) == lift and (a.max() > 1) == lift  # rows that hold would pull where the contact lets go
    for solver in inequalities.SOLVERS:
        np.testing.assert_allclose(inequalities.forces(solver, lift), mu, atol=1e-6 * mu.max())


def test_workless_rows_need_the_way_up_alone():
    for key, found in workless.measure().items():
        assert found["rows"] == int(key.split("+")[1])
        assert found["apart"] < 1e-13 and found["way up"] < found["whole solves"]


def test_a_chain_rooted_anywhere_but_at_its_world_joint_cannot_be_factored():
    bodies, constraints = nodes_of(System(structures.chain(3)))
    factor(hang(constraints[0]))
    with pytest.raises(np.linalg.LinAlgError):
        factor(hang(bodies[1]))


def test_slope():
    n = np.array([10, 100, 1000])
    assert slope(n, 3.0 * n**2.0) == pytest.approx(2.0)
    assert slope(n, 3.0 * n**2.0, above=1000) is None


def test_a_result_is_told_and_drawn(tmp_path, paper_sizes, section_9):
    import json

    from papers.baraff96.__main__ import write
    from papers.command import Progress

    rows = [r for name in ("chain", "star") for r in multipliers.compare(name, 5, seconds=0.0)]
    growing = [{"solver": "tree", "structure": "chain", "n": n, "seconds": 1e-7 * n} for n in (10, 100, 1000)]
    result = {
        "quick": True,
        "machine": {"cpu": "none", "cores": 1, "memory_gb": 1, "system": "none", "python": "3", "versions": {},
                    "date": "today", "load": 0.0},
        "errata": [vars(e) for e in errata.table(forests=3)],
        "footnote_8": errata.footnote_8(),
        "near_footnote_8": errata.near_footnote_8(scales=(1.0, 1e-4)),
        "accuracy": errata.accuracy(links=5, ratios=(1.0, 100.0)),
        "sizes": paper_sizes,
        "auxiliary": section_9,
        "workless": workless.measure(),
        "growth": {"rows": growing, "slopes": [{"solver": "tree", "structure": "chain", "from": 100, "slope": 1.0}]},
        "multipliers": {"rows": rows, "slopes": multipliers.slopes(rows)},
    }  # fmt: skip
    write(json.loads(json.dumps(result)), tmp_path, Progress())
    assert "linkwork" in (tmp_path / "results.md").read_text()
    assert {p.name for p in tmp_path.glob("*.png")} == {
        "sparsity.png", "multipliers.png", "sizes.png", "auxiliary.png", "growth.png", "accuracy.png"
    }  # fmt: skip
