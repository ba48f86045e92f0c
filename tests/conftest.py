import os
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import settings

from repertory.engines.embedded import EmbeddedEngine, RunningEngine
from repertory.engines.model_store import ModelStore
from repertory.home import Home
from repertory.testing.virtual_time import VirtualTimeLoop

settings.register_profile("repertory", deadline=None)  # a busy machine is no finding
settings.load_profile("repertory")


@pytest.fixture
def anyio_backend(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> str | tuple[str, dict[str, Callable[[], VirtualTimeLoop]]]:
    """asyncio; in tests marked `virtual_time`, with a clock that a slow machine does not push on."""
    if request.node.get_closest_marker("virtual_time") is None:
        return "asyncio"

    def new_loop() -> VirtualTimeLoop:
        loop = VirtualTimeLoop()
        monkeypatch.setattr(time, "monotonic", loop.time)
        return loop

    return "asyncio", {"loop_factory": new_loop}


@pytest.fixture(autouse=True)
def repertory_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's own data."""
    monkeypatch.setenv("REPERTORY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REPERTORY_PROBE", "0")  # scripted engines answer the test's questions only


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The model store that tests with real engines share; kept between runs."""
    return Path(os.environ.get("REPERTORY_TEST_MODELS") or Path.home() / ".cache" / "repertory" / "models")


@pytest.fixture(scope="session")
def small_model(model_folder: Path) -> Path:
    """The file of Qwen2.5-Coder-0.5B; pulled when it is not there."""
    store = ModelStore(Home(root=model_folder.parent, models=model_folder))
    return store.layout.blob(store.pull("qwen2.5-coder-0.5b").sha256)


@pytest.fixture(scope="session")
def embedded_engine(small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningEngine]:
    """One embedded engine for all tests that only ask it things: six slots of 4,096 tokens.

    It runs on an event loop of its own, because the tests' loops come and go.
    """
    root = tmp_path_factory.mktemp("engine")
    engine = EmbeddedEngine.start(
        small_model, slots=6, context_tokens=4096, home=Home(root=root, models=root), model_name="qwen2.5-coder-0.5b"
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(engine) as running:
        yield running


def _gguf_text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


@pytest.fixture(scope="session")
def make_gguf() -> Callable[..., bytes]:
    """Builds the bytes of a GGUF file with the shape of Qwen2.5-Coder-0.5B and no tensors."""

    def make(*, padding: int = 0) -> bytes:
        numbers = {
            "qwen2.block_count": 24,
            "qwen2.attention.head_count": 14,
            "qwen2.attention.head_count_kv": 2,
            "qwen2.embedding_length": 896,
            "qwen2.context_length": 32768,
        }
        words = ["a", "bc", "", "déjà"]
        pairs = [
            _gguf_text("general.architecture") + struct.pack("<I", 8) + _gguf_text("qwen2"),
            _gguf_text("general.name") + struct.pack("<I", 8) + _gguf_text("Tiny"),
            *(_gguf_text(key) + struct.pack("<II", 4, value) for key, value in numbers.items()),
            _gguf_text("tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 4) + b"".join(map(_gguf_text, words)),
            _gguf_text("tokenizer.types") + struct.pack("<IIQ", 9, 5, 5000) + b"\1\0\0\0" * 5000,
        ]
        head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs))
        return head + b"".join(pairs) + bytes(i * i % 251 for i in range(padding))

    return make
