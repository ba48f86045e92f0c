"""What must hold of every cast: everyone plays once, no device is overfull, and more never makes it worse."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.catalog.formats import FORMATS
from repertory.catalog.loader import Choice, load_catalog
from repertory.catalog.profiles import DeviceProfile, Slot
from repertory.catalog.records import Checkpoint
from repertory.planning.candidates import Candidate
from repertory.planning.casting import Casting, cast
from repertory.planning.instance import instance_of
from repertory.planning.master import score_units
from repertory.planning.needs import AgentNeeds, BenchmarkNeed
from repertory.planning.packing import memory_of
from repertory.planning.scores import AgentScore

pytest.importorskip("ortools")

CATALOG = load_catalog()
CARD = CATALOG.find_device("rtx4090")
SEARCH = settings(max_examples=25, deadline=None)


def profile_of(memories: list[float]) -> DeviceProfile:
    slots = tuple(
        Slot(name=f"gpu{i}", device=CARD, memory_gib=size + 0.35, budget_gib=size) for i, size in enumerate(memories)
    )
    return DeviceProfile(name="test", slots=slots)


@st.composite
def pools(draw: st.DrawFn, names: list[str]) -> list[Candidate]:
    found: list[Candidate] = []
    for index in range(draw(st.integers(1, 4))):
        able = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        choice = Choice(
            CATALOG.models[index], FORMATS["bf16"], Checkpoint(repo=f"repo-{index}", format="bf16", source="t")
        )
        span = draw(st.sampled_from([1, 1, 2]))
        slot_context = draw(st.sampled_from([None, 4096]))
        found.append(
            Candidate(
                choice=choice,
                instance=instance_of(choice, tensor_parallel=span),
                device=CARD,
                kind=CARD.id,
                span=span,
                fixed_mib=draw(st.integers(500, 15000)),
                agent_mib={name: draw(st.integers(0, 5000)) for name in able},
                scores={
                    name: AgentScore(draw(st.integers(4000, 9500)) / 100, "ifeval", {}, thinking=False) for name in able
                },
                slot_context=slot_context,
                keeps_slots=slot_context is not None and draw(st.booleans()),
            )
        )
    return found


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Candidate], list[float], dict[str, AgentNeeds]]:
    names = [f"a{i}" for i in range(draw(st.integers(1, 4)))]
    agents = {
        name: AgentNeeds(benchmarks={"ifeval": BenchmarkNeed()}, importance=draw(st.sampled_from([1.0, 2.0])))
        for name in names
    }
    memories = draw(st.lists(st.sampled_from([8.0, 16.0, 24.0]), min_size=1, max_size=4))
    return draw(pools(names)), memories, agents


def score_of(casting: Casting, agents: dict[str, AgentNeeds]) -> int:
    return sum(
        score_units(item.candidate, name, agents[name].importance)
        for item in casting.placements
        for name in item.agents
    )


@SEARCH
@given(problems())
def test_everyone_plays_once_and_no_device_is_overfull(
    problem: tuple[list[Candidate], list[float], dict[str, AgentNeeds]],
) -> None:
    pool, memories, agents = problem
    profile = profile_of(memories)
    casting = cast(pool, profile, agents, limit_s=20)
    assert casting.status in ("optimal", "infeasible")
    if casting.status == "infeasible":
        assert not casting.placements
        return
    assert sorted(name for item in casting.placements for name in item.agents) == sorted(agents)
    for d, taken in memory_of(casting.placements).items():
        assert taken <= profile.slots[d].room_mib
    for item in casting.placements:
        assert len(set(item.slots)) == item.candidate.span
        assert item.load_mib == item.candidate.load_mib(item.agents, (frozenset(agents),))


@SEARCH
@given(problems())
def test_no_single_move_scores_more(problem: tuple[list[Candidate], list[float], dict[str, AgentNeeds]]) -> None:
    """Moving one agent to another running instance that has room for it never scores more."""
    pool, memories, agents = problem
    profile = profile_of(memories)
    casting = cast(pool, profile, agents, limit_s=20)
    everyone = (frozenset(agents),)
    for name, now in casting.by_agent.items():
        for item in casting.placements:
            if item is now or name not in item.candidate.scores:
                continue
            load = item.candidate.load_mib([*item.agents, name], everyone)
            fewer = [other for other in now.agents if other != name]
            freed = now.load_mib - (now.candidate.load_mib(fewer, everyone) if fewer else 0)
            taken = memory_of(casting.placements)
            room = all(
                taken[d] - item.load_mib + load - (freed if d in now.slots else 0) <= profile.slots[d].room_mib
                for d in item.slots
            )
            if room:
                gained = item.candidate.scores[name].total - now.candidate.scores[name].total
                assert gained <= 1e-3


@SEARCH
@given(problems(), st.sampled_from([8.0, 24.0]))
def test_another_device_never_hurts(
    problem: tuple[list[Candidate], list[float], dict[str, AgentNeeds]], size: float
) -> None:
    pool, memories, agents = problem
    before = cast(pool, profile_of(memories), agents, limit_s=20)
    after = cast(pool, profile_of([*memories, size]), agents, limit_s=20)
    if before.status == "optimal":
        assert after.status == "optimal"
        assert score_of(after, agents) >= score_of(before, agents)


@SEARCH
@given(problems(), st.integers(1, 6000))
def test_a_larger_need_never_scores_more(
    problem: tuple[list[Candidate], list[float], dict[str, AgentNeeds]], more: int
) -> None:
    pool, memories, agents = problem
    name = next(iter(agents))
    larger = [
        replace(c, agent_mib={**c.agent_mib, name: c.agent_mib[name] + more}) if name in c.agent_mib else c
        for c in pool
    ]
    before = cast(pool, profile_of(memories), agents, limit_s=20)
    after = cast(larger, profile_of(memories), agents, limit_s=20)
    assert before.status == "optimal" or after.status == "infeasible"
    if after.status == "optimal":
        assert score_of(after, agents) <= score_of(before, agents)


def test_processes_and_hash_seeds_agree() -> None:
    """The same question gets the same plan in other processes, whatever their hash seed."""
    script = (
        "import json, sys\n"
        "from repertory.catalog.loader import load_catalog\n"
        "from repertory.catalog.profiles import profile_named\n"
        "from repertory.planning.plan import make_plan\n"
        "from repertory.planning.team_needs import team_needs\n"
        "catalog = load_catalog()\n"
        "plan = make_plan(team_needs('engineering'), profile_named('2xrtx4090', catalog), catalog).document()\n"
        "plan.pop('solve_s')\n"
        "json.dump(plan, sys.stdout)\n"
    )
    answers: list[object] = []
    for seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        answers.append(json.loads(done.stdout))
    assert answers[0] == answers[1]
