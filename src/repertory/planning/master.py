"""Who plays on what, by memory in sum: the integer program whose optimum bounds every plan.

Variables: `use[j]` copies of candidate j, `plays[i, j]` for agent i on candidate j. Constraints: every agent plays on
one candidate; the cache of its agents fits what a candidate's copies leave; memory of all copies fits the devices of
their kind; and candidates that leave no room for another on a device (more than a half, a third of it) are counted
against the number of devices. The objective is lexicographic: the sum of the agents' scores, then fewer copies, then
less memory. Every real placement satisfies these constraints, so the optimum is an upper bound;
`repertory.planning.packing` finds the placement.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """

    status: str
    uses: Mapping[int, int]
    plays: Mapping[str, int]
    score: int = 0


def score_units(candidate: Candidate, agent: str, importance: float) -> int:
    """A score as a whole number: thousandths of a percent point times the agent's importance."""
    return round(candidate.scores[agent].total * SCORE_SCALE * importance)


@dataclass
class _Program:
    """The variables and constraints."""

    pool: Sequence[Candidate]
    capacity: Mapping[str, Capacity]
    together: Together
    places: frozenset[tuple[str, int]] | None
    any_number: bool = False
    """Whether there may be more copies than the devices hold."""

    def __post_init__(self) -> None:
        self.model: Any = solver_module().CpModel()
        self.use: dict[int, Any] = {}
        self.cache: dict[int, Any] = {}
        self.plays: dict[tuple[str, int], Any] = {}
        for j in range(len(self.pool)):
            self._candidate(j)
        self.memory = {j: self.pool[j].span * (self.pool[j].fixed_mib * v + self.cache[j]) for j, v in self.use.items()}

    def _candidate(self, j: int) -> None:
        """The copies of one candidate, the agents that play on them, and the cache that they need."""
        candidate, model = self.pool[j], self.model
        able = [agent for agent in candidate.scores if self.places is None or (agent, j) in self.places]
        if not able:
            return
        cap = self.capacity[candidate.kind]
        most = max(1, min(cap.devices // candidate.span * _share(candidate, cap), len(able)))
        most = len(able) if self.any_number else most
        use = self.use[j] = model.new_int_var(0, most, f"use{j}")
        cache = self.cache[j] = model.new_int_var(0, cap.largest_mib * most, f"cache{j}")
        for agent in able:
            self.plays[agent, j] = model.new_bool_var(f"plays_{agent}_{j}")
            model.add(self.plays[agent, j] <= use)
        for group in candidate.cached_at_once(self.together):
            model.add(cache >= sum(candidate.agent_mib[a] * self.plays[a, j] for a in able if a in group))
        model.add(cache <= (cap.largest_mib - candidate.fixed_mib) * use)
        model.add(use <= sum(self.plays[agent, j] for agent in able))  # a copy that nobody plays on is waste

    def everyone_plays(self, agents: Sequence[str]) -> bool:
        """Each agent on one candidate; False where one has none."""
        for agent in agents:
            mine = [self.plays[agent, j] for j in self.use if (agent, j) in self.plays]
            if not mine:
                return False
            self.model.add_exactly_one(mine)
        return True

    def fit_in_sum(self, shrink: float) -> None:
        """Memory in sum, and what follows from the number of devices."""
        for kind, cap in self.capacity.items():
            here = [j for j in self.use if self.pool[j].kind == kind]
            self.model.add(sum(self.memory[j] for j in here) <= int(cap.total_mib * shrink))
            for parts in (2, 3, 4):
                big = [j for j in here if self.pool[j].fixed_mib * parts > cap.largest_mib]
                self.model.add(sum(self.pool[j].span * self.use[j] for j in big) <= cap.devices * (parts - 1))
            self._beside_the_widest(here, cap)

    def _beside_the_widest(self, here: Sequence[int], cap: Capacity) -> None:
        """What spans all devices of a kind lies beside everything else there: both must fit one device."""
        wide = [j for j in here if self.pool[j].span == cap.devices]
        if not wide:
            return
        across = sum(self.pool[j].fixed_mib * self.use[j] for j in wide)
        for j in here:
            if self.pool[j].span < cap.devices:
                there = self.model.new_bool_var("")
                self.model.add(self.use[j] == 0).only_enforce_if(there.negated())
                self.model.add(across + self.pool[j].fixed_mib <= cap.largest_mib).only_enforce_if(there)

    def forbid(self, cut: Cut) -> None:
        """Forbid one set of copies with one set of places, or (without places) every set with at least those copies."""
        uses, joined = cut
        index = {candidate.name: j for j, candidate in enumerate(self.pool)}
        if any(place not in self.plays for place in joined) or any(index[name] not in self.use for name, _ in uses):
            return
        differs: list[Any] = [self.plays[place].negated() for place in sorted(joined)]
        for name, count in sorted(uses):
            var = self.use[index[name]]
            other = self.model.new_bool_var("")
            self.model.add(var != count if joined else var < count).only_enforce_if(other)
            differs.append(other)
        self.model.add_bool_or(differs)

    def hint(self, solver: Any) -> None:
        """Start the next stage from an answer."""
        self.model.clear_hints()
        for var in [*self.use.values(), *self.plays.values(), *self.cache.values()]:
            self.model.add_hint(var, solver.value(var))


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
    scores_only: bool = False,
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
        scores_only: Stop after the first stage.
        progress: Told what is being solved.
        shrink: Share of the total memory that may be used (to leave room for what placement wastes).
    """
    program = _Program(pool, capacity, together, places, any_number=memory_only)
    if not program.everyone_plays(list(importance)):
        return MasterResult("infeasible", {}, {})
    program.model.add(sum(program.use.values()) >= min_instances)
    for cut in cuts:
        program.forbid(cut)
    score = sum(score_units(pool[j], agent, importance[agent]) * var for (agent, j), var in program.plays.items())
    memory = sum(program.memory.values())
    if memory_only:
        return _solve_stages(program, (("memory", memory, False),), limit_s, progress)
    program.fit_in_sum(shrink)
    if at_least > 0:
        program.model.add(score >= math.ceil(at_least))
    stages = (("scores", score, True), ("instances", sum(program.use.values()), False), ("memory", memory, False))
    return _solve_stages(program, stages[:1] if scores_only else stages, limit_s, progress)


def _solve_stages(
    program: _Program,
    stages: Sequence[tuple[str, Any, bool]],
    limit_s: float,
    progress: Callable[[str], None] | None,
) -> MasterResult:
    cp = solver_module()
    began = time.monotonic()
    result = MasterResult("unknown", {}, {})
    for name, goal, up in stages:
        left = limit_s - (time.monotonic() - began)
        if left <= 0.01:
            return replace(result, status="feasible" if result.plays else "unknown")
        if progress is not None:
            progress(f"solving for {name}: {len(program.plays)} places, {left:.0f} s left")
        (program.model.maximize if up else program.model.minimize)(goal)
        solver = new_solver(left)
        status = solver.solve(program.model)
        if status == cp.INFEASIBLE:
            return MasterResult("infeasible", {}, {})
        if status not in (cp.OPTIMAL, cp.FEASIBLE):
            return replace(result, status="feasible" if result.plays else "unknown")
        proven = status == cp.OPTIMAL and result.status in ("optimal", "unknown")
        value = round(solver.objective_value)
        result = MasterResult(
            "optimal" if proven else "feasible",
            {j: solver.value(var) for j, var in program.use.items() if solver.value(var)},
            {agent: j for (agent, j), var in program.plays.items() if solver.value(var)},
            value if name == "scores" else result.score,
        )
        program.model.add(goal >= value if up else goal <= value)
        program.hint(solver)
    return result


def _share(candidate: Candidate, cap: Capacity) -> int:
    """How many copies fit beside each other on the largest device."""
    return max(1, cap.largest_mib // max(candidate.fixed_mib, 1))
