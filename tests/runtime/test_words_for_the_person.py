"""Words for the person: a draft for a text section, a text cut at its cap, a streamed reply that was refused."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from repertory.clock import fixed_clock
from repertory.engines.protocol import GenerateRequest
from repertory.runtime.cast import cast_on_one
from repertory.runtime.context import answer_schema
from repertory.runtime.events import AgentFinished, AgentRepair
from repertory.runtime.rules import Merge, ReplySentence, TeamRules, TextGate, TurnView, Written
from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.storage.store import Store
from repertory.testing.scripted_model import Answer, ScriptedModel, agent_of

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
DRAFT = {
    "type": "object",
    "properties": {"words": {"type": "string", "maxLength": 80}},
    "required": ["words"],
    "additionalProperties": False,
}


def team(draft: dict[str, Any] | None = None, cap: int = 400) -> Team:
    return Team(
        name="pair",
        preamble="You are two.",
        sections={"hello": Section(text=True), "ending": Section(text=True)},
        agents={
            "quick": Agent(instructions="Greet.", writes="hello", draft_schema=None),
            "closer": Agent(
                instructions="Close.", writes="ending", reads={"hello": Read(mode=ReadMode.FRESH)},
                draft_schema=draft, max_output_tokens=cap,
            ),
        },
        replies=Replies(first="hello", full="ending"),
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "words.sqlite") as opened:
        yield opened


async def turn(store: Store, rules: TeamRules, of: Team, reply: Callable[[GenerateRequest], Answer]) -> TurnResult:
    model = ScriptedModel(reply)
    return await TurnRunner(of, rules, cast_on_one(of, model), store, fixed_clock(NOW)).run("Hi.", user="ada")


class JoiningRules(TeamRules):
    def write(self, name: str, answer: Any, view: TurnView) -> Written:
        if name != "closer":
            return Written(answer)
        text = str(answer["words"])
        return Written(text, merge=Merge(reply=(ReplySentence(text, ("c1",)),)))


def test_a_text_section_may_have_a_draft_but_not_the_streamed_one() -> None:
    of = team(DRAFT)
    assert answer_schema(of.agents["closer"], of) == DRAFT
    assert answer_schema(of.agents["quick"].model_copy(update={"draft_schema": DRAFT}), of) is None
    assert answer_schema(team().agents["closer"], team()) is None


async def test_a_draft_becomes_the_reply_and_the_merge_says_what_holds_it(store: Store) -> None:
    def reply(request: GenerateRequest) -> Answer:
        return json.dumps({"words": "It is late."}) if agent_of(request) == "closer" else "Hello."

    result = await turn(store, JoiningRules(), team(DRAFT), reply)
    assert (result.status, result.reply) == ("complete", "It is late.")
    (sentence,) = result.document()["merge"]["reply"]
    assert sentence == {"text": "It is late.", "claims": ("c1",), "by": "model", "dropped": None}


class PartRules(TeamRules):
    def __init__(self, *, use_part: bool) -> None:
        self.use_part = use_part
        self.asked: list[tuple[Any, tuple[str, ...]]] = []

    def fallback(self, name: str, answer: Any, problems: Any, view: TurnView) -> Written | None:
        self.asked.append((answer, tuple(problems)))
        return Written("the part") if self.use_part else None


@pytest.mark.parametrize("use_part", [True, False])
async def test_of_a_cut_text_the_teams_code_is_asked_before_the_model_is_asked_again(
    store: Store, *, use_part: bool
) -> None:
    long = "one two three four five six seven eight"
    seen: list[int] = []

    def reply(request: GenerateRequest) -> Answer:
        if agent_of(request) != "closer":
            return "Hello."
        seen.append(request.max_output_tokens)
        return long

    rules = PartRules(use_part=use_part)
    result = await turn(store, rules, team(cap=5), reply)
    assert rules.asked[0] == ("one two three four five ", ("the text was cut at its cap",))
    if use_part:
        assert seen == [5]
        assert (result.status, result.reply) == ("partial", "the part")
    else:
        assert seen == [5, 10]
        assert (result.status, result.reply) == ("complete", long)


class PickyGate(TextGate):
    """Shows nothing but a sentence with "bonjour" in it, and fixed words when there was none."""

    def __init__(self) -> None:
        self.text = ""

    def feed(self, text: str) -> str:
        self.text += text
        return ""

    def close(self) -> str:
        return self.text if "bonjour" in self.text else "(rien)"


class PickyRules(TeamRules):
    def gate(self, name: str, view: TurnView) -> TextGate:
        return PickyGate()

    def check(self, name: str, answer: Any, view: TurnView) -> list[str]:
        return [] if name != "quick" or "bonjour" in answer else ["Write it in French."]


@pytest.mark.parametrize(("second", "shown"), [("bonjour toi", "bonjour toi"), ("hello again", "(rien)")])
async def test_a_streamed_reply_of_which_nothing_was_shown_is_asked_for_once_more(
    store: Store, second: str, shown: str
) -> None:
    said = iter(["hello you", second])

    def reply(request: GenerateRequest) -> Answer:
        return next(said) if agent_of(request) == "quick" else "That is all."

    result = await turn(store, PickyRules(), team(), reply)
    assert result.first_reply == shown
    repairs = [event for event in result.events if isinstance(event, AgentRepair)]
    assert [(event.agent, event.problems) for event in repairs] == [("quick", ("Write it in French.",))]
    assert any(isinstance(event, AgentFinished) and event.attempts == 2 for event in result.events)
