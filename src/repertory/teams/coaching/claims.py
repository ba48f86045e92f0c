"""What each specialist's section says about the person, as claims with their evidence, in plain words."""

from dataclasses import dataclass

from repertory.runtime.rules import Claim, TurnView
from repertory.teams.coaching.claim_words import CLAIM_WORDS, to_you
from repertory.teams.coaching.drafts import Pattern
from repertory.teams.coaching.language import FixedLanguage
from repertory.teams.coaching.sections import PersonaSection, ShadowSection, StabilitySection

__all__ = ("Candidate", "persona_claims", "shadow_claims", "stability_claims")


@dataclass(frozen=True)
class Candidate:
    """A claim before it has a number, with what settles contradictions.

    Attributes:
        claim: The claim; its id is empty.
        stance: Claims of one topic with different stances contradict each other; empty contradicts nothing.
        recency: Higher is newer.
    """

    claim: Claim
    stance: str = ""
    recency: int = 0


def _sentence(template: str, text: str, language: FixedLanguage) -> str:
    return template.format(x=to_you(text, language))


def _promise_claims(view: TurnView, language: FixedLanguage) -> list[Candidate]:
    """The last promises that this message settles or leaves open."""
    words = CLAIM_WORDS[language]
    by_outcome = {"open": words.open, "kept": words.kept, "missed": words.missed, "dropped": words.dropped}
    told = [item for item in view.commitments if item.outcome == "open" or item.settled_in == view.message.id]
    found: list[Candidate] = []
    for item in told[-2:]:
        text, source = _sentence(by_outcome[item.outcome], item.what, language), item.settled_in or item.made_in
        stance = "kept" if item.outcome == "kept" else ""
        found.append(Candidate(Claim("", "shadow", f"promise {item.id}", text, (source,)), stance))
    return found


def shadow_claims(shadow: ShadowSection, view: TurnView, language: FixedLanguage) -> list[Candidate]:
    """Goal, priority, pattern, chance, and the promises this message is about."""
    words, evidence = CLAIM_WORDS[language], tuple(shadow.evidence)
    found: list[Candidate] = []
    if shadow.stated_goal:
        text = _sentence(words.goal, shadow.stated_goal, language)
        found.append(Candidate(Claim("", "shadow", "goal", text, evidence[-3:])))
    if shadow.revealed_priority:
        text = _sentence(words.priority, shadow.revealed_priority, language)
        found.append(Candidate(Claim("", "shadow", "priority", text, evidence[-3:])))
    if pattern := words.patterns.get(shadow.pattern):
        stance = "kept" if shadow.pattern is Pattern.STEADY_FOLLOW_THROUGH else "missed"
        found.append(Candidate(Claim("", "shadow", "pattern", pattern, evidence), stance))
    if shadow.prediction.n:
        found.append(_chance(shadow, view, language))
    return found + _promise_claims(view, language)


def _chance(shadow: ShadowSection, view: TurnView, language: FixedLanguage) -> Candidate:
    words, prediction = CLAIM_WORDS[language], shadow.prediction
    settled = [item for item in view.commitments if item.outcome in {"kept", "missed"}]
    kept = sum(item.outcome == "kept" for item in settled)
    counted = f"{kept} of {len(settled)} "
    if prediction.basis.startswith(counted) and prediction.n_used == len(settled):
        record = words.record.format(kept=kept, n=len(settled))
    else:
        # The forecast rests on promises of the same kind; its own words begin with how many were kept.
        alike = prediction.basis.split(" ", 1)[0]
        record = words.alike.format(kept=alike, n=prediction.n_used) if alike.isdigit() else ""
    text = words.chance.format(record=record, chance=round(100 * prediction.p)).strip()
    rests_on = tuple(item.settled_in for item in settled if item.settled_in) or tuple(shadow.evidence)
    return Candidate(Claim("", "shadow", "chance", text, rests_on, prediction.p))


def persona_claims(persona: PersonaSection, language: FixedLanguage) -> list[Candidate]:
    """Growth edge, goals that recur, and follow-through."""
    words = CLAIM_WORDS[language]
    found = [
        Candidate(Claim("", "persona", "growth", _sentence(words.growth, edge.what, language), tuple(edge.evidence)))
        for edge in persona.growth_edges[-1:]
    ]
    for goal in persona.recurring_goals:
        if goal.times > 1:
            text = words.recurring.format(times=goal.times, x=to_you(goal.goal, language))
            found.append(Candidate(Claim("", "persona", "recurring", text, tuple(goal.said_in))))
    record = persona.follow_through
    if record.n >= 3:
        stance = "kept" if record.missed == 0 else "missed" if record.kept == 0 else ""
        text = words.record.format(kept=record.kept, n=record.n)
        evidence = tuple(dict.fromkeys(item for edge in persona.growth_edges for item in edge.evidence))
        if stance and evidence:
            found.append(Candidate(Claim("", "persona", "pattern", text, evidence), stance))
    return found


def stability_claims(stability: StabilitySection) -> list[Candidate]:
    """The newest risk that a model found and that is not low."""
    risks = [risk for risk in stability.risks if risk.source == "model" and risk.priority != "L"]
    return [
        Candidate(Claim("", "stability", "risk", f"risk: {risk.what}", tuple(risk.evidence))) for risk in risks[-1:]
    ]
