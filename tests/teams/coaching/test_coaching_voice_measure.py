import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.teams.coaching.sections import Voice
from repertory.teams.coaching.voice_measure import measure_voice, reading_ease, voice_misses, voice_record

REPLY = "A client paid double, and your evening was gone. Your novel waits. Which evening belongs to it?"


def test_what_is_counted() -> None:
    measure = measure_voice(REPLY, "en")
    assert (measure.words, measure.sentences, measure.questions, measure.reflections) == (17, 3, 1, 2)
    assert measure.words_per_sentence == 5.7
    assert measure.direct_share == 1.0
    assert measure_voice("Maybe you could write. You did it.", "en").direct_share == 0.5


def test_a_question_against_its_reflections() -> None:
    asks = measure_voice("What now? And then what? Your novel waits.", "en")
    assert (asks.questions, asks.reflections) == (2, 1)
    assert "questions to reflections: 2 to 1" in voice_misses(asks, Voice())
    assert voice_misses(measure_voice(REPLY, "en"), Voice()) == []


@pytest.mark.parametrize(
    ("language", "easy", "hard"),
    [
        (
            "en",
            "You ran on Monday. It rained.",
            "Organizational accountability necessitates comprehensive deliberation.",
        ),
        (
            "pt",
            "A chuva veio. Voce ficou em casa.",
            "Responsabilidade organizacional necessita deliberacao aprofundada.",
        ),
        ("es", "Llueve. Te vas a casa ya.", "Responsabilidad organizacional necesita deliberaciones administrativas."),
        ("de", "Es war nass. Du bist da.", "Organisationsverantwortung erfordert umfassende Grundsatzentscheidungen."),
        (
            "fr",
            "Il pleut. Tu cours le soir.",
            "Responsabilisation organisationnelle et approfondissement administratif.",
        ),
    ],
)
def test_reading_ease_by_each_languages_formula(language: str, easy: str, hard: str) -> None:
    plain, dense = reading_ease(easy, language), reading_ease(hard, language)
    assert plain is not None
    assert dense is not None
    assert plain > 60 > dense


def test_the_flesch_number_of_a_known_sentence() -> None:
    # One sentence, six words, seven syllables: 206.835 - 1.015 * 6 - 84.6 * 7 / 6.
    assert reading_ease("The cat sat on the carpet.", "en") == 102.0
    assert reading_ease("Ik ga naar huis.", "nl") is None


def test_misses_name_their_setting() -> None:
    voice = Voice(length="short", directness=5, exclamation_marks=0, pace=1)
    text = (
        "Maybe your novel could perhaps wait until another one of these many long evenings of the coming week arrives! "
        "Perhaps your clients might possibly keep asking for more of your evenings before that week has even begun."
    )
    misses = " ".join(voice_misses(measure_voice(text, "en"), voice))
    for word in ("length", "directness", "exclamation", "pace", "no question"):
        assert word in misses
    assert "none wanted" in " ".join(voice_misses(measure_voice(REPLY, "en"), Voice(), may_ask=False))


def test_the_record_holds_settings_measure_and_misses() -> None:
    record = voice_record(REPLY, Voice(), "en")
    assert set(record) == {"settings", "language", "measured", "misses"}
    assert record["measured"]["questions"] == 1
    assert record["misses"] == []
    first = voice_record(REPLY, Voice(), "en", first_reply="You were tired. What now? What else?")
    assert first["first_reply"]["questions"] == 2
    assert first["misses"] == ["first reply: 2 questions, 0 steps; one of either is wanted"]


@given(st.text(max_size=200), st.sampled_from(["en", "pt", "es", "de", "fr", None]))
def test_anything_can_be_measured(text: str, language: str | None) -> None:
    measure = measure_voice(text, language)
    assert 0 <= measure.direct_share <= 1
    assert measure.questions <= measure.sentences
