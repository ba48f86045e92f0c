"""What a person has corrected about themselves: it stands above everything that a model or a rule says.

Corrections are a section of the blackboard of their own, written in the person's name, so that they are seen, traced,
exported, forgotten and erased like everything else.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from repertory.errors import UsageError
from repertory.runtime.rules import TurnView
from repertory.teams.coaching.evidence import latest_value
from repertory.teams.coaching.ocean import DOMAINS, Domain
from repertory.teams.coaching.words import overlap, quote

__all__ = ("CORRECTIONS", "FACTS", "Corrections", "Fact", "corrections_in", "corrections_of")

CORRECTIONS = "corrections"
"""The section's name."""

Fact = Literal["goal", "priority", "growth_edge"]
FACTS: tuple[Fact, ...] = get_args(Fact)
_SAME = 0.5
_MAX_FACT = 200


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TraitCorrection(_Part):
    """A trait as the person sees it."""

    score: float = Field(ge=0, le=100)
    at: datetime


class FactCorrection(_Part):
    """A fact as the person sees it; an empty text says that it is not so and names nothing else."""

    text: str
    at: datetime


class Corrections(_Part):
    """All corrections of a person.

    Attributes:
        traits: Traits that the person has set.
        facts: Facts that the person has set.
        rejected: What was said before and is not so; nothing like it is said again.
    """

    traits: dict[Domain, TraitCorrection] = {}
    facts: dict[Fact, FactCorrection] = {}
    rejected: list[str] = Field(default=[], max_length=50)

    def with_trait(self, name: str, score: float | None, at: datetime) -> "Corrections":
        """Set a trait, or withdraw the correction (None).

        Raises:
            UsageError: There is no such trait, or the score is out of range.
        """
        domain = _domain(name)
        traits = {key: value for key, value in self.traits.items() if key != domain}
        if score is not None:
            if not 0 <= score <= 100:
                message = f"a trait is from 0 to 100, not {score:g}"
                raise UsageError(message)
            traits[domain] = TraitCorrection(score=score, at=at)
        return self.model_copy(update={"traits": traits})

    def with_fact(self, name: str, text: str, at: datetime, *, before: str = "") -> "Corrections":
        """Set a fact; what stood there before is not said again.

        Raises:
            UsageError: There is no such fact.
        """
        wanted = name.replace("-", "_")
        fact: Fact | None = next((item for item in FACTS if item == wanted), None)
        if fact is None:
            message = f"there is no fact {name!r} to correct"
            raise UsageError(message, hint=f"facts: {', '.join(FACTS)}; or a trait with --trait")
        stands = quote(text, _MAX_FACT)
        wrong = [before] if before and overlap(before, stands) < _SAME else []
        rejected = [item for item in (*self.rejected, *wrong) if not stands or overlap(item, stands) < _SAME]
        facts: dict[Fact, FactCorrection] = dict(self.facts)
        facts[fact] = FactCorrection(text=stands, at=at)
        return self.model_copy(update={"facts": facts, "rejected": list(dict.fromkeys(rejected))[-50:]})

    def rejects(self, text: str) -> bool:
        """Whether the person said that this is not so."""
        return any(overlap(item, text) >= _SAME for item in self.rejected)

    def fact(self, name: Fact) -> str | None:
        """A fact as the person has set it, None when they have not."""
        found = self.facts.get(name)
        return None if found is None else found.text


def _domain(name: str) -> Domain:
    wanted = name.strip().casefold()
    for domain in DOMAINS:
        if wanted in {domain, domain[0]}:
            return domain
    message = f"there is no trait {name!r}"
    raise UsageError(message, hint=f"traits: {', '.join(DOMAINS)}")


def corrections_in(value: object) -> Corrections:
    """The corrections that a section's value holds; none when it can not be read."""
    if not isinstance(value, Mapping):
        return Corrections()
    try:
        return Corrections.model_validate(value)
    except ValidationError:
        return Corrections()


def corrections_of(view: TurnView) -> Corrections:
    """The corrections that stand in a turn."""
    return corrections_in(latest_value(view, CORRECTIONS))
