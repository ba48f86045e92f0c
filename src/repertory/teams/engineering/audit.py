"""The part of the security audit that is code: what a source may import and call, by the permissions it was granted.

The sandbox holds whatever these rules miss; they keep code out that would only fail there, and code whose caller could
make it run code of his own.
"""

import ast
from collections.abc import Collection

__all__ = ("audit_source",)

_MODULES: dict[str, frozenset[str]] = {
    "network": frozenset(
        [
            "socket",
            "ssl",
            "http",
            "urllib",
            "ftplib",
            "smtplib",
            "poplib",
            "imaplib",
            "telnetlib",
            "xmlrpc",
            "socketserver",
            "asyncio",
        ]
    ),
    "processes": frozenset(["subprocess", "multiprocessing", "pty", "os", "signal", "threading", "concurrent"]),
    "files": frozenset(["pathlib", "shutil", "tempfile", "glob", "io", "fileinput"]),
    "state": frozenset(["sqlite3", "dbm", "shelve"]),
}
_NEVER = frozenset(
    [
        "ctypes",
        "importlib",
        "runpy",
        "code",
        "codeop",
        "pickle",
        "marshal",
        "imp",
        "pdb",
        "gc",
        "inspect",
        "sys",
        "builtins",
        "webbrowser",
    ]
)
_HARMLESS = frozenset({"io", "urllib", "os", "threading"})
"""Modules with much that is harmless; what is not is named in `_CALLS` and `_ATTRIBUTES`."""
_CALLS = frozenset(
    [
        "eval",
        "exec",
        "compile",
        "__import__",
        "open",
        "input",
        "breakpoint",
        "globals",
        "locals",
        "vars",
        "setattr",
        "delattr",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "system",
        "popen",
        "fork",
        "kill",
        "execv",
        "execve",
        "spawnl",
        "spawnv",
        "remove",
        "unlink",
        "rmdir",
        "rename",
        "environ",
        "putenv",
        "getenv",
        "listdir",
        "walk",
        "scandir",
        "urlopen",
        "urlretrieve",
        "Request",
        "mro",
        "__globals__",
        "__builtins__",
        "__subclasses__",
        "__bases__",
        "__mro__",
        "__code__",
        "__dict__",
        "__class__",
        "__import__",
        "__loader__",
        "__getattribute__",
    ]
)


def audit_source(source: str, granted: Collection[str] = ()) -> list[str]:
    """What a source does that it has no permission for, each in one line with its place.

    Args:
        source: Python that parses.
        granted: Permissions of the manifest: `network`, `files`, `processes`, `state`.
    """
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(source)):
        for problem in _problems(node, granted):
            found[f"line {getattr(node, 'lineno', '?')}: {problem}"] = None
    return list(found)


def _problems(node: ast.AST, granted: Collection[str]) -> list[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        return [problem for name in names if (problem := _module(name, granted))]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        return [] if node.func.id == "open" and "files" in granted else [f"calls {node.func.id}()"]
    if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES and "processes" not in granted:
        return [f"uses .{node.attr}"]
    return []


def _module(name: str, granted: Collection[str]) -> str | None:
    top = name.split(".", maxsplit=1)[0]
    if top in _NEVER:
        return f"imports {top}"
    if name in ("urllib.parse", "asyncio") or (top in _HARMLESS and name == top):
        return None
    needed = next((permission for permission, modules in _MODULES.items() if top in modules), None)
    return f"imports {top} without the permission `{needed}`" if needed is not None and needed not in granted else None
