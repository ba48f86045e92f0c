"""The schedule of a turn, derived from the fresh reads of a team. Nobody writes it by hand."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from repertory.errors import TeamError
from repertory.runtime.team import ReadMode, Team

__all__ = ("Schedule", "derive_schedule", "find_cycles", "fresh_waits", "section_writers")

FIRST_REPLY_PRIORITY = 0
CRITICAL_PRIORITY = 1
OTHER_PRIORITY = 2
IDLE_PRIORITY = 9


@dataclass(frozen=True)
class Schedule:
    """Who waits for whom in a turn.

    Attributes:
        waits_for: Per agent, the agents whose commit of this turn it reads fresh, in the team's order.
        stages: The agents by the earliest step in which they can start; all of a stage can run at once.
        critical_path: One longest chain of agents that wait for each other, first to last.
        critical: All agents on a longest chain. Where an agent waits for several that are equally far along, only
            those without a deadline count, as the others can not hold it up for longer than they are allowed.
        priorities: Per agent, lower runs first: the first reply, then the critical agents, then the rest.
        time_shares: Per agent, the part of the turn's time at whose end it is dropped, so that those who wait for it
            still have theirs; by the longest answers of each stage. 1 for an agent that nobody waits for.
    """

    waits_for: Mapping[str, tuple[str, ...]]
    stages: tuple[tuple[str, ...], ...]
    critical_path: tuple[str, ...]
    critical: frozenset[str]
    priorities: Mapping[str, int]
    time_shares: Mapping[str, float]

    @property
    def steps(self) -> int:
        """How many agents run one after the other at least: the length of the critical path."""
        return len(self.critical_path)

    def stage_of(self, agent: str) -> int:
        """The number of the stage in which an agent can start, from 0."""
        return next(number for number, stage in enumerate(self.stages) if agent in stage)


def section_writers(team: Team) -> dict[str, list[str]]:
    """Per section, the agents that write it (more than one is an error that `check_team` tells)."""
    writers: dict[str, list[str]] = {}
    for name, agent in team.agents.items():
        writers.setdefault(agent.writes, []).append(name)
    return writers


def fresh_waits(team: Team) -> dict[str, tuple[str, ...]]:
    """Per agent, the writers of what it reads fresh, in the team's order."""
    writers = section_writers(team)
    order = {name: position for position, name in enumerate(team.agents)}
    waits: dict[str, tuple[str, ...]] = {}
    for name, agent in team.agents.items():
        fresh = (section for section, read in agent.reads.items() if read.mode is ReadMode.FRESH)
        waits[name] = tuple(sorted({w for section in fresh for w in writers.get(section, ())}, key=order.__getitem__))
    return waits


def find_cycles(waits: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Cycles among agents that wait for each other, no agent in two of them; empty when there is none.

    Each is `(a, b, a)` for: a waits for b, which waits for a. An agent that waits for itself gives `(a, a)`.
    """
    left = {name: [other for other in others if other in waits] for name, others in waits.items()}
    cycles: list[tuple[str, ...]] = []
    while True:
        left = _without_free(left)
        if not left:
            return cycles
        cycle = _cycle_in(left)
        cycles.append(cycle)
        gone = set(cycle)
        left = {name: [o for o in others if o not in gone] for name, others in left.items() if name not in gone}


def _without_free(waits: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Take away, again and again, every agent that waits for nobody; what remains holds a cycle or is empty."""
    waiting: dict[str, list[str]] = {name: [] for name in waits}
    for name, others in waits.items():
        for other in others:
            waiting[other].append(name)
    open_waits = {name: len(others) for name, others in waits.items()}
    free = deque(name for name, count in open_waits.items() if count == 0)
    while free:
        done = free.popleft()
        del open_waits[done]
        for name in waiting[done]:
            open_waits[name] -= 1
            if open_waits[name] == 0:
                free.append(name)
    return {name: [other for other in waits[name] if other in open_waits] for name in waits if name in open_waits}


def _cycle_in(waits: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A short cycle; every agent of `waits` waits for another of them."""
    seen: set[str] = set()
    name = next(iter(waits))
    while name not in seen:
        seen.add(name)
        name = waits[name][0]
    # `name` is on a cycle; the shortest one through it is the easiest to read.
    came_from: dict[str, str] = {}
    queue = deque([name])
    while name not in came_from:
        current = queue.popleft()
        for other in waits[current]:
            if other not in came_from:
                came_from[other] = current
                queue.append(other)
    path = [name]
    while len(path) == 1 or path[-1] != name:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))


def derive_schedule(team: Team, code_sections: Collection[str] = ()) -> Schedule:
    """Derive who waits for whom, what can start at once, and what is urgent.

    Args:
        team: The team; `check_team` should have found no error in it.
        code_sections: Sections that the team's code fills; nobody waits for them.

    Raises:
        TeamError: The fresh reads have a cycle (its path is named), or nobody writes what an agent waits for.
    """
    writers = section_writers(team)
    for name, agent in team.agents.items():
        for section, read in agent.reads.items():
            if read.mode is ReadMode.FRESH and section not in writers and section not in code_sections:
                message = f"`{name}` waits for section `{section}`, which no agent writes"
                raise TeamError(message, where=f"agents.{name}.reads.{section}")
    waits = fresh_waits(team)
    if cycles := find_cycles(waits):
        path = " -> ".join(cycles[0])
        message = f"these agents wait for each other: {path}"
        raise TeamError(message, where=f"agents.{cycles[0][0]}.reads", hint="make one of these reads `latest`")

    depth = _depths(waits)
    stages = tuple(tuple(n for n in team.agents if depth[n] == number) for number in range(max(depth.values()) + 1))
    path, critical = _critical(team, waits, depth)
    first = writers.get(team.replies.first or "", [])
    priorities = {
        name: FIRST_REPLY_PRIORITY if name in first else CRITICAL_PRIORITY if name in critical else OTHER_PRIORITY
        for name in team.agents
    }
    return Schedule(
        waits_for=waits,
        stages=stages,
        critical_path=path,
        critical=critical,
        priorities=priorities,
        time_shares=_time_shares(team, waits, stages),
    )


def _time_shares(team: Team, waits: Mapping[str, Sequence[str]], stages: Sequence[Sequence[str]]) -> dict[str, float]:
    longest = [max(team.agents[name].max_output_tokens for name in stage) for stage in stages]
    awaited = {other for others in waits.values() for other in others}
    ends = [sum(longest[: number + 1]) / sum(longest) for number in range(len(stages))]
    return {name: ends[number] if name in awaited else 1.0 for number, stage in enumerate(stages) for name in stage}


def _depths(waits: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Per agent, the length of the longest chain that must be done before it."""
    depth: dict[str, int] = {}
    stack = list(waits)
    while stack:
        name = stack[-1]
        open_waits = [other for other in waits[name] if other not in depth]
        if name in depth or not open_waits:
            depth.setdefault(name, 1 + max((depth[other] for other in waits[name]), default=-1))
            stack.pop()
        else:
            stack.extend(open_waits)
    return depth


def _critical(
    team: Team, waits: Mapping[str, Sequence[str]], depth: Mapping[str, int]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """One longest chain, and every agent on a longest chain."""
    last_stage = max(depth.values())
    ends = [name for name in waits if depth[name] == last_stage]
    # Of equally long chains, the one that the person waits for.
    ends.sort(key=lambda name: team.agents[name].writes != team.replies.full)

    def gates(name: str) -> list[str]:
        deepest = [other for other in waits[name] if depth[other] == depth[name] - 1]
        reads = team.agents[name].reads
        hard = [other for other in deepest if reads[team.agents[other].writes].within_s is None]
        return hard or deepest

    critical = set(ends)
    queue = list(ends)
    while queue:
        for other in gates(queue.pop()):
            if other not in critical:
                critical.add(other)
                queue.append(other)
    path = [ends[0]]
    while before := gates(path[-1]):
        path.append(before[0])
    return tuple(reversed(path)), frozenset(critical)
