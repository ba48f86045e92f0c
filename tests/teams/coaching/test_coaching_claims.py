import pytest

from repertory.teams.coaching.claims import to_you


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
