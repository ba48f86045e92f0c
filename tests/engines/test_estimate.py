import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.engines.estimate import estimate_output_tokens, estimate_prompt_tokens, words
from repertory.engines.protocol import ChatMessage

# Counted with the tokenizer of Qwen2.5 (151,936 tokens) through llama.cpp's /tokenize.
COUNTED = [
    ("The person values steady progress and honest feedback.", 9),
    ("No writing again this week. A client asked for a rush job on Tuesday and I said yes.", 20),
    ("汉字很难但是很有意思", 5),
    ("dGhpcyBpcyBhIHRlc3Qgb2YgYmFzZTY0IGVuY29kaW5n", 35),
    ("🙂👩‍👩‍👧 e\u0301 עברית", 12),
    ('{"a": [1, 2, 3], "b": null}', 17),
    ("def add(a: int, b: int) -> int:\n    return a + b\n", 19),
    ("8.22-22  541,8 94232", 20),
    ("MGhlpnBrIbqIrH", 10),
    ("xgulxlqlzquz", 8),
    ("9\x0bTz'CG\nLQWKJEOY$2LgClC+g)|~jlW?=jhka;wuJ?ElzYD9Sj)JVdj^E8^n", 48),
    (" ", 1),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_e12_the_estimate_is_never_low(text: str, tokens: int) -> None:
    assert estimate_output_tokens(text) >= tokens


def test_e12_the_estimate_of_prose_is_not_absurd() -> None:
    text, tokens = COUNTED[1]
    assert estimate_output_tokens(text) <= 3 * tokens


@given(st.text())
def test_e12_no_text_counts_as_nothing(text: str) -> None:
    assert estimate_output_tokens(text) >= len(text.split())
    assert estimate_prompt_tokens([ChatMessage("user", text)]) > estimate_output_tokens(text)


@pytest.mark.parametrize(
    ("text", "count"), [("two words", 2), ("a 1 %", 0), ("汉字 漢字", 0), ("x<y>z and", 1), ("", 0), ("word " * 50, 50)]
)
def test_words_are_a_lower_bound(text: str, count: int) -> None:
    assert words(text) == count
