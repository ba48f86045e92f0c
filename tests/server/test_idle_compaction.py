"""Sessions are compacted while nobody uses the server, and whoever comes finds the engine free."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from tests.server.panel.duo import ANSWERS, DUO
from tests.server.served_team import served

from repertory.engines.protocol import GenerateRequest
from repertory.errors import EngineUnavailableError
from repertory.runtime.compaction.facts import read_facts
from repertory.runtime.schedule import IDLE_PRIORITY
from repertory.server.idle_compaction import IdleCompaction
from repertory.storage.store import Store
from repertory.testing.scripted_model import Answer, ScriptedModel, agent_of

pytestmark = pytest.mark.virtual_time

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
COMPACTION = ""
"""What the scripted model calls the agent of a request that is no agent's."""


def answer(request: GenerateRequest) -> Answer:
    if agent_of(request) != COMPACTION:
        return ANSWERS[agent_of(request)]
    said = re.findall(r'<message id="(m\d+)" date="[^"]+">\n(.*?)\n</message>', request.messages[-1].content, re.DOTALL)
    return json.dumps({"facts": [{"message": name, "text": text, "lasting": True} for name, text in said]})


def talked(store: Store, user: str, *said: str, team: str = "duo") -> None:
    """Sessions with one message each; the last one goes on."""
    for number, text in enumerate([*said, "Hi again."], 1):
        session = store.sessions.start(team, user, f"s{number}", NOW)
        turn = store.turns.begin_turn(session, at=NOW)
        store.messages.append_message(session, "person", text, turn.id, NOW)
        store.messages.append_message(session, "team", "I hear you.", turn.id, NOW)
        store.turns.finish_turn(turn.id, "complete", {}, at=NOW)


class Bench:
    """A served team, its model, and what compacts."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.model = ScriptedModel(reply=answer)
        self.talk = served(DUO, self.model, store)
        self.busy = False
        self.compaction = IdleCompaction(store, self.talk, lambda: self.busy, after_s=30)
        self.talk.running.watch(self.compaction)

    @asynccontextmanager
    async def compacting(self) -> AsyncGenerator[None]:
        task = asyncio.create_task(self.compaction.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def facts(self, user: str) -> list[str]:
        return [fact.text for fact in read_facts(self.store.summaries.all("duo", user))]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:  # in the loop, whose time it reads
    with Store.open() as store:
        yield Bench(store)


async def test_what_is_over_is_compacted_when_nobody_came_for_a_while(bench: Bench) -> None:
    talked(bench.store, "ada", "My sister Mia lives in Lisbon.", "I run on Tuesdays.")
    talked(bench.store, "bob", "I like rye bread.")
    talked(bench.store, "eve", "I am of another team.", team="others")
    async with bench.compacting():
        await asyncio.sleep(29)
        assert bench.model.requests == []
        await asyncio.sleep(60)
    assert bench.facts("ada") == ["My sister Mia lives in Lisbon.", "I run on Tuesdays."]
    assert bench.facts("bob") == ["I like rye bread."]
    assert {request.priority for request in bench.model.requests} == {IDLE_PRIORITY}
    assert len(bench.model.requests) == 3


async def test_a_turn_ends_it_at_once_and_it_goes_on_later(bench: Bench) -> None:
    talked(bench.store, "ada", "My sister Mia lives in Lisbon.")
    held = bench.model.hold[COMPACTION] = asyncio.Event()
    async with bench.compacting():
        await asyncio.sleep(35)
        assert bench.model.running == 1
        begun = await bench.talk.begin("duo", "Hi!", user="bob")
        assert bench.model.cancelled == [COMPACTION]  # before the turn asks for its first word
        assert (await begun.task).status == "complete"
        held.set()
        await asyncio.sleep(25)
        assert bench.facts("ada") == []  # the person may write again soon
        await asyncio.sleep(10)
        assert bench.facts("ada") == ["My sister Mia lives in Lisbon."]


async def test_another_request_ends_it_too(bench: Bench) -> None:
    talked(bench.store, "ada", "My sister Mia lives in Lisbon.")
    bench.model.hold[COMPACTION] = asyncio.Event()
    async with bench.compacting():
        await asyncio.sleep(35)
        assert bench.model.running == 1
        bench.busy = True
        await asyncio.sleep(0.5)
        assert bench.model.running == 0
        await asyncio.sleep(600)
        assert len(bench.model.requests) == 1


async def test_the_end_of_the_server_ends_it(bench: Bench) -> None:
    talked(bench.store, "ada", "My sister Mia lives in Lisbon.")
    bench.model.hold[COMPACTION] = asyncio.Event()
    async with bench.compacting():
        await asyncio.sleep(35)
    await asyncio.sleep(0.1)
    assert bench.model.running == 0


async def test_a_session_that_can_not_be_read_is_not_read_for_ever(bench: Bench) -> None:
    talked(bench.store, "ada", "My sister Mia lives in Lisbon.")
    talked(bench.store, "bob", "I like rye bread.")

    def confused(request: GenerateRequest) -> Answer:
        return "no JSON" if "Lisbon" in request.messages[-1].content else answer(request)

    bench.model.reply = confused
    async with bench.compacting():
        await asyncio.sleep(1000)
        asked = len(bench.model.requests)
        assert bench.facts("bob") == ["I like rye bread."]
        await asyncio.sleep(10_000)
        assert len(bench.model.requests) == asked


async def test_an_engine_that_is_away_is_asked_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    talked(bench.store, "ada", "My sister Mia lives in Lisbon.")

    async def away(*_: str) -> None:
        raise EngineUnavailableError("nothing answers")

    async with bench.compacting():
        with monkeypatch.context() as broken:
            broken.setattr(bench.talk, "compact", away)
            await asyncio.sleep(300)
        await asyncio.sleep(300)
        assert bench.facts("ada") == ["My sister Mia lives in Lisbon."]
