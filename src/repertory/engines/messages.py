"""Brings messages into the form that chat templates accept, and cleans the text for the wire.

Templates of open models differ in what they refuse: a system message that is not the first, two, two messages of one
role in a row, or a system message at all. The form made here is taken by all of them.
"""

from collections.abc import Sequence
from itertools import groupby

from repertory.engines.protocol import ChatMessage

__all__ = ("clean_text", "normalise_messages", "wire_messages")

_BREAK = "\n\n"


def normalise_messages(messages: Sequence[ChatMessage], *, folds_system: bool = False) -> tuple[ChatMessage, ...]:
    """One system message at most and first, roles alternating from a user message on.

    Neighbours of one role become one message with a blank line between; an assistant message before the first user
    message becomes part of the system message, because no template lets the assistant begin.

    Args:
        messages: The prompt.
        folds_system: The template has no system role: its text goes in front of the first user message.
    """
    system = [message.content for message in messages if message.role == "system"]
    turns = [message for message in messages if message.role != "system"]
    while turns and turns[0].role == "assistant":
        system.append(turns.pop(0).content)
    groups = [tuple(group) for _, group in groupby(turns, key=lambda message: message.role)]
    merged = [
        ChatMessage(group[0].role, _BREAK.join(message.content for message in group if message.content))
        for group in groups
    ]
    head = _BREAK.join(text for text in system if text)
    if head and folds_system:
        first = merged[0].content if merged else ""
        merged[:1] = [ChatMessage("user", f"{head}{_BREAK}{first}" if first else head)]
    elif head:
        merged.insert(0, ChatMessage("system", head))
    return tuple(ChatMessage(message.role, clean_text(message.content)) for message in merged)


def clean_text(text: str) -> str:
    """Replace what can not be sent or ends strings in C: lone surrogates and NUL."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def wire_messages(messages: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """The messages as the chat dialects write them."""
    return [{"role": message.role, "content": message.content} for message in messages]
