"""The tables. A change here needs a migration (`migrations/versions`); a test compares the two.

Everything of a person hangs on one row of `blackboards` (one per team and user). Composite foreign keys keep a row from
naming a session or turn of another blackboard, and make a write fail that comes after its turn was erased.
"""

from datetime import datetime

from sqlalchemy import (
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from repertory.storage.columns import ExactText, UtcTime
from repertory.storage.ids import MAX_ID_CHARS

__all__ = (
    "Base",
    "BoardRow",
    "CommitmentRow",
    "EventRow",
    "KeyRow",
    "LoginRow",
    "MessageRow",
    "SectionRow",
    "SessionRow",
    "StepRow",
    "SummaryRow",
    "TurnRow",
)


class Base(DeclarativeBase):
    """Base of the mapped classes."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcTime}  # noqa: RUF012 - SQLAlchemy's own way to declare it


class BoardRow(Base):
    """One blackboard: a team and a user, with the last number given to each kind of row."""

    __tablename__ = "blackboards"
    # AUTOINCREMENT: the key of an erased blackboard never comes back.
    __table_args__ = (UniqueConstraint("team", "user_id"), Index(None, "user_id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    team: Mapped[str] = mapped_column(String(MAX_ID_CHARS))
    user_id: Mapped[str] = mapped_column(String(MAX_ID_CHARS))
    sessions: Mapped[int] = mapped_column(default=0)
    turns: Mapped[int] = mapped_column(default=0)
    messages: Mapped[int] = mapped_column(default=0)
    commitments: Mapped[int] = mapped_column(default=0)


class SessionRow(Base):
    """One session."""

    __tablename__ = "sessions"
    __table_args__ = (UniqueConstraint("board", "number"),)

    board: Mapped[int] = mapped_column(ForeignKey("blackboards.id"), primary_key=True)
    id: Mapped[str] = mapped_column(String(MAX_ID_CHARS), primary_key=True)
    number: Mapped[int]
    started_at: Mapped[datetime]
    memory: Mapped[str] = mapped_column(ExactText)


class TurnRow(Base):
    """One turn."""

    __tablename__ = "turns"
    __table_args__ = (
        ForeignKeyConstraint(["board", "session"], ["sessions.board", "sessions.id"]),
        UniqueConstraint("board", "id"),
        UniqueConstraint("board", "number"),
        Index(None, "status"),
    )

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    board: Mapped[int]
    session: Mapped[str] = mapped_column(String(MAX_ID_CHARS))
    number: Mapped[int]
    status: Mapped[str] = mapped_column(String(20))
    safety: Mapped[str] = mapped_column(String(40))
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    owner: Mapped[str] = mapped_column(Text)
    seen_at: Mapped[datetime]
    resumes: Mapped[int] = mapped_column(default=0, server_default="0")
    unfinished: Mapped[bool] = mapped_column(default=False, server_default=false())
    result: Mapped[str | None] = mapped_column(Text, deferred=True)


class EventRow(Base):
    """One event of a turn."""

    __tablename__ = "events"

    turn: Mapped[str] = mapped_column(ForeignKey("turns.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(String(40))
    body: Mapped[str] = mapped_column(Text)


class StepRow(Base):
    """A step of an agent that is done: number 0 is its section, 1, 2 ... are its calls of the engine."""

    __tablename__ = "turn_steps"

    turn: Mapped[str] = mapped_column(ForeignKey("turns.id"), primary_key=True)
    agent: Mapped[str] = mapped_column(String(MAX_ID_CHARS), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str] = mapped_column(Text)


class MessageRow(Base):
    """One message; its id is `m` and its number."""

    __tablename__ = "messages"
    __table_args__ = (
        ForeignKeyConstraint(["board", "session"], ["sessions.board", "sessions.id"]),
        ForeignKeyConstraint(["board", "turn"], ["turns.board", "turns.id"]),
        Index(None, "board", "session", "number"),
    )

    board: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    session: Mapped[str] = mapped_column(String(MAX_ID_CHARS))
    turn: Mapped[str] = mapped_column(String(40))
    role: Mapped[str] = mapped_column(String(20))
    text: Mapped[str] = mapped_column(ExactText)
    at: Mapped[datetime]


class SummaryRow(Base):
    """What is remembered of a session's talk; the messages themselves stay."""

    __tablename__ = "session_summaries"
    __table_args__ = (ForeignKeyConstraint(["board", "session"], ["sessions.board", "sessions.id"]),)

    board: Mapped[int] = mapped_column(primary_key=True)
    session: Mapped[str] = mapped_column(String(MAX_ID_CHARS), primary_key=True)
    text: Mapped[str] = mapped_column(ExactText)
    last_message: Mapped[int]
    at: Mapped[datetime]


class SectionRow(Base):
    """One version of a section. Versions are only added, never changed; a person's own edit belongs to no turn."""

    __tablename__ = "section_versions"
    __table_args__ = (ForeignKeyConstraint(["board", "turn"], ["turns.board", "turns.id"]),)

    board: Mapped[int] = mapped_column(primary_key=True)
    section: Mapped[str] = mapped_column(String(MAX_ID_CHARS), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(Text)
    turn: Mapped[str | None] = mapped_column(String(40))
    turn_number: Mapped[int]
    agent: Mapped[str] = mapped_column(String(MAX_ID_CHARS))
    evidence: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime]


class CommitmentRow(Base):
    """One commitment; its id is `k` and its number."""

    __tablename__ = "commitments"

    board: Mapped[int] = mapped_column(ForeignKey("blackboards.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    what: Mapped[str] = mapped_column(ExactText)
    when_said: Mapped[str] = mapped_column(ExactText)
    due: Mapped[datetime | None]
    p: Mapped[float | None] = mapped_column(Double)
    outcome: Mapped[str] = mapped_column(String(20))
    kind: Mapped[str] = mapped_column(ExactText)
    made_in: Mapped[str] = mapped_column(ExactText)
    settled_in: Mapped[str | None] = mapped_column(ExactText)
    made_at: Mapped[datetime]
    settled_at: Mapped[datetime | None]


class KeyRow(Base):
    """One API key. Its secret is not here: `digest` is what it is compared by."""

    __tablename__ = "api_keys"
    __table_args__ = (Index(None, "name"),)

    id: Mapped[str] = mapped_column(String(20), primary_key=True)
    name: Mapped[str] = mapped_column(String(MAX_ID_CHARS))
    digest: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[str] = mapped_column(Text)
    user: Mapped[str | None] = mapped_column("user_id", String(MAX_ID_CHARS))
    requests_per_minute: Mapped[int | None]
    tokens_per_minute: Mapped[int | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class LoginRow(Base):
    """A browser that signed in with a key. What the browser holds is not here: `digest` is what it is found by."""

    __tablename__ = "login_sessions"
    __table_args__ = (Index(None, "expires_at"),)

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    key: Mapped[str] = mapped_column(String(20), ForeignKey("api_keys.id", name="fk_login_sessions_key"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
