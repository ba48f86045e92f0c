"""The detector on the recall set and the idiom set, with its rates per language (`pytest -rP` shows them)."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from repertory.teams.coaching.safety.detector import signal_of

RECALL_AT_LEAST = 0.9
"""In one language; over all of them `RECALL_OF_ALL`."""
RECALL_OF_ALL = 0.98
FALSE_ALARMS_AT_MOST = 0.05
_DATA = Path(__file__).with_name("data")


def _sentences(name: str) -> dict[str, list[str]]:
    rounds: dict[str, dict[str, list[str]]] = YAML(typ="safe").load(_DATA / name)  # pyright: ignore[reportUnknownMemberType] - ruamel has no types for load
    found: dict[str, list[str]] = {}
    for sentences in rounds.values():
        for language, texts in sentences.items():
            found.setdefault(language, []).extend(texts)
    return found


RECALL = _sentences("recall.yaml")
IDIOMS = _sentences("idioms.yaml")


@pytest.mark.parametrize("language", RECALL)
def test_recall(language: str) -> None:
    missed = [text for text in RECALL[language] if signal_of(text).level != "crisis"]
    rate = 1 - len(missed) / len(RECALL[language])
    print(f"{language}: {rate:.1%} of {len(RECALL[language])} disclosures found; missed: {missed}")
    assert rate >= RECALL_AT_LEAST, missed


def test_recall_over_all_languages() -> None:
    texts = [text for language in RECALL.values() for text in language]
    found = sum(signal_of(text).level == "crisis" for text in texts)
    assert found / len(texts) >= RECALL_OF_ALL


@pytest.mark.parametrize("language", IDIOMS)
def test_false_alarms(language: str) -> None:
    alarms = [text for text in IDIOMS[language] if signal_of(text).level not in {"none", "low"}]
    rate = len(alarms) / len(IDIOMS[language])
    print(f"{language}: {rate:.1%} of {len(IDIOMS[language])} harmless sentences raise an alarm: {alarms}")
    assert rate <= FALSE_ALARMS_AT_MOST, alarms


@pytest.mark.parametrize(
    "text",
    [
        "k i l l m y s e l f",
        "k i l l  m y s e l f",
        "K-I-L-L M-Y-S-E-L-F",
        "i . w a n t . t o . d i e",
        "i c h w i l l s t e r b e n",
        "j e v e u x m o u r i r",
        "q u i e r o m o r i r today",
        "v o g l i o m o r i r e",
    ],
)
def test_spelled_out_letter_by_letter(text: str) -> None:
    assert signal_of(text).level == "crisis"


@pytest.mark.parametrize("text", ["A B C D E F G", "my plan: a b c d e f", "U S A and the U K", "f u n t i m e s"])
def test_single_letters_are_no_sign(text: str) -> None:
    assert signal_of(text).level == "none"


@pytest.mark.parametrize("texts", [(idiom, RECALL["en"][0]) for idiom in IDIOMS["en"][:20]])
def test_an_idiom_before_it_hides_no_disclosure(texts: tuple[str, str]) -> None:
    assert signal_of(" ".join(texts)).level == "crisis"


def test_a_sentence_without_an_end_is_searched_too() -> None:
    rant = "and then i went home and then i sat down " * 30
    assert signal_of(f"{rant} and the pills are next to me and {rant}").level == "crisis"
