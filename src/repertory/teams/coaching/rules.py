"""The coaching team's code side: everything about it that is not left to a model."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from repertory.runtime.rules import ForgetRequest, Interception, Merge, Safety, TeamRules, TextGate, TurnView, Written
from repertory.runtime.team import Agent
from repertory.teams.coaching.brief import brief_for
from repertory.teams.coaching.commitment_rows import commitment_rows
from repertory.teams.coaching.danger import dangerous_advice
from repertory.teams.coaching.drafts import PersonaDraft, PlasticityDraft, ShadowDraft, StabilityDraft
from repertory.teams.coaching.fixed_texts import FIXED_TEXTS, write_in
from repertory.teams.coaching.forget_request import (
    DONE,
    NOT_FOUND,
    asks_to_forget,
    forget_request,
    only_asked,
    was_asked,
)
from repertory.teams.coaching.gate import CoachGate, GateLimits
from repertory.teams.coaching.leaks import find_leaks
from repertory.teams.coaching.memory import snapshot
from repertory.teams.coaching.persona import write_persona
from repertory.teams.coaching.plasticity import asks_no_questions, current_voice, write_plasticity
from repertory.teams.coaching.reconcile import merge_sections
from repertory.teams.coaching.repeats import repeats
from repertory.teams.coaching.reply_check import is_praise
from repertory.teams.coaching.reply_join import Joined, join_reply
from repertory.teams.coaching.reply_language import language_code
from repertory.teams.coaching.reply_parts import blocked_moves, next_words, own_words, parts_of, reply_rules
from repertory.teams.coaching.safety.minors import MinorPolicy
from repertory.teams.coaching.safety.protocol import answer as protocol_answer
from repertory.teams.coaching.safety.protocol import judge, language_of, notice_for
from repertory.teams.coaching.shadow import write_shadow
from repertory.teams.coaching.stability import write_stability
from repertory.teams.coaching.suggests import suggested_moves
from repertory.teams.coaching.voice_measure import voice_record
from repertory.teams.coaching.words import sentences

__all__ = ("COUNTRY_VARIABLE", "MINORS_VARIABLE", "CoachingRules")

COUNTRY_VARIABLE = "REPERTORY_COUNTRY"
"""The environment variable with the country (ISO code) whose crisis services are named."""
MINORS_VARIABLE = "REPERTORY_MINORS"
"""The environment variable that says what people under 18 get: `guide` (default) or `refuse`."""

_COACH_SHORT = 22
_SPEAKERS = ("coach", "synth")
"""The agents whose words the person reads."""


class CoachingRules(TeamRules):
    """The rules of the coaching team.

    Args:
        country: ISO code of the country whose crisis services are named; None reads `REPERTORY_COUNTRY`, and without
            it the services of the message's language are named with a neutral address.
        minors: Whether people who say that they are under 18 are coached; None reads `REPERTORY_MINORS`.
    """

    code_sections = ("commitments",)

    def __init__(self, country: str | None = None, minors: MinorPolicy | None = None) -> None:
        self._country = country or os.environ.get(COUNTRY_VARIABLE) or None
        # Anything but the one word that opens it keeps it shut.
        self._minors: MinorPolicy = minors or (
            "guide" if os.environ.get(MINORS_VARIABLE, "guide").strip().lower() in {"", "guide"} else "refuse"
        )

    def safety(self, view: TurnView) -> Safety:
        """Judge the person's message before any agent runs."""
        return judge(view)

    def forgets(self, view: TurnView) -> ForgetRequest | None:
        """What the person asks to have forgotten."""
        return forget_request(view)

    def intercept(self, view: TurnView) -> Interception | None:
        """The crisis protocol's fixed reply, the word that something is forgotten, or None."""
        answer = protocol_answer(view, self._country, self._minors)
        if answer is None and (words := _about_forgetting(view)) and only_asked(view.message.text):
            return Interception(words, reason="the person asked to have something forgotten")
        return answer

    def notice(self, view: TurnView) -> str | None:
        """That this is an AI, a check-in when things are heavy, and that something is forgotten."""
        told = None if only_asked(view.message.text) else _about_forgetting(view)
        return " ".join(part for part in (notice_for(view), told) if part) or None

    def memory(self, view: TurnView) -> str:
        """What earlier sessions left."""
        return snapshot(view)

    def private_context(self, name: str, agent: Agent, view: TurnView) -> str | None:
        """What one agent alone is shown."""
        del agent
        return brief_for(name, view)

    def last_words(self, name: str, view: TurnView) -> str | None:
        """The language, for those who write to the person: a small model goes by what it read last."""
        return write_in(language_code(view)) if name in _SPEAKERS else None

    def gate(self, name: str, view: TurnView) -> TextGate:
        """The gate in front of the Coach's stream."""
        return self._coach_gate(view) if name == "coach" else TextGate()

    def check(self, name: str, answer: Any, view: TurnView) -> list[str]:
        """Only words for the person are ever asked for again, when nothing of them could be said."""
        match name:
            case "coach":
                gate = self._coach_gate(view)
                gate.feed(str(answer))
                gate.close()
                return [] if gate.said.strip() else list(dict.fromkeys(gate.problems))[:4]
            case "synth":
                joined = _joined(answer, view)
                return [] if joined.by_model else joined.problems[:4] or ["It says nothing. Say what the points say."]
            case _:
                return []

    def write(self, name: str, answer: Any, view: TurnView) -> Written:
        """Turn a draft into its section, and pass words for the person through gate and joining."""
        match name:
            case "coach":
                gate = self._coach_gate(view)
                return Written((gate.feed(str(answer)) + gate.close()).strip(), (view.message.id,))
            case "synth":
                return _reply(_joined(answer, view), view)
            case _:
                return self._section(name, answer, view)

    def fallback(self, name: str, answer: Any, problems: Sequence[str], view: TurnView) -> Written | None:
        """Shadow, Plasticity and Stability have a section from code alone; the Coach has fixed words; others fail."""
        del problems
        match name:
            case "coach":
                return self.write("coach", answer or "", view)
            case "shadow":
                return write_shadow(_draft(ShadowDraft, answer), view)
            case "plasticity":
                return write_plasticity(_draft(PlasticityDraft, answer), view)
            case "stability":
                return write_stability(_draft(StabilityDraft, answer), view)
            case "synth":
                joined = _joined(answer, view) if answer is not None else None
                return _reply(joined, view) if joined and joined.text else None
            case _:
                return None

    def merge(self, view: TurnView) -> Merge | None:
        """Reconcile the specialists' sections."""
        return merge_sections(view)

    def derived_sections(self, view: TurnView) -> dict[str, Any]:
        """The commitments, as shown."""
        return {"commitments": commitment_rows(view.commitments)}

    def _section(self, name: str, answer: Any, view: TurnView) -> Written:
        match name:
            case "shadow":
                return write_shadow(ShadowDraft.model_validate(answer), view)
            case "persona":
                return write_persona(PersonaDraft.model_validate(answer), view)
            case "plasticity":
                return write_plasticity(PlasticityDraft.model_validate(answer), view)
            case "stability":
                return write_stability(StabilityDraft.model_validate(answer), view)
            case _:
                return Written(value=answer)

    def _coach_gate(self, view: TurnView) -> CoachGate:
        voice = current_voice(view)
        limits = GateLimits(
            blocked_moves(view),
            allow_exclamation=voice.exclamation_marks > 0,
            allow_questions=not asks_no_questions(view),
            max_words=_COACH_SHORT if voice.length == "short" else None,
            refuse=is_praise if voice.praise == "minimal" else None,
            message=view.message.text,
            language=language_code(view),
        )
        return CoachGate(limits, _otherwise(view, limits))


def _otherwise(view: TurnView, limits: GateLimits) -> str:
    """The fixed words that stand in for the Coach: about this person where that is possible and safe."""
    language = language_of(view)
    for words in next_words(view, language):
        unsafe = suggested_moves(words, limits.blocked) or find_leaks(words) or dangerous_advice(words)
        if not unsafe and not repeats(words, view.message.text):
            return words
    return FIXED_TEXTS[language].next_step


def _joined(answer: Any, view: TurnView) -> Joined:
    text = _whole_sentences(answer) if isinstance(answer, str) else answer
    return join_reply(parts_of(text), reply_rules(view), own_words(view))


def _reply(joined: Joined, view: TurnView) -> Written:
    """The full reply, and in the turn's merge how it rests on the claims and how it sounds."""
    merge = view.merge or Merge()
    used = {claim for item in joined.sentences if item.dropped is None for claim in item.claims}
    evidence = [item for claim in merge.claims if claim.id in used for item in claim.evidence]
    rules = reply_rules(view)
    voice = voice_record(joined.text, rules.voice, rules.language, may_ask=rules.may_ask, first_reply=rules.first_reply)
    merge = replace(merge, reply=tuple(joined.sentences), voice=voice)
    return Written(joined.text, tuple(dict.fromkeys(evidence)), merge=merge)


def _about_forgetting(view: TurnView) -> str | None:
    """Fixed words about a request to forget: that it is done, or that nothing was found."""
    language = language_of(view)
    if was_asked(view.message.text):
        return DONE[language]
    return NOT_FOUND[language] if asks_to_forget(view.message.text) else None


def _whole_sentences(text: str) -> str:
    """A text without a last sentence that was cut off."""
    said = sentences(text)
    if said and not said[-1].rstrip("\"')»”").endswith((".", "!", "?", "…")):
        said.pop()
    return " ".join(said)


def _draft(model: type[Any], answer: Any) -> Any:
    """A draft that can be read, or None."""
    try:
        return model.model_validate(answer) if answer is not None else None
    except ValidationError:
        return None
