from datetime import datetime, timedelta, timezone

import pytest

from repertory.errors import StorageError, UsageError
from repertory.storage.records import Session, Turn
from repertory.storage.store import Store


def test_a_session_is_found_again(store: Store, now: datetime) -> None:
    assert store.sessions.find("coaching", "ada", "monday") is None
    started = store.sessions.start("coaching", "ada", "monday", now, "memory é\x00")
    assert store.sessions.find("coaching", "ada", "monday") == started
    assert (started.number, started.memory, started.started_at) == (1, "memory é\x00", now)


def test_sessions_are_numbered_and_the_last_one_is_the_latest(store: Store, now: datetime) -> None:
    assert store.sessions.latest("coaching", "ada") is None
    started = [store.sessions.start("coaching", "ada", None, now - timedelta(days=n)) for n in range(3)]
    assert [session.number for session in started] == [1, 2, 3]
    assert len({session.id for session in started}) == 3
    assert store.sessions.latest("coaching", "ada") == started[-1]
    assert store.sessions.all("coaching", "ada") == started
    assert store.sessions.count("coaching", "ada") == 3
    assert store.sessions.count("coaching", "bob") == store.sessions.count("other", "ada") == 0


def test_a_session_that_somebody_else_started_meanwhile_is_kept(store: Store, now: datetime) -> None:
    first = store.sessions.start("coaching", "ada", "monday", now, "first")
    assert store.sessions.start("coaching", "ada", "monday", now, "second") == first
    assert store.sessions.count("coaching", "ada") == 1


def test_times_are_kept_in_utc_and_never_without_a_zone(store: Store) -> None:
    at = datetime(2026, 12, 1, 9, 30, 0, 123456, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    store.sessions.start("coaching", "ada", "s", at)
    found = store.sessions.find("coaching", "ada", "s")
    assert found is not None
    assert found.started_at == at
    assert found.started_at.utcoffset() == timedelta(0)
    with pytest.raises(StorageError, match="without a zone"):
        store.sessions.start("coaching", "ada", "t", datetime(2026, 12, 1))  # noqa: DTZ001 - the very mistake


def test_messages_are_counted_over_all_sessions(store: Store, session: Session, turn: Turn, now: datetime) -> None:
    tuesday = store.sessions.start("coaching", "ada", "tuesday", now)
    later = store.turns.begin_turn(tuesday, at=now)
    append = store.messages.append_message
    assert append(session, "person", "one", turn.id, now).id == "m1"
    assert append(tuesday, "person", "two", later.id, now).id == "m2"
    third = append(session, "team", "three", turn.id, now)
    assert (third.id, third.role, third.session, third.turn, third.at) == ("m3", "team", "monday", turn.id, now)
    assert [message.text for message in store.messages.messages(session)] == ["one", "three"]
    assert store.messages.messages(session)[-1] == third


@pytest.mark.parametrize(
    "text",
    ["", "\x00", "a\x00b", "\ud83d alone", "x" * 50_000, "'; DROP TABLE messages; --", "مرحبا 👩‍🚀", "\r\n\t", '"\\'],
)
def test_a_message_is_kept_exactly(store: Store, session: Session, turn: Turn, now: datetime, text: str) -> None:
    store.messages.append_message(session, "person", text, turn.id, now)
    assert [message.text for message in store.messages.messages(session)] == [text]


def test_past_messages_are_the_newest_of_earlier_sessions(store: Store, now: datetime) -> None:
    for name in ("a", "b", "c"):
        session = store.sessions.start("coaching", "ada", name, now)
        turn = store.turns.begin_turn(session, at=now)
        for n in range(2):
            store.messages.append_message(session, "person", f"{name}{n}", turn.id, now)

    def past(name: str, limit: int = 300) -> list[str]:
        session = store.sessions.find("coaching", "ada", name)
        assert session is not None
        return [message.text for message in store.messages.past_messages("coaching", "ada", session, limit)]

    assert past("a") == []
    assert past("c") == ["a0", "a1", "b0", "b1"]
    assert past("c", limit=3) == ["a1", "b0", "b1"]


def test_a_message_needs_a_turn_of_its_own_user(store: Store, session: Session, turn: Turn, now: datetime) -> None:
    bob = store.sessions.start("coaching", "bob", "monday", now)
    with pytest.raises(StorageError, match="not in the database"):
        store.messages.append_message(bob, "person", "hello", turn.id, now)
    assert store.messages.messages(bob) == []


@pytest.mark.parametrize("bad", ["", "x" * 201, "a\x00"])
def test_ids_that_are_none_are_refused(store: Store, now: datetime, bad: str) -> None:
    for arguments in ((bad, "ada", "s"), ("coaching", bad, "s"), ("coaching", "ada", bad)):
        with pytest.raises(UsageError):
            store.sessions.start(*arguments, now)
    with pytest.raises(UsageError):
        store.blackboard("coaching", bad)
