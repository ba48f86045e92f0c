"""The row that stands for one team and user; every query goes through it, so that no user sees another's rows."""

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from repertory.errors import StorageError
from repertory.storage.ids import check_id
from repertory.storage.tables import BoardRow, TurnRow

__all__ = ("find_board", "lock_board", "turn_number")


def find_board(session: Session, team: str, user: str) -> int | None:
    """The blackboard's key, None when nothing is kept about this user and team."""
    check_id("team", team)
    check_id("user", user)
    return session.scalar(select(BoardRow.id).where(BoardRow.team == team, BoardRow.user_id == user))


def lock_board(session: Session, team: str, user: str, *, create: bool = False) -> BoardRow:
    """The blackboard's row, held against other writers until the transaction ends.

    Raises:
        StorageError: There is none and `create` is off: nothing was ever written, or it was erased.
    """
    check_id("team", team)
    check_id("user", user)
    if create:
        _create_board(session, team, user)
    query = select(BoardRow).where(BoardRow.team == team, BoardRow.user_id == user).with_for_update()
    row = session.scalar(query)
    if row is None:
        message = f"nothing is kept about user {user!r} and team {team!r}"
        raise StorageError(message, hint="start a session first; was the data erased meanwhile?")
    return row


def _create_board(session: Session, team: str, user: str) -> None:
    """Add the blackboard's row unless it is there; somebody else may be doing the same."""
    values = {"team": team, "user_id": user, "sessions": 0, "turns": 0, "messages": 0, "commitments": 0}
    if session.get_bind().dialect.name == "sqlite":
        session.execute(insert(BoardRow).prefix_with("OR IGNORE").values(values))
        return
    # Loaded here: most installations have no PostgreSQL, and the module takes a while.
    from sqlalchemy.dialects.postgresql import insert as postgres_insert  # noqa: PLC0415

    session.execute(postgres_insert(BoardRow).values(values).on_conflict_do_nothing())


def turn_number(session: Session, board: int, turn: str) -> int:
    """The number of a turn of this blackboard.

    Raises:
        StorageError: It has no such turn.
    """
    number = session.scalar(select(TurnRow.number).where(TurnRow.board == board, TurnRow.id == turn))
    if number is None:
        message = f"turn {turn!r} is not in the database"
        raise StorageError(message, hint="begin the turn first; was the data erased meanwhile?")
    return number
