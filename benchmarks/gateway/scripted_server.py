"""The engine that both proxies stand in front of: OpenAI's API, answers from a script, and as little work as possible.

It keeps connections open (the engine of `repertory.testing` closes them, which would measure connecting), answers every
chat with the same words, and writes a stream's events at fixed times.

Run: `python -m benchmarks.gateway.scripted_server --port 9000 --tokens 16 --first-ms 0 --each-ms 0`
"""

import argparse
import asyncio
import json
import re

MODEL = "scripted"
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_STREAM = re.compile(rb'"stream"\s*:\s*true')
_TOKENS = re.compile(rb'"max_(?:completion_)?tokens"\s*:\s*(\d+)')


def whole(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(**fields: object) -> bytes:
    head = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return chunk(b"data: " + json.dumps(head | fields).encode() + b"\n\n")


def word(delta: dict[str, object], reason: str | None = None) -> bytes:
    return event(choices=[{"index": 0, "delta": delta, "finish_reason": reason}])


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
FIRST = word({"role": "assistant", "content": ""})
TOKEN = word({"content": " word"})
STOP = word({}, "stop")
DONE = chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"


def usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}


def answer(tokens: int) -> bytes:
    message = {"role": "assistant", "content": " word" * tokens}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "chatcmpl-scripted", "object": "chat.completion", "created": 1, "model": MODEL}
    return whole(json.dumps(head | {"choices": [choice], "usage": usage(tokens)}).encode())


MODELS = whole(json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "x"}]}).encode())
ABSENT = whole(b'{"error": {"message": "not here"}}', "404 Not Found")


class Connection(asyncio.Protocol):
    """One kept connection."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._data = b""
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop what is being sent."""
        del exc
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Answer when a request is whole; nothing is pipelined here."""
        self._data += data
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._data[:end])
        size = end + 4 + (int(length[1]) if length else 0)
        if len(self._data) >= size:
            head, body, self._data = self._data[:end], self._data[end + 4 : size], self._data[size:]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        assert self._transport is not None
        if head.startswith(b"GET /v1/models"):
            self._transport.write(MODELS)
        elif not head.startswith(b"POST /v1/chat/completions"):
            self._transport.write(ABSENT)
        else:
            asked = _TOKENS.search(body)
            tokens = int(asked[1]) if asked else self._options.tokens
            counts = b"include_usage" in body
            loop, first_s = asyncio.get_running_loop(), self._options.first_ms / 1000
            begin = self._stream if _STREAM.search(body) else self._whole
            if first_s:
                self._timer = loop.call_later(first_s, begin, tokens, counts)
            else:
                begin(tokens, counts)

    def _whole(self, tokens: int, _: bool) -> None:
        assert self._transport is not None
        self._transport.write(answer(tokens))

    def _stream(self, tokens: int, counts: bool) -> None:
        assert self._transport is not None
        self._transport.write(HEAD + FIRST)
        self._next(tokens, counts)

    def _next(self, left: int, counts: bool) -> None:
        assert self._transport is not None
        if left:
            self._transport.write(TOKEN)
            each_s = self._options.each_ms / 1000
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(each_s, self._next, left - 1, counts)
            return
        nothing: list[object] = []
        ending = event(choices=nothing, usage=usage(self._options.tokens)) if counts else b""
        self._transport.write(STOP + ending + DONE)


async def serve(options: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(options), "127.0.0.1", options.port, backlog=2048)
    await server.serve_forever()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--port", type=int, required=True)
    arguments.add_argument("--tokens", type=int, default=16)
    arguments.add_argument("--first-ms", type=float, default=0.0)
    arguments.add_argument("--each-ms", type=float, default=0.0)
    asyncio.run(serve(arguments.parse_args()))


if __name__ == "__main__":
    main()
