"""Taking up a turn, for the first time or again: one transaction each, so that half a turn is never there."""

from datetime import UTC, datetime

from sqlalchemy import select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session as Transaction
from sqlalchemy.orm import aliased

from repertory.errors import StorageError, UsageError
from repertory.storage.blackboard import section_record
from repertory.storage.boards import lock_board
from repertory.storage.database import Database
from repertory.storage.ids import check_id
from repertory.storage.messages import add_message, message_record
from repertory.storage.owner import current_owner
from repertory.storage.records import Message, Resumption, Session, Turn
from repertory.storage.sessions import session_record, start_session
from repertory.storage.steps import steps_of
from repertory.storage.tables import BoardRow, MessageRow, SectionRow, SessionRow, TurnRow
from repertory.storage.turns import add_turn, turn_record

__all__ = ("TakingUp",)

_RESUMABLE = ("interrupted", "partial", "failed")


class TakingUp:
    """The first and the later beginnings of turns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(
        self, session: Session, text: str, *, memory: str, safety: str, at: datetime
    ) -> tuple[Session, Turn, Message]:
        """Begin a turn with the person's message, in a session that is there or is started by it.

        Args:
            session: The session; one without an id gets one. Its memory is not looked at.
            text: The person's message.
            memory: The memory snapshot, if the session is started now.
            safety: The safety level that the team's code gave the message.
            at: When.
        """
        if session.id:
            check_id("session", session.id)
        with self._database.write() as transaction:
            board = lock_board(transaction, session.team, session.user, create=True)
            here = start_session(transaction, board, session.id or None, at, memory)
            turn = add_turn(transaction, board, here.id, at, safety)
            message = add_message(transaction, board, here.id, "person", text, turn.id, at)
            return (
                session_record(here, session.team, session.user), turn_record(turn, board), message_record(message)
            )  # fmt: skip

    def resumable(self, team: str | None = None, user: str | None = None) -> list[Turn]:
        """Turns that were cut off, and those that lost their engine unless the person has talked on; oldest first."""
        later = aliased(TurnRow)
        talked_past = (
            select(later.id)
            .where(later.board == TurnRow.board, later.session == TurnRow.session, later.number > TurnRow.number)
            .exists()
        )
        said = (
            select(MessageRow.number)
            .where(MessageRow.board == TurnRow.board, MessageRow.turn == TurnRow.id, MessageRow.role == "person")
            .exists()
        )
        query = select(TurnRow, BoardRow).where(BoardRow.id == TurnRow.board, said)  # what was forgotten stays undone
        query = query.where((TurnRow.status == "interrupted") | (TurnRow.unfinished & ~talked_past))
        if team is not None:
            query = query.where(BoardRow.team == team)
        if user is not None:
            query = query.where(BoardRow.user_id == user)
        with self._database.read() as transaction:
            return [turn_record(row, board) for row, board in transaction.execute(query.order_by(TurnRow.id))]

    def resume(self, turn: str) -> Resumption:
        """Take a turn up again; of all who try at the same time, one gets it.

        Raises:
            UsageError: There is no such turn, or it is complete.
            StorageError: Another process carries it.
        """
        with self._database.write() as transaction:
            done = transaction.execute(
                update(TurnRow)
                .where(TurnRow.id == turn, TurnRow.status.in_(_RESUMABLE))
                .values(
                    status="running",
                    owner=current_owner(),
                    seen_at=datetime.now(UTC),
                    resumes=TurnRow.resumes + 1,
                    unfinished=False,
                )
            )
            row = transaction.get(TurnRow, turn, populate_existing=True)
            if row is None:
                message = f"there is no turn {turn!r}"
                raise UsageError(message, hint="`repertory trace` shows the last one")
            if not isinstance(done, CursorResult) or done.rowcount != 1:
                raise _not_to_be_resumed(row)
            return _resumption(transaction, row)


def _not_to_be_resumed(row: TurnRow) -> UsageError | StorageError:
    if row.status == "running":
        message = f"turn {row.id} is being carried by another process"
        return StorageError(message, hint="wait for it; if that process hangs, end it and try again")
    message = f"turn {row.id} is {row.status}; there is nothing to resume"
    return UsageError(message)


def _resumption(transaction: Transaction, row: TurnRow) -> Resumption:
    board = transaction.get_one(BoardRow, row.board)
    session = transaction.get_one(SessionRow, (row.board, row.session))
    said = select(MessageRow).where(MessageRow.board == row.board, MessageRow.turn == row.id)
    message = transaction.scalars(said.where(MessageRow.role == "person")).one_or_none()
    if message is None:
        words = f"the message of turn {row.id} was forgotten, so the turn can not go on"
        raise UsageError(words, hint="nothing is left to do about it")
    written = transaction.scalars(
        select(SectionRow).where(SectionRow.board == row.board, SectionRow.turn == row.id).order_by(SectionRow.version)
    )
    return Resumption(
        turn=turn_record(row, board),
        session=session_record(session, board.team, board.user_id),
        message=message_record(message),
        steps=steps_of(transaction, row.id),
        written=tuple(section_record(version) for version in written),
    )
