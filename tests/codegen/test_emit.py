"""Machine code against CasADi's own evaluation, operation by operation; the same bits for every number of lanes."""

import ctypes

import casadi as ca
import numpy as np
import pytest
from casadi import SX

from linkwork.codegen.emit import POINTERS
from linkwork.codegen.loader import LOADER
from linkwork.codegen.trace import Kernel

TYPE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * POINTERS)

BINARY = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "pow": lambda x, y: ca.fabs(x) ** y, "atan2": ca.atan2, "fmin": ca.fmin, "fmax": ca.fmax, "fmod": ca.fmod,
    "copysign": ca.copysign, "hypot": ca.hypot, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "and": lambda x, y: ca.logic_and(x > 0, y),
    "or": lambda x, y: ca.logic_or(x > 0, y > 0), "if_else": lambda x, y: ca.if_else(x > y, x, y - 1),
    "if_else_zero": lambda x, y: ca.if_else(x, y, 0), "fma": lambda x, y: x * y + x, "fms": lambda x, y: x * y - y,
    "fnma": lambda x, y: y - x * x,
}  # fmt: skip
UNARY = {
    "neg": lambda x: -x, "sq": lambda x: x**2, "twice": lambda x: x + x, "inv": lambda x: 1 / x, "sqrt": lambda x: ca.sqrt(ca.fabs(x)),
    "fabs": ca.fabs, "floor": ca.floor, "ceil": ca.ceil, "sign": ca.sign, "not": ca.logic_not, "sin": ca.sin, "cos": ca.cos,
    "tan": ca.tan, "asin": lambda x: ca.asin(x / 10), "acos": lambda x: ca.acos(x / 10), "atan": ca.atan, "exp": ca.exp,
    "log": lambda x: ca.log(ca.fabs(x)), "log1p": lambda x: ca.log1p(ca.fabs(x)), "expm1": ca.expm1, "tanh": ca.tanh,
    "sinh": ca.sinh, "cosh": ca.cosh, "asinh": ca.asinh, "acosh": lambda x: ca.acosh(1 + ca.fabs(x)),
    "atanh": lambda x: ca.atanh(x / 10), "erf": ca.erf, "constpow": lambda x: ca.fabs(x) ** 1.7, "assign": lambda x: x,
    "constant": lambda x: 0 * x + 2.5,
}  # fmt: skip
X = np.array([0.0, 1.0, -1.0, 0.3, -2.7, 3.0, 1e-9, -4.5])


def run(kernel, lanes, records, scalars=()):
    """Run a kernel on records (entries, lanes); pointer 0 is `scalars`, which all lanes share."""
    (address,) = LOADER.addresses_of([kernel], lanes)
    shared = np.array([*scalars, 0.0])
    held = [np.ascontiguousarray(r, dtype=float) for r in records]
    pointers = [shared.ctypes.data, *[r.ctypes.data for r in held]]
    TYPE(address)(*pointers, *[0] * (POINTERS - len(pointers)))
    return held


def of(name, function, arity):
    def write(trace):
        x = trace.load(1, 0, arity)
        trace.store(2, 0, SX(function(*[x[k] for k in range(arity)])))

    return Kernel(f"test|{name}|{arity}", write)


def reference(function, inputs):
    symbols = SX.sym("x", len(inputs))
    f = ca.Function("f", [symbols], [SX(function(*[symbols[k] for k in range(len(inputs))]))])
    return np.array([float(f(column)) for column in np.array(inputs).T])


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_each_operation_is_what_casadi_says(name):
    function, arity = (UNARY[name], 1) if name in UNARY else (BINARY[name], 2)
    inputs = [X] if arity == 1 else [a.ravel() for a in np.meshgrid(X, X)]
    if name in ("fmod", "div"):
        inputs[1] = np.where(inputs[1] == 0, 0.7, inputs[1])
    wanted = reference(function, inputs)
    kernel = of(name, function, arity)
    bits = []
    for lanes in (1, 4, 8):
        found = np.concatenate([run(kernel, lanes, [np.array(inputs)[:, k : k + lanes], np.zeros((1, lanes))])[1][0]
                                for k in range(0, len(wanted), lanes)])  # fmt: skip
        bits.append(found.view(np.int64))
    np.testing.assert_array_equal(bits[0], bits[1])
    np.testing.assert_array_equal(bits[0], bits[2])
    fine = np.isfinite(wanted)
    np.testing.assert_allclose(bits[0].view(float)[fine], wanted[fine], rtol=4e-16, atol=4e-16)
    assert np.array_equal(np.isfinite(bits[0].view(float)), fine)


def test_every_operation_of_random_expressions_agrees_and_lanes_share_bits():
    rng = np.random.default_rng(0)

    def write(trace):
        pool = [trace.load(0, 0, 1), *[trace.load(1, k, 1) for k in range(3)]]
        draw = np.random.default_rng(7)
        names = [
            n for n in (*UNARY, *BINARY) if n not in ("inv", "div", "fmod", "pow", "exp", "sinh", "cosh", "expm1", "tan", "log")
        ]
        for _ in range(120):
            name = names[draw.integers(len(names))]
            chosen = [pool[draw.integers(len(pool))] for _ in range(1 if name in UNARY else 2)]
            value = UNARY[name](*chosen) if name in UNARY else BINARY[name](*chosen)
            pool.append(ca.sin(value))  # bounded
        trace.store(2, 0, ca.vertcat(*pool[-20:]))

    kernel = Kernel("test|random", write)
    trace = kernel.trace()
    f = trace.function()
    data = rng.normal(size=(3, 8))
    wide = run(kernel, 8, [data, np.zeros((20, 8))], scalars=[0.4])[1]
    narrow = np.hstack([run(kernel, 4, [data[:, k : k + 4], np.zeros((20, 4))], scalars=[0.4])[1] for k in (0, 4)])
    single = np.hstack([run(kernel, 1, [data[:, [k]], np.zeros((20, 1))], scalars=[0.4])[1] for k in range(8)])
    np.testing.assert_array_equal(wide, narrow)
    np.testing.assert_array_equal(wide, single)
    for k in range(8):
        given = {0: [0.4], 1: data[:, k]}
        arguments = [[given[p][e] for p, e in source] for source in trace.sources]
        np.testing.assert_allclose(single[:, k], np.ravel(f.call([ca.DM(a) for a in arguments])[0].full()), atol=1e-9)


def test_a_record_may_be_read_and_written():
    """All loads come before all stores: x and y swap places."""

    def write(trace):
        x = trace.load(1, 0, 2)
        trace.store(1, 0, x[1])
        trace.store(1, 1, x[0])

    found = run(Kernel("test|swap", write), 4, [np.arange(8.0).reshape(2, 4)])
    np.testing.assert_array_equal(found[0], [[4, 5, 6, 7], [0, 1, 2, 3]])


def test_no_algebra_of_fast_math():
    """Sums and products are taken in the order written, infinities and NaN are kept. (CasADi itself folds (x + y) - x.)"""

    def once(name, function, *inputs):
        return run(of(name, function, len(inputs)), 1, [np.array(inputs)[:, None], np.zeros((1, 1))])[1][0, 0]

    assert once("sum", lambda x, y, z: (x + y) + z, 1e16, 1.0, -1e16) == 0.0
    assert once("product", lambda x, y, z: (x * y) / z, 1e200, 1e200, 1e200) == np.inf
    assert np.isnan(once("infinities", lambda x, y: x - y, np.inf, np.inf))
    assert np.isnan(once("zero", lambda x, y: x * y, 0.0, np.inf))
    assert once("reciprocal", lambda x, y: x / y, 1.0, 3.0) * 3 == 1.0 and once("tenth", lambda x, y: x / y, 1.0, 10.0) == 0.1
    assert np.signbit(once("negative zero", lambda x: -x, 0.0))


@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_a_shared_record_is_the_same_in_all_lanes(lanes):
    def write(trace):
        trace.store(1, 0, trace.load(1, 0, 1) * trace.load(3, 2, 1) + trace.load(0, 1, 1))

    kernel = Kernel("test|shared", write, shared=(3,))
    x, constants = np.arange(1.0, lanes + 1).reshape(1, lanes), np.array([0.0, 0.0, 3.0])
    found = run(kernel, lanes, [x.copy(), np.zeros(1), constants], scalars=(0.0, 0.5))
    assert np.array_equal(found[0], 3.0 * x + 0.5)
