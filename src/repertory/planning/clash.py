"""Why there is no plan, in words: the smallest set of needs that can not be met together."""

from collections.abc import Callable, Mapping, Sequence

from repertory.catalog.profiles import DeviceProfile
from repertory.catalog.records import Model
from repertory.planning.candidates import Candidate, candidates, prune
from repertory.planning.casting import capacities, cast, of_these
from repertory.planning.master import solve_master
from repertory.planning.needs import AgentNeeds, AgentWork, BenchmarkNeed
from repertory.planning.scores import ScoreTable
from repertory.planning.together import Together, together_sets

__all__ = ("why_infeasible",)

_LIMIT_S = 5.0

Relaxer = Callable[[AgentNeeds], dict[str, object]]
"""Gives the fields that take one need away."""


def why_infeasible(
    models: Sequence[Model],
    profile: DeviceProfile,
    agents: Mapping[str, AgentNeeds],
    work: Mapping[str, AgentWork],
    table: ScoreTable,
    found: Sequence[Candidate],
) -> list[str]:
    """Sentences that say which needs clash: of single agents first, else of the smallest set of agents."""
    alone = [name for name in agents if not any(name in candidate.scores for candidate in found)]
    if alone:
        return [_one_agent(models, profile, name, agents[name], work, table) for name in alone]
    return [_together(profile, agents, found, together_sets(list(agents), work))]


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

    for word in words:
        best = serves([word])
        if best is not None:
            got = best.scores[name]
            return (
                f"{name}: no model that runs on {profile.name} has {word}; without that, {best.choice.model.name} "
                f"({best.choice.format.name}) would play it with {got.total:.1f}"
            )
    for index, first in enumerate(words):
        for second in words[index + 1 :]:
            if serves([first, second]) is not None:
                return f"{name}: its needs {first} and {second} clash on {profile.name}; one of them must give way"
    return f"{name}: no model of the catalog fits {profile.name} at all, whatever the needs"


def _relaxations(needs: AgentNeeds) -> dict[str, Relaxer]:
    found: dict[str, Relaxer] = {}
    for series, need in needs.benchmarks.items():
        if need.minimum is not None:
            found[f"{series} of at least {need.minimum:g}"] = _without_minimum(series)
    if needs.tool_calling:
        found["tool calling"] = lambda _: {"tool_calling": False}
    if needs.thinking is not None:
        found["thinking" if needs.thinking else "answers without thinking"] = lambda _: {"thinking": None}
    found[f"room for a context of {needs.context_tokens:,} tokens"] = lambda _: {"context_tokens": 2048}
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
    """The smallest set of agents that do not fit together (found by leaving out one after the other)."""

    def fits(names: Sequence[str]) -> bool:
        chosen = {name: agents[name] for name in names}
        return cast(found, profile, chosen, together, limit_s=_LIMIT_S).status in ("optimal", "feasible")

    core = list(agents)
    for name in list(agents):
        rest = [other for other in core if other != name]
        if rest and not fits(rest):
            core = rest
    pool = prune(of_these(found, {name: agents[name] for name in core}), core)
    sets = tuple(group & frozenset(core) for group in together)
    least = solve_master(pool, dict.fromkeys(core, 1.0), capacities(profile), sets, limit_s=_LIMIT_S, memory_only=True)
    gib = 0.0
    for j, count in least.uses.items():
        mine = [agent for agent, i in least.plays.items() if i == j]
        gib += pool[j].span * (pool[j].load_mib(mine, sets) + (count - 1) * pool[j].fixed_mib) / 1024
    have = sum(slot.room_mib for slot in profile.slots) / 1024
    room = f"need at least {gib:.1f} GiB, and {profile.name} has {have:.1f} GiB to use"
    if gib <= have:
        room += ", which can not be divided so that each instance fits its devices"
    return f"{', '.join(core)} can not be served together: they {room}; leave out any one of them and it works"
