"""A stream of OpenAI's chunks, written as Anthropic's events."""

import json
from dataclasses import dataclass, field
from typing import cast

from repertory.engines.failures import StreamEngineError, StreamFrameError, error_text
from repertory.engines.sse import SseParser
from repertory.serving.gateway.messages_answer import message_usage, new_message_id, stop_reason
from repertory.serving.gateway.sse_relay import UsageCount

__all__ = ("MessageEvents", "MessagesRelay")


def _event(kind: str, **fields: object) -> bytes:
    document = json.dumps({"type": kind, **fields}, ensure_ascii=False).encode("utf-8", "replace")
    return b"event: " + kind.encode() + b"\ndata: " + document + b"\n\n"


@dataclass
class MessageEvents:
    """Writes one message as events: one content block after the other, each opened and closed.

    Args:
        model: The name that the client asked for.
    """

    model: str
    _index: int = -1
    _open: str | None = None

    def start(self) -> bytes:
        """The message's beginning."""
        message: dict[str, object] = {
            "id": new_message_id(),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        return _event("message_start", message=message)

    def text(self, text: str) -> bytes:
        """Words of the answer."""
        block = self._switch("text", {"type": "text", "text": ""})
        return block + self._delta({"type": "text_delta", "text": text})

    def thinking(self, text: str) -> bytes:
        """Words of the thinking."""
        block = self._switch("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        return block + self._delta({"type": "thinking_delta", "thinking": text})

    def tool(self, key: str, call_id: str, name: str) -> bytes:
        """The beginning of a tool call; `key` tells calls apart."""
        empty: dict[str, object] = {}
        return self._switch(f"tool {key}", {"type": "tool_use", "id": call_id, "name": name, "input": empty})

    def arguments(self, text: str) -> bytes:
        """A piece of the JSON of the open tool call's arguments."""
        return self._delta({"type": "input_json_delta", "partial_json": text})

    def end(self, reason: str, sequence: str | None, usage: dict[str, object]) -> bytes:
        """The message's end."""
        delta = {"stop_reason": reason, "stop_sequence": sequence}
        return self._close() + _event("message_delta", delta=delta, usage=usage) + _event("message_stop")

    def _delta(self, delta: dict[str, object]) -> bytes:
        return _event("content_block_delta", index=self._index, delta=delta)

    def _switch(self, name: str, block: dict[str, object]) -> bytes:
        if self._open == name:
            return b""
        closed = self._close()
        self._open = name
        self._index += 1
        return closed + _event("content_block_start", index=self._index, content_block=block)

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        self._open = None
        return _event("content_block_stop", index=self._index)


@dataclass
class MessagesRelay:
    """One stream.

    Args:
        model: The name that the client asked for.
    """

    model: str
    usage: UsageCount = field(default_factory=UsageCount)
    events: int = 0
    ended: bool = False
    _parser: SseParser = field(default_factory=SseParser)
    _reason: tuple[str, str | None] = ("end_turn", None)
    _counts: object = None
    _writer: MessageEvents | None = None

    def feed(self, data: bytes) -> bytes:
        """Take the engine's next bytes; give the client's.

        Raises:
            StreamEngineError: The engine told an error inside the stream.
            StreamFrameError: A chunk can not be read.
        """
        return b"".join(self._take(event.data) for event in self._parser.feed(data))

    def _take(self, data: str) -> bytes:
        if self.ended:
            return b""
        if data.strip() == "[DONE]":
            self.ended = True
            opening, writer = self._begin()
            return opening + writer.end(*self._reason, message_usage(self._counts))
        try:
            chunk = _object(json.loads(data))
        except ValueError:
            raise StreamFrameError("a chunk of the engine's stream is not JSON") from None
        if chunk.get("error"):
            message = f"the engine broke the answer off: {error_text(data)}"
            raise StreamEngineError(message)
        self.events += 1
        if isinstance(chunk.get("usage"), dict):
            self._counts = chunk["usage"]
            self.usage.take(_object(self._counts))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return b""
        choice = _object(cast("list[object]", choices)[0])
        if choice.get("finish_reason"):
            self._reason = stop_reason(choice)
        opening, writer = self._begin()
        return opening + self._delta(writer, _object(choice.get("delta")))

    def _begin(self) -> tuple[bytes, MessageEvents]:
        if self._writer is not None:
            return b"", self._writer
        self._writer = MessageEvents(self.model)
        return self._writer.start(), self._writer

    def _delta(self, writer: MessageEvents, delta: dict[str, object]) -> bytes:
        out = b""
        for name in ("reasoning_content", "reasoning"):
            thinking = delta.get(name)
            if isinstance(thinking, str) and thinking:
                out += writer.thinking(thinking)
                break
        text = delta.get("content")
        if isinstance(text, str) and text:
            out += writer.text(text)
        calls = delta.get("tool_calls")
        for item in cast("list[object]", calls) if isinstance(calls, list) else ():
            call = _object(item)
            function = _object(call.get("function"))
            if function.get("name"):
                key = str(call.get("index", 0))
                out += writer.tool(key, str(call.get("id") or f"toolu_{new_message_id()[4:]}"), str(function["name"]))
            arguments = function.get("arguments")
            if isinstance(arguments, str) and arguments:
                out += writer.arguments(arguments)
        return out


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
