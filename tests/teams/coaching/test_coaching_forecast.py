from datetime import UTC, datetime

import pytest

from repertory.storage.records import Commitment, Outcome
from repertory.teams.coaching.dates import due_after
from repertory.teams.coaching.forecast import beta_mean, forecast, kind_of
from repertory.teams.coaching.outcomes import confirms, find_outcomes
from repertory.teams.coaching.promises import find_promises, grounded_promise

MONDAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def commitment(what: str, outcome: Outcome = "open", kind: str = "once", when: str = "", number: int = 1) -> Commitment:
    return Commitment(f"k{number}", what, when, None, None, outcome, kind, "m1", None, MONDAY, None)


@pytest.mark.parametrize(
    ("kept", "missed", "expected"),
    [(0, 3, 0.286), (1, 0, 0.6), (0, 2, 0.333), (3, 2, 0.556), (3, 0, 0.714), (0, 0, 0.5)],
)
def test_the_mean_of_the_scenarios(kept: int, missed: int, expected: float) -> None:
    assert round(beta_mean(kept, missed), 3) == expected


def test_it_is_never_certain() -> None:
    assert beta_mean(10_000, 0) == 0.98
    assert beta_mean(0, 10_000) == 0.02


def test_like_counts_for_like_from_three_outcomes_on() -> None:
    record = [commitment("a", "missed", "few"), commitment("b", "missed", "few")]
    record += [commitment("c", "kept", "few_cue"), commitment("d", "kept", "few_cue")]
    assert forecast(record, "few_cue").p == 0.5
    record.append(commitment("e", "kept", "few_cue"))
    prediction = forecast(record, "few_cue")
    assert (prediction.p, prediction.n, prediction.n_used) == (0.714, 5, 3)
    assert forecast(record, "once").p == 0.556


@pytest.mark.parametrize(("n", "confidence"), [(0, "insufficient"), (4, "low"), (5, "medium"), (15, "high")])
def test_confidence_goes_by_outcomes(n: int, confidence: str) -> None:
    assert forecast([commitment("a", "kept")] * n).confidence == confidence


@pytest.mark.parametrize(
    ("count", "cue", "kind"), [(None, False, "once"), (1, True, "once_cue"), (3, False, "few"), (5, True, "many_cue")]
)
def test_kinds(count: int | None, cue: bool, kind: str) -> None:
    assert kind_of(count, cue) == kind


@pytest.mark.parametrize(
    ("text", "what", "kind"),
    [
        (
            "I'll write 30 minutes on Tuesday and Thursday evening.",
            "write 30 minutes on Tuesday and Thursday evening",
            "few_cue",
        ),
        ("Three gym visits this week, for sure, 100 percent.", "Three gym visits this week", "few"),
        ("I will call two customers a day.", "call two customers a day", "many"),
        (
            "Demo ok. Next: budget deck. Two hours tomorrow, 9 to 11.",
            "budget deck: Two hours tomorrow, 9 to 11",
            "once_cue",
        ),
        ("Vou correr três vezes esta semana.", "correr três vezes esta semana", "few"),
        ("Voy a estudiar el lunes.", "estudiar el lunes", "once_cue"),
        ("Ich werde diese Woche zweimal laufen gehen.", "diese Woche zweimal laufen gehen", "few"),
        ("Je vais écrire mardi et jeudi.", "écrire mardi et jeudi", "few_cue"),
    ],
)
def test_promises_are_found(text: str, what: str, kind: str) -> None:
    (promise,) = find_promises(text, [])
    assert (promise.what, promise.kind) == (what, kind)


@pytest.mark.parametrize(
    "text",
    [
        "I want to get back to running before work, three mornings a week.",
        "Should I just announce a public deadline?",
        "How likely do you think I do it this week?",
        "I'll be honest, it was a bad week.",
        "Two years ago I did this every day.",
        "I don't know if I'll ever do it.",
        "Need a plan for Thursday.",
        "Quero correr mais.",
        "Vou bem, obrigado.",
    ],
)
def test_what_is_asked_wished_or_past_is_no_promise(text: str) -> None:
    assert find_promises(text, []) == []


def test_again_and_same_plan_carry_on_the_last_promise() -> None:
    last = commitment("two gym visits, Monday and Thursday", kind="few_cue")
    (again,) = find_promises("Three again, same days.", [last])
    assert (again.what, again.kind, again.repeats) == ("three gym visits, Monday and Thursday", "few_cue", True)
    (same,) = find_promises("Same plan for next week.", [last])
    assert same.what == last.what


@pytest.mark.parametrize(
    ("text", "promised", "outcome"),
    [
        ("No writing. A client asked for a rush job.", "write 30 minutes on Tuesday", "missed"),
        ("So I skipped again.", "two evenings this week", "missed"),
        ("Sunday I was on a call with client three.", "one evening, Sunday", "missed"),
        ("Went once.", "Three gym visits this week", "missed"),
        ("Did both!", "two this week", "kept"),
        ("Both done.", "two this week", "kept"),
        ("I kept two and did two.", "three this week", "kept"),
        ("I called one on Monday, none since.", "call two customers a day", "missed"),
        ("Better: four calls.", "call two customers a day", "missed"),
        ("I finished it yesterday.", "finish the report", "kept"),
        ("Só corri uma vez.", "correr três vezes esta semana", "missed"),
        ("Consegui, corri três vezes.", "correr três vezes esta semana", "kept"),
        ("No estudié nada.", "estudiar dos tardes", "missed"),
        ("Habe ich nicht geschafft.", "zweimal laufen", "missed"),
        ("Beide Male geschafft.", "zweimal laufen", "kept"),
        ("Je n'ai rien écrit.", "écrire mardi", "missed"),
        ("J'ai écrit mardi, c'est fait.", "écrire mardi", "kept"),
    ],
)
def test_outcomes_are_read(text: str, promised: str, outcome: str) -> None:
    (report,) = find_outcomes(text, [commitment(promised)])
    assert report.outcome == outcome


@pytest.mark.parametrize(
    "text", ["Did I do it?", "What should I do next?", "I'll do both this week.", "My client is happy."]
)
def test_no_report_is_no_outcome(text: str) -> None:
    assert find_outcomes(text, [commitment("two evenings of writing")]) == []


def test_a_model_is_believed_only_when_the_message_says_so() -> None:
    item = commitment("call my sister on Sunday")
    assert confirms("I finished the call with my sister.", "kept", item)
    assert not confirms("I finished the call with my sister.", "missed", item)
    assert not confirms("The weather is nice.", "kept", item)
    assert grounded_promise("call the bank", "tomorrow", "I have to call the bank tomorrow.") is not None
    assert grounded_promise("run a marathon", "in May", "I have to call the bank tomorrow.") is None
    assert grounded_promise("call the bank", "", "Should I call the bank tomorrow?") is None


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("today", 5),
        ("tomorrow", 6),
        ("on Thursday", 8),
        ("Tuesday and Thursday evening", 8),
        ("next week", 18),
        ("this week", 12),
        ("in two days", 7),
        ("in 3 weeks", 26),
        ("by 2026-01-20", 20),
        ("amanhã", 6),
        ("na quinta-feira", 8),
        ("el jueves", 8),
        ("am Donnerstag", 8),
        ("jeudi", 8),
        ("next Monday", 12),
        ("on Monday", 12),
    ],
)
def test_due_dates(words: str, day: int) -> None:
    due = due_after(words, MONDAY)
    assert due is not None
    assert (due.year, due.month, due.day) == (2026, 1, day)


def test_no_words_for_time_no_date() -> None:
    assert due_after("by spring", MONDAY) is None
    assert due_after("2026-99-99", MONDAY) is None
