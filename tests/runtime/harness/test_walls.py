"""What a program that runs an agent can reach: its folder, its own files, the gateway, and nothing else."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.harness.place import PROGRAM, fake, opened, team_of
from tests.runtime.harness.test_program_agents import scripted

from repertory.home import locate_home
from repertory.runtime.harness.interface import Program
from repertory.runtime.harness.settings import HarnessSettings
from repertory.sandbox.program_walls import ProgramWalls


@pytest.fixture
def canaries(tmp_path: Path) -> Iterator[list[Path]]:
    """Files that no program may see: of the person, of ours, of the system, in shared folders."""
    places = [tmp_path, Path.home(), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), locate_home().root, Path.cwd()]
    made: list[Path] = []
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"canary-{os.getpid()}.txt"
        path.write_text("the canary sings")
        made.append(path)
    yield made
    for path in made:
        path.unlink(missing_ok=True)


async def speak(*words: str, **settings: Any) -> Any:
    async with opened(scripted()) as place:
        result = await place.run(team_of(HarnessSettings(), other=fake(*words, **settings)))
    assert result.status == "complete", result.reason
    return json.loads(result.reply)


async def test_no_file_outside_the_working_folder_is_read_or_written(canaries: list[Path]) -> None:
    others = [Path("/etc/shadow"), Path("/etc/hostname"), Path("/proc/1/environ"), PROGRAM]
    said = await speak("files", *(f"file:{path}" for path in [*canaries, *others]))
    for path in canaries:
        assert said[f"read {path}"] in {"FileNotFoundError", "PermissionError", "NotADirectoryError"}, path
        assert not (path.parent / "planted").exists(), path
        assert path.read_text() == "the canary sings"
    assert said["read /etc/shadow"] == said["read /etc/hostname"] == "FileNotFoundError"
    assert said[f"read {PROGRAM}"].startswith('"""A program')
    # Its own files are read-only; where they lie under /tmp, it has a /tmp of its own around them.
    assert said[f"write {PROGRAM}"] == "OSError" or PROGRAM.is_relative_to("/tmp")
    assert not PROGRAM.with_name("planted").exists()


async def test_it_gets_no_variable_that_its_settings_do_not_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_KEY", "secret")
    monkeypatch.setenv("WANTED", "yes")
    said = await speak("files", env=("WANTED",))
    assert "CANARY_KEY" not in said["environment"]
    assert "WANTED" in said["environment"]
    assert not {"LD_LIBRARY_PATH", "PYTHONHOME"} & set(said["environment"])


async def test_only_the_gateway_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_server(("0.0.0.0", 0)) as everywhere:
        ports = [listening.getsockname()[1], everywhere.getsockname()[1]]
        own = socket.gethostbyname(socket.gethostname())
        async with opened(scripted()) as place:
            engine = place.scripted.url.removesuffix("/v1").rpartition(":")[2]
            targets = [
                f"127.0.0.1:{ports[0]}",
                f"{own}:{ports[1]}",
                f"127.0.0.1:{engine}",
                "192.0.2.1:443",
                "repertory.example:443",
            ]
            result = await place.run(team_of(HarnessSettings(), other=fake("network", *targets)))
    said = json.loads(result.reply)
    assert said.pop("gateway") == "reached"
    assert said.pop("interfaces") == "lo"
    assert set(said) == set(targets)
    assert "reached" not in said.values()


async def test_a_path_that_its_settings_name_can_be_read_and_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "table.csv").write_text("a,b")
    said = await speak("files", f"file:{folder / 'table.csv'}", readable=(str(folder),))
    assert said[f"read {folder / 'table.csv'}"] == "a,b"
    assert said[f"write {folder / 'table.csv'}"] == "OSError"


def test_the_folders_of_ours_are_never_shown_with_a_program(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "tool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    wanted = Program(argv=(str(program),), env={}, folder=tmp_path / "work", gateway=tmp_path / "gateway")
    shown = ProgramWalls().command(wanted)
    assert str(tmp_path) in shown
    hidden = ProgramWalls(tmp_path / "home").command(wanted)
    assert str(tmp_path) not in hidden
    assert str(program) in hidden
