"""Why there is no plan, in words: the smallest set of needs that can not be met together."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence

from repertory.catalog.profiles import DeviceProfile
from repertory.catalog.records import Model
from repertory.planning.candidates import Candidate, candidates, prune
from repertory.planning.casting import capacities, cast, of_these
from repertory.planning.master import MasterResult, solve_master
from repertory.planning.needs import AgentNeeds, AgentWork, BenchmarkNeed
from repertory.planning.scores import ScoreTable
from repertory.planning.swap import cast_with_swaps
from repertory.planning.team_needs import TeamNeeds
from repertory.planning.together import Together, together_sets

__all__ = ("smallest_clash", "ways_out", "why_infeasible")

_LIMIT_S = 5.0
_SEARCH_S = 10.0
_PLANS = ("optimal", "feasible")

Relaxer = Callable[[AgentNeeds], dict[str, object]]
"""Gives the fields that take one need away."""


def why_infeasible(
    models: Sequence[Model],
    profile: DeviceProfile,
    team: TeamNeeds,
    table: ScoreTable,
    found: Sequence[Candidate],
) -> list[str]:
    """Sentences that say which needs clash: of single agents first, else of the smallest set of agents."""
    agents = team.agents
    alone = [name for name in agents if not any(name in candidate.scores for candidate in found)]
    if alone:
        return [_one_agent(models, profile, name, agents[name], team.work, table) for name in alone]
    return [_together(profile, agents, found, together_sets(list(agents), team.work))]


def ways_out(
    models: Sequence[Model],
    profile: DeviceProfile,
    team: TeamNeeds,
    table: ScoreTable,
    found: Sequence[Candidate],
    *,
    swap: bool,
) -> list[str]:
    """Options of the command line with which there is a plan."""
    notes: list[str] = []
    if not swap and cast_with_swaps(found, profile, team.agents, team.work, limit_s=_LIMIT_S).status in _PLANS:
        notes.append("with --swap there is a plan: instances take turns on a device")
    slow = team.without_latency()
    if slow != team:
        able = candidates(models, profile, slow.agents, slow.work, table, fan_out=slow.fan_out)
        together = together_sets(list(slow.agents), slow.work)
        if cast(able, profile, slow.agents, together, limit_s=_LIMIT_S).status in _PLANS:
            notes.append("with --ignore-latency there is a plan, whose agents are slower than they need")
    return notes


def _one_agent(
    models: Sequence[Model],
    profile: DeviceProfile,
    name: str,
    needs: AgentNeeds,
    work: Mapping[str, AgentWork],
    table: ScoreTable,
) -> str:
    """Which of an agent's needs must give way: each need alone first, then pairs."""
    relaxed = _relaxations(needs)
    words = list(relaxed)

    def serves(changes: Sequence[str]) -> Candidate | None:
        changed = needs
        for word in changes:
            changed = changed.model_copy(update=relaxed[word](changed))
        able = candidates(models, profile, {name: changed}, work, table)
        return max(able, key=lambda c: c.scores[name].total, default=None)

    for count in range(1, len(words) + 1):
        for given_up in itertools.combinations(words, count):
            best = serves(given_up)
            if best is None:
                continue
            would = f"{best.choice.model.name} ({best.choice.format.name})"
            score = f"{best.scores[name].total:.1f}"
            if count == 1:
                return (
                    f"{name}: no model that runs on {profile.name} has {given_up[0]}; without that, {would} would play "
                    f"it with {score}"
                )
            needs_words = f"{', '.join(given_up[:-1])} and {given_up[-1]}"
            return (
                f"{name}: on {profile.name} no model has any of {needs_words}; without all of these, {would} would "
                f"play it with {score}"
            )
    which = (
        f"{models[0].name} does not fit {profile.name}"
        if len(models) == 1
        else (f"no model of the catalog fits {profile.name}")
    )
    return f"{name}: {which} at all, whatever the needs"


def _relaxations(needs: AgentNeeds) -> dict[str, Relaxer]:
    found: dict[str, Relaxer] = {}
    for series, need in needs.benchmarks.items():
        if need.minimum is not None:
            found[f"{series} of at least {need.minimum:g}"] = _without_minimum(series)
    if needs.tool_calling:
        found["tool calling"] = lambda _: {"tool_calling": False}
    if needs.thinking is not None:
        found["thinking" if needs.thinking else "answers without thinking"] = lambda _: {"thinking": None}
    found[f"room for a context of {needs.context_tokens:,} tokens"] = lambda n: {
        "context_tokens": min(n.context_tokens, 256)
    }
    if needs.concurrency > 1:
        found[f"room for {needs.concurrency} requests at once"] = lambda _: {"concurrency": 1}
    if needs.min_decode_tok_s is not None:
        found[f"a speed of {needs.min_decode_tok_s:g} tokens per second"] = lambda _: {"min_decode_tok_s": None}
    if needs.max_first_token_s is not None:
        found[f"its first token within {needs.max_first_token_s:g} s"] = lambda _: {"max_first_token_s": None}
    return found


def _without_minimum(series: str) -> Relaxer:
    def drop(needs: AgentNeeds) -> dict[str, object]:
        benchmarks = dict(needs.benchmarks)
        benchmarks[series] = BenchmarkNeed(weight=benchmarks[series].weight)
        return {"benchmarks": benchmarks}

    return drop


def _together(
    profile: DeviceProfile, agents: Mapping[str, AgentNeeds], found: Sequence[Candidate], together: Together
) -> str:
    """The smallest set of agents that do not fit together."""
    until = time.monotonic() + _SEARCH_S

    def fits(names: Sequence[str]) -> bool:
        chosen = {name: agents[name] for name in names}
        return cast(found, profile, chosen, together, limit_s=_LIMIT_S).status in _PLANS

    core, smallest = smallest_clash(list(agents), fits, lambda: time.monotonic() < until)
    pool = prune(of_these(found, {name: agents[name] for name in core}), core)
    sets = tuple(group & frozenset(core) for group in together)
    least = solve_master(pool, dict.fromkeys(core, 1.0), capacities(profile), sets, limit_s=_LIMIT_S, memory_only=True)
    have = sum(slot.room_mib for slot in profile.slots) / 1024
    words = f"{', '.join(core)} can not be served together on {profile.name}"
    if least.plays:
        gib = _gib_of(least, pool, sets)
        words += f": they need at least {gib:.1f} GiB, and it has {have:.1f} GiB to use"
        if gib <= have:
            words += ", which can not be divided so that each instance fits its devices"
    rest = "no smaller set of agents clashes" if smallest else "without any one of them the others fit"
    return f"{words}; {rest}"


def _gib_of(least: MasterResult, pool: Sequence[Candidate], sets: Together) -> float:
    """Memory of an answer of the program, over all devices."""
    total = 0.0
    for j, count in least.uses.items():
        mine = [agent for agent, i in least.plays.items() if i == j]
        total += pool[j].span * (pool[j].load_mib(mine, sets) + (count - 1) * pool[j].fixed_mib)
    return total / 1024


def smallest_clash(
    names: Sequence[str], fits: Callable[[Sequence[str]], bool], time_left: Callable[[], bool] = lambda: True
) -> tuple[list[str], bool]:
    """The smallest set of names that does not fit, and whether it is proven that none is smaller.

    One name after the other is left out first, which gives a set from which none can be left out; then all smaller
    sets are tried, the small ones first.

    Args:
        names: All of them, which do not fit together.
        fits: Whether a set does; what fits a set fits its parts.
        time_left: Asked before each set of the second part.
    """
    core = list(names)
    for name in names:
        rest = [other for other in core if other != name]
        if rest and not fits(rest):
            core = rest
    for size in range(1, len(core)):
        for some in itertools.combinations(names, size):
            if not time_left():
                return core, False
            if not fits(some):
                return list(some), True
    return core, True
