"""Agents and the versions of their packages: states, files by content, and history. Each change is one transaction."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from repertory.errors import UsageError
from repertory.spelling import nearest
from repertory.storage.agent_records import AgentEvent, AgentState, AgentVersion, NewVersion
from repertory.storage.agent_tables import (
    AgentEventRow,
    AgentFileRow,
    AgentRow,
    AgentVersionFileRow,
    AgentVersionRow,
)
from repertory.storage.database import Database
from repertory.storage.json_text import dump_json, load_json

__all__ = ("Agents",)


def _record(row: AgentVersionRow) -> AgentVersion:
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
    )


class Agents:
    """All agents of this database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: NewVersion) -> tuple[AgentVersion, bool]:
        """Keep a package as the next version of its agent.

        Returns:
            The version, and whether it is new: the same content is not kept twice.
        """
        with self._database.write() as transaction:
            agent = self._lock(transaction, new.agent, create=True)
            same = transaction.scalar(
                select(AgentVersionRow).where(AgentVersionRow.agent == new.agent, AgentVersionRow.digest == new.digest)
            )
            if same is not None:
                return _record(same), False
            agent.last_version += 1
            row = AgentVersionRow(
                agent=new.agent,
                version=agent.last_version,
                digest=new.digest,
                state="draft",
                public_key=new.public_key,
                signature=new.signature,
                source=dump_json(dict(new.source), place=f"source of {new.agent}"),
                created_at=datetime.now(UTC),
                was_live=False,
            )
            transaction.add(row)
            transaction.flush()
            for path, content in new.files.items():
                digest = hashlib.sha256(content).hexdigest()
                _add_missing(transaction, AgentFileRow, {"digest": digest, "content": content})
                transaction.add(AgentVersionFileRow(agent=new.agent, version=row.version, path=path, digest=digest))
            _note(transaction, agent, row.version, "deployed", {"digest": new.digest, **new.source})
            return _record(row), True

    def names(self) -> list[str]:
        """The agents that have a version, sorted."""
        with self._database.read() as transaction:
            return list(transaction.scalars(select(AgentVersionRow.agent).distinct().order_by(AgentVersionRow.agent)))

    def versions(self, agent: str) -> list[AgentVersion]:
        """The versions of an agent, newest first; none when it is not there."""
        with self._database.read() as transaction:
            return [_record(row) for row in _versions(transaction, agent)]

    def files(self, version: AgentVersion) -> dict[str, tuple[str, bytes]]:
        """The recorded digest and the content of each file of a version, by path. They are not compared here."""
        with self._database.read() as transaction:
            rows = transaction.execute(
                select(AgentVersionFileRow.path, AgentVersionFileRow.digest, AgentFileRow.content)
                .join(AgentFileRow, AgentFileRow.digest == AgentVersionFileRow.digest)
                .where(AgentVersionFileRow.agent == version.agent, AgentVersionFileRow.version == version.version)
                .order_by(AgentVersionFileRow.path)
            )
            return {path: (digest, content) for path, digest, content in rows}

    def set_state(self, agent: str, version: int, state: AgentState, *, what: str, detail: Mapping[str, Any]) -> None:
        """Change a version's state; whoever was `canary` or `live` before it makes room.

        Raises:
            UsageError: The agent has no such version.
        """
        with self._database.write() as transaction:
            self._move(transaction, agent, lambda rows: _find(rows, agent, version), state, what, detail)

    def roll_back(self, agent: str, detail: Mapping[str, Any]) -> AgentVersion:
        """Make the last version that was live before the present one live again.

        Raises:
            UsageError: There is none, or no such agent.
        """

        def earlier(rows: list[AgentVersionRow]) -> AgentVersionRow:
            live = next((row.version for row in rows if row.state == "live"), None)
            limit = live if live is not None else rows[0].version + 1
            target = next((row for row in rows if row.version < limit and row.was_live), None)
            if target is None:
                now = f"{agent}@{live}" if live is not None else "none"
                message = f"{agent} has no earlier version that was live (live now: {now})"
                raise UsageError(message, hint=f"`repertory agents history {agent}` shows its versions")
            return target

        with self._database.write() as transaction:
            return _record(self._move(transaction, agent, earlier, "live", "rolled_back", detail))

    def note(self, agent: str, version: int | None, what: str, detail: Mapping[str, Any]) -> None:
        """Add an entry to an agent's history.

        Raises:
            UsageError: There is no such agent.
        """
        with self._database.write() as transaction:
            _note(transaction, self._lock(transaction, agent), version, what, detail)

    def history(self, agent: str) -> list[AgentEvent]:
        """What happened to an agent, oldest first; also after it was removed."""
        with self._database.read() as transaction:
            rows = transaction.scalars(
                select(AgentEventRow).where(AgentEventRow.agent == agent).order_by(AgentEventRow.number)
            )
            return [AgentEvent(row.number, row.version, row.what, load_json(row.detail), row.at) for row in rows]

    def remove(self, agent: str) -> list[int]:
        """Delete all versions of an agent, and the files that no other version has. Its history stays.

        Raises:
            UsageError: There is no such agent.
        """
        with self._database.write() as transaction:
            row = self._lock(transaction, agent)
            versions = [version.version for version in _versions(transaction, agent)]
            if not versions:
                raise _unknown(transaction, agent)
            files = AgentVersionFileRow
            digests = list(transaction.scalars(select(files.digest).where(files.agent == agent).distinct()))
            transaction.execute(delete(files).where(files.agent == agent))
            transaction.execute(delete(AgentVersionRow).where(AgentVersionRow.agent == agent))
            kept = set(transaction.scalars(select(files.digest).where(files.digest.in_(digests))))
            gone = [digest for digest in digests if digest not in kept]
            transaction.execute(delete(AgentFileRow).where(AgentFileRow.digest.in_(gone)))
            _note(transaction, row, None, "removed", {"versions": versions})
            return versions

    def unknown(self, agent: str) -> UsageError:
        """The error for a name that no agent has, with the nearest one that there is."""
        with self._database.read() as transaction:
            return _unknown(transaction, agent)

    def _lock(self, transaction: Session, agent: str, *, create: bool = False) -> AgentRow:
        """The agent's row, held against other writers until the transaction ends."""
        if create:
            _add_missing(transaction, AgentRow, {"name": agent, "last_version": 0, "events": 0})
        row = transaction.scalar(select(AgentRow).where(AgentRow.name == agent).with_for_update())
        if row is None:
            raise _unknown(transaction, agent)
        return row

    def _move(
        self,
        transaction: Session,
        agent: str,
        choose: Callable[[list[AgentVersionRow]], AgentVersionRow],
        state: AgentState,
        what: str,
        detail: Mapping[str, Any],
    ) -> AgentVersionRow:
        row = self._lock(transaction, agent)
        rows = _versions(transaction, agent)
        if not rows:
            raise _unknown(transaction, agent)
        target = choose(rows)
        for other in rows:
            if other is not target and other.state == state and state in ("live", "canary"):
                other.state = "retired" if other.was_live or state == "live" else "draft"
        before, target.state = target.state, state
        target.was_live = target.was_live or state == "live"
        _note(transaction, row, target.version, what, {"from": before, "to": state, **detail})
        return target


def _versions(transaction: Session, agent: str) -> list[AgentVersionRow]:
    query = select(AgentVersionRow).where(AgentVersionRow.agent == agent).order_by(AgentVersionRow.version.desc())
    return list(transaction.scalars(query))


def _find(rows: list[AgentVersionRow], agent: str, version: int) -> AgentVersionRow:
    found = next((row for row in rows if row.version == version), None)
    if found is None:
        known = ", ".join(f"{agent}@{row.version}" for row in rows[:8])
        message = f"there is no {agent}@{version}"
        raise UsageError(message, hint=f"there are {known}")
    return found


def _unknown(transaction: Session, agent: str) -> UsageError:
    names = list(transaction.scalars(select(AgentVersionRow.agent).distinct()))
    near = nearest(agent, names)
    return UsageError(
        f"there is no agent {agent[:80]!r}",
        hint=f"did you mean {near}?" if near else "`repertory agents list` shows the agents",
    )


def _note(transaction: Session, agent: AgentRow, version: int | None, what: str, detail: Mapping[str, Any]) -> None:
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


def _add_missing(transaction: Session, table: type[AgentRow] | type[AgentFileRow], values: dict[str, Any]) -> None:
    """Add a row unless it is there; somebody else may be doing the same."""
    if transaction.get_bind().dialect.name == "sqlite":
        transaction.execute(insert(table).prefix_with("OR IGNORE").values(values))
        return
    # Loaded here: most installations have no PostgreSQL, and the module takes a while.
    from sqlalchemy.dialects.postgresql import insert as postgres_insert  # noqa: PLC0415

    transaction.execute(postgres_insert(table).values(values).on_conflict_do_nothing())
