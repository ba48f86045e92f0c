"""The best plan: the integer program gives who plays on what, the placement gives where, until both agree."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repertory.catalog.profiles import DeviceProfile
from repertory.planning.candidates import Candidate, prune
from repertory.planning.master import SCORE_SCALE, Capacity, Cut, MasterResult, solve_master
from repertory.planning.needs import AgentNeeds
from repertory.planning.packing import Placement, device_room_mib, pack
from repertory.planning.relaxation import relax

__all__ = ("Casting", "capacities", "cast")

_LARGE = 20_000
"""Places (agents times candidates) from which the solver uses two workers."""
_ROUNDS = 60
_SHRINK = 0.98
_SLACK = 0.0015
"""Share below the relaxation's bound in which the optimum is looked for first; four times as much each time after."""
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
        rooms.setdefault(slot.device.id, []).append(device_room_mib(slot))
    return {kind: Capacity(len(values), max(values), sum(values)) for kind, values in rooms.items()}


def cast(
    found: Sequence[Candidate],
    profile: DeviceProfile,
    agents: Mapping[str, AgentNeeds],
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
    pool = prune(found, list(agents))
    capacity = capacities(profile)
    bounds = relax(pool, importance, capacity, min_instances)
    if bounds.bound is None or any(all(a not in c.scores for c in pool) for a in agents):
        return Casting("infeasible", (), 0.0, 0.0, time.monotonic() - began)
    bound = bounds.bound
    slack = max(bound * _SLACK, 1.0)
    cuts: list[Cut] = []
    exact = True
    shrink = 1.0
    for round_ in range(_ROUNDS):
        left = limit_s - (time.monotonic() - began)
        if left <= 0:
            break
        places = bounds.within(slack)
        whole = len(places) == len(bounds.costs)
        answer = solve_master(
            pool,
            importance,
            capacity,
            limit_s=left,
            cuts=cuts,
            places=places,
            at_least=0.0 if whole else bound - slack,
            min_instances=min_instances,
            workers=2 if len(places) > _LARGE else 1,
            progress=progress,
            shrink=shrink,
        )
        if answer.status == "infeasible" and not whole:
            slack *= 4
            continue
        if answer.status in ("infeasible", "unknown"):
            status = "infeasible" if answer.status == "infeasible" and exact and shrink == 1.0 else "unknown"
            return Casting(status, (), 0.0, 0.0, time.monotonic() - began)
        seconds = max(0.5, min(5.0, left / 4))
        placed = pack(_groups(pool, answer), profile.slots, limit_s=seconds)
        if placed is None:
            if progress is not None:
                progress(f"that cast does not fit device by device; looking for the next one ({round_ + 1})")
            cuts.append(_cut(pool, answer))
            exact = exact and len(profile.slots) <= _EXACT_DEVICES
            if not exact and round_ >= 2:
                shrink *= _SHRINK
            continue
        proven = answer.status == "optimal" and exact and shrink == 1.0
        gap = 0.0 if proven else max(0.0, (bound - answer.score) / bound)
        spent = time.monotonic() - began
        return Casting("optimal" if proven else "feasible", tuple(placed), answer.score / SCORE_SCALE, gap, spent)
    return Casting("unknown", (), 0.0, 1.0, time.monotonic() - began)


def _groups(pool: Sequence[Candidate], answer: MasterResult) -> list[tuple[Candidate, int, list[str]]]:
    agents: dict[int, list[str]] = {}
    for agent, j in answer.plays.items():
        agents.setdefault(j, []).append(agent)
    return [(pool[j], answer.uses[j], members) for j, members in sorted(agents.items())]


def _cut(pool: Sequence[Candidate], answer: MasterResult) -> Cut:
    return frozenset((pool[j].name, count) for j, count in answer.uses.items()), frozenset(answer.plays.items())
