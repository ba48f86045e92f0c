"""Beginning turns, taking them up again, and the steps and summaries that are kept for later."""

import json
from datetime import datetime, timedelta

import pytest

from repertory.errors import StorageError, UsageError
from repertory.storage.records import CommitmentChange, Session, Step, Turn
from repertory.storage.store import Store


def begin(store: Store, now: datetime, session: str = "", text: str = "Hello.", memory: str = "") -> Turn:
    here = Session(id=session, team="coaching", user="ada", number=0, started_at=now, memory="ignored")
    return store.taking_up.begin(here, text, memory=memory, safety="low", at=now)[1]


def test_a_turn_begins_with_session_and_message_or_not_at_all(store: Store, now: datetime) -> None:
    here = Session(id="", team="coaching", user="ada", number=0, started_at=now, memory="")
    session, turn, message = store.taking_up.begin(here, "Hi\x00!", memory="known", safety="low", at=now)
    assert (session.number, session.memory) == (1, "known")
    assert (turn.number, turn.status, turn.safety) == (1, "running", "low")
    assert (message.id, message.role, message.text, message.turn) == ("m1", "person", "Hi\x00!", turn.id)
    again, second, said = store.taking_up.begin(session, "And?", memory="not this", safety="none", at=now)
    assert (again, second.number, said.id) == (session, 2, "m2")
    with pytest.raises(UsageError):
        begin(store, now, session="x" * 201)
    assert len(store.turns.turns()) == 2


def test_a_turn_is_taken_up_with_all_that_it_had(store: Store, now: datetime) -> None:
    turn = begin(store, now, "monday", "I run on Tuesday.")
    store.steps.add(turn.id, [Step("shadow", 1, '{"n":1}')])
    store.blackboard("coaching", "ada").commit_agent_result(
        "shadow", {"x": 1}, turn=turn.id, agent="shadow", message="m1", at=now,
        commitments=[CommitmentChange(what="run")], calls=[Step("shadow", 2, '{"n":2}')],
        outcome=lambda applied: Step("shadow", 0, json.dumps([one.status for one in applied])),
    )  # fmt: skip
    with pytest.raises(StorageError, match="carried by another process"):
        store.taking_up.resume(turn.id)
    store.turns.interrupt(turn.id)
    assert [one.id for one in store.taking_up.resumable("coaching", "ada")] == [turn.id]
    assert store.taking_up.resumable("coaching", "bob") == []
    taken = store.taking_up.resume(turn.id)
    assert (taken.turn.status, taken.turn.resumes, taken.turn.started_at) == ("running", 1, now)
    assert (taken.session.id, taken.message.text) == ("monday", "I run on Tuesday.")
    assert taken.steps == (
        Step("shadow", 0, '["added"]'),
        Step("shadow", 1, '{"n":1}'),
        Step("shadow", 2, '{"n":2}'),
    )
    assert [(one.section, one.value) for one in taken.written] == [("shadow", {"x": 1})]
    store.turns.finish_turn(turn.id, "complete", {}, at=now)
    assert store.steps.of_turn(turn.id) == ()
    with pytest.raises(UsageError, match="nothing to resume"):
        store.taking_up.resume(turn.id)
    with pytest.raises(UsageError, match="there is no turn"):
        store.taking_up.resume("tnone")


def test_a_step_is_kept_once(store: Store, now: datetime) -> None:
    turn = begin(store, now)
    store.steps.add(turn.id, [Step("shadow", 1, "{}")])
    with pytest.raises(StorageError, match="there already"):
        store.steps.add(turn.id, [Step("shadow", 2, "{}"), Step("shadow", 1, "{}")])
    assert [step.number for step in store.steps.of_turn(turn.id)] == [1]
    with pytest.raises(StorageError):
        store.steps.add("tnone", [Step("shadow", 1, "{}")])


def test_a_turn_that_lost_its_engine_can_be_completed_until_the_person_talks_on(store: Store, now: datetime) -> None:
    lost = begin(store, now, "monday")
    store.steps.add(lost.id, [Step("shadow", 1, "{}")])
    store.turns.finish_turn(lost.id, "partial", {}, at=now, unfinished=True)
    assert [one.id for one in store.taking_up.resumable()] == [lost.id]
    other = begin(store, now, "tuesday")
    store.turns.finish_turn(other.id, "complete", {}, at=now)
    assert [one.id for one in store.taking_up.resumable()] == [lost.id]
    later = begin(store, now, "monday")
    assert store.taking_up.resumable() == []
    assert store.steps.of_turn(lost.id)
    store.turns.finish_turn(later.id, "complete", {}, at=now)
    assert store.steps.of_turn(lost.id) == ()
    assert store.taking_up.resumable() == []


def test_the_team_says_one_thing_a_turn(store: Store, now: datetime) -> None:
    turn = begin(store, now, "monday")
    session = store.sessions.find("coaching", "ada", "monday")
    assert session is not None
    first = store.messages.say(session, "Half of it.", turn.id, now)
    second = store.messages.say(session, "All of it.", turn.id, now + timedelta(days=1))
    assert (first.id, second.id) == ("m2", "m2")
    assert [one.text for one in store.messages.messages(session)] == ["Hello.", "All of it."]
    assert store.messages.messages(session, before="m2")[-1].text == "Hello."


def test_sections_as_they_were_before_a_turn(store: Store, now: datetime) -> None:
    board = store.blackboard("coaching", "ada")
    turns = [begin(store, now, "monday") for _ in range(3)]
    for turn in turns[:2]:
        board.write("shadow", {"turn": turn.number}, turn=turn.id, agent="shadow", at=now)
    board.write("persona", {}, turn=turns[2].id, agent="persona", at=now)
    assert {name: one.value for name, one in board.all_latest(before_turn=2).items()} == {"shadow": {"turn": 1}}
    assert set(board.all_latest(before_turn=1)) == set()
    assert set(board.all_latest()) == {"persona", "shadow"}


def test_turns_are_counted_whatever_the_clock_says(
    store: Store, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = begin(store, now, "monday")
    monkeypatch.setattr("repertory.storage.turns.new_turn_id", lambda: "t00000000000000000000000000")
    second = begin(store, now - timedelta(days=400), "monday")
    assert second.id < first.id
    assert store.turns.latest_turn("coaching", "ada") == second


def test_summaries_cover_sessions_that_are_over(store: Store, now: datetime) -> None:
    for name in ("one", "two", "three"):
        turn = begin(store, now, name)
        session = store.sessions.find("coaching", "ada", name)
        assert session is not None
        store.messages.say(session, "I see.", turn.id, now)
    assert [one.id for one in store.summaries.pending("coaching", "ada")] == ["one", "two"]
    one, two = store.summaries.pending("coaching", "ada")
    assert store.summaries.all_pending() == {("coaching", "ada"): {"one", "two"}}
    store.summaries.keep(one, "half", last_message=1, at=now)
    assert [left.id for left in store.summaries.pending("coaching", "ada")] == ["one", "two"]
    store.summaries.keep(one, "whole", last_message=2, at=now)
    store.summaries.keep(one, "stale", last_message=1, at=now)
    assert [left.id for left in store.summaries.pending("coaching", "ada")] == ["two"]
    assert store.summaries.all_pending() == {("coaching", "ada"): {"two"}}
    assert [(kept.session, kept.text) for kept in store.summaries.all("coaching", "ada")] == [("one", "whole")]
    assert store.summaries.all("coaching", "ada", before_session=1) == []
    assert store.summaries.all("coaching", "bob") == store.summaries.pending("coaching", "bob") == []
    assert store.export("ada")["teams"]["coaching"]["session_summaries"][0]["text"] == "whole"
    store.summaries.keep(two, "x", last_message=4, at=now)
    assert store.summaries.all_pending() == {}
    assert store.erase("ada")["session_summaries"] == 2
