import json
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from repertory.errors import StorageError
from repertory.storage.database import Database
from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store


def _fill(store: Store, team: str, user: str, word: str, now: datetime, turns: int = 3) -> None:
    """Put a word into everything that can hold one."""
    session = store.sessions.start(team, user, f"session {word}", now, f"memory {word}")
    board = store.blackboard(team, user)
    for n in range(turns):
        turn = store.turns.begin_turn(session, at=now)
        message = store.messages.append_message(session, "person", f"message {word} {n} " * (1 + n * 200), turn.id, now)
        store.turns.append_events(turn.id, [(1, "turn_started", json.dumps({"text": f"event {word}"}))])
        board.commit_agent_result(
            f"section_{word}",
            {"value": word * (1 + n * 100)},
            turn=turn.id,
            agent="shadow",
            evidence=(message.id,),
            commitments=(CommitmentChange(what=f"commitment {word}", when=word, kind=word),),
            message=message.id,
            at=now,
        )
        store.turns.finish_turn(turn.id, "complete", {"reply": f"reply {word}"}, at=now)


def test_an_export_holds_everything(store: Store, now: datetime) -> None:
    _fill(store, "coaching", "ada", "swordfish", now)
    _fill(store, "other", "ada", "second", now, turns=1)
    _fill(store, "coaching", "bob", "stranger", now)
    document = json.loads(json.dumps(store.export("ada"), allow_nan=False))
    assert (document["user"], sorted(document["teams"])) == ("ada", ["coaching", "other"])
    team = document["teams"]["coaching"]
    assert [session["id"] for session in team["sessions"]] == ["session swordfish"]
    assert [message["id"] for message in team["messages"]] == ["m1", "m2", "m3"]
    assert [turn["events"] for turn in team["turns"]] == [[{"text": "event swordfish"}]] * 3
    assert [turn["result"] for turn in team["turns"]] == [{"reply": "reply swordfish"}] * 3
    assert [version["version"] for version in team["section_versions"]] == [1, 2, 3]
    assert [commitment["id"] for commitment in team["commitments"]] == ["k1", "k2", "k3"]
    assert "stranger" not in json.dumps(document)
    assert list(store.export("ada", "other")["teams"]) == ["other"]
    assert store.export("nobody")["teams"] == {}


def test_an_erase_tells_what_it_deleted_and_touches_nobody_else(store: Store, now: datetime) -> None:
    _fill(store, "coaching", "ada", "swordfish", now)
    _fill(store, "coaching", "bob", "stranger", now)
    _fill(store, "other", "ada", "second", now)
    strangers, second = store.export("bob"), store.export("ada", "other")
    assert store.erase("ada", "coaching") == {
        "agent_records": 0,
        "blackboards": 1,
        "commitments": 3,
        "events": 3,
        "messages": 3,
        "section_versions": 3,
        "session_summaries": 0,
        "sessions": 1,
        "turn_steps": 0,
        "turns": 3,
    }
    assert store.export("ada") == second | {"agents": {}}
    assert store.export("bob") == strangers
    assert store.teams_of_user("ada") == ["other"]
    assert set(store.erase("nobody").values()) == {0}


def test_after_an_erase_a_user_begins_like_a_new_one(store: Store, now: datetime) -> None:
    _fill(store, "coaching", "ada", "swordfish", now)
    old = store.turns.latest_turn()
    assert old is not None
    store.erase("ada")
    _fill(store, "coaching", "ada", "new", now, turns=1)
    assert "swordfish" not in json.dumps(store.export("ada"))
    assert store.turns.find_turn(old.id) is None
    assert store.turns.past_safety("coaching", "ada") == [(now, "none")]


def test_a_turn_that_still_runs_can_write_nothing_after_an_erase(store: Store, now: datetime) -> None:
    session = store.sessions.start("coaching", "ada", "monday", now)
    turn = store.turns.begin_turn(session, at=now)
    store.erase("ada")
    board = store.blackboard("coaching", "ada")
    acts = [
        lambda: store.messages.append_message(session, "team", "late", turn.id, now),
        lambda: store.turns.append_events(turn.id, [(1, "late", "{}")]),
        lambda: store.turns.finish_turn(turn.id, "complete", {"late": 1}, at=now),
        lambda: store.turns.begin_turn(session, at=now),
        lambda: board.write("shadow", "late", turn=turn.id, agent="shadow", at=now),
        lambda: store.commitments.apply("coaching", "ada", [CommitmentChange(what="late")], "m1", now),
    ]
    for again in range(2):
        for act in acts:
            with pytest.raises(StorageError):
                act()
        assert store.turns.turns() == []
        if not again:
            # Not into what a new user of the same name has begun either.
            store.sessions.start("coaching", "ada", "tuesday", now)
            acts = acts[:-1]


def _files_with(folder: Path, word: str) -> list[str]:
    return [file.name for file in sorted(folder.iterdir()) if word.encode() in file.read_bytes()]


def test_after_an_erase_the_words_are_in_no_byte_of_the_files(tmp_path: Path, now: datetime) -> None:
    with Store.open(tmp_path / "repertory.sqlite") as store:
        # Neighbours in between, so that pages are split, merged and shared.
        for n in range(12):
            _fill(store, "coaching", f"neighbour {n}", f"stranger{n}", now)
            _fill(store, f"team {n}", "ada", "swordfish", now)
        assert _files_with(tmp_path, "swordfish")
        store.erase("ada")
        assert _files_with(tmp_path, "swordfish") == []
        assert _files_with(tmp_path, "stranger7")
    assert _files_with(tmp_path, "swordfish") == []


def _wait_briefly(connection: Connection) -> None:
    connection.exec_driver_sql("PRAGMA busy_timeout = 50")


def test_an_erase_that_can_not_clean_the_file_says_so_and_is_made_good_by_the_next(
    tmp_path: Path, now: datetime
) -> None:
    with Store.open(tmp_path / "repertory.sqlite") as store:
        event.listen(store._database.engine, "begin", _wait_briefly)
        _fill(store, "coaching", "ada", "swordfish", now)
        reader = Database(store._database.address)
        with reader.read() as view:
            assert view.scalar(text("SELECT count(*) FROM messages")) == 3
            with pytest.raises(StorageError, match="another process keeps an old state"):
                store.erase("ada")
        reader.close()
        assert store.teams_of_user("ada") == []
        store.erase("ada")
        assert _files_with(tmp_path, "swordfish") == []
