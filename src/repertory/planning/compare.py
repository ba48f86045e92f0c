"""The plan next to the two that people make by hand: one instance per agent, and one model for all."""

from collections.abc import Sequence
from dataclasses import dataclass

from repertory.catalog.profiles import DeviceProfile
from repertory.planning.one_model import one_model_for_all
from repertory.planning.packing import Group, Placement, pack
from repertory.planning.plan import Plan
from repertory.planning.together import Together, together_sets
from repertory.planning.turn_time import turn_time

__all__ = ("HandPlan", "compare")

_MOST = 64


@dataclass(frozen=True)
class HandPlan:
    """What a plan takes and gives.

    Attributes:
        devices: Devices of the profile's kind that it needs (more than the profile has where it does not fit).
        memory_gib: Memory over all of them.
        score: Weighted mean of the agents' scores, in percent.
        cost_per_thousand: Dollars for a thousand turns one after the other at the devices' lower price.
    """

    name: str
    devices: int | None
    instances: int
    memory_gib: float
    score: float
    turn_s: float | None
    cost_per_thousand: float | None
    fits: bool

    def document(self) -> dict[str, object]:
        """As JSON."""
        return {
            "plan": self.name,
            "devices": self.devices,
            "instances": self.instances,
            "memory_gib": round(self.memory_gib, 1),
            "score": round(self.score, 2),
            "turn_s": None if self.turn_s is None else round(self.turn_s, 1),
            "usd_per_thousand_turns": None if self.cost_per_thousand is None else round(self.cost_per_thousand, 2),
            "fits": self.fits,
        }


def compare(plan: Plan) -> list[HandPlan]:
    """The plan itself (on as few devices as it can), one instance per agent with the same models, one model for all."""
    if not plan.feasible:
        return []
    placed = plan.casting.placements
    rows = [_measure("repertory", plan, [(p.candidate, 1, p.agents) for p in placed], placed)]
    each = [(p.candidate, 1, (agent,)) for p in placed for agent in p.agents]
    rows.append(_measure("one instance per agent", plan, each))
    one = one_model_for_all(plan.found, plan.team.agents, plan.profile.slots, _sets(plan))
    if one:
        rows.append(_measure("one model for all", plan, [(one[0].candidate, 1, tuple(plan.team.agents))]))
    return rows


def _measure(
    name: str,
    plan: Plan,
    groups: Sequence[Group],
    placed: Sequence[Placement] | None = None,
) -> HandPlan:
    agents = plan.team.agents
    score = sum(c.scores[a].total * agents[a].importance for c, _, members in groups for a in members)
    weight = sum(agents[a].importance for _, _, members in groups for a in members)
    together = _sets(plan)
    memory = sum(c.span * c.load_mib(members, together) for c, _, members in groups) / 1024
    here = list(placed) if placed is not None else pack(groups, plan.profile.slots, together)
    swaps = plan.casting.swaps and placed is not None and any(not item.resident for item in placed)
    devices = len(plan.profile.slots) if swaps else _fewest(plan.profile, groups, together)
    on = here or pack(groups, _more(plan.profile, _MOST).slots, together)
    seconds = None
    if on is not None:
        seconds = turn_time(on, agents, plan.team.work, plan.team.first_reply, plan.team.full_reply).reply_s
    price = plan.profile.slots[0].device.price_usd_h
    cost = price.low * devices * seconds / 3.6 if price and devices and seconds is not None else None
    return HandPlan(name, devices, len(groups), memory, score / weight, seconds, cost, here is not None)


def _more(profile: DeviceProfile, count: int) -> DeviceProfile:
    """`count` devices like the profile's first one, eight to a machine."""
    first = profile.slots[0]
    slots = tuple(first.model_copy(update={"name": f"gpu{i}", "node": i // 8}) for i in range(count))
    return profile.model_copy(update={"slots": slots})


def _sets(plan: Plan) -> Together:
    return together_sets(list(plan.team.agents), plan.team.work)


def _fewest(profile: DeviceProfile, groups: Sequence[Group], together: Together) -> int | None:
    """The least number of devices of the profile's kind on which the groups can be placed."""
    if len({slot.device.id for slot in profile.slots}) > 1:
        return len(profile.slots) if pack(groups, profile.slots, together) is not None else None
    low = max(candidate.span for candidate, _, _ in groups)
    for count in range(low, _MOST + 1):
        if pack(groups, _more(profile, count).slots, together, limit_s=0.5) is not None:
            return count
    return None
