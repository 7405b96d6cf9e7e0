"""docs/integrators.md says what works: it is what trying gives."""

import re
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.engines.integrators import INTEGRATORS
from linkwork.engines.solvers import SOLVERS
from tests.integrators.support import FEATURES, NO, PAIRS, REFUSED, attempt

PAGE = Path(__file__).parents[2] / "docs" / "integrators.md"


def committed():
    """(solver, integrator) -> verdict of each feature, from the page."""
    rows = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {(solver, integrator): dict(zip(FEATURES, cells.split(" | "), strict=True)) for solver, integrator, cells in rows}


def test_the_page_has_every_solver_and_integrator():
    assert list(committed()) == PAIRS
    assert {solver for solver, _ in PAIRS} == set(SOLVERS) and {integrator for _, integrator in PAIRS} == set(INTEGRATORS)
    assert f"| solver | integrator | {' | '.join(FEATURES)} |" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "solver, integrator", [pytest.param(*p, marks=[pytest.mark.slow] if p[0] == "dense" else []) for p in PAIRS]
)
def test_the_table_is_true(solver, integrator):
    told = committed()[solver, integrator]
    for feature in FEATURES:
        verdict, why = attempt(solver, integrator, feature)
        assert verdict == told[feature], (feature, why)
        assert verdict != NO  # what does not work is refused by name


def test_what_does_not_go_together_is_refused_by_name():
    for solver, integrator in {(solver, integrator) for solver in SOLVERS for integrator in INTEGRATORS} - set(PAIRS):
        with pytest.raises(lw.LinkworkError, match=f'the solver "{solver}" does not go with the integrator "{integrator}"'):
            lw.Simulation(lw.scenes.get("pendulum"), solver=solver, integrator=integrator)


def test_first_order_refuses_what_it_cannot_hold_by_name():
    for feature, name in (
        ("velocity-dependent forces", 'Drag "drag1"'),
        ("nonlinear velocity rows", 'VelocityConstraint "pace"'),
    ):
        verdict, why = attempt("tree", "first-order", feature)
        assert verdict == REFUSED and name in why and "first-order" in why
    world = lw.World()
    world.add(lw.AffineBody(1.0, (0.1, 0.1, 0.1), damping=0.5, name="blob"))
    with pytest.raises(lw.LinkworkError, match=r"damping"):
        lw.Simulation(world, integrator="first-order")
    world = lw.World()
    world.add(lw.Particle(1.0, name="bead"))
    world.add(lw.Force("bead", lambda b, t: -0.1 * b.velocity, name="wind"))
    with pytest.raises(lw.LinkworkError, match=r'Force "wind": .*velocity'):
        lw.Simulation(world, integrator="first-order")
    world = lw.World()
    world.add(lw.Particle(1.0, position=(0, 0, -1), name="bead"))
    world.add(lw.Spring(world.ground, "bead", 1.0, name="spring"))
    lw.Simulation(world, integrator="first-order").step()  # without a damper there is nothing to refuse
