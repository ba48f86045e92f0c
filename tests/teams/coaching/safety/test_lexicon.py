import pytest

from repertory.teams.coaching.safety.concepts.lexicon import GUARD, Span, compile_lexicon


@pytest.mark.parametrize(
    ("phrases", "said", "span"),
    [
        ("give up", "i give up now", Span(1, 3)),
        ("give/gave up", "i gave up", Span(1, 3)),
        ("gave (it) up", "i gave it up", Span(1, 4)),
        ("gave (it) up", "i gave up", Span(1, 3)),
        ("hope*", "so hopeless", Span(1, 2)),
        ("give _ up", "give everything up", Span(0, 3)),
        ("don't", "i don t know", Span(1, 3)),
        ("off | give up", "give up", Span(0, 2)),
    ],
)
def test_a_phrase_is_found_where_it_stands(phrases: str, said: str, span: Span) -> None:
    assert compile_lexicon({"A": phrases}).read(said.split()) == {"A": [span]}


@pytest.mark.parametrize(
    ("phrases", "said"), [("give up", "give it up"), ("hope", "hopes"), ("give _ up", "give , up")]
)
def test_what_is_not_said_is_not_found(phrases: str, said: str) -> None:
    assert compile_lexicon({"A": phrases}).read(said.split()) == {}


def test_a_guard_takes_away_only_what_lies_within_it() -> None:
    lexicon = compile_lexicon({"DIE": "die | died", GUARD: "die of laughter"})
    assert lexicon.read(["i", "die", "of", "laughter"]) == {}
    assert lexicon.read(["i", "die", "of", "laughter", "or", "died"]) == {"DIE": [Span(5, 6)]}


def test_a_chat_spelling_in_a_lexicon_is_written_out_as_in_a_text() -> None:
    assert compile_lexicon({"A": "wanna go"}).read(["i", "want", "to", "go"]) == {"A": [Span(1, 4)]}


def test_a_phrase_of_optional_words_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="left out"):
        compile_lexicon({"A": "(give) (up)"})


def test_a_word_of_any_length_is_read() -> None:
    assert compile_lexicon({"A": "hope*"}).read(["hope" + "s" * 50_000]) == {"A": [Span(0, 1)]}
