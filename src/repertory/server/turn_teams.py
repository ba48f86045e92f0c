"""Carries out the turns of teams for the gateway."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import cast

from repertory.runtime.compaction.compactor import CompactionReport
from repertory.runtime.events import AgentDelta, NoticeShown, ReplyReady, TurnEvent
from repertory.runtime.recorder import EventSink
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.server.conversations import Conversations
from repertory.server.running_turns import RunningTurn, RunningTurns
from repertory.server.turn_spans import TurnSpans
from repertory.serving.gateway.turns import TurnDone, TurnPart, TurnRequest, TurnText
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.storage.records import Turn

__all__ = ("RunnerTeams",)

RunnerOf = Callable[[str], Awaitable[TurnRunner]]
"""Gives the runner of a team, with the instances as they are now."""


class RunnerTeams:
    """Teams on their instances.

    Args:
        names: The teams.
        runner_of: Opens them.
        running: Where their turns run; None makes a place of its own.

    Attributes:
        running: The turns under way, those of other faces too.
    """

    def __init__(self, names: Sequence[str], runner_of: RunnerOf, running: RunningTurns | None = None) -> None:
        self._names = tuple(names)
        self._runner_of = runner_of
        self._seen: dict[str, TurnRunner] = {}
        self._conversations = Conversations()
        self.running = running or RunningTurns()

    @property
    def names(self) -> Sequence[str]:
        """The teams there are."""
        return self._names

    async def begin(self, team: str, message: str, *, user: str, session: str | None = None) -> RunningTurn:
        """Start a turn that nobody waits for: its words come as events.

        Raises:
            RepertoryError: There is no turn to be had.
        """
        runner = await self._runner(team)

        async def carry(sinks: Sequence[EventSink]) -> TurnResult:
            return await runner.run(message, user=user, session=session, sinks=sinks)

        return await self.running.begin(team, user, carry, [TurnSpans().see])

    async def resume(self, turn: Turn) -> RunningTurn:
        """Take up a turn that was cut off.

        Raises:
            EngineUnavailableError: Its engines do not answer: it would be cut off again.
            RepertoryError: It can not be taken up, or another process was quicker.
        """
        runner = await self._runner(turn.team)
        await runner.cast.require_engines()

        async def carry(sinks: Sequence[EventSink]) -> TurnResult:
            return await runner.resume(turn.id, sinks=sinks)

        return await self.running.begin(turn.team, turn.user, carry, [TurnSpans().see])

    def mark_given_up(self) -> None:
        """Mark the turns that this process began and could not keep as interrupted. Blocks.

        Raises:
            StorageError: The database can not be written.
        """
        for runner in tuple(self._seen.values()):
            runner.mark_given_up()

    async def compact(self, team: str, user: str) -> CompactionReport:
        """Compact a user's sessions that are over, at the lowest priority; safe to cancel at any moment.

        Raises:
            RepertoryError: No engine answers, or the database can not be used.
        """
        return await (await self._runner(team)).compact(user)

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnPart]:
        """Carry one message through a team; the last part is a `TurnDone`.

        A client that leaves does not end it, so that what the agents write is kept.

        Raises:
            RepertoryError: There is no turn to be had.
        """
        runner = await self._runner(request.team)
        known = self._conversations.session_of(request.team, request.user, request.messages)
        session = request.session or known
        words = _Words()
        message = request.messages[-1][1]
        left = asyncio.Event()

        async def carry(sinks: Sequence[EventSink]) -> TurnResult:
            return await runner.run(message, user=request.user, session=session, sinks=sinks, left=left)

        task = self.running.start(request.team, request.user, carry, [words.see, TurnSpans().see])
        task.add_done_callback(words.end)
        try:
            while (text := await words.next()) is not None:
                yield TurnText(text)
        finally:
            left.set()  # the person is gone, or has it all: nothing more is for them alone
        if task.cancelled():
            raise GatewayError("the turn was cancelled", status=409, code="turn_cancelled")
        result = cast("TurnResult", task.result())
        if known is None:
            self._conversations.began(request.team, request.user, message, words.all, result.session)
        yield TurnDone(
            turn=result.turn,
            session=result.session,
            status=result.status,
            reason=result.reason,
            prompt_tokens=result.tokens.prefill + result.tokens.cached,
            cached_tokens=result.tokens.cached,
            output_tokens=result.tokens.output,
        )

    async def drain(self) -> None:
        """Wait until the turns under way have ended."""
        await self.running.drain()

    async def _runner(self, team: str) -> TurnRunner:
        runner = self._seen[team] = await self._runner_of(team)
        return runner


class _Words:
    """The words of a turn as one text that only grows: the first reply as it streams, then the full reply."""

    def __init__(self) -> None:
        self.all = ""
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    def see(self, event: TurnEvent) -> None:
        if isinstance(event, NoticeShown):
            self._add(f"{event.text.strip()}\n\n")
        elif isinstance(event, AgentDelta):
            self._add(event.text)
        elif isinstance(event, ReplyReady):
            self._reply(event.text.strip())

    def _reply(self, text: str) -> None:
        """A reply is final: add what of it has not been streamed."""
        said = self.all.strip()
        if text.split() == said.split():
            return
        if text.startswith(said):
            self._add(text[len(said) :] if said else text)
        elif text not in said:
            self._add(f"\n\n{text}" if said else text)

    def _add(self, text: str) -> None:
        if text:
            self.all += text
            self._queue.put_nowait(text)

    def end(self, _: object) -> None:
        self._queue.put_nowait(None)

    async def next(self) -> str | None:
        return await self._queue.get()
