import asyncio
from collections.abc import Sequence

import pytest

from repertory.engines.profile import FanOut
from repertory.engines.protocol import ChatMessage, GenerateRequest, PrefixCopier, PrefixState, TokenUsage
from repertory.runtime.fan_out import InstanceFanOut
from repertory.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.virtual_time

PROMPT = [ChatMessage("user", "hello")]


class CopyingModel(ScriptedModel):
    """A scripted model with slots, like llama.cpp's server."""

    slots = 3
    prefill_s = 0.0
    tokens = 1000

    def __init__(self) -> None:
        super().__init__(reply=lambda _request: "ok", fan_out=FanOut.COPY_SLOT)
        self.restored: list[int] = []

    async def compute_prefix(
        self, messages: Sequence[ChatMessage], *, slot: int, deadline_s: float | None = None, owner: str | None = None
    ) -> PrefixState:
        assert slot == 0
        await asyncio.sleep(self.prefill_s)
        return PrefixState(name="p", tokens=self.tokens, usage=TokenUsage(prompt=self.tokens, output=0, cached=0))

    async def restore_prefix(self, state: PrefixState, *, slot: int) -> None:
        self.restored.append(slot)


async def gone_ahead(fan_out: InstanceFanOut, agent: str) -> bool:
    waiting = asyncio.create_task(fan_out.turn_of(agent))
    await asyncio.sleep(0.01)
    done = waiting.done()
    waiting.cancel()
    return done


async def test_an_engine_that_shares_prefixes_in_flight_gets_all_agents_at_once() -> None:
    fan_out = InstanceFanOut(ScriptedModel(reply=lambda _r: ""), ["coach", "shadow"], leads=True)
    assert await fan_out.share_prefix(PROMPT, 1.0) is None
    assert await gone_ahead(fan_out, "shadow")
    assert fan_out.slot_of("shadow") is None


async def test_an_unknown_engine_gets_the_first_reply_first() -> None:
    fan_out = InstanceFanOut(ScriptedModel(reply=lambda _r: "", fan_out=FanOut.PRIME), ["coach", "shadow"], leads=True)
    assert await gone_ahead(fan_out, "coach")
    assert not await gone_ahead(fan_out, "shadow")
    fan_out.saw_first_token("shadow")
    assert not await gone_ahead(fan_out, "shadow")
    fan_out.saw_first_token("coach")
    assert await gone_ahead(fan_out, "shadow")


async def test_agents_go_on_when_the_first_reply_fails() -> None:
    fan_out = InstanceFanOut(ScriptedModel(reply=lambda _r: "", fan_out=FanOut.PRIME), ["coach", "shadow"], leads=True)
    fan_out.ended("coach")
    assert await gone_ahead(fan_out, "shadow")


async def test_nobody_is_held_where_no_agent_writes_the_first_reply() -> None:
    fan_out = InstanceFanOut(ScriptedModel(reply=lambda _r: "", fan_out=FanOut.PRIME), ["a", "b"], leads=False)
    assert await gone_ahead(fan_out, "b")


async def test_the_prefix_is_computed_in_one_slot_and_copied_to_the_others() -> None:
    engine = CopyingModel()
    assert isinstance(engine, PrefixCopier)
    fan_out = InstanceFanOut(engine, ["coach", "shadow", "synth"], leads=True)
    report = await fan_out.share_prefix(PROMPT, 1.0)
    assert report is not None
    assert report.usage.prefill == 1000
    assert engine.restored == [1, 2]
    assert [fan_out.slot_of(name) for name in ("coach", "shadow", "synth")] == [0, 1, 2]


async def test_too_few_slots_fall_back_to_priming() -> None:
    fan_out = InstanceFanOut(CopyingModel(), ["a", "b", "c", "d"], leads=True)
    assert fan_out.way is FanOut.PRIME
    assert fan_out.slot_of("a") is None
    assert await fan_out.share_prefix(PROMPT, 1.0) is None


async def test_on_a_slow_engine_the_others_wait_until_the_first_reply_has_ended() -> None:
    engine = CopyingModel()
    engine.prefill_s, engine.tokens = 0.05, 100  # 2,000 tokens a second: 500 private tokens take 0.25 s
    quick = InstanceFanOut(engine, ["coach", "shadow", "synth"], leads=True)
    await quick.share_prefix(PROMPT, 1.0)
    quick.saw_first_token("coach")
    assert await gone_ahead(quick, "shadow")

    engine.prefill_s, engine.tokens = 0.5, 100  # 200 tokens a second: 2.5 s
    slow = InstanceFanOut(engine, ["coach", "shadow", "synth"], leads=True)
    await slow.share_prefix(PROMPT, 1.0)
    slow.saw_first_token("coach")
    assert not await gone_ahead(slow, "shadow")
    slow.ended("coach")
    assert await gone_ahead(slow, "shadow")


def test_a_request_without_a_role_has_no_agent() -> None:
    from repertory.testing.scripted_model import agent_of

    assert agent_of(GenerateRequest(messages=PROMPT, max_output_tokens=1)) == ""
