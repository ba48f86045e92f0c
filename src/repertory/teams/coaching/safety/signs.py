"""What the detector's word lists are made of.

The lists are written in folded text (lower case, no accents). Recall comes first: an ambiguous wish not to live counts
as a crisis; what is only a figure of speech is taken out before the search.
"""

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ("Category", "LanguageSigns", "compile_signs")

Category = Literal["self", "third_party", "danger", "harm_others"]


@dataclass(frozen=True)
class LanguageSigns:
    """One language's patterns.

    Attributes:
        self_crisis: The person may end or harm their own life.
        third_party: Somebody else may.
        danger: The person is hurt or threatened by somebody.
        harm_others: The person may hurt somebody.
        elevated: Heavy, but no sign of danger to life.
        idioms: Figures of speech and harmless uses, taken out of the text first.
    """

    self_crisis: re.Pattern[str]
    third_party: re.Pattern[str]
    danger: re.Pattern[str]
    harm_others: re.Pattern[str]
    elevated: re.Pattern[str]
    idioms: re.Pattern[str]


def _joined(patterns: str) -> re.Pattern[str]:
    lines = [line.strip() for line in patterns.strip().splitlines() if line.strip()]
    return re.compile("|".join(rf"\b(?:{line})" for line in lines))


def compile_signs(
    *, self_crisis: str, third_party: str, danger: str, harm_others: str, elevated: str, idioms: str
) -> LanguageSigns:
    """Compile one language's lists: one pattern a line, each starting at a word."""
    return LanguageSigns(
        self_crisis=_joined(self_crisis),
        third_party=_joined(third_party),
        danger=_joined(danger),
        harm_others=_joined(harm_others),
        elevated=_joined(elevated),
        idioms=_joined(idioms),
    )
