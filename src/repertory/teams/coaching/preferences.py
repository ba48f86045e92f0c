"""What a person asks for in how they are spoken to, and the voice settings that follow from it and from OCEAN."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Iterable, Mapping, Sequence

from repertory.storage.records import Message
from repertory.teams.coaching.ocean import Domain
from repertory.teams.coaching.sections import Driver, Preference, Trait, Voice
from repertory.teams.coaching.words import fold

__all__ = ("PREFERENCES", "find_preferences", "voice_for", "voice_in_words")

PREFERENCES: dict[str, re.Pattern[str]] = {
    "short_answers": re.compile(
        r"\b(?:(?:short|brief|concise) (?:answers?|replies|reply|responses?|messages?)|keep it (?:short|brief)|be (?:brief|concise|short)|"
        r"short answers only|no long (?:texts?|answers?|messages?)|less text|"
        r"(?:respostas?|mensagens) (?:curtas?|breves?)|seja breve|se breve|sem textao|resposta curta|"
        r"(?:respuestas?|mensajes) (?:cortas?|breves?)|respuestas? (?:mas )?cortas?|ve al grano|"
        r"(?:kurze?n?|knappe?n?) (?:antwort(?:en)?|nachrichten)|fass dich kurz|bitte kurz|halt(?:e)? (?:es|dich) kurz|"
        r"(?:reponses?|messages?) (?:courtes?|breves?)|(?:sois|soyez) (?:bref|breve|concis)|fais court)\b"
    ),
    "long_answers": re.compile(
        r"\b(?:(?:long|longer|detailed) (?:answers?|replies|explanations?)|more detail|in detail please|explain (?:more|in depth)|"
        r"respostas? (?:mais )?(?:longas?|detalhadas?)|mais detalhes?|respuestas? (?:mas )?(?:largas?|detalladas?)|mas detalles?|"
        r"(?:ausfuhrliche\w*|langere?) antworten?|mehr details?|reponses? (?:plus )?(?:longues?|detaillees?)|plus de details?)\b"
    ),
    "no_cheerleading": re.compile(
        r"\b(?:no (?:cheerleading|cheering|pep talks?|praise|flattery|rah[- ]rah|hype|fluff|sugar ?coating)|"
        r"(?:don'?t|do not|stop) (?:praise|praising|cheer\w*|flatter\w*|sugar ?coat\w*|hype)|without (?:praise|cheerleading)|"
        r"sem (?:elogios?|torcida|bajulacao|oba-oba)|nao me elogie|sin (?:elogios?|halagos?|animos?|porras)|no me (?:elogies|animes)|"
        r"(?:kein|ohne) (?:lob|gelobe|jubel|schonreden|cheerleading)|lob mich nicht|"
        r"(?:pas|sans) (?:de )?(?:compliments?|eloges?|flatteries?|encouragements?))\b"
    ),
    "no_exclamation": re.compile(
        r"\b(?:no exclamation (?:marks?|points?)|sem (?:pontos? de )?exclamac\w*|sin (?:signos de )?exclamaci\w*|"
        r"keine ausrufezeichen|(?:pas|sans) (?:de )?points? d'exclamation)\b"
    ),
    "be_direct": re.compile(
        r"\b(?:be (?:direct|blunt|honest|frank|straight|brutally honest)|(?:tell it|give it to me) straight|don'?t be gentle|tough love|"
        r"seja (?:diret[oa]|franc[oa]|sincer[oa])|sem rodeios|se (?:direct[oa]|franc[oa]|sincer[oa])|sin rodeos|"
        r"sei (?:direkt|ehrlich|offen)|klartext|ohne umschweife|(?:sois|soyez) (?:direct|franc|honnete)e?|sans detour)\b"
    ),
    "be_gentle": re.compile(
        r"\b(?:be (?:gentle|kind|soft|nice)|go easy on me|(?:don'?t|do not) (?:push|pressure|challenge) me|no pressure please|"
        r"seja (?:gentil|delicad[oa])|nao me pression\w*|se (?:amable|suave)|no me presiones|"
        r"sei (?:sanft|nett|vorsichtig)|(?:drang|setz) mich nicht|(?:sois|soyez) (?:doux|douce|gentille?)|ne me (?:presse|brusque)\w* pas)\b"
    ),
    "step_by_step": re.compile(
        r"\b(?:step[- ]by[- ]step|numbered steps|bullet points please|passo a passo|paso a paso|schritt fur schritt|pas a pas|etape par etape)\b"
    ),
    "slow_down": re.compile(
        r"\b(?:slow down|too fast|one thing at a time|mais devagar|uma coisa de cada vez|mas despacio|una cosa a la vez|"
        r"langsamer|eins nach dem anderen|plus lentement|une chose a la fois)\b"
    ),
    "no_questions": re.compile(
        r"\b(?:no (?:more )?questions|stop asking|(?:don'?t|do not) ask (?:me )?(?:so many )?questions|sem perguntas|sin preguntas|"
        r"keine fragen|(?:pas|sans) (?:de )?questions)\b"
    ),
}
_EFFECTS: dict[str, dict[str, int | str]] = {
    "short_answers": {"length": "short", "detail": 1},
    "long_answers": {"length": "long", "detail": 5},
    "no_cheerleading": {"praise": "minimal", "exclamation_marks": 0},
    "no_exclamation": {"exclamation_marks": 0},
    "be_direct": {"directness": 5},
    "be_gentle": {"warmth": 5, "challenge": 1},
    "step_by_step": {"structure": 5},
    "slow_down": {"pace": 1},
    "no_questions": {},
}
_CONTRADICT = {
    "short_answers": "long_answers",
    "long_answers": "short_answers",
    "be_direct": "be_gentle",
    "be_gentle": "be_direct",
}

# (setting, trait, +1 when more of the trait means more of the setting, why)
_TRAIT_RULES: tuple[tuple[str, Domain, int, str], ...] = (
    ("directness", "agreeableness", -1, "agreeable people take plain words harder"),
    ("warmth", "agreeableness", 1, "agreeable people answer to warmth"),
    ("warmth", "neuroticism", 1, "worry asks for warmth first"),
    ("structure", "conscientiousness", 1, "conscientious people like a clear order"),
    ("structure", "neuroticism", 1, "a clear order lowers worry"),
    ("challenge", "neuroticism", -1, "worry grows under challenge"),
    ("challenge", "extraversion", 1, "outgoing people like to be challenged"),
    ("detail", "openness", 1, "curious people like the reasons"),
    ("detail", "conscientiousness", 1, "conscientious people like details"),
    ("pace", "extraversion", 1, "outgoing people like a quick exchange"),
    ("pace", "neuroticism", -1, "worry asks for a slower pace"),
)
_TRAIT_STEP = 3.0
"""Points from the middle (50) from which a trait moves a setting by one; shrunk scores rarely leave 40..60."""


def find_preferences(messages: Iterable[Message], known: Sequence[Preference] = ()) -> list[Preference]:
    """What the person asked for so far; a later wish replaces its opposite."""
    found = {item.name: item for item in known}
    for message in messages:
        if message.role != "person":
            continue
        folded = fold(message.text[:4000])
        for name, pattern in PREFERENCES.items():
            if pattern.search(folded):
                found.pop(_CONTRADICT.get(name, ""), None)
                found[name] = Preference(name=name, message=message.id)
    return list(found.values())


def _clamp(value: int) -> int:
    return min(5, max(1, value))


def voice_for(traits: Mapping[Domain, Trait], preferences: Sequence[Preference]) -> tuple[Voice, list[Driver]]:
    """The voice settings, and which trait or wish drove which; a wish beats a trait."""
    settings: dict[str, int | str] = {}
    drivers: list[Driver] = []
    for setting, trait, sign, why in _TRAIT_RULES:
        estimate = traits.get(trait)
        if estimate is None or estimate.confidence == "insufficient" or abs(estimate.score - 50) < _TRAIT_STEP:
            continue
        step = sign if estimate.score > 50 else -sign
        settings[setting] = _clamp(int(settings.get(setting, 3)) + step)
        drivers.append(Driver(setting=setting, by=trait, why=f"{why} (a guess)", evidence=estimate.evidence))
    for wish in preferences:
        for setting, value in _EFFECTS.get(wish.name, {}).items():
            settings[setting] = value
            drivers = [item for item in drivers if item.setting != setting]
            drivers.append(
                Driver(setting=setting, by=wish.name, why="the person asked for it", evidence=[wish.message])
            )
    return Voice.model_validate(settings), drivers


_WORDS: dict[str, tuple[str, str]] = {
    "directness": ("soft, asking", "plain and direct"),
    "warmth": ("matter-of-fact", "warm"),
    "structure": ("loose", "in clear order"),
    "challenge": ("do not challenge", "challenge them"),
    "detail": ("few details", "with reasons"),
    "pace": ("slowly, one thing", "brisk"),
}
SENTENCES = {"short": "at most 2 short sentences", "normal": "3 to 5 sentences", "long": "5 to 7 sentences"}


def voice_in_words(voice: Voice) -> str:
    """The settings as an instruction to a writer; middle settings are not mentioned."""
    parts = [SENTENCES[voice.length]]
    for setting, (low, high) in _WORDS.items():
        value = int(getattr(voice, setting))
        if value != 3:
            parts.append(low if value < 3 else high)
    if voice.praise == "minimal":
        parts.append("no praise, no cheering")
    if voice.exclamation_marks == 0:
        parts.append("no exclamation marks")
    return "; ".join(parts)
