"""Rates of the whole detector on the sentences it was made with, and on those it had not seen (`pytest -rP`)."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from repertory.teams.coaching.safety.detector import signal_of

_DATA = Path(__file__).parents[1] / "data"
RECALL_OF_TRAIN = {"en": 0.97, "pt": 0.97, "es": 0.97, "de": 0.97, "fr": 0.97, "it": 0.6, "nl": 0.4}
ALARMS_OF_TRAIN = 0.02


def _sentences(name: str, kind: str) -> dict[str, list[str]]:
    sets: dict[str, dict[str, str]] = YAML(typ="safe").load(_DATA / name)  # pyright: ignore[reportUnknownMemberType] - ruamel has no types for load
    return {language: text.splitlines() for language, text in sets[kind].items()}


def _rate(title: str, texts: list[str], *, shown_if_found: bool) -> float:
    """The share of the texts that are called a crisis."""
    found = {text for text in texts if signal_of(text).level == "crisis"}
    shown = [text for text in texts if (text in found) is shown_if_found]
    print(f"{title}: {len(found)} of {len(texts)} are a crisis; {'found' if shown_if_found else 'missed'}: {shown}")
    return len(found) / len(texts)


@pytest.mark.parametrize(("language", "texts"), _sentences("crisis_train.yaml", "crisis").items())
def test_disclosures_that_the_rules_were_made_with(language: str, texts: list[str]) -> None:
    assert _rate(language, texts, shown_if_found=False) >= RECALL_OF_TRAIN[language]


@pytest.mark.parametrize(("language", "texts"), _sentences("crisis_train.yaml", "harmless").items())
def test_harmless_sentences_that_the_rules_were_made_with(language: str, texts: list[str]) -> None:
    assert _rate(language, texts, shown_if_found=True) <= ALARMS_OF_TRAIN


@pytest.mark.parametrize("text", _sentences("crisis_train.yaml", "crisis")["en"][:30])
def test_a_disclosure_is_found_in_the_middle_of_a_long_message(text: str) -> None:
    before = "We repainted the kitchen and the team shipped on time. " * 5
    assert signal_of(f"{before}{text}. {before}").level == "crisis"


# What is reached today; docs/safety.md tells what was found at first sight, before the sets were learned from.
_RECALL_TODAY = {
    "crisis_holdout_first.yaml": {"en": 0.70, "pt": 0.80, "es": 0.75, "de": 0.75, "fr": 0.75},
    "crisis_holdout_second.yaml": {"en": 0.80, "pt": 0.95, "es": 0.85, "de": 0.90, "fr": 0.90},
}
_ALARMS_TODAY = 0.05


@pytest.mark.parametrize(
    ("name", "language"), [(name, language) for name, rates in _RECALL_TODAY.items() for language in rates]
)
def test_sets_once_unseen(name: str, language: str) -> None:
    crisis, harmless = _sentences(name, "crisis")[language], _sentences(name, "harmless")[language]
    floor = _RECALL_TODAY[name][language] - 0.02
    assert _rate(f"{name} {language}", crisis, shown_if_found=False) >= floor
    assert _rate(f"{name} {language}", harmless, shown_if_found=True) <= _ALARMS_TODAY


def test_the_end_of_a_line_is_the_end_of_a_sentence() -> None:
    lines = ("yesterday i saw that film", "i cut again last night and its deeper this time", "the kitchen is painted")
    assert signal_of("\n".join(lines)).level == "crisis"
    assert signal_of("\r\n".join(lines)).level == "crisis"


@pytest.mark.parametrize(("language", "texts"), _sentences("harmless_unseen.yaml", "harmless").items())
def test_ordinary_messages_that_the_rules_have_not_seen(language: str, texts: list[str]) -> None:
    measured = {"fr": 1}.get(language, 0)
    assert _rate(language, texts, shown_if_found=True) * len(texts) <= measured
