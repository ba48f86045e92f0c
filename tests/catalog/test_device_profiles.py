from pathlib import Path

import pytest

from repertory.catalog.loader import load_catalog
from repertory.catalog.profile_file import profile_from_yaml
from repertory.catalog.profiles import NAMED_PROFILES, profile_named
from repertory.errors import UsageError

CATALOG = load_catalog()


@pytest.mark.parametrize("name", NAMED_PROFILES)
def test_named_profiles_exist(name: str) -> None:
    assert profile_named(name, CATALOG).slots


def test_the_published_a100_cluster_uses_211_gb() -> None:
    profile = profile_named("a100-211gb", CATALOG)
    assert sum(slot.budget_gib for slot in profile.slots) * 2**30 == pytest.approx(211e9)


@pytest.mark.parametrize(
    ("text", "count", "gib"),
    [("4xA100-80GB", 4, 79.2), ("rtx3090", 1, 23.57), ("2x24GiB", 2, 24.0), ("rtx3090 + 2x16GiB", 3, None)],
)
def test_written_profiles(text: str, count: int, gib: float | None) -> None:
    profile = profile_named(text, CATALOG)
    assert len(profile.slots) == count
    assert gib is None or profile.slots[0].memory_gib == pytest.approx(gib)


def test_eight_devices_make_a_machine() -> None:
    assert {slot.node for slot in profile_named("16xa40", CATALOG).slots} == {0, 1}


@pytest.mark.parametrize("text", ["", "4x", "0xrtx4090", "9999xrtx4090", "rtx4091", "0GiB"])
def test_impossible_profiles_are_refused(text: str) -> None:
    with pytest.raises(UsageError) as error:
        profile_named(text, CATALOG)
    assert error.value.hint


def test_a_device_file(tmp_path: Path) -> None:
    path = tmp_path / "box.yaml"
    path.write_text("name: box\nnodes: 2\ndevices:\n  - {device: rtx4090, count: 2, memory_gib: 23.5}\n", "utf-8")
    profile = profile_from_yaml(path, CATALOG)
    assert (profile.name, len(profile.slots), profile.slots[3].node) == ("box", 4, 1)
    assert profile.slots[0].memory_gib == 23.5


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("devices:\n  - {device: rtx4091}\n", "2:14"),
        ("devices:\n  - {device: rtx4090, count: many}\n", "2:30"),
        ("devices:\n  - {device: rtx4090, size: 2}\n", "2:23"),
        ("devices:\n  - rtx4090\n", "2:5"),
        ("name: x\n", "1:1"),
        ("devices: [\n", "2:1"),
        ("devices:\n  - {count: 2}\n", "2:5"),
        ("- a\n", "1:1"),
    ],
)
def test_mistakes_in_a_device_file_are_told_with_their_place(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "box.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as error:
        profile_from_yaml(path, CATALOG)
    assert error.value.where == f"{path}:{place}"


def test_a_count_may_stand_behind() -> None:
    assert len(profile_named("rtx4090x2", CATALOG).slots) == 2
    assert len(profile_named("rtx4090", CATALOG).slots) == 1
    assert profile_named("2x4090", CATALOG).described.startswith("2x NVIDIA GeForce RTX 4090")


def test_a_computer_without_an_accelerator() -> None:
    slot = profile_named("cpu-32GiB", CATALOG).slots[0]
    assert (slot.name, slot.device.vendor, slot.memory_gib, slot.budget_gib) == ("cpu", "cpu", 32, 24)
    with pytest.raises(UsageError, match="How much memory"):
        profile_named("cpu", CATALOG)
