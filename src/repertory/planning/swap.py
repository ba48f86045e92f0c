"""Plans that swap: some instances sleep while others run, where all together do not fit.

Each device holds its resident instances and the largest of those that take turns on it. Agents that may run at the same
time never play on different sleepers of one device. The goal is lexicographic: scores, fewer sleepers, fewer instances,
less memory, with a limit on the seconds that a turn spends waking.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from repertory.catalog.profiles import DeviceProfile
from repertory.planning.candidates import Candidate, prune
from repertory.planning.casting import Casting
from repertory.planning.master import SCORE_SCALE, score_units
from repertory.planning.needs import AgentNeeds, AgentWork
from repertory.planning.packing import Placement, blocks_of
from repertory.planning.solver import new_solver, solver_module
from repertory.planning.together import together_sets
from repertory.planning.turn_time import wake_seconds

__all__ = ("cast_with_swaps",)

_PER_AGENT = 6


def cast_with_swaps(
    found: Sequence[Candidate],
    profile: DeviceProfile,
    agents: Mapping[str, AgentNeeds],
    work: Mapping[str, AgentWork],
    *,
    max_swap_s: float = 90.0,
    limit_s: float = 30.0,
) -> Casting:
    """Find the best plan that may swap, among the best few candidates of every agent."""
    cp = solver_module()
    began = time.monotonic()
    pool = _best_few(prune(found, list(agents)), list(agents))
    slots = profile.slots
    together = together_sets(list(agents), work)
    model = cp.CpModel()
    fixed: dict[int, list[Any]] = {d: [] for d in range(len(slots))}
    sleeping = {d: model.new_int_var(0, slot.room_mib, f"sleep{d}") for d, slot in enumerate(slots)}
    options: list[tuple[Candidate, tuple[int, ...], bool, Any, dict[str, Any]]] = []
    by_agent: dict[str, list[Any]] = {agent: [] for agent in agents}
    runs: dict[tuple[int, int], list[Any]] = {}
    score_terms: list[Any] = []
    for j, candidate in enumerate(pool):
        for b, block in enumerate(blocks_of(slots, candidate.kind, candidate.span)):
            for resident in (True, False):
                used = model.new_bool_var(f"u{j}_{b}_{resident}")
                places = {agent: model.new_bool_var(f"p{j}_{b}_{resident}_{agent}") for agent in candidate.scores}
                cache = model.new_int_var(0, slots[block[0]].room_mib, "")
                for group in together:
                    model.add(cache >= sum(candidate.agent_mib[a] * v for a, v in places.items() if a in group))
                load = candidate.fixed_mib * used + cache
                for agent, var in places.items():
                    model.add_implication(var, used)
                    by_agent[agent].append(var)
                    score_terms.append(score_units(candidate, agent, agents[agent].importance) * var)
                model.add(used <= sum(places.values()))
                for d in block:
                    if resident:
                        fixed[d].append(load)
                    else:
                        model.add(load <= sleeping[d])
                if not resident:
                    for step, group in enumerate(together):
                        members = [var for agent, var in places.items() if agent in group]
                        if members:
                            runs_here = model.new_bool_var(f"r{j}_{b}_{step}")
                            for var in members:
                                model.add_implication(var, runs_here)
                            for d in block:
                                runs.setdefault((d, step), []).append(runs_here)
                options.append((candidate, block, resident, used, places))
    for variables in by_agent.values():
        if not variables:
            return Casting("infeasible", (), 0.0, 0.0, time.monotonic() - began, swaps=True)
        model.add_exactly_one(variables)
    for d, parts in fixed.items():
        model.add(sum(parts) + sleeping[d] <= slots[d].room_mib)
    for variables in runs.values():
        model.add_at_most_one(variables)
    wake = [
        round(1000 * wake_seconds(Placement(candidate, block, (), 0, resident=False))) * used
        for candidate, block, resident, used, _ in options
        if not resident
    ]
    model.add(sum(wake) <= round(1000 * max_swap_s))
    score = sum(score_terms)
    sleepers = sum(used for _, _, resident, used, _ in options if not resident)
    count = sum(used for *_, used, _ in options)
    memory = sum(part for parts in fixed.values() for part in parts) + sum(sleeping.values())
    best: tuple[float, float] | None = None
    placed: tuple[Placement, ...] = ()
    proven = True
    for goal, up in ((score, True), (sleepers, False), (count, False), (memory, False)):
        left = limit_s - (time.monotonic() - began)
        if left <= 0:
            proven = False
            break
        solver = new_solver(left)
        (model.maximize if up else model.minimize)(goal)
        status = solver.solve(model)
        if status == cp.INFEASIBLE:
            return Casting("infeasible", (), 0.0, 0.0, time.monotonic() - began, swaps=True)
        if status not in (cp.OPTIMAL, cp.FEASIBLE):
            proven = False
            break
        proven = proven and status == cp.OPTIMAL
        if best is None:
            best = (solver.objective_value, solver.best_objective_bound)
        placed = _placements(options, solver)
        value = round(solver.objective_value)
        model.add(goal >= value if up else goal <= value)
        model.clear_hints()
        for _, _, _, used, places in options:
            for var in (used, *places.values()):
                model.add_hint(var, solver.value(var))
    if best is None:
        return Casting("unknown", (), 0.0, 1.0, time.monotonic() - began, swaps=True)
    gap = max(0.0, (best[1] - best[0]) / best[1]) if best[1] else 0.0
    status = "optimal" if proven else "feasible"
    placed = tuple(replace(item, load_mib=item.candidate.load_mib(item.agents, together)) for item in placed)
    return Casting(status, placed, best[0] / SCORE_SCALE, gap, time.monotonic() - began, swaps=True)


def _best_few(pool: Sequence[Candidate], agents: Sequence[str]) -> list[Candidate]:
    """For every agent and span the candidates with the best scores, and the smallest one that serves it."""
    chosen: dict[int, None] = {}
    for agent in agents:
        able = [j for j, candidate in enumerate(pool) if agent in candidate.scores]
        for span in sorted({pool[j].span for j in able}):
            same = sorted((j for j in able if pool[j].span == span), key=lambda j: (-pool[j].scores[agent].total, j))
            chosen.update(dict.fromkeys(same[:_PER_AGENT]))
        if able:
            chosen[min(able, key=lambda j: (pool[j].fixed_mib, j))] = None
    return [pool[j] for j in sorted(chosen)]


def _placements(
    options: Sequence[tuple[Candidate, tuple[int, ...], bool, Any, dict[str, Any]]],
    solver: Any,  # noqa: ANN401 - OR-Tools has no usable types
) -> tuple[Placement, ...]:
    placed: list[Placement] = []
    for candidate, block, resident, used, places in options:
        mine = tuple(sorted(agent for agent, var in places.items() if solver.value(var)))
        if solver.value(used) and mine:
            placed.append(Placement(candidate, block, mine, 0, resident))
    return tuple(placed)
