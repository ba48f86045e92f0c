from datetime import datetime, timedelta

import pytest

from repertory.errors import StorageError
from repertory.storage.records import CommitmentChange, Session
from repertory.storage.store import Store

pytestmark = pytest.mark.usefixtures("session")


def test_commitments_are_added_and_settled(store: Store, now: datetime) -> None:
    due = now + timedelta(days=1)
    add = CommitmentChange(what="write a page", when="tomorrow", due=due, p=0.4, kind="writing")
    [added] = store.commitments.apply("coaching", "ada", [add], "m1", now)
    assert added.status == "added"
    made = added.commitment
    assert made is not None
    assert (made.id, made.what, made.when, made.due, made.p) == ("k1", "write a page", "tomorrow", due, 0.4)
    assert (made.outcome, made.kind, made.made_in, made.made_at) == ("open", "writing", "m1", now)
    assert (made.settled_in, made.settled_at) == (None, None)

    [settled] = store.commitments.apply("coaching", "ada", [CommitmentChange(id="k1", outcome="missed")], "m5", due)
    assert settled.status == "settled"
    [kept] = store.commitments.all("coaching", "ada")
    assert kept == settled.commitment
    assert (kept.outcome, kept.settled_in, kept.settled_at, kept.p) == ("missed", "m5", due, 0.4)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (CommitmentChange(id="k1", outcome="kept"), "already_settled"),
        (CommitmentChange(id="k9", outcome="kept"), "unknown"),
        (CommitmentChange(id="k01", outcome="kept"), "unknown"),
        (CommitmentChange(id="m1", outcome="kept"), "unknown"),
        (CommitmentChange(id="k", outcome="kept"), "unknown"),
        (CommitmentChange(id=f"k{9**50}", outcome="kept"), "unknown"),
        (CommitmentChange(id="'; --", outcome="kept"), "unknown"),
        (CommitmentChange(id="k2"), "unchanged"),
    ],
)
def test_what_can_not_be_settled_is_told_and_hinders_nothing(
    store: Store, now: datetime, change: CommitmentChange, status: str
) -> None:
    first = [CommitmentChange(what="a", outcome="dropped"), CommitmentChange(what="b")]
    store.commitments.apply("coaching", "ada", first, "m1", now)
    before = store.commitments.all("coaching", "ada")
    result = store.commitments.apply("coaching", "ada", [change, CommitmentChange(what="c")], "m2", now)
    assert [one.status for one in result] == [status, "added"]
    assert store.commitments.all("coaching", "ada")[:2] == before
    assert before[0].settled_in == "m1"


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_probability_is_between_0_and_1(store: Store, now: datetime, p: float) -> None:
    with pytest.raises(StorageError, match="between 0 and 1"):
        store.commitments.apply("coaching", "ada", [CommitmentChange(what="x", p=p)], "m1", now)
    assert store.commitments.all("coaching", "ada") == []


def test_another_users_commitment_is_unknown(store: Store, session: Session, now: datetime) -> None:
    store.commitments.apply("coaching", "ada", [CommitmentChange(what="mine")], "m1", now)
    store.sessions.start("coaching", "bob", "monday", now)
    [result] = store.commitments.apply("coaching", "bob", [CommitmentChange(id="k1", outcome="kept")], "m1", now)
    assert result.status == "unknown"
    assert store.commitments.all("coaching", "ada")[0].outcome == "open"


def test_no_changes_write_nothing(store: Store, now: datetime) -> None:
    assert store.commitments.apply("coaching", "nobody", [], "m1", now) == []
    with pytest.raises(StorageError, match="nothing is kept about user 'nobody'"):
        store.commitments.apply("coaching", "nobody", [CommitmentChange(what="x")], "m1", now)
