"""What a harness sends, laid out so that the turn's shared part comes first.

A harness wraps its task: its own instructions before it, today's date beside it, lists of tools. Sent as it is, no two
agents would begin alike, and an engine would compute everything for each. The gateway knows the agent's prompt and the
words that the program was given, finds those words in what it sends, and puts the prompt back in its own layout. What
is left over is what the harness adds: kept, behind the shared part, when the agent works with tools, else left out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from repertory.serving.gateway.harness_runs import RunTerms

__all__ = ("LaidOut", "lay_out")

_NOTE = "# Notes of the program that runs this agent"


@dataclass(frozen=True)
class LaidOut:
    """A request for the engine.

    Attributes:
        body: The body for `/v1/chat/completions`.
        added: What the harness wrote beside the task.
        shared: Whether the prompt begins with the turn's shared part.
    """

    body: dict[str, Any]
    added: str
    shared: bool


def lay_out(chat: Mapping[str, Any], terms: RunTerms) -> LaidOut:
    """The request of a harness as it goes to the engine.

    Args:
        chat: The harness's request, as one for `/v1/chat/completions`.
        terms: What the run is for.
    """
    system, turns = _split(chat.get("messages"))
    tools = chat.get("tools")
    offered = json.dumps(tools, ensure_ascii=False) if tools else ""
    at, words = _find_task(turns, terms)
    prompt: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in terms.messages]
    # What came after the task: the program's further questions, or what its tools gave.
    later = turns[at + 1 :] if at is not None else ()
    ours = [text for _, text in terms.messages]
    extra = [system.replace(terms.system, "", 1), *(_text(message) for message in turns[:at])]
    extra += [_text(turns[at]).replace(words, "", 1)] if at is not None else []
    notes = "\n\n".join(part.strip() for part in extra if part.strip() and part not in ours)
    added = "\n\n".join(part for part in (notes, offered) if part)
    body = {name: chat[name] for name in ("model", "stream", "stream_options", "stop") if name in chat}
    if not terms.tools:
        return LaidOut(body | dict(terms.members) | {"messages": [*prompt, *later]}, added, shared=True)
    members = dict(terms.members)
    if offered:
        # A model that may call tools can not be held to the schema of its last words at the same time.
        members.pop("response_format", None)
        members |= {name: chat[name] for name in ("tools", "tool_choice", "parallel_tool_calls") if name in chat}
    if at is None:  # a summary, say, of what was done so far: the program's own affair, within the run's reserve
        return LaidOut(body | members | {"messages": chat.get("messages")}, added, shared=False)
    if notes:
        prompt[-1] = prompt[-1] | {"content": f"{prompt[-1]['content']}\n\n{_NOTE}\n{notes}"}
    return LaidOut(body | members | {"messages": [*prompt, *later]}, added, shared=True)


def _find_task(turns: Sequence[dict[str, Any]], terms: RunTerms) -> tuple[int | None, str]:
    """The message that holds the task, whole or as the prompt's last message; and which words of it those are."""
    for words in (terms.asked, terms.messages[-1][1]):
        for number, message in enumerate(turns):
            if message.get("role") == "user" and words in _text(message):
                return number, words
    return None, ""


def _split(messages: object) -> tuple[str, Sequence[dict[str, Any]]]:
    """The text of the system messages at the beginning, and the messages after them."""
    given = cast("list[object]", messages) if isinstance(messages, list) else []
    found = [cast("dict[str, Any]", item) for item in given if isinstance(item, dict)]
    first = next((i for i, item in enumerate(found) if item.get("role") not in {"system", "developer"}), len(found))
    return "\n\n".join(_text(item) for item in found[:first]), found[first:]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    texts = [cast("dict[str, Any]", part).get("text") for part in parts if isinstance(part, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))
