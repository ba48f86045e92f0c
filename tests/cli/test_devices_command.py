import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from repertory.catalog.loader import load_catalog
from repertory.cli.devices import register
from repertory.engines import devices
from repertory.engines.devices import Found, detected_profile, parse_nvidia_smi


def _invoke(*arguments: str) -> str:
    app = typer.Typer()
    register(app)
    app.command("other")(lambda: None)  # one command alone would lose its name
    result = CliRunner().invoke(app, ["devices", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_document_lists_what_is_here_and_what_can_be_named() -> None:
    found = json.loads(_invoke("--json"))
    assert found["detected"]
    assert all(item["memory_gib"] > 0 for item in found["detected"])
    assert "rtx4090" in {row["name"] for row in found["profiles"]}
    assert all(row["memory_gib"]["source"] for row in found["devices"])


def test_words_for_people() -> None:
    assert "8xa100-80gb" in _invoke()


def test_nvidia_smi_table() -> None:
    text = "NVIDIA GeForce RTX 4090, 24564, 23000\nbroken line\nNVIDIA A100-SXM4-80GB, 81920, [N/A]\n"
    assert parse_nvidia_smi(text) == [
        Found("NVIDIA GeForce RTX 4090", "nvidia", 24564 / 1024, "nvidia-smi", 23000 / 1024)
    ]


def test_a_detected_card_gets_the_catalogs_facts() -> None:
    profile = detected_profile(load_catalog(), [Found("NVIDIA GeForce RTX 4090", "nvidia", 23.99, "nvml")])
    assert profile.slots[0].device.id == "rtx4090"
    assert profile.slots[0].memory_gib == 23.99


def test_an_unknown_card_keeps_its_memory() -> None:
    profile = detected_profile(load_catalog(), [Found("NVIDIA Future 9000", "nvidia", 48.0, "nvml")])
    assert profile.slots[0].memory_gib == 48.0
    assert profile.slots[0].device.tflops is None


def test_amd_cards_are_read_from_sysfs(tmp_path: Path) -> None:
    card = tmp_path / "card0" / "device"
    card.mkdir(parents=True)
    (card / "mem_info_vram_total").write_text(str(24 * 2**30))
    (card / "mem_info_vram_used").write_text(str(2**30))
    (card / "product_name").write_text("AMD Radeon RX 7900 XTX\n")
    assert devices._amd(tmp_path) == [Found("AMD Radeon RX 7900 XTX", "amd", 24.0, "sysfs", 23.0)]


def test_without_accelerators_the_processor_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_nvml", "_nvidia_smi", "_apple"):
        monkeypatch.setattr(devices, name, list)

    def none(_: Path) -> list[Found]:
        return []

    monkeypatch.setattr(devices, "_amd", none)
    (found,) = devices.detect_devices()
    assert found.vendor == "cpu"
