"""Counts of operations: the formulae of featherstone05 against counting what the printed algorithms do."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from linkwork.cli.topology import joint_tree
from linkwork.codegen import store
from linkwork.errors import ArrayError, LinkworkError, UnknownNameError
from linkwork.reduced import compile, cost, packed_drivers, sparse_drivers
from linkwork.reduced.cost import Operations, Rate, prediction, timers
from linkwork.reduced.cost.mechanisms import mechanism
from linkwork.reduced.parent_array import parent_array
from linkwork.reduced.ways import Way, packing, way
from tests.oracles import branches

TREES = branches.parent_arrays(60, seed=8)
HUMANOID, FREEDOMS = [-1, *(0 if i % 6 == 0 else i for i in range(24))], [6] + [1] * 24
CHAIN = list(range(-1, 24))  # a floating base and 24 hinges in a row


def as_operations(found):
    return Operations(**found)


@pytest.mark.parametrize("parents", TREES)
def test_table_1_counts_what_the_printed_algorithms_do(parents):
    rng = np.random.default_rng(2)
    H, x, table = branches.matrix(parents, rng), rng.normal(size=len(parents)), cost.table_1(parents)
    L, found = branches.counted(lambda H: branches.ltl(parents, H), H)
    assert as_operations(found) == table["LTL"]["factorize"]
    L, found = branches.counted(lambda H: branches.ltdl(parents, H), H)
    assert as_operations(found) == table["LTDL"]["factorize"]
    for name, unit in (("LTL", False), ("LTDL", True)):
        for transposed in (False, True):
            _, found = branches.counted(lambda L, x, u=unit, t=transposed: branches.product(parents, L, x, u, t), L, x)
            assert as_operations(found) == table[name]["L x"]
            _, found = branches.counted(lambda L, x, u=unit, t=transposed: branches.substituted(parents, L, x, u, t), L, x)
            assert as_operations(found) == table[name]["L^-1 x"]
    both = 2 * table["LTL"]["L^-1 x"]
    assert both == table["LTL"]["back-substitute"]
    with_D = 2 * table["LTDL"]["L^-1 x"] + Operations(div=len(parents))
    assert with_D == table["LTDL"]["back-substitute"]


class CountingArrays:
    """numpy for drivers whose numbers count: what they make holds objects."""

    inf, int64 = np.inf, np.int64

    @staticmethod
    def empty(shape, kind=object):
        return np.empty(shape, kind)

    @staticmethod
    def zeros(shape):
        return np.full(shape, 0.0, dtype=object)


@pytest.mark.parametrize("parents", TREES[::3])
def test_own_counts_are_what_the_drivers_do(parents, monkeypatch):
    """Row by row and in packed rows; in tiles, the operations of the plan times those of each kernel."""
    H, n = branches.matrix(parents, np.random.default_rng(2)), len(parents)
    parents = parent_array(parents)
    plain = {
        name: getattr(f, "py_func", f) for name, f in {**vars(sparse_drivers), **vars(packed_drivers)}.items() if callable(f)
    }
    for name in ("_carry", "_add_rows", "eliminate_packed"):
        monkeypatch.setattr(packed_drivers, name, plain[name])
    for module in (sparse_drivers, packed_drivers):
        monkeypatch.setattr(module, "np", CountingArrays)
    for driver, places in ((plain["ltdl_by_rows"], ()), (plain["ltdl_packed"], packing(parents))):

        def run(H, driver=driver, places=places):
            L, D = np.zeros((1, n, n), object), np.empty((1, n), object)
            assert driver(parents, *places, H[None], L, D) == sparse_drivers.DONE
            return D

        _, found = branches.counted(run, H)
        assert as_operations(found) == cost.ltdl(parents) + Operations(a=n + cost.D1(parents))
    if way(parents) is not Way.TILES:
        assert cost.own_ltdl(parents) == cost.ltdl(parents) + Operations(a=n + cost.D1(parents))


def test_own_counts_of_tiles_are_the_papers_and_one_reciprocal_a_row():
    own, printed = cost.own_ltdl(HUMANOID, FREEDOMS), cost.ltdl(HUMANOID, FREEDOMS)
    assert own == Operations(m=printed.m + printed.div, a=printed.a, div=30)
    own, printed = cost.own_ltdl(CHAIN, FREEDOMS), cost.ltdl(CHAIN, FREEDOMS)  # where tiles meet D is multiplied in once more
    assert own.a == printed.a and own.div == 30 and own.m > printed.multiplications


def test_own_stages_are_counted_for_worlds_and_parents():
    by_parents = cost.own_stages(HUMANOID, FREEDOMS)
    tree = compile(mechanism(HUMANOID, FREEDOMS))
    assert cost.own_stages(tree) == by_parents
    assert set(by_parents) == {"aba", "crba", "rnea", "ltdl", "back_substitution"}
    printed = cost.back_substitution(HUMANOID, FREEDOMS)
    assert (by_parents["back_substitution"].multiplications, by_parents["back_substitution"].a) == (468, printed.a)
    chain = cost.own_stages(CHAIN, FREEDOMS)
    assert chain["aba"] == by_parents["aba"] and chain["rnea"] == by_parents["rnea"]  # a call for each link, branches or none


@pytest.mark.parametrize("parents", TREES)
def test_zeros_and_density_are_those_of_the_matrix(parents):
    pattern = branches.related(parents) | branches.related(parents).T
    assert cost.nonzeros(parents) == pattern.sum()
    assert cost.zeros(parents) == (~pattern).sum()
    assert cost.density(parents) == pytest.approx(pattern.mean())
    assert cost.depths(parents).tolist() == branches.related(parents).sum(axis=1).tolist()


@pytest.mark.parametrize("parents", TREES)
def test_the_quantities_lie_within_their_bounds(parents):
    n, deepest = len(parents), int(cost.depths(parents).max())
    for limit in (cost.bounds(n), cost.bounds(n, deepest)):
        assert 0 <= cost.D0(parents) <= limit.D0
        assert 0 <= cost.D1(parents) <= limit.D1
        assert 0 <= cost.D2(parents) <= limit.D2
    assert cost.bounds(n) == (n - 1, cost.D1(cost.chain(n)), cost.D2(cost.chain(n)))


@pytest.mark.parametrize("parents", TREES)
def test_the_steps_of_the_crba_are_counted(parents):
    rng = np.random.default_rng(9)
    rigid, forces = branches.crba_steps(parents)
    some = cost.dh_nodes(parents) & (rng.random(len(parents)) < 0.5)
    for dh in (None, some, some.astype(int).tolist()):
        s = cost.steps(parents, dh=dh)
        chosen = cost.dh_nodes(parents) if dh is None else some
        assert (s.D0a, s.D1a) == (sum(c for i, c in rigid.items() if chosen[i]), sum(c for i, c in forces.items() if chosen[i]))
        assert (s.D0b, s.D1b) == (
            sum(c for i, c in rigid.items() if not chosen[i]),
            sum(c for i, c in forces.items() if not chosen[i]),
        )
        assert (s.D0a + s.D0b, s.D1a + s.D1b) == (cost.D0(parents), cost.D1(parents))  # section 5


@pytest.mark.parametrize("parents", TREES[::4])
def test_the_crba_costs_what_its_steps_cost(parents):
    """Eqs. 14, 18 and 20 from steps counted one by one."""
    rigid, forces = branches.crba_steps(parents)
    rx, vx = Operations(m=5, a=3), Operations(m=2, a=7)
    alike = sum(rigid.values()) * (Operations(a=10) + rx) + sum(forces.values()) * vx
    assert cost.crba_alike(parents, rx, vx) == alike
    dh, total = cost.dh_nodes(parents), Operations()
    for i, times in rigid.items():
        total += times * (Operations(m=32, a=43) if dh[i] else Operations(m=47, a=58))
    for i, times in forces.items():
        total += times * (Operations(m=20, a=12) if dh[i] else Operations(m=24, a=18))
    assert cost.crba(parents) == total


@pytest.mark.parametrize("parents", [t for t in TREES if 2 <= len(t) <= 9])
def test_no_choice_of_dh_nodes_is_better(parents):
    """All choices of one child for each node that has any."""
    children = {p: np.flatnonzero(parents == p) for p in set(parents.tolist())}
    choices = [np.zeros(len(parents), dtype=bool)]
    for own in children.values():
        choices = [c | (np.arange(len(parents)) == i) for c in choices for i in own]
    best = cost.steps(parents).D1a
    assert best == max(cost.steps(parents, dh=c).D1a for c in choices)
    assert cost.crba(parents).total() == min(cost.crba(parents, dh=c).total() for c in choices)
    assert (~cost.dh_nodes(parents)).sum() == cost.non_dh(parents) == sum(len(own) - 1 for own in children.values())


@pytest.mark.parametrize("name", cost.TABLE_2)
def test_table_2_is_what_its_trees_have(name):
    family = cost.TABLE_2[name]
    for m in range(1, 8):
        parents = family.parents(m)
        assert (len(parents), cost.D1(parents), cost.D2(parents)) == (family.rows(m), family.D1(m), family.D2(m))


def test_joints_of_several_freedoms_are_expanded():
    assert cost.D1([-1, 0], [3, 2]) == cost.D1(cost.chain(5)) == 10
    assert cost.ltdl([-1, 0, 0], [2, 1, 1]) == cost.ltdl([-1, 0, 1, 1])
    assert cost.steps([-1, 0, 0], [1, 3, 2]) == (1, 3, 1, 2, 0, 0)  # a vector for each freedom below
    assert cost.floating([-1, 0, -1], [6, 6, 3]).tolist() == [True, False, False]


def test_the_humanoid_and_the_chain_cost_what_is_printed():
    assert cost.steps(HUMANOID, FREEDOMS) == (21, 66, 3, 18, 1, 6)
    assert cost.steps(CHAIN, FREEDOMS) == (24, 300, 0, 0, 1, 24)
    assert (cost.D1(HUMANOID, FREEDOMS), cost.D2(HUMANOID, FREEDOMS), cost.zeros(HUMANOID, FREEDOMS)) == (219, 1039, 432)
    printed = {
        cost.crba: ("2475m + 2124a", "6462m + 4419a"),
        cost.rnea: ("2275m + 1996a", "2263m + 1972a"),
        cost.aba: ("5544m + 5054a", "5346m + 4883a"),
        cost.ltdl: ("1258m + 1039a", "4930m + 4495a"),
        cost.back_substitution: ("468m + 438a", "900m + 870a"),
    }
    for count, wanted in printed.items():
        assert tuple(str(count(tree, FREEDOMS)) for tree in (HUMANOID, CHAIN)) == wanted
    assert str(cost.forward_dynamics(HUMANOID, FREEDOMS)) == "6476m + 5597a"
    assert str(cost.forward_dynamics(CHAIN, FREEDOMS)) == "14555m + 11756a"


def test_a_tree_may_stand_for_parents_and_freedoms():
    tree = SimpleNamespace(parent=np.array(HUMANOID), v_at=np.concatenate([[0], np.cumsum(FREEDOMS)]), expanded_parents=None)
    assert cost.forward_dynamics(tree) == cost.forward_dynamics(HUMANOID, FREEDOMS)
    assert cost.report(tree, rates={}) == cost.report(HUMANOID, FREEDOMS, rates={})


def test_small_things_cost_nothing_below_zero():
    for parents, freedoms in (([-1], [0]), ([-1], [6]), ([-1], [1]), ([], [])):
        for count in prediction.STAGES.values():
            found = count(parents, freedoms)
            assert found.m >= 0 and found.a >= 0
        cost.report(parents, freedoms, rates={})


def test_freedoms_that_do_not_fit_are_named():
    with pytest.raises(ArrayError, match="freedoms: 1 numbers for 2 joints; give each joint its number of freedoms"):
        cost.crba([-1, 0], [1])


TWO = [-1, 0]
SENTENCES = {
    "dh: nodes 1, 2, 3 are all children of node 0, of whose children one": lambda: cost.crba([-1, 0, 0, 0], dh=[True] * 4),
    "dh: nodes 0, 1 are all children of the ground": lambda: cost.steps([-1, -1], dh=[1, 1]),
    r"dh: shape \(2,\) for 3 nodes; give True or False for each of the 3 nodes": lambda: cost.crba([-1, 0, 1], dh=[1, 1]),
    r"dh is \(2, 3\); give True or False": lambda: cost.crba(TWO, dh=[2, 3]),
    r"dh is \(None, True\); give": lambda: cost.steps(TWO, dh=[None, True]),
    "dh: lists of different lengths": lambda: cost.steps(TWO, dh=[[1], [1, 0]]),
    "bounds: deepest is 50; give a whole number of at least 1 and at most 5": lambda: cost.bounds(5, 50),
    "bounds: deepest is 0; give": lambda: cost.bounds(5, 0),
    "bounds: n is -1; give a whole number of at least 0": lambda: cost.bounds(-1),
    "chain: n is 2.5; give a whole number": lambda: cost.chain(2.5),
    "span grid: m is -1; give a whole number of at least 0": lambda: cost.TABLE_2["span grid"].D1(-1),
    "balanced tree: m is 60; give a whole number of at least 0 and at most": lambda: cost.TABLE_2["balanced tree"].parents(60),
    "freedoms: entry 1 is 99; a joint has from 0 .a weld. to 6": lambda: cost.crba(TWO, [1, 99]),
    "freedoms: entry 1 is -2; a joint": lambda: cost.dh_nodes(TWO, [1, -2]),
    "freedoms: float64 numbers; give integers": lambda: cost.D1(TWO, [1, 0.5]),
    r"freedoms: an array of shape \(\); give one number for each joint": lambda: cost.report(TWO, 5),
    "freedoms: 3 numbers for 2 joints": lambda: cost.own_stages(TWO, [1, 1, 1]),
    "rigid_transform is 3; give Operations": lambda: cost.crba_alike(TWO, 3, 4),
    "Operations: m is 'a'; give a whole number": lambda: Operations(m="a"),
    "total: addition is 'a'; give a number": lambda: Operations(m=1).total("a"),
    "simple_count: d1 is -1": lambda: cost.simple_count(-1, 2),
    "rates is 5; give a dictionary of stages": lambda: cost.predict(TWO, None, 5),
    'rates: that of "aba" is 1; give a Rate': lambda: cost.predict(TWO, None, {"aba": 1}),
    'rates: there is no stage "abba"': lambda: cost.remember({"abba": Rate(0.0, 0.0)}),
    "Rate: row is -1; give a finite number of at least 0": lambda: Rate(-1, 0.0),
    "timers is 5; give a dictionary": lambda: cost.calibrate(5),
    'calibrate: the timer of "aba" is 3; give a function such as': lambda: cost.calibrate({"aba": 3}),
    'the timer of "aba": its time is -1; give a finite number greater than 0': lambda: cost.calibrate({"aba": lambda p, f: -1.0}),
    'the timer of "aba": its time is nan': lambda: cost.calibrate({"aba": lambda p, f: float("nan")}),
    "trees is empty; give a list of .parents, freedoms.": lambda: cost.calibrate({"aba": lambda p, f: 1.0}, []),
    "trees is 5; give a list": lambda: cost.calibrate({"aba": lambda p, f: 1.0}, 5),
}  # fmt: skip


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_cannot_be_counted_is_refused_in_a_sentence(sentence):
    with pytest.raises(LinkworkError, match=sentence) as caught:
        SENTENCES[sentence]()
    assert "\n" not in str(caught.value)


THINGS = [None, True, -1, 0, 3, 2.5, "ab", float("nan"), float("inf"), 10**30, [], [-1], [-1, 0], [0, 1], [1, 1], [[1], [1, 2]],
          [None, 1], ["a"], {"a": 1}, [-1, 0.5], [2**70, 1], [[1, 1]], np.zeros(2), np.array([1, 2], np.uint64), object(),
          Operations(m=1), [True, False], Rate(0.0, 1.0)]  # fmt: skip


@pytest.mark.parametrize("function", ["D0", "D1", "D2", "nonzeros", "zeros", "density", "table_1", "ltl", "ltdl", "own_ltdl",
    "back_substitution", "non_dh", "dh_nodes", "floating", "steps", "crba", "crba_alike", "rnea", "aba", "forward_dynamics",
    "depths", "bounds", "chain", "simple_count", "predict", "report"])  # fmt: skip
def test_any_arguments_are_counted_or_refused(function):
    """Every pair of things a caller may give: numbers that can be, or a sentence."""
    call = getattr(cost, function)
    most = 1 if function in ("D0", "non_dh", "depths", "chain") else 2
    for arguments in itertools.product(THINGS, repeat=most):
        if function == "crba_alike":
            arguments = (arguments[0], Operations(m=1), arguments[1])
        try:
            found = call(*arguments)
        except LinkworkError:
            continue
        for operations in found.values() if isinstance(found, dict) else [found]:
            if isinstance(operations, Operations):
                assert min(operations.m, operations.a, operations.div, operations.sqrt) >= 0


@pytest.mark.parametrize(
    ("parents", "freedoms"),
    [(HUMANOID, FREEDOMS), (CHAIN, FREEDOMS), ([-1, 0, 0, 1, 1, 2, 2], [1] * 7), ([-1, 0, 0, -1, 3], [3, 0, 2, 1, 3])],
)
def test_mechanisms_have_the_joint_tree_that_they_are_made_of(parents, freedoms):
    found_parents, found_freedoms = joint_tree(mechanism(parents, freedoms))
    assert sorted(found_freedoms) == sorted(freedoms)
    assert sorted(cost.depths(found_parents)) == sorted(cost.depths(parents))
    assert cost.forward_dynamics(found_parents, found_freedoms) == cost.forward_dynamics(parents, freedoms)


def test_a_joint_that_no_mechanism_has_is_named():
    with pytest.raises(ArrayError, match='freedoms: "joint1" has 5, for which there is no joint here; give one of 0: weld'):
        mechanism([-1, 0], [1, 5])
    with pytest.raises(ArrayError, match='"joint1" has 6'):
        mechanism([-1, 0], [1, 6])


# -- prediction ------------------------------------------------------------------------------------------------------


def test_counted_predictions_are_those_of_section_6():
    humanoid, chain = (cost.predict(tree, FREEDOMS, rates={}) for tree in (HUMANOID, CHAIN))
    assert (humanoid.faster, round(humanoid.ratio, 2)) == ("aba", 1.14)
    assert (chain.faster, round(chain.ratio, 1)) == ("aba", 2.6)
    assert not humanoid.measured
    swarm = cost.predict([-1] * 20, [1] * 20, rates={})  # a diagonal matrix
    assert swarm.faster == "ltdl"


def test_measured_rates_decide():
    rates = {stage: Rate(0.0, 1e-9) for stage in prediction.STAGES}
    found = cost.predict(HUMANOID, FREEDOMS, rates)
    assert found.measured and found.aba == pytest.approx(1.0598e-5)
    rates["aba"] = Rate(1e-6, 1e-9)  # slow at every joint
    assert cost.predict(HUMANOID, FREEDOMS, rates).faster == "ltdl"
    assert "ltdl by" in cost.report(HUMANOID, FREEDOMS, rates) and "measured" in cost.report(HUMANOID, FREEDOMS, rates)


def test_a_fit_finds_what_it_was_made_of():
    def timer(parents, freedoms):
        return 3e-9 * np.sum(freedoms) + 2e-10 * cost.crba(parents, freedoms).total()

    rate = cost.calibrate({"crba": timer})["crba"]
    assert (rate.row, rate.operation) == pytest.approx((3e-9, 2e-10))
    with pytest.raises(
        UnknownNameError, match='there is no stage "abba"; did you mean "aba".; stages are aba, crba, rnea, solve'
    ):
        cost.calibrate({"abba": timer})


def test_rates_are_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path)
    cost.stored.cache_clear()
    try:
        assert cost.stored() == {}
        cost.remember({"aba": Rate(1e-9, 2e-9)})
        cost.remember({"crba": Rate(0.0, 1e-9)})
        assert cost.stored() == {"aba": Rate(1e-9, 2e-9), "crba": Rate(0.0, 1e-9)}
        next(tmp_path.iterdir()).write_text("no rates")
        cost.stored.cache_clear()
        assert cost.stored() == {}
    finally:
        cost.stored.cache_clear()


def test_all_stages_are_timed(monkeypatch):
    """By a clock that goes on by a millisecond whenever it is looked at: the least number of turns is enough."""
    ticks = itertools.count()
    monkeypatch.setattr(timers.time, "perf_counter", lambda: 1e-3 * next(ticks))
    rates = cost.calibrate(trees=prediction.samples()[:3])
    assert set(rates) == set(prediction.STAGES)
    for stage in prediction.STAGES:
        assert timers.timer(stage)(*prediction.samples()[0]) == pytest.approx(5e-4)
        assert 1e-4 < rates[stage].seconds(3, 500) < 1e-2
