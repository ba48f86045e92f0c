import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from repertory.engines.embedded import RunningEngine, keep_prefixes
from repertory.engines.kept_prefixes import KeptPrefixes
from repertory.home import Home


def running(folder: Path, model: Path, version: str = "xllamacpp 1") -> RunningEngine:
    process: Any = None  # nothing here talks to the engine
    return RunningEngine(
        url="http://127.0.0.1:1",
        api_key="k",
        model="m",
        slots=1,
        context_tokens=512,
        threads=1,
        log_path=folder / "log",
        version=version,
        notes=(),
        model_path=model,
        slot_folder=folder / "slots",
        _process=process,
    )


def key(kept: KeptPrefixes | None) -> str:
    assert kept is not None
    return kept._engine


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path / "home", models=tmp_path / "models")


def test_no_budget_keeps_nothing(tmp_path: Path, home: Home) -> None:
    assert keep_prefixes(running(tmp_path, tmp_path / "x.gguf"), 0.0, home) is None
    assert not home.prefixes.exists()


def test_a_build_and_a_checkpoint_have_states_of_their_own(tmp_path: Path, home: Home) -> None:
    model = tmp_path / "m.gguf"
    model.write_bytes(b"weights")
    os.utime(model, (1000, 1000))
    first = key(keep_prefixes(running(tmp_path, model), 1.0, home))
    assert key(keep_prefixes(running(tmp_path, model), 2.0, home)) == first
    assert key(keep_prefixes(running(tmp_path, model, "xllamacpp 2"), 1.0, home)) != first
    model.write_bytes(b"WEIGHTS")
    os.utime(model, (1000, 1000))
    assert key(keep_prefixes(running(tmp_path, model), 1.0, home)) != first


def test_a_file_of_the_model_store_is_known_by_its_hash(tmp_path: Path, home: Home) -> None:
    name = f"sha256-{hashlib.sha256(b'weights').hexdigest()}"
    keys: set[str] = set()
    for folder in ("a", "b"):  # the same checkpoint in another store
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(b"weights")
        keys.add(key(keep_prefixes(running(tmp_path, tmp_path / folder / name), 1.0, home)))
    assert len(keys) == 1
