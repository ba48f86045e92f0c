"""How long casting takes: the engineering team on eight devices, and a hundred agents on 512."""

import random
import time
from typing import Any

from repertory.catalog.loader import Catalog
from repertory.catalog.profiles import DeviceProfile, profile_named
from repertory.planning.candidates import candidates
from repertory.planning.casting import cast
from repertory.planning.needs import AgentNeeds, AgentWork, BenchmarkNeed
from repertory.planning.scores import ScoreTable
from repertory.planning.team_needs import team_needs
from repertory.planning.together import together_sets

__all__ = ("hundred_agents", "measure_casting")

_SERIES = ("gpqa_diamond", "ifeval", "mmlu_pro", "swe_bench_verified", "tau2_bench", "livecodebench_v6", "bfcl_v3")


def hundred_agents() -> dict[str, AgentNeeds]:
    """A hundred agents with mixed needs, always the same."""
    draw = random.Random(5)
    agents: dict[str, AgentNeeds] = {}
    for index in range(100):
        series = draw.sample(_SERIES, 2)
        agents[f"agent{index:02d}"] = AgentNeeds(
            benchmarks={series[0]: BenchmarkNeed(weight=2.0), series[1]: BenchmarkNeed(weight=1.0)},
            context_tokens=draw.choice([8192, 16384, 32768]),
            concurrency=draw.choice([4, 16, 64]),
            tool_calling=draw.random() < 0.5,
            thinking=draw.choice([None, None, False]),
            importance=draw.choice([1.0, 1.0, 2.0]),
        )
    return agents


def measure_casting(catalog: Catalog) -> dict[str, Any]:
    """Seconds, status and gap of both problems."""
    results: dict[str, Any] = {}
    team = team_needs("engineering")
    results["engineering x whole catalog x 8 GPUs"] = _measure(
        catalog, profile_named("8xa100-80gb", catalog), team.agents, team.work
    )
    results["engineering again (solver loaded)"] = _measure(
        catalog, profile_named("8xa100-80gb", catalog), team.agents, team.work
    )
    mixed = profile_named("256xrtx4090+256xa100-80gb", catalog)
    results["100 agents x 512 GPUs"] = _measure(catalog, mixed, hundred_agents(), {})
    return results


def _measure(
    catalog: Catalog, profile: DeviceProfile, agents: dict[str, AgentNeeds], work: dict[str, AgentWork]
) -> dict[str, Any]:
    began = time.monotonic()
    found = candidates(catalog.models, profile, agents, work, ScoreTable(catalog.models))
    listed = time.monotonic()
    result = cast(found, profile, agents, together_sets(list(agents), work), limit_s=55.0)
    return {
        "candidates": len(found),
        "list_s": round(listed - began, 2),
        "solve_s": round(result.solve_s, 2),
        "status": result.status,
        "gap": round(result.gap, 6),
        "instances": len(result.placements),
        "score": round(result.score, 3),
    }
