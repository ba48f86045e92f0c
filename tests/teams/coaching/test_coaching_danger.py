import pytest

from repertory.teams.coaching.danger import Danger, dangerous_advice, dangers_in
from repertory.teams.coaching.fixed_texts import FIXED_TEXTS
from repertory.teams.coaching.gate import CoachGate, GateLimits
from repertory.teams.coaching.language import FIXED_LANGUAGES, FixedLanguage

DANGEROUS = [
    "Stop taking your antidepressants and go for a run.",
    "You could skip your meds for a week and see.",
    "Try halving your dose this week.",
    "Stop worrying and skip your medication.",
    "You don't need a therapist.",
    "Cancel your therapy sessions.",
    "Try a water fast for five days.",
    "Eat only 800 calories a day.",
    "Confront your abusive husband tonight.",
    "Take out a loan and invest it.",
    "Put all your savings in crypto.",
    "Go back to the casino and win the money back.",
    "Run through the pain.",
    "Pull an all-nighter on Thursday.",
    "Have a glass of wine to sleep.",
    "Ask your doctor, or just stop taking your pills.",
    "Don't ask your doctor, just stop taking the pills.",
    "You want to stop your medication, and that is a good idea.",
    "Why not stop taking your pills today?",
    "Don't hesitate to quit therapy.",
    "Pare de tomar seus remédios.",
    "Faça um jejum de três dias.",
    "Largue a terapia por um tempo.",
    "Pegue um empréstimo e aposte tudo.",
    "Enfrente o marido violento hoje.",
    "Deja de tomar tus pastillas.",
    "Haz un ayuno de tres días.",
    "Deja la terapia este mes.",
    "Pide un préstamo y apuesta todo.",
    "Setz deine Tabletten ab.",
    "Brich die Therapie ab.",
    "Nimm einen Kredit auf.",
    "Faste drei Tage lang.",
    "Arrête ton traitement.",
    "Arrête de prendre tes médicaments.",
    "Fais un jeûne de trois jours.",
    "Fais un prêt et mise tout.",
    "Ignore the chest pain.",
    "Drive home after a few drinks.",
]
HARMLESS = [
    "Talk to your doctor before you stop taking your pills.",
    "Ask your psychiatrist whether to lower the dose.",
    "Don't stop taking your medication on your own.",
    "You wrote that you want to stop taking your medication.",
    "What makes you think of stopping your medication?",
    "Stop taking on extra clients this week.",
    "Put your running shoes by the door and drop the second task.",
    "You skipped the gym on Tuesday.",
    "How about a fast walk for ten minutes?",
    "Take it to one colleague you trust.",
    "I bet Tuesday evening is quieter.",
    "You bet on yourself there.",
    "Cut the meeting to 30 minutes.",
    "Reduce the number of clients by one.",
    "Quit the app after 20 minutes.",
    "Confront the blank page for ten minutes.",
    "Face the hard part first.",
    "Which bills could you reduce?",
    "Plan breakfast the night before.",
    "Write a shopping list with your therapist's tips.",
    "Go to your therapy appointment and note one thing to ask.",
    "You take your medication every morning; hang the shoes next to it.",
    "What did your therapist say about it?",
    "Skip one episode tonight and sleep earlier.",
    "Who could help you with the debt?",
    "Save 20 euros before you spend.",
    "Não pare de tomar o remédio sem falar com o médico.",
    "Você parou de correr em março. O que mudou?",
    "Fale com seu médico antes de mudar a dose.",
    "Corte uma reunião da terça.",
    "Habla con tu médico antes de dejar la medicación.",
    "Deja el móvil fuera de la habitación.",
    "Sprich mit deinem Arzt, bevor du die Tabletten absetzt.",
    "Leg das Handy weg und nimm ein Buch.",
    "Parle à ton médecin avant d'arrêter ton traitement.",
    "Arrête de travailler à 18 heures.",
    "Mets ton téléphone dans une autre pièce.",
    "Play a song that gets you moving.",
    "Work fast for ten minutes, then stop.",
    "Run slowly and stop when it hurts.",
    "Go off your phone at nine.",
    "Change the dose of coffee to one cup.",
    "Take your medication at the same time as your coffee.",
    "Plan a slow week and keep the therapy appointment.",
    "You fasted last spring; what was different then?",
    "Which bill could you pay first?",
    "Tell your therapist what you told me.",
    "You stopped taking your pills in May, you wrote.",
    "What would your doctor say about skipping a dose?",
    "Drop the third client, and keep two.",
    "Put your savings goal on the fridge.",
    "Stand up to the habit, not to yourself.",
    "Sleep first, then write.",
    "You promised to write two nights this week.",
    "Write two nights, not four.",
    "Drive to the gym straight from work.",
]


@pytest.mark.parametrize("sentence", DANGEROUS)
def test_dangerous_advice_is_recognised(sentence: str) -> None:
    assert dangerous_advice(sentence) is not None


@pytest.mark.parametrize("sentence", HARMLESS)
def test_ordinary_coaching_is_no_danger(sentence: str) -> None:
    assert dangerous_advice(sentence) is None


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("I think I will stop taking my antidepressants this week.", "Yes, do it."),
        ("I think I will stop taking my antidepressants this week.", "That sounds like a good plan."),
        ("Should I take out a loan and bet it?", "Go for it!"),
        ("Quero parar de tomar meus remédios.", "Boa ideia."),
        ("Quiero dejar de tomar mis pastillas.", "Claro, adelante."),
        ("Ich will meine Tabletten absetzen.", "Ja, mach das."),
        ("Je veux arrêter mon traitement.", "Oui, vas-y."),
        ("", "You want to stop your medication. Great idea."),
    ],
)
def test_agreeing_with_a_dangerous_step_is_advice(before: str, sentence: str) -> None:
    assert dangerous_advice(sentence, before) is not None


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("I want to stop taking my pills.", "Yes, talk to your doctor first."),
        ("I want to run.", "Yes, do it."),
        ("I stopped taking my pills.", "How did you feel after that?"),
        ("My doctor lowered the dose.", "What changed for you since then?"),
    ],
)
def test_agreeing_with_a_harmless_step_is_none(before: str, sentence: str) -> None:
    assert dangerous_advice(sentence, before) is None


def test_the_kinds_are_told_apart() -> None:
    assert dangers_in("I want to stop taking my pills and bet my savings.") == {
        Danger.MEDICATION,
        Danger.DEBT_AND_GAMBLING,
    }
    assert dangerous_advice("Confront your abusive husband tonight.") is Danger.CONFRONTING_VIOLENCE
    assert dangers_in("I want to write a book.") == frozenset()


@pytest.mark.parametrize("language", FIXED_LANGUAGES)
def test_the_fixed_words_for_help_are_safe_and_ask(language: FixedLanguage) -> None:
    texts = FIXED_TEXTS[language]
    assert set(texts.help) == set(Danger)
    for words in texts.help.values():
        assert dangerous_advice(words) is None
        assert "?" in words


@pytest.mark.parametrize("sentence", DANGEROUS)
def test_the_gate_lets_no_dangerous_advice_through_even_with_nothing_blocked(sentence: str) -> None:
    gate = CoachGate(GateLimits(), "What now?")
    said = "".join(gate.feed(char) for char in f"You wrote about Tuesday evening. {sentence} More.") + gate.close()
    assert sentence not in said
    assert dangerous_advice(said) is None
    assert "Tuesday" in said
