"""Compacts the talk of sessions that are over while nobody uses the server, and stops at once when somebody does."""

import asyncio
import logging
import time
from collections.abc import Callable

from repertory.errors import RepertoryError
from repertory.runtime.events import TurnEvent
from repertory.runtime.recorder import EventSink
from repertory.server.running_turns import RunningTurn
from repertory.server.turn_teams import RunnerTeams
from repertory.storage.records import TurnStatus
from repertory.storage.store import Store

__all__ = ("IdleCompaction",)

_log = logging.getLogger(__name__)
_POLL_S = 0.25
_NOTHING_S = 60.0
"""Between two looks at a database in which nothing had to be compacted."""


class IdleCompaction:
    """Runs compactions in idle time; also a `repertory.server.running_turns.TurnWatcher`.

    A turn ends it in the same moment, another request within a quarter of a second. What was read until then is kept,
    and the rest is read the next time.

    Args:
        store: Where sessions are kept.
        talk: The served teams.
        busy: Whether a request is under way, or the server ends.
        after_s: How long nothing must have happened before.
    """

    def __init__(self, store: Store, talk: RunnerTeams, busy: Callable[[], bool], *, after_s: float = 30.0) -> None:
        self._store = store
        self._talk = talk
        self._busy = busy
        self._after_s = after_s
        self._work: asyncio.Task[None] | None = None
        self._used_at = time.monotonic()
        self._left: dict[tuple[str, str], frozenset[str]] = {}

    def watch_turn(self, team: str, user: str) -> EventSink:  # noqa: ARG002 - the protocol's
        """A turn begins."""
        self._stop()
        return _see_nothing

    def turn_ended(self, turn: RunningTurn, status: TurnStatus) -> None:  # noqa: ARG002 - the protocol's
        """A turn has ended; the person may write again soon."""
        self._used_at = time.monotonic()

    async def run(self) -> None:
        """Compact whenever it is idle, until cancelled."""
        try:
            while True:
                await self._wait_until_idle()
                found = False
                try:
                    found = await self._next()
                except RepertoryError as error:
                    _log.warning("sessions were not compacted: %s", error.message)
                except Exception:  # noqa: BLE001 - one mistake must not end this for a server that runs for months
                    _log.exception("sessions were not compacted")
                if not found:
                    await asyncio.sleep(max(self._after_s, _NOTHING_S))
        finally:
            self._stop()

    async def _wait_until_idle(self) -> None:
        while True:
            if self._is_used():
                self._used_at = time.monotonic()
            left_s = self._used_at + self._after_s - time.monotonic()
            if left_s <= 0:
                return
            await asyncio.sleep(min(left_s, _POLL_S))

    def _is_used(self) -> bool:
        return self._busy() or self._talk.running.busy

    async def _next(self) -> bool:
        """Compact one person's sessions; whether there were any to compact.

        Raises:
            RepertoryError: It did not work.
        """
        for (team, user), sessions in (await asyncio.to_thread(self._store.summaries.all_pending)).items():
            if team not in self._talk.names or self._left.get((team, user)) == sessions:
                continue
            self._left[team, user] = sessions  # unless it ends well they are not read again before there are others
            work = self._work = asyncio.create_task(self._compact(team, user), name="compact sessions")
            while not work.done():
                await asyncio.wait({work}, timeout=_POLL_S)
                if self._is_used():
                    self._stop()
            self._work = None
            if work.cancelled() or work.exception() is not None:
                del self._left[team, user]
            if not work.cancelled():
                work.result()
            return True
        return False

    async def _compact(self, team: str, user: str) -> None:
        report = await self._talk.compact(team, user)
        if report.sessions:
            _log.info("compacted %d sessions of the team %s: %d facts", report.sessions, team, report.facts)

    def _stop(self) -> None:
        self._used_at = time.monotonic()
        if self._work is not None:
            self._work.cancel()


def _see_nothing(_: TurnEvent) -> None:
    pass
