# ruff: noqa: E501 - example sentences are not broken
import pytest

from repertory.teams.coaching.harm import find_harm, good_experience
from repertory.teams.coaching.moves import BLOCKABLE, MOVE_FACTS, Move
from repertory.teams.coaching.risk import priority_of, reversibility_class
from repertory.teams.coaching.suggests import MOVE_PATTERNS, suggests

_SUGGESTED = {
    Move.PUBLIC_COMMITMENT: (
        "Announce your deadline to the whole department.",
        "Why not share it publicly?",
        "Post it on LinkedIn!",
        "Don't hesitate to tell everyone.",
        "Make a public commitment.",
        "Tell all of your colleagues about it.",
        "Anuncie o prazo para todo mundo.",
        "Anuncia el plazo a todo el equipo.",
        "Kündige es öffentlich an.",
        "Erzähl allen davon.",
        "Annonce-le à tout le monde.",
        "Pourquoi ne pas l'annoncer publiquement ?",
    ),
    Move.FINANCIAL_STAKE: (
        "Bet $50 on it.",
        "Put some money on the line.",
        "Pay a fine of 20 euros if you fail.",
        "Aposte dinheiro nisso.",
        "Apuesta 50 euros.",
        "Wette 50 Euro darauf.",
        "Mise 20 euros dessus.",
    ),
    Move.STREAK_PRESSURE: (
        "Start a streak.",
        "Never miss a day.",
        "Do it 30 days in a row.",
        "Try a 30-day challenge.",
        "Do it every single day.",
        "Faça um desafio de 30 dias.",
        "Hazlo 30 días: ni un solo día sin ello.",
        "Mach eine 30-Tage-Challenge.",
        "Fais un défi de 30 jours.",
    ),
    Move.SOCIAL_COMPARISON: (
        "Compare yourself with others.",
        "Look at what your colleagues can do.",
        "Other people manage this easily.",
        "Compare-se com os outros.",
        "Compárate con los demás.",
        "Vergleiche dich mit anderen.",
        "Compare-toi aux autres.",
    ),
    Move.INCREASE_TARGET: (
        "Raise your target to four.",
        "Go for three times a week instead.",
        "Push yourself harder.",
        "Double your distance.",
        "Aumente a meta.",
        "Aumenta tu objetivo.",
        "Erhöhe dein Ziel.",
        "Augmente ton objectif.",
    ),
    Move.DIET_TARGET: (
        "Count your calories.",
        "Try to lose 5 kg.",
        "Weigh yourself daily.",
        "Skip breakfast.",
        "Tente perder peso.",
        "Cuenta calorías.",
        "Zähl deine Kalorien.",
        "Essaie de perdre 3 kilos.",
    ),
    Move.ENDORSE_IRREVERSIBLE_STEP: (
        "Quit your job tomorrow.",
        "Hand in your notice.",
        "Just leave him.",
        "Sell your house.",
        "Peça demissão.",
        "Deja tu trabajo.",
        "Kündige morgen.",
        "Quitte ton travail.",
    ),
    Move.SELF_MONITORING: (
        "Track what you eat.",
        "Keep a log of your meals.",
        "Anote cada refeição.",
        "Apunta cada comida.",
        "Notiere jede Mahlzeit.",
        "Note chaque repas.",
    ),
}
_WARNED = {
    Move.PUBLIC_COMMITMENT: (
        "Do not announce it publicly.",
        "Rather than telling everyone, show it to one person.",
        "Avoid posting it on LinkedIn.",
        "Instead of announcing it publicly, show it to one colleague.",
        "Não anuncie para todo mundo.",
        "No lo anuncies a todo el equipo.",
        "Kündige es nicht öffentlich an.",
        "Ne l'annonce pas à tout le monde.",
        "Show the draft to one person you trust.",
        "A public deadline backfired last year.",
    ),
    Move.FINANCIAL_STAKE: ("Don't bet money on it.", "Não aposte dinheiro.", "Wette kein Geld darauf."),
    Move.STREAK_PRESSURE: ("No streaks this time.", "Missing one is fine."),
    Move.SOCIAL_COMPARISON: ("Don't compare yourself with others.", "Compárate solo contigo."),
    Move.INCREASE_TARGET: ("Keep the target at two.", "Don't raise the target yet."),
    Move.DIET_TARGET: ("This is not about calories.", "No dieting for now."),
    Move.ENDORSE_IRREVERSIBLE_STEP: ("Don't quit your job yet.", "What would you need before you decide?"),
    Move.SELF_MONITORING: ("You don't need to track what you eat.",),
}


@pytest.mark.parametrize(("move", "text"), [(move, text) for move, texts in _SUGGESTED.items() for text in texts])
def test_a_suggestion_is_recognised(move: Move, text: str) -> None:
    assert suggests(move, text)


@pytest.mark.parametrize(("move", "text"), [(move, text) for move, texts in _WARNED.items() for text in texts])
def test_a_warning_is_no_suggestion(move: Move, text: str) -> None:
    assert not suggests(move, text)


def test_every_move_that_can_be_blocked_can_be_recognised_and_replaced() -> None:
    assert set(BLOCKABLE) == set(MOVE_PATTERNS) == set(_SUGGESTED)
    assert set(MOVE_FACTS) == set(Move)
    for move in BLOCKABLE:
        fact = MOVE_FACTS[move]
        assert fact.instead is not None
        assert fact.instead not in BLOCKABLE
        assert not any(suggests(other, fact.instead_words) for other in BLOCKABLE)


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        (
            "Last year I announced a 30-day challenge to the whole department. I fell behind on day 6, people joked about it, and I called in sick for a week and stopped everything for two months.",
            {Move.PUBLIC_COMMITMENT, Move.STREAK_PRESSURE},
        ),
        ("Anunciei para toda a equipe e fiquei para trás, riram de mim.", {Move.PUBLIC_COMMITMENT}),
        ("Ich habe es öffentlich angekündigt und wurde ausgelacht.", {Move.PUBLIC_COMMITMENT}),
        ("I had anorexia as a teenager.", {Move.DIET_TARGET, Move.SELF_MONITORING}),
        ("I'm in debt and I used to gamble.", {Move.FINANCIAL_STAKE}),
        ("My doctor told me to rest after the stress fracture.", {Move.INCREASE_TARGET, Move.STREAK_PRESSURE}),
        ("I want to quit my job tomorrow without anything lined up.", {Move.ENDORSE_IRREVERSIBLE_STEP}),
        ("I keep comparing myself to my sister.", {Move.SOCIAL_COMPARISON}),
        ("I am 15 and want to lose weight.", {Move.DIET_TARGET, Move.FINANCIAL_STAKE, Move.PUBLIC_COMMITMENT}),
    ],
)
def test_told_harm_rules_moves_out(text: str, moves: set[Move]) -> None:
    found = find_harm(text)
    assert {harm.move for harm in found} == moves
    for harm in found:
        assert priority_of(harm.severity, harm.occurrence, harm.detectability, harm.reversibility) != "L"


@pytest.mark.parametrize(
    "text",
    [
        "I want to run more.",
        "I announced the results to the team, it was fine.",
        "I am 15 minutes late.",
        "My book sells well.",
    ],
)
def test_no_harm_no_block(text: str) -> None:
    assert find_harm(text) == []


def test_a_good_experience() -> None:
    assert good_experience(Move.PUBLIC_COMMITMENT, "I announced it to the whole team and it went well.")
    assert not good_experience(Move.PUBLIC_COMMITMENT, "I announced it, it went well, then people laughed at me.")


@pytest.mark.parametrize(
    ("severity", "occurrence", "detectability", "reversibility", "expected"),
    [
        (9, 2, 1, 1, "H"),
        (9, 1, 1, 1, "L"),
        (7, 6, 1, 1, "H"),
        (7, 2, 7, 1, "H"),
        (6, 2, 2, 7, "H"),
        (6, 1, 1, 9, "H"),
        (3, 9, 9, 9, "L"),
        (5, 3, 4, 1, "L"),
        (5, 4, 4, 1, "M"),
        (8, 3, 3, 3, "M"),
        (7, 6, 5, 5, "H"),
    ],
)
def test_the_priority_rule(
    severity: int, occurrence: int, detectability: int, reversibility: int, expected: str
) -> None:
    assert priority_of(severity, occurrence, detectability, reversibility) == expected


def test_reversibility_classes() -> None:
    assert [reversibility_class(rating) for rating in (1, 3, 4, 6, 7, 8, 9, 10)] == [
        "easy",
        "easy",
        "partial",
        "partial",
        "hard",
        "hard",
        "irreversible",
        "irreversible",
    ]
