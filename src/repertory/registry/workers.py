"""Warm workers of deployed agents: a few per version, the longest unused ones ended first."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from repertory.sandbox import Worker

__all__ = ("WorkerPool",)


class WorkerPool:
    """Workers by key. A caller gets one that is idle, or a new one; afterwards it is kept for the next.

    Args:
        max_idle: How many workers are kept while nobody uses them. Each takes about 20 MiB.
    """

    def __init__(self, max_idle: int = 8) -> None:
        self._max_idle = max_idle
        self._idle: list[tuple[str, Worker]] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def lease(self, key: str, make: Callable[[], Worker]) -> Generator[Worker]:
        """A worker for one call."""
        worker = self._take(key) or make()
        try:
            yield worker
        except BaseException:
            worker.close()
            raise
        self._give_back(key, worker)

    def _take(self, key: str) -> Worker | None:
        with self._lock:
            for index in reversed(range(len(self._idle))):
                if self._idle[index][0] == key:
                    return self._idle.pop(index)[1]
        return None

    def _give_back(self, key: str, worker: Worker) -> None:
        surplus: list[Worker] = []
        with self._lock:
            if self._closed:
                surplus.append(worker)
            else:
                self._idle.append((key, worker))
                while len(self._idle) > self._max_idle:
                    surplus.append(self._idle.pop(0)[1])
        for one in surplus:
            one.close()

    def close(self) -> None:
        """End all idle workers, and the others when their calls end."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _key, worker in idle:
            worker.close()
