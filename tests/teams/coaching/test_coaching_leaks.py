import pytest

from repertory.teams.coaching.leaks import find_leaks

AGENTS_NAMED = [
    "Stability blocked the move.",
    "Stability says no.",
    "stability blocked the move.",
    "STABILITY BLOCKED THE MOVE.",
    "Shadow found that you avoid it.",
    "The Persona agent disagrees.",
    "According to Persona, you plan.",
    "Shadow and Stability agree.",
    "A Stability bloqueou isso.",
    "Stability bloqueou a jogada.",
    "Stability bloqueó el paso.",
    "Stability hat das blockiert.",
    "Stability a bloqué ce pas.",
    "Plasticity wants it warm.",
    "This was blocked by Stability.",
    "Coach thinks you should rest.",
    "Shadow: you avoid it",
    "Shadow has detected avoidance.",
    "Persona predicts a miss.",
    "Stability's report is clear.",
    "The Coach said so.",
]
ORDINARY = [
    "Stability matters to you.",
    "Stability is what you want.",
    "Your coach at the gym said so.",
    "In the shadow of the deadline.",
    "Coach your team on Monday.",
    "A need for stability kept you there.",
    "Persona non grata.",
    "The wish for stability blocked the move to Lisbon.",
    "Your coach thinks you should rest.",
    "Financial stability was the reason.",
    "You coach three people.",
    "Dein Coach sagt, du sollst ruhen.",
    "Sua coach disse isso.",
    "Stability at home comes first.",
    "Coach Miller picked you.",
    "Shadow work is not needed.",
    "What does stability mean to you?",
    "Your shadow side is fine.",
    "Stability helps you focus.",
    "Public persona and private life differ.",
]


@pytest.mark.parametrize("text", AGENTS_NAMED)
def test_an_agent_that_acts_is_a_leak(text: str) -> None:
    assert find_leaks(text) == ["a name of an agent"]


@pytest.mark.parametrize("text", ORDINARY)
def test_the_same_words_in_prose_are_none(text: str) -> None:
    assert find_leaks(text) == []
