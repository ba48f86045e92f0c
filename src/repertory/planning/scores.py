"""An agent's score for a model: published scores, compared only where benchmark, version and mode are the same.

Where a model has no row for a benchmark, its score is *estimated*, and marked so, by this rule:

1. Take every other series in which the model has a row, and the models that have rows in both series (at least five).
   Fit a line; take the series whose line leaves the least spread, and subtract that spread (one standard deviation).
2. If there is none, do the same with the logarithm of the model's total and active parameters.
3. If even that has fewer than five models, take the lowest published score of the series.
4. Where nobody has a row in the mode (HumanEval was last published before thinking models), the other mode stands in.

An estimate is never above the best published score of the series. So a model with evidence is preferred to one without,
and none is dropped silently. Scores that were measured on one's own instances take the place of published ones.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from repertory.catalog.benchmarks import mode_of, series_of
from repertory.catalog.records import Model
from repertory.planning.needs import AgentNeeds

__all__ = ("AgentScore", "ScoreTable", "Value")

_FEWEST = 5

Column = tuple[str, str]
"""Series and mode (`thinking` or `direct`)."""


@dataclass(frozen=True)
class Value:
    """A score in one series and mode: where it comes from, and whether it is estimated."""

    score: float
    source: str
    estimated: bool = False


@dataclass(frozen=True)
class AgentScore:
    """A model's score for an agent.

    Attributes:
        total: Weighted mean over the agent's benchmarks, in percent, after the loss of the checkpoint's format.
        main: The benchmark that weighs most.
        values: What stands behind it, by benchmark.
        thinking: Whether it is reached by thinking.
        below: Benchmarks whose minimum is not reached.
    """

    total: float
    main: str
    values: Mapping[str, Value]
    thinking: bool
    below: tuple[str, ...] = ()

    @property
    def estimated(self) -> bool:
        """Whether any part is estimated."""
        return any(value.estimated for value in self.values.values())


class ScoreTable:
    """Published and measured scores of all models.

    Args:
        models: Models to compare.
        measured: Own measurements, by model id and (series, mode); they beat published ones.
    """

    def __init__(self, models: Sequence[Model], measured: Mapping[str, Mapping[Column, float]] | None = None) -> None:
        self._models = {model.id: model for model in models}
        self._rows: dict[str, dict[Column, Value]] = {model.id: {} for model in models}
        for model in models:
            rows = self._rows[model.id]
            for row in model.scores:
                key = (series_of(row), mode_of(model, row))
                if key not in rows or row.score < rows[key].score:  # sources disagree upwards: take the lowest
                    rows[key] = Value(row.score, row.source)
        for name, values in (measured or {}).items():
            self._rows.setdefault(name, {}).update(
                {key: Value(score, "measured here") for key, score in values.items()}
            )
        self._estimates: dict[tuple[str, Column], Value] = {}

    @cached_property
    def _columns(self) -> dict[Column, dict[str, float]]:
        columns: dict[Column, dict[str, float]] = {}
        for name, rows in self._rows.items():
            for key, value in rows.items():
                columns.setdefault(key, {})[name] = value.score
        return columns

    def value(self, model: Model, series: str, mode: str) -> Value | None:
        """The model's score in a series and mode; None where nobody has one."""
        if (series, mode) not in self._columns:
            mode = "direct" if mode == "thinking" else "thinking"
        own = self._rows.get(model.id, {}).get((series, mode))
        if own is not None:
            return own
        key = (model.id, (series, mode))
        if key not in self._estimates:
            found = self._estimate(model, (series, mode))
            if found is None:
                return None
            self._estimates[key] = found
        return self._estimates[key]

    def agent_score(self, model: Model, needs: AgentNeeds, loss: float = 0.0) -> AgentScore | None:
        """The model's score for an agent in the better of the modes that the agent allows; None if it has no mode.

        Args:
            model: The model.
            needs: What the agent needs.
            loss: Share that the checkpoint's format costs.
        """
        modes: list[str] = []
        if needs.thinking is not True and not model.serving.always_thinks:
            modes.append("direct")
        if needs.thinking is not False and model.serving.can_think:
            modes.append("thinking")
        scores = [score for mode in modes if (score := self._in_mode(model, needs, mode, loss)) is not None]
        return max(scores, key=lambda score: (not score.below, score.total), default=None)

    def _in_mode(self, model: Model, needs: AgentNeeds, mode: str, loss: float) -> AgentScore | None:
        values: dict[str, Value] = {}
        total = weights = 0.0
        below: list[str] = []
        for series, need in needs.benchmarks.items():
            value = self.value(model, series, mode)
            if value is None:
                return None
            kept = value.score * (1.0 - loss)
            values[series] = Value(kept, value.source, value.estimated)
            total += need.weight * kept
            weights += need.weight
            if need.minimum is not None and kept < need.minimum:
                below.append(series)
        main = max(needs.benchmarks, key=lambda name: needs.benchmarks[name].weight)
        return AgentScore(total / weights, main, values, mode == "thinking", tuple(below))

    def _estimate(self, model: Model, column: Column) -> Value | None:
        target = self._columns.get(column)
        if not target:
            return None
        best: tuple[float, float, str] | None = None
        for other, value in self._rows.get(model.id, {}).items():
            if other == column:
                continue
            source = self._columns[other]
            pairs = [(source[name], score) for name, score in target.items() if name in source]
            found = _line(pairs, value.score)
            if found is not None and (best is None or found[1] < best[1]):
                best = (*found, f"estimated from {other[0]} ({other[1]})")
        if best is None:
            pairs = [(_size(self._models[name]), score) for name, score in target.items() if name in self._models]
            found = _line(pairs, _size(model))
            if found is not None:
                best = (*found, "estimated from the number of parameters")
        if best is None:
            return Value(min(target.values()), "the lowest published score of the series", estimated=True)
        score = min(max(best[0] - best[1], 0.0), max(target.values()))
        return Value(score, best[2], estimated=True)


def _size(model: Model) -> float:
    return math.log10(model.total_b) + math.log10(model.active_b)


def _line(pairs: Sequence[tuple[float, float]], x: float) -> tuple[float, float] | None:
    """Prediction at `x` of the least-squares line (never falling), and the standard deviation it leaves."""
    n = len(pairs)
    if n < _FEWEST:
        return None
    mean_x = sum(a for a, _ in pairs) / n
    mean_y = sum(b for _, b in pairs) / n
    spread = sum((a - mean_x) ** 2 for a, _ in pairs)
    slope = max(0.0, sum((a - mean_x) * (b - mean_y) for a, b in pairs) / spread) if spread > 0 else 0.0
    left = sum((b - mean_y - slope * (a - mean_x)) ** 2 for a, b in pairs)
    return mean_y + slope * (x - mean_x), math.sqrt(left / max(n - 2, 1))
