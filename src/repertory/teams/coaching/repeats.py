"""Whether a text says again what was said already."""

from repertory.teams.coaching.words import fold, words

__all__ = ("repeats",)

_REPEAT_FROM = 0.5


def _grams(text: str, size: int = 3) -> set[tuple[str, ...]]:
    tokens = [fold(word) for word in words(text)]
    return {tuple(tokens[index : index + size]) for index in range(len(tokens) - size + 1)}


def repeats(sentence: str, said: str) -> bool:
    """Whether a sentence says again what was said: half of its three-word runs, or the same words."""
    mine, theirs = _grams(sentence), _grams(said)
    if not mine:
        return bool(sentence.strip()) and fold(sentence).strip(" .!?") in fold(said)
    return len(mine & theirs) / len(mine) >= _REPEAT_FROM
