"""How calls of deployed agents ended, and requests for their repair."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import delete, func, select

from repertory.errors import UsageError
from repertory.storage.agent_records import AgentCall, AgentRepair, CallOutcome, RepairState
from repertory.storage.agent_tables import AgentCallRow, AgentRepairRow, AgentRow
from repertory.storage.database import Database
from repertory.storage.json_text import dump_json, load_json

__all__ = ("KEPT_CALLS", "AgentWatchLog")

KEPT_CALLS = 1_000
"""Calls that are kept of each version."""


def _call(row: AgentCallRow) -> AgentCall:
    return AgentCall(
        agent=row.agent,
        version=row.version,
        what=row.what,
        outcome=cast("CallOutcome", row.outcome),
        kind=row.kind,
        seconds=row.seconds,
        agrees=row.agrees,
        at=row.at,
    )


def _repair(row: AgentRepairRow) -> AgentRepair:
    return AgentRepair(
        id=row.id,
        agent=row.agent,
        version=row.version,
        state=cast("RepairState", row.state),
        reason=row.reason,
        detail=load_json(row.detail),
        created_at=row.created_at,
        ended_at=row.ended_at,
    )


class AgentWatchLog:
    """The calls and repairs of all agents of this database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, calls: Sequence[AgentCall]) -> None:
        """Keep how calls ended. Those of agents that are not known any more are left out."""
        with self._database.write() as transaction:
            known = set(
                transaction.scalars(select(AgentRow.name).where(AgentRow.name.in_({one.agent for one in calls})))
            )
            for one in calls:
                if one.agent in known:
                    values = vars(one) | {"what": one.what[:100], "kind": one.kind[:100] if one.kind else None}
                    transaction.add(AgentCallRow(**values))
            transaction.flush()
            for agent, version in {(one.agent, one.version) for one in calls if one.agent in known}:
                of_version = (AgentCallRow.agent == agent, AgentCallRow.version == version)
                newest = select(AgentCallRow.id).where(*of_version).order_by(AgentCallRow.id.desc())
                oldest_kept = transaction.scalar(newest.offset(KEPT_CALLS - 1).limit(1))
                if oldest_kept is not None:
                    transaction.execute(delete(AgentCallRow).where(*of_version, AgentCallRow.id < oldest_kept))

    def recent(
        self, agent: str, version: int, most: int = KEPT_CALLS, since: datetime | None = None
    ) -> list[AgentCall]:
        """The last calls of a version, newest first."""
        query = select(AgentCallRow).where(AgentCallRow.agent == agent, AgentCallRow.version == version)
        if since is not None:
            query = query.where(AgentCallRow.at > since)
        with self._database.read() as transaction:
            return [_call(row) for row in transaction.scalars(query.order_by(AgentCallRow.id.desc()).limit(most))]

    def watched(self, agent: str) -> list[int]:
        """The versions of an agent of which calls are kept, newest first."""
        query = select(AgentCallRow.version).where(AgentCallRow.agent == agent).distinct()
        with self._database.read() as transaction:
            return sorted(transaction.scalars(query), reverse=True)

    def repairs(self, agent: str | None = None) -> list[AgentRepair]:
        """Requests for repair, the oldest first: of one agent, or all."""
        query = select(AgentRepairRow).order_by(AgentRepairRow.id)
        if agent is not None:
            query = query.where(AgentRepairRow.agent == agent)
        with self._database.read() as transaction:
            return [_repair(row) for row in transaction.scalars(query)]

    def last_repair_at(self, agent: str, version: int) -> datetime | None:
        """When a repair of a version was asked for last."""
        query = select(func.max(AgentRepairRow.created_at)).where(
            AgentRepairRow.agent == agent, AgentRepairRow.version == version
        )
        with self._database.read() as transaction:
            return transaction.scalar(query)

    def take_repair(self, agent: str | None = None) -> AgentRepair | None:
        """Take the oldest open request (of an agent), so that nobody else works on it; None when there is none."""
        query = select(AgentRepairRow).where(AgentRepairRow.state == "open").order_by(AgentRepairRow.id).limit(1)
        if agent is not None:
            query = query.where(AgentRepairRow.agent == agent)
        with self._database.write() as transaction:
            row = transaction.scalar(query.with_for_update(skip_locked=True))
            if row is None:
                return None
            row.state = "taken"
            transaction.flush()
            return _repair(row)

    def end_repair(self, number: int, state: RepairState, outcome: Mapping[str, Any]) -> AgentRepair:
        """Say what became of a request; `open` gives it back.

        Raises:
            UsageError: There is no such request.
        """
        with self._database.write() as transaction:
            row = transaction.get(AgentRepairRow, number, with_for_update=True)
            if row is None:
                message = f"there is no request for repair {number}"
                raise UsageError(message)
            row.state = state
            detail = {**load_json(row.detail), "outcome": dict(outcome)}
            row.detail = dump_json(detail, place=f"repair {number}")
            row.ended_at = None if state in ("open", "taken") else datetime.now(UTC)
            transaction.flush()
            return _repair(row)
