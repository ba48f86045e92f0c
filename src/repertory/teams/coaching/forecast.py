"""How likely a commitment is kept: a Beta-binomial estimate from what became of earlier ones.

Prior Beta(2, 2): mean .5 and the weight of four outcomes, close to the share of intentions that become actions (a gap
of 46-48 %, Rhodes & de Bruijn 2013). After k kept and m missed the mean is (2 + k) / (4 + k + m). Like-for-like: once
three outcomes of the same kind (size and cue) are known, only these count; before that all of the person's outcomes do.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from repertory.storage.records import Commitment, Outcome

__all__ = (
    "PRIOR_WEIGHT",
    "SETTLED",
    "Forecast",
    "TrackRecord",
    "beta_interval",
    "beta_mean",
    "forecast",
    "kind_of",
    "track_record",
)

PRIOR_WEIGHT = 2.0
LIKE_FOR_LIKE_FROM = 3
SETTLED: frozenset[Outcome] = frozenset({"kept", "partly", "missed"})
"""Outcomes that count; what was kept in part was not kept."""
CLIP = (0.02, 0.98)

Confidence = Literal["insufficient", "low", "medium", "high"]


@dataclass(frozen=True)
class TrackRecord:
    """How many settled commitments were kept and missed."""

    kept: int
    missed: int

    @property
    def n(self) -> int:
        """Settled commitments."""
        return self.kept + self.missed


@dataclass(frozen=True)
class Forecast:
    """A prediction with what it rests on.

    Attributes:
        p: Probability, 0..1.
        n: Settled commitments of this person.
        n_used: Those the number was computed from.
        confidence: `insufficient` with none, `low` under 5, `medium` under 15, else `high`.
        basis: In words.
    """

    p: float
    n: int
    n_used: int
    confidence: Confidence
    basis: str


def beta_mean(kept: float, missed: float) -> float:
    """Mean of Beta(2 + kept, 2 + missed), kept away from certainty."""
    mean = (PRIOR_WEIGHT + kept) / (2 * PRIOR_WEIGHT + kept + missed)
    return min(CLIP[1], max(CLIP[0], mean))


def track_record(outcomes: Iterable[Outcome]) -> TrackRecord:
    """Count what was kept and missed (in part is missed); open and dropped ones do not count."""
    settled = list(outcomes)
    return TrackRecord(settled.count("kept"), settled.count("missed") + settled.count("partly"))


def beta_interval(kept: int, missed: int, inside: float = 0.9) -> tuple[float, float]:
    """The central interval of Beta(2 + kept, 2 + missed).

    With whole parameters a, b the distribution function is a binomial tail, so no numerical library is needed:
    P(X <= x) = P(Binomial(a + b - 1, x) >= a).
    """
    a, n = int(PRIOR_WEIGHT) + kept, int(2 * PRIOR_WEIGHT) + kept + missed - 1

    def below(x: float) -> float:
        return sum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))

    def quantile(wanted: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if below(middle) < wanted else (low, middle)
        return (low + high) / 2

    tail = (1 - inside) / 2
    return quantile(tail), quantile(1 - tail)


def kind_of(count: int | None, has_cue: bool) -> str:
    """The class of a commitment: its size (`once`, `few`, `many` times) and whether a cue says when or where."""
    size = "once" if count is None or count <= 1 else "few" if count <= 3 else "many"
    return f"{size}_cue" if has_cue else size


def _confidence(n: int) -> Confidence:
    if n == 0:
        return "insufficient"
    return "low" if n < 5 else "medium" if n < 15 else "high"


def forecast(commitments: Iterable[Commitment], kind: str | None = None) -> Forecast:
    """Predict the next commitment, of a kind when it is known."""
    settled = [item for item in commitments if item.outcome in SETTLED]
    everything = track_record(item.outcome for item in settled)
    alike = track_record(item.outcome for item in settled if item.kind == kind)
    used = alike if alike.n >= LIKE_FOR_LIKE_FROM else everything
    if not everything.n:
        basis = "no outcome is known yet: the base rate of intentions"
    elif used is alike:
        basis = f"{alike.kept} of {alike.n} like this one were kept"
    else:
        basis = f"{everything.kept} of {everything.n} promises were kept"
    p = round(beta_mean(used.kept, used.missed), 3)
    return Forecast(p, everything.n, used.n, _confidence(everything.n), basis)
