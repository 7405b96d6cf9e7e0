"""Which of `aba` and `ltdl` is faster on a tree: operations counted, times what they take on this machine.

A stage (aba; crba, rnea, solve: LTDL and back-substitution) takes about `row` seconds a freedom and `operation` seconds an
operation. Both are fitted to measured times of sample trees, and kept in the user's cache. Where a stage has not been
measured all operations count alike, as in section 6 of featherstone05; `Prediction.measured` says which it was.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

from linkwork.codegen import store
from linkwork.codegen.loader import platform_digest
from linkwork.elements.core import checks
from linkwork.errors import ArrayError, UnknownNameError, suggestion
from linkwork.reduced.cost import counts, operation_counts

STAGES = {
    "aba": operation_counts.aba,
    "crba": operation_counts.crba,
    "rnea": operation_counts.rnea,
    "solve": lambda parents, freedoms=None: counts.ltdl(parents, freedoms) + counts.back_substitution(parents, freedoms),
}
BY_INERTIA = ("crba", "rnea", "solve")  # the stages of the way by the inertia matrix

Timer = Callable[[np.ndarray, np.ndarray], float]  # (parents, freedoms) -> seconds of a stage for one state


@dataclass(frozen=True)
class Rate:
    """What a stage takes."""

    row: float  # seconds a freedom
    operation: float  # seconds a multiplication or addition

    def __post_init__(self) -> None:
        for name in ("row", "operation"):
            checks.non_negative("Rate", name, getattr(self, name))

    def seconds(self, rows: int, operations: float) -> float:
        return self.row * rows + self.operation * operations


@dataclass(frozen=True)
class Prediction:
    """Times of both ways to the accelerations: seconds if measured, else operations."""

    aba: float
    ltdl: float
    measured: bool

    @property
    def faster(self) -> str:
        """The name of the solver."""
        return "aba" if self.aba <= self.ltdl else "ltdl"

    @property
    def ratio(self) -> float:
        """The slower time over the faster."""
        low, high = sorted((self.aba, self.ltdl))
        return high / low if low else 1.0


def predict(parents, freedoms=None, rates: Mapping[str, Rate] | None = None) -> Prediction:
    """Which way is faster, by these rates; by those kept for this machine unless told.

    >>> humanoid = [-1] + [0 if i % 6 == 0 else i for i in range(24)]
    >>> found = predict(humanoid, [6] + [1] * 24, rates={})
    >>> found.faster, round(found.ratio, 2), found.measured
    ('aba', 1.14, False)
    """
    rates = stored() if rates is None else _rates(rates)
    measured = all(stage in rates for stage in STAGES)
    chosen = rates if measured else dict.fromkeys(STAGES, Rate(0.0, 1.0))
    rows = int(counts.freedoms_of(parents, freedoms).sum())
    spent = {stage: chosen[stage].seconds(rows, count(parents, freedoms).total()) for stage, count in STAGES.items()}
    return Prediction(spent["aba"], sum(spent[stage] for stage in BY_INERTIA), measured)


def _rates(given) -> Mapping[str, Rate]:
    """Stage -> Rate, checked."""
    if not isinstance(given, Mapping):
        raise ArrayError(
            f"rates is {checks.show(given)}; give a dictionary of stages ({', '.join(STAGES)}) and a Rate for each"
        )
    for stage, rate in given.items():
        _check_stage("rates", stage)
        if not isinstance(rate, Rate):
            raise ArrayError(f'rates: that of "{stage}" is {checks.show(rate)}; give a Rate(row, operation), in seconds')
    return given


def _check_stage(where: str, stage) -> None:
    if stage not in STAGES:
        near = suggestion(str(stage), STAGES)
        raise UnknownNameError(f'{where}: there is no stage "{stage}"{near}; stages are {", ".join(STAGES)}')


# -- calibration -----------------------------------------------------------------------------------------------------


def samples() -> list[tuple[np.ndarray, np.ndarray]]:
    """Trees to measure, (parents, freedoms): arms, a quadruped, a humanoid, long chains, one that floats."""
    found = [(counts.chain(n), np.ones(n, np.int64)) for n in (3, 7, 15, 30, 60)]
    for limbs, joints in ((4, 3), (4, 6), (1, 24), (2, 12)):
        parents = [-1, *(0 if i % joints == 0 else i for i in range(limbs * joints))]
        found.append((np.array(parents), np.array([6] + [1] * (limbs * joints))))
    return found


def calibrate(timers: Mapping[str, Timer] | None = None, trees=None) -> dict[str, Rate]:
    """Measure stages on this machine, all of them unless told; `remember` keeps what was found. `timers`: stage -> Timer.

    >>> def takes(parents, freedoms):  # seconds
    ...     return 2e-9 * operation_counts.aba(parents, freedoms).total()
    >>> rates = calibrate({"aba": takes}, samples()[:3])
    >>> f"{rates['aba'].operation:.1e}"
    '2.0e-09'
    """
    if timers is None:
        from linkwork.reduced.cost.timers import timer  # compiles what only those need who measure

        timers = {stage: timer(stage) for stage in STAGES}
    if not isinstance(timers, Mapping):
        raise ArrayError(
            f"timers is {checks.show(timers)}; give a dictionary of stages ({', '.join(STAGES)}) and a timer for each"
        )
    for stage, run in timers.items():
        _check_stage("timers", stage)
        checks.function("calibrate", f'the timer of "{stage}"', run, ("parents", "freedoms"))
    trees = samples() if trees is None else _trees(trees)
    return {stage: fitted(stage, [(p, f, timer(p, f)) for p, f in trees]) for stage, timer in timers.items()}


def _trees(given) -> list[tuple[np.ndarray, np.ndarray]]:
    """(parents, freedoms) of trees to measure, at least one."""
    remedy = "give a list of (parents, freedoms), as `samples` does"
    try:
        pairs = [(parents, freedoms) for parents, freedoms in given]
    except (TypeError, ValueError):
        raise ArrayError(f"trees is {checks.show(given)}; {remedy}") from None
    if not pairs:
        raise ArrayError(f"trees is empty; {remedy}")
    return [(counts.parents_of(p, f), counts.freedoms_of(p, f)) for p, f in pairs]


def remember(rates: Mapping[str, Rate]) -> None:
    """Keep rates for this machine and version, beside those of other stages."""
    store.keep(_place(), json.dumps({stage: asdict(rate) for stage, rate in {**stored(), **_rates(rates)}.items()}).encode())
    stored.cache_clear()


def fitted(stage: str, times: list[tuple[np.ndarray, np.ndarray, float]]) -> Rate:
    """The rate that comes nearest to measured times (parents, freedoms, seconds), relative to each."""
    from scipy.optimize import nnls  # a quarter of a second

    table = np.array([[np.sum(f), STAGES[stage](p, f).total()] for p, f, _ in times], dtype=float)
    seconds = np.array([checks.positive(f'the timer of "{stage}"', "its time", s) for _, _, s in times])
    row, operation = nnls(table / seconds[:, None], np.ones(len(times)))[0]
    return Rate(float(row), float(operation))


def known() -> dict[str, Rate]:
    """The rates of all stages on this machine, measured now where they never were."""
    missing = [stage for stage in STAGES if stage not in stored()]
    if missing:
        print("linkwork: measuring how fast joint coordinates are here (kept for next time) ...", file=sys.stderr, flush=True)
        measured = calibrate()
        remember(measured)
        return {**stored(), **measured}
    return stored()


@cache
def stored() -> dict[str, Rate]:
    """The rates kept for this machine and version; empty where nothing was measured."""
    kept = store.read(_place())
    return {} if kept is None else {stage: Rate(**rate) for stage, rate in json.loads(kept).items()}


def _place() -> str:
    return f"rates-{platform_digest()[:16]}.json"
