"""A whole answer of OpenAI's `/v1/chat/completions`, written as Anthropic's message."""

import json
import secrets
from typing import cast

from repertory.engines.failures import StreamFrameError

__all__ = ("STOP_REASONS", "message_usage", "new_message_id", "stop_reason", "write_message")

STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
_THINKING = ("reasoning_content", "reasoning")


def new_message_id() -> str:
    """A fresh id."""
    return f"msg_{secrets.token_hex(12)}"


def stop_reason(choice: dict[str, object]) -> tuple[str, str | None]:
    """Why it ended, and the stop sequence when it was one and the engine tells."""
    sequence = choice.get("stop_reason")
    if choice.get("finish_reason") == "stop" and isinstance(sequence, str):
        return "stop_sequence", sequence
    return STOP_REASONS.get(str(choice.get("finish_reason")), "end_turn"), None


def message_usage(usage: object) -> dict[str, object]:
    """Counts of tokens, with the cached ones apart as Anthropic counts them."""
    fields = _object(usage)
    prompt = _int(fields.get("prompt_tokens"))
    cached = _int(_object(fields.get("prompt_tokens_details")).get("cached_tokens"))
    return {
        "input_tokens": max(prompt - cached, 0),
        "output_tokens": _int(fields.get("completion_tokens")),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }


def write_message(body: bytes, model: str) -> bytes:
    """The message.

    Args:
        body: The engine's answer.
        model: The name that the client asked for.

    Raises:
        StreamFrameError: The engine's answer is none.
    """
    try:
        answer = _object(json.loads(body))
        choice = _object(_list(answer.get("choices"))[0])
    except (ValueError, IndexError):
        raise StreamFrameError("the engine's answer can not be read") from None
    said = _object(choice.get("message"))
    content: list[dict[str, object]] = []
    thinking = next((said[name] for name in _THINKING if said.get(name)), None)
    if isinstance(thinking, str):
        content.append({"type": "thinking", "thinking": thinking, "signature": ""})
    text = said.get("content")
    if isinstance(text, str) and text:
        content.append({"type": "text", "text": text})
    for item in _list(said.get("tool_calls")):
        call = _object(item)
        function = _object(call.get("function"))
        content.append(
            {
                "type": "tool_use",
                "id": str(call.get("id") or f"toolu_{secrets.token_hex(8)}"),
                "name": str(function.get("name", "")),
                "input": _arguments(function.get("arguments")),
            }
        )
    reason, sequence = stop_reason(choice)
    message = {
        "id": new_message_id(),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": sequence,
        "usage": message_usage(answer.get("usage")),
    }
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def _arguments(text: object) -> dict[str, object]:
    try:
        return _object(json.loads(str(text)))
    except ValueError:
        raise StreamFrameError("the arguments of a tool call are not JSON") from None


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _int(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
