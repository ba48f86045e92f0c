"""What each specialist's section says about the person, as claims with their evidence, in plain words."""

import re
from dataclasses import dataclass

from repertory.runtime.rules import Claim, TurnView
from repertory.teams.coaching.drafts import Pattern
from repertory.teams.coaching.sections import PersonaSection, ShadowSection, StabilitySection

__all__ = ("Candidate", "persona_claims", "shadow_claims", "stability_claims", "to_you")

_PATTERN_WORDS = {
    Pattern.INTENTION_ACTION_GAP: "you plan it and it does not happen",
    Pattern.GOAL_SUBSTITUTION: "something else takes the place of your goal",
    Pattern.OVERCOMMITMENT: "you take on more than fits",
    Pattern.AVOIDANCE: "you step around what is uncomfortable",
    Pattern.ALL_OR_NOTHING: "it is all or nothing for you",
    Pattern.PLANNING_FALLACY: "you plan more than you get done",
    Pattern.RELAPSE_CYCLE: "there is a start, a slip, and a new start",
    Pattern.GOAL_CONFLICT: "two of your goals stand against each other",
    Pattern.STEADY_FOLLOW_THROUGH: "you keep what you plan",
}


# Only words that mean this in no other language of the team ("me" is Portuguese, Spanish and French too).
_PERSONS = {"i": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'll": "you'll", "i'm": "you're"}
_WANT = re.compile(r"^(?:i (?:want|would like|need|hope|plan) to|i'd like to|to) ", re.IGNORECASE)


def to_you(text: str) -> str:
    """English words of the person about themselves, said to them: "my novel" becomes "your novel"."""
    bare = _WANT.sub("", text.strip().rstrip("."))
    return re.sub(r"[\w']+", lambda word: _PERSONS.get(word.group().lower(), word.group()), bare)


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


def shadow_claims(shadow: ShadowSection, view: TurnView) -> list[Candidate]:
    """Goal, priority, pattern, chance, and the promises this message is about."""
    evidence = tuple(shadow.evidence)
    found: list[Candidate] = []
    if shadow.stated_goal:
        found.append(
            Candidate(Claim("", "shadow", "goal", f"What you want: {to_you(shadow.stated_goal)}.", evidence[-3:]))
        )
    if shadow.revealed_priority:
        found.append(
            Candidate(
                Claim(
                    "",
                    "shadow",
                    "priority",
                    f"Your time went to this: {to_you(shadow.revealed_priority)}.",
                    evidence[-3:],
                )
            )
        )
    words = _PATTERN_WORDS.get(shadow.pattern)
    if words:
        stance = "kept" if shadow.pattern is Pattern.STEADY_FOLLOW_THROUGH else "missed"
        found.append(Candidate(Claim("", "shadow", "pattern", words, evidence), stance))
    prediction = shadow.prediction
    if prediction.n:
        rests_on = tuple(item.settled_in for item in view.commitments if item.settled_in) or evidence
        chance = round(100 * prediction.p)
        text = f"{prediction.basis}; chance of the next one about {chance} %, a rough guess"
        found.append(Candidate(Claim("", "shadow", "chance", text, rests_on, prediction.p)))
    for item in [item for item in view.commitments if item.outcome == "open" or item.settled_in == view.message.id][
        -2:
    ]:
        state = {
            "open": "You plan this",
            "kept": "You did this",
            "missed": "This did not happen",
            "dropped": "You let this go",
        }[item.outcome]
        source = item.settled_in or item.made_in
        found.append(Candidate(Claim("", "shadow", f"promise {item.id}", f"{state}: {to_you(item.what)}.", (source,))))
    return found


def persona_claims(persona: PersonaSection) -> list[Candidate]:
    """Growth edge, goals that recur, and follow-through."""
    found: list[Candidate] = []
    found += [
        Candidate(Claim("", "persona", "growth", f"what you may want to learn: {edge.what}", tuple(edge.evidence)))
        for edge in persona.growth_edges[-1:]
    ]
    for goal in persona.recurring_goals:
        if goal.times > 1:
            text = f"came up {goal.times} times: {goal.goal}"
            found.append(Candidate(Claim("", "persona", "recurring", text, tuple(goal.said_in))))
    record = persona.follow_through
    if record.n >= 3:
        stance = "kept" if record.missed == 0 else "missed" if record.kept == 0 else ""
        text = f"{record.kept} of {record.n} promises kept"
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
