"""Grounding: which claims hold a sentence. A sentence of the reply that no claim holds is not said.

By words, not by meaning: a claim holds a sentence when the sentence shares enough topic stems with what the claim
says and with the messages it rests on, and has no number that is in neither. So a sentence that could be said to
anybody is held by nothing. A sentence that twists a claim in the claim's own words is not found out; claims are short,
and Synth has nothing else to speak of.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repertory.runtime.rules import Claim
from repertory.teams.coaching.numbers import numbers_in
from repertory.teams.coaching.words import content_stems

__all__ = ("HeldClaim", "holders", "unfounded_numbers")

# What every coach says: sharing one of these words with a claim proves nothing.
_EMPTY = content_stems(
    """
    plan plans goal goals step steps next promise promises want wants matter matters keep kept happen learn learning
    hard time take takes fits commitment commitments focus priority task tasks important help think guess rough place
    address gap plano planos meta metas objetivo passo passos promessa promessas aprender dificil tempo importante
    estimativa lugar proximo proxima planes paso pasos promesa promesas tiempo calculo ziel ziele schritt schritte
    vorsatz versprechen planen schaffen lernen zeit wichtig platz schatzung nachste nachsten but buts pas promesse
    promesses temps apprendre difficile important estimation prochain prochaine place
    """
)
_SHARED_STEMS = 2
_SHARE = 0.25
"""Of a sentence's topic stems, the share that a claim must know."""
_LEAST_WORD = 3
"""Numbers written as words count from here: "one step" and "two sides" are no claims about the person."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?\s?%?")


@dataclass(frozen=True)
class HeldClaim:
    """A claim with the words of the messages it rests on."""

    claim: Claim
    evidence: str = ""

    @property
    def stems(self) -> frozenset[str]:
        """The topic stems of what it says and rests on."""
        return (content_stems(self.claim.text) | content_stems(self.evidence)) - _EMPTY


def holders(
    sentence: str, claims: Sequence[HeldClaim], cited: Sequence[str] = (), *, loose: bool = False
) -> tuple[str, ...]:
    """The ids of the claims that hold a sentence, at most two: the cited ones first, then the one that fits best.

    Args:
        sentence: The sentence.
        claims: All claims of the turn.
        cited: Ids that the model gave; believed only where the words bear them out.
        loose: One shared stem is enough (for a question or a step, which look ahead).
    """
    stems = content_stems(sentence) - _EMPTY
    if not stems:
        return _number_holders(sentence, claims)
    least = 1 if loose else min(_SHARED_STEMS, len(stems))
    fits: dict[str, int] = {}
    for held in claims:
        shared = len(stems & held.stems)
        if shared >= least and (loose or shared / len(stems) >= _SHARE):
            fits[held.claim.id] = shared
    named = [item for item in dict.fromkeys(cited) if item in fits]
    ranked = sorted(fits, key=lambda item: (-fits[item], item))
    by_words = named[:2] or ranked[:1]
    # A percentage belongs to the claim that computed it, whatever else the sentence says.
    computed = _number_holders(sentence, claims) if "%" in sentence else ()
    return tuple(dict.fromkeys((*computed, *by_words)))[:2]


def _number_holders(sentence: str, claims: Sequence[HeldClaim]) -> tuple[str, ...]:
    """The claim that holds a sentence of which only its numbers say something ("2 of 5 promises, about 56 %")."""
    numbers = _written(sentence)
    if not numbers:
        return ()
    return tuple(held.claim.id for held in claims if numbers <= _written(held.claim.text))[:1]


def _written(text: str) -> set[str]:
    return {match.group().replace(" ", "").replace(",", ".") for match in _NUMBER.finditer(text)}


def unfounded_numbers(sentence: str, sources: Sequence[str]) -> set[str]:
    """Numbers and percentages of a sentence that none of the sources has; a percentage needs the same percentage."""
    known = set[str]().union(*(_written(source) for source in sources))
    bare = {number.rstrip("%") for number in known}
    found = {number for number in _written(sentence) if number not in known and ("%" in number or number not in bare)}
    values = {value for source in sources for value in numbers_in(source)}
    plain = _NUMBER.sub(" ", sentence)  # digits are judged above
    spelled = {str(value) for value in numbers_in(plain) if value >= _LEAST_WORD and value not in values}
    return found | {value for value in spelled if value not in bare}
