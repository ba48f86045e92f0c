"""A turn as an answer of either API: the first reply as it comes, then the full reply in the same message."""

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Protocol, cast

from repertory.serving.gateway.client import Client
from repertory.serving.gateway.incoming import Incoming
from repertory.serving.gateway.messages_stream import MessageEvents
from repertory.serving.gateway.turns import CarriesTurns, TurnDone, TurnPart, TurnRequest
from repertory.serving.gateway.wire_errors import ApiShape, GatewayError

__all__ = ("answer_with_turn",)

_QUIET_S = 10.0
"""After so long without a word something is sent that clients skip, or proxies between would give up."""
_PATHS = ("/v1/chat/completions", "/v1/messages")
_SESSION = re.compile(rb"[A-Za-z0-9_.:-]{1,100}")


class _Shape(Protocol):
    """How one API writes a turn."""

    quiet: bytes

    def start(self) -> bytes: ...
    def text(self, text: str) -> bytes: ...
    def end(self, done: TurnDone) -> bytes: ...
    def whole(self, text: str, done: TurnDone) -> dict[str, object]: ...


async def answer_with_turn(carrier: CarriesTurns, client: Client, incoming: Incoming, team: str) -> TurnDone:
    """Carry out a turn and answer with it.

    Raises:
        GatewayError: The request is none for a team, or nobody replied.
    """
    if incoming.endpoint.path not in _PATHS:
        message = f"{team!r} answers {' and '.join(_PATHS)}"
        raise GatewayError(message, code="endpoint_not_for_teams", param="model")
    named = client.header(b"x-repertory-session")
    if named is not None and not _SESSION.fullmatch(named):
        raise GatewayError("`X-Repertory-Session` is no session id", code="invalid_value")
    request = TurnRequest(
        team=team,
        messages=_messages(incoming),
        user=incoming.user,
        session=named.decode("ascii") if named is not None else None,
    )
    shape: _Shape
    if incoming.endpoint.shape is ApiShape.ANTHROPIC:
        shape = _AnthropicTurn(team)
    else:
        options = incoming.fields.value("stream_options")
        counts = isinstance(options, dict) and cast("dict[str, object]", options).get("include_usage") is True
        shape = _OpenAITurn(team, with_usage=counts)
    async with aclosing(_with_pauses(carrier.turn(request))) as parts:
        return await (_stream(client, shape, parts) if incoming.stream else _whole(client, shape, parts))


async def _stream(client: Client, shape: _Shape, parts: AsyncGenerator[TurnPart | None]) -> TurnDone:
    done: TurnDone | None = None
    async for part in parts:
        if isinstance(part, TurnDone):
            done = part
        elif part is None:
            if client.status:
                await client.write(shape.quiet)
        elif part.text:
            if not client.status:
                await client.start_events()
                await client.write(shape.start())
            await client.write(shape.text(part.text))
    ended = _ended(done, said=bool(client.status))
    await client.write(shape.end(ended))
    await client.finish()
    return ended


async def _whole(client: Client, shape: _Shape, parts: AsyncGenerator[TurnPart | None]) -> TurnDone:
    words: list[str] = []
    done: TurnDone | None = None
    async for part in parts:
        if isinstance(part, TurnDone):
            done = part
        elif part is not None:
            words.append(part.text)
    ended = _ended(done, said=any(words))
    client.headers.append((b"x-repertory-session", ended.session.encode("ascii", "replace")))
    await client.answer_json(200, shape.whole("".join(words), ended))
    return ended


def _ended(done: TurnDone | None, *, said: bool) -> TurnDone:
    if done is None or (done.status == "failed" and not said):
        reason = done.reason if done is not None else None
        message = f"nobody replied: {reason}" if reason else "nobody replied"
        raise GatewayError(message, status=502, code="turn_failed")
    return done


async def _with_pauses(parts: AsyncGenerator[TurnPart]) -> AsyncGenerator[TurnPart | None]:
    """The parts, and None whenever nothing has come for a while."""
    async with aclosing(parts):
        following: asyncio.Task[TurnPart] | None = None
        try:
            while True:
                following = following or asyncio.ensure_future(_next(parts))
                done, _ = await asyncio.wait({following}, timeout=_QUIET_S)
                if not done:
                    yield None
                    continue
                try:
                    part = following.result()
                except StopAsyncIteration:
                    return
                following = None
                yield part
        finally:
            if following is not None and not following.done():
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)


async def _next(parts: AsyncGenerator[TurnPart]) -> TurnPart:
    return await anext(parts)


def _messages(incoming: Incoming) -> list[tuple[str, str]]:
    value = incoming.fields.value("messages")
    if not isinstance(value, list):
        raise GatewayError("`messages` must be a list", code="invalid_value", param="messages")
    found: list[tuple[str, str]] = []
    for item in cast("list[object]", value):
        message = cast("dict[str, object]", item) if isinstance(item, dict) else {}
        role = message.get("role")
        if not isinstance(role, str):
            raise GatewayError("every message needs a role", code="invalid_value", param="messages")
        found.append((role, _text(message.get("content"))))
    if not found or found[-1][0] != "user":
        raise GatewayError("the last message must be the user's", code="invalid_value", param="messages")
    if not found[-1][1].strip():
        raise GatewayError("the last message is empty", code="invalid_value", param="messages")
    return found


def _text(content: object) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    texts: list[str] = []
    for item in cast("list[object]", content) if isinstance(content, list) else (content,):
        part = cast("dict[str, object]", item) if isinstance(item, dict) else {}
        text = part.get("text")
        if part.get("type") != "text" or not isinstance(text, str):
            raise GatewayError("only text is read here", code="invalid_value", param="messages")
        texts.append(text)
    return "\n\n".join(texts)


def _about(done: TurnDone) -> Mapping[str, object]:
    return {"turn": done.turn, "session": done.session, "status": done.status, "reason": done.reason}


class _OpenAITurn:
    quiet = b": still working\n\n"

    def __init__(self, team: str, *, with_usage: bool) -> None:
        self._team = team
        self._with_usage = with_usage
        self._id = f"chatcmpl-{uuid.uuid4().hex}"
        self._created = int(time.time())

    def start(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def end(self, done: TurnDone) -> bytes:
        last = self._chunk({}, finish_reason="stop", repertory=_about(done))
        if self._with_usage:
            last += self._event({"choices": [], "usage": _openai_usage(done)})
        return last + b"data: [DONE]\n\n"

    def whole(self, text: str, done: TurnDone) -> dict[str, object]:
        message = {"role": "assistant", "content": text}
        return {
            "id": f"chatcmpl-{done.turn}",
            "object": "chat.completion",
            "created": self._created,
            "model": self._team,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": _openai_usage(done),
            "repertory": _about(done),
        }

    def _chunk(self, delta: object, *, finish_reason: str | None = None, **more: object) -> bytes:
        return self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}], **more})

    def _event(self, fields: dict[str, object]) -> bytes:
        head = {"id": self._id, "object": "chat.completion.chunk", "created": self._created, "model": self._team}
        return b"data: " + json.dumps(head | fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


class _AnthropicTurn:
    quiet = b'event: ping\ndata: {"type": "ping"}\n\n'

    def __init__(self, team: str) -> None:
        self._team = team
        self._events = MessageEvents(team)

    def start(self) -> bytes:
        return self._events.start()

    def text(self, text: str) -> bytes:
        return self._events.text(text)

    def end(self, done: TurnDone) -> bytes:
        return self._events.end("end_turn", None, _anthropic_usage(done))

    def whole(self, text: str, done: TurnDone) -> dict[str, object]:
        return {
            "id": f"msg_{done.turn}",
            "type": "message",
            "role": "assistant",
            "model": self._team,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": _anthropic_usage(done),
            "repertory": _about(done),
        }


def _openai_usage(done: TurnDone) -> dict[str, object]:
    return {
        "prompt_tokens": done.prompt_tokens,
        "completion_tokens": done.output_tokens,
        "total_tokens": done.prompt_tokens + done.output_tokens,
        "prompt_tokens_details": {"cached_tokens": done.cached_tokens},
    }


def _anthropic_usage(done: TurnDone) -> dict[str, object]:
    return {
        "input_tokens": max(done.prompt_tokens - done.cached_tokens, 0),
        "output_tokens": done.output_tokens,
        "cache_read_input_tokens": done.cached_tokens,
        "cache_creation_input_tokens": 0,
    }
