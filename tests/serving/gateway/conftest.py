from collections.abc import AsyncGenerator

import pytest

from repertory.engines.profile import EngineKind
from repertory.testing import ScriptedEngine


@pytest.fixture
async def engine() -> AsyncGenerator[ScriptedEngine]:
    async with ScriptedEngine("one two three", kind=EngineKind.VLLM) as scripted:
        yield scripted
