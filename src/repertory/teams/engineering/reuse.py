"""Whether an agent that is deployed serves a request already. Code decides: words by BM25, contracts by signature.

A wrong yes costs more than a wrong no: who is told that an agent is there stops looking. So two texts must share almost
all of their weight, and a contract that was given must be the agent's own.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from repertory.registry.registry import Loaded
from repertory.teams.engineering.contract import Contract

__all__ = ("Similar", "find_similar")

_WORD = re.compile(r"[a-z0-9]+")
_COMMON = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "i", "if", "in", "into", "is"),
        *("it", "its", "me", "no", "not", "of", "on", "one", "or", "that", "the", "then", "this", "to", "what", "when"),
        *("which", "will", "with", "would", "you", "agent", "also", "build", "can", "make", "need", "please", "should"),
        *("tool", "tools", "want"),
    }
)
_K1, _B = 1.2, 0.75
_SERVES_WITH_CONTRACT = 0.6
_SERVES_BY_WORDS = 0.85
_WORTH_TELLING = 0.4
_OF_PACKAGE = 0.8
_FEWEST_WORDS = 3


@dataclass(frozen=True)
class Similar:
    """An agent that is near a request.

    Attributes:
        label: `agent@version`.
        likeness: The share of the texts' weight that they have in common, from 0 to 1.
        serves: Whether it does what is asked for.
    """

    label: str
    likeness: float
    serves: bool


def find_similar(request: str, contract: Contract | None, agents: Sequence[Loaded]) -> Similar | None:
    """The agent that is nearest to a request; None when none is worth telling.

    Args:
        request: What the person wants.
        contract: The contract that they gave.
        agents: The agents that answer.
    """
    texts = [_words(_text_of(loaded)) for loaded in agents]
    asked = _words(request)
    if len(asked) < _FEWEST_WORDS or not agents:
        return None
    weights = _Weights([*texts, asked])
    found: list[Similar] = []
    for loaded, text in zip(agents, texts, strict=True):
        # Two requests are one when each has nearly all that is in the other; what else a package says proves less.
        original = _words(str(loaded.package.evidence.get("request") or ""))
        both = min(weights.covered(asked, original), weights.covered(original, asked))
        likeness = max(both, _OF_PACKAGE * weights.covered(asked, text))
        if contract is not None:
            serves = _same_tools(contract, loaded) and likeness >= _SERVES_WITH_CONTRACT
        else:
            serves = likeness >= _SERVES_BY_WORDS
        found.append(Similar(loaded.version.label, round(likeness, 2), serves))
    best = max(found, key=lambda one: (one.serves, one.likeness))
    return best if best.serves or best.likeness >= _WORTH_TELLING else None


class _Weights:
    """BM25 over the texts at hand."""

    def __init__(self, texts: Sequence[Counter[str]]) -> None:
        self._count = len(texts)
        self._in = Counter(word for text in texts for word in text)
        self._mean = sum(sum(text.values()) for text in texts) / max(1, len(texts))

    def covered(self, asked: Counter[str], text: Counter[str]) -> float:
        """The score of a text for a question, as a share of what the question would score for itself."""
        whole = self._score(asked, asked)
        return min(1.0, self._score(asked, text) / whole) if whole else 0.0

    def _score(self, asked: Counter[str], text: Counter[str]) -> float:
        length = sum(text.values()) / self._mean if self._mean else 0.0
        total = 0.0
        for word in asked:
            rare = math.log(1 + (self._count - self._in[word] + 0.5) / (self._in[word] + 0.5))
            often = text[word]
            total += rare * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * length)) if often else 0.0
        return total


def _words(text: str) -> Counter[str]:
    found = (word for word in _WORD.findall(text.casefold()) if word not in _COMMON)
    return Counter(_stem(word) for word in found)


def _stem(word: str) -> str:
    """Plurals and the commonest endings off: enough for two ways to say one thing."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _text_of(loaded: Loaded) -> str:
    manifest, evidence = loaded.package.manifest, loaded.package.evidence
    contract = evidence.get("contract")
    told = cast("dict[str, Any]", contract).get("text") if isinstance(contract, dict) else ""
    tools = " ".join(f"{tool.name.replace('_', ' ')} {tool.description}" for tool in manifest.tools)
    return " ".join((manifest.purpose, tools, str(evidence.get("request") or ""), str(told or "")))


def _same_tools(contract: Contract, loaded: Loaded) -> bool:
    """Whether the agent has every function of a contract, with the same arguments and results."""
    return bool(contract.tools) and all(
        (declared := loaded.package.manifest.tool(tool.name)) is not None
        and declared.input_schema == tool.input_schema
        and declared.output_schema == tool.output_schema
        for tool in contract.tools
    )
