"""Parameter: a number outside, a CasADi symbol inside."""

import copy
import pickle

import casadi
import numpy as np
import pytest

from linkwork.elements import Parameter
from linkwork.errors import ElementError


def value_of(expression, parameter, at):
    return np.array(casadi.Function("f", [parameter.symbol], [expression])(at)).squeeze()


@pytest.mark.parametrize(
    "function",
    [
        lambda k: k + 2,
        lambda k: 2 + k,
        lambda k: k - 2,
        lambda k: 2 - k,
        lambda k: k * 2,
        lambda k: 2 * k,
        lambda k: k / 2,
        lambda k: 2 / k,
        lambda k: k**2,
        lambda k: 2**k,
        lambda k: -k,
        lambda k: +k,
        lambda k: abs(-k),
        lambda k: k * k,
        lambda k: k > 2,
        lambda k: 2 >= k,
        lambda k: np.array([1.0, 2.0, 3.0]) * k,
        lambda k: k * np.array([1.0, 2.0, 3.0]),
        lambda k: np.float64(2) - k,
        lambda k: np.sin(k),
    ],
)
def test_arithmetic_gives_expressions(function):
    k = Parameter(5.0, name="k")
    assert isinstance(function(k), casadi.SX)
    assert np.allclose(value_of(function(k), k, 3.0), function(3.0))


def test_casadi_takes_it_for_its_symbol():
    k, x = Parameter(5.0), casadi.SX.sym("x", 3)
    assert casadi.is_equal(casadi.sin(k), casadi.sin(k.symbol), 2)
    assert (x * k).shape == (3, 1)
    assert casadi.vertcat(k, 1.0, x).shape == (5, 1)


def test_symbol_is_made_once_and_named():
    k = Parameter(5, name="k")
    assert k.symbol is k.symbol and str(k.symbol) == "k"
    assert float(k) == 5.0 and isinstance(k.value, float)
    assert repr(k) == "Parameter(5, name='k')" and repr(Parameter(2.5)) == "Parameter(2.5)"


def test_copies_have_a_symbol_of_their_own():
    k = Parameter(5.0, name="k")
    k.symbol  # noqa: B018 (made before copying)
    for other in (copy.deepcopy(k), pickle.loads(pickle.dumps(k))):
        assert (other.value, other.name) == (5.0, "k")
        assert not casadi.is_equal(other.symbol, k.symbol)


def test_numpy_functions_without_a_casadi_twin_are_refused():
    with pytest.raises(TypeError):
        np.spacing(Parameter(1.0))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "1", None, True, [1.0], 1j])
def test_bad_values_are_refused(bad):
    with pytest.raises(ElementError, match=r'Parameter "k": value is'):
        Parameter(bad, name="k")
    k = Parameter(1.0, name="k")
    with pytest.raises(ElementError, match=r'Parameter "k": value is'):
        k.value = bad
    assert k.value == 1.0


def test_bad_names_are_refused():
    with pytest.raises(ElementError, match=r"^Parameter: name is 3;"):
        Parameter(1.0, name=3)
