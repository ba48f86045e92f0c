from collections.abc import Generator
from pathlib import Path

import pytest

from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.sandbox import Sandbox
from repertory.storage.store import Store


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path / "home", models=tmp_path / "models")


@pytest.fixture
def store(home: Home) -> Generator[Store]:
    with Store.open(home.database) as opened:
        yield opened


@pytest.fixture
def registry(store: Store, home: Home) -> Registry:
    return Registry(store, home)


@pytest.fixture
def runtime(registry: Registry) -> Generator[AgentRuntime]:
    with AgentRuntime(registry, Sandbox()) as runtime:
        yield runtime
