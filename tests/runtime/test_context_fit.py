"""Budgets: whatever the history, the blackboard and the budget, a prompt fits, and its cuts are told."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.errors import ContextBudgetError
from repertory.runtime.cast import cast_on_one
from repertory.runtime.context import SharedContext
from repertory.runtime.context_fit import FittedPrompt, PromptParts, fit_history, fit_prompt
from repertory.runtime.rules import SectionView
from repertory.runtime.team import Agent, Read, Replies, Section, Team
from repertory.storage.records import Message
from repertory.testing.scripted_model import ScriptedModel, count

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
WORDS = "word "
FACTS = {"type": "object", "properties": {"facts": {"type": "array"}}}


def team(reads: tuple[str, ...] = (), max_input: int | None = None, max_output: int = 50) -> Team:
    return Team(
        name="small",
        preamble="You are a small team.",
        sections={
            "ending": Section(text=True),
            "diary": Section(text=True),
            "notes": Section(json_schema=FACTS),
            "facts": Section(json_schema=FACTS),
        },
        agents={
            "closer": Agent(
                instructions="Close.",
                writes="ending",
                reads={name: Read() for name in reads},
                max_input_tokens=max_input,
                max_output_tokens=max_output,
            )
        },
        replies=Replies(full="ending"),
    )


def said(number: int, role: Literal["person", "team"], words: int, turn: str) -> Message:
    return Message(f"m{number}", role, f"<{turn}> " + WORDS * words, turn, "s1", NOW)


def written(value: Any) -> SectionView:
    return SectionView(value=value, version=1, turn="t0", status="latest", age_turns=1)


# A turn of the history: the person's message, then what was said to it (a tool call and its result are such parts).
turns = st.lists(st.lists(st.integers(0, 120), min_size=2, max_size=5), max_size=12)
blackboards = st.fixed_dictionaries(
    {},
    optional={
        "diary": st.integers(0, 2000).map(lambda n: WORDS * n),
        "notes": st.integers(0, 2000).map(lambda n: {"facts": [WORDS] * n}),
        "facts": st.integers(0, 2000).map(lambda n: {"facts": [WORDS] * n}),
    },
)


def history_of(lengths: list[list[int]]) -> list[Message]:
    messages: list[Message] = []
    for turn, parts in enumerate(lengths):
        for place, words in enumerate(parts):
            messages.append(said(len(messages) + 1, "team" if place else "person", words, f"turn{turn}"))
    return messages


@settings(max_examples=300, deadline=None)
@given(
    lengths=turns,
    board=blackboards,
    budget=st.integers(30, 3000),
    memory=st.integers(0, 400),
    message=st.integers(1, 600),
)
async def test_every_prompt_fits_and_keeps_what_is_never_cut(
    lengths: list[list[int]], board: dict[str, Any], budget: int, memory: int, message: int
) -> None:
    of = team(tuple(board), max_input=budget)
    text = f"Hear me. {WORDS * message}".strip()
    history = history_of(lengths)
    shared = SharedContext(of.preamble, WORDS * memory, history, Message("m999", "person", text, "t", "s1", NOW))
    reads = {name: written(value) for name, value in board.items()}
    parts = PromptParts("closer", of.agents["closer"], of, shared, reads)
    engine = ScriptedModel(reply=lambda _: "")
    # Only what is never cut may be too much: preamble, message, instructions, and a mark for each section.
    if count(replace(shared, history=(), memory="").messages(parts.private(list(reads)))) > budget:
        with pytest.raises(ContextBudgetError, match=f"over the budget of {budget}"):
            await fit_prompt(engine, parts)
        return
    fitted = await fit_prompt(engine, parts)
    assert fitted.tokens == count(fitted.messages) <= budget
    whole = shared.messages(parts.private())
    assert fitted.messages[0].content.startswith(of.preamble)
    assert text in fitted.messages[-1].content
    assert fitted.messages[-1].content.endswith("# Your role: closer\nClose.")
    check_turns(fitted, history, lengths)
    assert sum(tokens for _, tokens in fitted.cuts) == count(whole) - fitted.tokens
    assert bool(fitted.cuts) == (count(whole) > budget)
    if any(part.startswith("section") for part, _ in fitted.cuts):
        assert len(fitted.messages) == 2, "a section was given up before the history"


def check_turns(fitted: FittedPrompt, history: list[Message], lengths: list[list[int]]) -> None:
    """Of every turn all is there or nothing, in order, and the newest are kept."""
    kept = [one.content for one in fitted.messages[1:-1]]
    for turn, parts in enumerate(lengths):
        there = sum(f"<turn{turn}> " in content for content in kept)
        assert there in {0, len(parts)}
    if kept:
        expected = history[len(history) - len(kept) :]
        assert all(message.text.strip() in content for message, content in zip(expected, kept, strict=True))


async def test_text_is_given_up_before_structured_facts() -> None:
    of = team(("diary", "notes"), max_input=220)
    reads = {"diary": written(WORDS * 150), "notes": written({"facts": [WORDS] * 50})}
    shared = SharedContext(of.preamble, "", (), said(1, "person", 3, "t"))
    fitted = await fit_prompt(
        ScriptedModel(reply=lambda _: ""), PromptParts("closer", of.agents["closer"], of, shared, reads)
    )
    assert [part for part, _ in fitted.cuts] == ["section diary"]
    assert "## diary (left out: too long for this prompt)" in fitted.messages[-1].content
    assert '"facts": ["word "' in fitted.messages[-1].content


async def test_a_long_session_costs_few_counts() -> None:
    of = team()
    history = history_of([[20, 20]] * 400)
    shared = SharedContext(of.preamble, "", history, said(999, "person", 3, "t"))
    counted = 0

    class Counting(ScriptedModel):
        async def count_tokens(self, messages: Any) -> int:
            nonlocal counted
            counted += 1
            return await super().count_tokens(messages)

    model = Counting(reply=lambda _: "", context_tokens=4000)
    fitted = await fit_history(shared, of, cast_on_one(of, model), ["closer"])
    assert count(fitted.context.messages()) <= 4000 - 50 - 900
    assert fitted.cut_tokens > 0
    assert counted <= 12


@pytest.mark.parametrize("budget", [1, 40])
async def test_what_is_never_cut_is_refused_with_the_numbers(budget: int) -> None:
    of = team(max_input=budget)
    shared = SharedContext(of.preamble, "", (), said(1, "person", 500, "t"))
    with pytest.raises(ContextBudgetError, match=f"over the budget of {budget}: the message takes 5") as told:
        await fit_prompt(ScriptedModel(reply=lambda _: ""), PromptParts("closer", of.agents["closer"], of, shared, {}))
    assert told.value.where == "agent closer"
