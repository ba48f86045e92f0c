from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.engines.reasoning import ThinkSplitter, strip_thinking


def split(text: str, cuts: list[int], *, starts_inside: bool = False, only_leading: bool = False) -> tuple[str, str]:
    splitter = ThinkSplitter(starts_inside=starts_inside, only_leading=only_leading)
    edges = [0, *sorted(cuts), len(text)]
    pieces = [piece for a, b in pairwise(edges) for piece in splitter.feed(text[a:b])]
    pieces += splitter.finish()
    answer = "".join(piece.text for piece in pieces if not piece.thinking)
    return answer, "".join(piece.text for piece in pieces if piece.thinking)


CASES = [
    ("plain answer", "plain answer", ""),
    ("<think>hm</think>answer", "answer", "hm"),
    ("\n <think>\nhm\n</think>\n\nanswer", "answer", "\nhm\n"),
    ("<thinking>hm</thinking> answer", "answer", "hm"),
    ("[THINK]hm[/THINK]answer", "answer", "hm"),
    ("<think>never closed", "", "never closed"),
    ("<think></think>answer", "answer", ""),
    ("first\n<think>\nhm\n</think>\nsecond", "first\nsecond", "\nhm\n"),
    ("The tag <think> starts it, </think> ends it.", "The tag <think> starts it, </think> ends it.", ""),
    ("text\n<think> is a tag", "text\n<think> is a tag", ""),
    ("<b>bold</b>", "<b>bold</b>", ""),
    ("<thin", "<thin", ""),
    ("<think>a</thi</think>b", "b", "a</thi"),
    ("   ", "   ", ""),
]


@pytest.mark.parametrize(("text", "answer", "thinking"), CASES)
def test_leaked_think_tags_are_split_off(text: str, answer: str, thinking: str) -> None:
    assert split(text, []) == (answer, thinking)


@pytest.mark.parametrize(("text", "answer", "thinking"), CASES)
def test_the_same_for_every_way_of_cutting(text: str, answer: str, thinking: str) -> None:
    assert split(text, list(range(1, len(text)))) == (answer, thinking)
    for cut in range(len(text)):
        assert split(text, [cut]) == (answer, thinking)


@given(st.data())
def test_cutting_never_matters(data: st.DataObject) -> None:
    pieces = st.sampled_from(["<think>", "</think>", "\n", " ", "a", "<th", "ink>", "[THINK]", "[/THINK]", "{"])
    text = "".join(data.draw(st.lists(pieces, max_size=10)))
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    leading = data.draw(st.booleans())
    whole = split(text, [], only_leading=leading)
    assert split(text, cuts, only_leading=leading) == whole


def test_a_template_that_opens_the_thinking() -> None:
    assert split("hm\n</think>\n\nanswer", [3], starts_inside=True) == ("answer", "hm\n")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('<think>hm</think>{"a": "<think>x</think>"}', '{"a": "<think>x</think>"}'),
        ('{"a": "\n<think>\nx</think>"}', '{"a": "\n<think>\nx</think>"}'),
    ],
)
def test_a_constrained_answer_may_speak_of_tags(text: str, answer: str) -> None:
    assert split(text, list(range(1, len(text))), only_leading=True)[0] == answer


@pytest.mark.parametrize(
    ("text", "answer", "thinking"),
    [
        ("hm\n</think>\n\nanswer", "answer", "hm"),
        ("answer that speaks of </think> inline", "answer that speaks of </think> inline", ""),
        ("answer", "answer", ""),
    ],
)
def test_thinking_closed_without_an_opening(text: str, answer: str, thinking: str) -> None:
    assert strip_thinking(text) == (answer, thinking)


def test_white_space_is_not_held_back_for_long() -> None:
    splitter = ThinkSplitter()
    came = [piece for _ in range(30) for piece in splitter.feed("    ")]
    assert sum(len(piece.text) for piece in came) >= 60
