"""One model for all agents: what people make by hand, and what stands in when the time for something better is up."""

from collections.abc import Mapping, Sequence

from repertory.catalog.profiles import Slot
from repertory.planning.candidates import Candidate
from repertory.planning.needs import AgentNeeds
from repertory.planning.packing import Placement, pack, pack_loosely
from repertory.planning.together import Together

__all__ = ("one_model_for_all",)


def one_model_for_all(
    found: Sequence[Candidate],
    agents: Mapping[str, AgentNeeds],
    slots: Sequence[Slot],
    together: Together,
    *,
    copies: bool = False,
) -> list[Placement] | None:
    """The model that serves every agent with the best sum of scores; None where none can be placed.

    Args:
        found: Candidates.
        agents: Who must play.
        slots: The devices.
        together: Sets of agents that may run at once.
        copies: Whether it may run as more than one instance, where one does not hold the cache of all.
    """
    able = [candidate for candidate in found if candidate.scores.keys() >= agents.keys()]
    able.sort(key=lambda c: c.fixed_mib * c.span)
    able.sort(key=lambda c: sum(c.scores[a].total * agents[a].importance for a in agents), reverse=True)
    for candidate in able:
        whole = [(candidate, 1, tuple(agents))]
        placed = pack(whole, slots, together) or (pack_loosely(whole, slots, together) if copies else None)
        if placed:
            return placed
    return None
