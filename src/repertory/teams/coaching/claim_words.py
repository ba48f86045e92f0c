"""The words of claims in the five languages: what was found, said to the person in plain sentences."""

# ruff: noqa: E501 - a sentence a line

import re
from dataclasses import dataclass

from repertory.teams.coaching.drafts import Pattern
from repertory.teams.coaching.language import FixedLanguage
from repertory.teams.coaching.words import sentences

__all__ = ("CLAIM_WORDS", "ClaimWords", "to_you")


@dataclass(frozen=True)
class ClaimWords:
    """One language's sentences; `{x}` is what the person said, as said to them.

    Attributes:
        goal: What they want.
        priority: What got their time.
        open: A promise that is open.
        kept: One they kept.
        missed: One that did not happen.
        dropped: One they let go.
        record: How many promises were kept, of how many.
        alike: The same for promises like this one.
        chance: The forecast, with the record before it.
        growth: What may be worth learning.
        recurring: A goal that came up again.
        message: What they wrote.
        patterns: What each pattern is called to the person.
    """

    goal: str
    priority: str
    open: str
    kept: str
    missed: str
    dropped: str
    record: str
    alike: str
    chance: str
    growth: str
    recurring: str
    message: str
    patterns: dict[Pattern, str]


CLAIM_WORDS: dict[FixedLanguage, ClaimWords] = {
    "en": ClaimWords(
        goal="What you want: {x}.",
        priority="Your time went to this: {x}.",
        open="You plan this: {x}.",
        kept="You did this: {x}.",
        missed="This did not happen: {x}.",
        dropped="You let this go: {x}.",
        record="You kept {kept} of {n} promises.",
        alike="You kept {kept} of {n} promises like this one.",
        chance="{record} That makes about {chance} % for the next one, a rough guess.",
        growth="Hard for you, and worth learning: {x}.",
        recurring="This came up {times} times: {x}.",
        message='You wrote: "{x}"',
        patterns={
            Pattern.INTENTION_ACTION_GAP: "You plan it, and then it does not happen.",
            Pattern.GOAL_SUBSTITUTION: "Something else keeps taking the place of your goal.",
            Pattern.OVERCOMMITMENT: "You take on more than fits.",
            Pattern.AVOIDANCE: "You step around what is uncomfortable.",
            Pattern.ALL_OR_NOTHING: "It is all or nothing for you.",
            Pattern.PLANNING_FALLACY: "You plan more than you get done.",
            Pattern.RELAPSE_CYCLE: "There is a start, a slip, and a new start.",
            Pattern.GOAL_CONFLICT: "Two of your goals stand against each other.",
            Pattern.STEADY_FOLLOW_THROUGH: "You keep what you plan.",
        },
    ),
    "pt": ClaimWords(
        goal="O que você quer: {x}.",
        priority="Seu tempo foi para isto: {x}.",
        open="Você planeja isto: {x}.",
        kept="Você fez isto: {x}.",
        missed="Isto não aconteceu: {x}.",
        dropped="Você deixou isto de lado: {x}.",
        record="Você cumpriu {kept} de {n} promessas.",
        alike="Você cumpriu {kept} de {n} promessas como esta.",
        chance="{record} Isso dá cerca de {chance} % para a próxima, uma estimativa grosseira.",
        growth="Difícil para você, e vale aprender: {x}.",
        recurring="Isto já apareceu {times} vezes: {x}.",
        message='Você escreveu: "{x}"',
        patterns={
            Pattern.INTENTION_ACTION_GAP: "Você planeja, e depois não acontece.",
            Pattern.GOAL_SUBSTITUTION: "Outra coisa fica tomando o lugar da sua meta.",
            Pattern.OVERCOMMITMENT: "Você assume mais do que cabe.",
            Pattern.AVOIDANCE: "Você contorna o que é desconfortável.",
            Pattern.ALL_OR_NOTHING: "Para você é tudo ou nada.",
            Pattern.PLANNING_FALLACY: "Você planeja mais do que consegue fazer.",
            Pattern.RELAPSE_CYCLE: "Há um começo, um deslize e um novo começo.",
            Pattern.GOAL_CONFLICT: "Duas das suas metas disputam o mesmo lugar.",
            Pattern.STEADY_FOLLOW_THROUGH: "Você cumpre o que planeja.",
        },
    ),
    "es": ClaimWords(
        goal="Lo que quieres: {x}.",
        priority="Tu tiempo se fue en esto: {x}.",
        open="Tienes este plan: {x}.",
        kept="Hiciste esto: {x}.",
        missed="Esto no ocurrió: {x}.",
        dropped="Dejaste esto de lado: {x}.",
        record="Cumpliste {kept} de {n} promesas.",
        alike="Cumpliste {kept} de {n} promesas como esta.",
        chance="{record} Eso da cerca de {chance} % para la próxima, un cálculo aproximado.",
        growth="Te cuesta, y vale la pena aprenderlo: {x}.",
        recurring="Esto ya salió {times} veces: {x}.",
        message='Escribiste: "{x}"',
        patterns={
            Pattern.INTENTION_ACTION_GAP: "Lo planeas, y luego no ocurre.",
            Pattern.GOAL_SUBSTITUTION: "Otra cosa ocupa una y otra vez el lugar de tu meta.",
            Pattern.OVERCOMMITMENT: "Aceptas más de lo que cabe.",
            Pattern.AVOIDANCE: "Esquivas lo que es incómodo.",
            Pattern.ALL_OR_NOTHING: "Para ti es todo o nada.",
            Pattern.PLANNING_FALLACY: "Planeas más de lo que llegas a hacer.",
            Pattern.RELAPSE_CYCLE: "Hay un comienzo, un tropiezo y otro comienzo.",
            Pattern.GOAL_CONFLICT: "Dos de tus metas compiten entre sí.",
            Pattern.STEADY_FOLLOW_THROUGH: "Cumples lo que planeas.",
        },
    ),
    "de": ClaimWords(
        goal="Was du willst: {x}.",
        priority="Deine Zeit ging hierhin: {x}.",
        open="Du hast das vor: {x}.",
        kept="Das hast du gemacht: {x}.",
        missed="Das ist nicht passiert: {x}.",
        dropped="Das hast du fallen lassen: {x}.",
        record="Du hast {kept} von {n} Vorsätzen gehalten.",
        alike="Du hast {kept} von {n} Vorsätzen wie diesem gehalten.",
        chance="{record} Das macht etwa {chance} % für den nächsten, eine grobe Schätzung.",
        growth="Das fällt dir schwer und lohnt sich zu lernen: {x}.",
        recurring="Das kam schon {times} Mal: {x}.",
        message='Du hast geschrieben: "{x}"',
        patterns={
            Pattern.INTENTION_ACTION_GAP: "Du planst es, und dann passiert es nicht.",
            Pattern.GOAL_SUBSTITUTION: "Etwas anderes nimmt immer wieder den Platz deines Ziels ein.",
            Pattern.OVERCOMMITMENT: "Du nimmst dir mehr vor, als hineinpasst.",
            Pattern.AVOIDANCE: "Du gehst dem Unangenehmen aus dem Weg.",
            Pattern.ALL_OR_NOTHING: "Für dich gilt alles oder nichts.",
            Pattern.PLANNING_FALLACY: "Du planst mehr, als du schaffst.",
            Pattern.RELAPSE_CYCLE: "Es gibt einen Anfang, einen Ausrutscher und einen neuen Anfang.",
            Pattern.GOAL_CONFLICT: "Zwei deiner Ziele stehen gegeneinander.",
            Pattern.STEADY_FOLLOW_THROUGH: "Du hältst, was du planst.",
        },
    ),
    "fr": ClaimWords(
        goal="Ce que tu veux : {x}.",
        priority="Ton temps est allé à ceci : {x}.",
        open="Tu prévois ceci : {x}.",
        kept="Tu as fait ceci : {x}.",
        missed="Ceci n'a pas eu lieu : {x}.",
        dropped="Tu as laissé tomber ceci : {x}.",
        record="Tu as tenu {kept} promesses sur {n}.",
        alike="Tu as tenu {kept} promesses sur {n} comme celle-ci.",
        chance="{record} Cela fait environ {chance} % pour la prochaine, une estimation grossière.",
        growth="C'est difficile pour toi, et cela vaut la peine d'apprendre : {x}.",
        recurring="C'est revenu {times} fois : {x}.",
        message='Tu as écrit : "{x}"',
        patterns={
            Pattern.INTENTION_ACTION_GAP: "Tu le prévois, et puis cela ne se fait pas.",
            Pattern.GOAL_SUBSTITUTION: "Autre chose prend sans cesse la place de ton but.",
            Pattern.OVERCOMMITMENT: "Tu acceptes plus que ce qui tient dans ta semaine.",
            Pattern.AVOIDANCE: "Tu contournes ce qui est inconfortable.",
            Pattern.ALL_OR_NOTHING: "Pour toi, c'est tout ou rien.",
            Pattern.PLANNING_FALLACY: "Tu prévois plus que tu n'arrives à faire.",
            Pattern.RELAPSE_CYCLE: "Il y a un début, un écart, puis un nouveau début.",
            Pattern.GOAL_CONFLICT: "Deux de tes buts s'opposent.",
            Pattern.STEADY_FOLLOW_THROUGH: "Tu tiens ce que tu prévois.",
        },
    ),
}

# Only whole words, and only those that mean the first person in that language ("me" is left alone where it is a reflexive
# of the verb that follows).
_PERSONS: dict[FixedLanguage, dict[str, str]] = {
    "en": {"i": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'll": "you'll", "i'm": "you're", "i've": "you've"},
    "pt": {"meu": "seu", "minha": "sua", "meus": "seus", "minhas": "suas", "comigo": "com você"},
    "es": {"mi": "tu", "mis": "tus", "conmigo": "contigo"},
    "de": {"mein": "dein", "meine": "deine", "meinen": "deinen", "meinem": "deinem", "meiner": "deiner", "meines": "deines"},
    "fr": {"mon": "ton", "ma": "ta", "mes": "tes"},
}  # fmt: skip
# How a wish begins; what follows it is an infinitive in each of these.
_WANT: dict[FixedLanguage, re.Pattern[str]] = {
    "en": re.compile(r"^(?:i (?:want|would like|need|hope|plan) to|i'd like to|to) ", re.IGNORECASE),
    "pt": re.compile(r"^(?:eu )?(?:quero|gostaria de|queria|preciso(?: de)?|pretendo) (?=\w+[aei]r\b)", re.IGNORECASE),
    "es": re.compile(r"^(?:yo )?(?:quiero|me gustaría|quisiera|necesito) (?=\w+[aei]r(?:me)?\b)", re.IGNORECASE),
    "de": re.compile(r"^ich (?:will|möchte|muss) ", re.IGNORECASE),
    "fr": re.compile(r"^je (?:veux|voudrais|dois) (?=\w+(?:er|ir|re)\b)", re.IGNORECASE),
}


def to_you(text: str, language: FixedLanguage = "en") -> str:
    """Words of the person about themselves, said to them, one sentence: "I want to end my novel" is "end your novel"."""
    bare = (sentences(text) or [""])[0].strip(" .,;:")
    bare = _WANT[language].sub("", bare)
    persons = _PERSONS[language]
    return re.sub(r"[\w']+", lambda word: persons.get(word.group().lower(), word.group()), bare)
