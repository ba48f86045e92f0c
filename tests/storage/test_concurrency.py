import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from repertory.errors import VersionConflictError
from repertory.storage.records import CommitmentChange, Session, Turn
from repertory.storage.store import Store


def test_threads_lose_no_write_and_leave_no_gap(store: Store, session: Session, turn: Turn, now: datetime) -> None:
    board = store.blackboard("coaching", "ada")

    def work(n: int) -> tuple[str, int, str]:
        message = store.messages.append_message(session, "person", str(n), turn.id, now)
        version = board.write("shadow", n, turn=turn.id, agent="shadow", at=now)
        change = store.commitments.apply("coaching", "ada", [CommitmentChange(what=str(n))], message.id, now)[0]
        assert change.commitment is not None
        return message.id, version.version, change.commitment.id

    with ThreadPoolExecutor(12) as pool:
        given = list(pool.map(work, range(120)))
    every = range(1, 121)
    assert {message for message, _, _ in given} == {f"m{n}" for n in every}
    assert {version for _, version, _ in given} == set(every)
    assert {commitment for _, _, commitment in given} == {f"k{n}" for n in every}
    assert sorted(int(message.text) for message in store.messages.messages(session)) == list(range(120))
    assert sorted(version.value for version in board.history("shadow")) == list(range(120))


def test_compare_and_set_counts_right_in_parallel(store: Store, turn: Turn, now: datetime) -> None:
    """N writers that each add one, N values (field report F3)."""
    board = store.blackboard("coaching", "ada")

    def add_one(_: int) -> int:
        conflicts = 0
        while True:
            latest = board.latest("count")
            value, version = (latest.value, latest.version) if latest else (0, 0)
            try:
                board.write("count", value + 1, turn=turn.id, agent="a", at=now, expect_version=version)
            except VersionConflictError:
                conflicts += 1
                continue
            return conflicts

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add_one, range(40)))
    latest = board.latest("count")
    assert latest is not None
    assert (latest.value, latest.version) == (40, 40)


def test_a_session_that_many_start_at_once_is_one(store: Store, now: datetime) -> None:
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(store.sessions.start, "coaching", "eve", "s", now) for _ in range(24)]
        started = [future.result() for future in futures]
    assert {session.number for session in started} == {1}
    assert store.sessions.count("coaching", "eve") == 1


_WRITER = """
import sys
from datetime import UTC, datetime
from repertory.storage.store import Store
address, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
now = datetime.now(UTC)
with Store.open(address) as store:
    session = store.sessions.start("coaching", "ada", "monday", now)
    turn = store.turns.begin_turn(session, at=now)
    board = store.blackboard("coaching", "ada")
    for n in range(count):
        store.messages.append_message(session, "person", f"{name} {n}", turn.id, now)
        board.write("shadow", f"{name} {n}", turn=turn.id, agent=name, at=now)
        store.turns.append_events(turn.id, [(n, "tick", "{}")])
    store.turns.finish_turn(turn.id, "complete", {}, at=now)
"""


@pytest.mark.timeout(300)
def test_processes_lose_no_write_and_leave_no_gap(address: str, store: Store) -> None:
    processes, each = 4, 40
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, address, f"p{n}", str(each)], stderr=subprocess.PIPE, text=True
        )
        for n in range(processes)
    ]
    errors = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * processes, errors
    session = store.sessions.find("coaching", "ada", "monday")
    assert session is not None
    wanted = sorted(f"p{p} {n}" for p in range(processes) for n in range(each))
    messages = store.messages.messages(session)
    assert [message.id for message in messages] == [f"m{n}" for n in range(1, processes * each + 1)]
    assert sorted(message.text for message in messages) == wanted
    versions = store.blackboard("coaching", "ada").history("shadow")
    assert sorted(version.value for version in versions) == wanted
    assert sorted(version.version for version in versions) == list(range(1, processes * each + 1))
    turns = store.turns.turns("coaching", "ada")
    assert [(turn.number, turn.status) for turn in turns] == [(n, "complete") for n in range(processes, 0, -1)]
    assert {len(store.turns.events(turn.id)) for turn in turns} == {each}
