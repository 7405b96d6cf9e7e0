"""Formulas: what they may say gives the expressions of Python's functions, to the bit; all else is refused in a sentence."""

import ast

import casadi as ca
import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.core.traced import Traced
from linkwork.formats.formula_check import FUNCTIONS, MOST_DEPTH, FormulaError
from linkwork.formats.formula_writer import printed
from linkwork.formats.formulas import NUMERIC, Formula, number
from linkwork.formats.scene.templates import filled
from linkwork.formats.symbols import SYMBOLIC

K = lw.Parameter(3.0, name="k")
ONE, TWO = ("b", "t"), ("a", "b", "t")

SAME = [
    ("-k * norm(b.velocity) * b.velocity", ONE, lambda b, t: -K * lw.norm(b.velocity) * b.velocity),
    ("dot(b.position, b.position) - 1", ONE, lambda b, t: lw.dot(b.position, b.position) - 1),
    ("b.point((0, 0, -1))[2]", ONE, lambda b, t: b.point((0, 0, -1))[2]),
    ("b.direction((0, 0, 1))[:2]", ONE, lambda b, t: b.direction((0, 0, 1))[:2]),
    ("b.orientation[1, 0] - sin(t**2)", ONE, lambda b, t: b.orientation[1, 0] - lw.sin(t**2)),
    ("b.orientation[:, 1]", ONE, lambda b, t: b.orientation[:, 1]),
    ("norm(b.position - a.position) - 1", TWO, lambda a, b, t: lw.norm(b.position - a.position) - 1),
    ("a.spin((0, 0, 1)) - 2 * b.spin([0, 0, 1])", TWO, lambda a, b, t: a.spin((0, 0, 1)) - 2 * b.spin((0, 0, 1))),
    ("lambda one, other, s: one.point_velocity((1, 0, 0)) * s", TWO, lambda a, b, t: a.point_velocity((1, 0, 0)) * t),
    ("where(t < 1, 10 * b.direction((1, 0, 0)), (0, 0, 0))", ONE, lambda b, t: lw.where(t < 1, 10 * b.direction((1, 0, 0)), (0, 0, 0))),
    ("x = b.position; y = x[0] + k\ny * (1, 2, pi)", ONE, lambda b, t: (b.position[0] + K) * np.array([1, 2, np.pi])),
    ("p[0]**2 + p[2]**2 - 1, p[1]", ("p",), lambda p: (p[0] ** 2 + p[2] ** 2 - 1, p[1])),
    ("(cos(u), sin(u), 0.2 * u)", ("u",), lambda u: (lw.cos(u), lw.sin(u), 0.2 * u)),
    ("minimum(t, maximum(-k, tanh(t))) / sqrt(exp(t)) + atan2(t, 2)", ("t",),
     lambda t: lw.minimum(t, lw.maximum(-K, lw.tanh(t))) / lw.sqrt(lw.exp(t)) + lw.atan2(t, 2)),
    ("cross(b.angular_velocity, (0, 0, 2)) + abs(b.position) ** 1.5", ONE,
     lambda b, t: lw.cross(b.angular_velocity, (0, 0, 2)) + np.abs(b.position) ** 1.5),
    ("2", ("t",), lambda t: 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "arguments", "function"), SAME, ids=[text for text, _, _ in SAME])
def test_formulas_give_the_expressions_of_functions(text, arguments, function):
    formula = Formula(text, {"k": K}).bind(arguments)
    ours, theirs = (Traced("it", each, arguments) for each in (formula, function))
    assert ours.digest == theirs.digest
    assert ours.requests == theirs.requests
    again = Traced("it", Formula(printed(ours), {"k": K}).bind(arguments), arguments)
    assert again.digest == ours.digest


def random_expression(rng, inputs, depth):
    """A random SX of these inputs: any operation that CasADi has."""
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.3:
            return ca.SX(float(rng.choice([0.5, -2.0, 3.0, 1e-9, 2.0, 1.0, rng.normal()])))
        return inputs[int(rng.integers(len(inputs)))]
    unary = [ca.sin, ca.cos, ca.tan, ca.exp, ca.sqrt, ca.tanh, ca.fabs, ca.sign, ca.floor, ca.ceil, ca.asin, ca.acos, ca.atan, ca.sinh,
             ca.cosh, ca.asinh, ca.acosh, ca.atanh, ca.log1p, ca.expm1, ca.erf, ca.log, lambda x: -x, lambda x: x**2, lambda x: x**3,
             lambda x: 1 / x, lambda x: 2 * x, ca.logic_not]  # fmt: skip
    binary = [lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y, ca.fmin, ca.fmax, ca.atan2, ca.hypot,
              ca.copysign, ca.fmod, ca.remainder, ca.logic_and, ca.logic_or, ca.if_else_zero, lambda x, y: x < y, lambda x, y: x <= y,
              lambda x, y: x == y, lambda x, y: x != y, lambda x, y: x**y, lambda x, y: ca.if_else(x > y, x, y)]  # fmt: skip
    if rng.random() < 0.4:
        return unary[int(rng.integers(len(unary)))](random_expression(rng, inputs, depth - 1))
    return binary[int(rng.integers(len(binary)))](*(random_expression(rng, inputs, depth - 1) for _ in range(2)))


def test_printed_functions_are_the_same_to_the_bit():
    rng = np.random.default_rng(3)
    for _ in range(300):

        def function(a, b, t):
            spoken = [
                a.position[0],
                a.point((0, 0.1, 1e-3))[1],
                b.velocity[2],
                b.spin((1, 2, 3)),
                b.orientation[0, 2],
                t,
                K.symbol,
            ]
            return [random_expression(rng, spoken, int(rng.integers(1, 7))) for _ in range(int(rng.integers(1, 5)))]

        try:
            traced = Traced("it", function, TWO)
        except lw.ElementError:  # it gave NaN for some numbers
            continue
        text = printed(traced)
        again = Traced("it", Formula(text, {"k": K}).bind(TWO), TWO)
        assert again.digest == traced.digest, text


def test_long_functions_are_printed_in_short_lines():
    traced = Traced("it", lambda p: [lw.sin(p[0] * j) + lw.cos(p[1] + j) for j in range(400)], ("p",))
    text = printed(traced)
    assert max(map(len, text.splitlines())) < 200
    assert Traced("it", Formula(text).bind(("p",)), ("p",)).digest == traced.digest


REFUSED = [
    ("__import__('os').system('true')", "only bodies have attributes"),
    ("__import__('os')", 'calls "__import__", which is no function here'),
    ("open('/etc/passwd')", 'calls "open", which is no function here'),
    ("b.__class__", 'asks a body for "__class__", which none has'),
    ("b._requests", 'asks a body for "_requests", which none has'),
    ("b.position.__class__", "only bodies have attributes"),
    ("().__class__.__bases__", "only bodies have attributes"),
    ("(1).real", "only bodies have attributes"),
    ("b.positoin", 'did you mean "position"?'),
    ("b.point", "needs three numbers in parentheses"),
    ("b.position((0, 0, 1))", "which is none"),
    ("b.point(t)", 'asks for "point(t)"; give three numbers'),
    ("b.point((t, 0, 0))", "give three numbers"),
    ("b.point((0, 0))", "give three finite numbers"),
    ("'text'", "give finite numbers"),
    ("f'{t}'", "formulas do not have"),
    ("1e999", "give finite numbers"),
    ("1j", "give finite numbers"),
    ("True", "give finite numbers"),
    ("[x for x in b]", "formulas do not have"),
    ("{1: 2}", "formulas do not have"),
    ("t if t else 1", "use where(condition, a, b)"),
    ("t and t", "formulas do not have"),
    ("not t", "formulas do not have"),
    ("t % 2", "formulas do not have"),
    ("t // 2", "formulas do not have"),
    ("t << 2", "formulas do not have"),
    ("t @ t", "formulas do not have"),
    ("0 < t < 1", "formulas do not have"),
    ("lambda: 1", "has the arguments ()"),
    ("lambda b, t: lambda: 1", "formulas do not have"),
    ("lambda *b: 1", "not plain names"),
    ("dot(b.position)", "gives dot 1 arguments; it takes 2"),
    ("sin(x=t)", "without names"),
    ("sin(*t)", "without names"),
    ("sn(t)", 'did you mean "sin"?'),
    ("k(t)", "which is no function here"),
    ("b.position[t]", "give whole numbers"),
    ("b.position[0.5]", "give whole numbers"),
    ("b.position[5]", "asks for position[5], and position has 3 entries"),
    ("q * 2", 'speaks of "q", which is not known'),
    ("b * 2", 'takes the body "b" for a number; write b.position'),
    ("t.position", 'takes "t" for a body'),
    ("t = 3; t", 'gives the name "t" to a part, which is taken'),
    ("x = y; y = 2; x", 'speaks of "y"'),
    ("x, y = 1, 2; x", "write names as x = ..."),
    ("x += 1; x", "write names as x = ..."),
    ("import os; 1", "which is no formula"),
    ("x := 3", "which is no formula"),
    ("def f(): pass", "gives nothing"),
    ("", "gives nothing"),
    ("x = 1", "gives nothing"),
    ("(1, 0", "was never closed"),
    ("(" * 1000 + ")" * 1000, f"nests more than {MOST_DEPTH} deep"),
    ("-" * 4000 + "1", "nests"),
    ("1" + "+1" * 1500, "nests"),
    ("t" + "[0]" * 1500, "nests"),
    ("t" * 6000, "characters; give a formula of at most"),
    ("9" * 4900, "which is no formula"),
    ("10 ** 10 ** 10", "give exponents of at most 1000"),
    ("1 / 0", "division by zero"),
    ("\0", "which is no formula"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED, ids=[repr(text[:40]) for text, _ in REFUSED])
def test_all_else_is_refused(text, said):
    with pytest.raises(lw.LinkworkError) as error:
        Traced("it", Formula(text, {"k": K}).bind(ONE), ONE)
    assert said in str(error.value)


def test_garbage_is_refused_by_sentences():
    rng = np.random.default_rng(5)
    words = ["b", "t", "k", ".", "position", "point", "(", ")", "[", "]", ",", "+", "-", "*", "**", "/", "<", "=", ";", "1", "2.5", "0", "lambda", ":",
             "sin", "dot", "where", "if", "else", "__class__", "import", "'x'", "\n", " ", "é", "#", "@", "{", "}", "\\"]  # fmt: skip
    refused = 0
    for _ in range(5000):
        text = "".join(rng.choice(words, int(rng.integers(1, 14))))
        try:
            Traced("it", Formula(text, {"k": K}).bind(ONE), ONE)
        except lw.LinkworkError as error:
            refused += 1
            assert "\n" not in str(error)
    assert 4000 < refused < 5000


def test_parts_cannot_grow_without_bound():
    bomb = "x0 = (1, 1)\n" + "\n".join(f"x{k + 1} = (x{k}, x{k}, x{k}, x{k})" for k in range(30)) + "\nx30"
    with pytest.raises(lw.ElementError, match="its function makes a vector of 131072 entries; give at most 100000"):
        Traced("it", Formula(bomb).bind(ONE), ONE)
    deep = "x0 = t\n" + "\n".join(f"x{k + 1} = sin(x{k}) * x{k} + 1" for k in range(5000)) + "\nx5000"
    traced = Traced("it", Formula(deep).bind(ONE), ONE)
    assert traced.function.n_instructions() > 15_000
    assert Traced("it", Formula(printed(traced)).bind(ONE), ONE).digest == traced.digest


def test_no_name_reaches_python():
    """The language has no builtin, and its functions are those that are listed."""
    assert SYMBOLIC.keys() == FUNCTIONS.keys() == NUMERIC.keys()
    for name in dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__:
        if name not in FUNCTIONS and name.isidentifier() and not isinstance(ast.parse(name, mode="eval").body, ast.Constant):
            with pytest.raises(FormulaError):
                Formula(f"{name}(1)").bind(("t",))


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.1 * i", 0.1 * 3), ("i + 1", 4), ("[0, 0, i]", [0.0, 0.0, 3.0]), ("2 ** 10", 1024), ("i / 2", 1.5), ("-i", -3), ("pi", np.pi),
     ("where(i < 2, 1, 5)", 5), ("floor(i / 2)", 1), ("norm((3, 4, 0))", 5.0), ("dot((1, 2, 3), (1, 0, i))", 10.0), ("cross((1, 0, 0), (0, 1, 0))", [0, 0, 1]),
     ("cos(0) * sqrt(i + 1)", 2.0), ("minimum(i, 2) + maximum(1, 0)", 3), ("2 ** 0.5", 2**0.5), ("10 ** 300", 1e300)],
)  # fmt: skip
def test_numbers_that_are_computed_on_loading(text, value):
    found = number(text, {"i": 3})
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "sqrt(-1)",
        "(-1) ** 0.5",
        "10 ** 10 ** 10",
        "exp(1000)",
        "[1, 2][5]",
        "j",
        "b.position",
        "x = 1; x",
        "9 ** 9 ** 3",
        "[1, [2, 3]]",
        "1e308 * 10",
    ],
)
def test_what_gives_no_number_is_refused(text):
    with pytest.raises(FormulaError):
        number(text, {"i": 3})


def test_texts_are_filled():
    assert filled("link{i + 1}.{i}", {"i": 2}) == "link3.2"
    assert filled("{i}", {"i": 2}) == 2
    assert filled("{i} cm", {"i": -2}) == "-2 cm"
    assert filled("{i}**2", {"i": -2}, formula=True) == "(-2)**2"
    assert filled("{{i}}", {}) == "{i}"
    assert filled("{i}" * 2000, {"i": 2}) == "2" * 2000
    for text in ("{i", "i}", "{}", "{i}}", "{j}", "{" + "i +" * 500 + "i}"):
        with pytest.raises(FormulaError):
            filled(text, {"i": 2})
