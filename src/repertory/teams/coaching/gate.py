"""The gate in front of the Coach's stream: words go through at once while nothing can be wrong with them.

Two ways of working, chosen when the turn starts. With nothing to guard (no standing block, no wish about style) words
stream one by one, and only a sentence with a risky word is held until it can be judged. Otherwise whole sentences
stream.
The result does not depend on how the stream is cut, and a sentence that must not be said is left out.
"""

from collections.abc import Callable, Sequence

from repertory.runtime.rules import TextGate
from repertory.teams.coaching.leaks import find_leaks, is_risky_word
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.repeats import repeats
from repertory.teams.coaching.suggests import is_tail, suggested_moves
from repertory.teams.coaching.words import word_count

__all__ = ("CoachGate", "GateLimits")

_ENDS = ".!?…。\uff01\uff1f\n"
_CLOSERS = "\"')»”\u2019"


class GateLimits:
    """What the gate lets through.

    Args:
        blocked: Moves that no sentence may suggest.
        allow_exclamation: Whether exclamation marks stay; otherwise they become full stops.
        max_words: Words after which no further sentence is let through; None: no limit.
        refuse: A further reason to leave a sentence out (such as praise that the person did not want).
        echo_of: The person's message; a reply that only says it again gets the fixed words added.
    """

    def __init__(
        self,
        blocked: Sequence[Move] = (),
        *,
        allow_exclamation: bool = True,
        max_words: int | None = None,
        refuse: Callable[[str], bool] | None = None,
        echo_of: str = "",
    ) -> None:
        self.blocked = tuple(blocked)
        self.allow_exclamation = allow_exclamation
        self.max_words = max_words
        self.refuse = refuse
        self.echo_of = echo_of

    @property
    def whole_sentences(self) -> bool:
        """Whether words must wait for the end of their sentence."""
        return bool(self.blocked) or self.max_words is not None or self.refuse is not None


class CoachGate(TextGate):
    """Lets a streamed reply through word by word or sentence by sentence, and leaves out what must not be said.

    Args:
        limits: What to guard.
        otherwise: What is said when nothing was left to say.
    """

    def __init__(self, limits: GateLimits, otherwise: str) -> None:
        self._limits = limits
        self._otherwise = otherwise
        self._sentence = ""
        """The running sentence, as the model wrote it."""
        self._shown_of_sentence = 0
        self._holding = limits.whole_sentences
        self._before = ""
        self._said = ""
        self._left_out = False
        self._words_shown = 0
        self._anything_shown = False
        self._full = False
        self._pending_end = False

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be shown now."""
        out = "".join(self._take(char) for char in text)
        self._said += out
        return out

    def close(self) -> str:
        """Judge what is left; fixed words when nothing was shown at all."""
        rest = self._end_sentence() if self._sentence else ""
        if not self._anything_shown:
            self._anything_shown = True
            return rest + self._otherwise
        said = self._said + rest
        if self._limits.echo_of and repeats(said, self._limits.echo_of) and self._otherwise not in said:
            return f"{rest.rstrip()} {self._otherwise}"
        return rest

    def _take(self, char: str) -> str:
        out = ""
        if self._pending_end and char not in _ENDS + _CLOSERS and (char.isspace() or self._sentence[-1] == "\n"):
            out = self._end_sentence()
        self._pending_end = False
        self._sentence += char
        if char in _ENDS or (char in _CLOSERS and self._sentence[-2:-1] and self._sentence[-2] in _ENDS):
            self._pending_end = True
        if char.isspace() and not self._holding:
            out += self._release_words()
        return out

    def _release_words(self) -> str:
        """Show the finished words of the running sentence, unless one of them could be part of something bad."""
        fresh = self._sentence[self._shown_of_sentence :]
        if self._full:
            return ""
        if any(is_risky_word(word) for word in fresh.split()):
            self._holding = True
            return ""
        self._shown_of_sentence = len(self._sentence)
        self._anything_shown = self._anything_shown or bool(fresh.strip())
        return self._styled(fresh)

    def _end_sentence(self) -> str:
        sentence, shown = self._sentence, self._shown_of_sentence
        self._sentence, self._shown_of_sentence, self._holding = "", 0, self._limits.whole_sentences
        if not sentence.strip():
            return self._styled(sentence[shown:]) if self._anything_shown and not self._full else ""
        words = word_count(sentence)
        if self._full or self._too_long(words):
            return ""
        self._left_out = self._suggests(sentence) or (self._left_out and is_tail(sentence))
        if self._left_out or find_leaks(sentence) or (self._limits.refuse and self._limits.refuse(sentence)):
            return ""
        self._before = sentence
        self._words_shown += words
        out = sentence[shown:] if self._anything_shown or shown else sentence.lstrip()
        self._anything_shown = self._anything_shown or bool(sentence.strip())
        return self._styled(out)

    def _too_long(self, words: int) -> bool:
        limit = self._limits.max_words
        if limit is None or self._words_shown + words <= limit:
            return False
        self._full = self._words_shown > 0
        return self._full or words > limit * 2

    def _suggests(self, sentence: str) -> bool:
        """Whether a sentence, alone or with the one before it, suggests a blocked move."""
        if suggested_moves(sentence, self._limits.blocked):
            return True
        across = f"{self._before.rstrip(_ENDS + ' ')} {sentence}"
        return bool(self._before and suggested_moves(across, self._limits.blocked))

    def _styled(self, text: str) -> str:
        return text if self._limits.allow_exclamation else text.replace("!", ".").replace("\uff01", "。")
