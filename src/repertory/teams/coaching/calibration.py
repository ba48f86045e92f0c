"""How good the predictions of commitments were, once their outcomes are known.

The Brier score is the mean of (p - y)^2. Murphy's decomposition over bins of forecasts says why it is what it is:
score = reliability - resolution + uncertainty + what the bins hide. Skill is 1 - score / score of always saying the
base rate; it is above 0 when the predictions know more than that. What was kept in part was not kept (y = 0).
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from pydantic import BaseModel, ConfigDict

from repertory.storage.records import Commitment

__all__ = ("MANY", "Bin", "Calibration", "calibration_of", "score_forecasts", "settled_forecasts")

MANY = 30
"""From about so many outcomes on, the score says something; bins need a hundred."""
_EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_CLIP = (0.02, 0.98)


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Bin(_Record):
    """Forecasts of about the same size.

    Attributes:
        low: Lower edge, included.
        high: Upper edge, included in the last bin only.
        n: How many.
        forecast: Mean of what was said; None when the bin is empty.
        kept: Share that was kept; None when the bin is empty.
    """

    low: float
    high: float
    n: int
    forecast: float | None
    kept: float | None


class Calibration(_Record):
    """The score of a set of predictions; numbers are None when nothing is settled.

    Attributes:
        n: Settled predictions.
        base_rate: Share that was kept.
        brier: Mean squared error, 0 best.
        reliability: How far what was said is from what happened, 0 best.
        resolution: How far the bins differ from the base rate, more is better.
        uncertainty: What always saying the base rate would score.
        within_bins: What is left, because forecasts in one bin are not all the same.
        skill: 1 - brier / uncertainty; None when all outcomes are the same.
        log_loss: Mean logarithmic loss, forecasts kept within .02 and .98.
        bins: The calibration curve.
        note: How much the numbers can be trusted.
    """

    n: int
    base_rate: float | None
    brier: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    within_bins: float | None
    skill: float | None
    log_loss: float | None
    bins: list[Bin]
    note: str


def settled_forecasts(commitments: Iterable[Commitment]) -> list[tuple[float, bool]]:
    """Prediction and outcome of the commitments that have both; open and dropped ones have none."""
    return [
        (item.p, item.outcome == "kept")
        for item in commitments
        if item.p is not None and item.outcome in {"kept", "partly", "missed"}
    ]


def _note(n: int) -> str:
    if n == 0:
        return "no outcome of a predicted commitment is known yet"
    if n < MANY:
        return f"{n} outcomes are too few to judge the predictions; about {MANY} are needed"
    return f"{n} outcomes" + ("" if n >= 100 else "; the bins need about 100")


def score_forecasts(forecasts: Sequence[tuple[float, bool]]) -> Calibration:
    """Score predictions against outcomes."""
    n = len(forecasts)
    grouped = [
        [(p, y) for p, y in forecasts if low <= p < high or (high == _EDGES[-1] and p == high)]
        for low, high in pairwise(_EDGES)
    ]
    bins = [
        Bin(
            low=low, high=high, n=len(group),
            forecast=round(sum(p for p, _ in group) / len(group), 4) if group else None,
            kept=round(sum(y for _, y in group) / len(group), 4) if group else None,
        )
        for (low, high), group in zip(pairwise(_EDGES), grouped, strict=True)
    ]  # fmt: skip
    if n == 0:
        return Calibration(
            n=0, base_rate=None, brier=None, reliability=None, resolution=None, uncertainty=None, within_bins=None,
            skill=None, log_loss=None, bins=bins, note=_note(0),
        )  # fmt: skip
    base = sum(y for _, y in forecasts) / n
    brier = sum((p - y) ** 2 for p, y in forecasts) / n
    reliability = resolution = 0.0
    for group in grouped:
        if group:
            said = sum(p for p, _ in group) / len(group)
            kept = sum(y for _, y in group) / len(group)
            reliability += len(group) * (said - kept) ** 2 / n
            resolution += len(group) * (kept - base) ** 2 / n
    uncertainty = base * (1 - base)
    clipped = [(min(_CLIP[1], max(_CLIP[0], p)), y) for p, y in forecasts]
    loss = -sum(math.log(p if y else 1 - p) for p, y in clipped) / n
    return Calibration(
        n=n,
        base_rate=round(base, 4),
        brier=round(brier, 4),
        reliability=round(reliability, 4),
        resolution=round(resolution, 4),
        uncertainty=round(uncertainty, 4),
        within_bins=round(brier - (reliability - resolution + uncertainty), 4),
        skill=round(1 - brier / uncertainty, 4) if uncertainty else None,
        log_loss=round(loss, 4),
        bins=bins,
        note=_note(n),
    )


def calibration_of(commitments: Iterable[Commitment]) -> Calibration:
    """Score the predictions of a person's commitments."""
    return score_forecasts(settled_forecasts(commitments))
