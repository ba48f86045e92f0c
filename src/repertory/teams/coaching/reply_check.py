"""The check of the full reply, sentence by sentence: what must not be in it, in words for the model."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repertory.teams.coaching.danger import dangerous_advice
from repertory.teams.coaching.fixed_texts import write_in
from repertory.teams.coaching.grounding import HeldClaim, holders, unfounded_numbers
from repertory.teams.coaching.language import surely_other
from repertory.teams.coaching.leaks import OCEAN_WORDS, find_leaks
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.repeats import repeats
from repertory.teams.coaching.sections import Voice
from repertory.teams.coaching.suggests import suggested_moves
from repertory.teams.coaching.words import fold, sentences, word_count

__all__ = ("MAX_WORDS", "ReplyRules", "check_reply", "clean_sentences", "is_praise", "problem_with", "without_lead_in")

MAX_WORDS = {"short": 35, "normal": 110, "long": 170}
MIN_WORDS = 4
_LIST_MARK = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•\u2013])\s+", re.MULTILINE)
_PRAISE = re.compile(
    r"\b(?:great (?:job|work|start|question|step)|well done|good (?:job|work|for you)|amazing|awesome|fantastic|excellent|wonderful|brilliant|"
    r"congrat\w*|(?:so )?proud of you|keep (?:it up|up the good)|impressive|bravo|kudos|you'?re doing (?:great|well)|"
    r"otimo (?:trabalho|comeco)|muito bem|parabens|excelente|incrivel|maravilh\w*|(?:gran|buen) trabajo|muy bien|felicidades|enhorabuena|"
    r"increible|genial|fantastic\w*|tolle? (?:arbeit|leistung)|sehr gut gemacht|gut gemacht|super gemacht|grossartig|gluckwunsch|weiter so|"
    r"bien joue|bravo|felicitations|excellent|formidable|super travail|magnifique)\b"
)
_ABOUT_THEM = re.compile(
    r"\b(?:the (?:person|user)(?:'s)?\b|a pessoa (?:que escrev|diz|quer|esta)|el usuario|la persona (?:que escrib|dice|quiere)|"
    r"die person (?:schreibt|sagt|will|hat)|la personne (?:qui ecrit|dit|veut|a ecrit)|they have (?:already )?read|"
    r"(?:here is|aqui esta|aqui tienes|hier ist|voici) (?:\w+ ){0,2}(?:suggestion|sugestao|sugerencia|vorschlag|reply|response|resposta|"
    r"respuesta|antwort|reponse)|points for the reply|in your own words)"
)
# A model that plays both sides of a talk: what stands under such a label is nobody's reply.
_PLAYED = re.compile(
    r"^\W*(?:you|me|coach|person|user|client|assistant|human|voce|tu|eu|pessoa|usuario|yo|persona|du|ich|mensch|toi|moi|personne)\s*:",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^\s*(?:(?:fact|facts|known|what is known|what to say next|last|first|then|not advised|both sides|say|why|why not|do|step|next step|the step|suggestion|instead|reply|answer|question|"
    r"fato|fatos|passo|hecho|hechos|paso|fakt|fakten|schritt|fait|faits|etape|pergunta|pregunta|frage)\b[^.:!?\n]{0,40}:|c\d+[.:])\s*",
    re.IGNORECASE,
)
_BLAMES = re.compile(
    r"\b(?:you (?:did not|didn'?t|do not|don'?t|never) (?:even )?(?:keep|kept|honou?r) your (?:promises?|word|commitments?)|you (?:have )?(?:failed|always fail|keep failing)|"
    r"you lack (?:the )?(?:discipline|willpower|commitment|motivation)|you(?:'re| are) not (?:really )?(?:committed|serious|trying|disciplined)|you should(?:'ve| have)|your (?:failure|lack of)|"
    r"voce (?:nao cumpriu (?:suas|as) promessas|falhou|fracassou|deveria ter)|falta de (?:disciplina|compromisso|vontade)|"
    r"(?:no cumpliste tus promesas|fallaste|fracasaste|deberias haber)|te falta (?:disciplina|compromiso|voluntad)|"
    r"du hast (?:deine versprechen (?:\w+ )?(?:nicht gehalten|gebrochen)|versagt)|dir fehlt (?:es an )?(?:\w+ )?(?:disziplin|wille)|du hattest (?:\w+ )?sollen|"
    r"tu (?:n'as pas tenu tes promesses|as echoue|manques de (?:discipline|volonte)|aurais du))\b"
)
# A small model begins with the words of its instructions.
_LEAD_IN = re.compile(
    r"^(?:(?:and |so |but )?(?:the (?:one )?(?:thing|point|fact) that (?:matters|mattered) (?:the )?most(?: (?:now|here|to you))? is(?: that)?|what (?:matters|happened)(?: most| now| here)* is(?: that)?|"
    r"o que (?:mais )?(?:importa|aconteceu)(?: mais| agora| aqui)* (?:e|é|foi)(?: que)?|lo (?:que )?mas importante (?:es|ahora es)(?: que)?|"
    r"(?:das wichtigste|was jetzt (?:am meisten )?zahlt)(?: ist)?,?(?: dass)?|ce qui compte le plus(?: maintenant)?,? c'est que)[,:]?\s+)",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"^\s*(?:(?:sure|of course|certainly|okay|here(?:'s| is) (?:the|my|your|a) (?:\w+ ){0,3}?(?:reply|response|message|answer|part)\w*(?: of [\w ]{1,30})?|"
    r"(?:full )?(?:reply|response|answer|synth|coach)\b)\s*[:!,.-]+\s*)+",
    re.IGNORECASE,
)


# Advice that fits anybody; "it is important to stay organized" is no coaching.
_GENERIC = re.compile(
    r"\b(?:(?:it(?:'s| is)) (?:important|essential|crucial|vital|key|necessary|okay|normal) (?:to|that)|stay (?:organi[sz]ed|focused|motivated|on track|consistent|positive|committed)|"
    r"to-?do lists?|believe in yourself|one step at a time|prioriti[sz]e your (?:tasks|goals|time)|remember (?:that|to)|keep in mind|(?:small )?steps? (?:can )?lead|rome was|"
    r"manage your time|take (?:regular )?breaks|self-care|stay strong|never give up|achieve your (?:goals|dreams)|"
    r"e importante (?:que|lembrar|manter|priorizar|ter|estabelecer)|mantenha (?:o foco|a motivacao|a calma)|lembre-se|lista de tarefas|acredite em|um passo de cada vez|nao desista|"
    r"es importante (?:que|recordar|mantener|priorizar|tener|establecer)|mantente (?:enfocad\w+|motivad\w+)|recuerda que|lista de tareas|cree en ti|paso a paso|no te rindas|"
    r"es ist wichtig|bleib (?:dran|fokussiert|motiviert|positiv)|denk daran|to-do-liste|glaub an dich|schritt fur schritt|gib nicht auf|"
    r"il est important|c'est important de|reste (?:concentre|motive|positi)\w*|n'oublie pas|liste de taches|crois en toi|un pas a la fois|n'abandonne pas)\b"
)


@dataclass(frozen=True)
class ReplyRules:
    """What a reply is held against.

    Attributes:
        message: The person's message.
        first_reply: What the Coach has said already.
        claims: What the reply may rest on.
        blocked: Moves that no sentence may suggest.
        voice: The voice settings.
        max_words: The most words the reply may have.
        may_speak_of_traits: Whether there is a Persona to speak of.
        language: Code of the language to answer in; None when it is not known.
        may_ask: Whether a question may be asked.
    """

    message: str
    first_reply: str
    claims: Sequence[HeldClaim]
    blocked: Sequence[Move]
    voice: Voice
    max_words: int
    may_speak_of_traits: bool = True
    language: str | None = None
    may_ask: bool = True

    @property
    def number_sources(self) -> tuple[str, ...]:
        """Texts whose numbers may be said: the claims, the messages they rest on, and this message."""
        return (self.message, *(text for held in self.claims for text in (held.claim.text, held.evidence)))


def is_praise(sentence: str) -> bool:
    """Whether a sentence praises."""
    return bool(_PRAISE.search(fold(sentence)))


def problem_with(sentence: str, rules: ReplyRules, before: str = "") -> str | None:
    """Why a sentence can not stand, whoever wrote it, in words for the model; None when it can.

    Args:
        sentence: The sentence.
        rules: What it is held against.
        before: What it follows in the reply.
    """
    folded = fold(sentence)
    if _PLAYED.match(folded):
        return "It plays a talk. Write only what you say to the person."
    if leaks := find_leaks(sentence):
        return f"It shows {leaks[0]}. Write plain words for the person only."
    if suggested := suggested_moves(sentence, rules.blocked):
        return f"It suggests what must not be suggested: {MOVE_FACTS[suggested[0]].words}."
    if danger := dangerous_advice(sentence, f"{rules.message} {before}"):
        return f"It suggests something dangerous: {danger.value}. Send them to somebody who knows instead."
    if surely_other(sentence, rules.language):
        return f"It is in another language than the person's message. {write_in(rules.language)}"
    if numbers := unfounded_numbers(sentence, rules.number_sources):
        return f"It has a number that nobody gave: {', '.join(sorted(numbers))}. Leave it out."
    if _ABOUT_THEM.search(folded):
        return "It speaks about the person or the task. Speak to them, as you."
    if not rules.may_speak_of_traits and OCEAN_WORDS.search(folded):
        return "It speaks of personality. Leave that out."
    if rules.voice.praise == "minimal" and is_praise(sentence):
        return "It praises. The person asked for no praise."
    if _BLAMES.search(folded):
        return "It blames. Say what happened, without a verdict on the person."
    if _GENERIC.search(folded):
        return "It could be said to anybody. Name what this person wrote."
    return None


def clean_sentences(text: str) -> list[str]:
    """The sentences of a model's text without list marks, labels, markup and talk around the reply."""
    plain = _LIST_MARK.sub("", _PREAMBLE.sub("", text.strip().strip('"`').strip()))
    plain = re.sub(r"\*\*|__|^#+\s*", "", plain, flags=re.MULTILINE)
    found: list[str] = []
    for sentence in sentences(plain):
        if _PLAYED.match(fold(sentence)):
            break  # what follows is said in somebody else's name
        found.append(without_lead_in(_LABEL.sub("", sentence).strip()))
    return [sentence for sentence in found if sentence]


def without_lead_in(sentence: str) -> str:
    """A sentence without "the point that matters most is that" before what it says."""
    bare = _LEAD_IN.sub("", sentence)
    return sentence if bare == sentence else bare[:1].upper() + bare[1:]


def check_reply(text: str, rules: ReplyRules) -> list[str]:
    """What is wrong with a whole reply, in words for the model; an empty list when it can be sent."""
    if word_count(text) < MIN_WORDS:
        return ["It is empty, or nothing of it could be said. Write a few plain sentences for the person."]
    problems = [problem for sentence in sentences(text) if (problem := problem_with(sentence, rules))]
    if word_count(text) > rules.max_words:
        problems.append(f"It is too long: at most {rules.max_words} words.")
    if rules.claims and not any(holders(sentence, rules.claims, loose=True) for sentence in sentences(text)):
        problems.append("It could be said to anybody. Name at least one thing this person wrote.")
    if text.count("!") > rules.voice.exclamation_marks:
        problems.append("It has too many exclamation marks.")
    if repeats(text, rules.first_reply):
        problems.append("It says again what was said already. Say something that goes further.")
    if suggested_moves(text, rules.blocked) and not problems:
        problems.append("It suggests what must not be suggested.")
    return list(dict.fromkeys(problems))[:4]
