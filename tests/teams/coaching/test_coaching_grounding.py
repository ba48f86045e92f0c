import pytest

from repertory.runtime.rules import Claim
from repertory.teams.coaching.grounding import HeldClaim, holders, unfounded_numbers

CLAIMS = (
    HeldClaim(Claim("c1", "shadow", "goal", "What you want: finish the first draft of your novel.", ("m1",)),
              "I want to finish my novel. I'll write 30 minutes on Tuesday."),
    HeldClaim(Claim("c2", "shadow", "priority", "Your time went to this: paid client work.", ("m2",)),
              "A client asked for a rush job and it paid double."),
)  # fmt: skip


def test_a_sentence_is_held_by_the_claim_whose_words_it_shares() -> None:
    assert holders("The rush job for a client paid double.", CLAIMS) == ("c2",)
    assert holders("You want to finish the novel.", CLAIMS) == ("c1",)


def test_a_cited_claim_is_believed_only_where_the_words_bear_it_out() -> None:
    assert holders("The rush job for a client paid double.", CLAIMS, ("c1",)) == ("c2",)
    assert holders("The client paid double while the draft of the novel waits.", CLAIMS, ("c1", "c2")) == ("c1", "c2")
    assert holders("The client paid double.", CLAIMS, ("c9",)) == ("c2",)


@pytest.mark.parametrize(
    "sentence",
    [
        "What matters most is the ability to keep your commitments and to focus on your goals.",
        "You can start by making a list and setting deadlines for each task.",
        "Take breaks and recharge your energy.",
        "You won the Nobel prize for your novel last year in Stockholm with friends.",
        "And so on.",
        "",
    ],
)
def test_what_could_be_said_to_anybody_is_held_by_nothing(sentence: str) -> None:
    assert holders(sentence, CLAIMS, ("c1", "c2")) == ()


def test_a_question_that_looks_ahead_needs_one_shared_word() -> None:
    assert holders("Which evening belongs to the novel?", CLAIMS) == ()
    assert holders("Which evening belongs to the novel?", CLAIMS, loose=True) == ("c1",)


def test_numbers_come_from_the_sources_only() -> None:
    sources = ("You kept 2 of 5 promises. About 56 % for the next one.", "I'll write 30 minutes, on three evenings.")
    assert unfounded_numbers("2 of 5 promises, about 56 %, 30 minutes on three evenings.", sources) == set()
    assert unfounded_numbers("About 90 % for the next one.", sources) == {"90%"}
    assert unfounded_numbers("About 30 % for the next one.", sources) == {"30%"}
    assert unfounded_numbers("You kept four promises.", sources) == {"4"}
    assert unfounded_numbers("One step on one evening, with two sides.", ()) == set()
