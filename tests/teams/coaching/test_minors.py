# ruff: noqa: E501 - example sentences are not broken

from typing import Any

import pytest

from repertory.teams.coaching.rules import CoachingRules
from repertory.teams.coaching.safety.minors import MINOR_TEXTS, stated_age


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("I'm 15 and want to lose weight", 15),
        ("im fifteen", 15),
        ("I am a 16-year-old", None),
        ("As a 16 year old I get no say", 16),
        ("I'm in 9th grade", 14),
        ("Ich bin 16.", 16),
        ("Tenho 16 anos", 16),
        ("Tengo 17 años y quiero correr", 17),
        ("J'ai 14 ans", 14),
        ("Ik ben 15", 15),
        ("Ho 16 anni", 16),
        ("I'm a minor", 14),
    ],
)
def test_who_says_that_they_are_young(text: str, age: int | None) -> None:
    assert stated_age(text) == age


@pytest.mark.parametrize(
    "text",
    [
        "I'm 18", "I'm 35 and tired", "I'm 15 minutes late", "I am 12 weeks pregnant", "I'm 10 kg lighter", "I'm 15% done",
        "Ich bin 15 Minuten zu spät", "Tengo 15 años de experiencia", "My son is 14", "I'm 12 years sober",
        "I'm 10 out of 10 motivated", "I'm 15.5 km in", "When I was 15 I played chess",
    ],
)  # fmt: skip
def test_who_does_not(text: str) -> None:
    assert stated_age(text) is None


def test_a_minor_is_told_once_a_session_and_moves_are_blocked(person: Any) -> None:
    first = person.say("I'm 15 and want to run more.")
    assert MINOR_TEXTS["en"] in first.shown
    assert {"diet_target", "financial_stake"} <= {item["move"] for item in first.sections["stability"]["blocked_moves"]}
    assert MINOR_TEXTS["en"] not in person.say("I ran on Monday.").shown
    assert MINOR_TEXTS["en"] in person.next_session().say("I ran again.").shown


def test_a_minor_grows_up(person: Any) -> None:
    person.say("I'm 17 and want to run more.")
    assert MINOR_TEXTS["en"] not in person.next_session(days=400).say("I ran.").shown


def test_a_minor_can_be_refused_and_a_crisis_still_comes_first(person: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_MINORS", "refuse")
    person.rules = CoachingRules("US")
    turn = person.say("I'm 15 and want to run more.")
    assert turn.interception is not None
    assert turn.reply == MINOR_TEXTS["en"]
    assert "988" in person.say("I want to die.").reply


def test_a_policy_that_can_not_be_read_refuses(person: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_MINORS", "allow-all")
    person.rules = CoachingRules("US")
    assert person.say("I'm 15.").interception is not None
