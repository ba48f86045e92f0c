"""A person's own data: taking it away, and erasing it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from repertory.storage.database import Database
from repertory.storage.ids import check_id
from repertory.storage.json_text import load_json
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

__all__ = ("all_boards", "erase_user", "export_user", "teams_of_user")


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _boards(session: Session, user: str, team: str | None, *, lock: bool = False) -> Sequence[BoardRow]:
    check_id("user", user)
    query = select(BoardRow).where(BoardRow.user_id == user).order_by(BoardRow.id)
    if team is not None:
        query = query.where(BoardRow.team == check_id("team", team))
    return session.scalars(query.with_for_update() if lock else query).all()


def all_boards(database: Database, limit: int) -> list[tuple[str, str]]:
    """Team and user of every blackboard, the newest first."""
    with database.read() as session:
        query = select(BoardRow.team, BoardRow.user_id).order_by(BoardRow.id.desc()).limit(limit)
        return [(team, user) for team, user in session.execute(query)]


def teams_of_user(database: Database, user: str) -> list[str]:
    """The teams that keep something about a user, sorted."""
    with database.read() as session:
        return sorted(board.team for board in _boards(session, user, None))


def export_user(database: Database, user: str, team: str | None) -> dict[str, Any]:
    """Everything that is kept about a user, as one JSON document."""
    with database.read() as session:
        teams = {board.team: _export_board(session, board.id) for board in _boards(session, user, team)}
    return {"format": "repertory-export-1", "user": user, "teams": dict(sorted(teams.items()))}


def _export_board(session: Session, board: int) -> dict[str, Any]:
    sessions = session.scalars(select(SessionRow).where(SessionRow.board == board).order_by(SessionRow.number))
    messages = session.scalars(select(MessageRow).where(MessageRow.board == board).order_by(MessageRow.number))
    sections = session.scalars(select(SectionRow).where(SectionRow.board == board)).all()
    commitments = session.scalars(
        select(CommitmentRow).where(CommitmentRow.board == board).order_by(CommitmentRow.number)
    )
    summaries = session.scalars(select(SummaryRow).where(SummaryRow.board == board))
    return {
        "sessions": [
            {"id": row.id, "number": row.number, "started_at": _time(row.started_at), "memory": row.memory}
            for row in sessions
        ],
        "session_summaries": [
            {"session": row.session, "text": row.text, "at": _time(row.at)}
            for row in sorted(summaries, key=lambda row: row.last_message)
        ],
        "messages": [
            {
                "id": f"m{row.number}",
                "session": row.session,
                "turn": row.turn,
                "role": row.role,
                "text": row.text,
                "at": _time(row.at),
            }
            for row in messages
        ],
        "turns": _export_turns(session, board),
        "section_versions": [
            {
                "section": row.section,
                "version": row.version,
                "value": load_json(row.value),
                "turn": row.turn,
                "agent": row.agent,
                "evidence": load_json(row.evidence),
                "at": _time(row.at),
            }
            for row in sorted(sections, key=lambda row: (row.section, row.version))
        ],
        "commitments": [
            {
                "id": f"k{row.number}",
                "what": row.what,
                "when": row.when_said,
                "due": _time(row.due),
                "p": row.p,
                "outcome": row.outcome,
                "kind": row.kind,
                "made_in": row.made_in,
                "settled_in": row.settled_in,
                "made_at": _time(row.made_at),
                "settled_at": _time(row.settled_at),
            }
            for row in commitments
        ],
    }


def _export_turns(session: Session, board: int) -> list[dict[str, Any]]:
    events: dict[str, list[Any]] = {}
    rows = session.execute(
        select(EventRow.turn, EventRow.body)
        .join(TurnRow, TurnRow.id == EventRow.turn)
        .where(TurnRow.board == board)
        .order_by(EventRow.turn, EventRow.seq)
    )
    for turn, body in rows:
        events.setdefault(turn, []).append(load_json(body))
    steps: dict[str, list[Any]] = {}
    for step in session.scalars(
        select(StepRow)
        .join(TurnRow, TurnRow.id == StepRow.turn)
        .where(TurnRow.board == board)
        .order_by(StepRow.turn, StepRow.agent, StepRow.number)
    ):
        kept = {"agent": step.agent, "number": step.number, "body": load_json(step.body)}
        steps.setdefault(step.turn, []).append(kept)
    turns = session.execute(select(TurnRow, TurnRow.result).where(TurnRow.board == board).order_by(TurnRow.number))
    return [
        {
            "id": row.id,
            "session": row.session,
            "number": row.number,
            "status": row.status,
            "safety": row.safety,
            "started_at": _time(row.started_at),
            "finished_at": _time(row.finished_at),
            "result": None if result is None else load_json(result),
            "events": events.get(row.id, []),
            "steps": steps.get(row.id, []),
        }
        for row, result in turns
    ]


def erase_user(database: Database, user: str, team: str | None) -> dict[str, int]:
    """Delete everything that is kept about a user, in one transaction, and take it out of the file's bytes.

    A turn of this user that is still running can write nothing any more: its rows would have nothing to belong to.

    Returns:
        How many rows of each kind were deleted.
    """
    with database.write() as session:
        keys = [board.id for board in _boards(session, user, team, lock=True)]
        # Held, so that no event of theirs comes in between the statements below.
        turns = list(session.scalars(select(TurnRow.id).where(TurnRow.board.in_(keys)).with_for_update()))
        counts = {"events": 0, "turn_steps": 0}
        tables = (CommitmentRow, SectionRow, MessageRow, TurnRow, SummaryRow, SessionRow)
        for table in tables:
            query = select(func.count()).select_from(table).where(table.board.in_(keys))
            counts[table.__tablename__] = session.scalar(query) or 0
        for turn in turns:
            for part in (EventRow, StepRow):
                query = select(func.count()).select_from(part).where(part.turn == turn)
                counts[part.__tablename__] += session.scalar(query) or 0
                session.execute(delete(part).where(part.turn == turn))
        for table in tables:
            session.execute(delete(table).where(table.board.in_(keys)))
        session.execute(delete(BoardRow).where(BoardRow.id.in_(keys)))
        counts["blackboards"] = len(keys)
    database.scrub()
    return dict(sorted(counts.items()))
