"""The tables of agent packages. A change here needs a migration, as in `tables`."""

from datetime import datetime

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from repertory.storage.tables import Base

__all__ = (
    "AgentCallRow",
    "AgentEventRow",
    "AgentFileRow",
    "AgentRepairRow",
    "AgentRow",
    "AgentVersionFileRow",
    "AgentVersionRow",
)

_NAME = String(64)
_DIGEST = String(64)


class AgentRow(Base):
    """One agent by name, with the last numbers given. It stays when the agent is removed: no version comes twice."""

    __tablename__ = "agents"

    name: Mapped[str] = mapped_column(_NAME, primary_key=True)
    last_version: Mapped[int] = mapped_column(default=0)
    events: Mapped[int] = mapped_column(default=0)


class AgentFileRow(Base):
    """One content, by its SHA-256."""

    __tablename__ = "agent_files"

    digest: Mapped[str] = mapped_column(_DIGEST, primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class AgentVersionRow(Base):
    """One version of an agent's package."""

    __tablename__ = "agent_versions"
    __table_args__ = (UniqueConstraint("agent", "digest"),)

    agent: Mapped[str] = mapped_column(_NAME, ForeignKey("agents.name"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(_DIGEST)
    state: Mapped[str] = mapped_column(String(20))
    public_key: Mapped[str] = mapped_column(String(64))
    signature: Mapped[str] = mapped_column(String(128))
    source: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    was_live: Mapped[bool] = mapped_column(default=False)
    share: Mapped[int | None] = mapped_column(default=None)


class AgentVersionFileRow(Base):
    """One file of a version."""

    __tablename__ = "agent_version_files"
    __table_args__ = (
        ForeignKeyConstraint(["agent", "version"], ["agent_versions.agent", "agent_versions.version"]),
        Index(None, "digest"),
    )

    agent: Mapped[str] = mapped_column(_NAME, primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(String(200), primary_key=True)
    digest: Mapped[str] = mapped_column(_DIGEST, ForeignKey("agent_files.digest"))


class AgentEventRow(Base):
    """Something that happened to an agent. Events are only added."""

    __tablename__ = "agent_events"

    agent: Mapped[str] = mapped_column(_NAME, ForeignKey("agents.name"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[int | None]
    what: Mapped[str] = mapped_column(String(40))
    detail: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime]


class AgentCallRow(Base):
    """How one call of a version ended. Nothing of what was said or returned is kept."""

    __tablename__ = "agent_calls"
    __table_args__ = (Index(None, "agent", "version", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    agent: Mapped[str] = mapped_column(_NAME, ForeignKey("agents.name"))
    version: Mapped[int]
    what: Mapped[str] = mapped_column(String(100))
    outcome: Mapped[str] = mapped_column(String(10))
    kind: Mapped[str | None] = mapped_column(String(100))
    seconds: Mapped[float]
    agrees: Mapped[bool | None]
    at: Mapped[datetime]


class AgentRepairRow(Base):
    """A request to the engineering team to mend an agent."""

    __tablename__ = "agent_repairs"
    __table_args__ = (Index(None, "agent", "version"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    agent: Mapped[str] = mapped_column(_NAME, ForeignKey("agents.name"))
    version: Mapped[int]
    state: Mapped[str] = mapped_column(String(10))
    reason: Mapped[str] = mapped_column(Text)
    detail: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
