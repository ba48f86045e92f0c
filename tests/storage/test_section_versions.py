from datetime import datetime, timedelta
from typing import Any

import pytest

from repertory.errors import StorageError, UsageError, VersionConflictError
from repertory.storage.blackboard import Blackboard
from repertory.storage.records import CommitmentChange, Session, Turn
from repertory.storage.store import Store


@pytest.fixture
def board(store: Store, turn: Turn) -> Blackboard:
    return store.blackboard(turn.team, turn.user)


def _write(board: Blackboard, section: str, value: object, turn: Turn, **more: Any) -> int:
    return board.write(section, value, turn=turn.id, agent="shadow", at=turn.started_at, **more).version


def test_nothing_is_there_at_first(store: Store) -> None:
    board = store.blackboard("coaching", "nobody")
    assert board.latest("shadow") is None
    assert board.all_latest() == {}
    assert board.history() == []


@pytest.mark.parametrize(
    "value", [{"a": [1, 2.5, None, True]}, [], "Grüße 👋 مرحبا", "", None, 0, {"nul": "\x00", "lone": "\ud800"}]
)
def test_a_value_comes_back_as_it_was(board: Blackboard, turn: Turn, value: object) -> None:
    at = turn.started_at + timedelta(microseconds=7)
    written = board.write("shadow", value, turn=turn.id, agent="shadow", evidence=["m1", "m2"], at=at)
    assert written.value == value
    assert (written.version, written.turn, written.turn_number) == (1, turn.id, 1)
    assert (written.agent, written.evidence, written.at) == ("shadow", ("m1", "m2"), at)
    assert board.latest("shadow") == written


def test_versions_are_counted_per_section_and_kept(board: Blackboard, turn: Turn) -> None:
    assert [_write(board, "shadow", n, turn) for n in range(3)] == [1, 2, 3]
    assert _write(board, "persona", "p", turn) == 1
    assert {name: version.value for name, version in board.all_latest().items()} == {"persona": "p", "shadow": 2}
    assert [version.value for version in board.history("shadow")] == [0, 1, 2]
    assert len(board.history()) == 4


def test_compare_and_set(board: Blackboard, turn: Turn) -> None:
    assert _write(board, "shadow", "first", turn, expect_version=0) == 1
    assert _write(board, "shadow", "second", turn, expect_version=1) == 2
    with pytest.raises(
        VersionConflictError, match=r"version 1 was read, but version 2 is there now, written by shadow"
    ):
        _write(board, "shadow", "late", turn, expect_version=1)
    with pytest.raises(VersionConflictError, match="version 0 was read"):
        _write(board, "shadow", "late", turn, expect_version=0)
    latest = board.latest("shadow")
    assert latest is not None
    assert latest.value == "second"


def test_a_value_that_is_not_json_is_refused(board: Blackboard, turn: Turn) -> None:
    with pytest.raises(StorageError, match="not a JSON value") as error:
        _write(board, "shadow", {"p": float("nan")}, turn)
    assert error.value.where == "section shadow"
    assert board.history() == []


@pytest.mark.parametrize("name", ["", "x" * 201, "\x00", "\udcff"])
def test_a_section_name_that_can_not_be_one_is_refused(board: Blackboard, turn: Turn, name: str) -> None:
    for act in (lambda: board.latest(name), lambda: board.history(name), lambda: _write(board, name, 1, turn)):
        with pytest.raises(UsageError, match="the section id"):
            act()


def test_a_turn_must_have_begun_here(store: Store, board: Blackboard, turn: Turn, now: datetime) -> None:
    other = store.turns.begin_turn(store.sessions.start("coaching", "bob", "monday", now), at=now)
    for stranger in ("t0", other.id):
        with pytest.raises(StorageError, match="not in the database"):
            board.write("shadow", 1, turn=stranger, agent="shadow", at=now)


def test_the_age_of_a_version_in_turns(store: Store, session: Session, turn: Turn, board: Blackboard) -> None:
    _write(board, "shadow", 1, turn)
    later = [store.turns.begin_turn(session, at=turn.started_at) for _ in range(3)][-1]
    latest = board.latest("shadow")
    assert latest is not None
    assert later.number - latest.turn_number == 3


def test_an_agents_result_is_whole(store: Store, board: Blackboard, turn: Turn, now: datetime) -> None:
    store.commitments.apply("coaching", "ada", [CommitmentChange(what="run")], "m1", now)
    changes = (CommitmentChange(what="write a page", p=0.4), CommitmentChange(id="k1", outcome="kept", evidence="m7"))
    result = board.commit_agent_result(
        "shadow", {"a": 1}, turn=turn.id, agent="shadow", evidence=("m1",), commitments=changes, message="m2", at=now
    )
    assert not result.repeated
    assert result.section == board.latest("shadow")
    assert [change.status for change in result.commitments] == ["added", "settled"]
    first, second = store.commitments.all("coaching", "ada")
    assert (first.outcome, first.settled_in, second.made_in) == ("kept", "m7", "m2")


def test_an_agents_result_is_absent_when_a_part_of_it_can_not_be(
    store: Store, board: Blackboard, turn: Turn, now: datetime
) -> None:
    changes = (CommitmentChange(what="fine"), CommitmentChange(what="broken", p=7.0))
    with pytest.raises(StorageError, match="between 0 and 1"):
        board.commit_agent_result(
            "shadow", {"a": 1}, turn=turn.id, agent="shadow", commitments=changes, message="m1", at=now
        )
    assert board.history() == []
    assert store.commitments.all("coaching", "ada") == []


def test_a_step_that_is_carried_out_again_leaves_nothing_twice(
    store: Store, board: Blackboard, turn: Turn, session: Session, now: datetime
) -> None:
    def commit(value: int, turn: Turn, *, once: bool = True) -> Any:
        changes = (CommitmentChange(what="run"),)
        return board.commit_agent_result(
            "shadow", value, turn=turn.id, agent="shadow", commitments=changes, message="m1", at=now, once=once
        )

    first, again = commit(1, turn), commit(2, turn)
    assert (again.repeated, again.section) == (True, first.section)
    assert len(store.commitments.all("coaching", "ada")) == 1
    next_turn = store.turns.begin_turn(session, at=now)
    assert commit(3, next_turn).section.version == 2
    assert commit(4, next_turn, once=False).section.version == 3
