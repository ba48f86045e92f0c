from pathlib import Path
from typing import Any

import httpx2
import pytest

from repertory.engines import hub_config
from repertory.engines.hub_config import fetch_config
from repertory.errors import ModelStoreError, UsageError


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was downloaded, and whether from the cache alone; nothing is in the cache."""
    asked: list[dict[str, Any]] = []

    def download(repository: str, file: str, *, local_files_only: bool) -> str:
        asked.append({"file": f"{repository}/{file}", "cache_only": local_files_only})
        if local_files_only:
            raise FileNotFoundError(file)
        return f"/cache/{file}"

    monkeypatch.setattr(hub_config, "hf_hub_download", download)
    return asked


def test_without_a_network_only_the_cache_is_asked(
    downloads: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(url: str, timeout: float) -> None:
        raise httpx2.ConnectError("no route")

    monkeypatch.setattr(hub_config, "get_hf_file_metadata", ask)
    with pytest.raises(ModelStoreError, match=r"did not give the model's config\.json"):
        fetch_config("Qwen/Qwen3-8B")
    assert downloads == [{"file": "Qwen/Qwen3-8B/config.json", "cache_only": True}]


def test_with_a_network_it_is_downloaded(downloads: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(url: str, timeout: float) -> None:
        assert url.endswith("Qwen/Qwen3-8B/resolve/main/config.json")

    monkeypatch.setattr(hub_config, "get_hf_file_metadata", ask)
    assert fetch_config("Qwen/Qwen3-8B") == Path("/cache/config.json")
    assert downloads == [{"file": "Qwen/Qwen3-8B/config.json", "cache_only": False}]


@pytest.mark.parametrize("name", ["Qwen3-8B", "a/b/c", "Qwen/Q wen3", "../../etc"])
def test_other_names_are_refused_before_anything_is_asked(name: str, downloads: list[dict[str, Any]]) -> None:
    with pytest.raises((UsageError, ModelStoreError)):
        fetch_config(name)
    assert not [asked for asked in downloads if not asked["cache_only"]]
