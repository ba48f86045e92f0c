"""Messages, counted per team and user: `m1`, `m2` ..., without gaps."""

from datetime import datetime
from typing import Literal

from sqlalchemy import select

from repertory.storage.boards import find_board, lock_board, turn_number
from repertory.storage.database import Database
from repertory.storage.records import Message, Session
from repertory.storage.tables import MessageRow, SessionRow

__all__ = ("Messages",)


def _record(row: MessageRow) -> Message:
    return Message(
        id=f"m{row.number}",
        role=row.role,  # pyright: ignore[reportArgumentType] - only roles are written
        text=row.text,
        turn=row.turn,
        session=row.session,
        at=row.at,
    )


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
            board.messages += 1
            row = MessageRow(
                board=board.id, number=board.messages, session=session.id, turn=turn, role=role, text=text, at=at
            )
            transaction.add(row)
            transaction.flush()
            return _record(row)

    def messages(self, session: Session) -> list[Message]:
        """All messages of a session, oldest first."""
        with self._database.read() as transaction:
            board = find_board(transaction, session.team, session.user)
            if board is None:
                return []
            query = select(MessageRow).where(MessageRow.board == board, MessageRow.session == session.id)
            return [_record(row) for row in transaction.scalars(query.order_by(MessageRow.number))]

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
            return [_record(row) for row in transaction.scalars(query)][::-1]
