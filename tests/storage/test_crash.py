"""A writer is killed at any moment; what it had committed is there, whole, and nothing else is."""

import random
import subprocess
import sys
import time

import pytest

from repertory.storage.store import Store

_WRITER = """
import itertools, sys
from datetime import UTC, datetime
from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store
now = datetime.now(UTC)
store = Store.open(sys.argv[1])
session = store.sessions.start("coaching", "ada", "monday", now)
board = store.blackboard("coaching", "ada")
for n in itertools.count():
    turn = store.turns.begin_turn(session, at=now)
    message = store.messages.append_message(session, "person", "x" * 3000, turn.id, now)
    board.commit_agent_result("shadow", {"of": message.id}, turn=turn.id, agent="shadow", evidence=[message.id],
                              commitments=[CommitmentChange(what=turn.id)], message=message.id, at=now)
    store.turns.append_events(turn.id, [(1, "a", "{}"), (2, "b", "{}")])
    store.turns.finish_turn(turn.id, "complete", {"turn": turn.id}, at=now)
    print(turn.id, flush=True)
"""


@pytest.mark.timeout(300)
def test_a_killed_writer_leaves_whole_rows(address: str) -> None:
    chance = random.Random(7)
    finished: list[str] = []
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", _WRITER, address], stdout=subprocess.PIPE, text=True)
        assert process.stdout
        finished.append(process.stdout.readline().strip())
        time.sleep(chance.uniform(0, 0.3))
        process.kill()
        finished += process.stdout.read().split()
        process.wait()
        process.stdout.close()
        _check(address, finished)


_OPENER = """
import sys
import alembic.command
from repertory.storage.store import Store
print("ready", flush=True)
Store.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_a_first_opening_that_is_killed_can_be_done_again(address: str) -> None:
    chance = random.Random(11)
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", _OPENER, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0, 0.15))
        process.kill()
        process.wait()
        process.stdout.close()
        process.stdin.close()
    with Store.open(address) as store:
        assert store.turns.turns() == []


def _check(address: str, finished: list[str]) -> None:
    with Store.open(address) as store:
        turns = store.turns.turns("coaching", "ada")[::-1]
        assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
        complete = [turn.id for turn in turns if turn.status == "complete"]
        # What was told as finished is there; at most the last turn of a writer was ended without being told.
        assert set(finished) <= set(complete)
        assert {turn.status for turn in turns} <= {"complete", "interrupted"}
        for turn in turns:
            assert len(store.turns.events(turn.id)) in ({2} if turn.status == "complete" else {0, 2})
        session = store.sessions.find("coaching", "ada", "monday")
        assert session is not None
        messages = store.messages.messages(session)
        assert [message.id for message in messages] == [f"m{n}" for n in range(1, len(messages) + 1)]
        # Section and commitment of one agent's result: both or neither.
        versions = store.blackboard("coaching", "ada").history("shadow")
        assert [version.version for version in versions] == list(range(1, len(versions) + 1))
        commitments = store.commitments.all("coaching", "ada")
        assert [commitment.what for commitment in commitments] == [version.turn for version in versions]
        assert set(complete) <= {version.turn for version in versions}
