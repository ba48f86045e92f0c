from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from repertory.engines.connect import connect
from repertory.engines.http import EngineTimeouts
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.testing import ScriptedEngine

Start = Callable[[ScriptedEngine], Awaitable[OpenAIEngine]]

QUICK = EngineTimeouts(connect_s=2, control_s=2, first_part_s=3, stall_s=0.3, ending_s=0.2, idle_check_s=1)


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Start a scripted engine and connect to it; both are closed after the test."""
    async with AsyncExitStack() as stack:

        async def start_one(engine: ScriptedEngine) -> OpenAIEngine:
            await stack.enter_async_context(engine)
            connected = await connect(engine.url, timeouts=QUICK)
            assert isinstance(connected, OpenAIEngine)
            stack.push_async_callback(connected.aclose)
            return connected

        yield start_one
