"""The coaching team's code side: everything about it that is not left to a model."""

import os
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from repertory.runtime.rules import Interception, Merge, Safety, TeamRules, TextGate, TurnView, Written
from repertory.runtime.team import Agent
from repertory.teams.coaching.brief import brief_for
from repertory.teams.coaching.drafts import PersonaDraft, PlasticityDraft, ShadowDraft, StabilityDraft
from repertory.teams.coaching.gate import CoachGate, GateLimits
from repertory.teams.coaching.memory import snapshot
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.persona import write_persona
from repertory.teams.coaching.plasticity import current_voice, write_plasticity
from repertory.teams.coaching.reconcile import BLOCKS_FROM_SEVERITY, merge_sections
from repertory.teams.coaching.reply_check import MAX_WORDS, ReplyRules, check_reply, is_praise, mend_reply
from repertory.teams.coaching.safety.protocol import answer as protocol_answer
from repertory.teams.coaching.safety.protocol import judge, language_of, notice_for
from repertory.teams.coaching.sections import CommitmentRow, Voice
from repertory.teams.coaching.shadow import write_shadow
from repertory.teams.coaching.stability import standing_blocks, write_stability
from repertory.teams.coaching.words import sentences, word_count

__all__ = ("COUNTRY_VARIABLE", "CoachingRules")

COUNTRY_VARIABLE = "REPERTORY_COUNTRY"
"""The environment variable with the country (ISO code) whose crisis services are named."""

_SHORT_TOTAL = 58
_COACH_SHORT = 22
_COACH_OTHERWISE = {
    "en": "What would be the smallest next step for you?",
    "pt": "Qual seria o menor próximo passo para você?",
    "es": "¿Cuál sería el paso más pequeño para ti?",
    "de": "Was wäre der kleinste nächste Schritt für dich?",
    "fr": "Quel serait le plus petit prochain pas pour toi ?",
}


class CoachingRules(TeamRules):
    """The rules of the coaching team.

    Args:
        country: ISO code of the country whose crisis services are named; None reads `REPERTORY_COUNTRY`, and without
            it the services of the message's language are named with a neutral address.
    """

    code_sections = ("commitments",)

    def __init__(self, country: str | None = None) -> None:
        self._country = country or os.environ.get(COUNTRY_VARIABLE) or None

    def safety(self, view: TurnView) -> Safety:
        """Judge the person's message before any agent runs."""
        return judge(view)

    def intercept(self, view: TurnView) -> Interception | None:
        """The crisis protocol's fixed reply, or None."""
        return protocol_answer(view, self._country)

    def notice(self, view: TurnView) -> str | None:
        """That this is an AI, and a check-in when things are heavy."""
        return notice_for(view)

    def memory(self, view: TurnView) -> str:
        """What earlier sessions left."""
        return snapshot(view)

    def private_context(self, name: str, agent: Agent, view: TurnView) -> str | None:
        """What one agent alone is shown."""
        del agent
        return brief_for(name, view)

    def gate(self, name: str, view: TurnView) -> TextGate:
        """The gate in front of the Coach's stream."""
        return self._coach_gate(view) if name == "coach" else TextGate()

    def check(self, name: str, answer: Any, view: TurnView) -> list[str]:
        """Only the full reply is ever asked for again: drafts are mended by code."""
        if name != "synth":
            return []
        rules = self._reply_rules(view)
        return check_reply(mend_reply(str(answer), rules), rules)

    def write(self, name: str, answer: Any, view: TurnView) -> Written:
        """Turn a draft into its section, and pass texts through gate and mending."""
        match name:
            case "coach":
                gate = self._coach_gate(view)
                return Written((gate.feed(str(answer)) + gate.close()).strip(), (view.message.id,))
            case "synth":
                claims = view.merge.claims if view.merge else ()
                evidence = tuple(dict.fromkeys(item for claim in claims for item in claim.evidence))
                return Written(mend_reply(str(answer), self._reply_rules(view)), evidence)
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
                return self._mended(answer, view)
            case _:
                return None

    def merge(self, view: TurnView) -> Merge | None:
        """Reconcile the specialists' sections."""
        return merge_sections(view)

    def derived_sections(self, view: TurnView) -> dict[str, Any]:
        """The commitments, as shown."""
        rows = [
            CommitmentRow(
                id=item.id, what=item.what, when=item.when, due=item.due.date().isoformat() if item.due else None,
                p=item.p, outcome=item.outcome, kind=item.kind, made_in=item.made_in, settled_in=item.settled_in,
            ).model_dump(mode="json")
            for item in view.commitments
        ]  # fmt: skip
        return {"commitments": rows}

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

    def _mended(self, answer: Any, view: TurnView) -> Written | None:
        if not isinstance(answer, str):
            return None
        rules = self._reply_rules(view)
        mended = mend_reply(_whole_sentences(answer), rules)
        return Written(mended, (view.message.id,)) if mended and not check_reply(mended, rules) else None

    def _coach_gate(self, view: TurnView) -> CoachGate:
        voice = current_voice(view)
        limits = GateLimits(
            _blocked(view),
            allow_exclamation=voice.exclamation_marks > 0,
            max_words=_COACH_SHORT if voice.length == "short" else None,
            refuse=is_praise if voice.praise == "minimal" else None,
            echo_of=view.message.text,
        )
        return CoachGate(limits, _COACH_OTHERWISE[language_of(view)])

    def _reply_rules(self, view: TurnView) -> ReplyRules:
        voice = current_voice(view)
        first = view.sections.get("first_reply")
        first_reply = first.value if first and isinstance(first.value, str) and first.status == "written" else ""
        claims = [claim.text for claim in view.merge.claims] if view.merge else []
        said = [message.text for message in (*view.past_messages[-40:], *view.history) if message.role == "person"]
        missing = view.merge.missing_agents if view.merge else ("persona",)
        return ReplyRules(
            message=view.message.text,
            first_reply=first_reply,
            sources=(view.message.text, *claims, *said, first_reply),
            blocked=_blocked(view),
            voice=voice,
            max_words=self._words_left(voice, first_reply, view),
            may_speak_of_traits="persona" not in missing,
        )

    def _words_left(self, voice: Voice, first_reply: str, view: TurnView) -> int:
        limit = MAX_WORDS[voice.length]
        if voice.length != "short":
            return limit
        used = word_count(first_reply) + word_count(notice_for(view) or "")
        return max(12, min(limit, _SHORT_TOTAL - used))


def _whole_sentences(text: str) -> str:
    """A text without a last sentence that was cut off."""
    said = sentences(text)
    if said and not said[-1].rstrip("\"')»”").endswith((".", "!", "?", "…")):
        said.pop()
    return " ".join(said)


def _blocked(view: TurnView) -> tuple[Move, ...]:
    return tuple(block.move for block in standing_blocks(view) if block.severity >= BLOCKS_FROM_SEVERITY)


def _draft(model: type[Any], answer: Any) -> Any:
    """A draft that can be read, or None."""
    try:
        return model.model_validate(answer) if answer is not None else None
    except ValidationError:
        return None
