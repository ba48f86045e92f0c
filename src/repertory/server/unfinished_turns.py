"""Completes what a kill, a full disk or a lost engine cut off: when the server starts, and while it runs."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Protocol

from repertory.errors import EngineUnavailableError, RepertoryError
from repertory.runtime.turn import MOST_RESUMES
from repertory.server.running_turns import RunningTurn
from repertory.server.turn_teams import RunnerTeams
from repertory.storage.records import Turn
from repertory.storage.store import Store

__all__ = ("TakesUpBuilds", "UnfinishedTurns")

_log = logging.getLogger(__name__)
_LOOK_S = 15.0
_NO_ENGINE_S = 1.0
_AGAIN_S = 60.0
"""Before the second try of a turn in this server; each further pause is twice as long."""


class TakesUpBuilds(Protocol):
    """Where builds run."""

    @property
    def team(self) -> str:
        """The team whose turns are builds."""
        ...

    async def take_up(self, build: Turn) -> RunningTurn | None:
        """Go on with a build that was cut off; None when another one runs."""
        ...


class UnfinishedTurns:
    """Takes up what was cut off, one after the other, so that people who write now are not kept waiting by it.

    Args:
        store: Where turns are kept.
        talk: Carries the turns of the served teams; others are left to `repertory resume`.
        builds: Carries builds; None leaves them.
        stopping: Whether the server ends: then nothing is taken up any more.
    """

    def __init__(
        self, store: Store, talk: RunnerTeams, builds: TakesUpBuilds | None, stopping: Callable[[], bool]
    ) -> None:
        self._store = store
        self._talk = talk
        self._builds = builds
        self._stopping = stopping
        self._not_before: dict[str, float] = {}
        self._told: set[str] = set()

    async def run(self) -> None:
        """Look again and again, until cancelled. A turn that is under way then runs on as every other."""
        while not self._stopping():
            pause = _LOOK_S
            try:
                await self.complete()
            except EngineUnavailableError:
                pause = _NO_ENGINE_S
            except RepertoryError as error:
                if error.message not in self._told:
                    self._told.add(error.message)
                    _log.warning("turns that were cut off can not be looked for: %s", error.message)
            except Exception:  # noqa: BLE001 - one mistake must not end this for a server that runs for months
                _log.exception("turns that were cut off can not be completed")
            await asyncio.sleep(pause)

    async def complete(self) -> None:
        """Complete all that can be completed now.

        Raises:
            EngineUnavailableError: There is something to complete, and no engine answers.
            StorageError: The database can not be read or written.
        """
        for turn in await asyncio.to_thread(self._resumable):
            if not self._is_due(turn):
                continue
            if self._stopping():
                return
            self._not_before[turn.id] = time.monotonic() + _AGAIN_S * 2**turn.resumes
            try:
                carried = await self._take_up(turn)
            except EngineUnavailableError:
                del self._not_before[turn.id]
                raise
            except RepertoryError as error:  # another process may have been quicker, or a person erased it
                _log.warning("the turn %s was not completed: %s", turn.id, error.message)
                continue
            if carried is None:
                del self._not_before[turn.id]
                continue
            _log.warning("completing the turn %s, which was cut off", turn.id)
            await asyncio.wait({carried.task})

    def _resumable(self) -> list[Turn]:
        self._talk.mark_given_up()
        self._store.turns.mark_interrupted()
        return self._store.taking_up.resumable()

    def _is_due(self, turn: Turn) -> bool:
        is_build = self._builds is not None and turn.team == self._builds.team
        if turn.team not in self._talk.names and not is_build:
            return False
        if self._talk.running.find(turn.id) is not None:
            return False
        if turn.resumes >= MOST_RESUMES:
            if turn.id not in self._told:
                self._told.add(turn.id)
                words = "the turn %s was cut off %d times and is left alone; `repertory resume %s` tries once more"
                _log.warning(words, turn.id, turn.resumes, turn.id)
            return False
        return time.monotonic() >= self._not_before.get(turn.id, 0.0)

    async def _take_up(self, turn: Turn) -> RunningTurn | None:
        if self._builds is not None and turn.team == self._builds.team:
            return await self._builds.take_up(turn)
        return await self._talk.resume(turn)
