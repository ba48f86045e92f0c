import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.engines.http import encode_json
from repertory.engines.messages import clean_text, normalise_messages, wire_messages
from repertory.engines.protocol import ChatMessage

pytestmark = pytest.mark.virtual_time

S, U, A = "system", "user", "assistant"


def shape(messages: list[tuple[str, str]], *, folds_system: bool = False) -> list[tuple[str, str]]:
    built = [ChatMessage(role, text) for role, text in messages]  # pyright: ignore[reportArgumentType] - short names
    return [(message.role, message.content) for message in normalise_messages(built, folds_system=folds_system)]


@pytest.mark.parametrize(
    ("given_messages", "expected"),
    [
        ([(S, "s"), (U, "u")], [(S, "s"), (U, "u")]),
        ([(U, "a"), (U, "b")], [(U, "a\n\nb")]),
        ([(S, "s"), (A, "hi"), (U, "u")], [(S, "s\n\nhi"), (U, "u")]),
        ([(U, "u"), (S, "late"), (U, "v")], [(S, "late"), (U, "u\n\nv")]),
        ([(S, "one"), (S, "two"), (U, "u")], [(S, "one\n\ntwo"), (U, "u")]),
        ([(U, "u"), (A, "a"), (A, "b"), (U, "v")], [(U, "u"), (A, "a\n\nb"), (U, "v")]),
        ([(S, ""), (U, "u")], [(U, "u")]),
        ([(U, ""), (U, "u")], [(U, "u")]),
        ([(S, "s")], [(S, "s")]),
        ([], []),
    ],
)
def test_h7_roles_alternate_and_system_comes_first(
    given_messages: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    assert shape(given_messages) == expected


@pytest.mark.parametrize(
    ("given_messages", "expected"),
    [
        ([(S, "s"), (U, "u"), (A, "a"), (U, "v")], [(U, "s\n\nu"), (A, "a"), (U, "v")]),
        ([(S, "s")], [(U, "s")]),
        ([(U, "u")], [(U, "u")]),
    ],
)
def test_h7_system_is_folded_where_the_template_has_none(
    given_messages: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    assert shape(given_messages, folds_system=True) == expected


@given(
    st.lists(st.tuples(st.sampled_from([S, U, A]), st.text(max_size=5)), max_size=8),
    st.booleans(),
)
def test_h7_every_prompt_ends_up_in_the_form_templates_take(messages: list[tuple[str, str]], folds: bool) -> None:
    roles = [role for role, _ in shape(messages, folds_system=folds)]
    if folds:
        assert S not in roles
    assert S not in roles[1:]
    turns = [role for role in roles if role != S]
    assert turns == [(U, A)[index % 2] for index in range(len(turns))]


@given(st.lists(st.tuples(st.sampled_from([S, U, A]), st.text(min_size=1, max_size=5)), max_size=6))
def test_normalising_twice_changes_nothing(messages: list[tuple[str, str]]) -> None:
    once = shape(messages)
    assert shape(once) == once


TEXTS = ["汉字", "🙂👩‍👩‍👧", "e\u0301", "עברית", "\u2028", 'quote " and \\ backslash']


@pytest.mark.parametrize("text", TEXTS)
def test_h10_unicode_reaches_the_model_unescaped(text: str) -> None:
    sent = encode_json({"messages": wire_messages([ChatMessage("user", text)])})
    assert b"\\u" not in sent
    assert json.loads(sent)["messages"][0]["content"] == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [("a\0b", "a\ufffdb"), ("a\ud800b", "a\ufffdb"), ("\ud83d\ude42", "🙂"), ("tab\tand\nline", "tab\tand\nline")],
)
def test_text_that_can_not_be_sent_is_replaced(text: str, clean: str) -> None:
    assert clean_text(text) == clean
    assert normalise_messages([ChatMessage("user", text)])[0].content == clean


@given(st.text(st.characters(blacklist_categories=[])))
def test_every_text_can_be_sent(text: str) -> None:
    clean_text(text).encode()
