"""A program as an agent's engine: one generation is one call of the program, whatever requests it makes."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from repertory.engines.estimate import estimate_output_tokens
from repertory.engines.protocol import (
    Engine,
    FinishReason,
    GenerateRequest,
    Generation,
    StreamPart,
    TextDelta,
    TokenUsage,
)
from repertory.engines.stand_in import EngineStandIn
from repertory.errors import EngineTimeoutError, HarnessError
from repertory.runtime.events import HarnessFinished
from repertory.runtime.harness.board import Board, serving_board
from repertory.runtime.harness.engine_members import engine_members, engine_messages
from repertory.runtime.harness.interface import AgentRun
from repertory.runtime.harness.task import SYSTEM, Driver, HarnessTask, task_words
from repertory.runtime.harness.work_folder import fresh_folder, lay_out_context, read_answer, session_folder
from repertory.serving.gateway.harness_runs import HarnessRun, RunTerms

if TYPE_CHECKING:
    from repertory.runtime.harness.place import HarnessPlace

__all__ = ("ProgramEngine",)

_ANSWER_REQUESTS = 4
"""Generations for a call that only answers: one, and what its program tries again."""


@dataclass
class _Call:
    """How one call goes."""

    run: HarnessRun
    began: float
    tools: bool
    first_words_s: float | None = None
    status: Literal["answered", "failed", "stopped"] = "stopped"


class ProgramEngine(EngineStandIn):
    """Stands before an agent's engine; see `repertory.engines.protocol.Engine`.

    Args:
        run: The agent.
        engine: Its engine, which the program calls through the gateway.
        driver: Runs the program.
        place: What the program is given.
        env: Variables that the agent's settings let through.
    """

    def __init__(
        self, run: AgentRun, engine: Engine, driver: Driver, place: "HarnessPlace", env: Mapping[str, str]
    ) -> None:
        super().__init__(engine)
        self._run = run
        self._driver = driver
        self._place = place
        self._env = env
        self._calls = 0

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Run the program for one answer; the last part is a `Generation` with the gateway's counts.

        Raises:
            HarnessError: The program failed, or gave no answer.
            EngineTimeoutError: It took longer than its settings allow.
            SandboxError: It can not be run behind walls.
        """
        self._calls += 1
        # A repair is asked for in words, by us, so it is answered in words and not by more work with tools.
        tools = self._run.agent.harness.tools and self._calls == 1
        terms = self._terms(request, tools=tools)
        async with AsyncExitStack() as stack:
            folder = await stack.enter_async_context(self._folder(tools=tools))
            token, run = self._place.runs.open(terms)
            call = _Call(run, time.monotonic(), tools)
            stack.callback(self._tell, call)
            stack.push_async_callback(self._place.runs.close, token)
            task, board = await self._task(stack, request, terms, token, folder)
            text: list[str] = []
            async with aclosing(self._in_time(task)) as words:
                try:
                    async for piece in words:
                        call.first_words_s = call.first_words_s or time.monotonic() - call.began
                        text.append(piece)
                        yield TextDelta(piece)
                except Exception:
                    call.status = "failed"
                    raise
            left = (board.answer() if board is not None else None) or read_answer(folder)
            answer = left or task.answer or "".join(text)
            if not answer.strip() and not run.requests:
                call.status = "failed"
                raise HarnessError("the program ended without a word and without asking the model")
            call.status = "answered"
        yield _generation(run, answer)

    def _terms(self, request: GenerateRequest, *, tools: bool) -> RunTerms:
        run, settings = self._run, self._run.agent.harness
        messages = engine_messages(self._engine, request)
        return RunTerms(
            team=run.team.name,
            agent=run.name,
            turn=run.turn,
            user=run.user,
            instance=run.instance,
            priority=request.priority,
            messages=[(message.role, message.content) for message in messages],
            asked=task_words(request.messages),
            system=SYSTEM,
            members=engine_members(self._engine, request),
            tools=tools,
            max_requests=settings.max_requests if tools else min(settings.max_requests, _ANSWER_REQUESTS),
        )

    async def _task(
        self, stack: AsyncExitStack, request: GenerateRequest, terms: RunTerms, token: str, folder: Path
    ) -> tuple[HarnessTask, Board | None]:
        board = None
        socket = None
        if terms.tools:
            board = Board(self._run)
            socket = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self._place.scratch))) / "board"
            await stack.enter_async_context(serving_board(board, socket))
        await asyncio.to_thread(lay_out_context, folder, self._run, terms.asked)
        task = HarnessTask(
            run=self._run,
            messages=request.messages,
            words=terms.asked,
            token=token,
            folder=folder,
            socket=self._place.socket,
            walls=self._place.walls,
            tools=terms.tools,
            board=socket,
        )
        return task, board

    async def _in_time(self, task: HarnessTask) -> AsyncGenerator[str]:
        limit = task.settings.timeout_s
        ends = None if limit is None else asyncio.get_running_loop().time() + limit
        async with aclosing(self._driver.words(task, self._env)) as words:
            while True:
                try:
                    async with asyncio.timeout_at(ends):
                        piece = await anext(words, None)
                except TimeoutError:
                    message = f"the program took longer than the {limit:g} s of its settings"
                    raise EngineTimeoutError(message) from None
                if piece is None:
                    return
                yield piece

    @asynccontextmanager
    async def _folder(self, *, tools: bool) -> AsyncGenerator[Path]:
        """The working folder: the session's own for work with tools, one of its own for an answer."""
        if not tools:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=self._place.scratch))
            try:
                yield folder
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            return
        folder = session_folder(self._place.folders, self._run)
        async with self._place.locks.setdefault(folder, asyncio.Lock()):
            await asyncio.to_thread(fresh_folder, folder)
            yield folder

    def _tell(self, call: _Call) -> None:
        run = call.run
        self._run.tell(
            HarnessFinished,
            {
                "agent": self._run.name,
                "harness": self._run.agent.harness.kind.value,
                "status": call.status,
                "seconds": round(time.monotonic() - call.began, 4),
                "first_words_s": None if call.first_words_s is None else round(call.first_words_s, 4),
                "requests": run.requests,
                "prompt_tokens": run.prompt,
                "cached_tokens": run.cached,
                "output_tokens": run.output,
                "added_tokens": estimate_output_tokens(run.added) if run.added else 0,
                "added_sent": call.tools,
                "shared_prefix": run.shared,
            },
        )


def _generation(run: HarnessRun, answer: str) -> Generation:
    cut = run.finish == "length"
    usage = TokenUsage(
        prompt=run.prompt, output=run.output, cached=run.cached, estimated=bool(run.requests) and not run.counted
    )
    return Generation(FinishReason.LENGTH if cut else FinishReason.STOP, usage, answer)
