"""Messages, counted per team and user: `m1`, `m2` ..., without gaps."""

from datetime import datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session as Transaction

from repertory.storage.boards import find_board, lock_board, turn_number
from repertory.storage.database import Database
from repertory.storage.records import Message, Session
from repertory.storage.tables import BoardRow, MessageRow, SessionRow

__all__ = ("Messages", "add_message", "message_record")


def message_record(row: MessageRow) -> Message:
    """The record of a row."""
    return Message(
        id=f"m{row.number}",
        role=row.role,  # pyright: ignore[reportArgumentType] - only roles are written
        text=row.text,
        turn=row.turn,
        session=row.session,
        at=row.at,
    )


def add_message(
    transaction: Transaction,
    board: BoardRow,
    session: str,
    role: Literal["person", "team"],
    text: str,
    turn: str,
    at: datetime,
) -> MessageRow:
    """Add a message on a blackboard that the caller has locked."""
    board.messages += 1
    row = MessageRow(board=board.id, number=board.messages, session=session, turn=turn, role=role, text=text, at=at)
    transaction.add(row)
    transaction.flush()
    return row


class Messages:
    """The messages of all users; every method names the session, or the team and user, that it is about."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append_message(
        self, session: Session, role: Literal["person", "team"], text: str, turn: str, at: datetime
    ) -> Message:
        """Add a message to a session.

        Args:
            session: The session.
            role: Who wrote it.
            text: What was written, kept exactly.
            turn: The turn it belongs to; it must have begun.
            at: When.
        """
        with self._database.write() as transaction:
            board = lock_board(transaction, session.team, session.user)
            turn_number(transaction, board.id, turn)
            return message_record(add_message(transaction, board, session.id, role, text, turn, at))

    def say(self, session: Session, text: str, turn: str, at: datetime) -> Message:
        """Keep the team's words of a turn: one message a turn, whatever a turn that was taken up again said before."""
        with self._database.write() as transaction:
            board = lock_board(transaction, session.team, session.user)
            turn_number(transaction, board.id, turn)
            query = select(MessageRow).where(MessageRow.board == board.id, MessageRow.turn == turn)
            row = transaction.scalar(query.where(MessageRow.role == "team"))
            if row is None:
                row = add_message(transaction, board, session.id, "team", text, turn, at)
            row.text = text
            return message_record(row)

    def messages(self, session: Session, before: str | None = None) -> list[Message]:
        """All messages of a session, or those before one (its id), oldest first."""
        with self._database.read() as transaction:
            board = find_board(transaction, session.team, session.user)
            if board is None:
                return []
            query = select(MessageRow).where(MessageRow.board == board, MessageRow.session == session.id)
            if before is not None:
                query = query.where(MessageRow.number < int(before.removeprefix("m")))
            return [message_record(row) for row in transaction.scalars(query.order_by(MessageRow.number))]

    def past_messages(self, team: str, user: str, before_session: Session, limit: int = 300) -> list[Message]:
        """The newest messages of the sessions that were started before one, oldest first."""
        with self._database.read() as transaction:
            board = find_board(transaction, team, user)
            if board is None:
                return []
            query = (
                select(MessageRow)
                .join(SessionRow, (SessionRow.board == MessageRow.board) & (SessionRow.id == MessageRow.session))
                .where(MessageRow.board == board, SessionRow.number < before_session.number)
                .order_by(MessageRow.number.desc())
                .limit(limit)
            )
            return [message_record(row) for row in transaction.scalars(query)][::-1]
