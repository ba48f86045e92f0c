"""Which candidate is the best one, by what it does: tests passed, and how many others behave in the same way.

Candidates that give the same outcomes on all calls form a group. A group's score is the root of its size times the
tests it passes, after CodeT's dual agreement (Chen et al., arXiv 2207.10397): many independent drafts rarely make the
same mistake, and a wrong test rarely agrees with many drafts. A test that every draft fails is dropped, unless the
Tester came to it more than once: with small models it is mostly the test that is wrong. What the contract itself
demands is never dropped.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from repertory.teams.engineering.calls import Call, Case, CaseResult, Outcome
from repertory.teams.engineering.contract import Contract
from repertory.teams.engineering.value_types import conforms

__all__ = ("MOST_CRASHES", "Candidate", "Judged", "Selection", "select")


_FIRM_WEIGHT = 2.0
MOST_CRASHES = 0.2
"""Share of the calls within the contract's types that may end in an exception other than a refusal."""


@dataclass(frozen=True)
class Candidate:
    """One draft of the code and what it did."""

    number: int
    source: str
    outcomes: dict[Call, Outcome] = field(default_factory=dict[Call, Outcome])
    results: dict[Case, CaseResult] = field(default_factory=dict[Case, CaseResult])
    load_error: str | None = None


@dataclass(frozen=True)
class Judged:
    """A candidate with its marks.

    Attributes:
        broken: What it does against the contract, each in one line; empty for a candidate that may be released.
        passed: Tests passed, of those kept.
        failed: Tests failed, of those kept.
        crashes: Calls within the contract's types that ended in an exception other than a refusal.
        group: How many candidates behave exactly like it, itself included.
        agreement: Share of the calls on which it does what most candidates do, 0 to 1.
        score: Higher is better; only comparable within one selection.
    """

    candidate: Candidate
    broken: tuple[str, ...]
    passed: tuple[Case, ...]
    failed: tuple[Case, ...]
    crashes: tuple[Call, ...]
    group: int
    agreement: float
    score: float


@dataclass(frozen=True)
class Selection:
    """All candidates, the best first, and what became of the tests."""

    ranked: tuple[Judged, ...]
    kept: tuple[Case, ...]
    dropped: tuple[Case, ...]

    @property
    def best(self) -> Judged | None:
        """The best candidate that loads at all."""
        return next((judged for judged in self.ranked if judged.candidate.load_error is None), None)


def select(
    contract: Contract, candidates: Sequence[Candidate], cases: Sequence[Case], calls: Sequence[Call]
) -> Selection:
    """Judge candidates that have been run on all of these cases and calls."""
    alive = [candidate for candidate in candidates if candidate.load_error is None]
    kept, dropped = _kept(cases, alive)
    groups = Counter(_behaviour(candidate, calls) for candidate in alive)
    usual = {call: _usual(alive, call) for call in calls}
    judged = [_judge(contract, candidate, kept, calls, groups, usual) for candidate in candidates]
    judged.sort(
        key=lambda mark: (
            len(mark.broken),
            len(mark.crashes) > len(calls) * MOST_CRASHES,  # those that crash in the same way agree, too
            -mark.score,
            len(mark.candidate.source),
            mark.candidate.number,
        )
    )
    return Selection(tuple(judged), kept, dropped)


def _kept(cases: Sequence[Case], alive: Sequence[Candidate]) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    def is_met(case: Case) -> bool:
        return any(candidate.results[case].passed for candidate in alive)

    kept = tuple(case for case in cases if case.firm or is_met(case))
    return kept, tuple(case for case in cases if case not in kept)


def _behaviour(candidate: Candidate, calls: Sequence[Call]) -> tuple[str, ...]:
    return tuple(candidate.outcomes[call].key for call in calls)


def _usual(alive: Sequence[Candidate], call: Call) -> str:
    keys = Counter(candidate.outcomes[call].key for candidate in alive)
    return min(keys, key=lambda key: (-keys[key], key)) if keys else ""


def _judge(
    contract: Contract,
    candidate: Candidate,
    kept: Sequence[Case],
    calls: Sequence[Call],
    groups: Counter[tuple[str, ...]],
    usual: dict[Call, str],
) -> Judged:
    if candidate.load_error is not None:
        return Judged(candidate, (candidate.load_error,), (), tuple(kept), (), 0, 0.0, 0.0)
    passed = tuple(case for case in kept if candidate.results[case].passed)
    failed = tuple(case for case in kept if case not in passed)
    crashes = tuple(call for call in calls if candidate.outcomes[call].kind == "error")
    group = groups[_behaviour(candidate, calls)]
    agreement = sum(candidate.outcomes[call].key == usual[call] for call in calls) / max(len(calls), 1)
    weight = sum(_FIRM_WEIGHT if case.firm else 1.0 for case in passed)
    score = math.sqrt(group) * (weight + 0.5) + agreement - len(crashes) / max(len(calls), 1)
    return Judged(
        candidate, _broken(contract, candidate, kept, calls), passed, failed, crashes, group, agreement, score
    )


def _broken(contract: Contract, candidate: Candidate, kept: Sequence[Case], calls: Sequence[Call]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for case in kept:
        if case.origin == "contract" and not candidate.results[case].passed:
            found[f"the contract demands {case.text}: {candidate.results[case].found}"] = None
    for call in calls:
        outcome, tool = candidate.outcomes[call], contract.tool(call.tool)
        if outcome.kind in ("timeout", "unstable"):
            found[f"{call} {outcome}"] = None
        elif outcome.kind == "value" and tool is not None and not conforms(outcome.value, tool.returns):
            found[f"{call} gives {outcome}, which is not what the contract says it returns"] = None
    return tuple(found)
