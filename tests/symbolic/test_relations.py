"""Every constraint on every pair of body kinds: derivatives against finite differences, residuals against oracles; or a
refusal in one sentence that names the element."""

import zlib
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from tests.oracles.residuals import RESIDUALS
from tests.symbolic.pairs import CONSTRAINTS, KINDS, pairs_of, verdict
from tests.symbolic.probe import STENCIL, Node, difference

H = 3e-4
DIRECTIONS = 4  # random ones, in which Jacobians are compared
POINTS = ("particle", "planar particle", "Lagrangian")  # without directions
# what each constraint needs of a and of b: d directions, r no stretch
NEEDS = {
    **dict.fromkeys(("Hinge", "Slider", "Cylindrical", "Universal", "Planar", "Weld", "Screw", "Gear", "Gear (velocity)",
                     "Drive (hinge)", "Drive (slider)", "Motion (hinge)", "Motion (slider)", "Constraint (directions)",
                     "VelocityConstraint (spins)"), ("d", "d")),
    **dict.fromkeys(("PointOnLine", "PointOnPlane", "PointOnCurve", "PointOnSurface", "PointOnCurve (own coordinate)",
                     "PointOnSurface (own coordinates)"), ("d", "")),
    **dict.fromkeys(("Rolling (ball)", "Rolling (disc)", "Tangent"), ("d", "d")),
    "Skate": ("", "d"),
}  # fmt: skip


def allowed(name, kinds):
    for kind, need in zip(kinds, NEEDS.get(name, ("", "")), strict=True):
        if ("d" in need and kind in POINTS) or ("r" in need and kind in ("scalable", "affine")):
            return False
    return True


@cache
def probe(name, kinds):
    """The node that holds the constraint, its rows there, and the part of the node that it is."""
    model, element = verdict(name, kinds)
    for number, node in enumerate(model.nodes):
        if element in node.elements:
            part = node.kind.parts[node.elements.index(element)]
            return Node(model, number), node.rows_of(element), part
    raise KeyError(element)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_takes_exactly_the_pairs_that_have_what_it_needs(name):
    for kinds in pairs_of(name):
        found = verdict(name, kinds)
        if allowed(name, kinds):
            assert not isinstance(found, str), (kinds, found)
        else:
            assert isinstance(found, str), kinds
            kind = name.partition(" ")[0]
            assert found.startswith((f'{kind} "', 'Hinge "', 'Slider "')), (kinds, found)  # Gear and Drive stand on joints
            assert '"a"' in found or '"b"' in found, (kinds, found)
            assert found.count("\n") == 0 and found.count(". ") == 0, (kinds, found)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_derivatives_of_rows_agree_with_finite_differences(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for kinds in pairs_of(name):
        found = verdict(name, kinds)
        if isinstance(found, str):
            continue
        node, rows, _ = probe(name, kinds)
        check_derivatives(node, rows, rng, f"{name} {kinds}")


def check_derivatives(node, rows, rng, label):
    time = 0.3
    q, v = node.jittered(rng, 0.1)
    position = np.array([level == "position" for level in node.node.kind.levels])
    sizes = [kind.nv for kind in node.kinds]
    still = [np.zeros(n) for n in sizes]
    samples = [(time, q, v), (time, q, still)]
    samples += [node.flowed(time, q, v, k * H) for k, _ in STENCIL]  # along the motion
    pushes = [[rng.normal(size=n) for n in sizes] for _ in range(DIRECTIONS)]
    for push in pushes:
        for k, _ in STENCIL:
            samples.append((time, node.flowed(time, q, push, k * H)[1], v))  # position rows: by coordinates
            samples.append((time, q, [x + k * H * p for x, p in zip(v, push, strict=True)]))  # velocity rows: by v
    residual, rate, bias, forcing, J = (x[:, rows] for x in node.at(samples))
    position = position[rows]
    scale = 1 + np.abs(J[0]).max() + np.abs(bias[0]).max()
    moving = difference(residual[2:6], H)
    close(rate[0], np.where(position, moving, residual[0]), scale, f"rate of {label}")
    close(bias[0], difference(rate[2:6], H), scale, f"bias of {label}")
    close(forcing[0], rate[1], scale, f"forcing of {label}")
    columns = residual[6:].reshape(DIRECTIONS, 4, 2, -1)
    by_q, by_v = (np.array([difference(column[:, which], H) for column in columns]) for which in (0, 1))
    along = np.array([J[0] @ np.concatenate(push) for push in pushes])
    close(along, np.where(position, by_q, by_v), scale, f"Jacobian of {label}")


def close(found, wanted, scale, label, tolerance=2e-8):
    error = np.abs(found - wanted).max(initial=0.0)
    assert error <= tolerance * scale, f"{label}: off by {error:.3g}"


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_residuals_agree_with_the_definition(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()) + 1)
    # locked rows and angles off their axis depend on the choice of directions to second order
    small = name in ("Slider", "Weld", "Screw", "Gear", "Motion (hinge)")
    for kinds in pairs_of(name):
        found = verdict(name, kinds)
        if isinstance(found, str):
            continue
        element = found[1]
        node, rows, part = probe(name, kinds)
        built = node.at([(0.0, node.q0, node.v0)])[0][0, rows]
        position = np.array([node.node.kind.levels[k] == "position" for k in range(rows.start, rows.stop)])
        assert np.abs(built[position]).max(initial=0.0) < 1e-12, (name, kinds, built)
        time = 0.4
        q, v = node.jittered(rng, 1e-5 if small else 0.2)
        found_rows = np.zeros(len(part.kind.levels))
        found_rows[list(part.kept)] = node.at([(time, q, v)])[0][0, rows]
        A, B = node.placed(q, v)[:: -1 if part.flipped else 1]
        tolerance = 2e-9
        for where, wanted in RESIDUALS[type(element).__name__](A, B, element, time):
            here = found_rows[where]
            if np.ndim(wanted) == 0:
                here = np.linalg.norm(here)
            assert np.abs(here - wanted).max() <= tolerance, (name, kinds, where, here, wanted)


def test_every_kind_of_constraint_is_in_the_table():
    elements = [getattr(lw, name) for name in dir(lw) if isinstance(getattr(lw, name), type)]
    abstract = {"ConstraintElement", "Joint"}
    # a rotor holds nothing; a coupling holds joints, and no pair of bodies (tests/elements/test_tendons.py)
    no_constraints = {"Armature", "Coupling", *abstract}
    known = {cls.__name__ for cls in elements if issubclass(cls, lw.ConstraintElement)}
    assert known - no_constraints == {name.partition(" ")[0] for name in CONSTRAINTS}
    assert len(KINDS) == 8


def test_the_table_of_the_documents_is_what_the_package_does():
    import importlib.util
    from pathlib import Path

    docs = Path(__file__).parents[2] / "docs"
    spec = importlib.util.spec_from_file_location("make_compatibility", docs / "make_compatibility.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (docs / "compatibility.md").read_text() == script.text(), "run: python docs/make_compatibility.py"
