"""The language of formulas, checked node by node before anything is evaluated."""

from __future__ import annotations

import ast
import keyword
import math
import operator
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from linkwork.elements.core import checks
from linkwork.errors import LinkworkError, suggestion

MOST_CHARACTERS = 250_000  # of a function


LONGEST_LINE = 5_000


SHORT = 1_000  # characters of what stands in braces, at most, and of formulas that are remembered


MOST_DEPTH = 100  # nested operations of a formula, below Python's limit on recursion


LARGEST_WHOLE = 2**53


LARGEST_EXPONENT = 1000  # of a power of constants: the result is computed when a file is read


FUNCTIONS = {
    **dict.fromkeys(("dot", "cross", "minimum", "maximum", "atan2", "hypot", "copysign", "fmod", "remainder"), 2),
    **dict.fromkeys(("norm", "sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "abs", "sign", "floor", "ceil"), 1),
    **dict.fromkeys(("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "log1p", "expm1", "erf"), 1),
    **dict.fromkeys(("both", "either"), 2),
    "opposite": 1,
    "where": 3,
    "zero_unless": 2,
    "sum": 1,
}  # name -> how many arguments


CONSTANTS = {"pi": math.pi}


BODY = re.compile(r"b\d+")  # the arguments of functions of more than two bodies


VECTORS = ("position", "velocity", "angular_velocity", "orientation", "coordinates", "rates")  # of bodies


METHODS = ("point", "point_velocity", "direction", "spin")  # and with three numbers


OPERATIONS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


TAKEN = frozenset(("t", "p", "u", "s", "a", "b", *keyword.kwlist))


def taken_name(name):
    """Whether a name means something else in formulas."""
    return name in FUNCTIONS or name in CONSTANTS or name in TAKEN or BODY.fullmatch(name) is not None


class FormulaError(LinkworkError, ValueError):
    """A text that is no formula; the message goes on after the name of the field."""


def parsed(text):
    """(names of arguments or None, [(name, node), ...], node of the result), checked but for names. Short ones are remembered;
    nodes take a hundred times the memory of a text."""
    return _remembered(text) if len(text) <= SHORT else _parse(text)


def _parse(text):
    _check_size(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of code that Python reads all the same: it is checked below
            body = ast.parse(text.strip(), mode="exec").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "it nests too deep"
        raise FormulaError(f'is "{short(text)}", which is no formula ({reason}); write one such as "2 * sin(t)"') from None
    if not body or not isinstance(body[-1], ast.Expr):
        raise FormulaError(f'is "{short(text)}", which gives nothing; end it with what the function gives')
    result, arguments = body[-1].value, None
    if isinstance(result, ast.Lambda) and len(body) == 1:
        arguments, result = _arguments(result), result.body
    parts = [_part(statement) for statement in body[:-1]]
    for node in (*[node for _, node in parts], result):
        _check(node, MOST_DEPTH)
    return arguments, parts, result


_remembered = lru_cache(maxsize=1000)(_parse)


def _check_size(text):
    if len(text) > MOST_CHARACTERS or any(len(line) > LONGEST_LINE for line in text.splitlines()):
        raise FormulaError(f"has {len(text)} characters; give a formula of at most {MOST_CHARACTERS}, {LONGEST_LINE} a line")
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    if deepest > MOST_DEPTH:
        raise FormulaError(f"nests more than {MOST_DEPTH} deep; give names to its parts: x = ...; y = ...")


def _arguments(node):
    given = node.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs:
        raise FormulaError('has arguments that are not plain names; write it as "lambda b, t: ..."')
    return tuple(argument.arg for argument in given.args)


def _part(statement):
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
        raise FormulaError(f'has "{short(ast.unparse(statement))}", which is no formula; write names as x = ...')
    return statement.targets[0].id, statement.value


def short(text):
    text = "; ".join(text.splitlines())
    return text if len(text) <= 60 else text[:57] + "..."


def _check(node: Any, depth: int) -> None:
    """Refuse whatever the language does not have."""
    if depth == 0:
        raise FormulaError(f"nests more than {MOST_DEPTH} deep; give names to its parts: x = ...; y = ...")
    if isinstance(node, ast.Constant):
        value: Any = node.value
        if type(value) not in (int, float) or not abs(value) <= checks.LARGEST:
            raise FormulaError(f"has {short(repr(value))}; give finite numbers")
        return
    if isinstance(node, ast.Name):
        return
    if isinstance(node, (ast.Tuple, ast.List)):
        below = node.elts
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        below = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
        below = [node.operand]
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATIONS:
        below = [node.left, *node.comparators]
    elif isinstance(node, ast.Subscript):
        _check_index(node.slice)
        below = [node.value]
    elif isinstance(node, ast.Call):
        below = _check_call(node)
    elif isinstance(node, ast.Attribute):
        _check_offer(node, VECTORS)
        return
    else:
        raise FormulaError(f'has "{short(_unparsed(node))}", which formulas do not have; use where(condition, a, b), '
                           "functions such as sin, + - * / **, comparisons and entries")  # fmt: skip
    for each in below:
        _check(each, depth - 1)


def _unparsed(node):
    try:
        return ast.unparse(node)
    except RecursionError:
        return type(node).__name__


def _check_index(node):
    for each in node.elts if isinstance(node, ast.Tuple) else [node]:
        ends = [each.lower, each.upper, each.step] if isinstance(each, ast.Slice) else [each]
        for end in ends:
            if end is not None and whole_index(end) is None:
                raise FormulaError(f'asks for the entry "{short(_unparsed(node))}"; give whole numbers such as [0] or [:2]')


def whole_index(node):
    """The whole number that a node is, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        below = whole_index(node.operand)
        return None if below is None else -below
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _check_call(node):
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise FormulaError(f'has "{short(_unparsed(node))}"; give arguments one by one, without names')
    if isinstance(node.func, ast.Attribute):
        _check_offer(node.func, METHODS)
        wanted, name = 1, node.func.attr
        for each in node.args:
            _check_fixed(name, each)
    else:
        name = node.func.id if isinstance(node.func, ast.Name) else short(_unparsed(node.func))
        if name not in FUNCTIONS:
            hint = suggestion(name, FUNCTIONS) or f"; there are {', '.join(FUNCTIONS)}"
            raise FormulaError(f'calls "{name}", which is no function here{hint}')
        wanted = FUNCTIONS[name]
    if len(node.args) != wanted:
        raise FormulaError(f"gives {name} {len(node.args)} arguments; it takes {wanted}")
    return node.args


def _check_fixed(name, node):
    """What is fixed in a body is given by numbers."""
    names, bodies = names_in(node)
    if not names <= CONSTANTS.keys() or bodies:
        raise FormulaError(f'asks for "{name}({short(_unparsed(node))})"; give three numbers such as (0, 0, 1)')


def _check_offer(node, offers):
    if not isinstance(node.value, ast.Name):
        raise FormulaError(f'has "{short(_unparsed(node))}"; only bodies have attributes: {", ".join((*VECTORS, *METHODS))}')
    if node.attr not in offers:
        hint = suggestion(node.attr, (*VECTORS, *METHODS)) or f"; there are {', '.join((*VECTORS, *METHODS))}"
        kind = (
            "needs three numbers in parentheses" if node.attr in METHODS else "is none" if node.attr in VECTORS else "none has"
        )
        problem = f", which {kind}{'' if node.attr in (*METHODS, *VECTORS) else hint}"
        raise FormulaError(f'asks a body for "{short(node.attr)}"{problem}')


def names_in(node: Any):
    """(the names in an expression, those of them that stand for bodies), functions left out."""
    names: set[str] = set()
    bodies: set[str] = set()
    waiting: list[Any] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name):
            names.add(each.id)
        elif isinstance(each, ast.Attribute):
            bodies.add(each.value.id)  # type: ignore[attr-defined]
        elif isinstance(each, ast.Call):
            waiting += each.args
            if isinstance(each.func, ast.Attribute):
                waiting.append(each.func)
        else:
            waiting += ast.iter_child_nodes(each)
    return names, bodies
