"""Joins Synth's draft into the reply: what stands of it, what code adds, in the person's language and voice.

Every sentence is judged by itself. What a small model says badly (in general words, in another language, with a number
of its own) is left out and recorded, and code puts the claim's own sentence in its place: so a weak model gives a plain
reply about this person and not a fluent one about anybody.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from repertory.runtime.rules import ReplySentence
from repertory.teams.coaching.danger import dangerous_advice
from repertory.teams.coaching.grounding import holders
from repertory.teams.coaching.one_step import asks_or_offers, offers_step
from repertory.teams.coaching.repeats import repeats
from repertory.teams.coaching.reply_check import ReplyRules, clean_sentences, problem_with
from repertory.teams.coaching.suggests import is_tail, suggested_moves
from repertory.teams.coaching.voice_measure import addresses
from repertory.teams.coaching.words import word_count

__all__ = ("DraftPart", "Joined", "OwnWords", "join_reply")

Slot = Literal["noticed", "means", "next"]
_MOST_OF = {"noticed": 2, "means": 2, "next": 1}
_LEAST_WORDS = 3
"""Fewer words, and no question, are what is left of a sentence."""
# Points back to the sentence before it; without that one it says nothing.
_POINTS_BACK = re.compile(
    r"^(?:this|that|these|those|it|so|isso|isto|esto|eso|das|dies|deshalb|cela|ca|ça|por isso|por eso)\b", re.IGNORECASE
)
_HEDGE = re.compile(
    r"^(?:(?:it (?:seems|looks|sounds) (?:like|as if|that)|maybe|perhaps|i (?:think|feel|guess)(?: that)?|parece que|talvez|acho que|quiza|quizas|creo que|"
    r"vielleicht|ich glaube,?|es scheint,? (?:dass|als)|peut-etre|je (?:crois|pense) que|il semble que)\s+)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class DraftPart:
    """Words for one place of the reply, as the model wrote them."""

    slot: Slot
    text: str
    cited: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnWords:
    """What code can say by itself; all in the person's language, or empty.

    Attributes:
        facts: Claims as sentences, the most important first: claim ids and words.
        not_this: Why a move that somebody wanted is not advised.
        next: Questions or steps, the best first.
        asked_for: Claims that answer what the person asked; said in any case, for no model may forget them.
        help: Whom to ask, in place of any other question or step; empty where nothing dangerous is planned.
    """

    facts: Sequence[tuple[str, str]] = ()
    not_this: str = ""
    next: Sequence[str] = ()
    asked_for: Sequence[tuple[str, str]] = ()
    help: str = ""


@dataclass
class Joined:
    """The reply, and every sentence that was written for it."""

    text: str = ""
    sentences: list[ReplySentence] = field(default_factory=list[ReplySentence])

    @property
    def by_model(self) -> bool:
        """Whether anything that the model wrote is in it."""
        return any(item.dropped is None and item.by == "model" for item in self.sentences)

    @property
    def problems(self) -> list[str]:
        """Why sentences were left out, each reason once."""
        return list(dict.fromkeys(item.dropped for item in self.sentences if item.dropped))


class _Joiner:
    def __init__(self, rules: ReplyRules) -> None:
        self.rules = rules
        self.kept: dict[Slot, list[ReplySentence]] = {"noticed": [], "means": [], "next": []}
        self.dropped: list[ReplySentence] = []
        self._left_out = False
        self._last_dropped = False

    @property
    def said(self) -> str:
        return " ".join(item.text for part in self.kept.values() for item in part)

    def add(self, part: DraftPart) -> None:
        """Judge what the model wrote for one place."""
        for text in clean_sentences(part.text):
            sentence = self._in_voice(text)
            asks = "?" in sentence
            slot: Slot = "next" if asks and part.slot != "next" and not self.kept["next"] else part.slot
            if slot == "next" and not asks_or_offers(sentence):
                slot = "means"  # a fact in the wrong place
            problem = self._problem(sentence, slot)
            looks_ahead = slot == "next" or offers_step(sentence)
            ids = holders(sentence, self.rules.claims, part.cited, loose=looks_ahead)
            if problem is None and not ids:
                problem = "No point holds it. Say only what the points say, in this person's own facts."
            if problem is None and self._last_dropped and slot == "means" and _POINTS_BACK.match(sentence):
                problem = "It points back to a sentence that was left out."
            self._last_dropped = problem is not None
            self._left_out = problem is not None and ("suggest" in problem or "goes on" in problem)
            if problem is None:
                self.kept[slot].append(ReplySentence(sentence, ids))
            else:
                self.dropped.append(ReplySentence(sentence, ids, dropped=problem))

    def _problem(self, sentence: str, slot: Slot) -> str | None:
        if problem := problem_with(sentence, self.rules, self.said):
            return problem
        if word_count(sentence) < _LEAST_WORDS and "?" not in sentence:
            return "It is only a piece of a sentence."
        if self._left_out and is_tail(sentence):
            return "It goes on with what must not be said."
        if repeats(sentence, self.rules.first_reply):
            return "It says again what was said already. Say something that goes further."
        if repeats(sentence, self.rules.message) and not addresses(sentence):
            return "It is the person's own sentence. Speak to them, as you."
        if self.repeats_kept(sentence):
            return "It says the same thing twice."
        if len(self.kept[slot]) >= _MOST_OF[slot]:
            return "It is too much. One thing is enough."
        if "?" in sentence and not self.rules.may_ask:
            return "It asks. The person asked for no questions: offer one small step."
        return None

    @property
    def by_model(self) -> bool:
        """Whether anything stands that the model noticed."""
        return any(item.by == "model" for slot in ("noticed", "means") for item in self.kept[slot])

    def repeats_kept(self, sentence: str) -> bool:
        """Whether one of the two says again what the other says."""
        texts = [item.text for part in self.kept.values() for item in part]
        return any(repeats(sentence, text) or repeats(text, sentence) for text in texts)

    def _in_voice(self, text: str) -> str:
        """Plain where plain words are wanted, with the marks that the voice allows."""
        if self.rules.voice.directness >= 4:
            bare = _HEDGE.sub("", text)
            text = bare[:1].upper() + bare[1:] if bare != text else text
        if self.rules.voice.exclamation_marks == 0:
            text = text.replace("!", ".")
        return text if text.endswith((".", "!", "?", "…", '"', "”", "»", "。", "\uff1f")) else f"{text}."

    def own(self, slot: Slot, text: str, claims: tuple[str, ...], *, first: bool = False) -> bool:
        """Take a sentence of the code's own, unless the rules speak against it; whether it was taken."""
        if (
            problem_with(text, self.rules, self.said)
            or repeats(text, self.rules.first_reply)
            or self.repeats_kept(text)
        ):
            return False
        self.kept[slot].insert(0 if first else len(self.kept[slot]), ReplySentence(text, claims, by="code"))
        return True

    def drop(self, slot: Slot, why: str) -> None:
        self.dropped += [replace(item, dropped=why) for item in self.kept[slot]]
        self.kept[slot] = []


def _fill(joiner: _Joiner, own: OwnWords) -> None:
    """Put code's own words where the model left a gap."""
    for claim, words in own.asked_for:
        if not any(claim in item.claims for item in joiner.kept["noticed"]):
            joiner.own("noticed", words, (claim,), first=True)
    facts = iter(own.facts)
    while len(joiner.kept["noticed"]) < (1 if joiner.by_model else 2) and (fact := next(facts, None)):
        joiner.own("noticed", fact[1], (fact[0],))
    if own.help:
        joiner.drop("next", "Somebody who knows should be asked here.")
    if own.help or (not joiner.kept["next"] and not asks_or_offers(joiner.said)):
        for words in own.next:
            ids = holders(words, joiner.rules.claims, loose=True)
            if joiner.own("next", words, ids):
                break


def _shorten(joiner: _Joiner, not_this: str) -> None:
    """Keep within the words that the voice allows: the meaning goes first, then all but the first thing noticed."""
    rules = joiner.rules
    if rules.voice.length == "short" or rules.voice.detail <= 1:
        joiner.drop("means", "The person wants it short.")
    if word_count(joiner.said) + word_count(not_this) > rules.max_words:
        joiner.drop("means", "It is too long.")
    while word_count(joiner.said) + word_count(not_this) > rules.max_words and len(joiner.kept["noticed"]) > 1:
        last = joiner.kept["noticed"].pop()
        joiner.dropped.append(replace(last, dropped="It is too long."))
    if word_count(joiner.said) + word_count(not_this) > rules.max_words and joiner.kept["next"]:
        joiner.drop("noticed", "It is too long.")


def _drop_pairs(sentences: list[ReplySentence], joiner: _Joiner) -> list[ReplySentence]:
    """Leave out two neighbours that only together say what must not be said."""
    kept: list[ReplySentence] = []
    for item in sentences:
        both = f"{kept[-1].text.rstrip('.!? ')} {item.text}" if kept else ""
        pair = bool(both) and "model" in {kept[-1].by, item.by}
        if pair and (suggested_moves(both, joiner.rules.blocked) or dangerous_advice(both)):
            bad = kept.pop()
            joiner.dropped += [
                replace(one, dropped="Together they suggest what must not be suggested.") for one in (bad, item)
            ]
            continue
        kept.append(item)
    return kept


def _calm(text: str, marks_allowed: int) -> str:
    """The text with no more exclamation marks than the voice allows; the first ones stay."""
    head, *rest = text.split("!")
    return head + "".join(("!" if number < marks_allowed else ".") + piece for number, piece in enumerate(rest))


def join_reply(parts: Sequence[DraftPart], rules: ReplyRules, own: OwnWords) -> Joined:
    """Join the parts of a draft into the reply.

    Args:
        parts: What the model wrote, in the order of the reply.
        rules: What every sentence is held against.
        own: What code can say where the model left a gap.
    """
    joiner = _Joiner(rules)
    for part in parts:
        joiner.add(part)
    _fill(joiner, own)
    _shorten(joiner, own.not_this)
    ordered = [*joiner.kept["noticed"], *joiner.kept["means"]]
    if own.not_this:
        ordered.append(ReplySentence(own.not_this, (), by="code"))
    ordered = _drop_pairs([*ordered, *joiner.kept["next"]], joiner)
    text = _calm(" ".join(item.text for item in ordered), rules.voice.exclamation_marks)
    return Joined(text, [*ordered, *joiner.dropped])
