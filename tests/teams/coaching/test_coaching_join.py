from dataclasses import replace

import pytest

from repertory.runtime.rules import Claim, ReplySentence
from repertory.teams.coaching.grounding import HeldClaim
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.reply_check import ReplyRules, check_reply
from repertory.teams.coaching.reply_join import DraftPart, OwnWords, join_reply
from repertory.teams.coaching.sections import Voice

MESSAGE = "No writing. A client asked for a rush job on Tuesday and I said yes, it paid double."
RULES = ReplyRules(
    message=MESSAGE,
    first_reply="The rush job won over Tuesday evening. What made you say yes?",
    claims=(
        HeldClaim(
            Claim("c1", "shadow", "goal", "What you want: finish the first draft of your novel.", ("m1",)),
            "I want to finish my novel.",
        ),
        HeldClaim(Claim("c2", "shadow", "priority", "Your time went to this: paid client work.", ("m2",)), MESSAGE),
    ),
    blocked=(Move.PUBLIC_COMMITMENT,),
    voice=Voice(),
    max_words=110,
    language="en",
)
OWN = OwnWords(
    facts=(
        ("c2", "Your time went to this: paid client work."),
        ("c1", "What you want: finish the first draft of your novel."),
    ),
    next=("When and where exactly will you write?", "What would be the smallest next step for you?"),
)
DRAFT = (
    DraftPart("noticed", "A client paid double, and the evening was gone.", ("c2",)),
    DraftPart("means", "Your novel draft waits while client work pays.", ("c1", "c2")),
    DraftPart("next", "Which evening this week belongs to the novel alone?", ("c1",)),
)


def test_a_good_draft_is_joined_in_order_each_sentence_with_its_claims() -> None:
    joined = join_reply(DRAFT, RULES, OWN)
    assert joined.text == " ".join(part.text for part in DRAFT)
    assert [(item.claims, item.by, item.dropped) for item in joined.sentences] == [
        (("c2",), "model", None), (("c1", "c2"), "model", None), (("c1",), "model", None),
    ]  # fmt: skip
    assert joined.by_model
    assert check_reply(joined.text, RULES) == []


def test_what_no_claim_holds_is_dropped_recorded_and_replaced_by_the_claims_own_words() -> None:
    general = "Staying disciplined helps everybody reach dreams."
    joined = join_reply([DraftPart("noticed", general, ("c1",)), *DRAFT[2:]], RULES, OWN)
    assert joined.text.startswith("Your time went to this: paid client work.")
    (dropped,) = [item for item in joined.sentences if item.dropped]
    assert dropped.text == general
    assert "No point holds it" in (dropped.dropped or "")
    assert ReplySentence("Your time went to this: paid client work.", ("c2",), "code") in joined.sentences


def test_a_question_of_the_codes_own_ends_a_reply_that_neither_asks_nor_offers() -> None:
    joined = join_reply(DRAFT[:2], RULES, OWN)
    assert joined.text.endswith("When and where exactly will you write?")
    assert join_reply([*DRAFT[:2], DraftPart("next", "You know best.")], RULES, OWN).text == joined.text


def test_nothing_of_the_models_own_is_seen() -> None:
    joined = join_reply([DraftPart("noticed", "Stay focused."), DraftPart("next", "Announce it publicly.")], RULES, OWN)
    assert not joined.by_model
    assert "Announce" not in joined.text
    assert any("suggests" in problem for problem in joined.problems)
    assert join_reply([], RULES, OwnWords()).text == ""


def test_why_a_blocked_move_is_not_advised_stands_before_the_question() -> None:
    own = replace(OWN, not_this='I would not suggest a public promise, because you wrote: "I fell behind."')
    text = join_reply(DRAFT, RULES, own).text
    assert text.index("I would not suggest") < text.index("Which evening")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The report about client work is due.", "To the whole department, announce it."),
        ("Announce.", "The client job, to everyone."),
    ],
)
def test_no_stub_is_left_of_a_suggestion(first: str, second: str) -> None:
    joined = join_reply([DraftPart("noticed", f"{first} {second}", ("c2",))], RULES, OwnWords())
    assert "nnounce" not in joined.text
    assert "department" not in joined.text


def test_what_points_back_to_a_dropped_sentence_goes_with_it() -> None:
    parts = [
        DraftPart("noticed", "You did not keep your promises to the client.", ("c2",)),
        DraftPart("means", "This makes the first draft of the novel hard.", ("c1",)),
    ]
    assert "This makes" not in join_reply([*parts, DRAFT[2]], RULES, OWN).text
    assert "This makes" in join_reply([DRAFT[0], parts[1], DRAFT[2]], RULES, OWN).text


def test_the_persons_own_sentence_is_not_said_in_the_first_person() -> None:
    echo = DraftPart("noticed", "A client asked for a rush job on Tuesday and I said yes.", ("c2",))
    joined = join_reply([echo, *DRAFT[1:]], RULES, OWN)
    assert "I said yes" not in joined.text
    assert any("own sentence" in problem for problem in joined.problems)


def test_a_fact_in_the_place_of_the_next_step_is_said_as_a_fact() -> None:
    joined = join_reply([DRAFT[0], DraftPart("next", DRAFT[1].text, ("c1",))], RULES, OWN)
    assert joined.text == f"{DRAFT[0].text} {DRAFT[1].text} When and where exactly will you write?"


def test_the_voice_shortens_and_plains() -> None:
    short = replace(RULES, voice=Voice(length="short", exclamation_marks=0), max_words=22)
    joined = join_reply(DRAFT, short, OWN)
    assert "waits" not in joined.text
    assert any(item.dropped == "The person wants it short." for item in joined.sentences)
    direct = replace(RULES, voice=Voice(directness=5))
    part = DraftPart("noticed", "It seems that a client paid double for the evening.", ("c2",))
    assert join_reply([part], direct, OWN).text.startswith("A client paid double")


def test_somebody_who_wants_no_questions_gets_a_step() -> None:
    quiet = replace(RULES, may_ask=False)
    own = replace(OWN, next=("Pick the smallest next step, and a time for it.",))
    joined = join_reply(DRAFT, quiet, own)
    assert "?" not in joined.text
    assert joined.text.endswith("Pick the smallest next step, and a time for it.")


def test_another_language_than_the_persons_is_dropped() -> None:
    rules = replace(RULES, language="pt")
    joined = join_reply(DRAFT, rules, OwnWords())
    assert joined.text == ""
    assert any("Portuguese" in problem for problem in joined.problems)
