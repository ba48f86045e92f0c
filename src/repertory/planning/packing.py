"""Where each instance goes: devices in aligned blocks, so that no device holds more than it has.

A group of n devices is a block that starts at a multiple of n inside one machine, as engines and links want it. First
the largest and tightest are placed, each in the block that it fills best; where that fails, a small integer program
decides it exactly, and may spread the agents of one candidate over its copies in any way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertory.catalog.profiles import Slot
from repertory.planning.candidates import Candidate
from repertory.planning.solver import new_solver, solver_module
from repertory.planning.together import Together

__all__ = ("Group", "Placement", "blocks_of", "memory_of", "pack", "pack_exactly", "pack_loosely")

Group = tuple[Candidate, int, Sequence[str]]
"""A candidate, the number of its copies, and the agents that play on them."""

_EXACT_LIMIT = 20_000
"""Variables up to which the exact placement is tried."""


@dataclass(frozen=True)
class Placement:
    """One copy of a candidate on its devices.

    Attributes:
        slots: Indexes of the devices.
        load_mib: Memory on each of them.
        resident: False where it sleeps while others run (swap plans).
    """

    candidate: Candidate
    slots: tuple[int, ...]
    agents: tuple[str, ...]
    load_mib: int
    resident: bool = True


def blocks_of(slots: Sequence[Slot], kind: str, span: int) -> list[tuple[int, ...]]:
    """Aligned blocks of `span` devices of a kind inside one machine."""
    nodes: dict[int, list[int]] = {}
    for index, slot in enumerate(slots):
        if slot.device.id == kind:
            nodes.setdefault(slot.node, []).append(index)
    return [
        tuple(members[first : first + span])
        for members in nodes.values()
        for first in range(0, len(members) - span + 1, span)
    ]


def pack(
    groups: Sequence[Group], slots: Sequence[Slot], together: Together, *, limit_s: float = 2.0
) -> list[Placement] | None:
    """Place candidates with their number of copies and their agents; None where no placement was found."""
    quick = _first_fit(groups, slots, together)
    if quick is not None:
        return quick
    size = sum(
        (1 + len(agents)) * len(blocks_of(slots, candidate.kind, candidate.span)) for candidate, _, agents in groups
    )
    return pack_exactly(groups, slots, together, limit_s=limit_s) if size <= _EXACT_LIMIT else None


def _split(candidate: Candidate, copies: int, agents: Sequence[str]) -> list[list[str]]:
    """Spread agents over copies, the largest cache first, each to the emptiest copy."""
    parts: list[list[str]] = [[] for _ in range(copies)]
    sums = [0] * copies
    for agent in sorted(agents, key=lambda name: (-candidate.agent_mib[name], name)):
        least = min(range(copies), key=lambda i: (sums[i], i))
        parts[least].append(agent)
        sums[least] += candidate.agent_mib[agent]
    return [part for part in parts if part]


def _split_to_fit(candidate: Candidate, agents: Sequence[str], room: int, together: Together) -> list[list[str]]:
    """Spread agents over as many copies as it takes for each to fit a device, the largest cache first."""
    parts: list[list[str]] = []
    for agent in sorted(agents, key=lambda name: (-candidate.agent_mib[name], name)):
        for part in parts:
            if candidate.load_mib([*part, agent], together) <= room:
                part.append(agent)
                break
        else:
            parts.append([agent])
    return parts


def pack_loosely(groups: Sequence[Group], slots: Sequence[Slot], together: Together) -> list[Placement] | None:
    """Place with more copies than asked for where that helps: the scores stay, the number of instances may rise."""
    return _first_fit(groups, slots, together, more_copies=True)


def _first_fit(
    groups: Sequence[Group], slots: Sequence[Slot], together: Together, *, more_copies: bool = False
) -> list[Placement] | None:
    room = [slot.room_mib for slot in slots]
    items: list[tuple[int, int, Candidate, list[str]]] = []
    for candidate, copies, agents in groups:
        parts = _split(candidate, copies, agents)
        if more_copies:
            most = max((slot.room_mib for slot in slots if slot.device.id == candidate.kind), default=0)
            parts = _split_to_fit(candidate, agents, most, together)
        for part in parts:
            load = candidate.load_mib(part, together)
            items.append((candidate.span, load, candidate, part))
    placed: list[Placement] = []
    known: dict[tuple[str, int], list[tuple[int, ...]]] = {}
    for span, load, candidate, part in sorted(items, key=lambda item: (-item[0], -item[1], item[2].name)):
        key = (candidate.kind, span)
        if key not in known:
            known[key] = blocks_of(slots, candidate.kind, span)
        able = [block for block in known[key] if all(room[d] >= load for d in block)]
        if not able:
            return None
        best = min(able, key=lambda block: (sum(room[d] for d in block), block))
        for d in best:
            room[d] -= load
        placed.append(Placement(candidate, best, tuple(sorted(part)), load))
    return placed


def pack_exactly(
    groups: Sequence[Group], slots: Sequence[Slot], together: Together, *, limit_s: float = 2.0
) -> list[Placement] | None:
    """Decide the placement by an integer program; None where there is none, or the time was up."""
    if any(not blocks_of(slots, candidate.kind, candidate.span) for candidate, _, _ in groups):
        return None
    cp = solver_module()
    model = cp.CpModel()
    loads: dict[int, list[Any]] = {d: [] for d in range(len(slots))}
    options: list[tuple[Candidate, tuple[int, ...], Any, dict[str, Any]]] = []
    by_agent: dict[str, list[Any]] = {}
    for g, (candidate, copies, agents) in enumerate(groups):
        here: list[Any] = []
        for b, block in enumerate(blocks_of(slots, candidate.kind, candidate.span)):
            used = model.new_bool_var(f"used{g}_{b}")
            places = {agent: model.new_bool_var(f"at{g}_{b}_{agent}") for agent in agents}
            for agent, var in places.items():
                model.add_implication(var, used)
                by_agent.setdefault(agent, []).append(var)
            cache = model.new_int_var(0, slots[block[0]].room_mib, f"cache{g}_{b}")
            for group in candidate.cached_at_once(together):
                model.add(cache >= sum(candidate.agent_mib[a] * var for a, var in places.items() if a in group))
            load = candidate.fixed_mib * used + cache
            for d in block:
                loads[d].append(load)
            here.append(used)
            options.append((candidate, block, used, places))
        model.add(sum(here) <= copies)
    for places in by_agent.values():
        model.add_exactly_one(places)
    for d, parts in loads.items():
        model.add(sum(parts) <= slots[d].room_mib)
    solver = new_solver(limit_s)
    if solver.solve(model) not in (cp.OPTIMAL, cp.FEASIBLE):
        return None
    placed: list[Placement] = []
    for candidate, block, used, places in options:
        mine = tuple(sorted(agent for agent, var in places.items() if solver.value(var)))
        if solver.value(used) and mine:
            placed.append(Placement(candidate, block, mine, candidate.load_mib(mine, together)))
    return placed


def memory_of(placed: Sequence[Placement]) -> Mapping[int, int]:
    """MiB that are taken, by device."""
    taken: dict[int, int] = {}
    for item in placed:
        for d in item.slots:
            taken[d] = taken.get(d, 0) + item.load_mib
    return taken
