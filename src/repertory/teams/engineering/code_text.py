"""The code in a builder's answer: taken out of its words, and checked before it is run at all."""

import ast
import re
import sys

from repertory.teams.engineering.completion import undefined_names
from repertory.teams.engineering.contract import Contract

__all__ = ("check_code", "read_code")

_FENCE = re.compile(r"```[ \t]*([a-zA-Z0-9_+-]*)[^\n]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_LONGEST = 24_000
_FIRST_LINE = re.compile(r"^(?:import |from |def |class |@|\"\"\"|#)", re.MULTILINE)


def read_code(answer: str) -> str:
    """The Python source in an answer: its longest fenced block, or the text from its first line of code on.

    What stands at the end under `if __name__ == "__main__"` or as bare calls is taken off: it is an example, not code.
    """
    blocks = [body for language, body in _FENCE.findall(answer) if language.lower() in ("", "python", "py", "python3")]
    if blocks:
        source = max(blocks, key=len)
    else:
        start = _FIRST_LINE.search(answer)
        source = answer[start.start() :] if start else answer
    return _without_examples(source.replace("\r\n", "\n").strip() + "\n")


def _without_examples(source: str) -> str:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    lines = source.splitlines(keepends=True)
    kept: list[str] = []
    end = 0
    for node in tree.body:
        start = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))]) - 1
        if not _is_example(node):
            kept += lines[end : node.end_lineno]
        else:
            kept += [line for line in lines[end:start] if not line.lstrip().startswith("#")]
        end = node.end_lineno or end
    return "".join(kept).strip() + "\n"


def _is_example(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return True
    if isinstance(node, ast.Assert):
        return True
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


def check_code(source: str, contract: Contract) -> list[str]:
    """What keeps a source from being run: it does not parse, or a tool, a parameter or a module is missing."""
    if len(source) > _LONGEST:
        return [f"the file has {len(source)} characters; at most {_LONGEST} are run"]
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return [f"line {error.lineno}: {error.msg}"]
    except (ValueError, RecursionError, MemoryError) as error:
        return [f"the file can not be parsed: {error}"]
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    problems: list[str] = []
    for tool in contract.tools:
        function = functions.get(tool.name)
        if function is None:
            problems.append(f"there is no function {tool.name} at module level")
            continue
        named = [
            argument.arg for argument in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        ]
        missing = [parameter.name for parameter in tool.parameters if parameter.name not in named]
        if missing and function.args.kwarg is None:
            problems.append(f"{tool.name} has no parameter {', '.join(missing)}")
    problems += [f"the name {name} is not defined" for name in sorted(undefined_names(source))]
    return problems + [f"the module {name} is not in the standard library" for name in sorted(_foreign(tree))]


def _foreign(tree: ast.Module) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            modules.add(node.module.split(".")[0])
    return {name for name in modules if name not in sys.stdlib_module_names}
