from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.teams.coaching.language import detect, fixed_language, languages_differ
from repertory.teams.coaching.ocean import DOMAINS, ItemEvidence, Statement, domain_of, score_domain
from repertory.teams.coaching.preferences import find_preferences, voice_for, voice_in_words
from repertory.teams.coaching.sections import Preference, Trait


def trait(score: float, confidence: Any = "low") -> Trait:
    return Trait(score=score, low=0, high=100, evidence=["m1"], confidence=confidence, n=1)


def test_twenty_statements_four_a_domain_two_of_them_reversed() -> None:
    keyed = [domain_of(statement) for statement in Statement]
    assert len(keyed) == 20
    for domain in DOMAINS:
        assert sorted(towards for name, towards in keyed if name == domain) == [False, False, True, True]


def test_no_evidence_is_the_middle_with_a_wide_interval() -> None:
    score = score_domain("openness", [])
    assert (score.score, score.low, score.high, score.confidence) == (50, 20, 80, "insufficient")


def test_reversed_statements_count_the_other_way() -> None:
    up = score_domain("conscientiousness", [ItemEvidence(Statement.MAKES_PLANS_AND_KEEPS_THEM, 5, "m1")])
    down = score_domain("conscientiousness", [ItemEvidence(Statement.PUTS_OFF_DUTIES, 5, "m1")])
    assert up.score == 53.8
    assert down.score == 46.2


def test_one_message_counts_once_however_often_it_is_said() -> None:
    many = [ItemEvidence(statement, 5, "m1") for statement in (Statement.WORRIES_A_LOT, Statement.GETS_UPSET_EASILY)]
    assert score_domain("neuroticism", many).n == 1


@given(st.lists(st.tuples(st.sampled_from(list(Statement)), st.integers(1, 5), st.integers(1, 60)), max_size=80))
def test_scores_stay_near_the_middle_and_intervals_wide(claims: list[tuple[Statement, int, int]]) -> None:
    items = [ItemEvidence(statement, agree, f"m{number}") for statement, agree, number in claims]
    for domain in DOMAINS:
        score = score_domain(domain, items)
        assert 35 <= score.score <= 65
        assert score.high - score.low >= 29.9
        assert score.low <= score.score <= score.high


def test_traits_move_settings_and_say_so() -> None:
    voice, drivers = voice_for({"neuroticism": trait(58), "extraversion": trait(51)}, [])
    assert (voice.warmth, voice.structure, voice.challenge, voice.pace) == (4, 4, 2, 2)
    assert {driver.by for driver in drivers} == {"neuroticism"}
    assert all(driver.evidence == ["m1"] for driver in drivers)


def test_a_trait_without_evidence_moves_nothing() -> None:
    assert voice_for({"neuroticism": trait(60, "insufficient")}, [])[1] == []


def test_a_wish_beats_a_trait() -> None:
    wishes = [Preference(name="be_direct", message="m2")]
    voice, drivers = voice_for({"agreeableness": trait(60)}, wishes)
    assert voice.directness == 5
    assert [driver.by for driver in drivers if driver.setting == "directness"] == ["be_direct"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Short answers only. No cheerleading.", {"short_answers", "no_cheerleading"}),
        ("Respostas curtas, por favor. Sem elogios.", {"short_answers", "no_cheerleading"}),
        ("Respuestas cortas. Sin halagos.", {"short_answers", "no_cheerleading"}),
        ("Fass dich kurz. Kein Lob.", {"short_answers", "no_cheerleading"}),
        ("Réponses courtes, sans compliments.", {"short_answers", "no_cheerleading"}),
        ("Be blunt with me.", {"be_direct"}),
        ("Please be gentle.", {"be_gentle"}),
        ("I like long walks and short trips.", set[str]()),
    ],
)
def test_wishes_are_heard(person: Any, text: str, names: set[str]) -> None:
    person.say(text)
    assert {wish.name for wish in find_preferences(person.messages)} == names


def test_a_later_wish_replaces_its_opposite(person: Any) -> None:
    person.say("Short answers only.")
    person.say("Actually I want longer answers.")
    assert {wish.name for wish in find_preferences(person.messages)} == {"long_answers"}


def test_voice_and_brevity_are_remembered(person: Any) -> None:
    person.say("Short answers only. No cheerleading. This deadline is killing me.")
    person.say("I nearly died of embarrassment in the demo. Need a plan for Thursday.")
    person.next_session(3)
    assert "short answers" in person.memory
    turn = person.say(
        "Demo ok. Next: budget deck. Two hours tomorrow, 9 to 11.",
        {
            "coach": "Great job! The demo is done! Two hours tomorrow for the budget deck, good. " * 3,
            "synth": "Amazing! If it is 9 tomorrow, open the budget deck first! "
            + "Then go on with the slides and more. " * 9,
        },
    )
    voice = turn.sections["plasticity"]["voice"]
    assert (voice["length"], voice["praise"], voice["exclamation_marks"]) == ("short", "minimal", 0)
    assert "!" not in turn.shown
    assert len(turn.shown.split()) <= 60
    assert turn.sections["persona"]["ocean"]["A"]["confidence"] in {"low", "insufficient"}


def test_low_agreeableness_is_not_read_from_tone(person: Any) -> None:
    traits = [
        {"message": "m1", "statement": "hard_on_others", "agree": 5},
        {"message": "m9", "statement": "worries_a_lot", "agree": 5},
    ]
    drafts = {"persona": {"traits": traits, "goal": "", "same_as": "", "growth_edge": "", "evidence": []}}
    section = person.say("Short answers only. No cheerleading.", drafts).sections["persona"]
    assert section["items"] == []
    assert len(section["dropped"]) == 2
    assert section["ocean"]["agreeableness"]["confidence"] == "insufficient"


def test_voice_in_words() -> None:
    voice, _ = voice_for(
        {}, [Preference(name="short_answers", message="m1"), Preference(name="no_cheerleading", message="m1")]
    )
    assert (
        voice_in_words(voice) == "at most 2 short sentences; few details; no praise, no cheering; no exclamation marks"
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I want to run more this week.", "en"),
        ("Quero correr mais esta semana, mas não consigo.", "pt"),
        ("Quiero correr más esta semana, pero no puedo.", "es"),
        ("Ich will diese Woche mehr laufen.", "de"),
        ("Je veux courir plus cette semaine.", "fr"),
        ("Voglio correre di più questa settimana, ma non ho tempo.", "it"),
        ("Я хочу бегать больше.", "ru"),
        ("もっと走りたいです。", "ja"),
        ("我想多跑步。", "zh"),
        ("أريد أن أركض أكثر", "ar"),
        ("🙂🙂", None),
        ("12345", None),
        ("ok", None),
    ],
)
def test_languages(text: str, code: str | None) -> None:
    assert detect(text) == code


def test_unsure_languages_never_differ() -> None:
    assert not languages_differ("ok", "Ich will laufen.")
    assert languages_differ("I want you to run.", "Ich will diese Woche laufen.")
    assert fixed_language(["ok", "Je veux courir plus."]) == "fr"
    assert fixed_language(["Я хочу бегать.", "I want to"]) == "en"
