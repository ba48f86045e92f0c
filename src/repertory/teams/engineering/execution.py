"""Runs candidates in the sandbox. What it reports comes from the runner, never from a model's text."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from repertory.sandbox import FunctionCall, Job, Limits, Sandbox
from repertory.teams.engineering.calls import Call, Case, CaseResult, Outcome
from repertory.teams.engineering.harness import HARNESS
from repertory.teams.engineering.selection import Candidate

__all__ = ("Examiner",)

_CALL_SECONDS = 1.0
_KINDS = ("value", "value_error", "error", "timeout", "unstable")


class Examiner:
    """Runs calls and cases against candidates, each candidate in a sandbox of its own.

    Args:
        sandbox: Where code runs.
        at_once: How many sandboxes at the same time.
    """

    def __init__(self, sandbox: Sandbox, *, at_once: int = 2) -> None:
        self._sandbox = sandbox
        self._places = asyncio.Semaphore(at_once)

    async def examine(
        self, candidates: Sequence[Candidate], calls: Sequence[Call], cases: Sequence[Case], names: Sequence[str]
    ) -> list[Candidate]:
        """The candidates with the outcomes of all calls and cases; a candidate that has failed to load stays as it is.

        Raises:
            SandboxError: Code can not be isolated on this machine.
        """
        return list(await asyncio.gather(*(self._examine(one, calls, cases, names) for one in candidates)))

    async def _examine(
        self, candidate: Candidate, calls: Sequence[Call], cases: Sequence[Case], names: Sequence[str]
    ) -> Candidate:
        if candidate.load_error is not None:
            return candidate
        new_calls = [call for call in calls if call not in candidate.outcomes]
        new_cases = [case for case in cases if case not in candidate.results]
        if not new_calls and not new_cases:
            return candidate
        seconds = _CALL_SECONDS
        entry = FunctionCall(
            "harness",
            "examine",
            {
                "calls": [[call.tool, call.arguments] for call in new_calls],
                "cases": [case.text for case in new_cases],
                "names": list(names),
                "seconds": seconds,
            },
        )
        limits = Limits(wall_s=10 + seconds * 6, cpu_s=int(10 + seconds * 6))
        job = Job({"tools.py": candidate.source, "harness.py": HARNESS}, entry, limits)
        async with self._places:
            outcome = await asyncio.to_thread(self._sandbox.run, job)
        if not outcome.ok:
            failure = outcome.failure
            return replace(candidate, load_error=f"{failure.type}: {failure.message}" if failure else outcome.ended)
        return _with_results(candidate, outcome.value, new_calls, new_cases)


def _with_results(candidate: Candidate, document: Any, calls: Sequence[Call], cases: Sequence[Case]) -> Candidate:
    """Read what the harness returned. The candidate shares its process: it can only lie about its own behaviour."""
    try:
        if document["load_error"] is not None:
            return replace(candidate, load_error=str(document["load_error"])[:300])
        outcomes = [_outcome(item) for item in cast("list[Any]", document["outcomes"])]
        results = [CaseResult(item[0] is True, str(item[1])[:300]) for item in cast("list[Any]", document["cases"])]
        found = dict(zip(calls, outcomes, strict=True))
        held = dict(zip(cases, results, strict=True))
    except (KeyError, TypeError, IndexError, ValueError):
        return replace(candidate, load_error="the code disturbed the runner that called it")
    return replace(candidate, outcomes={**candidate.outcomes, **found}, results={**candidate.results, **held})


def _outcome(item: Any) -> Outcome:
    kind, value, detail = item
    if kind not in _KINDS:
        raise ValueError(kind)
    return Outcome(kind, value, str(detail)[:300])
