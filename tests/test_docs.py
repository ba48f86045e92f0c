"""The reference pages are what the code says now."""

from docs.generate import PAGES, stale


def test_the_reference_is_up_to_date() -> None:
    assert len(PAGES) >= 4
    assert stale() == []
