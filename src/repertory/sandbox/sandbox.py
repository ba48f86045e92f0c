"""The door: run foreign code once, or keep a worker for it. Nothing runs before this host was seen to isolate."""

import threading
from collections.abc import Mapping
from pathlib import Path

from repertory.sandbox.job import HostFunction, Job, Outcome
from repertory.sandbox.limits import Limits
from repertory.sandbox.self_test import Isolation, isolation_of_this_host
from repertory.sandbox.worker import Worker

__all__ = ("Sandbox",)

_lock = threading.Lock()
_found: Isolation | None = None


class Sandbox:
    """Where code that a model wrote runs.

    The first use in a process tests that this host isolates: it runs a program that tries to get out, and refuses to
    go on when anything succeeds.
    """

    def isolation(self) -> Isolation:
        """What isolates foreign code on this host.

        Raises:
            SandboxError: Something necessary does not; the hint says what to install or allow.
        """
        global _found  # noqa: PLW0603 - a property of the host
        with _lock:
            if _found is None:
                _found = isolation_of_this_host()
            return _found

    def run(self, job: Job) -> Outcome:
        """Run a job once, in a sandbox of its own.

        Raises:
            SandboxError: This host can not isolate, or the job is not one.
        """
        self.isolation()
        with Worker(job.files, limits=job.limits, host=job.host, warm=False) as worker:
            return worker.call(job.entry)

    def worker(
        self,
        files: Mapping[str, str | bytes],
        *,
        limits: Limits | None = None,
        state: Path | None = None,
        host: Mapping[str, HostFunction] | None = None,
    ) -> Worker:
        """A sandbox that stays, for many calls of the same files. See `Worker`.

        Raises:
            SandboxError: This host can not isolate.
        """
        self.isolation()
        return Worker(files, limits=limits, state=state, host=host)
