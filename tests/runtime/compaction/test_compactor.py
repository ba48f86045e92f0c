"""Compaction: what is kept of a session, that it can be interrupted, and that nothing is ever lost by it."""

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from repertory.clock import fixed_clock
from repertory.engines.protocol import GenerateRequest
from repertory.errors import EngineUnavailableError, StorageError
from repertory.runtime.cast import Instance, cast_on_one
from repertory.runtime.compaction.compactor import Compactor
from repertory.runtime.compaction.facts import read_facts
from repertory.runtime.rules import TeamRules
from repertory.runtime.schedule import IDLE_PRIORITY
from repertory.runtime.team import Agent, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store
from repertory.testing.scripted_model import Answer, ScriptedModel, agent_of

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "compaction.sqlite") as opened:
        yield opened


def talk(store: Store, *sessions: list[str]) -> None:
    """Sessions in which a person said these things."""
    for number, said in enumerate(sessions, 1):
        session = store.sessions.start("small", "ada", f"s{number}", NOW)
        for text in said:
            turn = store.turns.begin_turn(session, at=NOW)
            store.messages.append_message(session, "person", text, turn.id, NOW)
            store.messages.append_message(session, "team", "I hear you. " * 20, turn.id, NOW)
            store.turns.finish_turn(turn.id, "complete", {}, at=NOW)


def said_in(request: GenerateRequest) -> list[tuple[str, str]]:
    return re.findall(r'<message id="(m\d+)" date="[^"]+">\n(.*?)\n</message>', request.messages[-1].content, re.DOTALL)


def notes(request: GenerateRequest) -> str:
    """A model that notes down every message as it stands."""
    facts = [{"message": name, "text": text[:160], "lasting": "sister" in text} for name, text in said_in(request)]
    return json.dumps({"facts": facts[:8]})


def compactor(store: Store, model: ScriptedModel) -> Compactor:
    return Compactor(store, Instance("scripted", model), fixed_clock(NOW))


async def test_sessions_that_are_over_become_facts_and_the_messages_stay(store: Store) -> None:
    talk(store, ["My sister Mia lives in Lisbon.", "I like rye bread."], ["I run on Tuesdays."], ["Hello again."])
    before = store.export("ada")["teams"]["small"]["messages"]
    model = ScriptedModel(reply=notes)
    report = await compactor(store, model).compact("small", "ada")
    assert (report.sessions, report.facts, report.dropped, report.left) == (2, 3, 0, 0)
    facts = read_facts(store.summaries.all("small", "ada"))
    assert [(one.text, one.message, one.lasting) for one in facts] == [
        ("My sister Mia lives in Lisbon.", "m1", True),
        ("I like rye bread.", "m3", False),
        ("I run on Tuesdays.", "m5", False),
    ]
    assert store.export("ada")["teams"]["small"]["messages"] == before
    assert {request.priority for request in model.requests} == {IDLE_PRIORITY}
    asked = len(model.requests)
    assert (await compactor(store, model).compact("small", "ada")).sessions == 0
    assert len(model.requests) == asked


async def test_what_no_message_holds_is_not_kept(store: Store) -> None:
    talk(store, ["I like rye bread."], ["Hi."])
    invented = [
        {"message": "m1", "text": "Their brother is a surgeon in Oslo.", "lasting": True},
        {"message": "m1", "text": "likes rye bread", "lasting": False},
    ]
    report = await compactor(store, ScriptedModel(reply=lambda _: json.dumps({"facts": invented}))).compact(
        "small", "ada"
    )
    assert (report.facts, report.dropped) == (1, 1)
    assert [one.text for one in read_facts(store.summaries.all("small", "ada"))] == ["likes rye bread"]


@pytest.mark.parametrize("answer", ["no JSON", EngineUnavailableError("gone")], ids=["prose", "unavailable"])
async def test_a_model_that_gives_nothing_leaves_the_session_for_later(store: Store, answer: Answer) -> None:
    talk(store, ["My sister Mia lives in Lisbon."], ["Hi."])
    report = await compactor(store, ScriptedModel(reply=lambda _: answer)).compact("small", "ada")
    assert (report.sessions, report.left) == (0, 1)
    assert (await compactor(store, ScriptedModel(reply=notes)).compact("small", "ada")).facts == 1


async def test_it_is_interrupted_at_any_moment_and_goes_on_where_it_was(store: Store) -> None:
    talk(
        store, [f"In week {n} I met {chr(64 + n) * 5} at the lake. " + "So it was. " * 60 for n in range(1, 9)], ["Hi."]
    )
    holding = ScriptedModel(reply=notes, context_tokens=1200)
    stop = asyncio.Event()

    class Stopping(ScriptedModel):
        async def generate(self, request: GenerateRequest):
            if len(self.requests) == 2:
                stop.set()
                await asyncio.Event().wait()
            async for part in super().generate(request):
                yield part

    model = Stopping(reply=notes, context_tokens=1200)
    task = asyncio.create_task(compactor(store, model).compact("small", "ada"))
    await stop.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    first = read_facts(store.summaries.all("small", "ada"))
    assert 0 < len(first) < 8
    report = await compactor(store, holding).compact("small", "ada")
    assert report.sessions == 1
    facts = read_facts(store.summaries.all("small", "ada"))
    assert [one.message for one in facts] == [f"m{n}" for n in range(1, 16, 2)]
    read = [name for request in holding.requests for name, _ in said_in(request)]
    assert not {one.message for one in first} & set(read)


async def test_a_damaged_summary_is_told_and_nothing_of_it_used(store: Store) -> None:
    talk(store, ["I like rye bread."], ["Hi."])
    session = store.sessions.all("small", "ada")[0]
    store.summaries.keep(session, '[{"text": "x", "call": "os.system"}]', last_message=1, at=NOW)
    with pytest.raises(StorageError, match="summary is damaged"):
        read_facts(store.summaries.all("small", "ada"))


async def test_a_later_session_remembers_within_its_bound(store: Store) -> None:
    team = Team(
        name="small",
        preamble="You are a small team.",
        sections={"ending": Section(text=True)},
        agents={"closer": Agent(instructions="Close.", writes="ending")},
        replies=Replies(full="ending"),
    )
    talk(
        store,
        ["My sister Mia lives in Lisbon."],
        *([f"Day {n}: I ate soup {n}." for n in range(k, k + 4)] for k in range(0, 120, 4)),
    )
    model = ScriptedModel(reply=lambda request: "Fine." if agent_of(request) else notes(request))
    runner = TurnRunner(team, TeamRules(), cast_on_one(team, model), store, fixed_clock(NOW))
    await runner.run("Hi!", user="ada", session="today")
    await runner.compact("ada")
    asked = len(model.requests)
    await runner.run("I may visit my sister soon.", user="ada", session="tomorrow")
    prompt = model.requests[asked].messages
    assert len(prompt[0].content) < 1400
    assert "My sister Mia lives in Lisbon." in prompt[0].content  # it lasts, so it is in the memory
    await runner.run("What about soup 7 on day 7?", user="ada", session="tomorrow")
    assert "Day 7: I ate soup 7." in model.requests[-1].messages[-1].content
