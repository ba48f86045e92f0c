import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from repertory.teams.coaching.safety.detector import signal_of

_SENTENCES: dict[str, dict[str, list[str]]] = YAML(typ="safe").load(Path(__file__).with_name("crisis_sentences.yaml"))  # pyright: ignore[reportUnknownMemberType] - ruamel has no types for load
_CRISIS = [(language, text) for language, texts in _SENTENCES["crisis"].items() for text in texts]
_IDIOMS = [(language, text) for language, texts in _SENTENCES["idioms"].items() for text in texts]


def test_the_sets_are_large_enough() -> None:
    assert len(_CRISIS) >= 60
    assert len(_IDIOMS) >= 60


@pytest.mark.parametrize(("language", "text"), _CRISIS)
def test_a_disclosure_is_a_crisis(language: str, text: str) -> None:
    assert signal_of(text).level == "crisis"


@pytest.mark.parametrize(("language", "text"), _CRISIS)
def test_it_is_found_in_the_middle_of_other_things(language: str, text: str) -> None:
    assert signal_of(f"I went running on Monday. {text} Anyway, should I buy new shoes?").level == "crisis"


@pytest.mark.parametrize(("language", "text"), _IDIOMS)
def test_a_figure_of_speech_is_not(language: str, text: str) -> None:
    assert signal_of(text).level in {"none", "low"}


@pytest.mark.parametrize(("language", "idiom"), _IDIOMS)
def test_a_figure_of_speech_hides_no_disclosure(language: str, idiom: str) -> None:
    assert signal_of(f"{idiom} And honestly, I want to die.").level == "crisis"


@pytest.mark.parametrize(
    "text",
    [
        "I want to k i l l  m y s e l f",
        "su\u200bici\u200bde",
        "\uff49 \uff57\uff41\uff4e\uff54 \uff54\uff4f \uff44\uff49\uff45",
        "I want to d1e",
        "5u1c1d3",
        "su*ci*ide, su.i.ci.de",
        "I W A N T to D I E and I want to DIE!!!",
        "suicidee\u0301",
        "I want to di\u0435",  # a Cyrillic letter
        "I wanttt to dieee, kill myselffff",
    ],
)
def test_disguises_do_not_help(text: str) -> None:
    assert signal_of(text).level == "crisis"


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I want to kill myself", "self"),
        ("My sister tried to kill herself last night", "third_party"),
        ("My boyfriend chokes me", "danger"),
        ("I'm going to stab him", "harm_others"),
        ("My friend wants to die and so do I, I want to die", "self"),
    ],
)
def test_who_is_in_danger(text: str, category: str) -> None:
    assert signal_of(text).category == category


@pytest.mark.parametrize(
    "text", ["I feel hopeless.", "Não aguento mais.", "Je n'en peux plus.", "I lost my brother to suicide."]
)
def test_heavy_words_are_elevated(text: str) -> None:
    assert signal_of(text).level == "elevated"


def test_a_bare_denial_is_low() -> None:
    assert signal_of("I'm not suicidal, just tired.").level == "low"


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_can_be_judged(text: str) -> None:
    assert signal_of(text).level in {"none", "low", "elevated", "crisis"}


@pytest.mark.parametrize("filler", ["1", "@", "!", "0$", "a1", " ", ". ", "e\u0301"])
def test_a_long_message_of_one_kind_is_judged_quickly(filler: str) -> None:
    signal_of("kms")  # what tells no language compiles them all
    began = time.process_time()
    signal_of(filler * (60_000 // len(filler)))
    assert time.process_time() - began < 3


def test_a_disclosure_is_found_at_the_end_of_a_very_long_message() -> None:
    assert signal_of(f"{'I did not write today. ' * 5000}I want to die.").level == "crisis"
