import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import psutil
import pytest
from sqlalchemy import update

from repertory.errors import StorageError, UsageError
from repertory.storage.owner import current_owner, owner_is_gone
from repertory.storage.records import Session, StoredEvent, Turn
from repertory.storage.store import Store
from repertory.storage.tables import TurnRow
from repertory.storage.turns import ABANDONED_AFTER


def test_a_turn_runs_and_ends(store: Store, session: Session, now: datetime) -> None:
    turn = store.turns.begin_turn(session, at=now)
    assert (turn.status, turn.number, turn.safety, turn.finished_at) == ("running", 1, "none", None)
    assert store.turns.result(turn.id) is None
    store.turns.finish_turn(turn.id, "partial", {"reply": "Grüße\x00"}, at=now + timedelta(seconds=9), safety="low")
    ended = store.turns.find_turn(turn.id)
    assert ended is not None
    assert (ended.status, ended.safety, ended.finished_at) == ("partial", "low", now + timedelta(seconds=9))
    assert (ended.team, ended.user, ended.session) == ("coaching", "ada", "monday")
    assert store.turns.result(turn.id) == {"reply": "Grüße\x00"}


def test_turns_are_found_by_the_beginning_of_their_id(store: Store, session: Session, now: datetime) -> None:
    first, second = (store.turns.begin_turn(session, at=now) for _ in range(2))
    assert store.turns.find_turn(first.id[:-1].upper()) in {first, None} or first.id[:-1] == second.id[:-1]
    assert store.turns.find_turn(second.id) == second
    with pytest.raises(UsageError, match="more than one turn"):
        store.turns.find_turn("t")
    for nothing in ("", "%", "t%", "_", "tzzz", "'; --", "é", f"{first.id}0"):
        assert store.turns.find_turn(nothing) is None
    assert store.turns.find_turn(first.id, user="bob") is None
    assert store.turns.find_turn(first.id, team="other") is None


def test_the_latest_turn_of_everything_or_of_a_user(store: Store, session: Session, now: datetime) -> None:
    assert store.turns.latest_turn() is None
    bob = store.sessions.start("coaching", "bob", "monday", now)
    mine, other = store.turns.begin_turn(session, at=now), store.turns.begin_turn(bob, at=now)
    assert store.turns.latest_turn() == other
    assert store.turns.latest_turn("coaching", "ada") == store.turns.latest_turn(user="ada") == mine
    assert store.turns.turns(limit=5) == [other, mine]
    assert other.number == 1


def test_events_come_back_in_order(store: Store, turn: Turn) -> None:
    assert store.turns.last_seq(turn.id) is None
    store.turns.append_events(turn.id, [])
    store.turns.append_events(turn.id, [(2, "b", '{"x":"\\u0000é"}'), (1, "a", "{}")])
    store.turns.append_events(turn.id, [(3, "c", '{"lone":"\ud800"}')])
    assert store.turns.events(turn.id) == [
        StoredEvent(1, "a", "{}"),
        StoredEvent(2, "b", '{"x":"\\u0000é"}'),
        StoredEvent(3, "c", '{"lone":"\\ud800"}'),
    ]
    assert store.turns.last_seq(turn.id) == 3


def test_a_batch_of_events_is_kept_whole_or_not_at_all(store: Store, turn: Turn) -> None:
    store.turns.append_events(turn.id, [(2, "a", "{}")])
    with pytest.raises(StorageError, match="there already"):
        store.turns.append_events(turn.id, [(1, "b", "{}"), (2, "c", "{}")])
    assert [event.seq for event in store.turns.events(turn.id)] == [2]


def test_a_turn_that_is_not_there_is_told_in_words(store: Store, now: datetime) -> None:
    for act in (
        lambda: store.turns.append_events("tnone", [(1, "a", "{}")]),
        lambda: store.turns.finish_turn("tnone", "complete", {}, at=now),
        lambda: store.turns.set_safety("tnone", "low"),
    ):
        with pytest.raises(StorageError, match="'tnone' is not in the database"):
            act()
    assert store.turns.events("tnone") == []


def test_past_safety_is_oldest_first_and_of_one_user(store: Store, session: Session, now: datetime) -> None:
    bob = store.sessions.start("coaching", "bob", "monday", now)
    store.turns.set_safety(store.turns.begin_turn(bob, at=now).id, "crisis")
    turns = [store.turns.begin_turn(session, at=now + timedelta(hours=n)) for n in range(3)]
    store.turns.set_safety(turns[1].id, "elevated")
    levels = [(now, "none"), (now + timedelta(hours=1), "elevated"), (now + timedelta(hours=2), "none")]
    assert store.turns.past_safety("coaching", "ada") == levels
    assert store.turns.past_safety("coaching", "ada", before_turn=turns[2].id) == levels[:2]
    assert store.turns.past_safety("coaching", "ada", limit=1) == levels[2:]
    assert store.turns.past_safety("coaching", "nobody") == []


_BEGIN = """
import os, sys
from datetime import UTC, datetime
from repertory.storage.store import Store
store = Store.open(sys.argv[1])
now = datetime.now(UTC)
turn = store.turns.begin_turn(store.sessions.start("coaching", "ada", "monday", now), at=now)
store.turns.append_events(turn.id, [(1, "turn_started", "{}")])
print(turn.id, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_turn_whose_process_was_killed_is_interrupted_at_the_next_opening(address: str, now: datetime) -> None:
    done = subprocess.run([sys.executable, "-c", _BEGIN, address], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    cut_off = done.stdout.strip()
    with Store.open(address) as store:
        found = store.turns.find_turn(cut_off)
        assert found is not None
        assert found.status == "interrupted"
        assert len(store.turns.events(cut_off)) == 1
        # It may still be ended, by whoever takes it up again.
        store.turns.finish_turn(cut_off, "complete", {}, at=now)
        assert store.turns.mark_interrupted() == []


def test_a_turn_that_runs_is_left_alone(address: str, store: Store, turn: Turn) -> None:
    with Store.open(address) as another:
        assert another.turns.mark_interrupted() == []
        assert another.turns.find_turn(turn.id) == turn


@pytest.mark.parametrize(("silent", "interrupted"), [(timedelta(0), False), (ABANDONED_AFTER * 2, True)])
def test_a_turn_of_another_host_counts_as_gone_when_it_is_silent(
    store: Store, turn: Turn, silent: timedelta, interrupted: bool
) -> None:
    with store._database.write() as session:
        seen = datetime.now(UTC) - silent
        session.execute(update(TurnRow).values(owner="elsewhere 0-0 1 1.0", seen_at=seen))
    assert store.turns.mark_interrupted() == ([turn.id] if interrupted else [])


def test_owners() -> None:
    me = current_owner()
    host_and_boot, pid, started = me.rsplit(" ", 2)
    host, boot = host_and_boot.rsplit(" ", 1)
    assert owner_is_gone(me) is False
    assert owner_is_gone(f"{host} another-boot {pid} {started}") is True
    assert owner_is_gone(f"{host} {boot} {pid} 17.0") is True, "the process id was given to another process"
    assert owner_is_gone(f"{host} {boot} 999999999 {started}") is True
    assert owner_is_gone(f"elsewhere {boot} {pid} {started}") is None
    assert owner_is_gone("nonsense") is None
    assert owner_is_gone(f"{host} {boot} {pid} never") is None


def test_owners_named_by_an_earlier_version() -> None:
    host_and_boot, pid, _ = current_owner().rsplit(" ", 2)
    assert owner_is_gone(f"{host_and_boot} {pid} {psutil.Process().create_time():.1f}") is False
    assert owner_is_gone(f"{host_and_boot} 999999999 17.0") is True


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a start is a time of day")
def test_setting_the_clock_ends_nobodys_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start as the time of day moves with the clock: every turn that runs would count as given up."""
    me, began = current_owner(), psutil.Process().create_time()

    def an_hour_later(_: psutil.Process) -> float:
        return began + 3600

    monkeypatch.setattr(psutil.Process, "create_time", an_hour_later)
    assert owner_is_gone(me) is False


@pytest.mark.skipif(sys.platform != "linux", reason="the parent of a process decides elsewhere too, but differently")
def test_who_was_killed_is_gone_though_its_parent_has_not_looked() -> None:
    """Containers often have no first process that collects the dead."""
    words = "from repertory.storage.owner import current_owner; print(current_owner(), flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        owner = process.stdout.readline().strip()
        assert owner_is_gone(owner) is False
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays as it is
        assert owner_is_gone(owner) is True
    finally:
        process.kill()
        process.communicate()
