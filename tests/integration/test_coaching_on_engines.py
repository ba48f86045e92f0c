"""The six agents on a real small model (Qwen2.5-Coder-0.5B) and real engines: embedded llama.cpp, and vLLM."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from repertory.clock import fixed_clock
from repertory.engines.connect import connect
from repertory.engines.embedded import RunningEngine
from repertory.engines.profile import FanOut
from repertory.engines.schema import validate
from repertory.runtime.cast import cast_on_one
from repertory.runtime.events import AgentFirstToken, PrefixComputed, TurnEvent
from repertory.runtime.team import Team
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.storage.store import Store
from repertory.teams import find_team

pytestmark = pytest.mark.timeout(1200)

SPECIALISTS = ("shadow", "persona", "plasticity", "stability")
WEEK_AGO = datetime(2026, 11, 24, 9, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "coaching.sqlite") as opened:
        yield opened


@pytest.mark.engine
async def test_two_sessions_of_the_coaching_team(embedded_engine: RunningEngine, store: Store) -> None:
    team, rules = find_team("coaching")
    engine = await connect(embedded_engine.url, api_key=embedded_engine.api_key)
    try:
        runner = TurnRunner(team, rules, cast_on_one(team, engine), store, fixed_clock(WEEK_AGO))
        seen: list[TurnEvent] = []
        first = await runner.run(
            "I want to finish my novel by spring. I'll write 30 minutes on Tuesday and Thursday evening.",
            user="ada", session="one", sinks=[seen.append],
        )  # fmt: skip
        assert_whole(first, team)
        assert first_token_order(seen)[0] == "coach"
        assert any(isinstance(event, PrefixComputed) for event in seen)
        again = await runner.run("I never told anybody about it.", user="ada", session="one")
        assert_whole(again, team)
        for result in (first, again):
            # The prefix of the turn is computed once, and the next turn continues where this one ended.
            assert result.tokens.prefill / result.tokens.unique <= 1.15
        runner.clock = fixed_clock(WEEK_AGO + timedelta(days=7))
        second = await runner.run(
            "No writing this week. A client asked for a rush job on Tuesday and I said yes, it paid double.",
            user="ada", session="two",
        )  # fmt: skip
        assert_whole(second, team)
        # What the first session left is in the frozen memory of the second, and Shadow's numbers rest on it.
        session = store.sessions.find("coaching", "ada", "two")
        assert session is not None
        assert "novel" in session.memory
        assert second.sections["shadow"].version == 3
        assert [row["id"] for row in second.sections["commitments"].value][:1] == ["k1"]
    finally:
        await engine.aclose()


@pytest.mark.vllm
async def test_a_turn_on_vllm_sends_all_agents_at_once_and_shares_their_prefix(vllm_url: str, store: Store) -> None:
    team, rules = find_team("coaching")
    engine = await connect(vllm_url)
    try:
        assert engine.profile.fan_out is FanOut.ALL_AT_ONCE
        runner = TurnRunner(team, rules, cast_on_one(team, engine), store, fixed_clock(WEEK_AGO))
        seen: list[TurnEvent] = []
        result = await runner.run(
            "I want to finish my novel by spring. I'll write 30 minutes on Tuesday and Thursday evening.",
            user="ada", session="one", sinks=[seen.append],
        )  # fmt: skip
        assert_whole(result, team)
        assert first_token_order(seen)[0] == "coach"
        again = await runner.run("I wrote on Tuesday. Thursday I was too tired.", user="ada", session="one")
        assert_whole(again, team)
        # vLLM shares whole blocks of a prefix that is still being computed.
        assert again.tokens.cached > again.tokens.prefill
    finally:
        await engine.aclose()


def assert_whole(result: TurnResult, team: Team) -> None:
    assert result.status in {"complete", "partial"}, result.reason
    assert result.first_reply
    for name in SPECIALISTS:
        section = result.sections[name]
        assert section.status == "written", (name, section.reason)
        assert validate(section.value, team.sections[name].json_schema or {}) == []


def first_token_order(events: list[TurnEvent]) -> list[str]:
    return [event.agent for event in events if isinstance(event, AgentFirstToken)]
