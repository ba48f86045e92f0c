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
from repertory.planning.solver import solver_module
from repertory.planning.team_needs import TeamNeeds, team_needs
from repertory.planning.together import together_sets

__all__ = ("hundred_agents", "measure_casting")

_SERIES = ("gpqa_diamond", "ifeval", "mmlu_pro", "swe_bench_verified", "tau2_bench", "livecodebench_v6", "bfcl_v3")
_REPEATS = 5


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
    """Seconds, status and gap of both problems. Wall time depends on what else runs; processor time less so."""
    solver_module()
    eight = profile_named("8xa100-80gb", catalog)
    repeats = [_measure(catalog, eight, team_needs("engineering")) for _ in range(_REPEATS)]
    mixed = profile_named("256xrtx4090+256xa100-80gb", catalog)
    agents = hundred_agents()
    work = {name: AgentWork() for name in agents}
    many = TeamNeeds("hundred", agents, work, "agent00", "agent99", fan_out=False)
    return {
        f"engineering x whole catalog x 8 GPUs, fastest of {_REPEATS}": min(repeats, key=lambda row: row["wall_s"]),
        f"engineering x whole catalog x 8 GPUs, slowest of {_REPEATS}": max(repeats, key=lambda row: row["wall_s"]),
        "100 agents x 512 GPUs": _measure(catalog, mixed, many),
    }


def _measure(catalog: Catalog, profile: DeviceProfile, team: TeamNeeds) -> dict[str, Any]:
    began, used = time.monotonic(), time.process_time()
    table = ScoreTable(catalog.models)
    found = candidates(catalog.models, profile, team.agents, team.work, table, fan_out=team.fan_out)
    listed = time.process_time()
    result = cast(found, profile, team.agents, together_sets(list(team.agents), team.work), limit_s=55.0)
    return {
        "candidates": len(found),
        "wall_s": round(time.monotonic() - began, 2),
        "processor_s": round(time.process_time() - used, 2),
        "of_it_listing_s": round(listed - used, 2),
        "status": result.status,
        "gap": round(result.gap, 6),
        "instances": len(result.placements),
        "score": round(result.score, 3),
    }
