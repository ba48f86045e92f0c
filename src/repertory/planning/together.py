"""Which agents may run at the same time: the sets in which no one waits, directly or not, for another.

Memory for the KV cache is needed for one such set at a time, not for the whole team.
"""

from collections.abc import Mapping, Sequence

from repertory.planning.needs import AgentWork

__all__ = ("Together", "together_sets")

Together = tuple[frozenset[str], ...]

_MOST = 200


def _ancestors(agents: Sequence[str], work: Mapping[str, AgentWork]) -> dict[str, frozenset[str]]:
    known: dict[str, frozenset[str]] = {}

    def of(name: str, path: tuple[str, ...]) -> frozenset[str]:
        if name in path:
            msg = f"agents wait for each other in a circle: {' -> '.join((*path, name))}"
            raise ValueError(msg)
        if name not in known:
            before = [other for other in work.get(name, AgentWork()).after if other in agents]
            known[name] = frozenset(before).union(*(of(other, (*path, name)) for other in before))
        return known[name]

    for agent in agents:
        of(agent, ())
    return known


def together_sets(agents: Sequence[str], work: Mapping[str, AgentWork]) -> Together:
    """All maximal sets of agents that may run at once; the whole team where there are too many to list."""
    before = _ancestors(agents, work)
    free = {a: frozenset(b for b in agents if b != a and a not in before[b] and b not in before[a]) for a in agents}
    found: list[frozenset[str]] = []

    def grow(chosen: frozenset[str], possible: frozenset[str], done: frozenset[str]) -> bool:
        """Bron and Kerbosch's algorithm with a pivot; False when there are too many sets."""
        if not possible and not done:
            found.append(chosen)
            return len(found) <= _MOST
        pivot = max(sorted(possible | done), key=lambda a: len(possible & free[a]))
        for agent in sorted(possible - free[pivot]):
            if not grow(chosen | {agent}, possible & free[agent], done & free[agent]):
                return False
            possible -= {agent}
            done |= {agent}
        return True

    everyone = frozenset(agents)
    if not grow(frozenset(), everyone, frozenset()):
        return (everyone,)
    return tuple(sorted(found, key=sorted))
