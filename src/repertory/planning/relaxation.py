"""The linear relaxation of the integer program: an upper bound, and which places can not be part of a good answer.

If the relaxation's optimum is U and forcing a place (an agent on a candidate) costs at least r (its reduced cost), then
every answer with that place scores at most U - r. So for any score G, the places with U - r < G may be left out when
answers of at least G are looked for. `repertory.planning.casting` starts with a G close to U; if the program without
the left-out places reaches G, its optimum is the optimum of the whole.

An agent can only play on a candidate that is used: one row per place, of which few bind. They are added as they are
violated; bound and reduced costs are valid after every round, so a limit on the time costs tightness alone.
"""

import importlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertory.planning.candidates import Candidate
from repertory.planning.master import Capacity, score_units
from repertory.planning.solver import solver_module
from repertory.planning.together import Together

__all__ = ("Relaxation", "relax")

_ROUNDS = 30
_EPS = 1e-6
_SURE = 20.0
"""Another round surely follows when this many times the last one's duration is left."""


@dataclass(frozen=True)
class Relaxation:
    """Optimum of the linear relaxation and the least cost of each place.

    Attributes:
        bound: Score units that no plan can exceed; None where even the relaxation has no answer.
        costs: By agent and candidate index, how far below the bound an answer with that place must be.
    """

    bound: float | None
    costs: Mapping[tuple[str, int], float]

    def within(self, slack: float) -> frozenset[tuple[str, int]]:
        """Places that an answer of at least bound - slack may have."""
        return frozenset(place for place, cost in self.costs.items() if cost <= slack + 1e-6)


def relax(
    pool: Sequence[Candidate],
    importance: Mapping[str, float],
    capacity: Mapping[str, Capacity],
    together: Together,
    min_instances: int = 1,
    limit_s: float = 20.0,
) -> Relaxation:
    """Solve the relaxation.

    Args:
        pool: Candidates.
        importance: The agents and their weights.
        capacity: Devices by kind.
        together: Sets of agents that may run at once.
        min_instances: The least number of copies.
        limit_s: Seconds after which the bound is taken as it is by then.
    """
    until = time.monotonic() + limit_s
    best = _of_each_agent(pool, importance)
    program = _LinearProgram(pool, importance, capacity, together, min_instances)
    for round_ in range(_ROUNDS):
        began = time.monotonic()
        solved = program.solve(until - began)
        if solved is None:
            break
        if not solved:
            return Relaxation(None, {})
        now = time.monotonic()
        violated = program.violated()
        # Reading all costs takes a third of a round, so it is left out where another round surely follows.
        if not violated or round_ == _ROUNDS - 1 or until - now < _SURE * (now - began):
            best = program.relaxation()
        if not violated:
            break
        program.add(violated)
    return best


def _of_each_agent(pool: Sequence[Candidate], importance: Mapping[str, float]) -> Relaxation:
    """The bound without any constraint: every agent on what is best for it."""
    units = {(agent, j): score_units(c, agent, importance[agent]) for j, c in enumerate(pool) for agent in c.scores}
    best: dict[str, int] = {}
    for (agent, _), value in units.items():
        best[agent] = max(best.get(agent, 0), value)
    return Relaxation(
        float(sum(best.values())), {(agent, j): float(best[agent] - value) for (agent, j), value in units.items()}
    )


class _LinearProgram:
    """Variables and rows of the relaxation."""

    def __init__(
        self,
        pool: Sequence[Candidate],
        importance: Mapping[str, float],
        capacity: Mapping[str, Capacity],
        together: Together,
        min_instances: int,
    ) -> None:
        solver_module()  # says what to install when OR-Tools is not there
        self._linear: Any = importlib.import_module("ortools.linear_solver.pywraplp")
        self._solver = self._linear.Solver.CreateSolver("GLOP")
        self._infinity = self._solver.infinity()
        self._pool, self._importance, self._together = pool, importance, together
        self._goal = self._solver.Objective()
        self._goal.SetMaximization()
        self._once = {agent: self._solver.Constraint(1, 1) for agent in importance}
        self._total = {kind: self._at_most(cap.total_mib) for kind, cap in capacity.items()}
        self._large = {
            (kind, parts): self._at_most(cap.devices * (parts - 1))
            for kind, cap in capacity.items()
            for parts in (2, 3, 4)
        }
        self._count = self._solver.Constraint(min_instances, self._infinity)
        self._places: dict[tuple[str, int], Any] = {}
        self._uses: list[Any] = []
        self._served: set[tuple[str, int]] = set()
        for j, candidate in enumerate(pool):
            self._candidate(j, candidate, capacity[candidate.kind].largest_mib)

    def _at_most(self, value: float) -> Any:
        return self._solver.Constraint(-self._infinity, value)

    def _candidate(self, j: int, candidate: Candidate, largest_mib: int) -> None:
        """The copies of one candidate, the agents that play on them, and the cache that they need."""
        use = self._solver.NumVar(0, len(candidate.scores), "")
        self._uses.append(use)
        self._count.SetCoefficient(use, 1)
        self._total[candidate.kind].SetCoefficient(use, candidate.span * candidate.fixed_mib)
        for parts in (2, 3, 4):
            if candidate.fixed_mib * parts > largest_mib:
                self._large[candidate.kind, parts].SetCoefficient(use, candidate.span)
        cache = self._solver.NumVar(0, self._infinity, "")
        self._total[candidate.kind].SetCoefficient(cache, candidate.span)
        room = self._at_most(0)
        room.SetCoefficient(use, candidate.fixed_mib - largest_mib)
        room.SetCoefficient(cache, 1)
        sets = candidate.cached_at_once(self._together)
        caches = [self._at_most(0) for _ in sets]
        for row in caches:
            row.SetCoefficient(cache, -1)
        waste = self._at_most(0)
        waste.SetCoefficient(use, 1)
        for agent in candidate.scores:
            place = self._places[agent, j] = self._solver.NumVar(0, 1, "")
            self._once[agent].SetCoefficient(place, 1)
            waste.SetCoefficient(place, -1)
            for row, group in zip(caches, sets, strict=True):
                if agent in group:
                    row.SetCoefficient(place, candidate.agent_mib[agent])
            self._goal.SetCoefficient(place, score_units(candidate, agent, self._importance[agent]))

    def violated(self) -> list[tuple[str, int]]:
        """The rows "only on what is used" that the last answer violates."""
        used = [use.solution_value() + _EPS for use in self._uses]
        return [
            (agent, j)
            for (agent, j), place in self._places.items()
            if (agent, j) not in self._served and place.solution_value() > used[j]
        ]

    def add(self, rows: Iterable[tuple[str, int]]) -> None:
        """Add rows "only on what is used"."""
        for agent, j in rows:
            row = self._at_most(0)
            row.SetCoefficient(self._places[agent, j], 1)
            row.SetCoefficient(self._uses[j], -1)
            self._served.add((agent, j))

    def solve(self, left_s: float) -> bool | None:
        """Whether there is an answer with the rows so far; None where the time was up."""
        if left_s <= 0:
            return None
        self._solver.SetTimeLimit(max(1, int(left_s * 1000)))
        status = self._solver.Solve()
        if status == self._linear.Solver.INFEASIBLE:
            return False
        return True if status == self._linear.Solver.OPTIMAL else None

    def relaxation(self) -> Relaxation:
        """Bound and reduced costs of the last answer."""
        idle = [max(0.0, -use.reduced_cost()) for use in self._uses]
        costs = {
            (agent, j): max(0.0, -place.reduced_cost(), idle[j]) if place.solution_value() < 1e-9 else 0.0
            for (agent, j), place in self._places.items()
        }
        return Relaxation(self._goal.Value(), costs)
