import pytest

from repertory.teams.coaching.claim_words import CLAIM_WORDS, to_you
from repertory.teams.coaching.drafts import Pattern
from repertory.teams.coaching.language import FIXED_LANGUAGES, FixedLanguage, detect


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I want to finish my novel by spring.", "finish your novel by spring"),
        ("finish the draft of my novel", "finish the draft of your novel"),
        ("I'll write when I'm home", "you'll write when you're home"),
        ("Quero que me paguem melhor", "Quero que me paguem melhor"),
        ("Ich will mein Buch beenden", "Ich will mein Buch beenden"),
    ],
)
def test_the_persons_own_words_are_said_to_them(said: str, told: str) -> None:
    assert to_you(said) == told


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("pt", "Quero terminar o meu romance. Vou escrever hoje.", "terminar o seu romance"),
        ("es", "Quiero terminar mi novela", "terminar tu novela"),
        ("de", "Ich will mein Buch beenden", "dein Buch beenden"),
        ("fr", "Je veux finir mon livre", "finir ton livre"),
        ("pt", "Quero que me paguem melhor", "Quero que me paguem melhor"),
    ],
)
def test_the_persons_words_in_their_own_language(language: FixedLanguage, said: str, told: str) -> None:
    assert to_you(said, language) == told


@pytest.mark.parametrize("language", FIXED_LANGUAGES)
def test_every_claim_has_its_sentence_in_each_language(language: FixedLanguage) -> None:
    words = CLAIM_WORDS[language]
    assert set(words.patterns) == set(Pattern) - {Pattern.INSUFFICIENT_DATA}
    record = words.record.format(kept=2, n=5)
    chance = words.chance.format(record=record, chance=44)
    assert "2" in record
    assert "44 %" in chance
    for sentence in (*words.patterns.values(), chance):
        assert detect(sentence) in {language, None}, sentence
