from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.storage.records import Commitment, Outcome
from repertory.teams.coaching.calibration import calibration_of, score_forecasts
from repertory.teams.coaching.forecast import beta_interval, forecast

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def _commitment(p: float | None, outcome: Outcome, kind: str = "few") -> Commitment:
    return Commitment("k1", "run", "", None, p, outcome, kind, "m1", None, NOW, None)


def test_the_score_by_hand() -> None:
    # Two bins: .3 said twice and kept once, .7 said twice and kept twice.
    scored = score_forecasts([(0.3, True), (0.3, False), (0.7, True), (0.7, True)])
    assert scored.brier == pytest.approx((0.49 + 0.09 + 0.09 + 0.09) / 4)
    assert scored.base_rate == 0.75
    assert scored.reliability == pytest.approx(0.5 * 0.2**2 + 0.5 * 0.3**2)
    assert scored.resolution == pytest.approx(0.5 * 0.25**2 + 0.5 * 0.25**2)
    assert scored.uncertainty == pytest.approx(0.1875)
    assert scored.within_bins == 0
    assert scored.skill == pytest.approx(1 - 0.19 / 0.1875, abs=1e-4)
    assert [one.n for one in scored.bins] == [0, 2, 0, 2, 0]
    assert "too few" in scored.note


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=80))
def test_the_parts_add_up(forecasts: list[tuple[float, bool]]) -> None:
    scored = score_forecasts(forecasts)
    assert scored.brier is not None
    assert scored.reliability is not None
    assert scored.resolution is not None
    assert scored.uncertainty is not None
    assert scored.within_bins is not None
    parts = scored.reliability - scored.resolution + scored.uncertainty + scored.within_bins
    assert parts == pytest.approx(scored.brier, abs=3e-4)
    assert sum(one.n for one in scored.bins) == len(forecasts)
    assert scored.reliability >= 0 <= scored.resolution <= scored.uncertainty + 1e-4


def test_only_settled_predictions_count_and_in_part_is_not_kept() -> None:
    items = [
        _commitment(0.5, "kept"), _commitment(0.5, "partly"), _commitment(0.5, "missed"), _commitment(0.5, "open"),
        _commitment(0.5, "dropped"), _commitment(None, "kept"),
    ]  # fmt: skip
    scored = calibration_of(items)
    assert (scored.n, scored.base_rate) == (3, pytest.approx(1 / 3, abs=1e-4))
    assert forecast(items).n == 4
    assert forecast(items).p == pytest.approx((2 + 2) / (4 + 4), abs=1e-3)


def test_nothing_is_scored_when_nothing_is_known() -> None:
    scored = calibration_of([_commitment(0.5, "open")])
    assert scored.brier is None
    assert scored.skill is None
    assert "no outcome" in scored.note


def test_a_forecast_that_knows_more_than_the_base_rate_has_skill() -> None:
    knowing = score_forecasts([(0.9, True), (0.1, False)] * 20)
    guessing = score_forecasts([(0.5, True), (0.5, False)] * 20)
    assert knowing.skill is not None
    assert guessing.skill == 0
    assert knowing.skill > 0.9


@pytest.mark.parametrize(("kept", "missed"), [(0, 0), (3, 0), (0, 5), (10, 10)])
def test_the_interval_holds_ninety_percent(kept: int, missed: int) -> None:
    low, high = beta_interval(kept, missed)
    a, b = 2 + kept, 2 + missed
    steps = 20_000
    inside = total = 0.0
    for step in range(1, steps):
        x = step / steps
        density = x ** (a - 1) * (1 - x) ** (b - 1)
        total += density
        inside += density if low <= x <= high else 0
    assert inside / total == pytest.approx(0.9, abs=0.002)


def test_the_interval_narrows_with_outcomes() -> None:
    widths = [high - low for low, high in (beta_interval(n, n) for n in (0, 2, 8, 30))]
    assert widths == sorted(widths, reverse=True)
