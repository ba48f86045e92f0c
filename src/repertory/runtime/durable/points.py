"""Named points of a turn at which a test may kill the process."""

from collections.abc import Callable

__all__ = ("reached", "watch_points")

_watcher: list[Callable[[str], None]] = []


def watch_points(watcher: Callable[[str], None] | None) -> None:
    """Tell a test of every point that is reached, such as `shadow:call:1:finished`; None ends it."""
    _watcher[:] = [] if watcher is None else [watcher]


def reached(point: str) -> None:
    """A point is reached; nothing happens outside tests."""
    for watcher in _watcher:
        watcher(point)
