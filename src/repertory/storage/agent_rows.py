"""The rows of agents inside a transaction: which there are, the last good version, entries of a history."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from repertory.errors import UsageError
from repertory.spelling import nearest
from repertory.storage.agent_records import AgentState, AgentVersion
from repertory.storage.agent_tables import AgentEventRow, AgentFileRow, AgentRepairRow, AgentRow, AgentVersionRow
from repertory.storage.json_text import dump_json, load_json

__all__ = (
    "add_missing",
    "has_open_repair",
    "last_good",
    "note_event",
    "row_of",
    "unknown_agent",
    "version_of",
    "versions_of",
)


def version_of(row: AgentVersionRow) -> AgentVersion:
    """A row as callers see it."""
    return AgentVersion(
        agent=row.agent,
        version=row.version,
        digest=row.digest,
        state=cast("AgentState", row.state),
        public_key=row.public_key,
        signature=row.signature,
        source=load_json(row.source),
        created_at=row.created_at,
        was_live=row.was_live,
        share=row.share,
    )


def last_good(transaction: Session, rows: list[AgentVersionRow]) -> AgentVersionRow | None:
    """The newest version before the live one that was live and was never taken out for failing."""
    live = next((row.version for row in rows if row.state == "live"), None)
    limit = live if live is not None else rows[0].version + 1
    failed = set(transaction.scalars(select(AgentRepairRow.version).where(AgentRepairRow.agent == rows[0].agent)))
    return next((row for row in rows if row.version < limit and row.was_live and row.version not in failed), None)


def has_open_repair(transaction: Session, agent: str, version: int) -> bool:
    """Whether somebody was asked already to mend a version."""
    query = select(AgentRepairRow.id).where(
        AgentRepairRow.agent == agent, AgentRepairRow.version == version, AgentRepairRow.state.in_(("open", "taken"))
    )
    return transaction.scalar(query.limit(1)) is not None


def versions_of(transaction: Session, agent: str) -> list[AgentVersionRow]:
    """The versions of an agent, newest first."""
    query = select(AgentVersionRow).where(AgentVersionRow.agent == agent).order_by(AgentVersionRow.version.desc())
    return list(transaction.scalars(query))


def row_of(rows: list[AgentVersionRow], agent: str, version: int) -> AgentVersionRow:
    """The row of a version.

    Raises:
        UsageError: There is none.
    """
    found = next((row for row in rows if row.version == version), None)
    if found is None:
        known = ", ".join(f"{agent}@{row.version}" for row in rows[:8])
        message = f"there is no {agent}@{version}"
        raise UsageError(message, hint=f"there are {known}")
    return found


def unknown_agent(transaction: Session, agent: str) -> UsageError:
    """The error for a name that no agent has, with the nearest one that there is."""
    names = list(transaction.scalars(select(AgentVersionRow.agent).distinct()))
    near = nearest(agent, names)
    return UsageError(
        f"there is no agent {agent[:80]!r}",
        hint=f"did you mean {near}?" if near else "`repertory agents list` shows the agents",
    )


def note_event(
    transaction: Session, agent: AgentRow, version: int | None, what: str, detail: Mapping[str, Any]
) -> None:
    """Add an entry to the history of an agent that is held."""
    agent.events += 1
    transaction.add(
        AgentEventRow(
            agent=agent.name,
            number=agent.events,
            version=version,
            what=what,
            detail=dump_json(dict(detail), place=f"event of agent {agent.name}"),
            at=datetime.now(UTC),
        )
    )


def add_missing(transaction: Session, table: type[AgentRow] | type[AgentFileRow], values: dict[str, Any]) -> None:
    """Add a row unless it is there; somebody else may be doing the same."""
    if transaction.get_bind().dialect.name == "sqlite":
        transaction.execute(insert(table).prefix_with("OR IGNORE").values(values))
        return
    # Loaded here: most installations have no PostgreSQL, and the module takes a while.
    from sqlalchemy.dialects.postgresql import insert as postgres_insert  # noqa: PLC0415

    transaction.execute(postgres_insert(table).values(values).on_conflict_do_nothing())
