import pytest

from repertory.runtime.rules import Claim
from repertory.teams.coaching.grounding import HeldClaim
from repertory.teams.coaching.leaks import find_leaks
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.repeats import repeats
from repertory.teams.coaching.reply_check import ReplyRules, check_reply
from repertory.teams.coaching.reply_join import DraftPart, OwnWords, join_reply
from repertory.teams.coaching.sections import Voice

MESSAGE = "I finished a draft report. Should I just announce a public deadline so I can't back out?"


def claims(*texts: str, evidence: str = "") -> tuple[HeldClaim, ...]:
    return tuple(
        HeldClaim(Claim(f"c{number}", "shadow", "goal", text, ("m1",)), evidence)
        for number, text in enumerate(texts, start=1)
    )


HURT = "Last year the challenge in front of everyone hurt. Show the report to one colleague you trust on Friday."


def rules(
    message: str = MESSAGE,
    first_reply: str = "You finished the draft. Who could read it?",
    sources: tuple[str, ...] = ("The report: promises kept: 2 of 5; chance about 56 %", HURT),
    blocked: tuple[Move, ...] = (Move.PUBLIC_COMMITMENT,),
    voice: Voice | None = None,
    max_words: int = 110,
    may_speak_of_traits: bool = True,
    language: str | None = "en",
) -> ReplyRules:
    held = claims(*sources, evidence=message)
    return ReplyRules(message, first_reply, held, blocked, voice or Voice(), max_words, may_speak_of_traits, language)


def mend_reply(text: str, held_against: ReplyRules) -> str:
    """What stands of a text that a model wrote freely, with nothing added."""
    return join_reply([DraftPart("noticed", text)], held_against, OwnWords()).text


GOOD = (
    "Last year the challenge in front of everyone hurt you. Pick one colleague you trust and send the report on Friday."
)


def test_a_good_reply_passes_unchanged() -> None:
    assert mend_reply(GOOD, rules()) == GOOD
    assert check_reply(GOOD, rules()) == []


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ("Announce the report to the whole department.", "suggested"),
        ("As c2 shows, the report is late.", "internal id"),
        ("In m7 you spoke of the report.", "internal id"),
        ('{"reply": "the report"}', "JSON"),
        ("## The report", "markup"),
        ("The <b>report</b> is done.", "markup"),
        ("Shadow says the report is late.", "agent"),
        ("The Synth merged the report.", "agent"),
        ("There is a 93% chance for the report.", "number"),
        ("Your revealed_priority is the report.", "internal name"),
        ("You have ADHD, so the report is hard.", "diagnosis"),
        ("You've got this, the report is great.", "cheer"),
        ('You: "I think I will give the report a shot.', "plays a talk"),
        ("User: how is the report?", "plays a talk"),
        ("The person wants to finish the report.", "about the person"),
    ],
)
def test_a_bad_sentence_is_named_and_can_be_left_out(bad: str, word: str) -> None:
    problems = check_reply(bad + " And it goes on with the report.", rules())
    assert any(word in problem for problem in problems), problems
    mended = mend_reply(f"{GOOD} {bad}", rules())
    assert mended == GOOD
    assert mend_reply(bad, rules()) == ""


def test_numbers_that_somebody_gave_may_be_said() -> None:
    assert check_reply("About 56 % for the report, from 2 of 5 promises kept so far.", rules()) == []
    assert check_reply("That is 2 reports in 5 weeks, not 9 reports.", rules()) != []


def test_it_is_no_repeat_of_the_first_reply() -> None:
    assert repeats("You finished the draft. Who could read it?", "You finished the draft. Who could read it?")
    assert not repeats(GOOD, "You finished the draft. Who could read it?")
    assert mend_reply(f"You finished the draft. {GOOD}", rules()) == GOOD
    assert check_reply("You finished the draft. Who could read it?", rules()) != []


def test_it_is_in_the_language_of_the_message() -> None:
    portuguese = rules(
        message="Terminei o relatório mas não quero mostrar para ninguém, o que faço?",
        sources=("O que você quer: mostrar o relatório.",), first_reply="", language="pt",
    )  # fmt: skip
    problems = check_reply("You finished the report and you do not want to show it to anybody.", portuguese)
    assert any("Portuguese" in problem for problem in problems)
    assert check_reply("Você terminou o relatório. Com quem se sente seguro para mostrar?", portuguese) == []


def test_voice_settings_hold() -> None:
    voice = Voice(length="short", praise="minimal", exclamation_marks=0)
    short = rules(voice=voice, max_words=12)
    assert mend_reply("Great job! The report is done! Send it to one colleague on Friday!", short) == (
        "The report is done. Send it to one colleague on Friday."
    )
    long_text = "The report is done. " + "Then there is the next thing to look at now. " * 5
    assert len(mend_reply(long_text, short).split()) <= 12
    assert check_reply("The report is great! Well done!", short) != []


def test_no_talk_of_traits_without_persona() -> None:
    text = "Your neuroticism shows in the report."
    assert check_reply(text, rules(may_speak_of_traits=False)) != []


def test_empty_or_general_replies_are_refused() -> None:
    assert check_reply("", rules()) != []
    assert check_reply("Keep going and believe in yourself always.", rules(first_reply="")) != []


def test_talk_around_the_reply_is_mended() -> None:
    assert mend_reply(f"Sure! Here is the reply: {GOOD}", rules()) == GOOD
    assert mend_reply(f'"{GOOD}"', rules()) == GOOD
    assert mend_reply("1. The report is done.\n2. Send it to one colleague.", rules(first_reply="")) == (
        "The report is done. Send it to one colleague."
    )


def test_a_played_talk_ends_the_reply() -> None:
    assert mend_reply(f"{GOOD} You: I will send the report. I am not sure about it.", rules()) == GOOD


def test_a_suggestion_over_two_sentences_is_left_out() -> None:
    mended = mend_reply(f"{GOOD} Announce the report then. To the whole department of course.", rules())
    assert "department" not in mended


@pytest.mark.parametrize(
    "text",
    [
        "I ran 5 km at 7 am.",
        "Your coach at the gym said so.",
        "In the shadow of the deadline.",
        "Buy 2 m of rope.",
        "Persona non grata.",
        "What is one thing that you can do?",
        "It is a question of stability at home.",
    ],
)
def test_plain_words_are_no_leak(text: str) -> None:
    assert find_leaks(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "You did not keep your promises about the report.",
        "You should have finished the report.",
        "You lack discipline with the report.",
        "Você falhou com o relatório.",
        "Tu aurais dû finir le rapport.",
    ],
)
def test_a_verdict_on_the_person_is_refused(text: str) -> None:
    assert any("blames" in problem for problem in check_reply(text, rules(language=None)))


@pytest.mark.parametrize("text", ["You kept 2 of 5 promises with the report.", "The report did not happen on Friday."])
def test_what_happened_may_be_said(text: str) -> None:
    assert not any("blames" in problem for problem in check_reply(text, rules()))
