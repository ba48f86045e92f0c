import itertools
import random
from dataclasses import dataclass

import pytest

from repertory.catalog.formats import FORMATS
from repertory.catalog.loader import Choice, load_catalog
from repertory.catalog.profiles import DeviceProfile, Slot
from repertory.catalog.records import Checkpoint
from repertory.planning.candidates import Candidate
from repertory.planning.casting import cast
from repertory.planning.instance import instance_of
from repertory.planning.master import score_units
from repertory.planning.needs import AgentNeeds, BenchmarkNeed
from repertory.planning.packing import blocks_of
from repertory.planning.scores import AgentScore
from repertory.planning.together import Together

pytest.importorskip("ortools")


@dataclass(frozen=True)
class Problem:
    pool: list[Candidate]
    profile: DeviceProfile
    agents: dict[str, AgentNeeds]
    together: Together


def random_problem(seed: int) -> Problem:
    draw = random.Random(seed)
    catalog = load_catalog()
    names = [f"a{i}" for i in range(draw.randint(1, 4))]
    devices = draw.randint(1, 4)
    base = catalog.find_device("rtx4090")
    memory = draw.choice([8.0, 16.0, 24.0])
    slots = tuple(
        Slot(name=f"gpu{i}", device=base, node=0, memory_gib=memory + 0.35, budget_gib=memory) for i in range(devices)
    )
    agents = {
        name: AgentNeeds(benchmarks={"ifeval": BenchmarkNeed()}, importance=draw.choice([1.0, 1.5])) for name in names
    }
    pool: list[Candidate] = []
    for index in range(draw.randint(1, 3)):
        span = draw.choice([1, 1, 2]) if devices > 1 else 1
        able = [name for name in names if draw.random() < 0.85]
        if not able:
            continue
        model = catalog.models[index]
        choice = Choice(model, FORMATS["bf16"], Checkpoint(repo=f"repo-{index}", format="bf16", source="test"))
        pool.append(
            Candidate(
                choice=choice,
                instance=instance_of(choice, "vllm", tensor_parallel=span),
                device=base,
                kind=base.id,
                span=span,
                fixed_mib=draw.randint(1000, 14000),
                agent_mib={name: draw.randint(50, 4000) for name in able},
                scores={name: AgentScore(round(draw.uniform(40, 95), 2), "ifeval", {}, False) for name in able},
            )
        )
    together: Together = (frozenset(names),)
    if len(names) > 2 and draw.random() < 0.3:
        together = (frozenset(names[:2]), frozenset(names[1:]))
    return Problem(pool, DeviceProfile(name="test", slots=slots), agents, together)


def brute_force(problem: Problem) -> tuple[int, int, int] | None:
    """Score units, instances and MiB of the best plan, or None where there is none."""
    options = [(c, block) for c in problem.pool for block in blocks_of(problem.profile.slots, c.kind, c.span)]
    choices = [[o for o, (c, _) in enumerate(options) if name in c.scores] for name in problem.agents]
    names = list(problem.agents)
    best: tuple[int, int, int] | None = None
    for places in itertools.product(*choices):
        loads = dict.fromkeys(range(len(problem.profile.slots)), 0)
        memory = 0
        for option in set(places):
            candidate, block = options[option]
            mine = [name for name, place in zip(names, places, strict=True) if place == option]
            load = candidate.load_mib(mine, problem.together)
            memory += load * len(block)
            for d in block:
                loads[d] += load
        if any(load > problem.profile.slots[d].room_mib for d, load in loads.items()):
            continue
        score = sum(
            score_units(options[o][0], name, problem.agents[name].importance)
            for name, o in zip(names, places, strict=True)
        )
        answer = (score, -len(set(places)), -memory)
        best = answer if best is None else max(best, answer)
    return None if best is None else (best[0], -best[1], -best[2])


@pytest.mark.parametrize("block", range(10))
def test_brute_force_agrees(block: int) -> None:
    """Of 200 random problems (20 per block) the program finds the same scores, instances and memory as trying all."""
    for seed in range(block * 20, block * 20 + 20):
        problem = random_problem(seed)
        expected = brute_force(problem)
        result = cast(problem.pool, problem.profile, problem.agents, problem.together, limit_s=20)
        if expected is None:
            assert result.status == "infeasible", seed
            continue
        assert result.status == "optimal", seed
        found = sum(
            score_units(item.candidate, agent, problem.agents[agent].importance)
            for item in result.placements
            for agent in item.agents
        )
        assert (found, len(result.placements), result.memory_mib) == expected, seed


def test_no_device_is_overfull() -> None:
    problem = random_problem(11)
    result = cast(problem.pool, problem.profile, problem.agents, problem.together)
    taken = dict.fromkeys(range(len(problem.profile.slots)), 0)
    for item in result.placements:
        for d in item.slots:
            taken[d] += item.load_mib
    assert result.placements
    assert all(load <= problem.profile.slots[d].room_mib for d, load in taken.items())


def test_same_question_same_answer() -> None:
    problem = random_problem(23)
    first = cast(problem.pool, problem.profile, problem.agents, problem.together)
    second = cast(problem.pool, problem.profile, problem.agents, problem.together)
    assert [(p.candidate.name, p.slots, p.agents) for p in first.placements] == [
        (p.candidate.name, p.slots, p.agents) for p in second.placements
    ]


def test_when_the_time_is_up_there_is_still_a_plan_that_holds_and_its_gap_is_true() -> None:
    plans = 0
    for seed in range(60):
        problem = random_problem(seed)
        hasty = cast(problem.pool, problem.profile, problem.agents, problem.together, limit_s=0.0)
        best = cast(problem.pool, problem.profile, problem.agents, problem.together, limit_s=20)
        if hasty.status != "feasible":
            continue
        plans += 1
        assert best.score <= hasty.score / (1 - hasty.gap) + 1e-6, seed
        assert set(hasty.by_agent) == set(problem.agents)
        taken = dict.fromkeys(range(len(problem.profile.slots)), 0)
        for item in hasty.placements:
            for d in item.slots:
                taken[d] += item.load_mib
        assert all(load <= problem.profile.slots[d].room_mib for d, load in taken.items()), seed
    assert plans >= 10
