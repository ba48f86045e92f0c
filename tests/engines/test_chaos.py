"""An engine that misbehaves in 30 % of all calls: every call ends, in time and with a type."""

from collections import Counter
from random import Random

import anyio
import pytest

from repertory.engines.connect import connect
from repertory.engines.failures import failure_code
from repertory.engines.http import EngineTimeouts
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind
from repertory.errors import RepertoryError
from repertory.testing import ScriptedEngine, ask, chaotic

pytestmark = pytest.mark.virtual_time

CALLS = 60
DEADLINE_S = 6.0


@pytest.mark.parametrize("kind", list(EngineKind))
async def test_chaos_every_call_ends_in_time_and_with_a_type(kind: EngineKind) -> None:
    random = Random(3)
    ends: Counter[str] = Counter()
    timeouts = EngineTimeouts(stall_s=1.0, first_part_s=1.0, ending_s=0.2, idle_check_s=0.5)

    async def call(engine: OpenAIEngine) -> None:
        started = anyio.current_time()
        try:
            generation = await ask(engine, deadline_s=DEADLINE_S)
            assert generation.text == "one two three four five six seven eight nine ten"
            ends["done"] += 1
        except RepertoryError as error:
            ends[failure_code(error)] += 1
        assert anyio.current_time() - started < DEADLINE_S + 5

    def reply(_: object) -> object:
        return chaotic("one two three four five six seven eight nine ten", random)

    async with ScriptedEngine(reply, kind=kind, slots=8) as scripted:  # pyright: ignore[reportArgumentType] - any reply
        engine = await connect(scripted.url, timeouts=timeouts)
        assert isinstance(engine, OpenAIEngine)
        async with anyio.create_task_group() as group:
            for _ in range(CALLS):
                group.start_soon(call, engine)
        assert (engine.admission.inside, engine.admission.waiting) == (0, 0)
        await engine.aclose()
    assert sum(ends.values()) == CALLS
    assert ends["internal"] == 0
    assert ends["done"] > 0
    assert len(ends) >= 3
