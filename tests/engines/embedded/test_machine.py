from pathlib import Path

import psutil
import pytest

from repertory.engines.embedded import machine

MB = 1024 * 1024


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A control-group tree of our own, with the process in /outer/inner of version 2."""
    monkeypatch.setattr(machine, "_CGROUP_ROOT", tmp_path)
    folders = [tmp_path / "outer" / "inner", tmp_path / "outer", tmp_path]
    folders[0].mkdir(parents=True)

    def of_process(_controller: str) -> list[Path]:
        return folders

    monkeypatch.setattr(machine, "_groups", of_process)
    return tmp_path


def test_without_limits_the_machine_itself_counts(groups: Path) -> None:
    assert machine.total_memory_bytes() == psutil.virtual_memory().total


def test_the_lowest_limit_of_the_groups_counts(groups: Path) -> None:
    (groups / "outer" / "memory.max").write_text(f"{700 * MB}\n")
    (groups / "outer" / "memory.current").write_text(f"{300 * MB}\n")
    (groups / "outer" / "memory.stat").write_text(f"anon 1\ninactive_file {100 * MB}\n")
    (groups / "outer" / "inner" / "memory.max").write_text("max\n")
    (groups / "outer" / "inner" / "memory.current").write_text(f"{250 * MB}\n")
    assert machine.total_memory_bytes() == 700 * MB
    assert machine.available_memory_bytes() == 500 * MB  # page cache that can be dropped is not counted as used


def test_version_1_names_are_read_too(groups: Path) -> None:
    (groups / "memory.limit_in_bytes").write_text(f"{600 * MB}")
    (groups / "memory.usage_in_bytes").write_text(f"{650 * MB}")
    assert machine.total_memory_bytes() == 600 * MB
    assert machine.available_memory_bytes() == 0


@pytest.mark.parametrize(("quota", "cores"), [("50000 100000", 1), ("max 100000", None), ("rubbish", None)])
def test_a_cpu_quota_caps_the_cores(groups: Path, quota: str, cores: int | None) -> None:
    free = machine.usable_cores()
    (groups / "outer" / "cpu.max").write_text(quota)
    assert machine.usable_cores() == (cores or free)


def test_the_groups_of_this_process_are_found() -> None:
    for folder in machine._groups("memory"):
        assert folder.is_relative_to("/sys/fs/cgroup")
