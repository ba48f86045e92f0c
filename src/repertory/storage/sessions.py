"""Sessions: the conversations of a user with a team."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Transaction

from repertory.storage.boards import find_board, lock_board
from repertory.storage.database import Database
from repertory.storage.ids import check_id, new_session_id
from repertory.storage.records import Session
from repertory.storage.tables import BoardRow, SessionRow

__all__ = ("Sessions", "session_record", "start_session")


def session_record(row: SessionRow, team: str, user: str) -> Session:
    """The record of a row."""
    return Session(id=row.id, team=team, user=user, number=row.number, started_at=row.started_at, memory=row.memory)


def start_session(
    transaction: Transaction, board: BoardRow, session: str | None, at: datetime, memory: str
) -> SessionRow:
    """Start a session on a blackboard that the caller has locked; one that is there already is returned as it is."""
    if session is not None and (there := transaction.get(SessionRow, (board.id, session))):
        return there
    board.sessions += 1
    name = session or _free_id(transaction, board.id, board.sessions)
    row = SessionRow(board=board.id, id=name, number=board.sessions, started_at=at, memory=memory)
    transaction.add(row)
    transaction.flush()
    return row


class Sessions:
    """The sessions of all users; every method names the team and user it is about."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, team: str, user: str, session: str) -> Session | None:
        """A session by its id."""
        check_id("session", session)
        with self._database.read() as transaction:
            board = find_board(transaction, team, user)
            row = None if board is None else transaction.get(SessionRow, (board, session))
            return None if row is None else session_record(row, team, user)

    def start(self, team: str, user: str, session: str | None, at: datetime, memory: str = "") -> Session:
        """Start a session; when one with this id is there already (somebody was quicker), that one is returned.

        Args:
            team: The team.
            user: The user.
            session: The session's id; None makes one.
            at: When.
            memory: The memory snapshot that the session keeps.
        """
        if session is not None:
            check_id("session", session)
        with self._database.write() as transaction:
            board = lock_board(transaction, team, user, create=True)
            return session_record(start_session(transaction, board, session, at, memory), team, user)

    def latest(self, team: str, user: str) -> Session | None:
        """The session that was started last."""
        sessions = self._list(team, user, newest=1)
        return sessions[0] if sessions else None

    def all(self, team: str, user: str) -> list[Session]:
        """All sessions, oldest first."""
        return self._list(team, user)[::-1]

    def count(self, team: str, user: str) -> int:
        """How many sessions there are."""
        with self._database.read() as transaction:
            board = find_board(transaction, team, user)
            if board is None:
                return 0
            return transaction.scalar(select(func.count()).where(SessionRow.board == board)) or 0

    def _list(self, team: str, user: str, newest: int | None = None) -> list[Session]:
        with self._database.read() as transaction:
            board = find_board(transaction, team, user)
            if board is None:
                return []
            query = select(SessionRow).where(SessionRow.board == board).order_by(SessionRow.number.desc())
            return [session_record(row, team, user) for row in transaction.scalars(query.limit(newest))]


def _free_id(transaction: Transaction, board: int, number: int) -> str:
    name = new_session_id(number)
    # A person may have chosen the very same id.
    while transaction.get(SessionRow, (board, name)) is not None:
        name = new_session_id(number)
    return name
