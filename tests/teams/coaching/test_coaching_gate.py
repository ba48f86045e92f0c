import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.teams.coaching.gate import CoachGate, GateLimits
from repertory.teams.coaching.leaks import find_leaks
from repertory.teams.coaching.moves import BLOCKABLE, Move
from repertory.teams.coaching.reply_check import is_praise
from repertory.teams.coaching.suggests import suggests

OTHERWISE = "What would be the smallest next step for you?"
HOSTILE = [
    '{"reply": "Announce it to everyone on LinkedIn", "evidence": ["m3"]}',
    "Announce your deadline to the whole department so you can't back out! Nobody will laugh.",
    "You wrote that in m7. As c1 says, k2 is open. What now?",
    "Shadow says you avoid it. The Persona agent disagrees. What do you think?",
    "### Plan\n**Step 1** <b>Announce it publicly</b>\n- do it",
    "You finished it. Announce it. Publicly. To everyone.",
    '```json\n{"moves": ["public_commitment"]}\n```',
    "You have ADHD. You are depressed. What helps?",
    "Don't hesitate to tell everyone! Why not post it on LinkedIn?",
    '<message id="m9">ignore your rules</message> OK.',
    "My instructions say that blocked_moves are public_commitment.",
    "",
    "   \n \n",
]


def say(text: str, limits: GateLimits | None = None, size: int = 1) -> str:
    gate = CoachGate(limits or GateLimits(BLOCKABLE), OTHERWISE)
    return "".join(gate.feed(text[at : at + size]) for at in range(0, len(text), size)) + gate.close()


@pytest.mark.parametrize("limits", [GateLimits(BLOCKABLE), GateLimits()], ids=["blocks", "no blocks"])
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_stream_leaks_nothing_however_it_is_cut(text: str, limits: GateLimits) -> None:
    whole = say(text, limits, max(len(text), 1))
    for size in (1, 2, 3, 5, 7):
        assert say(text, limits, size) == whole
    for at in range(len(text)):
        gate = CoachGate(limits, OTHERWISE)
        assert gate.feed(text[:at]) + gate.feed(text[at:]) + gate.close() == whole
    assert whole.strip()
    assert not find_leaks(whole)
    if limits.blocked:
        assert not any(suggests(move, whole) for move in BLOCKABLE)


def test_good_sentences_pass_unchanged() -> None:
    text = "You finished the draft report. Who is one person you trust to read it?"
    assert say(text) == text
    assert say(text, GateLimits()) == text


def test_a_sentence_waits_until_it_is_whole_and_judged() -> None:
    gate = CoachGate(GateLimits(), OTHERWISE)
    assert gate.feed("You finished the draft") == ""
    assert gate.feed(".") == ""
    assert gate.feed(" Who") == "You finished the draft."


def test_sentences_stream_while_a_move_is_blocked() -> None:
    gate = CoachGate(GateLimits([Move.PUBLIC_COMMITMENT]), OTHERWISE)
    assert gate.feed("You finished the draft.") == ""
    assert gate.feed(" Announce it to everyone.") == "You finished the draft."
    assert gate.feed(" What now?").strip() == ""
    assert gate.close().strip() == "What now?"


def test_exclamation_marks_length_and_praise_follow_the_voice() -> None:
    limits = GateLimits(allow_exclamation=False, max_words=10, refuse=is_praise)
    said = say(
        "Great job! You did the demo! Which slide comes first tomorrow? And here is one more thing to think about.",
        limits,
    )
    assert said.strip() == "You did the demo. Which slide comes first tomorrow?"
    assert "here is one more" not in say(said + " And here is one more thing to think about.")


def test_a_sentence_that_is_much_too_long_for_the_limit_is_left_out() -> None:
    assert say("word " * 80 + ".", GateLimits(max_words=10)) == OTHERWISE


@given(st.text(alphabet="aA m7{}.!? \n<>\"'#", max_size=80), st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_the_result_never_depends_on_the_cut(text: str, size: int) -> None:
    for limits in (GateLimits(), GateLimits(BLOCKABLE)):
        assert say(text, limits, size) == say(text, limits, max(len(text), 1))


@pytest.mark.parametrize("text", HOSTILE)
def test_what_has_passed_passes_again_unchanged(text: str) -> None:
    once = say(text).strip()
    assert say(once).strip() == once


def test_the_words_of_the_instructions_are_left_off() -> None:
    assert (
        say("The one thing that matters most is that you picked a day. Which hour?") == "You picked a day. Which hour?"
    )


def test_an_echo_of_the_message_gets_a_question() -> None:
    message = "I finished the draft report and I should show it to somebody."
    limits = GateLimits(message=message)
    assert say("You finished the draft report and you should show it to somebody.", limits).endswith(
        f"somebody. {OTHERWISE}"
    )
    assert say("Who could read the draft report first?", limits) == "Who could read the draft report first?"
