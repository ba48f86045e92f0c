"""A harness's program as a process: started behind walls, read as it writes, ended with all that it started."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from repertory.errors import HarnessError

__all__ = ("MAX_ANSWER_BYTES", "HarnessProcess", "running")

MAX_ANSWER_BYTES = 4 * 1024 * 1024
"""The most that a program may write as its answer."""

_LINE_BYTES = 16 * 1024 * 1024
_TAIL_BYTES = 4096
_END_S = 10.0


@dataclass
class HarnessProcess:
    """A running program.

    Attributes:
        stdin: Where it reads.
        stdout: What it writes.
    """

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    _process: asyncio.subprocess.Process
    _tail: bytearray = field(default_factory=bytearray)

    async def give(self, text: str) -> None:
        """Write all of its input and close it. A program that does not read is not waited for."""
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            self.stdin.write(text.encode("utf-8", "replace"))
            await self.stdin.drain()
        self.stdin.close()

    async def ended(self) -> int:
        """Wait for its end; gives the exit code."""
        return await self._process.wait()

    def failure(self, what: str) -> HarnessError:
        """The error that says how it ended and what it wrote last."""
        words = " ".join(self._tail.decode("utf-8", "replace").split())[-300:]
        code = self._process.returncode
        how = "" if code is None else f" (killed by signal {-code})" if code < 0 else f" (exit code {code})"
        return HarnessError(f"the program {what}{how}{': ' if words else ''}{words}")

    async def keep_tail(self, stderr: asyncio.StreamReader) -> None:
        """Read what it writes about itself, and keep the end."""
        while piece := await stderr.read(65536):
            self._tail += piece
            del self._tail[:-_TAIL_BYTES]


@asynccontextmanager
async def running(command: Sequence[str]) -> AsyncGenerator[HarnessProcess]:
    """Run a command inside the block; at its end the whole process group is killed, whatever it does.

    Raises:
        HarnessError: It could not be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={},
            cwd="/",
            start_new_session=True,
            limit=_LINE_BYTES,
        )
    except OSError as error:
        message = f"the program could not be started: {error.strerror or error}"
        raise HarnessError(message) from None
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise AssertionError  # all were asked for
    program = HarnessProcess(process.stdin, process.stdout, process)
    tail = asyncio.create_task(program.keep_tail(process.stderr))
    try:
        yield program
    finally:
        # bubblewrap's first process is the group's leader; the kernel ends all that is in its namespace with it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        ending = asyncio.ensure_future(_reap(process, tail))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await asyncio.wait({ending}, timeout=_END_S)
            raise


async def _reap(process: asyncio.subprocess.Process, tail: "asyncio.Task[None]") -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await process.wait()
    tail.cancel()
    await asyncio.gather(tail, return_exceptions=True)
    if process.stdin is not None:
        process.stdin.close()
