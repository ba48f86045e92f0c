"""What of the remembered facts goes into a prompt: a bounded memory, and what a message calls back."""

from collections import Counter
from collections.abc import Sequence

from repertory.runtime.compaction.facts import Fact, content_words, same_fact

__all__ = ("MAX_MEMORY_CHARS", "recall", "remembered_text")

MAX_MEMORY_CHARS = 1200
"""About 300 tokens."""

_MOST_RECALLED = 5
_COMMON = 0.2
"""A word that stands in more than this part of all facts calls nothing back."""


def _line(fact: Fact) -> str:
    return f"- {fact.date} ({fact.message}): {fact.text}"


def remembered_text(facts: Sequence[Fact], limit: int = MAX_MEMORY_CHARS) -> str:
    """The memory of earlier sessions, at most `limit` characters; empty when nothing is remembered.

    What was said again and again comes first, then what lasts, then what is newest; the lines stand in the order in
    which things were said, each with its date and message. Of two that say the same, the newer stands.
    """
    told: list[tuple[Fact, int]] = []
    for fact in reversed(facts):
        known = next((n for n, (other, _) in enumerate(told) if same_fact(other.text, fact.text)), None)
        if known is None:
            told.append((fact, 1))
        else:
            told[known] = (told[known][0], told[known][1] + 1)
    place = {id(fact): number for number, (fact, _) in enumerate(told)}
    by_worth = sorted(told, key=lambda one: (-min(one[1], 3), not one[0].lasting, place[id(one[0])]))
    kept: list[Fact] = []
    left = limit
    for fact, _ in by_worth:
        size = len(_line(fact)) + 1
        if size <= left:
            kept.append(fact)
            left -= size
    kept.sort(key=lambda fact: -place[id(fact)])
    return "\n".join(_line(fact) for fact in kept)


def recall(facts: Sequence[Fact], message: str, memory: str = "") -> str:
    """The few facts that share rare words with a message and do not stand in the memory already; empty when none do.

    Args:
        facts: All facts, oldest first.
        message: The person's message.
        memory: The memory that the prompt has anyway.
    """
    common = Counter(word for fact in facts for word in content_words(fact.text))
    most = max(2.0, _COMMON * len(facts))
    asked = {word for word in content_words(message) if 0 < common[word] <= most}
    found: list[tuple[float, int, Fact]] = []
    for number, fact in enumerate(facts):
        shared = asked & content_words(fact.text)
        if shared and fact.text not in memory:
            found.append((sum(1 / common[word] for word in shared), number, fact))
    best: list[tuple[int, Fact]] = []
    for _, number, fact in sorted(found, key=lambda one: (-one[0], -one[1])):
        if len(best) < _MOST_RECALLED and not any(same_fact(fact.text, other.text) for _, other in best):
            best.append((number, fact))
    return "\n".join(_line(fact) for _, fact in sorted(best, key=lambda one: one[0]))
