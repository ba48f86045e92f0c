"""Calls of a canary beside the live version: nobody waits for them, and nobody gets their results."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ("ShadowCalls",)


class ShadowCalls:
    """One thread for all of them; when it can not keep up, calls are left out.

    Args:
        most_waiting: How many may wait.
    """

    def __init__(self, most_waiting: int = 8) -> None:
        self._room = threading.Semaphore(most_waiting)
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def run(self, call: Callable[[], None]) -> None:
        """Do a call some time soon, or not at all."""
        if not self._room.acquire(blocking=False):
            return
        with self._lock:
            self._pool = self._pool or ThreadPoolExecutor(1, "shadow")
            done = self._pool.submit(call)
        done.add_done_callback(lambda _: self._room.release())

    def close(self) -> None:
        """Leave out what waits, and wait for the one that runs."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)
