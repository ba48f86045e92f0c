"""Turns: their state, their events and their result document."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session as Transaction

from repertory.errors import StorageError, UsageError
from repertory.storage.boards import find_board, lock_board
from repertory.storage.database import Database
from repertory.storage.ids import new_turn_id
from repertory.storage.json_text import dump_json, load_json, storable_json
from repertory.storage.owner import current_owner, owner_is_gone
from repertory.storage.records import Session, StoredEvent, Turn
from repertory.storage.steps import drop_steps
from repertory.storage.tables import BoardRow, EventRow, TurnRow

__all__ = ("ABANDONED_AFTER", "Turns", "add_turn", "change_turn", "turn_record")

ABANDONED_AFTER = timedelta(hours=1)
"""How long a turn of another host may be silent before it counts as interrupted."""


def turn_record(row: TurnRow, board: BoardRow) -> Turn:
    """The record of a row."""
    return Turn(
        id=row.id,
        team=board.team,
        user=board.user_id,
        session=row.session,
        number=row.number,
        status=row.status,  # pyright: ignore[reportArgumentType] - only states are written
        safety=row.safety,
        started_at=row.started_at,
        finished_at=row.finished_at,
        resumes=row.resumes,
    )


def _of(team: str | None, user: str | None) -> list[ColumnElement[bool]]:
    """The conditions that keep a query to a team, a user, both, or neither."""
    conditions: list[ColumnElement[bool]] = [BoardRow.id == TurnRow.board]
    if team is not None:
        conditions.append(BoardRow.team == team)
    if user is not None:
        conditions.append(BoardRow.user_id == user)
    return conditions


def add_turn(transaction: Transaction, board: BoardRow, session: str, at: datetime, safety: str) -> TurnRow:
    """Take up a turn on a blackboard that the caller has locked; this process is its owner."""
    board.turns += 1
    row = TurnRow(
        id=new_turn_id(),
        board=board.id,
        session=session,
        number=board.turns,
        status="running",
        safety=safety,
        started_at=at,
        owner=current_owner(),
        seen_at=datetime.now(UTC),
    )
    transaction.add(row)
    transaction.flush()
    return row


class Turns:
    """The turns of all users. A turn's id is unique everywhere, so what is about one turn takes the id alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin_turn(self, session: Session, *, at: datetime, safety: str = "none") -> Turn:
        """Take up a turn of a session; this process is its owner."""
        with self._database.write() as transaction:
            board = lock_board(transaction, session.team, session.user)
            return turn_record(add_turn(transaction, board, session.id, at, safety), board)

    def set_safety(self, turn: str, level: str) -> None:
        """Keep the safety level that the team's code gave a turn."""
        with self._database.write() as transaction:
            change_turn(transaction, turn, safety=level)

    def append_events(self, turn: str, events: Iterable[tuple[int, str, str]]) -> None:
        """Keep a batch of events, each with its place in the stream, its type and its JSON text.

        Raises:
            StorageError: The turn is not there, or has an event at one of these places already.
        """
        rows = [EventRow(turn=turn, seq=seq, type=kind, body=storable_json(body)) for seq, kind, body in events]
        if not rows:
            return
        with self._database.write() as transaction:
            change_turn(transaction, turn)
            transaction.add_all(rows)

    def finish_turn(
        self,
        turn: str,
        status: Literal["complete", "partial", "failed"],
        result: object = None,
        *,
        at: datetime,
        safety: str | None = None,
        unfinished: bool = False,
    ) -> None:
        """End a turn and keep its result document.

        Args:
            turn: The turn.
            status: How it ended.
            result: Its document, any JSON value.
            at: When.
            safety: The safety level, when it is to be changed.
            unfinished: An engine went away under it, so that it can be completed later; its steps are kept for that.

        Raises:
            StorageError: The turn is not there, or the document is not JSON.
        """
        document = dump_json(result, place=f"result of turn {turn}")
        values: dict[str, object] = {"status": status, "result": document, "finished_at": at, "unfinished": unfinished}
        if safety is not None:
            values["safety"] = safety
        with self._database.write() as transaction:
            change_turn(transaction, turn, **values)
            done = _let_go(transaction, turn)
            drop_steps(transaction, done if unfinished else [turn, *done])

    def interrupt(self, turn: str) -> None:
        """Mark a turn of this process that can not go on now."""
        with self._database.write() as transaction:
            change_turn(transaction, turn, status="interrupted")

    def find_turn(self, prefix: str, team: str | None = None, user: str | None = None) -> Turn | None:
        """A turn by its id or the beginning of it.

        Raises:
            UsageError: Several turns begin so.
        """
        prefix = prefix.strip().lower()
        # Turn ids have nothing else in them, and LIKE takes some other characters for wildcards.
        if not (prefix.isascii() and prefix.isalnum()):
            return None
        with self._database.read() as transaction:
            query = select(TurnRow, BoardRow).where(*_of(team, user), TurnRow.id.startswith(prefix))
            found = [turn_record(row, board) for row, board in transaction.execute(query.order_by(TurnRow.id).limit(2))]
        if len(found) > 1:
            message = f"more than one turn begins with {prefix!r}"
            raise UsageError(message, hint=f"give more of the id, such as {found[0].id}")
        return found[0] if found else None

    def latest_turn(self, team: str | None = None, user: str | None = None) -> Turn | None:
        """The turn that was begun last, of everything or of a team and user."""
        found = self.turns(team, user, limit=1)
        return found[0] if found else None

    def turns(self, team: str | None = None, user: str | None = None, limit: int | None = None) -> list[Turn]:
        """Turns, the newest first."""
        with self._database.read() as transaction:
            # Of one blackboard they are counted, which a clock that was set back does not confuse.
            order = TurnRow.id if team is None or user is None else TurnRow.number
            query = select(TurnRow, BoardRow).where(*_of(team, user)).order_by(order.desc()).limit(limit)
            return [turn_record(row, board) for row, board in transaction.execute(query)]

    def page(
        self,
        team: str | None = None,
        user: str | None = None,
        *,
        session: str | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> list[Turn]:
        """Turns in the order in which they were begun, the newest first.

        Args:
            team: Only this team's.
            user: Only this user's.
            session: Only those of this session.
            before: Only those that were begun before this one (its id).
            limit: How many at most.
        """
        conditions = _of(team, user)
        if session is not None:
            conditions.append(TurnRow.session == session)
        if before is not None:
            conditions.append(TurnRow.id < before)
        with self._database.read() as transaction:
            query = select(TurnRow, BoardRow).where(*conditions).order_by(TurnRow.id.desc()).limit(limit)
            return [turn_record(row, board) for row, board in transaction.execute(query)]

    def get(self, turn: str) -> Turn | None:
        """A turn by its whole id."""
        with self._database.read() as transaction:
            query = select(TurnRow, BoardRow).where(*_of(None, None), TurnRow.id == turn)
            return next((turn_record(row, board) for row, board in transaction.execute(query)), None)

    def result(self, turn: str) -> Any:
        """The result document of a turn, None when it has none."""
        with self._database.read() as transaction:
            document = transaction.scalar(select(TurnRow.result).where(TurnRow.id == turn))
        return None if document is None else load_json(document)

    def events(self, turn: str) -> list[StoredEvent]:
        """The events of a turn, in order."""
        with self._database.read() as transaction:
            rows = transaction.scalars(select(EventRow).where(EventRow.turn == turn).order_by(EventRow.seq))
            return [StoredEvent(seq=row.seq, type=row.type, body=row.body) for row in rows]

    def last_seq(self, turn: str) -> int | None:
        """The place of the last kept event of a turn, None when there is none."""
        with self._database.read() as transaction:
            return transaction.scalar(select(func.max(EventRow.seq)).where(EventRow.turn == turn))

    def past_safety(
        self, team: str, user: str, before_turn: str | None = None, limit: int = 1000
    ) -> list[tuple[datetime, str]]:
        """The safety levels of the newest turns with their times, oldest first.

        Args:
            team: The team.
            user: The user.
            before_turn: Only turns before this one (its id); None takes all.
            limit: How many at most.
        """
        with self._database.read() as transaction:
            board = find_board(transaction, team, user)
            if board is None:
                return []
            query = select(TurnRow.started_at, TurnRow.safety).where(TurnRow.board == board)
            if before_turn is not None:
                number = select(TurnRow.number).where(TurnRow.board == board, TurnRow.id == before_turn)
                query = query.where(TurnRow.number < number.scalar_subquery())
            rows = transaction.execute(query.order_by(TurnRow.number.desc()).limit(limit))
            return [(at, level) for at, level in rows][::-1]

    def mark_interrupted(self) -> list[str]:
        """Mark the turns whose process is gone, and return their ids.

        A turn of another host counts as gone when it has kept nothing for an hour.
        """
        old = datetime.now(UTC) - ABANDONED_AFTER
        with self._database.read() as transaction:
            query = select(TurnRow.id, TurnRow.owner, TurnRow.seen_at).where(TurnRow.status == "running")
            running = [(turn, owner, seen) for turn, owner, seen in transaction.execute(query)]
        gone: list[str] = []
        for turn, owner, seen in running:
            ended = owner_is_gone(owner)
            if ended or (ended is None and seen < old):
                gone.append(turn)
        if not gone:
            return []
        with self._database.write() as transaction:
            transaction.execute(
                update(TurnRow).where(TurnRow.id.in_(gone), TurnRow.status == "running").values(status="interrupted")
            )
        return gone


def _let_go(transaction: Transaction, turn: str) -> list[str]:
    """Give up the unfinished turns of the session that were before this one: the person has talked on."""
    ended = transaction.get_one(TurnRow, turn)
    query = select(TurnRow.id).where(TurnRow.board == ended.board, TurnRow.session == ended.session)
    before = list(transaction.scalars(query.where(TurnRow.number < ended.number, TurnRow.unfinished)))
    if before:
        transaction.execute(update(TurnRow).where(TurnRow.id.in_(before)).values(unfinished=False))
    return before


def change_turn(transaction: Transaction, turn: str, **values: object) -> None:
    """Change a turn's row and hold it until the transaction ends, so that nobody erases the turn meanwhile."""
    done = transaction.execute(update(TurnRow).where(TurnRow.id == turn).values(seen_at=datetime.now(UTC), **values))
    if not isinstance(done, CursorResult) or done.rowcount != 1:
        message = f"turn {turn!r} is not in the database"
        raise StorageError(message, hint="was it erased meanwhile?")
