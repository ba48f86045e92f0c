"""Reads the chat-completions dialect of OpenAI, as the engines really speak it: streamed or in one piece."""

import json
from typing import cast

from repertory.engines.answer import AnswerReader
from repertory.engines.failures import StreamFrameError, classify_in_band, error_text, shorten
from repertory.engines.json_text import load_json
from repertory.engines.protocol import StreamPart, TokensProcessed, TokenUsage
from repertory.engines.sse import SseEvent

__all__ = ("ChatReader", "read_usage", "token_count")


class ChatReader:
    """Turns the events of one answer into stream parts.

    Args:
        answer: Collects what is read.
        where: The engine's address, for errors.
        with_schema: Whether the request carried a JSON Schema.
    """

    def __init__(self, answer: AnswerReader, *, where: str, with_schema: bool) -> None:
        self.answer = answer
        self.closed = False
        self._where = where
        self._with_schema = with_schema

    def feed(self, event: SseEvent) -> list[StreamPart]:
        """Take one event.

        Raises:
            StreamError: The event carries an error or can not be read.
        """
        if self.closed:
            return []
        data = event.data.strip()
        if data == "[DONE]":
            self.closed = self.answer.ended = True
            return []
        frame = self._parse(event, data)
        if frame is None:
            return []
        if event.name == "error" or _is_error(frame):
            raise self._engine_error(frame, data)
        return self._take(frame, key="delta")

    def feed_whole(self, body: str) -> list[StreamPart]:
        """Take an answer that came in one piece, from a server that does not stream."""
        try:
            value: object = load_json(body)
        except ValueError:
            message = f"the engine's answer is not JSON: {shorten(body, 120)!r}"
            raise StreamFrameError(message, where=self._where) from None
        frame = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        if _is_error(frame):
            raise self._engine_error(frame, body)
        parts = self._take(frame, key="message")
        self.closed = self.answer.ended = True
        return parts

    def _parse(self, event: SseEvent, data: str) -> dict[str, object] | None:
        try:
            value: object = load_json(data)
        except ValueError:
            if event.name == "error":
                raise self._engine_error({}, data) from None
            if not event.closed:
                return None  # cut off by the end of the stream, which is judged by itself
            message = f"a frame of the stream is not JSON: {shorten(data, 120)!r}"
            raise StreamFrameError(message, where=self._where) from None
        if not isinstance(value, dict):
            message = f"a frame of the stream is no JSON object: {shorten(data, 120)!r}"
            raise StreamFrameError(message, where=self._where)
        return cast("dict[str, object]", value)

    def _engine_error(self, frame: dict[str, object], data: str) -> Exception:
        said = error_text(frame) or shorten(data)
        return classify_in_band(said, where=self._where, with_schema=self._with_schema)

    def _take(self, frame: dict[str, object], *, key: str) -> list[StreamPart]:
        parts: list[StreamPart] = []
        usage = read_usage(frame)
        if usage is not None:
            self.answer.usage = usage
        progress = frame.get("prompt_progress")
        if isinstance(progress, dict):
            parts.extend(_read_progress(cast("dict[str, object]", progress)))
        choices = frame.get("choices")
        if not isinstance(choices, list):
            if usage is None and not parts:
                message = f"a frame of the stream has no choices: {shorten(json.dumps(frame), 120)!r}"
                raise StreamFrameError(message, where=self._where)
            return parts
        for item in cast("list[object]", choices):
            choice = cast("dict[str, object]", item) if isinstance(item, dict) else {}
            if choice.get("index", 0) in {0, None}:
                parts.extend(self._take_choice(choice, key))
        return parts

    def _take_choice(self, choice: dict[str, object], key: str) -> list[StreamPart]:
        parts: list[StreamPart] = []
        message: object = choice.get(key) or choice.get("message")
        if isinstance(message, dict):
            fields = cast("dict[str, object]", message)
            # Newer vLLM and Ollama write `reasoning`, older vLLM and llama.cpp `reasoning_content`; some write both.
            thinking = _text_of(fields.get("reasoning_content")) or _text_of(fields.get("reasoning"))
            if thinking:
                parts.extend(self.answer.add_reasoning(thinking))
            for text, is_thinking in _content_pieces(fields.get("content")):
                parts.extend(self.answer.add_reasoning(text) if is_thinking else self.answer.add_text(text))
            if fields.get("tool_calls"):
                self.answer.add_tool_calls(fields["tool_calls"])
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.answer.set_finish(reason)
        return parts


def read_usage(frame: dict[str, object]) -> TokenUsage | None:
    """The token counts in a frame: OpenAI's `usage`, and llama.cpp's `timings`, which say what was cached."""
    usage = frame.get("usage")
    if not isinstance(usage, dict):
        return None
    fields = cast("dict[str, object]", usage)
    prompt, output = token_count(fields.get("prompt_tokens")), token_count(fields.get("completion_tokens"))
    if prompt is None or output is None:
        return None
    cached: object = None
    details = fields.get("prompt_tokens_details")
    if isinstance(details, dict):
        cached = cast("dict[str, object]", details).get("cached_tokens")
    timings = frame.get("timings")
    if isinstance(timings, dict):
        cached = cast("dict[str, object]", timings).get("cache_n", cached)
    known = token_count(cached)
    return TokenUsage(prompt=prompt, output=output, cached=None if known is None else min(known, prompt))


def token_count(value: object) -> int | None:
    """A number of tokens as an engine told it; None when it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _is_error(frame: dict[str, object]) -> bool:
    """An `error`, or an error object that stands alone (vLLM: `{"object": "error", "message": ...}`)."""
    if frame.get("error") or frame.get("object") == "error":
        return True
    return "choices" not in frame and any(isinstance(frame.get(name), str) for name in ("message", "detail"))


def _read_progress(progress: dict[str, object]) -> list[StreamPart]:
    processed, total = progress.get("processed"), progress.get("total")
    if isinstance(processed, int) and isinstance(total, int):
        return [TokensProcessed(processed=processed, total=total)]
    return []


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def _content_pieces(content: object) -> list[tuple[str, bool]]:
    """The text of a `content`, which is text, nothing, or a list of typed pieces; thinking is told apart."""
    if isinstance(content, str):
        return [(content, False)] if content else []
    if not isinstance(content, list):
        return []
    pieces: list[tuple[str, bool]] = []
    for item in cast("list[object]", content):
        piece = cast("dict[str, object]", item) if isinstance(item, dict) else {}
        thinking = piece.get("type") == "thinking"
        inner = piece.get("thinking") if thinking else piece.get("text")
        for text, _ in _content_pieces(inner):
            pieces.append((text, thinking))
    return pieces
