"""Where code that a model wrote runs: no network, no files of the host, no environment, and limits on everything.

What it keeps out and what not is in `docs/sandbox.md`.
"""

from repertory.sandbox.job import Ended, Entry, Failure, FunctionCall, HostCallError, HostFunction, Job, Outcome, Script
from repertory.sandbox.limits import Limits
from repertory.sandbox.sandbox import Sandbox
from repertory.sandbox.self_test import Isolation
from repertory.sandbox.worker import Worker

__all__ = (
    "Ended",
    "Entry",
    "Failure",
    "FunctionCall",
    "HostCallError",
    "HostFunction",
    "Isolation",
    "Job",
    "Limits",
    "Outcome",
    "Sandbox",
    "Script",
    "Worker",
)
