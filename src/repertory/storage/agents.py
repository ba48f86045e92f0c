"""Agents and the versions of their packages: states, files by content, and history. Each change is one transaction."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from repertory.errors import UsageError
from repertory.storage.agent_records import AgentEvent, AgentState, AgentVersion, NewVersion
from repertory.storage.agent_rows import (
    add_missing,
    has_open_repair,
    last_good,
    note_event,
    row_of,
    unknown_agent,
    version_of,
    versions_of,
)
from repertory.storage.agent_tables import (
    AgentCallRow,
    AgentEventRow,
    AgentFileRow,
    AgentRepairRow,
    AgentRow,
    AgentVersionFileRow,
    AgentVersionRow,
)
from repertory.storage.database import Database
from repertory.storage.json_text import dump_json, load_json

__all__ = ("Agents",)


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
                return version_of(same), False
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
                add_missing(transaction, AgentFileRow, {"digest": digest, "content": content})
                transaction.add(AgentVersionFileRow(agent=new.agent, version=row.version, path=path, digest=digest))
            note_event(transaction, agent, row.version, "deployed", {"digest": new.digest, **new.source})
            return version_of(row), True

    def names(self) -> list[str]:
        """The agents that have a version, sorted."""
        with self._database.read() as transaction:
            return list(transaction.scalars(select(AgentVersionRow.agent).distinct().order_by(AgentVersionRow.agent)))

    def live_names(self) -> list[str]:
        """The agents that have a live version, sorted."""
        query = select(AgentVersionRow.agent).where(AgentVersionRow.state == "live").order_by(AgentVersionRow.agent)
        with self._database.read() as transaction:
            return list(transaction.scalars(query))

    def versions(self, agent: str) -> list[AgentVersion]:
        """The versions of an agent, newest first; none when it is not there."""
        with self._database.read() as transaction:
            return [version_of(row) for row in versions_of(transaction, agent)]

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

    def set_state(
        self,
        agent: str,
        version: int,
        state: AgentState,
        *,
        what: str,
        detail: Mapping[str, Any],
        share: int | None = None,
    ) -> None:
        """Change a version's state; whoever was `canary` or `live` before it makes room.

        Args:
            agent: The agent.
            version: The version.
            state: Its new state.
            what: How the history calls it.
            detail: More for the history.
            share: Of a canary, its share.

        Raises:
            UsageError: The agent has no such version.
        """
        with self._database.write() as transaction:
            row = self._move(transaction, agent, lambda rows: row_of(rows, agent, version), state, what, detail)
            row.share = share

    def roll_back(self, agent: str, detail: Mapping[str, Any]) -> AgentVersion:
        """Make the last version that was live before the present one live again.

        Raises:
            UsageError: There is none, or no such agent.
        """
        with self._database.write() as transaction:

            def earlier(rows: list[AgentVersionRow]) -> AgentVersionRow:
                target = last_good(transaction, rows)
                if target is None:
                    live = next((row.version for row in rows if row.state == "live"), None)
                    now = f"{agent}@{live}" if live is not None else "none"
                    message = f"{agent} has no earlier version that was live (live now: {now})"
                    raise UsageError(message, hint=f"`repertory agents history {agent}` shows its versions")
                return target

            return version_of(self._move(transaction, agent, earlier, "live", "rolled_back", detail))

    def take_out(self, agent: str, version: int, reason: str, detail: Mapping[str, Any]) -> AgentVersion | None:
        """Take a version that fails out of use, and file a request for its repair; all of it or nothing.

        Of the live version the last good one takes the place; where there is none it stays, for want of a better one.
        It is done once for a version, whoever sees it fail.

        Returns:
            The version that answers now; None when there was nothing to do.
        """
        with self._database.write() as transaction:
            self._lock(transaction, agent)
            rows = versions_of(transaction, agent)
            row = next((row for row in rows if row.version == version), None)
            if row is None or row.state not in ("live", "canary") or has_open_repair(transaction, agent, version):
                return None
            now = datetime.now(UTC)
            transaction.add(
                AgentRepairRow(
                    agent=agent,
                    version=version,
                    state="open",
                    reason=reason,
                    detail=dump_json(dict(detail), place=f"repair of {agent}"),
                    created_at=now,
                    ended_at=None,
                )
            )
            transaction.flush()
            because = {"because": reason, "from_version": version}
            if row.state == "canary":
                self._move(transaction, agent, lambda _: row, "retired", "retired", because)
            elif (good := last_good(transaction, rows)) is not None:
                self._move(transaction, agent, lambda _: good, "live", "rolled_back", because)
            else:
                note_event(transaction, self._lock(transaction, agent), version, "failing", because)
            answers = next((one for one in versions_of(transaction, agent) if one.state == "live"), row)
            return version_of(answers)

    def note(self, agent: str, version: int | None, what: str, detail: Mapping[str, Any]) -> None:
        """Add an entry to an agent's history.

        Raises:
            UsageError: There is no such agent.
        """
        with self._database.write() as transaction:
            note_event(transaction, self._lock(transaction, agent), version, what, detail)

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
            versions = [version.version for version in versions_of(transaction, agent)]
            if not versions:
                raise unknown_agent(transaction, agent)
            files = AgentVersionFileRow
            digests = list(transaction.scalars(select(files.digest).where(files.agent == agent).distinct()))
            transaction.execute(delete(files).where(files.agent == agent))
            transaction.execute(delete(AgentVersionRow).where(AgentVersionRow.agent == agent))
            kept = set(transaction.scalars(select(files.digest).where(files.digest.in_(digests))))
            gone = [digest for digest in digests if digest not in kept]
            transaction.execute(delete(AgentFileRow).where(AgentFileRow.digest.in_(gone)))
            transaction.execute(delete(AgentCallRow).where(AgentCallRow.agent == agent))
            transaction.execute(delete(AgentRepairRow).where(AgentRepairRow.agent == agent))
            note_event(transaction, row, None, "removed", {"versions": versions})
            return versions

    def unknown(self, agent: str) -> UsageError:
        """The error for a name that no agent has, with the nearest one that there is."""
        with self._database.read() as transaction:
            return unknown_agent(transaction, agent)

    def _lock(self, transaction: Session, agent: str, *, create: bool = False) -> AgentRow:
        """The agent's row, held against other writers until the transaction ends."""
        if create:
            add_missing(transaction, AgentRow, {"name": agent, "last_version": 0, "events": 0})
        row = transaction.scalar(select(AgentRow).where(AgentRow.name == agent).with_for_update())
        if row is None:
            raise unknown_agent(transaction, agent)
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
        rows = versions_of(transaction, agent)
        if not rows:
            raise unknown_agent(transaction, agent)
        target = choose(rows)
        for other in rows:
            if other is not target and other.state == state and state in ("live", "canary"):
                other.state = "retired" if other.was_live or state == "live" else "draft"
        before, target.state = target.state, state
        target.was_live = target.was_live or state == "live"
        note_event(transaction, row, target.version, what, {"from": before, "to": state, **detail})
        return target
