"""An agent package: a folder of a few text files that are checked together, and the digest of all of them.

The digest is SHA-256 over this text, in UTF-8: the line `repertory agent package 1`, then for each file, in the order
of the UTF-8 bytes of their paths, the line `DIGEST  PATH`, where DIGEST is the SHA-256 of its content in hexadecimal.
Every line ends with a line feed. Nothing else (times, modes, owners) counts.
"""

import ast
import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from repertory.errors import PackageError
from repertory.registry.manifest import MANIFEST, AgentManifest, read_manifest
from repertory.registry.skill_file import SKILL, check_skill

__all__ = (
    "EVIDENCE",
    "MAX_FILES",
    "MAX_FILE_BYTES",
    "MAX_PACKAGE_BYTES",
    "TOOLS",
    "AgentPackage",
    "check_path",
    "digest_of",
)

TOOLS, EVIDENCE, TESTS = "tools.py", "evidence.json", "tests/"
MAX_FILES, MAX_FILE_BYTES, MAX_PACKAGE_BYTES = 200, 1024 * 1024, 8 * 1024 * 1024
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_MAX_PARTS = 6
# Python 3.11 counts the depth of all threads' trees together, and gives up when two are made at once.
_parsing = threading.Lock()


def check_path(path: str) -> str:
    """Return a path as it is, if it can stand in a package: a few plain names with `/` between them.

    Raises:
        PackageError: It can not: it would leave the folder, be hidden, or mean different things on different systems.
    """
    parts = path.split("/")
    if len(path) > 200 or len(parts) > _MAX_PARTS or not all(_PART.fullmatch(part) for part in parts):
        message = "this can not be the path of a file in a package"
        hint = "letters, digits, `.`, `_` and `-`, no name that begins with a dot, at most 6 levels"
        raise PackageError(message, where=repr(path[:100]), hint=hint)
    return path


def digest_of(files: Mapping[str, bytes]) -> str:
    """The digest of a package's content, as the module says."""
    order = sorted(files, key=lambda path: path.encode())
    lines = [f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in order]
    return hashlib.sha256("".join(["repertory agent package 1\n", *lines]).encode()).hexdigest()


@dataclass(frozen=True)
class AgentPackage:
    """A package whose parts were checked.

    Attributes:
        manifest: What `agent.yaml` says.
        files: All files, by path.
        evidence: How it was built, from `evidence.json`.
    """

    manifest: AgentManifest
    files: Mapping[str, bytes]
    evidence: Mapping[str, Any]

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> "AgentPackage":
        """Check the files of a package.

        Raises:
            PackageError: A file is missing, too large, not text, or not what it must be.
        """
        _check_files(files)
        texts = {path: _text(path, content) for path, content in files.items()}
        for path in (MANIFEST, SKILL, EVIDENCE):
            if path not in texts:
                raise PackageError("this file is missing", where=path, hint="see the page about agent packages")
        manifest = read_manifest(texts[MANIFEST], MANIFEST)
        check_skill(texts[SKILL], manifest)
        _check_tools(manifest, texts.get(TOOLS))
        if manifest.tools and not any(path.startswith(TESTS) for path in texts):
            raise PackageError("a package with tools has tests", where=TESTS, hint="put at least one file there")
        return cls(manifest, dict(sorted(files.items())), _evidence(texts[EVIDENCE]))

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.manifest.name

    @property
    def digest(self) -> str:
        """The digest of the content."""
        return digest_of(self.files)

    @property
    def code(self) -> dict[str, bytes]:
        """What the sandbox gets: the files without tests, evidence and skill."""
        outside = (MANIFEST, SKILL, EVIDENCE)
        return {path: data for path, data in self.files.items() if path not in outside and not path.startswith(TESTS)}


def _check_files(files: Mapping[str, bytes]) -> None:
    if len(files) > MAX_FILES:
        message = f"a package has at most {MAX_FILES} files, not {len(files)}"
        raise PackageError(message)
    seen: dict[str, str] = {}
    total = 0
    for path, content in files.items():
        check_path(path)
        other = seen.setdefault(path.casefold(), path)
        if other != path:
            raise PackageError("two paths differ in nothing but letter case", where=path, hint=f"rename it or {other}")
        if len(content) > MAX_FILE_BYTES:
            message = f"the file has {len(content)} bytes; at most {MAX_FILE_BYTES} are allowed"
            raise PackageError(message, where=path)
        total += len(content)
    for path in files:
        parents = path.split("/")[:-1]
        for depth in range(len(parents)):
            if "/".join(parents[: depth + 1]).casefold() in seen:
                raise PackageError("a file stands where this path needs a folder", where=path)
    if total > MAX_PACKAGE_BYTES:
        message = f"the package has {total} bytes; at most {MAX_PACKAGE_BYTES} are allowed"
        raise PackageError(message)


def _text(path: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise PackageError("the file is not UTF-8 text", where=path, hint="a package holds text files only")
    return text


def _check_tools(manifest: AgentManifest, code: str | None) -> None:
    """See that the declared functions are defined, without running anything."""
    wanted = [tool.name for tool in manifest.tools] + [route.function for route in manifest.permissions.http]
    if not wanted:
        return
    if code is None:
        raise PackageError("this file is missing", where=TOOLS, hint=f"it defines {', '.join(wanted)}")
    try:
        with _parsing:
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        message = f"it is not Python: {getattr(error, 'msg', '') or type(error).__name__}"
        raise PackageError(message, where=f"{TOOLS}{line}") from None
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    missing = [name for name in wanted if name not in defined]
    if missing:
        message = f"it does not define {', '.join(missing)}"
        raise PackageError(message, where=TOOLS, hint=f"`def {missing[0]}(...)` at the top level")


def _evidence(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"it is not JSON: {type(error).__name__}"
        raise PackageError(message, where=EVIDENCE) from None
    if not isinstance(document, dict) or not {"request", "built_by"} <= set(document):  # pyright: ignore[reportUnknownArgumentType] - keys of JSON
        hint = 'an object with at least "request" (what was asked for) and "built_by"'
        raise PackageError("it does not say how the agent was built", where=EVIDENCE, hint=hint)
    return document  # pyright: ignore[reportUnknownVariableType] - keys of JSON are text
