"""The clock a turn reads, so that a replay or a test can set the time."""

from collections.abc import Callable
from datetime import UTC, datetime

from repertory.errors import UsageError

__all__ = ("Clock", "fixed_clock", "parse_time", "system_clock")

Clock = Callable[[], datetime]

_YEARS = range(1900, 3000)


def system_clock() -> datetime:
    """The current time, in UTC."""
    return datetime.now(UTC)


def fixed_clock(moment: datetime) -> Clock:
    """A clock that stands still at `moment`."""
    return lambda: moment


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 date or time; one without a zone is taken as UTC.

    Raises:
        UsageError: The text is not ISO 8601, or so far away that no date can be counted from it.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        message = f"not a time: {text!r}"
        raise UsageError(message, hint="write it as 2026-12-01 or 2026-12-01T09:30:00+00:00") from None
    if moment.year not in _YEARS:
        message = f"too far away: {text!r}"
        raise UsageError(message, hint=f"name a year from {_YEARS.start} to {_YEARS.stop - 1}")
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
