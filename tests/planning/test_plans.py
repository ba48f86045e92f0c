from dataclasses import replace
from typing import Any

import pytest

from repertory.catalog.loader import load_catalog
from repertory.catalog.profiles import profile_named
from repertory.planning.compare import compare
from repertory.planning.needs import AgentNeeds, AgentWork, BenchmarkNeed
from repertory.planning.next_best import without_its_model
from repertory.planning.plan import Plan, make_plan
from repertory.planning.published import BUDGET_GB, check_published_plan
from repertory.planning.team_needs import TeamNeeds, team_needs
from repertory.planning.together import together_sets
from repertory.planning.turn_time import turn_time

pytest.importorskip("ortools")

CATALOG = load_catalog()


def plan_for(team: str, devices: str, **options: Any) -> Plan:
    return make_plan(team_needs(team), profile_named(devices, CATALOG), CATALOG, **options)


def team_of(**agents: AgentNeeds) -> TeamNeeds:
    names = list(agents)
    return TeamNeeds("test", agents, {name: AgentWork() for name in names}, names[0], names[-1])


@pytest.mark.parametrize(
    ("team", "devices", "at_least"),
    [
        ("engineering", "rtx4090", 75.0),
        ("engineering", "2xrtx4090", 80.0),
        ("engineering", "a100-211gb", 82.0),
        ("engineering", "8xa100-80gb", 84.0),
        ("coaching", "2xrtx4090", 75.0),
        ("coaching", "a40-pod", 78.0),
    ],
)
def test_seed_tiers_are_proven_and_fit(team: str, devices: str, at_least: float) -> None:
    """Every published tier has a proven plan whose instances fit their devices; mean scores do not fall.

    So no two models evict each other from one card (field report G18).
    """
    plan = plan_for(team, devices)
    assert plan.casting.status == "optimal"
    assert set(plan.casting.by_agent) == set(team_needs(team).agents)
    document: Any = plan.document()
    for row in document["memory"]:
        assert row["used_gib"] <= row["budget_gib"]
        assert row["used_gib"] <= row["total_gib"] - 0.35
    for instance in document["instances"]:
        parts = instance["memory"]
        total = sum(value for key, value in parts.items() if key != "total_gib")
        assert total == pytest.approx(parts["total_gib"], abs=0.02)
        assert parts["overhead_gib"] >= 0
    agents = team_needs(team).agents
    weight = sum(needs.importance for needs in agents.values())
    assert plan.casting.score / weight >= at_least
    assert document["turn"]["first_reply_s"] <= document["turn"]["reply_s"]


def test_nine_agents_share_one_card() -> None:
    plan = plan_for("engineering", "rtx4090")
    assert 1 <= len(plan.casting.placements) <= 4
    assert len(plan_for("engineering", "rtx4090", min_instances=3).casting.placements) == 3


def test_the_same_plan_every_time() -> None:
    first, second = (plan_for("coaching", "rtx4090").document() for _ in range(2))
    for document in (first, second):
        document.pop("solve_s")
    assert first == second


def test_it_takes_fewer_devices_than_one_instance_per_agent() -> None:
    rows = {row.name: row for row in compare(plan_for("engineering", "8xa100-80gb"))}
    ours, each, one = (rows[name] for name in ("repertory", "one instance per agent", "one model for all"))
    assert ours.devices is not None
    assert ours.fits
    assert each.devices is None or each.devices >= 2.8 * ours.devices
    assert each.score == pytest.approx(ours.score)
    assert one.score < ours.score


def test_the_published_plan_does_not_fit_its_memory() -> None:
    rows = check_published_plan(CATALOG)
    assert sum(row.claimed_gb for row in rows) == BUDGET_GB
    assert 735 < sum(row.flat_gb for row in rows) < 765
    assert sum(row.real_gb for row in rows) > 3.5 * BUDGET_GB
    assert [round(row.bits_claimed) for row in rows] == [1, 1, 1, 4, 4, 4]


def test_every_number_has_a_reason() -> None:
    document: Any = plan_for("coaching", "2xrtx4090").document()
    for agent in document["agents"].values():
        assert agent["why"]
        assert agent["next_best"]["model"] != agent["model"]
        assert all(value["source"] for value in agent["values"].values())
    for instance in document["instances"]:
        assert "--port" in instance["command"]


def test_swapping_helps_where_models_do_not_fit_together() -> None:
    plain, swapped = plan_for("engineering", "rtx4090"), plan_for("engineering", "rtx4090", swap=True, limit_s=20)
    assert swapped.casting.score > plain.casting.score
    sleepers = [item for item in swapped.casting.placements if not item.resident]
    assert sleepers
    assert swapped.turn is not None
    assert swapped.turn.swap_s > 0
    resident = sum(item.load_mib for item in swapped.casting.placements if item.resident)
    assert resident + max(item.load_mib for item in sleepers) <= swapped.profile.slots[0].room_mib


def test_a_minimum_that_nobody_reaches_is_named() -> None:
    needs = AgentNeeds(benchmarks={"gpqa_diamond": BenchmarkNeed(minimum=99)})
    plan = make_plan(team_of(sage=needs), profile_named("rtx4090", CATALOG), CATALOG)
    assert not plan.feasible
    assert any("sage" in note and "gpqa_diamond of at least 99" in note for note in plan.notes)


def test_needs_that_clash_only_together_are_named() -> None:
    """Each of the two agents fits the card, both do not; the third has no part in it."""
    strict = {
        "coder": AgentNeeds(benchmarks={"humaneval": BenchmarkNeed(minimum=90)}, thinking=False, context_tokens=512),
        "sage": AgentNeeds(benchmarks={"gpqa_diamond": BenchmarkNeed(minimum=80)}, thinking=True, context_tokens=512),
        "helper": AgentNeeds(benchmarks={"ifeval": BenchmarkNeed()}, context_tokens=512),
    }
    plan = make_plan(team_of(**strict), profile_named("rtx4090", CATALOG), CATALOG)
    assert not plan.feasible
    note = plan.notes[0]
    assert "coder" in note
    assert "sage" in note
    assert "helper" not in note
    assert "GiB" in note


def test_agents_that_wait_for_each_other_do_not_need_memory_at_once() -> None:
    work = {"b": AgentWork(after=("a",)), "c": AgentWork(after=("a",)), "d": AgentWork(after=("b", "c"))}
    assert set(together_sets(["a", "b", "c", "d"], work)) == {frozenset("a"), frozenset("bc"), frozenset("d")}
    with pytest.raises(ValueError, match="circle"):
        together_sets(["a", "b"], {"a": AgentWork(after=("b",)), "b": AgentWork(after=("a",))})


def test_without_its_model_the_whole_plan_is_not_better() -> None:
    """The cost of the next best is that of a whole plan: the model may not be used by that agent, others keep it."""
    plan = plan_for("engineering", "rtx4090")
    for agent in ("critic", "builder"):
        other = without_its_model(plan, agent)
        assert other.model is not None
        assert other.model != plan.casting.by_agent[agent].candidate.choice.model.id
        assert other.proven
        assert other.score_change < 0
        assert f"{other.score_change:+.1f}" in other.words


def test_no_plan_without_the_only_model() -> None:
    plan = plan_for("coaching", "rtx4090", only="Qwen3-8B")
    assert without_its_model(plan, "coach").model is None


def test_instances_on_one_device_share_its_time() -> None:
    """Two agents that run at once on two instances: on one card each is slower than on a card of its own."""
    alike = {name: AgentNeeds(benchmarks={"ifeval": BenchmarkNeed()}, context_tokens=1024) for name in ("a", "b")}
    team = team_of(**alike)
    plan = make_plan(team, profile_named("rtx4090", CATALOG), CATALOG, only="Qwen3-4B", min_instances=2)
    first, second = plan.casting.placements
    shared, apart = (
        turn_time([first, replace(second, slots=(slot,))], team.agents, team.work, "a", "b").reply_s for slot in (0, 1)
    )
    assert shared == pytest.approx(2 * apart, rel=0.3)
    assert shared > 1.5 * apart
