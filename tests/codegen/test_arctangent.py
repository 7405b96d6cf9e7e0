"""The inline atan2 against the library's: everywhere around the circle, at every scale, and where signs decide."""

import casadi as ca
import numpy as np
import pytest

from tests.codegen.test_emit import of, run


def found(y, x):
    """atan2 of each pair, four lanes at a time."""
    pairs = np.array([y, x]).reshape(2, -1, 4)
    kernel = of("atan2", ca.atan2, 2)
    return np.concatenate([run(kernel, 4, [pairs[:, k], np.zeros((1, 4))])[1][0] for k in range(pairs.shape[1])])


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_within_two_units_of_the_last_place(scale):
    rng = np.random.default_rng(1)
    angle = np.concatenate(
        [rng.uniform(-np.pi, np.pi, 4000), rng.choice([1e-12, -1e-5, 1.5707963, 3.1415926, -2.3561945], 400)]
    )
    y, x = scale * np.sin(angle), scale * np.cos(angle)
    wanted = np.arctan2(y, x)
    assert (np.abs(found(y, x) - wanted) <= 2 * np.spacing(np.abs(wanted))).all()


def test_signs_of_zero_decide():
    y, x = np.array([0.0, -0.0, 0.0, -0.0, 2.0, -2.0, 0.0, 0.0]), np.array([-1.0, -1.0, 0.0, 0.0, 0.0, 0.0, -0.0, 3.0])
    wanted, given = np.arctan2(y, x), found(y, x)
    assert (given == wanted).all() and (np.signbit(given) == np.signbit(wanted)).all()


def test_what_is_no_number_stays_none():
    assert np.isnan(found(np.array([np.nan, 1.0] * 2), np.array([1.0, np.nan] * 2))).all()
