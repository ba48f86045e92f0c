"""What is remembered of sessions whose talk is too long to be read again."""

from datetime import datetime

from sqlalchemy import func, select

from repertory.storage.boards import find_board, lock_board
from repertory.storage.database import Database
from repertory.storage.records import Session, SessionSummary
from repertory.storage.sessions import session_record
from repertory.storage.tables import BoardRow, MessageRow, SessionRow, SummaryRow

__all__ = ("Summaries",)


class Summaries:
    """The summaries of all users' sessions; every method names the team and user it is about."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, session: Session, text: str, *, last_message: int, at: datetime) -> None:
        """Keep the summary of a session in place of an older one. One that covers more messages stands.

        Raises:
            StorageError: The session is not in the database.
        """
        with self._database.write() as transaction:
            board = lock_board(transaction, session.team, session.user)
            row = transaction.get(SummaryRow, (board.id, session.id))
            if row is None:
                row = SummaryRow(board=board.id, session=session.id, text=text, last_message=last_message, at=at)
                transaction.add(row)
            elif row.last_message <= last_message:
                row.text, row.last_message, row.at = text, last_message, at
            transaction.flush()

    def all(self, team: str, user: str, before_session: int | None = None) -> list[SessionSummary]:
        """The summaries, of all sessions or of those before one (its number), oldest first."""
        with self._database.read() as transaction:
            board = find_board(transaction, team, user)
            if board is None:
                return []
            query = (
                select(SummaryRow, SessionRow.number)
                .join(SessionRow, (SessionRow.board == SummaryRow.board) & (SessionRow.id == SummaryRow.session))
                .where(SummaryRow.board == board)
            )
            if before_session is not None:
                query = query.where(SessionRow.number < before_session)
            return [
                SessionSummary(
                    session=row.session, number=number, text=row.text, last_message=row.last_message, at=row.at
                )
                for row, number in transaction.execute(query.order_by(SessionRow.number))
            ]

    def all_pending(self) -> dict[tuple[str, str], frozenset[str]]:
        """By team and user: the sessions with messages that no summary covers yet; those that go on are left out."""
        newest = select(SessionRow.board, func.max(SessionRow.number).label("number")).group_by(SessionRow.board)
        going_on = newest.subquery()
        last = (
            select(MessageRow.board, MessageRow.session, func.max(MessageRow.number).label("last"))
            .group_by(MessageRow.board, MessageRow.session)
            .subquery()
        )
        query = (
            select(BoardRow.team, BoardRow.user_id, SessionRow.id)
            .join(SessionRow, SessionRow.board == BoardRow.id)
            .join(going_on, going_on.c.board == BoardRow.id)
            .join(last, (last.c.board == BoardRow.id) & (last.c.session == SessionRow.id))
            .outerjoin(SummaryRow, (SummaryRow.board == BoardRow.id) & (SummaryRow.session == SessionRow.id))
            .where(SessionRow.number < going_on.c.number)
            .where((SummaryRow.last_message.is_(None)) | (SummaryRow.last_message < last.c.last))
            .order_by(BoardRow.id)
        )
        found: dict[tuple[str, str], set[str]] = {}
        with self._database.read() as transaction:
            for team, user, session in transaction.execute(query):
                found.setdefault((team, user), set()).add(session)
        return {person: frozenset(sessions) for person, sessions in found.items()}

    def pending(self, team: str, user: str) -> list[Session]:
        """The sessions with messages that no summary covers yet, oldest first; the newest session is still going on."""
        with self._database.read() as transaction:
            board = find_board(transaction, team, user)
            if board is None:
                return []
            newest = select(func.max(SessionRow.number)).where(SessionRow.board == board).scalar_subquery()
            last = (
                select(MessageRow.session, func.max(MessageRow.number).label("last"))
                .where(MessageRow.board == board)
                .group_by(MessageRow.session)
                .subquery()
            )
            rows = transaction.scalars(
                select(SessionRow)
                .join(last, last.c.session == SessionRow.id)
                .outerjoin(SummaryRow, (SummaryRow.board == board) & (SummaryRow.session == SessionRow.id))
                .where(SessionRow.board == board, SessionRow.number < newest)
                .where((SummaryRow.last_message.is_(None)) | (SummaryRow.last_message < last.c.last))
                .order_by(SessionRow.number)
            )
            return [session_record(row, team, user) for row in rows]
