import itertools
import random
from collections.abc import Sequence

import pytest

from repertory.catalog.loader import load_catalog
from repertory.catalog.profiles import profile_named
from repertory.planning.clash import smallest_clash
from repertory.planning.needs import AgentNeeds, AgentWork, BenchmarkNeed
from repertory.planning.plan import make_plan
from repertory.planning.team_needs import TeamNeeds, team_needs

CATALOG = load_catalog()


@pytest.mark.parametrize("seed", range(60))
def test_the_smallest_set_agrees_with_trying_all(seed: int) -> None:
    """Random sizes and capacities, and random pairs that never go together: no set that clashes is smaller."""
    draw = random.Random(seed)
    names = [f"a{i}" for i in range(draw.randint(1, 7))]
    size = {name: draw.randint(1, 10) for name in names}
    apart = [set(draw.sample(names, 2)) for _ in range(draw.randint(0, 2))] if len(names) > 1 else []
    capacity = draw.randint(0, 30)

    def fits(some: Sequence[str]) -> bool:
        chosen = set(some)
        return sum(size[name] for name in chosen) <= capacity and not any(pair <= chosen for pair in apart)

    if fits(names):
        return
    found, proven = smallest_clash(names, fits)
    assert proven
    assert not fits(found)
    fewest = min(n for n in range(1, len(names) + 1) for some in itertools.combinations(names, n) if not fits(some))
    assert len(found) == fewest


def test_without_time_the_set_has_nothing_to_spare() -> None:
    def fits(some: Sequence[str]) -> bool:
        return not {"a", "b"} <= set(some)

    assert smallest_clash(["a", "b", "c"], fits, lambda: False) == (["a", "b"], False)


def _team(**agents: AgentNeeds) -> TeamNeeds:
    names = list(agents)
    return TeamNeeds("test", agents, {name: AgentWork() for name in names}, names[0], names[-1])


def test_needs_of_one_agent_that_only_clash_together() -> None:
    pytest.importorskip("ortools")
    needs = AgentNeeds(
        benchmarks={"gpqa_diamond": BenchmarkNeed(minimum=99)}, context_tokens=8_000_000, tool_calling=True
    )
    note = make_plan(_team(sage=needs), profile_named("rtx4090", CATALOG), CATALOG).notes[0]
    assert "gpqa_diamond of at least 99" in note
    assert "8,000,000 tokens" in note
    assert "tool calling" not in note, "it could stay"


def test_a_model_that_is_too_large_is_named() -> None:
    pytest.importorskip("ortools")
    plan = make_plan(team_needs("coaching"), profile_named("rtx4090", CATALOG), CATALOG, only="DeepSeek-V3.2")
    assert any("DeepSeek-V3.2 does not fit rtx4090" in note for note in plan.notes)


def test_memory_that_lacks_is_told() -> None:
    pytest.importorskip("ortools")
    plan = make_plan(team_needs("coaching"), profile_named("rtx4090", CATALOG), CATALOG, only="Qwen3-32B")
    assert not plan.feasible
    assert "need at least" in plan.notes[0]
    assert "need at least 0.0" not in plan.notes[0]


def test_the_option_that_helps_is_named() -> None:
    pytest.importorskip("ortools")
    fast = AgentNeeds(benchmarks={"ifeval": BenchmarkNeed()}, min_decode_tok_s=1e6)
    plan = make_plan(_team(a=fast), profile_named("rtx4090", CATALOG), CATALOG)
    assert any("--ignore-latency" in note for note in plan.notes)
    assert make_plan(_team(a=fast).without_latency(), profile_named("rtx4090", CATALOG), CATALOG).feasible
