import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.teams.coaching.safety.concepts import dangers_in
from repertory.teams.coaching.safety.concepts.danger_rules import DANGER_RULES
from repertory.teams.coaching.safety.concepts.english import ENGLISH_WORDS
from repertory.teams.coaching.safety.concepts.french import FRENCH_WORDS
from repertory.teams.coaching.safety.concepts.german import GERMAN_WORDS
from repertory.teams.coaching.safety.concepts.portuguese import PORTUGUESE_WORDS
from repertory.teams.coaching.safety.concepts.spanish import SPANISH_WORDS
from repertory.teams.coaching.safety.concepts.tongues import tongues_of

_LEXICONS = {
    "en": ENGLISH_WORDS,
    "pt": PORTUGUESE_WORDS,
    "es": SPANISH_WORDS,
    "de": GERMAN_WORDS,
    "fr": FRENCH_WORDS,
}
_ORDINARY = (
    "I went for a run this morning and then I had a long meeting with my team about the launch, what should I do next?"
)


@pytest.fixture(autouse=True, scope="module")
def _lexicons_compiled() -> None:
    """Every language is compiled when it is first read, which takes a while; what is timed here is the reading."""
    dangers_in("kms")


def _seconds(text: str) -> float:
    began = time.process_time()
    dangers_in(text)
    return time.process_time() - began


@pytest.mark.parametrize("language", _LEXICONS)
def test_every_language_words_the_concepts_of_the_main_rules(language: str) -> None:
    needed = {concept for rule in DANGER_RULES if len(rule.steps) > 1 for concept in rule.steps[0].concepts}
    assert needed - _LEXICONS[language].keys() <= {"KILL"}  # English words it in KILL_THEM


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("i just want to be dead", "self"),
        ("my brother says he wants to die", "third_party"),
        ("he punched me again", "danger"),
        ("i am going to stab my boss tomorrow", "harm_others"),
    ],
)
def test_the_kind_of_danger(text: str, category: str) -> None:
    assert category in dangers_in(text)


def test_a_word_of_one_language_says_nothing_in_another() -> None:
    assert dangers_in("im sommer ist die option eines freundes die beste ruhe fur die kinder") == set()


def test_what_tells_no_language_is_read_in_all() -> None:
    assert tongues_of(["kms"], ["en", "de"]) == ["en", "de"]
    assert tongues_of(["ich", "will", "die", "ruhe"], ["en", "de"]) == ["de"]


def test_a_danger_deep_in_a_sentence_without_an_end_is_found() -> None:
    rant = "and then i went home and then i sat down " * 20
    assert dangers_in(f"{rant} and i want to be dead {rant}") == {"self"}


def test_an_ordinary_message_is_read_in_well_under_two_milliseconds() -> None:
    began = time.process_time()
    for _ in range(50):
        dangers_in(_ORDINARY.casefold())
    assert (time.process_time() - began) / 50 < 0.002


@pytest.mark.parametrize("filler", ["a", "i want to ", "not ", "i, ", "the pills ", "die will "])
def test_50_000_characters_of_one_kind_are_read_quickly(filler: str) -> None:
    assert _seconds(filler * (50_000 // len(filler))) < 1


def test_time_grows_with_the_length_and_not_faster() -> None:
    rng = random.Random(7)
    words = [
        word for concepts in (ENGLISH_WORDS["DIE"], GERMAN_WORDS["WISH"]) for word in re.findall(r"[a-z]+", concepts)
    ]
    text = " ".join(rng.choice(words) for _ in range(20_000))
    short, long = _seconds(text[:12_500]), _seconds(text[:50_000])
    assert long < max(8 * short, 0.5)


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    assert dangers_in(text) <= {"self", "danger", "harm_others", "third_party"}
