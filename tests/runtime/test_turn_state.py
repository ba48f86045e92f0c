import asyncio
from datetime import UTC, datetime

import pytest

from repertory.runtime.team import Agent, OnMissing, Read, ReadMode, Replies, Section, Team
from repertory.runtime.turn_state import SectionSkippedError, TurnState
from repertory.storage.records import Message, SectionVersion, Session

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}}


def team(on_missing: OnMissing = OnMissing.LATEST, within_s: float | None = None) -> Team:
    read = Read(mode=ReadMode.FRESH, within_s=within_s, on_missing=on_missing)
    return Team(
        name="pair",
        preamble="P",
        sections={"notes": Section(json_schema=SCHEMA), "answer": Section(text=True)},
        agents={
            "scribe": Agent(instructions="a", writes="notes"),
            "speaker": Agent(instructions="b", writes="answer", reads={"notes": read}),
        },
        replies=Replies(full="answer"),
    )


def state(of: Team) -> TurnState:
    session = Session(id="s", team=of.name, user="u", number=1, started_at=NOW, memory="")
    message = Message(id="m1", role="person", text="hi", turn="t1", session="s", at=NOW)
    return TurnState(
        team=of, turn="t1", session=session, now=NOW, message=message, history=(), past_messages=(), commitments=[],
        past_safety=(), sections={},
    )  # fmt: skip


def version(value: object) -> SectionVersion:
    return SectionVersion(section="notes", version=4, value=value, turn="t1", agent="scribe", evidence=(), at=NOW)


async def test_a_fresh_read_waits_for_the_commit() -> None:
    turn = state(team())
    assert turn.waits_for("speaker") == ("notes",)
    waiting = asyncio.create_task(turn.resolve_reads("speaker", 0.0))
    await asyncio.sleep(0)
    assert not waiting.done()
    turn.wrote(version({"x": 1}))
    reads = await waiting
    assert reads["notes"].value == {"x": 1}
    assert reads["notes"].status == "written"
    assert turn.waits_for("speaker") == ()


async def test_a_writer_that_failed_frees_its_readers_and_says_why() -> None:
    turn = state(team())
    waiting = asyncio.create_task(turn.resolve_reads("speaker", 0.0))
    await asyncio.sleep(0)
    turn.gave_nothing("scribe", "the engine broke off")
    reads = await waiting
    assert reads["notes"].status == "missing"
    assert reads["notes"].reason == "the engine broke off"
    assert turn.view().failures == {"scribe": "the engine broke off"}


@pytest.mark.parametrize(("rule", "failed"), [(OnMissing.SKIP, False), (OnMissing.FAIL, True)])
async def test_a_missing_section_skips_or_fails_its_reader_where_the_read_says_so(
    rule: OnMissing, failed: bool
) -> None:
    turn = state(team(rule))
    turn.gave_nothing("scribe", "late")
    with pytest.raises(SectionSkippedError, match="'notes' is missing: late") as caught:
        await turn.resolve_reads("speaker", 0.0)
    assert caught.value.failed is failed


async def test_a_deadline_that_has_passed_takes_what_there_is() -> None:
    turn = state(team(within_s=5.0))
    reads = await turn.resolve_reads("speaker", elapsed_s=6.0)
    assert reads["notes"].status == "missing"
    assert reads["notes"].reason == "not there within 5 s"
