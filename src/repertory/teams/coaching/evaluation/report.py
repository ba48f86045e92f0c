"""What an evaluation came to, as records that go to a file and back."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from repertory.teams.coaching.words import quote

__all__ = ("CheckResult", "CheckTotal", "ScenarioReport", "Summary", "TurnRecord", "brief", "summarize")

Source = Literal["check", "expected", "rule"]
"""Written in the file as a check, following from its `expected` facts, or true of every turn."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CheckResult(_Record):
    """One check and whether it held."""

    check: str
    after: str
    source: Source
    must: bool
    passed: bool
    found: str


class TurnRecord(_Record):
    """One turn of a scenario, for reading what was said."""

    message: str
    status: str
    reason: str | None
    safety: str
    first_reply: str
    reply: str
    valid_sections: list[str]
    failed_sections: list[str]
    seconds: float


class ScenarioReport(_Record):
    """One scenario, played."""

    id: str
    title: str
    tags: list[str]
    turns: list[TurnRecord]
    checks: list[CheckResult]
    not_scored: list[str]
    seconds: float

    @property
    def failed_musts(self) -> list[CheckResult]:
        """Checks that must hold and did not."""
        return [check for check in self.checks if check.must and not check.passed]


class CheckTotal(_Record):
    """One kind of check over all scenarios."""

    kind: str
    passed: int
    total: int


class Summary(_Record):
    """The whole evaluation in numbers; `share` is that of the file's own checks and facts that are not `must`."""

    scenarios: int
    turns: int
    passed: int
    total: int
    must_passed: int
    must_total: int
    share: float | None
    sections_valid: int
    sections_total: int
    kinds: list[CheckTotal]
    seconds: float


def brief(value: object) -> str:
    """A value in one short line."""
    return quote(str(value) if not isinstance(value, float) else f"{value:g}", 300)


def _kind(check: CheckResult) -> str:
    return check.check if check.source == "rule" else " ".join(check.check.split()[:2])


def summarize(reports: Sequence[ScenarioReport]) -> Summary:
    """Add the scenarios up."""
    checks = [check for report in reports for check in report.checks]
    turns = [turn for report in reports for turn in report.turns]
    kinds: dict[str, list[bool]] = {}
    for check in checks:
        kinds.setdefault(_kind(check), []).append(check.passed)
    musts = [check.passed for check in checks if check.must]
    others = [check.passed for check in checks if not check.must and check.source != "rule"]
    valid, total = _count(turns)
    return Summary(
        scenarios=len(reports),
        turns=len(turns),
        passed=sum(check.passed for check in checks),
        total=len(checks),
        must_passed=sum(musts),
        must_total=len(musts),
        share=round(sum(others) / len(others), 4) if others else None,
        sections_valid=valid,
        sections_total=total,
        kinds=[CheckTotal(kind=kind, passed=sum(held), total=len(held)) for kind, held in sorted(kinds.items())],
        seconds=round(sum(report.seconds for report in reports), 1),
    )


def _count(turns: Iterable[TurnRecord]) -> tuple[int, int]:
    valid = failed = 0
    for turn in turns:
        valid += len(turn.valid_sections)
        failed += len(turn.failed_sections)
    return valid, valid + failed


def document(reports: Sequence[ScenarioReport], **about: Any) -> dict[str, Any]:
    """The evaluation as one JSON document."""
    return {
        **about,
        "summary": summarize(reports).model_dump(mode="json"),
        "scenarios": [report.model_dump(mode="json") for report in reports],
    }
