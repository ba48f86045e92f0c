"""Mends by code what small models forget: an import of a module they use, a function of a note they were shown."""

import ast
import builtins
from collections.abc import Sequence

from repertory.teams.engineering.allowed_modules import MODULES

__all__ = ("complete_source", "undefined_names")

_KNOWN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


def complete_source(source: str, snippets: Sequence[str] = ()) -> str:
    """Put missing imports, and the snippets whose functions are used, before a source that parses.

    Args:
        source: A draft.
        snippets: Code of the notes that the builder was shown.
    """
    for snippet in snippets:
        missing = undefined_names(source)
        if missing & _defined(_parse(snippet)):
            source = f"{snippet.strip()}\n\n\n{source}"
    imports = [f"import {name}" for name in sorted(undefined_names(source)) if name in MODULES]
    imports += [
        f"from {module} import {name}"
        for name, module in _MEMBERS.items()
        if name in undefined_names(source) and module in MODULES
    ]
    return "\n".join([*imports, "", "", source]) if imports else source


_MEMBERS = {
    "Counter": "collections",
    "defaultdict": "collections",
    "deque": "collections",
    "OrderedDict": "collections",
    "Decimal": "decimal",
    "ROUND_HALF_UP": "decimal",
    "Fraction": "fractions",
    "timedelta": "datetime",
    "date": "datetime",
    "groupby": "itertools",
    "product": "itertools",
    "combinations": "itertools",
    "permutations": "itertools",
    "lru_cache": "functools",
    "reduce": "functools",
    "sqrt": "math",
    "ceil": "math",
    "floor": "math",
    "isclose": "math",
    "pi": "math",
    "StringIO": "io",
    "TopologicalSorter": "graphlib",
    "ZoneInfo": "zoneinfo",
}


def undefined_names(source: str) -> set[str]:
    """Names that a source reads and nothing in it defines; empty when it does not parse. Scopes are not told apart."""
    tree = _parse(source)
    if tree is None:
        return set()
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return used - _defined(tree) - _KNOWN


def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defined(tree: ast.Module | None) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.arg(arg=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add((other or name).split(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names.add(name)
            case _:
                pass
    return names
