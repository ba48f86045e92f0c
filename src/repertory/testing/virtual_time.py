"""An event loop whose clock runs only while nothing else can: hours of deadlines and stalls pass in moments.

    with virtual_time() as run:
        run(whole_conversation())

Whenever every task waits, the clock jumps to the next timer. Sockets of this machine and worker threads are real and
are waited for, so a slow machine changes nothing: time does not pass while anything is still being computed.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any
from unittest import mock

__all__ = ("VirtualTimeLoop", "virtual_time")

_GRACE_S = 0.002
"""Real seconds in which bytes that were sent on this machine are sure to arrive."""
_THREAD_WAIT_S = 0.05


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for sockets and threads for real, and for timers by moving the clock."""

    jump: Callable[[float], None]
    busy: Callable[[], bool]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        while True:
            ready = super().select(0 if timeout is not None and timeout <= 0 else _GRACE_S)
            if ready or (timeout is not None and timeout <= 0):
                return ready
            if self.busy():
                if ready := super().select(_THREAD_WAIT_S):
                    return ready
            elif timeout is not None:
                self.jump(timeout)
                return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own, which begins at 1,000 seconds."""

    def __init__(self) -> None:
        selector = _JumpingSelector()
        selector.jump = self._jump
        selector.busy = lambda: self._in_threads > 0
        self._now = 1000.0
        self._in_threads = 0
        super().__init__(selector)

    def time(self) -> float:
        """Virtual seconds."""
        return self._now

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """Run in a thread; the clock stands still until it is done."""
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(self._left_thread)
        return future

    def _left_thread(self, _: asyncio.Future[Any]) -> None:
        self._in_threads -= 1

    def _jump(self, seconds: float) -> None:
        self._now += seconds


@contextmanager
def virtual_time() -> Generator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """A function that runs coroutines in virtual time; `time.monotonic` follows the loop's clock inside the block."""
    with (
        asyncio.Runner(loop_factory=VirtualTimeLoop) as runner,
        mock.patch.object(time, "monotonic", runner.get_loop().time),
    ):
        yield runner.run
