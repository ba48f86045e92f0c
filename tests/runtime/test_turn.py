"""Turns of a small team on a scripted model: what runs when, what a failure costs, and what is left behind."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from repertory.clock import fixed_clock
from repertory.engines.protocol import GenerateRequest, StreamPart
from repertory.errors import EngineUnavailableError, StreamError, TeamError, UsageError
from repertory.runtime.cast import cast_on_one
from repertory.runtime.events import AgentDelta, AgentFinished, AgentStarted, ReplyReady, SectionWritten, TurnEvent
from repertory.runtime.rules import Interception, Merge, Safety, TeamRules, TextGate, TurnView, Written
from repertory.runtime.team import Agent, OnMissing, Read, ReadMode, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store
from repertory.testing.scripted_model import Answer, ScriptedModel, agent_of

pytestmark = pytest.mark.virtual_time

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
MOOD = {
    "type": "object",
    "properties": {"mood": {"type": "string", "maxLength": 20}},
    "required": ["mood"],
    "additionalProperties": False,
}
ANSWERS: dict[str, Answer] = {
    "quick": "Hello there. What now?",
    "scribe": '{"mood": "calm"}',
    "critic": '{"mood": "dry"}',
    "closer": "All in all you seem calm.",
}


def small_team(**changes: Any) -> Team:
    fresh = Read(mode=ReadMode.FRESH)
    values: dict[str, Any] = {
        "name": "small",
        "preamble": "You are a small team.",
        "sections": {
            "hello": Section(text=True),
            "notes": Section(json_schema=MOOD),
            "critique": Section(json_schema=MOOD),
            "ending": Section(text=True),
        },
        "agents": {
            "quick": Agent(instructions="Greet.", writes="hello"),
            "scribe": Agent(instructions="Note.", writes="notes"),
            "critic": Agent(instructions="Judge.", writes="critique", reads={"notes": Read()}),
            "closer": Agent(instructions="Close.", writes="ending", reads={"notes": fresh, "critique": fresh}),
        },
        "replies": Replies(first="hello", full="ending"),
    }
    return Team(**(values | changes))


def answers(**changes: Answer) -> Callable[[GenerateRequest], Answer]:
    table = ANSWERS | changes
    return lambda request: table[agent_of(request)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "turns.sqlite") as opened:
        yield opened


def runner(
    store: Store, model: ScriptedModel | None = None, team: Team | None = None, rules: TeamRules | None = None
) -> TurnRunner:
    team = team or small_team()
    model = model or ScriptedModel(reply=answers())
    return TurnRunner(team, rules or TeamRules(), cast_on_one(team, model), store, fixed_clock(NOW))


async def test_a_turn_writes_every_section_and_both_replies(store: Store) -> None:
    model = ScriptedModel(reply=answers())
    result = await runner(store, model).run("Hi!", user="ada", session="s1")
    assert (result.status, result.reason) == ("complete", None)
    assert (result.first_reply, result.reply) == ("Hello there. What now?", "All in all you seem calm.")
    assert {name: section.value for name, section in result.sections.items()} == {
        "critique": {"mood": "dry"},
        "notes": {"mood": "calm"},
    }
    assert all(section.status == "written" for section in result.sections.values())
    board = store.blackboard("small", "ada").all_latest()
    assert board["notes"].value == {"mood": "calm"}
    assert board["notes"].agent == "scribe"
    session = store.sessions.find("small", "ada", "s1")
    assert session is not None
    kept = [(message.role, message.text) for message in store.messages.messages(session)]
    assert kept == [("person", "Hi!"), ("team", "Hello there. What now?\n\nAll in all you seem calm.")]


async def test_what_can_run_runs_at_once_and_the_closer_waits_for_its_fresh_reads(store: Store) -> None:
    model = ScriptedModel(reply=answers(), hold={"scribe": asyncio.Event()})
    seen: list[TurnEvent] = []
    turn = asyncio.create_task(runner(store, model).run("Hi!", user="ada", sinks=[seen.append]))
    await until(lambda: any(isinstance(event, ReplyReady) for event in seen) and model.running == 1)
    # The first reply is out and the critic is done while the scribe still works; the closer has not been asked.
    assert sorted(model.started) == ["critic", "quick", "scribe"]
    assert model.most_running == 3
    model.hold["scribe"].set()
    await turn
    order = [event for event in seen if isinstance(event, SectionWritten | AgentStarted)]
    wrote = next(i for i, e in enumerate(order) if isinstance(e, SectionWritten) and e.agent == "scribe")
    closer = next(i for i, e in enumerate(order) if isinstance(e, AgentStarted) and e.agent == "closer")
    assert wrote < closer


async def test_the_first_reply_has_the_best_priority_and_streams_word_by_word(store: Store) -> None:
    model = ScriptedModel(reply=answers())
    seen: list[TurnEvent] = []
    await runner(store, model).run("Hi!", user="ada", sinks=[seen.append])
    priorities = {agent_of(request): request.priority for request in model.requests}
    assert min(priorities, key=priorities.__getitem__) == "quick"
    words = [event.text for event in seen if isinstance(event, AgentDelta)]
    assert len(words) > 1
    assert "".join(words) == "Hello there. What now?"


class HoldingGate(TextGate):
    """Shows a piece once the next one has come."""

    def __init__(self) -> None:
        self.held = ""

    def feed(self, text: str) -> str:
        shown, self.held = self.held, text
        return shown

    def close(self) -> str:
        return self.held


class HoldingRules(TeamRules):
    def gate(self, name: str, view: TurnView) -> TextGate:
        del name, view
        return HoldingGate()


class BreaksOnce(ScriptedModel):
    """Its first stream of the first reply breaks off after a word."""

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        breaks = agent_of(request) == "quick" and "quick" not in self.started
        async for part in super().generate(request):
            yield part
            if breaks:
                raise StreamError("broken off")


async def test_words_that_were_held_back_are_not_said_again_after_a_retry(store: Store) -> None:
    result = await runner(store, BreaksOnce(reply=answers()), rules=HoldingRules()).run("Hi!", user="ada")
    assert result.first_reply == "Hello there. What now?"


async def test_all_agents_share_every_byte_up_to_the_message(store: Store) -> None:
    model = ScriptedModel(reply=answers())
    run = runner(store, model)
    await run.run("First.", user="ada", session="s1")
    first = model.requests[:]
    await run.run("Second.", user="ada", session="s1")
    second = model.requests[len(first) :]

    def shared(request: GenerateRequest) -> str:
        whole = "\n".join(f"{message.role}:{message.content}" for message in request.messages)
        return whole[: whole.rindex("</message>") + len("</message>")]

    assert len({shared(request) for request in first}) == 1
    assert len({shared(request) for request in second}) == 1
    assert shared(second[0]).startswith(shared(first[0]))


@pytest.mark.parametrize(
    "failure",
    [EngineUnavailableError("gone"), StreamError("broken off"), "no JSON at all", '{"mood": 3}', "", '{"mood": "x" '],
    ids=["unavailable", "broken", "prose", "wrong type", "empty", "cut"],
)
async def test_an_agent_that_fails_costs_its_section_only(store: Store, failure: Answer) -> None:
    model = ScriptedModel(reply=answers(critic=failure))
    result = await runner(store, model).run("Hi!", user="ada")
    assert result.status == "partial"
    assert result.reason is not None
    assert result.reason.startswith("critic: ")
    assert result.sections["critique"].status == "missing"
    assert result.sections["notes"].status == "written"
    assert result.reply == "All in all you seem calm."
    closing = next(request for request in model.requests if agent_of(request) == "closer")
    assert "its writer gave nothing in this turn" in closing.messages[-1].content


async def test_a_failed_section_leaves_the_last_version_and_its_age(store: Store) -> None:
    table = dict(ANSWERS)
    run = runner(store, ScriptedModel(reply=lambda request: table[agent_of(request)]))
    await run.run("One.", user="ada", session="s1")
    table["critic"] = StreamError("broken off")
    result = await run.run("Two.", user="ada", session="s1")
    critique = result.sections["critique"]
    assert (critique.status, critique.version, critique.value) == ("latest", 1, {"mood": "dry"})
    assert critique.age_turns == 1


async def test_a_read_that_says_skip_leaves_the_reader_out(store: Store) -> None:
    team = small_team()
    reads = {"notes": Read(mode=ReadMode.FRESH, on_missing=OnMissing.SKIP)}
    closer = team.agents["closer"].model_copy(update={"reads": reads})
    team = small_team(agents=dict(team.agents) | {"closer": closer})
    result = await runner(store, ScriptedModel(reply=answers(scribe="no json")), team).run("Hi!", user="ada")
    assert result.status == "partial"
    assert (result.first_reply, result.reply) == ("Hello there. What now?", "")
    finished = {event.agent: event.status for event in result.events if isinstance(event, AgentFinished)}
    assert finished["closer"] == "skipped"


async def test_a_turn_fails_when_nobody_replies_and_says_why(store: Store) -> None:
    gone = EngineUnavailableError("nothing answers at http://127.0.0.1:1")
    model = ScriptedModel(reply=lambda _request: gone)
    result = await runner(store, model).run("Hi!", user="ada", session="s1")
    assert result.status == "failed"
    assert result.reason is not None
    assert "nothing answers" in result.reason
    assert (result.first_reply, result.reply) == ("", "")
    # The message is kept, but it is not part of the conversation that later turns see.
    later = ScriptedModel(reply=answers())
    await runner(store, later).run("Again.", user="ada", session="s1")
    assert "Hi!" not in later.requests[0].messages[-1].content
    assert len(later.requests[0].messages) == 2


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00"])
async def test_an_empty_message_fails_without_asking_anybody(store: Store, text: str) -> None:
    model = ScriptedModel(reply=answers())
    result = await runner(store, model).run(text, user="ada")
    assert (result.status, result.reason) == ("failed", "the message is empty")
    assert model.requests == []


async def test_a_message_that_can_not_fit_is_refused_with_the_numbers(store: Store) -> None:
    model = ScriptedModel(reply=answers(), context_tokens=2000)
    result = await runner(store, model).run("word " * 5000, user="ada")
    assert result.status == "failed"
    assert result.reason is not None
    assert "the message is too long: it takes 4999 tokens" in result.reason
    assert model.requests == []


async def test_history_that_does_not_fit_is_cut_and_the_cut_is_recorded(store: Store) -> None:
    model = ScriptedModel(reply=answers(), context_tokens=1500)
    run = runner(store, model)
    results = [await run.run(f"Turn {number}. " + "word " * 40, user="ada", session="s1") for number in range(6)]
    assert {result.status for result in results} == {"complete"}
    cuts = [event.tokens for event in results[-1].events if event.type == "context_cut"]
    assert len(cuts) == 1
    assert cuts[0] > 0
    last = model.requests[-1]
    assert "Turn 5." in last.messages[-1].content
    assert all("Turn 0." not in message.content for message in last.messages)
    assert last.messages[1].role == "user"


async def test_who_is_late_is_dropped_at_the_deadline_and_its_request_cancelled(store: Store) -> None:
    model = ScriptedModel(reply=answers(), hold={"scribe": asyncio.Event()})
    result = await runner(store, model, small_team(deadline_s=0.3)).run("Hi!", user="ada")
    assert result.status == "partial"
    assert result.first_reply == "Hello there. What now?"
    assert model.cancelled == ["scribe"]
    finished = {event.agent: event.status for event in result.events if isinstance(event, AgentFinished)}
    # The scribe is dropped at its share of the time, so that the closer still has its own.
    assert (finished["scribe"], finished["closer"]) == ("late", "done")
    assert result.sections["notes"].status == "missing"
    assert result.reply == "All in all you seem calm."
    assert model.running == 0


async def test_the_turn_ends_at_its_deadline_with_what_it_has(store: Store) -> None:
    model = ScriptedModel(reply=answers(), hold={"scribe": asyncio.Event(), "closer": asyncio.Event()})
    result = await runner(store, model, small_team(deadline_s=0.3)).run("Hi!", user="ada")
    assert (result.status, result.first_reply, result.reply) == ("partial", "Hello there. What now?", "")
    finished = {event.agent: event.status for event in result.events if isinstance(event, AgentFinished)}
    assert (finished["scribe"], finished["closer"]) == ("late", "late")
    assert sorted(model.cancelled) == ["closer", "scribe"]
    assert model.running == 0


async def test_a_fresh_read_with_a_deadline_goes_on_without(store: Store) -> None:
    team = small_team()
    reads = {"notes": Read(mode=ReadMode.FRESH, within_s=0.05)}
    closer = team.agents["closer"].model_copy(update={"reads": reads})
    model = ScriptedModel(reply=answers(), hold={"scribe": asyncio.Event()})
    team = small_team(agents=dict(team.agents) | {"closer": closer}, deadline_s=5)
    seen: list[TurnEvent] = []
    turn = asyncio.create_task(runner(store, model, team).run("Hi!", user="ada", sinks=[seen.append]))
    await until(lambda: any(isinstance(event, ReplyReady) and event.which == "full" for event in seen))
    model.hold["scribe"].set()
    result = await turn
    assert result.status == "complete"
    closing = next(request for request in model.requests if agent_of(request) == "closer")
    assert "its writer gave nothing in this turn" in closing.messages[-1].content


async def test_cancelling_a_turn_cancels_every_request(store: Store) -> None:
    model = ScriptedModel(reply=answers(), hold={name: asyncio.Event() for name in ("quick", "scribe", "critic")})
    turn = asyncio.create_task(runner(store, model).run("Hi!", user="ada"))
    await until(lambda: model.running == 3)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert model.running == 0
    (kept,) = store.turns.turns("small", "ada")
    assert kept.status == "failed"


async def test_who_leaves_stops_what_was_for_them_alone(store: Store) -> None:
    model = ScriptedModel(reply=answers(), hold={name: asyncio.Event() for name in ("quick", "scribe")})
    left = asyncio.Event()
    turn = asyncio.create_task(runner(store, model).run("Hi!", user="ada", session="s1", left=left))
    await until(lambda: model.running == 2 and "critic" in model.started)
    left.set()
    await until(lambda: model.cancelled == ["quick"])  # its slot is free at once
    model.hold["scribe"].set()
    result = await turn
    assert (result.status, result.reason) == ("partial", "the person left")
    assert (result.first_reply, result.reply) == ("", "")
    assert {name: view.status for name, view in result.sections.items()} == {"critique": "written", "notes": "written"}
    finished = {event.agent: event.status for event in result.events if isinstance(event, AgentFinished)}
    assert finished == {"quick": "skipped", "scribe": "done", "critic": "done", "closer": "skipped"}
    assert "closer" not in model.started
    (kept,) = store.turns.turns("small", "ada")
    assert kept.status == "partial"


async def test_what_the_person_had_seen_when_they_left_stands(store: Store) -> None:
    left = asyncio.Event()

    def see(event: TurnEvent) -> None:
        if isinstance(event, AgentDelta):
            left.set()

    words = "One two three four five six seven eight nine ten."
    result = await runner(store, ScriptedModel(reply=answers(quick=words))).run(
        "Hi!", user="ada", session="s1", sinks=[see], left=left
    )
    assert result.first_reply
    assert words.startswith(result.first_reply)
    assert result.reply == ""
    session = store.sessions.find("small", "ada", "s1")
    assert session is not None
    assert [message.text for message in store.messages.messages(session)] == ["Hi!", result.first_reply]


async def test_an_agent_gives_up_history_for_its_own_budget_and_the_cut_is_told(store: Store) -> None:
    agents = dict(small_team().agents)
    agents["critic"] = agents["critic"].model_copy(update={"max_input_tokens": 90})
    run = runner(store, ScriptedModel(reply=answers()), small_team(agents=agents))
    results = [await run.run("word " * 30, user="ada", session="s1") for _ in range(3)]
    assert {result.status for result in results} == {"complete"}
    cuts = [(event.agent, event.part) for event in results[-1].events if event.type == "context_cut"]
    assert cuts == [("critic", "history")]


class Strict(TeamRules):
    """Wants another mood, and has a fallback for the closer."""

    def check(self, name: str, answer: Any, view: TurnView) -> list[str]:
        if name == "scribe" and answer["mood"] == "calm":
            return ["mood must not be calm"]
        if name == "closer" and "calm" in answer:
            return ["do not say calm"]
        return []

    def fallback(self, name: str, answer: Any, problems: Any, view: TurnView) -> Written | None:
        return Written(value="Let us go on.") if name == "closer" else None


async def test_a_failed_check_is_repaired_once_with_the_problem_shown(store: Store) -> None:
    said = iter(['{"mood": "calm"}', '{"mood": "awake"}'])
    model = ScriptedModel(reply=lambda request: next(said) if agent_of(request) == "scribe" else "Fine.")
    team = small_team(
        agents={name: agent for name, agent in small_team().agents.items() if name != "critic"},
        sections={name: section for name, section in small_team().sections.items() if name != "critique"},
    )
    closer = team.agents["closer"].model_copy(update={"reads": {"notes": Read(mode=ReadMode.FRESH)}})
    team = team.model_copy(update={"agents": dict(team.agents) | {"closer": closer}})
    result = await runner(store, model, team, Strict()).run("Hi!", user="ada")
    assert result.status == "complete"
    assert result.sections["notes"].value == {"mood": "awake"}
    asked = [request for request in model.requests if agent_of(request) == "scribe" or len(request.messages) > 2]
    assert "mood must not be calm" in asked[-1].messages[-1].content
    assert result.timing["agents"]["scribe"]["attempts"] == 2


async def test_the_teams_fallback_steps_in_after_the_repair(store: Store) -> None:
    model = ScriptedModel(reply=answers(scribe='{"mood": "awake"}'))
    result = await runner(store, model, rules=Strict()).run("Hi!", user="ada")
    assert result.reply == "Let us go on."
    assert result.status == "partial"
    finished = {event.agent: event.status for event in result.events if isinstance(event, AgentFinished)}
    assert finished["closer"] == "fallback"


class Polite(TeamRules):
    """Has fixed words for everybody who says nothing."""

    def fallback(self, name: str, answer: Any, problems: Any, view: TurnView) -> Written | None:
        return Written(value="One moment.") if view.team.sections[view.team.agents[name].writes].text else None


async def test_fixed_words_alone_are_no_reply(store: Store) -> None:
    model = ScriptedModel(reply=lambda _request: EngineUnavailableError("nothing answers"))
    result = await runner(store, model, rules=Polite()).run("Hi!", user="ada")
    assert result.status == "failed"
    assert result.reason is not None
    assert "nothing answers" in result.reason


async def test_control_characters_of_a_model_reach_nobody(store: Store) -> None:
    model = ScriptedModel(reply=answers(quick="Hel\x1b[31mlo\x00 there.", closer="All\x07 well."))
    result = await runner(store, model).run("Hi!", user="ada")
    assert (result.first_reply, result.reply) == ("Hel[31mlo there.", "All well.")


class Guard(TeamRules):
    code_sections = ("count",)

    def safety(self, view: TurnView) -> Safety:
        return Safety("crisis", "crisis_protocol") if "help" in view.message.text else Safety()

    def intercept(self, view: TurnView) -> Interception | None:
        return Interception("Please call somebody.", "danger") if view.safety.level == "crisis" else None

    def notice(self, view: TurnView) -> str | None:
        return "You talk to a machine." if view.first_turn_of_session else None

    def merge(self, view: TurnView) -> Merge | None:
        return Merge(blocked_moves=("shout",), missing_agents=tuple(view.failures))

    def derived_sections(self, view: TurnView) -> dict[str, Any]:
        return {"count": [len(view.history)]}

    def memory(self, view: TurnView) -> str:
        return f"Sessions so far: {view.session_number}"


async def test_the_teams_code_can_answer_instead_of_the_agents(store: Store) -> None:
    model = ScriptedModel(reply=answers())
    run = runner(store, model, guarded(), Guard())
    result = await run.run("help", user="ada", session="s1")
    assert model.requests == []
    assert (result.status, result.first_reply, result.reply) == (
        "complete",
        "You talk to a machine.",
        "Please call somebody.",
    )
    assert (result.safety.level, result.safety.route) == ("crisis", "crisis_protocol")
    assert store.turns.past_safety("small", "ada")[-1][1] == "crisis"


def guarded() -> Team:
    team = small_team()
    return small_team(sections=dict(team.sections) | {"count": Section(json_schema={"type": "array"})})


async def test_merge_notice_memory_and_derived_sections_have_their_place(store: Store) -> None:
    model = ScriptedModel(reply=answers(critic="nothing"))
    run = runner(store, model, guarded(), Guard())
    result = await run.run("Hi!", user="ada", session="s1")
    assert result.first_reply.startswith("You talk to a machine.\n\nHello")
    assert result.merge.blocked_moves == ("shout",)
    assert result.merge.missing_agents == ("critic",)
    assert result.sections["count"].value == [0]
    assert "Sessions so far: 1" in model.requests[0].messages[0].content
    second = await run.run("And?", user="ada", session="s1")
    assert not second.first_reply.startswith("You talk")
    assert second.sections["count"].value == [2]
    # The memory snapshot is frozen with the session.
    assert "Sessions so far: 1" in model.requests[-1].messages[0].content
    await run.run("New.", user="ada", session="s2")
    assert "Sessions so far: 2" in model.requests[-1].messages[0].content


async def test_users_do_not_see_each_other(store: Store) -> None:
    model = ScriptedModel(reply=answers())
    run = runner(store, model)
    await run.run("My secret is a parrot.", user="ada", session="same")
    seen = len(model.requests)
    result = await run.run("Hello.", user="bob", session="same")
    assert all("parrot" not in message.content for request in model.requests[seen:] for message in request.messages)
    assert result.sections["notes"].version == 1


async def test_stored_events_are_the_turns_events_in_order(store: Store) -> None:
    seen: list[TurnEvent] = []
    result = await runner(store).run("Hi!", user="ada", sinks=[seen.append])
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    kept = [json.loads(event.body) for event in store.turns.events(result.turn)]
    assert kept == [event.model_dump(mode="json") for event in result.events]
    assert store.turns.result(result.turn) == json.loads(json.dumps(result.document()))
    elapsed = [event.elapsed_s for event in seen]
    assert elapsed == sorted(elapsed)


async def test_token_counts_tell_unique_from_computed(store: Store) -> None:
    model = ScriptedModel(reply=answers())
    run = runner(store, model)
    first = (await run.run("One two three.", user="ada", session="s1")).tokens
    # The scripted engine caches nothing: every agent's whole prompt is computed.
    assert first.prefill == sum(await asyncio.gather(*(model.count_tokens(r.messages) for r in model.requests)))
    assert first.unique < first.prefill
    second = (await run.run("Four five.", user="ada", session="s1")).tokens
    assert second.unique < second.prefill
    assert first.output == second.output > 0


@pytest.mark.parametrize("name", ["", "x" * 201, "a\x00b"])
async def test_an_id_that_can_not_be_one_is_refused(store: Store, name: str) -> None:
    with pytest.raises(UsageError):
        await runner(store).run("Hi!", user=name)


def test_a_team_with_mistakes_is_refused(store: Store) -> None:
    agents = dict(small_team().agents)
    agents["closer"] = agents["closer"].model_copy(update={"writes": "notes"})
    with pytest.raises(TeamError):
        runner(store, team=small_team(agents=agents))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the scripted model has no event for this
            await asyncio.sleep(0.001)
