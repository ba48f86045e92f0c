import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.cli.safe_text import printable


@pytest.mark.parametrize(
    "text",
    ["", "plain", "two\nlines\tand a tab", "Grüße", "你好", "مرحبا", "👩‍🚀 family", "[red]not markup[/red]", "e\u0301"],
)
def test_words_of_every_script_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]0;title\x07", "]0;title"),
        ("\x9b2J", "2J"),
        ("a\rb", "a\nb"),
        ("a\r\nb", "a\nb"),
        ("a\x00\x08b\x7f", "ab"),
        ("safe\u202etxt.exe", "safetxt.exe"),
        ("\u2066x\u2069", "x"),
        ("\ud800x", "x"),
        ("a\u2028b", "a\nb"),
    ],
)
def test_what_a_terminal_would_act_on_is_taken_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(alphabet=st.characters()))
def test_nothing_unsafe_is_left_and_nothing_is_added(text: str) -> None:
    shown = printable(text)
    assert all(char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cs"} for char in shown)
    assert printable(shown) == shown
    assert "\n" not in printable(text, one_line=True)
