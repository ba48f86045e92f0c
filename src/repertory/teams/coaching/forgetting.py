"""What the coaching team's sections are once messages are forgotten: rebuilt by code from what remains."""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from repertory.storage.forgetting import Forgotten
from repertory.teams.coaching.commitment_rows import commitment_rows
from repertory.teams.coaching.corrections import CORRECTIONS, corrections_in
from repertory.teams.coaching.drafts import Pattern
from repertory.teams.coaching.forecast import forecast
from repertory.teams.coaching.goals import goal_in
from repertory.teams.coaching.ocean import DOMAINS
from repertory.teams.coaching.persona import follow_through
from repertory.teams.coaching.preferences import voice_for
from repertory.teams.coaching.redaction import PlainRedaction
from repertory.teams.coaching.sections import (
    BlockedMove,
    LiftedMove,
    PersonaSection,
    PlasticitySection,
    Prediction,
    RecurringGoal,
    Risk,
    ShadowSection,
    StabilitySection,
)
from repertory.teams.coaching.traits import QUESTIONNAIRE, answered_in, traits_of

__all__ = ("CoachingRedaction",)


class CoachingRedaction(PlainRedaction):
    """The redaction of the coaching team.

    Args:
        forgotten: What is taken out.
        corrections: The section with the person's corrections, as it stands.
        answers: The section with their answers of the questionnaire, as it stands.
    """

    def __init__(self, forgotten: Forgotten, corrections: Any = None, answers: Any = None) -> None:
        super().__init__(forgotten)
        self._corrections = corrections_in(corrections)
        self._answered = answered_in(answers)
        self._rebuild: dict[str, Callable[[Any], Any]] = {
            "shadow": self._shadow,
            "persona": self._persona,
            "plasticity": self._plasticity,
            "stability": self._stability,
            "commitments": lambda _: commitment_rows(self.forgotten.commitments),
            # What the person set and answered outside of a talk rests on no message.
            QUESTIONNAIRE: lambda value: value,
            CORRECTIONS: self.document,
        }

    def section(self, name: str, value: Any) -> Any:
        """A section's last value, rebuilt; one that can not be read is removed."""
        if isinstance(value, str):
            return self.text(value)
        rebuild = self._rebuild.get(name)
        if rebuild is None:
            return self.document(value)
        try:
            return rebuild(value)
        except ValidationError:
            return None

    def _ids(self, ids: list[str]) -> list[str]:
        return [item for item in ids if item not in self.ids]

    def _kept_phrase(self, phrase: str, *, touched: bool) -> str:
        """A model's phrase: kept when the messages that remain hold all its words, or nothing of it tells."""
        if touched:
            return phrase if self.is_supported(phrase) else ""
        return "" if self.tells(phrase) else phrase

    def _shadow(self, value: Any) -> Any:
        section = ShadowSection.model_validate(value)
        touched = bool(self.ids & set(section.evidence))
        evidence = self._ids(section.evidence)
        said = [message.text for message in self.forgotten.remaining]
        waiting = [item for item in self.forgotten.commitments if item.outcome == "open"]
        expected = forecast(self.forgotten.commitments, waiting[-1].kind if waiting else None)
        goal = self._kept_phrase(section.stated_goal, touched=touched) or goal_in(said)
        return section.model_copy(
            update={
                "stated_goal": self._corrections.fact("goal") or goal,
                "revealed_priority": self._corrections.fact("priority")
                or self._kept_phrase(section.revealed_priority, touched=touched),
                "pattern": section.pattern if evidence or not touched else Pattern.INSUFFICIENT_DATA,
                "evidence": evidence,
                "prediction": Prediction(
                    p=expected.p, n=expected.n, n_used=expected.n_used, confidence=expected.confidence,
                    basis=expected.basis, commitment=waiting[-1].what if waiting else None,
                ),
                "dropped": [],
            }
        ).model_dump(mode="json")  # fmt: skip

    def _goals(self, goals: list[RecurringGoal]) -> list[RecurringGoal]:
        texts = {message.id: message.text for message in self.forgotten.remaining}
        kept: list[RecurringGoal] = []
        for goal in goals:
            said_in = self._ids(goal.said_in)
            words = goal.goal
            if len(said_in) < len(goal.said_in):
                words = self._kept_phrase(words, touched=True) or goal_in(texts.get(item, "") for item in said_in)
            if said_in and words and not self.tells(words):
                kept.append(goal.model_copy(update={"goal": words, "said_in": said_in, "times": len(said_in)}))
        return kept

    def _persona(self, value: Any) -> Any:
        section = PersonaSection.model_validate(value)
        items = [item for item in section.items if item.message not in self.ids]
        edges = [
            edge.model_copy(update={"evidence": self._ids(edge.evidence)})
            for edge in section.growth_edges
            if (self._ids(edge.evidence) or edge.what == self._corrections.fact("growth_edge"))
            and not self.tells(edge.what)
        ]
        rebuilt = section.model_dump() | {
            "ocean": traits_of(items, self._corrections, self._answered, self.forgotten.at),
            "items": items,
            "recurring_goals": self._goals(section.recurring_goals),
            "follow_through": follow_through(item.outcome for item in self.forgotten.commitments),
            "growth_edges": edges,
            "dropped": [],
        }
        return PersonaSection.model_validate(rebuilt).model_dump(mode="json")

    def _plasticity(self, value: Any) -> Any:
        section = PlasticitySection.model_validate(value)
        wishes = [wish for wish in section.preferences if wish.message not in self.ids]
        nothing_said = traits_of([], self._corrections, self._answered, self.forgotten.at)
        # The settings that traits drive are made again at the next turn, from the traits that remain.
        voice, drivers = voice_for({name: nothing_said[name] for name in DOMAINS}, wishes)
        return section.model_copy(
            update={
                "voice": voice, "drivers": drivers[:30], "preferences": wishes, "evidence": self._ids(section.evidence),
                "dropped": [],
            }
        ).model_dump(mode="json")  # fmt: skip

    def _stability(self, value: Any) -> Any:
        section = StabilitySection.model_validate(value)

        def kept(entry: Risk | BlockedMove | LiftedMove, words: str) -> bool:
            return bool(self._ids(entry.evidence)) and not self.tells(words)

        def without(entry: Any) -> Any:
            return entry.model_copy(update={"evidence": self._ids(entry.evidence)})

        return StabilitySection(
            risks=[without(risk) for risk in section.risks if kept(risk, risk.what)],
            blocked_moves=[without(block) for block in section.blocked_moves if kept(block, block.reason)],
            lifted_moves=[without(move) for move in section.lifted_moves if kept(move, move.why)],
        ).model_dump(mode="json")
