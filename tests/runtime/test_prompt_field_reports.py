"""What users of other systems met with prompts, caches, budgets and gateways (field reports E, G, H), on our turns."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from repertory.clock import fixed_clock
from repertory.engines.connect import connect
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import GenerateRequest
from repertory.runtime.cast import cast_on_one
from repertory.runtime.context import SharedContext, private_part
from repertory.runtime.context_fit import PromptParts, fit_history, fit_prompt
from repertory.runtime.rules import SectionView, TeamRules
from repertory.runtime.team import Agent, Read, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.records import Message
from repertory.storage.store import Store
from repertory.testing import ScriptedEngine, silent
from repertory.testing.obliging import obliging
from repertory.testing.scripted_model import ScriptedModel, agent_of

pytestmark = pytest.mark.virtual_time

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
NOTE = {
    "type": "object",
    "properties": {"mood": {"type": "string", "maxLength": 20}},
    "required": ["mood"],
    "additionalProperties": False,
}
LONG_PREAMBLE = "You are a pair. " + "Notice what the person says and what they leave out. " * 30


def pair(**reads: Read) -> Team:
    return Team(
        name="pair",
        preamble=LONG_PREAMBLE,
        sections={"notes": Section(json_schema=NOTE), "answer": Section(text=True), "diary": Section(text=True)},
        agents={
            "scribe": Agent(instructions="Note it.", writes="notes", max_output_tokens=40),
            "speaker": Agent(instructions="Say it.", writes="answer", reads=reads, max_output_tokens=40),
            "writer": Agent(instructions="Write it.", writes="diary", max_output_tokens=40),
        },
        replies=Replies(first="answer"),
    )


def well(request: GenerateRequest) -> str:
    return '{"mood": "calm"}' if agent_of(request) == "scribe" else "I hear you."


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[[str], Store]]:
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(Store.open(tmp_path / f"{name}.sqlite"))


async def prompts_at(now: datetime, store: Store, team: Team) -> dict[str, str]:
    """Every agent's prompt of a first turn that begins at this moment."""
    model = ScriptedModel(reply=well)
    runner = TurnRunner(team, TeamRules(), cast_on_one(team, model), store, fixed_clock(now))
    await runner.run("Hi!", user="ada", session="one")
    return {agent_of(one): json.dumps([(m.role, m.content) for m in one.messages]) for one in model.requests}


async def test_h1_h2_no_clock_stands_in_a_prompt(open_store: Callable[[str], Store]) -> None:
    first = await prompts_at(NOW, open_store("first"), pair())
    second = await prompts_at(NOW + timedelta(seconds=61), open_store("second"), pair())
    assert first == second
    assert len(first) == 3


async def test_h3_what_changes_from_turn_to_turn_stands_behind_what_does_not(
    open_store: Callable[[str], Store],
) -> None:
    """The blackboard changes with every turn, so it is shown after the shared prefix; the memory is frozen."""
    team, model = pair(notes=Read()), ScriptedModel(reply=well)
    runner = TurnRunner(team, TeamRules(), cast_on_one(team, model), open_store("one"), fixed_clock(NOW))
    await runner.run("Hi!", user="ada", session="one")
    await runner.run("Hi again!", user="ada", session="one")
    said = [one for one in model.requests if agent_of(one) == "speaker"]
    assert "calm" in said[1].messages[-1].content
    assert said[1].messages[0] == said[0].messages[0]
    shared, _, private = said[1].messages[-1].content.partition("</message>")
    assert "calm" not in shared
    assert "calm" in private


def test_h4_sections_are_shown_in_one_order_however_they_were_read() -> None:
    team = pair()
    views = {name: SectionView({"mood": name}, 1, "t1", "latest") for name in ("notes", "alpha", "beta")}
    sections = {**team.sections, "alpha": team.sections["notes"], "beta": team.sections["notes"]}
    team = team.model_copy(update={"sections": sections})
    orders = [dict(sorted(views.items())), dict(sorted(views.items(), reverse=True)), views]
    assert len({private_part("speaker", team.agents["speaker"], team, order, None) for order in orders}) == 1


@pytest.mark.parametrize("kind", [EngineKind.VLLM, EngineKind.LLAMACPP])
async def test_h6_the_shared_part_is_found_in_the_cache(open_store: Callable[[str], Store], kind: EngineKind) -> None:
    """On scripted engines here, by their own counts; the tests marked `vllm` and `engine` see it on real ones."""
    team = pair()
    async with ScriptedEngine(obliging("I hear you."), kind=kind, slots=4) as scripted:
        engine = await connect(scripted.url)
        runner = TurnRunner(team, TeamRules(), cast_on_one(team, engine), open_store("one"))
        await runner.run("Hi!", user="ada", session="one")
        again = await runner.run("Hi again!", user="ada", session="one")
        await engine.aclose()
    assert again.tokens.cached > 3 * again.tokens.prefill


# E: budgets


def history(count: int) -> list[Message]:
    roles = ("person", "team")
    return [
        Message(id=f"m{n}", role=roles[n % 2], text=f"word {n} " * 5, turn=f"t{n // 2}", session="s", at=NOW)
        for n in range(count)
    ]


async def test_e4_the_memory_is_a_budget_line_of_its_own() -> None:
    team = pair()
    speaker = team.agents["speaker"].model_copy(update={"max_input_tokens": 700})
    context = SharedContext(team.preamble, "remembered " * 400, history(2), history(1)[0])
    parts = PromptParts("speaker", speaker, team, context, {})
    fitted = await fit_prompt(ScriptedModel(reply=well), parts)
    assert dict(fitted.cuts)["memory"] >= 400
    assert fitted.tokens <= 700


async def test_e5_a_turn_has_a_bound_that_follows_from_its_team(open_store: Callable[[str], Store]) -> None:
    """Two requests per agent at most, the second with at most twice the cap: no model can make a turn cost more."""
    team = pair()
    for number, text in enumerate(("no JSON", "", "I hear you. " * 400, '{"mood": 3}', "word " * 4000)):
        model = ScriptedModel(reply=lambda _, text=text: text)
        store = open_store(str(number))
        result = await TurnRunner(team, TeamRules(), cast_on_one(team, model), store).run("Hi!", user="ada")
        caps = sum(agent.output_reserve for agent in team.agents.values())
        assert len(model.requests) <= 2 * len(team.agents)
        assert sum(request.cap for request in model.requests) <= 3 * caps
        assert result.tokens.output <= 3 * caps


@pytest.mark.parametrize("messages", range(13))
async def test_e14_e16_history_is_cut_by_rule_and_never_between_a_message_and_its_answer(messages: int) -> None:
    """No model is asked for it, so it can not fail. Rounds of tool calls stay inside one call: a history has none."""
    model = ScriptedModel(reply=well)
    context: SharedContext | None = SharedContext("Preamble.", "", history(messages), history(1)[0])
    while context is not None:
        kept = context.history
        assert not kept or kept[0].role == "person"
        assert [one.id for one in kept] == [one.id for one in history(messages)[messages - len(kept) :]]
        context = context.without_oldest()
    team = pair()
    small = ScriptedModel(reply=well, context_tokens=1500)
    whole = SharedContext(team.preamble, "", history(messages), history(1)[0])
    fitted = await fit_history(whole, team, cast_on_one(team, small), list(team.agents))
    assert fitted.context.message == whole.message
    assert model.requests == small.requests == []


# G: nothing stands between


async def test_g14_no_gateway_is_between_a_turn_and_its_engine_so_a_cancel_arrives(
    open_store: Callable[[str], Store],
) -> None:
    """At the adapter's level: a cancelled turn closes every connection, and the engine sees it."""
    team = pair()
    async with ScriptedEngine(lambda _: silent(), kind=EngineKind.VLLM) as scripted:
        engine = await connect(scripted.url)
        runner = TurnRunner(team, TeamRules(), cast_on_one(team, engine), open_store("one"))
        turn = asyncio.create_task(runner.run("Hi!", user="ada", session="one"))
        while scripted.open_streams < len(team.agents):  # noqa: ASYNC110 - the server's own state
            await asyncio.sleep(0.01)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        for _ in range(200):
            if scripted.open_streams == 0:
                break
            await asyncio.sleep(0.01)
        assert (scripted.open_streams, scripted.disconnects) == (0, len(team.agents))
        assert all("via" not in request.headers for request in scripted.requests)
        await engine.aclose()


def test_c16_the_reserve_for_thinking_is_kept_beside_the_answers() -> None:
    quiet = pair().agents["speaker"]
    assert quiet.output_reserve == 40
    assert quiet.model_copy(update={"thinking": True}).output_reserve == 40 + 1024
