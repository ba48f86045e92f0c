"""Watches how calls of deployed agents end, and takes a version out of use that fails.

Only the agent's own failures count: what it refuses as its contract allows, and arguments that were not those of its
tool, speak for the agent or against the caller. Of what was said and returned nothing is kept.
"""

import logging
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from repertory.clock import Clock, system_clock
from repertory.errors import StorageError
from repertory.registry.result import CallResult
from repertory.storage.agent_records import AgentCall, AgentRepair, AgentVersion, CallOutcome
from repertory.storage.agent_watch import AgentWatchLog
from repertory.storage.store import Store

__all__ = ("AgentWatch", "WatchRule", "outcome_of", "repair_document", "watch_document")

_log = logging.getLogger(__name__)
_KEPT_BACK = 16
_KEPT_BACK_S = 2.0


@dataclass(frozen=True)
class WatchRule:
    """When a version is taken out of use.

    Attributes:
        window: How many of its last calls are looked at.
        least: How many there must be at least.
        most_errors: The share of errors among them from which on it is taken out.
    """

    window: int = 20
    least: int = 8
    most_errors: float = 0.5


def outcome_of(result: CallResult) -> CallOutcome:
    """What the end of a call says of the agent."""
    if result.error is None:
        return "ok"
    if result.error.type in {"InvalidArguments", "UserMissing"}:
        return "invalid"
    return "refused" if "ValueError" in result.error.kinds else "error"


class AgentWatch:
    """Keeps how calls end, and acts by the rule. Any number of threads and processes may watch the same agents.

    What went well is written a few calls at a time; an error at once, because the rule is looked at then. A failing
    database is logged and costs no caller an answer.

    Args:
        store: Where it is kept.
        rule: When a version is taken out.
        clock: The clock.
        now: A clock in seconds that never goes back.
    """

    def __init__(
        self,
        store: Store,
        rule: WatchRule | None = None,
        clock: Clock = system_clock,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = store.agent_watch
        self._agents = store.agents
        self._rule = rule or WatchRule()
        self._clock = clock
        self._now = now
        self._waiting: list[AgentCall] = []
        self._since = now()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.flush()

    def saw(
        self, version: AgentVersion, what: str, result: CallResult, seconds: float, *, agrees: bool | None = None
    ) -> None:
        """Keep how a call ended; take the version out when the rule says so.

        Args:
            version: Who answered.
            what: The tool or route.
            result: How it ended.
            seconds: How long it took.
            agrees: Of a call beside the live version: whether both gave the same result.
        """
        outcome = outcome_of(result)
        call = AgentCall(
            agent=version.agent,
            version=version.version,
            what=what,
            outcome=outcome,
            kind=result.error.type if result.error is not None else None,
            seconds=seconds,
            agrees=agrees,
            at=self._clock(),
        )
        with self._lock:
            self._waiting.append(call)
            due = len(self._waiting) >= _KEPT_BACK or self._now() - self._since > _KEPT_BACK_S
        try:
            if outcome == "error":
                self._write()
                self._judge(version)
            elif due:
                self._write()
        except StorageError as error:
            _log.warning("the watch over deployed agents can not write: %s", error.message)

    def flush(self) -> None:
        """Write what waits."""
        try:
            self._write()
        except StorageError as error:
            _log.warning("the watch over deployed agents can not write: %s", error.message)

    def _write(self) -> None:
        with self._lock:
            calls, self._waiting = self._waiting, []
            self._since = self._now()
        if calls:
            self._log.add(calls)

    def _judge(self, version: AgentVersion) -> None:
        rule = self._rule
        since = self._log.last_repair_at(version.agent, version.version)
        calls = self._log.recent(version.agent, version.version, rule.window, since)
        errors = [call for call in calls if call.outcome == "error"]
        if len(calls) < rule.least or len(errors) < rule.most_errors * len(calls):
            return
        reason = f"{len(errors)} of the last {len(calls)} calls of {version.label} failed"
        kinds = Counter(f"{call.what}: {call.kind}" for call in errors)
        detail = {"calls": len(calls), "errors": len(errors), "kinds": dict(kinds.most_common(5))}
        answers = self._agents.take_out(version.agent, version.version, reason, detail)
        if answers is not None:
            _log.warning("%s; %s answers now, and a repair is asked for", reason, answers.label)


def watch_document(log: AgentWatchLog, agent: str) -> dict[str, Any]:
    """How the calls of an agent's versions ended, and the requests for its repair."""
    versions = {str(version): _numbers(log.recent(agent, version)) for version in log.watched(agent)}
    return {"versions": versions, "repairs": [repair_document(repair) for repair in log.repairs(agent)]}


def repair_document(repair: AgentRepair) -> dict[str, Any]:
    """A request for repair as JSON."""
    return {
        "id": repair.id,
        "agent": f"{repair.agent}@{repair.version}",
        "state": repair.state,
        "reason": repair.reason,
        "detail": dict(repair.detail),
        "created_at": repair.created_at.isoformat(),
        "ended_at": repair.ended_at.isoformat() if repair.ended_at else None,
    }


def _numbers(calls: list[AgentCall]) -> dict[str, Any]:
    outcomes = Counter(call.outcome for call in calls)
    seconds = sorted(call.seconds for call in calls)
    compared = [call.agrees for call in calls if call.agrees is not None]
    return {
        "calls": len(calls),
        "errors": outcomes["error"],
        "refused": outcomes["refused"],
        "invalid": outcomes["invalid"],
        "p50_s": round(statistics.median(seconds), 4) if seconds else None,
        "p95_s": round(seconds[int(0.95 * (len(seconds) - 1))], 4) if seconds else None,
        "compared": len(compared),
        "agreeing": sum(compared),
        "last_at": calls[0].at.isoformat() if calls else None,
    }
