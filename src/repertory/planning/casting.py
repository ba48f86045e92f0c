"""The best plan: the integer program gives who plays on what, the placement gives where, until both agree."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from repertory.catalog.profiles import DeviceProfile
from repertory.planning.candidates import Candidate, prune
from repertory.planning.master import SCORE_SCALE, Capacity, Cut, MasterResult, score_units, solve_master
from repertory.planning.needs import AgentNeeds
from repertory.planning.one_model import one_model_for_all
from repertory.planning.packing import Placement, pack, pack_loosely
from repertory.planning.relaxation import Relaxation, relax
from repertory.planning.together import Together

__all__ = ("Casting", "capacities", "cast", "of_these")

_LARGE = 20_000
"""Places (agents times candidates) that are only searched when most of the time is left."""
_FEW, _FEW_EACH = 400, 12
_SLACKS = (0.0001, 0.0005, 0.0015, 0.004)
"""Shares below the relaxation's bound in which the optimum may be looked for first."""
_ROUNDS = 60
_SHRINK = 0.98
_EXACT_DEVICES = 64
"""Devices up to which a failed placement is decided exactly, so that forbidding it loses nothing."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Casting:
    """A plan's core.

    Attributes:
        status: `optimal` (proven), `feasible` (with a gap) or `infeasible`.
        gap: Share by which the scores may be below the best possible.
        score: Sum of the agents' scores times their importance.
        solve_s: Seconds spent.
    """

    status: str
    placements: tuple[Placement, ...]
    score: float
    gap: float
    solve_s: float
    swaps: bool = False

    @property
    def by_agent(self) -> dict[str, Placement]:
        """The placement of each agent."""
        return {agent: item for item in self.placements for agent in item.agents}

    @property
    def memory_mib(self) -> int:
        """MiB over all devices."""
        return sum(item.load_mib * len(item.slots) for item in self.placements)


def capacities(profile: DeviceProfile) -> dict[str, Capacity]:
    """Devices by kind."""
    rooms: dict[str, list[int]] = {}
    for slot in profile.slots:
        rooms.setdefault(slot.device.id, []).append(slot.room_mib)
    return {kind: Capacity(len(values), max(values), sum(values)) for kind, values in rooms.items()}


def cast(
    found: Sequence[Candidate],
    profile: DeviceProfile,
    agents: Mapping[str, AgentNeeds],
    together: Together | None = None,
    *,
    limit_s: float = 60.0,
    min_instances: int = 1,
    progress: Progress | None = None,
) -> Casting:
    """Find the plan with the best weighted scores, of those the one with the fewest instances, then the least memory.

    The answer is proven optimal when the integer program is solved and its answer can be placed; where placement fails
    that answer is forbidden and the program solved again, so the first answer that can be placed is the best one.
    """
    began = time.monotonic()
    importance = {name: needs.importance for name, needs in agents.items()}
    pool = prune(of_these(found, agents), list(agents))
    capacity = capacities(profile)
    together = (frozenset(agents),) if together is None else tuple(group & agents.keys() for group in together)
    bounds = relax(pool, importance, capacity, together, min_instances, limit_s / 4)
    if bounds.bound is None or any(all(a not in c.scores for c in pool) for a in agents):
        return Casting("infeasible", (), 0.0, 0.0, time.monotonic() - began)
    search = _Search(pool, importance, capacity, together, min_instances, bounds, progress)
    cuts: list[Cut] = []
    exact = True
    shrink = 1.0
    for round_ in range(_ROUNDS):
        left = limit_s - (time.monotonic() - began)
        if left <= 0:
            break
        answer, proven = search.best(cuts, left, shrink)
        spent = time.monotonic() - began
        if not answer.plays:
            if answer.status == "infeasible" and exact and shrink == 1.0:
                return Casting("infeasible", (), 0.0, 0.0, spent)
            break
        placed = pack(_groups(pool, answer), profile.slots, together, limit_s=max(0.5, min(5.0, left / 4)))
        if placed is None and len(profile.slots) > _EXACT_DEVICES:
            placed, exact = pack_loosely(_groups(pool, answer), profile.slots, together), False
        if placed is not None:
            proven = proven and exact and shrink == 1.0
            gap = 0.0 if proven else max(0.0, (bounds.bound - answer.score) / bounds.bound)
            status = "optimal" if proven else "feasible"
            return Casting(status, tuple(placed), answer.score / SCORE_SCALE, gap, time.monotonic() - began)
        if progress is not None:
            progress(f"that cast does not fit device by device; looking for the next one ({round_ + 1})")
        cuts.append(_cut(pool, answer, profile))
        exact = exact and len(profile.slots) <= _EXACT_DEVICES
        if not exact:
            shrink *= _SHRINK
    if min_instances > 1:
        return Casting("unknown", (), 0.0, 1.0, time.monotonic() - began)
    return _in_haste(pool, profile, agents, together, bounds.bound, began)


def _in_haste(
    pool: Sequence[Candidate],
    profile: DeviceProfile,
    agents: Mapping[str, AgentNeeds],
    together: Together,
    bound: float,
    began: float,
) -> Casting:
    """The best single model for all agents: a plan that holds, when the time for the search is up."""
    placed = one_model_for_all(pool, agents, profile.slots, together, copies=True)
    if placed is None:
        return Casting("unknown", (), 0.0, 1.0, time.monotonic() - began)
    score = sum(score_units(placed[0].candidate, name, needs.importance) for name, needs in agents.items())
    gap = max(0.0, (bound - score) / bound)
    return Casting("feasible", tuple(placed), score / SCORE_SCALE, gap, time.monotonic() - began)


@dataclass
class _Search:
    """Looks for the program's optimum among ever more places, the ones that cost least first."""

    pool: Sequence[Candidate]
    importance: Mapping[str, float]
    capacity: Mapping[str, Capacity]
    together: Together
    min_instances: int
    bounds: Relaxation
    progress: Progress | None
    slack: float | None = None

    def best(self, cuts: Sequence[Cut], limit_s: float, shrink: float) -> tuple[MasterResult, bool]:
        """The best answer in the time, and whether it is proven.

        The best score S of a part of the places is a lower bound; all answers that reach it have only places within
        bound - S, so the three stages are solved with those, and their answer is the best of the whole.
        """
        began = time.monotonic()
        bound = self.bounds.bound or 0.0
        if self.slack is None:
            self.slack = self._first_slack(bound)
        answer = MasterResult("unknown", {}, {})
        reached = False
        while True:
            left = limit_s - (time.monotonic() - began)
            places = self.bounds.within(self.slack)
            whole = len(places) == len(self.bounds.costs)
            if left <= 0.05 or (answer.plays and len(places) > _LARGE and left < limit_s / 2):
                return answer, False
            found = solve_master(
                self.pool,
                self.importance,
                self.capacity,
                self.together,
                limit_s=left,
                cuts=cuts,
                places=places,
                at_least=float(answer.score),
                min_instances=self.min_instances,
                scores_only=not reached,
                progress=self.progress,
                shrink=shrink,
            )
            if found.status == "infeasible" and not whole:
                self.slack *= 4
                continue
            if not found.plays:
                return (answer, False) if answer.plays else (found, whole)
            answer = found
            if answer.status != "optimal" or reached:
                return answer, answer.status == "optimal" and reached
            reached = whole or answer.score >= bound - self.slack - 1e-6
            if not reached:
                self.slack = bound - answer.score + 1.0
                reached = True  # what is left out now can not score as much

    def _first_slack(self, bound: float) -> float:
        """The largest of some slacks that leaves only a few places for each agent."""
        few = max(_FEW, _FEW_EACH * len(self.importance))
        slack = 1.0
        for share in _SLACKS:
            if len(self.bounds.within(bound * share)) > few:
                break
            slack = max(slack, bound * share)
        return slack


def of_these(found: Sequence[Candidate], agents: Mapping[str, AgentNeeds]) -> list[Candidate]:
    """The candidates with only these agents, where they were listed for more."""
    return [kept for candidate in found if (kept := candidate.for_agents(agents)) is not None]


def _groups(pool: Sequence[Candidate], answer: MasterResult) -> list[tuple[Candidate, int, list[str]]]:
    agents: dict[int, list[str]] = {}
    for agent, j in answer.plays.items():
        agents.setdefault(j, []).append(agent)
    return [(pool[j], answer.uses[j], members) for j, members in sorted(agents.items())]


def _cut(pool: Sequence[Candidate], answer: MasterResult, profile: DeviceProfile) -> Cut:
    """What to forbid: the smallest part that can not be placed even without any cache, else the answer as it is."""
    bare = [(pool[j], count, [f"#{i}" for i in range(count)]) for j, count in sorted(answer.uses.items())]
    groups = [(_without_cache(candidate, names), count, names) for candidate, count, names in bare]
    if len(profile.slots) > _EXACT_DEVICES or pack(groups, profile.slots, (), limit_s=1.0) is not None:
        uses = frozenset((pool[j].name, count) for j, count in answer.uses.items())
        return uses, frozenset(answer.plays.items())
    for group in list(groups):
        rest = [other for other in groups if other is not group]
        if rest and pack(rest, profile.slots, (), limit_s=1.0) is None:
            groups = rest
    return frozenset((candidate.name, count) for candidate, count, _ in groups), frozenset()


def _without_cache(candidate: Candidate, names: Sequence[str]) -> Candidate:
    """The candidate with as many agents as it has copies, none of which needs a cache."""
    return replace(candidate, agent_mib=dict.fromkeys(names, 0))
