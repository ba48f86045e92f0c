"""What Synth's reply is made of: the rules it is held against, the parts of its draft, and what code can say itself."""

from typing import Any

from pydantic import ValidationError

from repertory.runtime.rules import TurnView
from repertory.teams.coaching.brief import points_of
from repertory.teams.coaching.claim_words import to_you
from repertory.teams.coaching.danger import dangers_in, dangers_planned
from repertory.teams.coaching.drafts import SynthDraft
from repertory.teams.coaching.evidence import latest_value, texts_of
from repertory.teams.coaching.fixed_texts import FIXED_TEXTS, FixedTexts
from repertory.teams.coaching.goals import goal_in
from repertory.teams.coaching.grounding import HeldClaim
from repertory.teams.coaching.harm import tells_bad_end
from repertory.teams.coaching.language import FixedLanguage
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.plasticity import asks_no_questions, current_voice
from repertory.teams.coaching.reply_check import MAX_WORDS, ReplyRules
from repertory.teams.coaching.reply_join import DraftPart, OwnWords
from repertory.teams.coaching.reply_language import fixed_language_of, language_code
from repertory.teams.coaching.safety.protocol import notice_for
from repertory.teams.coaching.sections import Voice
from repertory.teams.coaching.settle import BLOCKS_FROM_SEVERITY
from repertory.teams.coaching.stability import standing_blocks
from repertory.teams.coaching.suggests import mentions_move
from repertory.teams.coaching.words import quote, sentences, word_count

__all__ = ("blocked_moves", "next_words", "own_words", "parts_of", "reply_rules")

_SHORT_TOTAL = 58
_AIM = 60
_WHY = 110


def blocked_moves(view: TurnView) -> tuple[Move, ...]:
    """What no reply may suggest."""
    return tuple(block.move for block in standing_blocks(view) if block.severity >= BLOCKS_FROM_SEVERITY)


def reply_rules(view: TurnView) -> ReplyRules:
    """What every sentence of the reply is held against."""
    voice = current_voice(view)
    first = view.sections.get("first_reply")
    first_reply = first.value if first and isinstance(first.value, str) and first.status == "written" else ""
    claims = view.merge.claims if view.merge else ()
    missing = view.merge.missing_agents if view.merge else ("persona",)
    return ReplyRules(
        message=view.message.text,
        first_reply=first_reply,
        claims=tuple(HeldClaim(claim, " ".join(texts_of(claim.evidence, view))) for claim in claims),
        blocked=blocked_moves(view),
        voice=voice,
        max_words=_words_left(voice, first_reply, view),
        may_speak_of_traits="persona" not in missing,
        language=language_code(view),
        may_ask=not asks_no_questions(view),
    )


def _words_left(voice: Voice, first_reply: str, view: TurnView) -> int:
    limit = MAX_WORDS[voice.length]
    if voice.length != "short":
        return limit
    used = word_count(first_reply) + word_count(notice_for(view) or "")
    return max(12, min(limit, _SHORT_TOTAL - used))


def parts_of(answer: Any) -> list[DraftPart]:
    """The parts of an answer: a draft, or plain text from a model that was not held to one."""
    if isinstance(answer, str):
        return [DraftPart("noticed", answer)]
    try:
        draft = SynthDraft.model_validate(answer)
    except ValidationError:
        return []
    return [
        *(DraftPart("noticed", item.words, tuple(item.points)) for item in draft.noticed[:1]),
        *(DraftPart("means", item.words, tuple(item.points)) for item in draft.noticed[1:]),
        DraftPart("next", draft.next.words, tuple(draft.next.points)),
    ]


def _aim(view: TurnView, language: FixedLanguage) -> str:
    """What the person wants or plans, as said to them; empty when it is not known in few words."""
    shadow = latest_value(view, "shadow")
    plans = [item.what for item in view.commitments if item.made_in == view.message.id]
    wanted = str((shadow or {}).get("stated_goal") or "") or goal_in([view.message.text])
    promised = [item.what for item in view.commitments[-1:]]
    for text in (*reversed(plans), wanted, *promised):
        said = to_you(quote(text, 200), language).split(":")[0].strip(" .,;\"'")
        if said and len(said) <= _AIM:
            return said
    return ""


def next_words(view: TurnView, language: FixedLanguage) -> list[str]:
    """Questions or steps that code can end a reply with, the best first."""
    texts = FIXED_TEXTS[language]
    if help_words := _help(view, texts):
        return [help_words]
    if asks_no_questions(view):
        return [texts.one_step]
    aim = _aim(view, language)
    moves = [Move(name) for name in (view.merge.moves if view.merge else ())]
    plain = [texts.moves[move].format(x=aim) for move in moves if move in texts.moves and _fits(texts, move, aim)]
    return [
        *plain,
        *([texts.next_step_to.format(x=aim)] if aim else []),
        texts.next_step,
    ]


def _help(view: TurnView, texts: FixedTexts) -> str:
    """Whom to ask, when the person speaks of a step that no coach may advise on; empty otherwise."""
    planned = dangers_planned(view.message.text)
    return texts.help[planned[0]] if planned else ""


def _fits(texts: FixedTexts, move: Move, aim: str) -> bool:
    return bool(aim) or "{x}" not in texts.moves[move]


def _not_this(view: TurnView, texts: FixedTexts) -> str:
    """Why a move that somebody wanted is not advised, in the person's words about what it did to them."""
    conflicts = view.merge.conflicts if view.merge else ()
    lost = {item.topic for item in conflicts if item.rule == "blocked_beats_recommended"}
    for block in standing_blocks(view):
        if block.move.value not in lost or block.move not in texts.blocked:
            continue
        told = [one for text in texts_of(block.evidence, view) for one in sentences(text)]
        harm = [one for one in told if tells_bad_end(one) and not any(mentions_move(move, one) for move in Move)]
        move = texts.blocked[block.move]
        if harm:
            return texts.not_this.format(move=move, why=quote(harm[0], _WHY))
        return texts.not_this_before.format(move=move)
    return ""


def own_words(view: TurnView) -> OwnWords:
    """What code can say by itself; nothing in a language it has no words for."""
    language = fixed_language_of(view)
    if language is None:
        return OwnWords()
    texts = FIXED_TEXTS[language]
    # What Stability's model said of a risk is a note for the team, in whatever language it wrote.
    facts = [
        (claim.id, claim.text)
        for claim in points_of(view)
        if claim.topic not in {"risk", "message"} and not dangers_in(claim.text)
    ]
    asked_for = tuple((claim.id, claim.text) for claim in points_of(view) if claim.topic == "chance")
    return OwnWords(facts, _not_this(view, texts), next_words(view, language), asked_for, _help(view, texts))
