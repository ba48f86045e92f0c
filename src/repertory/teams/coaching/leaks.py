"""What must never reach the person: ids, JSON, headings, tags, names of agents, diagnoses, empty cheer, false certainty."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re

from repertory.teams.coaching.words import fold, word_set

__all__ = ("LEAKS", "find_leaks", "is_risky_word")

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
    (
        "a name of an agent",
        re.compile(
            r"\b(?:Pineal|Synth|Plasticity)\b|\b(?:the |our |agente? |agent )(?:Shadow|Persona|Stability|Coach)(?: agent)?\b|"
            r"\b(?:Shadow|Persona|Stability|Coach)(?: (?:says?|said|found|thinks?|agent|notes?|reports?|blocks?|recommends?|diz|dice|sagt|dit)\b|\s*:)"
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
_RISKY = re.compile(r"[{}\[\]<>`#|*_=\\]|^\W*[mckg]\d+\W*$", re.IGNORECASE)
_RISKY_WORDS = word_set(
    """
        shadow persona plasticity stability synth pineal coach agent agente json null diagnos depression
        depressed adhd bipolar narcissist lazy guarantee guaranteed definitely loser blackboard ocean
        specialist specialists neurotic disorder got
    """
)


def find_leaks(text: str) -> list[str]:
    """What a text leaks, by name; the same kind once."""
    found = [name for name, pattern in LEAKS if pattern.search(text)]
    folded = fold(text)
    return found + [name for name, pattern in _FOLDED_LEAKS if pattern.search(folded)]


def is_risky_word(word: str) -> bool:
    """Whether a word could be part of a leak, so that its sentence must be judged as a whole before it is shown."""
    return bool(_RISKY.search(word)) or fold(word).strip(".,;:!?()\"'") in _RISKY_WORDS
