"""What was cut off is completed by the server: at its start, when an engine is back, and never for ever."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from tests.server.panel.duo import ANSWERS, DUO, FIRST, FULL
from tests.server.served_team import served

from repertory.engines.protocol import ChatMessage
from repertory.errors import EngineUnavailableError
from repertory.runtime.events import TurnEvent
from repertory.runtime.recorder import EventSink
from repertory.runtime.turn import MOST_RESUMES
from repertory.server.running_turns import RunningTurn
from repertory.server.turn_teams import RunnerTeams
from repertory.server.unfinished_turns import UnfinishedTurns
from repertory.storage.records import Turn
from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel, agent_of

pytestmark = pytest.mark.virtual_time

GONE = EngineUnavailableError("nothing answers")


class Model(ScriptedModel):
    """A model whose engine may be away."""

    away = False

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        if self.away:
            raise GONE
        return await super().count_tokens(messages)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        yield opened


@pytest.fixture
def model() -> Model:
    return Model(reply=lambda request: ANSWERS[agent_of(request)])


@pytest.fixture
def talk(store: Store, model: Model) -> RunnerTeams:
    return served(DUO, model, store)


def unfinished(store: Store, talk: RunnerTeams) -> UnfinishedTurns:
    return UnfinishedTurns(store, talk, None, lambda: False)


async def cut_off(store: Store, talk: RunnerTeams, model: ScriptedModel) -> str:
    """A turn whose second agent never answered, as a process leaves it that is killed."""
    model.reply = lambda request: GONE if agent_of(request) == "closer" else ANSWERS[agent_of(request)]
    begun = await talk.begin("duo", "Hi!", user="ada", session="s1")
    await asyncio.wait({begun.task})
    model.reply = lambda request: ANSWERS[agent_of(request)]
    model.requests.clear()
    store.turns.interrupt(begun.turn)
    return begun.turn


async def test_a_turn_is_completed_and_what_was_done_is_not_done_again(
    store: Store, talk: RunnerTeams, model: Model
) -> None:
    turn = await cut_off(store, talk, model)
    told: list[tuple[str, str]] = []

    class Watcher:
        def watch_turn(self, team: str, user: str) -> EventSink:
            told.append((team, user))
            return list[TurnEvent]().append

        def turn_ended(self, turn: RunningTurn, status: str) -> None:
            told.append((turn.turn, status))

    talk.running.watch(Watcher())
    await unfinished(store, talk).complete()
    assert model.started == ["closer"]
    assert told == [("duo", "ada"), (turn, "complete")]  # who looks at the dashboard sees it go on
    session = store.sessions.find("duo", "ada", "s1")
    assert session is not None
    assert [one.text for one in store.messages.messages(session)][1:] == [f"{FIRST}\n\n{FULL}"]
    await unfinished(store, talk).complete()
    assert model.started == ["closer"]


async def test_a_new_message_does_not_wait_for_it(store: Store, talk: RunnerTeams, model: Model) -> None:
    await cut_off(store, talk, model)
    model.hold["closer"] = asyncio.Event()
    completing = asyncio.create_task(unfinished(store, talk).complete())
    while not model.requests:  # noqa: ASYNC110 - the other task gets there
        await asyncio.sleep(0.01)
    del model.hold["closer"]
    begun = await talk.begin("duo", "Hello?", user="bob")
    assert (await begun.task).status == "complete"
    assert not completing.done()
    completing.cancel()
    await asyncio.gather(completing, return_exceptions=True)
    assert talk.running.busy  # the turn goes on though nobody looks after it


async def test_an_engine_that_is_away_costs_no_try(store: Store, talk: RunnerTeams, model: Model) -> None:
    turn = await cut_off(store, talk, model)
    model.away = True
    looking = asyncio.create_task(unfinished(store, talk).run())
    await asyncio.sleep(120)
    kept = store.turns.get(turn)
    assert kept is not None
    assert (kept.status, kept.resumes) == ("interrupted", 0)
    model.away = False
    await asyncio.sleep(5)
    kept = store.turns.get(turn)
    assert kept is not None
    assert (kept.status, kept.resumes) == ("complete", 1)
    looking.cancel()


async def test_a_turn_that_is_cut_off_each_time_is_left_alone(store: Store, talk: RunnerTeams, model: Model) -> None:
    """It holds up nobody else (field report F18)."""
    turn = await cut_off(store, talk, model)
    model.reply = lambda _: GONE
    looking = asyncio.create_task(unfinished(store, talk).run())
    await asyncio.sleep(3600)
    kept = store.turns.get(turn)
    assert kept is not None
    assert kept.resumes == MOST_RESUMES
    asked = len(model.requests)
    await asyncio.sleep(3600)
    assert len(model.requests) == asked
    looking.cancel()


async def test_turns_of_teams_that_are_not_served_and_a_server_that_stops(
    store: Store, talk: RunnerTeams, model: Model
) -> None:
    await cut_off(store, talk, model)
    others = RunnerTeams(["others"], talk._runner_of)
    await unfinished(store, others).complete()
    await UnfinishedTurns(store, talk, None, lambda: True).complete()
    assert model.requests == []


async def test_builds_are_taken_up_by_who_carries_builds(store: Store, talk: RunnerTeams, model: Model) -> None:
    build = await cut_off(store, talk, model)
    taken: list[str] = []

    class Builds:
        team = "duo"

        async def take_up(self, build: Turn) -> RunningTurn | None:
            taken.append(build.id)
            return None if len(taken) == 1 else await talk.resume(build)

    looking = UnfinishedTurns(store, RunnerTeams(["others"], talk._runner_of), Builds(), lambda: False)
    await looking.complete()  # another build runs
    assert model.requests == []
    await looking.complete()
    assert taken == [build, build]
    assert model.started == ["closer"]
