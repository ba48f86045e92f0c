"""Reads the tests that a Tester wrote: asserts of Python, as expressions that can be run one by one.

Nothing is evaluated here. An assert that uses anything but the tools, plain builtins and its own literals is left out.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from repertory.teams.engineering.calls import Call, Case
from repertory.teams.engineering.contract import Contract

__all__ = ("called_in", "read_cases", "voted")

_FENCE = re.compile(r"```[a-zA-Z]*\n(.*?)(?:```|\Z)", re.DOTALL)
_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "dict",
        "enumerate",
        "float",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
        "range",
        "raises",
        "reversed",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "zip",
        "ValueError",
        "TypeError",
        "KeyError",
        "Exception",
        "True",
        "False",
        "None",
        "math",
        "isclose",
    ]
)
_MOST_CASES = 24
_LONGEST_CASE = 1200


def read_cases(text: str, contract: Contract) -> list[Case]:
    """The asserts in a text that call the contract's tools, without repeats."""
    blocks = _FENCE.findall(text) or [text]
    found: dict[str, None] = {}
    for block in blocks:
        for test in _asserts(_parse(block)):
            expression = ast.unparse(test)
            if len(expression) <= _LONGEST_CASE and _is_usable(test, contract):
                found[expression] = None
    return [Case(expression) for expression in list(found)[:_MOST_CASES]]


def voted(answers: Iterable[Sequence[Case]]) -> list[Case]:
    """The cases of several answers, each once, with the number of answers that hold it."""
    votes = Counter(case.text for cases in answers for case in dict.fromkeys(cases))
    return [Case(text, votes=count) for text, count in votes.items()]


def called_in(cases: Sequence[Case], contract: Contract) -> list[Call]:
    """The calls of tools with literal arguments that stand in the cases."""
    found: dict[Call, None] = {}
    for case in cases:
        for node in ast.walk(ast.parse(case.text, mode="eval")):
            call = _as_call(node, contract) if isinstance(node, ast.Call) else None
            if call is not None:
                found[call] = None
    return list(found)


def _parse(block: str) -> list[ast.stmt]:
    try:
        return ast.parse(block).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    statements: list[ast.stmt] = []
    for line in block.splitlines():
        # One line that does not parse (the last one, cut) must not cost the others.
        try:
            statements += ast.parse(line.strip()).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return statements


def _asserts(statements: Iterable[ast.stmt], known: dict[str, ast.expr] | None = None) -> Iterable[ast.expr]:
    known = dict(known or {})
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                known[name] = _Inline(known).visit(value)
            case ast.Assert(test=test):
                yield from _parts(_Inline(known).visit(test))
            case ast.With(items=items, body=body):
                refused = _refused(items)
                if refused is not None and len(body) == 1:
                    yield from _as_refusal(refused, body[0], known)
                else:
                    yield from _asserts(body, known)
            case ast.FunctionDef(body=body) | ast.ClassDef(body=body):
                yield from _asserts(body, known)
            case ast.If(body=body):
                yield from _asserts(body, known)
            case _:
                pass


def _parts(test: ast.expr) -> Iterable[ast.expr]:
    """An `and` is as many tests as it has parts."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _parts(value)
    else:
        yield test


def _refused(items: Sequence[ast.withitem]) -> ast.expr | None:
    """The exception of a `with raises(ValueError):`, whatever library's it is."""
    for item in items:
        call = item.context_expr
        if isinstance(call, ast.Call) and call.args:
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in ("raises", "assertRaises"):
                return call.args[0]
    return None


def _as_refusal(kind: ast.expr, statement: ast.stmt, known: dict[str, ast.expr]) -> Iterable[ast.expr]:
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call):
        inlined = _Inline(known).visit(value)
        yield ast.fix_missing_locations(
            ast.Call(ast.Name("raises", ast.Load()), [kind, inlined.func, *inlined.args], inlined.keywords)
        )


class _Inline(ast.NodeTransformer):
    """Puts the values of earlier assignments in the place of their names."""

    def __init__(self, known: dict[str, ast.expr]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._known.get(node.id, node)


def _is_usable(test: ast.expr, contract: Contract) -> bool:
    tools = {tool.name for tool in contract.tools}
    own = {node.id for node in ast.walk(test) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {argument.arg for node in ast.walk(test) if isinstance(node, ast.Lambda) for argument in node.args.args}
    used: set[str] = set()
    for node in ast.walk(test):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return False
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.add(node.id)
    return bool(used & tools) and used <= tools | own | _BUILTINS


def _as_call(node: ast.Call, contract: Contract) -> Call | None:
    function, arguments = node.func, node.args
    if isinstance(function, ast.Name) and function.id == "raises" and len(arguments) > 1:
        function, arguments = arguments[1], arguments[2:]
    tool = contract.tool(function.id) if isinstance(function, ast.Name) else None
    if tool is None or len(arguments) > len(tool.parameters):
        return None
    try:
        values = {
            parameter.name: ast.literal_eval(argument)
            for parameter, argument in zip(tool.parameters, arguments, strict=False)
        }
        values |= {named.arg: ast.literal_eval(named.value) for named in node.keywords if named.arg}
        return Call.of(tool.name, values)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
