"""The best plan: the integer program gives who plays on what, the placement gives where, until both agree."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repertory.catalog.profiles import DeviceProfile
from repertory.planning.candidates import Candidate, prune
from repertory.planning.master import Capacity, Cut, MasterResult, solve_master
from repertory.planning.needs import AgentNeeds
from repertory.planning.packing import Placement, device_room_mib, pack

__all__ = ("Casting", "capacities", "cast")

_LARGE = 400_000
"""Places (agents times candidates) from which the solver may use more than one worker."""
_ROUNDS = 40
_SHRINK = 0.98

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
    workers = 2 if sum(len(candidate.scores) for candidate in pool) > _LARGE else 1
    cuts: list[Cut] = []
    names = list(agents)
    best_bound: int | None = None
    shrink = 1.0
    for round_ in range(_ROUNDS):
        left = limit_s - (time.monotonic() - began)
        if left <= 0:
            break
        answer = solve_master(
            pool, importance, capacity, limit_s=left, cuts=cuts, workers=workers, progress=progress, shrink=shrink
        )
        if answer.status in ("infeasible", "unknown"):
            if shrink < 1.0 and answer.status == "infeasible":
                break
            status = "infeasible" if answer.status == "infeasible" else "unknown"
            return Casting(status, (), 0.0, 0.0, time.monotonic() - began)
        best_bound = answer.bound if best_bound is None else best_bound
        placed = pack(_groups(pool, answer), profile.slots, limit_s=max(0.5, min(5.0, left / 4)))
        if placed is not None:
            gap = (best_bound - answer.score) / best_bound if best_bound else 0.0
            proven = answer.status == "optimal" and shrink == 1.0
            exact = proven and all(_is_no_good_exact(profile, pool) for _ in cuts[:1])
            status = "optimal" if exact else "feasible"
            scale = 1000.0
            return Casting(status, tuple(placed), answer.score / scale, max(gap, 0.0) if status != "optimal" else 0.0,
                           time.monotonic() - began)  # fmt: skip
        if progress is not None:
            progress(f"that cast does not fit device by device; looking for the next one ({round_ + 1})")
        cuts.append(_cut(pool, answer, names))
        if len(profile.slots) > 64 and round_ >= 3:
            shrink *= _SHRINK
    return Casting("unknown", (), 0.0, 1.0, time.monotonic() - began)


def _is_no_good_exact(profile: DeviceProfile, pool: Sequence[Candidate]) -> bool:
    """Whether a failed placement was decided exactly (small profiles), so that forbidding it lost nothing."""
    return len(profile.slots) <= 64 and bool(pool)


def _groups(pool: Sequence[Candidate], answer: MasterResult) -> list[tuple[Candidate, int, list[str]]]:
    agents: dict[int, list[str]] = {}
    for agent, j in answer.plays.items():
        agents.setdefault(j, []).append(agent)
    return [(pool[j], answer.uses[j], members) for j, members in sorted(agents.items())]


def _cut(pool: Sequence[Candidate], answer: MasterResult, names: Sequence[str]) -> Cut:
    uses = frozenset((pool[j].name, count) for j, count in answer.uses.items())
    index = {name: i for i, name in enumerate(names)}
    return uses, frozenset((index[agent], j) for agent, j in answer.plays.items())
