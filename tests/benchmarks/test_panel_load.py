"""What the load benchmark of the panel says of what it measured."""

from typing import Any

import pytest
from benchmarks.panel_load import judge

FINE: dict[str, Any] = {
    "events_per_stream": [1240],
    "resets": 0,
    "disorder": 0,
    "lag_p99_ms": 400.0,
    "chat_p99_ms": 1500.0,
    "overview_p99_ms": 900.0,
    "memory_mib": {"before": 170, "after": 190},
    "first_page_ms": [600.0, 700.0, 5000.0],
    "page": {"share_of_time_in_gaps": 0.03, "event_shown_p99_ms": 700.0},
}


def test_what_holds_is_not_broken() -> None:
    assert judge(FINE) == []


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"page": {"share_of_time_in_gaps": 0.11, "event_shown_p99_ms": 700.0}}, "gaps between frames"),
        ({"page": {"share_of_time_in_gaps": 0.0, "event_shown_p99_ms": 1001.0}}, "an event is shown"),
        # A page that saw no event did not show that it is quick.
        ({"page": {"share_of_time_in_gaps": 0.0, "event_shown_p99_ms": None}}, "an event is shown"),
        ({"first_page_ms": [600.0, 1200.0, 1300.0]}, "the first page"),
        ({"first_page_ms": []}, "the first page"),
        ({"lag_p99_ms": 501.0}, "lag"),
        ({"events_per_stream": [1239, 1240]}, "every stream"),
    ],
)
def test_what_does_not_hold_is_told(change: dict[str, Any], claim: str) -> None:
    broken = judge({**FINE, **change})
    assert len(broken) == 1
    assert claim in broken[0]


def test_without_a_browser_nothing_is_said_of_pages() -> None:
    assert judge({**FINE, "page": None, "first_page_ms": []}) == []
