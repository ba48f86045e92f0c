"""What a person writes in their own name, and what they take out, on every database."""

import json
from datetime import datetime
from typing import Any

import pytest

from repertory.errors import StorageError, UsageError
from repertory.storage.forgetting import Forgotten
from repertory.storage.records import CommitmentChange, Session, Step, Turn
from repertory.storage.store import Store


class _Without:
    """A redaction for tests: texts and values without one word."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.seen: list[Forgotten] = []

    def __call__(self, forgotten: Forgotten) -> "_Without":
        self.seen.append(forgotten)
        return self

    def text(self, text: str) -> str:
        return text.replace(self.word, "")

    def document(self, value: Any) -> Any:
        return json.loads(json.dumps(value).replace(self.word, ""))

    def section(self, name: str, value: Any) -> Any:
        return None if name == "only" else {"rebuilt": name, "from": len(self.seen[-1].remaining)}


def _turn(store: Store, session: Session, text: str, now: datetime, said: str = "") -> tuple[Turn, str]:
    turn = store.turns.begin_turn(session, at=now)
    message = store.messages.append_message(session, "person", said or text, turn.id, now)
    store.messages.append_message(session, "team", f"about {text}", turn.id, now)
    store.turns.append_events(
        turn.id, [(1, "reply_ready", json.dumps({"text": text})), (2, "agent_delta", '{"text": "x"}')]
    )
    store.steps.add(turn.id, [Step("shadow", 1, json.dumps({"answer": text}))])
    store.turns.finish_turn(turn.id, "complete", {"reply": text}, at=now)
    return turn, message.id


def test_a_person_writes_outside_of_a_turn(store: Store, now: datetime) -> None:
    board = store.blackboard("coaching", "ada")
    [first] = board.edit({"corrections": {"a": 1}}, at=now)
    assert (first.version, first.agent, first.turn, first.turn_number) == (1, "person", "", 0)
    session = store.sessions.start("coaching", "ada", "monday", now)
    assert session.number == 1
    turn = store.turns.begin_turn(session, at=now)
    assert "corrections" in board.all_latest(before_turn=turn.number)
    written = board.edit({"corrections": {"a": 2}, "persona": {"b": 1}}, at=now)
    assert [(item.section, item.version) for item in written] == [("corrections", 2), ("persona", 1)]
    # A turn that runs, or is taken up again, goes on with what it began with.
    assert board.all_latest(before_turn=turn.number)["corrections"].value == {"a": 1}
    assert board.all_latest()["corrections"].value == {"a": 2}
    assert [item.agent for item in board.history("corrections")] == ["person", "person"]
    exported = store.export("ada")["teams"]["coaching"]["section_versions"]
    assert [item["turn"] for item in exported] == [None, None, None]
    assert store.erase("ada")["section_versions"] == 3


def test_an_edit_is_whole_or_not_there(store: Store, now: datetime) -> None:
    board = store.blackboard("coaching", "ada")
    with pytest.raises(StorageError):
        board.edit({"good": 1, "bad": {1, 2}}, at=now)
    assert board.all_latest() == {}


def test_an_outcome_said_by_the_person_stands_above_one_that_was_read(store: Store, turn: Turn, now: datetime) -> None:
    store.commitments.apply("coaching", "ada", [CommitmentChange(what="run")], "m1", now)
    store.commitments.apply("coaching", "ada", [CommitmentChange(id="k1", outcome="missed")], "m2", now)
    settled = store.commitments.settle("coaching", "ada", "k1", "partly", now)
    assert (settled.outcome, settled.settled_in, settled.settled_at) == ("partly", None, now)
    opened = store.commitments.settle("coaching", "ada", "k1", "open", now)
    assert (opened.outcome, opened.settled_at) == ("open", None)
    for name in ("k2", "1", "k", "k01"):
        with pytest.raises(UsageError, match="no commitment"):
            store.commitments.settle("coaching", "ada", name, "kept", now)


def test_a_forgotten_message_takes_what_came_of_it_along(store: Store, session: Session, now: datetime) -> None:
    board = store.blackboard("coaching", "ada")
    before, first = _turn(store, session, "before", now)
    board.write("only", "before", turn=before.id, agent="a", at=now)
    secret, m3 = _turn(store, session, "secret", now)
    after, _ = _turn(store, session, "after secret", now, said="after")
    for n, turn in enumerate((before, secret, after)):
        board.write("notes", f"secret {n}", turn=turn.id, agent="a", evidence=(first, m3), at=now)
    board.write("only", "secret", turn=secret.id, agent="a", at=now)
    store.commitments.apply("coaching", "ada", [CommitmentChange(what="secret", evidence=m3)], m3, now)
    store.commitments.apply("coaching", "ada", [CommitmentChange(what="run", evidence=first)], first, now)
    store.commitments.apply("coaching", "ada", [CommitmentChange(id="k2", outcome="kept", evidence=m3)], m3, now)
    store.summaries.keep(session, "other words for it", last_message=6, at=now)
    redaction = _Without("secret")
    store.forget("coaching", "ada", [m3], redaction, now)
    export = store.export("ada")["teams"]["coaching"]
    assert "secret" not in json.dumps({**export, "section_versions": []})
    assert [item["id"] for item in export["messages"]] == ["m1", "m2", "m5", "m6"]
    assert [(item["id"], item["outcome"]) for item in export["commitments"]] == [("k2", "open")]
    assert export["session_summaries"] == []
    notes = [
        (item["version"], item["value"], item["evidence"])
        for item in export["section_versions"]
        if item["section"] == "notes"
    ]
    # What was written before stays as it was; since then there is one version, made anew.
    assert notes == [(1, "secret 0", [first, m3]), (3, {"rebuilt": "notes", "from": 2}, [first])]
    assert [item["value"] for item in export["section_versions"] if item["section"] == "only"] == ["before"]
    turns = {item["id"]: item for item in export["turns"]}
    assert (turns[secret.id]["events"], turns[secret.id]["steps"], turns[secret.id]["result"]) == ([], [], None)
    assert turns[after.id]["result"] == {"reply": "after "}
    assert [event["text"] for event in turns[after.id]["events"]] == ["after "]
    assert [message.id for message in redaction.seen[0].remaining] == ["m1", "m5"]


def test_nobody_else_is_touched_and_unknown_messages_are_told(store: Store, session: Session, now: datetime) -> None:
    _turn(store, session, "secret", now)
    other = store.sessions.start("coaching", "bob", "monday", now, "secret")
    _turn(store, other, "secret", now)
    bob, ada = store.export("bob"), store.export("ada")
    for ids in (["m2"], ["m9"], ["m1", "m9"]):
        with pytest.raises(UsageError, match="no message"):
            store.forget("coaching", "ada", ids, _Without("secret"), now)
    assert store.export("ada") == ada
    store.forget("coaching", "ada", ["m1"], _Without("secret"), now)
    assert store.export("bob") == bob
    with pytest.raises(StorageError, match="nothing is kept"):
        store.forget("coaching", "nobody", ["m1"], _Without("secret"), now)


def test_a_turn_whose_message_was_forgotten_is_not_taken_up_again(
    store: Store, session: Session, now: datetime
) -> None:
    started, turn, message = store.taking_up.begin(session, "secret", memory="", safety="none", at=now)
    store.turns.interrupt(turn.id)
    assert [one.id for one in store.taking_up.resumable("coaching", "ada")] == [turn.id]
    store.forget(started.team, started.user, [message.id], _Without("secret"), now)
    assert store.taking_up.resumable("coaching", "ada") == []
    with pytest.raises(UsageError, match="was forgotten"):
        store.taking_up.resume(turn.id)
    [kept] = [one for one in store.turns.turns("coaching", "ada") if one.id == turn.id]
    assert kept.status == "interrupted"
