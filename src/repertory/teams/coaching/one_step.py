"""Whether a reply holds its one useful thing: a question, or a step that the person can take."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re

from repertory.teams.coaching.words import fold, sentences

__all__ = ("asks_or_offers", "offers_step")

_DO = (
    r"(?:try|start|begin|pick|choose|set|put|write|send|take|make|open|call|ask|show|tell|give|keep|leave|plan|block|add|move|note|list|do|go|use|read|walk|pack|book|prepare|decide|name|look|let|tie|turn|lay|say|finish|share|schedule|talk|find|draft|spend|stop|cut|drop|hold|check|meet|sleep|reserve|limit|"
    r"tente|comece|escolha|marque|coloque|deixe|escreva|envie|mande|leve|faca|abra|ligue|pergunte|mostre|diga|guarde|planeje|reserve|anote|separe|ponha|use|leia|caminhe|prepare|decida|fale|combine|defina|"
    r"intenta|prueba|empieza|elige|pon|deja|escribe|envia|manda|lleva|haz|abre|llama|pregunta|muestra|di|guarda|planea|reserva|anota|usa|lee|camina|prepara|decide|habla|"
    r"versuch\w*|probier\w*|fang|beginn\w*|wahl\w*|setz\w*|stell\w*|leg\w*|schreib\w*|schick\w*|nimm|mach\w*|offne|ruf\w*|frag\w*|zeig\w*|sag\w*|plan\w*|notier\w*|lies|geh\w*|bereite|entscheide|sprich|such\w*|"
    r"essaie|commence|choisis|mets|laisse|ecris|envoie|prends|fais|ouvre|appelle|demande|montre|dis|garde|planifie|note|utilise|lis|marche|prepare|decide|parle|reserve|bloque)"
)
_STEP = re.compile(
    rf"^\W*(?:(?:so|then|now|first|and|maybe|perhaps|please|next|this week|today|tonight|tomorrow|on \w+|at \w+|before \w+ \w+|entao|hoje|amanha|talvez|hoy|manana|quiza|heute|morgen|vielleicht|aujourd'hui|demain|peut-etre),? )?{_DO}\b|"
    r"\b(?:you (?:could|can|might)|let'?s|how about|what about|one (?:small )?step|the next step|"
    r"(?:voce )?(?:pode(?:ria)?|que tal)|um passo|o proximo passo|puedes|podrias|que tal|un paso|el proximo paso|"
    r"du (?:kannst|konntest)|wie ware es|ein schritt|der nachste schritt|tu (?:peux|pourrais)|un pas|le prochain pas)\b"
)


def offers_step(text: str) -> bool:
    """Whether a sentence tells the person something they can do."""
    return any(_STEP.search(sentence) for sentence in sentences(fold(text)))


def asks_or_offers(text: str) -> bool:
    """Whether a text asks a question or offers a step."""
    return "?" in text or "\uff1f" in text or offers_step(text)
