import pytest
from pydantic import ValidationError

from repertory.catalog.loader import load_catalog
from repertory.errors import UsageError
from repertory.planning.needs import AgentNeeds, BenchmarkNeed
from repertory.planning.scores import ScoreTable
from repertory.planning.team_needs import TEAMS, team_needs

CATALOG = load_catalog()
TABLE = ScoreTable(CATALOG.models)


def needs(series: str, minimum: float | None = None, thinking: bool | None = None) -> AgentNeeds:
    return AgentNeeds(benchmarks={series: BenchmarkNeed(minimum=minimum)}, thinking=thinking)


def test_a_published_score_is_taken_as_it_is() -> None:
    value = TABLE.value(CATALOG.find_model("Qwen3-8B"), "gpqa_diamond", "thinking")
    assert value is not None
    assert (value.score, value.estimated) == (62.0, False)


def test_a_missing_score_is_estimated_with_a_margin_and_never_above_the_best() -> None:
    best = max(
        value.score
        for model in CATALOG.models
        if (value := TABLE.value(model, "swe_bench_verified", "thinking")) and not value.estimated
    )
    guessed = [
        value
        for model in CATALOG.models
        if model.scores and (value := TABLE.value(model, "swe_bench_verified", "thinking")) and value.estimated
    ]
    assert len(guessed) > 10
    assert all(0 <= value.score <= best and value.source for value in guessed)


def test_nothing_is_dropped_for_a_missing_row() -> None:
    """Every model with any score can be compared in every benchmark that the engineering team asks for."""
    for agent in TEAMS["engineering"].agents.values():
        for model in CATALOG.models:
            if model.scores:
                assert TABLE.agent_score(model, agent) is not None, model.id


def test_modes_follow_the_agent() -> None:
    model = CATALOG.find_model("Qwen3-8B")
    slow, quick = (TABLE.agent_score(model, needs("gpqa_diamond", thinking=t)) for t in (True, False))
    assert slow is not None
    assert quick is not None
    assert slow.thinking
    assert not quick.thinking
    assert slow.total > quick.total
    assert TABLE.agent_score(CATALOG.find_model("Qwen2.5-Coder-7B-Instruct"), needs("ifeval", thinking=True)) is None
    assert TABLE.agent_score(CATALOG.find_model("MiniMax-M2"), needs("ifeval", thinking=False)) is None


def test_a_minimum_that_is_not_reached_is_named() -> None:
    score = TABLE.agent_score(CATALOG.find_model("Qwen3-8B"), needs("gpqa_diamond", minimum=90))
    assert score is not None
    assert score.below == ("gpqa_diamond",)


def test_a_coarser_checkpoint_scores_less() -> None:
    model = CATALOG.find_model("Qwen3-8B")
    full, lossy = (TABLE.agent_score(model, needs("ifeval"), loss) for loss in (0.0, 0.015))
    assert full is not None
    assert lossy is not None
    assert lossy.total == pytest.approx(full.total * 0.985)


def test_own_measurements_beat_published_scores() -> None:
    table = ScoreTable(CATALOG.models, {"Qwen/Qwen3-8B": {("gpqa_diamond", "thinking"): 12.5}})
    value = table.value(CATALOG.find_model("Qwen3-8B"), "gpqa_diamond", "thinking")
    assert value is not None
    assert (value.score, value.source) == (12.5, "measured here")


def test_needs_refuse_unknown_benchmarks() -> None:
    with pytest.raises(ValidationError, match="gpqa_diamond"):
        needs("iq_test")
    with pytest.raises(ValidationError, match="weight"):
        AgentNeeds(benchmarks={"ifeval": BenchmarkNeed(weight=0)})


def test_both_teams_have_needs() -> None:
    assert len(team_needs("coaching").agents) == 6
    assert len(team_needs("engineering").agents) == 9
    with pytest.raises(UsageError, match="coaching"):
        team_needs("chess")
