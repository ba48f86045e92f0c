"""The gate in front of the Coach's stream: a sentence is held back until it is whole and has been judged.

A sentence that must not be said is left out with what only goes on with it, so that no stub of it is left: very short
sentences ("Announce.", "Dr.") wait for the next one and are judged together, and the torn end of a stream is not shown.
After the first question the reply is over: one useful question, or one step. The result does not depend on how the
stream is cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repertory.runtime.rules import TextGate
from repertory.teams.coaching.danger import dangerous_advice
from repertory.teams.coaching.fixed_texts import write_in
from repertory.teams.coaching.grounding import unfounded_numbers
from repertory.teams.coaching.language import surely_other
from repertory.teams.coaching.leaks import find_leaks
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.one_step import asks_or_offers
from repertory.teams.coaching.repeats import repeats
from repertory.teams.coaching.reply_check import without_lead_in
from repertory.teams.coaching.suggests import is_tail, suggested_in_pieces, suggested_moves
from repertory.teams.coaching.words import ends_in_abbreviation, ends_with_content, word_count

__all__ = ("CoachGate", "GateLimits")

_ENDS = ".!?…。\uff01\uff1f"
_QUESTION = ("?", "\uff1f")
_CLOSERS = "\"')»”\u2019"
_LEAD_WORDS = 4
"""A sentence of fewer words, and no question, is judged together with the next one."""
_LEAST_WORDS = 3
"""Fewer words than these say nothing by themselves."""


@dataclass(frozen=True)
class GateLimits:
    """What the gate lets through.

    Attributes:
        blocked: Moves that no sentence may suggest.
        allow_exclamation: Whether exclamation marks stay; otherwise they become full stops.
        allow_questions: Whether a question may be asked; False when the person asked for none.
        max_words: Words after which no further sentence is let through; None: no limit.
        refuse: A further reason to leave a sentence out (such as praise that the person did not want).
        message: The person's message: agreement with something dangerous in it is held back, and a reply that only
            says it again gets the fixed words added.
        language: Code of the language that the reply must be in; None when it is not known.
    """

    blocked: Sequence[Move] = ()
    allow_exclamation: bool = True
    allow_questions: bool = True
    max_words: int | None = None
    refuse: Callable[[str], bool] | None = None
    message: str = ""
    language: str | None = None


class CoachGate(TextGate):
    """Lets a streamed reply through sentence by sentence, and leaves out what must not be said.

    Args:
        limits: What to guard.
        otherwise: What is said when nothing was left to say, and added when what was said neither asks nor offers.
    """

    def __init__(self, limits: GateLimits, otherwise: str) -> None:
        self._limits = limits
        self._otherwise = otherwise
        self._sentence = ""
        """The running sentence, as the model wrote it."""
        self._said = ""
        self._heard = ""
        """What was said and what was left out, for what goes on from one sentence to the next."""
        self._left_out = False
        self._full = False
        self.problems: list[str] = []
        """Why sentences were left out, in words for the model."""

    @property
    def said(self) -> str:
        """What was let through of the model's own words."""
        return self._said

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be shown now."""
        return "".join(self._take(char) for char in text)

    def close(self) -> str:
        """Judge what is left; fixed words when nothing worth saying was shown."""
        rest = self._judge(self._whole_end())
        said = self._said.strip()
        if word_count(said) < _LEAST_WORDS and not said.endswith(_QUESTION):
            return f"{rest.rstrip()} {self._otherwise}" if said else self._otherwise
        echoes = bool(self._limits.message) and repeats(said, self._limits.message)
        if (echoes or not asks_or_offers(said)) and self._otherwise not in said:
            return f"{rest.rstrip()} {self._otherwise}"
        return rest

    def _take(self, char: str) -> str:
        out = ""
        if char.isspace() and self._is_whole(char):
            out, self._sentence = self._judge(self._sentence), ""
        self._sentence += char
        return out

    def _is_whole(self, after: str) -> bool:
        """Whether the running sentence ends before the space `after`."""
        body = self._sentence.rstrip(_CLOSERS)
        if body.endswith(_QUESTION):
            return True
        ended = bool(body.strip()) and (after == "\n" or _is_end(body))
        return ended and word_count(body) >= _LEAD_WORDS

    def _whole_end(self) -> str:
        """The last sentence of the stream, without what was torn off in the middle."""
        rest = self._sentence.rstrip()
        if not rest or _is_end(rest):
            return rest
        head = _up_to_last_end(rest)
        if self._said or head or ends_in_abbreviation(rest):
            return head
        return f"{rest}." if ends_with_content(rest) and word_count(rest) >= _LEAD_WORDS else ""

    def _judge(self, unit: str) -> str:
        """What is shown of whole sentences: those that may be said, in the voice's style."""
        if not unit.strip() or self._full:
            return ""
        advice = self._bad_advice(unit)
        self._left_out = advice is not None
        if advice:
            self.problems.append(advice)
            return ""
        kept = [_without_lead_in(piece) for piece in _pieces(unit) if self._may_stand(piece)]
        if not any(word_count(piece) >= _LEAST_WORDS or piece.rstrip().endswith(_QUESTION) for piece in kept):
            return ""  # what is left is a stub
        sentence = "".join(kept)
        if self._too_long(sentence):
            return ""
        out = self._styled(sentence if self._said else sentence.lstrip())
        self._said += out
        self._heard = f"{self._heard} {sentence.strip()}"
        self._full = any(mark in sentence for mark in _QUESTION)
        return out

    def _bad_advice(self, unit: str) -> str | None:
        """Why sentences may not be said for what they advise, taken together."""
        if suggested := self._suggests(unit):
            return f"It suggests what must not be suggested: {MOVE_FACTS[suggested].words}."
        if self._left_out and is_tail(unit):
            return "It goes on with what must not be suggested."
        if danger := dangerous_advice(unit, f"{self._limits.message} {self._heard}"):
            return f"It suggests something dangerous: {danger.value}. Send them to somebody who knows instead."
        return None

    def _may_stand(self, sentence: str) -> bool:
        problem = self._problem(sentence)
        if problem:
            self.problems.append(problem)
        return problem is None

    def _problem(self, sentence: str) -> str | None:
        """Why one sentence may not be said for how it is said."""
        limits = self._limits
        if leaks := find_leaks(sentence):
            return f"It shows {leaks[0]}. Write plain words for the person only."
        if any("%" in number for number in unfounded_numbers(sentence, (limits.message,))):
            return "It has a percentage that nobody gave. Leave it out."
        if surely_other(sentence, limits.language):
            return f"It is in another language than the person's message. {write_in(limits.language)}"
        if any(mark in sentence for mark in _QUESTION) and repeats(sentence, limits.message):
            return "It asks what the person asked. Ask something that takes them further."
        if limits.refuse and limits.refuse(sentence):
            return "It praises. The person asked for no praise."
        if not limits.allow_questions and any(mark in sentence for mark in _QUESTION):
            return "It asks. The person asked for no questions: offer one small step."
        return None

    def _suggests(self, sentence: str) -> Move | None:
        """The blocked move that a sentence suggests, alone or with the one before it."""
        alone = suggested_in_pieces(sentence, self._limits.blocked)
        if alone or not self._said:
            return alone[0] if alone else None
        across = suggested_moves(f"{self._said.strip().rstrip(_ENDS + ' ')} {sentence}", self._limits.blocked)
        return across[0] if across else None

    def _too_long(self, sentence: str) -> bool:
        limit, words = self._limits.max_words, word_count(sentence)
        if limit is None or word_count(self._said) + words <= limit:
            return False
        self._full = bool(self._said.strip())
        return self._full or words > limit * 2

    def _styled(self, text: str) -> str:
        return text if self._limits.allow_exclamation else text.replace("!", ".").replace("\uff01", "。")


def _without_lead_in(piece: str) -> str:
    bare = piece.lstrip()
    return piece[: len(piece) - len(bare)] + without_lead_in(bare)


def _pieces(text: str) -> list[str]:
    """The sentences of a text with the spaces before them, so that joined they are the text again."""
    pieces, start = list[str](), 0
    for at in range(1, len(text)):
        if text[at].isspace() and _is_end(text[start:at]):
            pieces.append(text[start:at])
            start = at
    return [*pieces, text[start:]]


def _is_end(text: str) -> bool:
    """Whether a text ends where a sentence does."""
    body = text.rstrip(_CLOSERS)
    return bool(body.strip()) and body.endswith(tuple(_ENDS)) and not ends_in_abbreviation(body)


def _up_to_last_end(text: str) -> str:
    """The text up to its last end of a sentence; empty without one."""
    return "".join(_pieces(text)[:-1])
