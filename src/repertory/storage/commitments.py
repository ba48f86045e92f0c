"""Commitments: what a person said they would do, and what became of it."""

import math
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from repertory.errors import StorageError, UsageError
from repertory.storage.boards import find_board, lock_board
from repertory.storage.database import Database
from repertory.storage.records import AppliedChange, Commitment, CommitmentChange, Outcome
from repertory.storage.tables import BoardRow, CommitmentRow

__all__ = ("Commitments", "apply_changes", "commitment_record")


def commitment_record(row: CommitmentRow) -> Commitment:
    """The record of a row."""
    return Commitment(
        id=f"k{row.number}",
        what=row.what,
        when=row.when_said,
        due=row.due,
        p=row.p,
        outcome=row.outcome,  # pyright: ignore[reportArgumentType] - only outcomes are written
        kind=row.kind,
        made_in=row.made_in,
        settled_in=row.settled_in,
        made_at=row.made_at,
        settled_at=row.settled_at,
    )


def apply_changes(
    session: Session, board: BoardRow, changes: Sequence[CommitmentChange], message: str, at: datetime
) -> list[AppliedChange]:
    """Carry out changes in the caller's transaction, on a blackboard it has locked."""
    return [_apply(session, board, change, message, at) for change in changes]


def _apply(session: Session, board: BoardRow, change: CommitmentChange, message: str, at: datetime) -> AppliedChange:
    evidence = change.evidence or message
    if change.id is None:
        row = _add(board, change, evidence, at)
        session.add(row)
        session.flush()
        return AppliedChange(change=change, status="added", commitment=commitment_record(row))
    row = _find(session, board.id, change.id)
    if row is None:
        return AppliedChange(change=change, status="unknown", commitment=None)
    if row.outcome != "open":
        return AppliedChange(change=change, status="already_settled", commitment=commitment_record(row))
    if change.outcome == "open":
        return AppliedChange(change=change, status="unchanged", commitment=commitment_record(row))
    row.outcome, row.settled_in, row.settled_at = change.outcome, evidence, at
    session.flush()
    return AppliedChange(change=change, status="settled", commitment=commitment_record(row))


def _add(board: BoardRow, change: CommitmentChange, evidence: str, at: datetime) -> CommitmentRow:
    if change.p is not None and not (math.isfinite(change.p) and 0 <= change.p <= 1):
        message = f"a predicted probability must be between 0 and 1, not {change.p}"
        raise StorageError(message, where="commitments")
    board.commitments += 1
    settled = change.outcome != "open"
    return CommitmentRow(
        board=board.id,
        number=board.commitments,
        what=change.what,
        when_said=change.when,
        due=change.due,
        p=change.p,
        outcome=change.outcome,
        kind=change.kind,
        made_in=evidence,
        settled_in=evidence if settled else None,
        made_at=at,
        settled_at=at if settled else None,
    )


def _find(session: Session, board: int, name: str) -> CommitmentRow | None:
    digits = name.removeprefix("k")
    # Nine digits: more can not have been given, and would not fit the column.
    if not name.startswith("k") or not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        return None
    row = session.get(CommitmentRow, (board, int(digits)))
    return row if row is not None and name == f"k{row.number}" else None


class Commitments:
    """The commitments of all users; every method names the team and user it is about."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def apply(
        self, team: str, user: str, changes: Sequence[CommitmentChange], message: str, at: datetime
    ) -> list[AppliedChange]:
        """Add and settle commitments, all in one transaction.

        A change that can not be carried out (an unknown or already settled id) is told in its status and does not
        hinder the others.

        Args:
            team: The team.
            user: The user.
            changes: What to do.
            message: The message in which they were made or settled, where a change names none.
            at: When.
        """
        if not changes:
            return []
        with self._database.write() as session:
            return apply_changes(session, lock_board(session, team, user), changes, message, at)

    def settle(self, team: str, user: str, commitment: str, outcome: Outcome, at: datetime) -> Commitment:
        """Set an outcome in the person's own name; it stands above what was read from messages before.

        Raises:
            UsageError: There is no such commitment.
            StorageError: Nothing is kept about this person.
        """
        with self._database.write() as session:
            board = lock_board(session, team, user)
            row = _find(session, board.id, commitment)
            if row is None:
                message = f"there is no commitment {commitment!r}"
                raise UsageError(message, hint="`repertory blackboard show` lists them with their ids")
            row.outcome, row.settled_in = outcome, None
            row.settled_at = None if outcome == "open" else at
            session.flush()
            return commitment_record(row)

    def all(self, team: str, user: str) -> list[Commitment]:
        """All commitments of a user and team, oldest first."""
        with self._database.read() as session:
            board = find_board(session, team, user)
            if board is None:
                return []
            rows = session.scalars(
                select(CommitmentRow).where(CommitmentRow.board == board).order_by(CommitmentRow.number)
            )
            return [commitment_record(row) for row in rows]
