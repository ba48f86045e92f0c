"""Taking single messages out of everything that was derived from them, for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from repertory.errors import StorageError, UsageError
from repertory.storage.boards import lock_board
from repertory.storage.commitments import commitment_record
from repertory.storage.database import Database
from repertory.storage.json_text import dump_json, load_json
from repertory.storage.messages import message_record
from repertory.storage.records import Commitment, Message
from repertory.storage.tables import (
    BoardRow,
    CommitmentRow,
    EventRow,
    MessageRow,
    SectionRow,
    SessionRow,
    StepRow,
    SummaryRow,
    TurnRow,
)

__all__ = ("Forgotten", "MakesRedaction", "Redaction", "forget_messages")


@dataclass(frozen=True)
class Forgotten:
    """What is taken out, and what stays.

    Attributes:
        messages: The person's messages that are forgotten.
        remaining: The person's other messages, oldest first.
        commitments: The commitments that stay, as they stand then.
        at: When.
    """

    messages: Sequence[Message]
    remaining: Sequence[Message]
    commitments: Sequence[Commitment]
    at: datetime


class Redaction(Protocol):
    """How a team takes the forgotten messages out of what it wrote; it must leave nothing that only they held."""

    def text(self, text: str) -> str:
        """A text without what came from the forgotten messages."""
        ...

    def document(self, value: Any) -> Any:
        """A JSON value without it."""
        ...

    def section(self, name: str, value: Any) -> Any:
        """A section's last value, rebuilt from what remains; None removes it."""
        ...


class MakesRedaction(Protocol):
    """Makes a redaction for what is to be forgotten."""

    def __call__(self, forgotten: Forgotten) -> Redaction:
        """Make it."""
        ...


def forget_messages(
    database: Database,
    team: str,
    user: str,
    ids: Sequence[str],
    redaction: MakesRedaction,
    at: datetime,
    *,
    must_clean: bool = True,
) -> dict[str, int]:
    """Forget messages of a person: in one transaction they are gone from all rows, and then from the file's bytes.

    Gone are the messages, the team's replies to them, the events, steps and results of their turns, commitments made in
    them, every version of a section that was written since, and the summary of their session. Of each section one
    version stays, rebuilt by `redaction` from what remains; later texts (replies, results, memory) lose what came from
    them. How grave a turn was judged stays, one word, so that a crisis is still followed up.

    Args:
        database: The database.
        team: The team.
        user: The user.
        ids: The person's messages.
        redaction: The team's way to take them out.
        at: When.
        must_clean: Whether it is an error when another process keeps an old state of the SQLite file open. The rows are
            gone for every reader then, and the next erase or `forget` cleans the file's bytes.

    Returns:
        How many rows of each kind were deleted or changed.

    Raises:
        UsageError: The person wrote no such message.
        StorageError: Nothing is kept about this person, or the file can not be cleaned.
    """
    with database.write() as session:
        board = lock_board(session, team, user)
        work = _Forgetting(session, board, ids, redaction, at)
        counts = work.carry_out()
    try:
        database.scrub()
    except StorageError:
        if must_clean:
            raise
    return counts


class _Forgetting:
    def __init__(
        self, session: Session, board: BoardRow, ids: Sequence[str], redaction: MakesRedaction, at: datetime
    ) -> None:
        self.session, self.board, self.at = session, board, at
        said = session.scalars(
            select(MessageRow)
            .where(MessageRow.board == board.id, MessageRow.role == "person")
            .order_by(MessageRow.number)
        ).all()
        wanted = set(ids)
        rows = [row for row in said if f"m{row.number}" in wanted]
        if unknown := wanted - {f"m{row.number}" for row in rows}:
            message = f"they wrote no message {min(unknown)!r}"
            raise UsageError(message, hint="`repertory blackboard export` has all messages with their ids")
        self.ids = wanted
        self.turns = sorted({row.turn for row in rows})
        self.sessions = {row.session for row in rows}
        first = min(rows, key=lambda row: row.number)
        self.first_message = first.number
        self.since = min(session.scalars(select(TurnRow.number).where(TurnRow.id.in_(self.turns))))
        self.counts: dict[str, int] = {}
        self._commitments()
        kept = session.scalars(
            select(CommitmentRow).where(CommitmentRow.board == board.id).order_by(CommitmentRow.number)
        ).all()
        self.redaction = redaction(
            Forgotten(
                messages=[message_record(row) for row in rows],
                remaining=[message_record(row) for row in said if f"m{row.number}" not in wanted],
                commitments=[commitment_record(row) for row in kept],
                at=at,
            )
        )

    def carry_out(self) -> dict[str, int]:
        """Everything but the file's bytes."""
        self._turns()
        self._later_turns()
        self._messages()
        self._sections()
        self._memories()
        self.session.flush()
        return dict(sorted(self.counts.items()))

    def _count(self, kind: str, n: int = 1) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + n

    def _commitments(self) -> None:
        """What was promised there is gone; what was told there of other promises is open again."""
        for row in self.session.scalars(select(CommitmentRow).where(CommitmentRow.board == self.board.id)).all():
            if row.made_in in self.ids:
                self.session.delete(row)
                self._count("commitments")
            elif row.settled_in in self.ids:
                row.outcome, row.settled_in, row.settled_at = "open", None, None
                self._count("commitments")
        self.session.flush()

    def _turns(self) -> None:
        """The forgotten turns themselves keep their place and how grave they were, and nothing else."""
        for turn in self.turns:
            for part in (EventRow, StepRow):
                query = select(func.count()).select_from(part).where(part.turn == turn)
                self._count(part.__tablename__, self.session.scalar(query) or 0)
                self.session.execute(delete(part).where(part.turn == turn))
        self.session.execute(update(TurnRow).where(TurnRow.id.in_(self.turns)).values(result=None, unfinished=False))
        done = delete(MessageRow).where(MessageRow.board == self.board.id, MessageRow.turn.in_(self.turns))
        query = select(func.count()).select_from(MessageRow).where(
            MessageRow.board == self.board.id, MessageRow.turn.in_(self.turns)
        )  # fmt: skip
        self._count("messages", self.session.scalar(query) or 0)
        self.session.execute(done)

    def _later_turns(self) -> None:
        """Results, events and steps of later turns lose what they had from the forgotten messages."""
        later = self.session.execute(
            select(TurnRow.id, TurnRow.result).where(
                TurnRow.board == self.board.id, TurnRow.number > self.since, TurnRow.id.not_in(self.turns)
            )
        ).all()
        for turn, result in later:
            changed = False
            if result is not None:
                value = load_json(result)
                without = self.redaction.document(value)
                if without != value:
                    changed = True
                    text = dump_json(without, place=f"result of turn {turn}")
                    self.session.execute(update(TurnRow).where(TurnRow.id == turn).values(result=text))
                    self._count("turns")
            changed |= self._rows_of(turn, EventRow)
            changed |= self._rows_of(turn, StepRow)
            if changed:
                # Single pieces of a stream show no word; together they are the reply that was changed.
                self.session.execute(delete(EventRow).where(EventRow.turn == turn, EventRow.type == "agent_delta"))

    def _rows_of(self, turn: str, table: type[EventRow] | type[StepRow]) -> bool:
        changed = False
        for row in self.session.scalars(select(table).where(table.turn == turn)).all():
            value = load_json(row.body)
            without = self.redaction.document(value)
            if without != value:
                row.body = dump_json(without, place=f"{table.__tablename__} of turn {turn}")
                self._count(table.__tablename__)
                changed = True
        return changed

    def _messages(self) -> None:
        """The team's later words."""
        rows = self.session.scalars(
            select(MessageRow).where(
                MessageRow.board == self.board.id, MessageRow.number > self.first_message, MessageRow.role == "team"
            )
        ).all()
        for row in rows:
            text = self.redaction.text(row.text)
            if text != row.text:
                row.text = text
                self._count("messages")

    def _sections(self) -> None:
        rows = self.session.scalars(
            select(SectionRow)
            .where(SectionRow.board == self.board.id, SectionRow.turn_number >= self.since)
            .order_by(SectionRow.section, SectionRow.version)
        ).all()
        last = {row.section: row for row in rows}
        for row in rows:
            if row is not last[row.section]:
                self.session.delete(row)
                self._count("section_versions")
                continue
            value = self.redaction.section(row.section, load_json(row.value))
            self._count("section_versions")
            if value is None:
                self.session.delete(row)
                continue
            row.value = dump_json(value, place=f"section {row.section}")
            evidence = [item for item in load_json(row.evidence) if item not in self.ids]
            row.evidence = dump_json(evidence, place=f"section {row.section}")

    def _memories(self) -> None:
        for row in self.session.scalars(select(SessionRow).where(SessionRow.board == self.board.id)).all():
            text = self.redaction.text(row.memory)
            if text != row.memory:
                row.memory = text
                self._count("sessions")
        for row in self.session.scalars(select(SummaryRow).where(SummaryRow.board == self.board.id)).all():
            if row.session in self.sessions:
                # A summary in other words can not be searched; it is made anew from what remains.
                self.session.delete(row)
                self._count("session_summaries")
            elif row.last_message >= self.first_message:
                text = self.redaction.text(row.text)
                if text != row.text:
                    row.text = text
                    self._count("session_summaries")
