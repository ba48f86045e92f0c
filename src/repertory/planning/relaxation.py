"""The linear relaxation of the integer program: an upper bound, and which places can not be part of a good answer.

If the relaxation's optimum is U and forcing a place (an agent on a candidate) costs at least r (its reduced cost), then
every answer with that place scores at most U - r. So for any score G, the places with U - r < G may be left out when
answers of at least G are looked for. `repertory.planning.casting` starts with a G close to U; if the program without
the left-out places reaches G, its optimum is the optimum of the whole.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertory.planning.candidates import Candidate
from repertory.planning.master import Capacity, score_units
from repertory.planning.solver import solver_module
from repertory.planning.together import Together

__all__ = ("Relaxation", "relax")


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
) -> Relaxation:
    """Solve the relaxation."""
    solver_module()  # says what to install when OR-Tools is not there
    linear: Any = importlib.import_module("ortools.linear_solver.pywraplp")
    solver = linear.Solver.CreateSolver("GLOP")
    no_limit = solver.infinity()
    goal = solver.Objective()
    goal.SetMaximization()
    once = {agent: solver.Constraint(1, 1) for agent in importance}
    total = {kind: solver.Constraint(-no_limit, cap.total_mib) for kind, cap in capacity.items()}
    large = {
        (kind, parts): solver.Constraint(-no_limit, cap.devices * (parts - 1))
        for kind, cap in capacity.items()
        for parts in (2, 3, 4)
    }
    count = solver.Constraint(min_instances, no_limit)
    places: dict[tuple[str, int], Any] = {}
    uses: list[Any] = []
    for j, candidate in enumerate(pool):
        cap = capacity[candidate.kind]
        use = solver.NumVar(0, len(candidate.scores), "")
        uses.append(use)
        count.SetCoefficient(use, 1)
        total[candidate.kind].SetCoefficient(use, candidate.span * candidate.fixed_mib)
        for parts in (2, 3, 4):
            if candidate.fixed_mib * parts > cap.largest_mib:
                large[candidate.kind, parts].SetCoefficient(use, candidate.span)
        cache = solver.NumVar(0, no_limit, "")
        total[candidate.kind].SetCoefficient(cache, candidate.span)
        room = solver.Constraint(-no_limit, 0)
        room.SetCoefficient(use, candidate.fixed_mib - cap.largest_mib)
        room.SetCoefficient(cache, 1)
        caches = [solver.Constraint(-no_limit, 0) for _ in together]
        for row in caches:
            row.SetCoefficient(cache, -1)
        waste = solver.Constraint(-no_limit, 0)
        waste.SetCoefficient(use, 1)
        for agent in candidate.scores:
            place = solver.NumVar(0, 1, "")
            places[agent, j] = place
            served = solver.Constraint(-no_limit, 0)
            served.SetCoefficient(place, 1)
            served.SetCoefficient(use, -1)
            once[agent].SetCoefficient(place, 1)
            waste.SetCoefficient(place, -1)
            for row, group in zip(caches, together, strict=True):
                if agent in group:
                    row.SetCoefficient(place, candidate.agent_mib[agent])
            goal.SetCoefficient(place, score_units(candidate, agent, importance[agent]))
    if solver.Solve() != linear.Solver.OPTIMAL:
        return Relaxation(None, {})
    idle = [max(0.0, -use.reduced_cost()) for use in uses]
    costs = {
        (agent, j): max(0.0, -place.reduced_cost(), idle[j]) if place.solution_value() < 1e-9 else 0.0
        for (agent, j), place in places.items()
    }
    return Relaxation(goal.Value(), costs)
