"""Undoing disguises of a text before it is searched: invisible and full-width letters, spacing, digits for letters."""

import re
import unicodedata

from repertory.teams.coaching.words import fold

__all__ = ("plain_variants", "spelled_out")

# Letters of other scripts that look like Latin ones, and digits and signs used in place of letters.
_LOOKALIKES = str.maketrans("асеорхуіјѕԁһӏνοαερτικ", "aceopxyijsdhlvoaeptik")
_LEET = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i"})
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_][\s.\-_*·,/|]{1,3}){3,}[^\W\d_](?![^\W_])")
_SPACED_ONCE = re.compile(r"(?<![^\W_])(?:[^\W\d_][\s.\-_*·,/|]){2,}[^\W\d_](?![^\W_])")
_INNER_MARKS = re.compile(r"(?<=[^\W_])[*._·|~+]+(?=[^\W_])")
_LEET_WORD = re.compile(r"(?<![a-z0-9@$!])[0-9@$!]*[a-z][a-z0-9@$!]*")
_REPEATED = re.compile(r"([a-z])\1{2,}")
_SPACE = re.compile(r"\s+")


def _has_mixed_scripts(word: str) -> bool:
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in word if char.isalpha()}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK"})


def _unleet(match: re.Match[str]) -> str:
    word = match.group()
    body = word.rstrip("!")
    return body.translate(_LEET) + word[len(body) :] if not body.isalpha() else word


def plain_variants(text: str) -> tuple[str, ...]:
    """The folded text, and what it says once disguises are undone (the same text twice is given once)."""
    folded = fold(text)
    # Letters set apart by one sign each; a wider gap is the end of a word.
    respaced = _SPACED_ONCE.sub(lambda match: re.sub(r"[^\w]|_", "", match.group()), folded)
    base = _SPACE.sub(" ", folded).strip()
    unmixed = " ".join(word.translate(_LOOKALIKES) if _has_mixed_scripts(word) else word for word in base.split(" "))
    joined = _SPACED.sub(lambda match: re.sub(r"[^\w]|_", "", match.group()), unmixed)
    unmarked = _INNER_MARKS.sub("", joined)
    unleeted = _LEET_WORD.sub(_unleet, unmarked)
    squeezed = _REPEATED.sub(r"\1", unleeted)
    return tuple(
        dict.fromkeys((base, _SPACE.sub(" ", respaced).strip(), unmixed, joined, unmarked, unleeted, squeezed))
    )


def spelled_out(text: str) -> str:
    """What a text spells letter by letter ("k i l l  m y s e l f"), without any gaps; empty when it spells nothing."""
    folded = fold(text)
    runs = (re.sub(r"[^\w]|_", "", match.group()) for match in _SPACED.finditer(folded))
    return " ".join(run for run in runs if len(run) >= _SPELLED_FROM)


_SPELLED_FROM = 6
