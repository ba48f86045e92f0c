"""Turns that are taken up again in the same process: what is asked again, what is refused, and what faults leave."""

import asyncio
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from tests.runtime.durable.processes import CALLS, MESSAGE, NOW, Rules, check_whole, team

from repertory.clock import fixed_clock
from repertory.engines.protocol import GenerateRequest
from repertory.errors import EngineUnavailableError, StorageError, TeamError, UsageError, VersionConflictError
from repertory.runtime.cast import cast_on_one
from repertory.runtime.durable.points import watch_points
from repertory.runtime.events import AgentFinished, ReplyReady, TurnEvent, TurnResumed
from repertory.runtime.recorder import Recorder
from repertory.runtime.rules import TeamRules, TurnView, Written
from repertory.runtime.team import Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store
from repertory.testing.scripted_model import Answer, ScriptedModel, agent_of

ANSWERS: dict[str, Answer] = {
    "quick": "Hello there. What now?",
    "critic": '{"mood": "dry"}',
    "closer": "All in all you seem calm.",
}
GONE = EngineUnavailableError("nothing answers at http://127.0.0.1:1")


def reply(**changes: Answer) -> Callable[[GenerateRequest], Answer]:
    def answer(request: GenerateRequest) -> Answer:
        name = agent_of(request)
        if name in changes:
            return changes[name]
        if name == "scribe":
            mended = any("mood must be calm" in message.content for message in request.messages)
            return '{"mood": "calm"}' if mended else '{"mood": "wild"}'
        return ANSWERS[name]

    return answer


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    with Store.open(address) as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_watcher() -> Iterator[None]:
    yield
    watch_points(None)


def runner(store: Store, model: ScriptedModel, rules: TeamRules | None = None, of: Team | None = None) -> TurnRunner:
    of = of or team()
    return TurnRunner(of, rules or Rules(), cast_on_one(of, model), store, fixed_clock(NOW))


class PowerCutError(BaseException):
    """The process is gone: nothing after the point is carried out."""


async def cut_at(store: Store, model: ScriptedModel, point: str, of: Team | None = None) -> str:
    """Run a turn up to a point, as if the process had ended there; its id."""

    def reach(reached: str) -> None:
        if reached == point:
            watch_points(None)
            raise PowerCutError

    watch_points(reach)
    broken = runner(store, model, of=of)

    async def ends(recorder: Recorder, turn: str) -> None:
        """A process that is gone keeps nothing more."""
        await recorder.abandon()

    broken._end_failed = ends
    with pytest.raises((PowerCutError, BaseExceptionGroup)):
        await broken.run(MESSAGE, user="ada", session="s1")
    (turn,) = store.turns.turns("small", "ada")
    store.turns.interrupt(turn.id)
    return turn.id


async def test_an_engine_that_went_away_leaves_a_turn_that_can_be_completed(store: Store) -> None:
    """One agent's engine fails; only that agent, and who had to do without it, run again (field report F10)."""
    result = await runner(store, ScriptedModel(reply=reply(scribe=GONE))).run(MESSAGE, user="ada", session="s1")
    assert (result.status, result.sections["notes"].status) == ("partial", "missing")
    model = ScriptedModel(reply=reply())
    again = runner(store, model)
    (turn,) = again.resumable("ada")
    assert turn.id == result.turn
    completed = await again.resume(turn.id)
    assert completed.status == "complete"
    assert model.started == ["scribe", "scribe"]  # and its repair; nobody else
    assert again.resumable("ada") == []
    kept = [one.section for one in store.blackboard("small", "ada").history() if one.agent != "code"]
    assert sorted(kept) == ["critique", "ending", "hello", "notes"]


async def test_an_engine_that_is_still_away_costs_nothing(store: Store) -> None:
    turn = await cut_at(store, ScriptedModel(reply=reply()), "scribe:call:2:begins")
    result = await runner(store, ScriptedModel(reply=lambda _: GONE)).resume(turn)
    assert result.status != "complete"
    model = ScriptedModel(reply=reply())
    assert (await runner(store, model).resume(turn)).status == "complete"
    check_whole(store, turn)
    assert model.started.count("scribe") == 1  # the first of its two calls is never made again


async def test_who_talks_on_lets_go_of_the_turn_that_lost_its_engine(store: Store) -> None:
    await runner(store, ScriptedModel(reply=reply(scribe=GONE))).run(MESSAGE, user="ada", session="s1")
    again = runner(store, ScriptedModel(reply=reply()))
    second = await again.run("And now?", user="ada", session="s1")
    assert second.status == "complete"
    assert again.resumable("ada") == []


async def test_a_resumed_turn_shows_what_was_before_and_goes_on_counting(store: Store) -> None:
    """What was there before is neither lost nor told twice (field report F7)."""
    turn = await cut_at(store, ScriptedModel(reply=reply()), "scribe:section:written")
    seen: list[TurnEvent] = []
    result = await runner(store, ScriptedModel(reply=reply())).resume(turn, sinks=[seen.append])
    places = [one.seq for one in result.events]
    assert places == sorted(set(places))
    resumed = [one for one in seen if isinstance(one, TurnResumed)]
    assert [one.resumes for one in resumed] == [1]
    assert "scribe" in resumed[0].done
    assert [one.which for one in seen if isinstance(one, ReplyReady)] == ["first", "full"]
    finished = [one.agent for one in result.events if isinstance(one, AgentFinished) and one.status == "done"]
    assert sorted(finished) == sorted(CALLS)
    elapsed = [one.elapsed_s for one in result.events]
    assert elapsed == sorted(elapsed)


async def test_answers_to_another_team_are_not_used(store: Store) -> None:
    """A question that has changed is asked again; only written sections stand (field report F14)."""
    turn = await cut_at(store, ScriptedModel(reply=reply()), "scribe:call:2:finished")
    changed = team()
    scribe = changed.agents["scribe"].model_copy(update={"instructions": "Note with care."})
    changed = changed.model_copy(update={"agents": dict(changed.agents) | {"scribe": scribe}})
    model = ScriptedModel(reply=reply())
    assert (await runner(store, model, of=changed).resume(turn)).status == "complete"
    assert model.started.count("scribe") == 2
    assert all("Note with care." in one.messages[1].content for one in model.requests if agent_of(one) == "scribe")


async def test_a_finished_turn_is_not_run_again(store: Store) -> None:
    """Asking for a finished turn again calls nobody and writes nothing (field report F17)."""
    result = await runner(store, ScriptedModel(reply=reply())).run(MESSAGE, user="ada", session="s1")
    model = ScriptedModel(reply=reply())
    with pytest.raises(UsageError, match="complete; there is nothing to resume"):
        await runner(store, model).resume(result.turn)
    assert model.requests == []
    check_whole(store, result.turn)


@pytest.mark.parametrize("turn", ["", "t", "nonsense", "t00000000000000000000000000"])
async def test_a_turn_that_is_not_there_is_told(store: Store, turn: str) -> None:
    with pytest.raises(UsageError, match="there is no turn"):
        await runner(store, ScriptedModel(reply=reply())).resume(turn)


async def test_a_turn_of_another_team_is_left_alone(store: Store) -> None:
    turn = await cut_at(store, ScriptedModel(reply=reply()), "turn:begun")
    other = team().model_copy(update={"name": "other"})
    with pytest.raises(UsageError, match="of team 'small'"):
        await runner(store, ScriptedModel(reply=reply()), of=other).resume(turn)
    (kept,) = store.turns.turns("small", "ada")
    assert kept.status == "interrupted"


async def test_of_two_who_resume_a_turn_one_gets_it(store: Store) -> None:
    """Two processes on one database: the other is told, and nothing is done twice."""
    turn = await cut_at(store, ScriptedModel(reply=reply()), "critic:section:written")
    model = ScriptedModel(reply=reply(), hold={"closer": asyncio.Event()})
    first = asyncio.create_task(runner(store, model).resume(turn))
    while "closer" not in model.started:  # noqa: ASYNC110 - the scripted model has no event for this
        await asyncio.sleep(0.001)
    with pytest.raises(StorageError, match="carried by another process"):
        await runner(store, ScriptedModel(reply=reply())).resume(turn)
    model.hold["closer"].set()
    await first
    check_whole(store, turn)


async def test_a_resumed_turn_whose_engine_hangs_ends_at_its_deadline(store: Store) -> None:
    """It is never stuck; what it held is free, and the turn says what is missing (field report F18)."""
    turn = await cut_at(store, ScriptedModel(reply=reply()), "critic:section:written")
    model = ScriptedModel(reply=reply(), hold={name: asyncio.Event() for name in CALLS})
    short = team().model_copy(update={"deadline_s": 0.2})
    result = await runner(store, model, of=short).resume(turn)
    assert result.status in {"partial", "failed"}
    assert model.running == 0
    (kept,) = store.turns.turns("small", "ada")
    assert kept.status == result.status


@pytest.mark.parametrize(
    "body",
    [
        '{"py/object": "os.system", "args": ["true"]}',
        '"gASVIQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAR0cnVllIWUUpQu"',
        '{"team": "x", "finish_reason": "stop", "text": 3}',
        '{"team": "x", "finish_reason": "stop", "text": "a", "extra": true}',
        "[]",
    ],
)
async def test_a_step_that_was_tampered_with_is_refused(store: Store, body: str) -> None:
    """Steps are JSON that is validated; nothing in them is ever imported or called (field report F19)."""
    turn = await cut_at(store, ScriptedModel(reply=reply()), "scribe:call:2:begins")
    with store._database.write() as session:
        session.execute(text("UPDATE turn_steps SET body = :body WHERE number > 0"), {"body": body})
    model = ScriptedModel(reply=reply())
    with pytest.raises(StorageError, match="is damaged"):
        await runner(store, model).resume(turn)
    assert model.requests == []


async def test_the_same_bad_answer_twice_ends_the_agent(store: Store) -> None:
    """Code drives the turn; an agent that repeats itself is stopped after two calls (field report F20)."""
    model = ScriptedModel(reply=reply(critic='{"mood": 3}'))
    result = await runner(store, model).run(MESSAGE, user="ada", session="s1")
    assert model.started.count("critic") == 2
    assert result.sections["critique"].status == "missing"


async def test_the_join_sees_every_output_or_a_mark(store: Store) -> None:
    """Synth's place in a turn: all that was written, and a mark for what was not (field report F4)."""
    model = ScriptedModel(reply=reply(critic='{"mood": 3}'))
    await runner(store, model).run(MESSAGE, user="ada", session="s1")
    closing = next(one for one in model.requests if agent_of(one) == "closer").messages[-1].content
    assert '{"mood": "calm"}' in closing
    assert "critique (its writer gave nothing in this turn)" in closing


class Instead(Rules):
    """Code writes what the critic could not."""

    def fallback(self, name: str, answer: Any, problems: Any, view: TurnView) -> Written | None:
        return Written(value={"mood": "unknown"}) if name == "critic" else None


async def test_what_code_put_in_place_of_an_agent_reaches_the_join(store: Store) -> None:
    """The degraded output of a failed specialist is handed on, and the turn says so; also when it is resumed.

    (field report F11)
    """
    model = ScriptedModel(reply=reply(critic='{"mood": 3}'))
    result = await runner(store, model, Instead()).run(MESSAGE, user="ada", session="s1")
    closing = next(one for one in model.requests if agent_of(one) == "closer").messages[-1].content
    assert '{"mood": "unknown"}' in closing
    assert result.status == "partial"
    assert result.reason is not None
    assert result.reason.startswith("critic: ")


async def test_the_first_reply_does_not_wait_for_a_slow_sibling(store: Store) -> None:
    """The Coach's words are final while another agent has not even begun to answer (field report F9)."""
    model = ScriptedModel(reply=reply(), hold={"scribe": asyncio.Event()})
    seen: list[TurnEvent] = []
    task = asyncio.create_task(runner(store, model).run(MESSAGE, user="ada", sinks=[seen.append]))
    while not any(isinstance(one, ReplyReady) for one in seen):  # noqa: ASYNC110 - a sink can not be awaited
        await asyncio.sleep(0.001)
    assert model.running >= 1
    model.hold["scribe"].set()
    await task


def test_parallel_writers_lose_nothing(store: Store) -> None:
    """Compare-and-set: as many versions as writes, whoever comes first (field report F3)."""
    session = store.sessions.start("small", "ada", "s1", NOW)
    turn = store.turns.begin_turn(session, at=NOW)
    board = store.blackboard("small", "ada")

    def write(name: str) -> None:
        done = 0
        while done < 25:
            last = board.latest("notes")
            version = last.version if last else 0
            try:
                before: list[str] = last.value if last else []
                value = [*before, f"{name}{done}"]
                board.write("notes", value, turn=turn.id, agent=name, at=NOW, expect_version=version)
            except VersionConflictError:
                continue
            done += 1

    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    last = board.latest("notes")
    assert last is not None
    assert last.version == 100
    assert sorted(last.value) == sorted(f"{name}{n}" for name in "abcd" for n in range(25))


def test_a_second_result_of_a_step_changes_nothing(store: Store) -> None:
    """A step that is carried out again returns what it left the first time; no side effect comes twice.

    (field reports F5, F13)
    """
    session = store.sessions.start("small", "ada", "s1", NOW)
    turn = store.turns.begin_turn(session, at=NOW)
    board = store.blackboard("small", "ada")
    promise = [CommitmentChange(what="call Mia")]

    def commit(mood: str) -> Any:
        return board.commit_agent_result(
            "notes", {"mood": mood}, turn=turn.id, agent="scribe", commitments=promise, message="m1", at=NOW
        )

    first, second = commit("calm"), commit("wild")
    assert (first.repeated, second.repeated) == (False, True)
    assert second.section == first.section
    assert len(store.commitments.all("small", "ada")) == 1


FAULTS = {
    "disk full": ("PRAGMA max_page_count = 1", "disk is full"),
    "read only": ("PRAGMA query_only = ON", "can not be written"),
}


@contextmanager
def fault(store: Store, pragma: str) -> Generator[Callable[[], None]]:
    """Something that breaks the database from then on, until the block ends."""

    def spoil(connection: Connection) -> None:
        if broken:
            connection.exec_driver_sql(pragma)

    broken: list[bool] = []
    event.listen(store._database.engine, "begin", spoil)
    try:
        yield lambda: broken.append(True)
    finally:
        broken.clear()
        event.remove(store._database.engine, "begin", spoil)
        store._database.engine.dispose()  # the pragmas stay with the connections


@pytest.mark.parametrize("name", list(FAULTS))
@pytest.mark.parametrize("point", ["turn:begun", "scribe:call:1:finished", "scribe:section:begins", "turn:closed"])
async def test_a_database_that_fails_in_a_turn_is_told_and_nothing_is_lost(store: Store, name: str, point: str) -> None:
    if not store._database.sqlite:
        pytest.skip("a server has its own disk")
    pragma, words = FAULTS[name]
    model = ScriptedModel(reply=reply())
    run = runner(store, model)
    with fault(store, pragma) as spoil:
        watch_points(lambda reached: spoil() if reached == point else None)
        with pytest.raises(StorageError, match=words) as told:
            await run.run(MESSAGE, user="ada", session="s1")
        watch_points(None)
    assert told.value.hint
    asked = len(model.requests)
    (turn,) = await asyncio.to_thread(run.resumable, "ada")
    assert turn.status == "interrupted"
    assert (await run.resume(turn.id)).status == "complete"
    check_whole(store, turn.id)
    assert len(model.requests) - asked <= sum(CALLS.values())


async def test_a_clock_that_jumps_confuses_nothing(store: Store) -> None:
    """Back by a year in the middle of a turn, and forth by ten."""
    moments = iter([NOW, NOW - timedelta(days=365), NOW + timedelta(days=3650)])
    last = NOW

    def clock() -> datetime:
        nonlocal last
        last = next(moments, last)
        return last

    run = runner(store, ScriptedModel(reply=reply()))
    run.clock = clock
    results = [await run.run(MESSAGE, user="ada", session="s1") for _ in range(3)]
    assert [one.status for one in results] == ["complete"] * 3
    for one in results:
        elapsed = [event.elapsed_s for event in one.events]
        assert elapsed == sorted(elapsed)
    turns = store.turns.turns("small", "ada")
    assert [one.number for one in turns] == [3, 2, 1]
    history = [(one.section, one.version) for one in store.blackboard("small", "ada").history()]
    assert len(history) == len(set(history))
    session = store.sessions.find("small", "ada", "s1")
    assert session is not None
    assert [one.id for one in store.messages.messages(session)] == [f"m{n}" for n in range(1, 7)]


async def test_a_turn_keeps_its_clock_when_it_is_resumed(store: Store) -> None:
    turn = await cut_at(store, ScriptedModel(reply=reply()), "quick:section:written")
    again = runner(store, ScriptedModel(reply=reply()))
    again.clock = fixed_clock(NOW - timedelta(days=400))
    await again.resume(turn)
    assert {one.at for one in store.blackboard("small", "ada").history()} == {NOW}


async def test_steps_are_the_persons_own_data(store: Store) -> None:
    """They are in the export, and erased with everything else."""
    turn = await cut_at(store, ScriptedModel(reply=reply()), "scribe:call:2:begins")
    assert store.steps.of_turn(turn)
    (kept,) = store.export("ada")["teams"]["small"]["turns"]
    assert {step["agent"] for step in kept["steps"]} >= {"scribe"}
    assert store.erase("ada")["turn_steps"] > 0
    assert store.steps.of_turn(turn) == ()
    with pytest.raises(UsageError, match="there is no turn"):
        await runner(store, ScriptedModel(reply=reply())).resume(turn)


class GoesAwayBeforeTheEnd(ScriptedModel):
    """Its engine is gone when the closer's prompt is to be counted."""

    async def count_tokens(self, messages: Any) -> int:
        if "# Your role: closer" in messages[-1].content:
            raise GONE
        return await super().count_tokens(messages)


async def test_an_engine_that_is_gone_before_a_request_is_sent_is_waited_for_too(store: Store) -> None:
    result = await runner(store, GoesAwayBeforeTheEnd(reply=reply())).run(MESSAGE, user="ada", session="s1")
    assert result.status == "partial"
    model = ScriptedModel(reply=reply())
    again = runner(store, model)
    (turn,) = again.resumable("ada")
    assert (await again.resume(turn.id)).status == "complete"
    assert model.started == ["closer"]


async def test_one_write_stands_before_the_first_word(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is kept before it is answered; steps, sections and events are written beside the agents' work."""
    order: list[str] = []
    write = store._database.write

    @contextmanager
    def counted() -> Generator[Any]:
        order.append("write")
        with write() as session:
            yield session

    monkeypatch.setattr(store._database, "write", counted)

    def see(seen: TurnEvent) -> None:
        if seen.type == "agent_delta":
            order.append("word")

    held = ScriptedModel(reply=reply(), hold={name: asyncio.Event() for name in ("scribe", "critic")})
    turn = asyncio.create_task(runner(store, held).run(MESSAGE, user="ada", sinks=[see]))
    while "word" not in order:  # noqa: ASYNC110 - a sink can not be awaited
        await asyncio.sleep(0.001)
    assert order[: order.index("word")] == ["write"]
    for event_of in held.hold.values():
        event_of.set()
    await turn
    # The turn's beginning, four sections, the scribe's first call, what code writes, the reply, events, the end.
    assert order.count("write") <= 12


async def test_nothing_of_a_complete_turn_is_kept_twice(store: Store) -> None:
    """Steps are there to take a turn up again; when it is complete they are gone, and its sections remain."""
    result = await runner(store, ScriptedModel(reply=reply())).run(MESSAGE, user="ada", session="s1")
    assert result.status == "complete"
    assert store.steps.of_turn(result.turn) == ()


def test_two_writers_of_one_section_are_refused_when_the_team_is_loaded(store: Store) -> None:
    """No two agents can overwrite each other, because there never are two (field reports F1, F5)."""
    agents = dict(team().agents)
    agents["critic"] = agents["critic"].model_copy(update={"writes": "notes"})
    with pytest.raises(TeamError, match="`scribe` and `critic`"):
        runner(store, ScriptedModel(reply=reply()), of=team().model_copy(update={"agents": agents}))
