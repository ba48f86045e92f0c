"""What must never reach the person: ids, JSON, headings, tags, names of agents, diagnoses, empty cheer, false certainty."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re

from repertory.teams.coaching.words import fold

__all__ = ("LEAKS", "OCEAN_WORDS", "find_leaks")

# An agent's name is a leak where it acts, or is pointed at as an agent. "Stability", "shadow", "persona" and "coach" are
# ordinary words too ("a need for stability", "your coach said"), so a name alone is none.
_ACTS = (
    r"(?:(?:has|have|had|is|was|a|hat|ha|tem|esta) )?(?:just |now |already |also |ja |ya |bereits |déjà |das |dies |es )?"
    r"(?:say|said|find|found|think|thought|note|report|block|recommend|suggest|warn|advis|flag|reject|veto|detect|mark|"
    r"decid|predict|estimat|identif|conclud|agree|disagree|rate|told|tell|see|saw|noticed|propos|pick|chose|choos|ask|want|"
    r"diz|disse|bloqu|encontr|ach|recomend|sugere|sugeri|avis|alert|decidi|prev|dice|dijo|advirt|sugier|"
    r"sagt|fand|findet|empfiehlt|empfahl|warnt|meldet|blockier|schlagt|dit|trouve|recommand|signale|avert|propose)"
    r"(?:s|d|ed|es|ks|eou|eó|ged|ted|ies|ied|ing|ou|a|o|ó|é|aram|an|on|e|te|t|en|nd|ne|ns|ent)?\b"
)
# "Dein Coach sagt" and "der Coach" are plain German: nouns have capitals there.
_AGENTS = r"(?:Shadow|Persona|Plasticity|Stability|Synth|(?<!ein )(?<!er )(?<!hr )(?<!en )(?<!em )Coach)"
_AGENT_ACTS = re.compile(
    rf"\b(?:Pineal|Synth|Plasticity)\b|\b(?:the |our |an? |agente? )(?:Shadow|Persona|Stability|Coach)(?: agent)?\b|"
    rf"\b{_AGENTS}(?: (?:{_ACTS}|agente?\b)|\s*:|'s (?:report|block|claim|section|view|verdict|note|list|finding)s?\b)|"
    rf"\b{_AGENTS},? (?:and|e|y|und|et) {_AGENTS}\b|"
    rf"\b(?i:according to|as per|per|says|said|segundo|según|laut|selon|d'après|via) {_AGENTS}\b|"
    rf"\bblocked by {_AGENTS}\b"
)
# At the beginning of a sentence the first letter tells nothing, and a hostile model may write all small or all capital.
_AGENT_BEGINS = re.compile(
    rf"(?:^|[.!?\n]\s*|\bthe )(?:{_AGENTS} (?:{_ACTS}(?= (?:the|this|that|it|you|your|me|us|against|a|o|el|la|le|den|die|das)\b|[.!?,]|$)|agent\b)|"
    rf"{_AGENTS} agent\b)",
    re.IGNORECASE,
)

LEAKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an internal id", re.compile(r"(?<![\w.])\(?\[?(?:[mckg]\d{1,5})\b(?!\s?(?:km|m)\b)", re.IGNORECASE)),
    (
        "JSON or code",
        re.compile(r"[{}]|\[\s*\"|\"\s*:|`|\\[nt\"]|\b(?:null|true|false)\s*[,}\]]|\bjson\b", re.IGNORECASE),
    ),
    (
        "markup",
        re.compile(
            r"<[/!a-z][^>]*>?|</|^\s{0,3}#{1,6}\s|\*\*|__|^\s*[-=]{3,}\s*$|\|.*\|", re.IGNORECASE | re.MULTILINE
        ),
    ),
    (
        "an internal name",
        re.compile(
            r"\b(?:stated_goal|revealed_priority|growth_edge\w*|blocked_moves?|[a-z]+_[a-z]+(?:_[a-z]+)*)\b|"
            r"\b(?:blackboard|system prompt|my instructions|specialists? (?:say|found|agent)|OCEAN)\b"
        ),
    ),
)
_FOLDED_LEAKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a diagnosis",
        re.compile(
            r"\b(?:you (?:have|suffer from|are|might have|may have|probably have|show (?:signs|symptoms) of)|you'?re|"
            r"(?:voce|tu) (?:tem|tens|sofre de|sofres de|e|es)|(?:tu|usted)? ?(?:tienes|tiene|sufres de|padeces)|du (?:hast|leidest an|bist)|"
            r"tu (?:as|souffres d\w*|es)|vous (?:avez|souffrez d\w*|etes)) (?:\w+ ){0,2}"
            r"(?:depress\w*|adhd|tdah|adhs|bipolar\w*|ocd|toc\b|ptsd|narcissis\w*|borderline|anxiety disorder|anorexi\w*|autis\w*|"
            r"neurotic\w*|neurotique|psycho\w*|zwangsstor\w*|angststor\w*|transtorno|trastorno|persoonlijk\w*|personality disorder|mentally ill)"
        ),
    ),
    (
        "empty cheer or false certainty",
        re.compile(
            r"\b(?:you'?ve got this|you got this|you will definitely|definitely will|i (?:can )?guarantee|guaranteed?\b|100 ?(?:%|percent) sure|"
            r"lazy|loser|no doubt you|voce consegue tudo|garantido|garantizado|garantiert|garanti\b|preguicos\w*|perezos\w*|vag[oa] de|faul\b|paresseu\w*)\b"
        ),
    ),
)
OCEAN_WORDS = re.compile(
    r"\b(?:openness|conscientious\w*|extra?ver(?:t|sion)\w*|introver\w*|agreeableness|neurotic\w*|big five|personality (?:score|trait|type)s?|"
    r"neuroticismo|extroversao|amabilidade|conscienciosidade|extraversion|amabilidad|neurotizismus|gewissenhaftigkeit|vertraglichkeit|"
    r"nevrosisme|agreabilite|traits? de personnalite)\b"
)


def find_leaks(text: str) -> list[str]:
    """What a text leaks, by name; the same kind once."""
    found = [name for name, pattern in LEAKS if pattern.search(text)]
    if _AGENT_ACTS.search(text) or _AGENT_BEGINS.search(text):
        found.append("a name of an agent")
    folded = fold(text)
    return found + [name for name, pattern in _FOLDED_LEAKS if pattern.search(folded)]
