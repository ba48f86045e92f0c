"""Plans that swap: some instances sleep while others run, where all together do not fit.

Each device holds its resident instances and the largest of those that take turns on it. Agents that may run at the same
time never play on different sleepers of one device. The goal is lexicographic: scores, fewer sleepers, fewer instances,
less memory, with a limit on the seconds that a turn spends waking.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from repertory.catalog.profiles import DeviceProfile, Slot
from repertory.planning.candidates import Candidate, prune
from repertory.planning.casting import Casting
from repertory.planning.master import SCORE_SCALE, score_units
from repertory.planning.needs import AgentNeeds, AgentWork
from repertory.planning.packing import Placement, blocks_of
from repertory.planning.solver import new_solver, solver_module
from repertory.planning.together import Together, together_sets
from repertory.planning.turn_time import wake_seconds

__all__ = ("cast_with_swaps",)

_PER_AGENT = 6


@dataclass
class _Option:
    """A candidate on a block, resident or taking turns."""

    candidate: Candidate
    block: tuple[int, ...]
    resident: bool
    used: Any
    places: dict[str, Any]


class _SwapProgram:
    """Variables and constraints of a plan that may swap."""

    def __init__(self, pool: Sequence[Candidate], slots: Sequence[Slot], together: Together) -> None:
        self.model: Any = solver_module().CpModel()
        self.slots = slots
        self.together = together
        self.options: list[_Option] = []
        self.fixed: dict[int, list[Any]] = {d: [] for d in range(len(slots))}
        self.sleeping = {d: self.model.new_int_var(0, slot.room_mib, f"sleep{d}") for d, slot in enumerate(slots)}
        self._runs: dict[tuple[int, int], list[Any]] = {}
        for candidate in pool:
            for block in blocks_of(slots, candidate.kind, candidate.span):
                for resident in (True, False):
                    self._option(candidate, block, resident=resident)
        for d, parts in self.fixed.items():
            self.model.add(sum(parts) + self.sleeping[d] <= slots[d].room_mib)
        for variables in self._runs.values():
            self.model.add_at_most_one(variables)

    def _option(self, candidate: Candidate, block: tuple[int, ...], *, resident: bool) -> None:
        model = self.model
        used = model.new_bool_var("")
        places = {agent: model.new_bool_var("") for agent in candidate.scores}
        cache = model.new_int_var(0, self.slots[block[0]].room_mib, "")
        for group in candidate.cached_at_once(self.together):
            model.add(cache >= sum(candidate.agent_mib[a] * v for a, v in places.items() if a in group))
        for var in places.values():
            model.add_implication(var, used)
        model.add(used <= sum(places.values()))
        load = candidate.fixed_mib * used + cache
        for d in block:
            if resident:
                self.fixed[d].append(load)
            else:
                model.add(load <= self.sleeping[d])
        if not resident:
            self._takes_turns(places, block)
        self.options.append(_Option(candidate, block, resident, used, places))

    def _takes_turns(self, places: Mapping[str, Any], block: Sequence[int]) -> None:
        """Agents of one set that may run at once wake at most one sleeper of a device."""
        for number, group in enumerate(self.together):
            members = [var for agent, var in places.items() if agent in group]
            if members:
                runs = self.model.new_bool_var("")
                for var in members:
                    self.model.add_implication(var, runs)
                for d in block:
                    self._runs.setdefault((d, number), []).append(runs)

    def everyone_plays(self, agents: Sequence[str]) -> bool:
        """Each agent on one option; False where one has none."""
        for agent in agents:
            mine = [option.places[agent] for option in self.options if agent in option.places]
            if not mine:
                return False
            self.model.add_exactly_one(mine)
        return True

    def wake_at_most(self, seconds: float) -> None:
        """Limit what a turn spends waking."""
        wake = [
            round(1000 * wake_seconds(o.candidate.instance, o.candidate.device)) * o.used
            for o in self.options
            if not o.resident
        ]
        self.model.add(sum(wake) <= round(1000 * seconds))

    def goals(self, agents: Mapping[str, AgentNeeds]) -> tuple[tuple[Any, bool], ...]:
        """What to optimise, in order, and whether upwards."""
        score = sum(
            score_units(o.candidate, agent, agents[agent].importance) * var
            for o in self.options
            for agent, var in o.places.items()
        )
        sleepers = sum(o.used for o in self.options if not o.resident)
        memory = sum(part for parts in self.fixed.values() for part in parts) + sum(self.sleeping.values())
        return ((score, True), (sleepers, False), (sum(o.used for o in self.options), False), (memory, False))

    def placements(self, solver: Any) -> tuple[Placement, ...]:
        """The answer as placements."""
        placed: list[Placement] = []
        for option in self.options:
            mine = tuple(sorted(agent for agent, var in option.places.items() if solver.value(var)))
            if solver.value(option.used) and mine:
                load = option.candidate.load_mib(mine, self.together)
                placed.append(Placement(option.candidate, option.block, mine, load, option.resident))
        return tuple(placed)

    def hint(self, solver: Any) -> None:
        """Start the next stage from an answer."""
        self.model.clear_hints()
        for option in self.options:
            for var in (option.used, *option.places.values()):
                self.model.add_hint(var, solver.value(var))


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
    began = time.monotonic()
    whole = prune(found, list(agents))
    pool = _best_few(whole, list(agents))
    program = _SwapProgram(pool, profile.slots, together_sets(list(agents), work))
    if not program.everyone_plays(list(agents)):
        return Casting("infeasible", (), 0.0, 0.0, time.monotonic() - began, swaps=True)
    program.wake_at_most(max_swap_s)
    result = _solve(program, agents, began, limit_s)
    # The proof is about the candidates that were tried.
    return replace(result, status="feasible") if result.status == "optimal" and len(pool) < len(whole) else result


def _solve(program: _SwapProgram, agents: Mapping[str, AgentNeeds], began: float, limit_s: float) -> Casting:
    cp = solver_module()
    best: tuple[float, float] | None = None
    placed: tuple[Placement, ...] = ()
    proven = True
    for goal, up in program.goals(agents):
        left = limit_s - (time.monotonic() - began)
        solver = new_solver(max(left, 0.01))
        (program.model.maximize if up else program.model.minimize)(goal)
        status = solver.solve(program.model) if left > 0 else cp.UNKNOWN
        if status == cp.INFEASIBLE:
            return Casting("infeasible", (), 0.0, 0.0, time.monotonic() - began, swaps=True)
        if status not in (cp.OPTIMAL, cp.FEASIBLE):
            proven = False
            break
        proven = proven and status == cp.OPTIMAL
        best = best or (solver.objective_value, solver.best_objective_bound)
        placed = program.placements(solver)
        value = round(solver.objective_value)
        program.model.add(goal >= value if up else goal <= value)
        program.hint(solver)
    spent = time.monotonic() - began
    if best is None:
        return Casting("unknown", (), 0.0, 1.0, spent, swaps=True)
    gap = max(0.0, (best[1] - best[0]) / best[1]) if best[1] else 0.0
    return Casting("optimal" if proven else "feasible", placed, best[0] / SCORE_SCALE, gap, spent, swaps=True)


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
