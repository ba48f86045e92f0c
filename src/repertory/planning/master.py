"""Who plays on what, by memory in sum: the integer program whose optimum bounds every plan.

Variables: `use[j]` copies of candidate j, `plays[i, j]` for agent i on candidate j. Constraints: every agent plays on
one candidate; the cache of its agents fits what a candidate's copies leave; memory of all copies fits the devices of
their kind; and candidates that leave no room for another on a device (more than a half, a third of it) are counted
against the number of devices. The objective is lexicographic: the sum of the agents' scores, then fewer copies, then
less memory. Every real placement satisfies these constraints, so the optimum is an upper bound; `repertory.planning.packing`
finds the placement.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertory.planning.candidates import Candidate
from repertory.planning.solver import new_solver, solver_module
from repertory.planning.together import Together

__all__ = ("SCORE_SCALE", "Capacity", "Cut", "MasterResult", "score_units", "solve_master")

SCORE_SCALE = 1000


@dataclass(frozen=True)
class Capacity:
    """Devices of one kind: how many, MiB on the largest, MiB on all together."""

    devices: int
    largest_mib: int
    total_mib: int


Cut = tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]]
"""Copies per candidate name and agent places that can not be placed together."""


@dataclass(frozen=True)
class MasterResult:
    """An answer of the integer program.

    Attributes:
        status: `optimal`, `feasible` (the time was up), `infeasible` or `unknown`.
        uses: Copies by candidate index.
        plays: Candidate index by agent.
        score: Score units reached.
        bound: Score units that no plan can exceed.
    """

    status: str
    uses: Mapping[int, int]
    plays: Mapping[str, int]
    score: int = 0
    bound: int = 0


def score_units(candidate: Candidate, agent: str, importance: float) -> int:
    """A score as a whole number: thousandths of a percent point times the agent's importance."""
    return round(candidate.scores[agent].total * SCORE_SCALE * importance)


def solve_master(
    pool: Sequence[Candidate],
    importance: Mapping[str, float],
    capacity: Mapping[str, Capacity],
    together: Together,
    *,
    limit_s: float,
    cuts: Sequence[Cut] = (),
    places: frozenset[tuple[str, int]] | None = None,
    at_least: float = 0.0,
    min_instances: int = 1,
    memory_only: bool = False,
    workers: int = 1,
    progress: Callable[[str], None] | None = None,
    shrink: float = 1.0,
) -> MasterResult:
    """Solve the three stages.

    Args:
        pool: Candidates.
        importance: The agents and their weights.
        capacity: Devices by kind.
        together: Sets of agents that may run at once: a cache holds the largest of them.
        limit_s: Seconds for all stages.
        cuts: Sets that were found impossible to place.
        places: Agents and candidates that may be joined; None is all.
        at_least: Score units that an answer must reach.
        min_instances: The least number of copies.
        memory_only: Look for the least memory alone, whatever the devices hold in sum (to say how much is lacking).
        workers: Threads of the solver.
        progress: Told what is being solved.
        shrink: Share of the total memory that may be used (to leave room for what placement wastes).
    """
    cp = solver_module()
    began = time.monotonic()
    model = cp.CpModel()
    agents = list(importance)
    copies = {kind: cap.devices for kind, cap in capacity.items()}
    use: dict[int, Any] = {}
    plays: dict[tuple[str, int], Any] = {}
    able: dict[int, list[str]] = {}
    cache: dict[int, Any] = {}
    for j, candidate in enumerate(pool):
        able[j] = [agent for agent in candidate.scores if places is None or (agent, j) in places]
        if not able[j]:
            continue
        most = min(copies[candidate.kind] // candidate.span * _share(candidate, capacity), len(able[j]))
        use[j] = model.new_int_var(0, max(most, 1), f"use{j}")
        for agent in able[j]:
            plays[agent, j] = model.new_bool_var(f"plays_{agent}_{j}")
            model.add(plays[agent, j] <= use[j])
        room = capacity[candidate.kind].largest_mib - candidate.fixed_mib
        cache[j] = model.new_int_var(0, capacity[candidate.kind].largest_mib * max(most, 1), f"cache{j}")
        for group in together:
            model.add(cache[j] >= sum(candidate.agent_mib[a] * plays[a, j] for a in able[j] if a in group))
        model.add(cache[j] <= room * use[j])
        # A copy that nobody plays on is waste.
        model.add(use[j] <= sum(plays[agent, j] for agent in able[j]))
    for agent in agents:
        mine = [plays[agent, j] for j in use if (agent, j) in plays]
        if not mine:
            return MasterResult("infeasible", {}, {})
        model.add_exactly_one(mine)
    memory = {j: pool[j].span * (pool[j].fixed_mib * var + cache[j]) for j, var in use.items()}
    model.add(sum(use.values()) >= min_instances)
    for kind, cap in capacity.items():
        here = [j for j in use if pool[j].kind == kind]
        if memory_only:
            continue
        model.add(sum(memory[j] for j in here) <= int(cap.total_mib * shrink))
        for parts in (2, 3, 4):
            big = [j for j in here if pool[j].fixed_mib * parts > cap.largest_mib]
            model.add(sum(pool[j].span * use[j] for j in big) <= cap.devices * (parts - 1))
        _beside_the_widest(model, pool, use, here, cap)
    for copied, joined in cuts:
        _forbid(model, pool, use, plays, copied, joined)
    score = sum(score_units(pool[j], agent, importance[agent]) * var for (agent, j), var in plays.items())
    if at_least > 0:
        model.add(score >= math.ceil(at_least))
    stages = (
        ("scores", score, True),
        ("instances", sum(use.values()), False),
        ("memory", sum(memory.values()), False),
    )
    if memory_only:
        stages = (("memory", sum(memory.values()), False),)
    result = MasterResult("unknown", {}, {})
    proven = True
    for name, goal, up in stages:
        left = limit_s - (time.monotonic() - began)
        if left <= 0.01:
            proven = False
            break
        if progress is not None:
            progress(f"solving for {name}: {len(plays)} places, {left:.0f} s left")
        (model.maximize if up else model.minimize)(goal)
        solver = new_solver(left, workers=workers)
        status = solver.solve(model)
        if status == cp.INFEASIBLE:
            return MasterResult("infeasible", {}, {})
        if status not in (cp.OPTIMAL, cp.FEASIBLE):
            proven = False
            break
        proven = proven and status == cp.OPTIMAL
        value = round(solver.objective_value)
        bound = round(solver.best_objective_bound) if name == "scores" else result.bound
        result = MasterResult(
            "optimal" if proven else "feasible",
            {j: solver.value(var) for j, var in use.items() if solver.value(var)},
            {agent: j for (agent, j), var in plays.items() if solver.value(var)},
            value if name == "scores" else result.score,
            bound,
        )
        model.add(goal >= value if up else goal <= value)
        model.clear_hints()
        for var in [*use.values(), *plays.values(), *cache.values()]:
            model.add_hint(var, solver.value(var))
    if result.status == "optimal" and not proven:
        return MasterResult("feasible", result.uses, result.plays, result.score, result.bound)
    return result


def _share(candidate: Candidate, capacity: Mapping[str, Capacity]) -> int:
    """How many copies fit beside each other on the largest device."""
    return max(1, capacity[candidate.kind].largest_mib // max(candidate.fixed_mib, 1))


def _forbid(
    model: Any,  # noqa: ANN401 - OR-Tools has no usable types
    pool: Sequence[Candidate],
    use: Mapping[int, Any],
    plays: Mapping[tuple[str, int], Any],
    uses: frozenset[tuple[str, int]],
    places: frozenset[tuple[str, int]],
) -> None:
    """Forbid one set of copies with one set of places, or (without places) every set with at least those copies."""
    index = {candidate.name: j for j, candidate in enumerate(pool)}
    if any(place not in plays for place in places) or any(index[name] not in use for name, _ in uses):
        return
    differs: list[Any] = [plays[place].negated() for place in places]
    for name, count in sorted(uses):
        var = use[index[name]]
        other = model.new_bool_var("")
        if places:
            model.add(var != count).only_enforce_if(other)
        else:
            model.add(var < count).only_enforce_if(other)
        differs.append(other)
    model.add_bool_or(differs)


def _beside_the_widest(
    model: Any,  # noqa: ANN401 - OR-Tools has no usable types
    pool: Sequence[Candidate],
    use: Mapping[int, Any],
    here: Sequence[int],
    cap: Capacity,
) -> None:
    """What spans all devices of a kind lies beside everything else there: both must fit one device."""
    wide = [j for j in here if pool[j].span == cap.devices]
    if not wide:
        return
    across = sum(pool[j].fixed_mib * use[j] for j in wide)
    for j in here:
        if pool[j].span < cap.devices:
            there = model.new_bool_var("")
            model.add(use[j] == 0).only_enforce_if(there.negated())
            model.add(across + pool[j].fixed_mib <= cap.largest_mib).only_enforce_if(there)
