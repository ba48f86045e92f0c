"""A proxy before the engine that notes what everybody sends, and gives everybody the same sampling and text lengths.

It is the same few milliseconds for all. What it changes in a generation, for all alike: free text has exactly
`REPLY_TOKENS` tokens, and JSON has no white space and the first value of each enumeration, so that nobody is quicker by
saying less, and the last agent reads the same notes whoever asks.
"""

import asyncio
import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.turn.work import REPLY_TOKENS
from repertory.engines.profile import EngineKind

__all__ = ("RecordedTurn", "RecordingProxy", "Sent", "compact_json", "with_first_values")

_GENERATIONS = {"/v1/chat/completions", "/completion"}
_HOP = {"connection", "keep-alive", "transfer-encoding", "host", "content-length", "accept-encoding"}
_SEED = {"seed": 7}
_CUT = re.compile(rb'("finish_reason": ?)"length"')


@dataclass
class Sent:
    """One generation: its body, and when it was at the engine, in seconds of the monotonic clock."""

    path: str
    body: dict[str, Any]
    began: float
    ended: float = 0.0
    status: int = 0


@dataclass
class RecordedTurn:
    """All that one turn sent.

    Attributes:
        number: Which turn.
        generations: The generations, in the order they came.
        control: How many other requests there were.
        prefilled: Prompt tokens that the engine computed, by its own count.
        generated: Tokens that the engine wrote, by its own count.
    """

    number: int
    generations: list[Sent] = field(default_factory=list[Sent])
    control: int = 0
    prefilled: int = 0
    generated: int = 0

    @property
    def busy_s(self) -> float:
        """How long at least one generation was at the engine: the engine's part of the turn."""
        total, until = 0.0, 0.0
        for sent in sorted(self.generations, key=lambda sent: sent.began):
            start = max(sent.began, until)
            total += max(0.0, sent.ended - start)
            until = max(until, sent.ended)
        return total

    @property
    def with_schema(self) -> int:
        """How many generations asked for a JSON Schema."""
        return sum(_schema_of(sent.body) is not None for sent in self.generations)


class RecordingProxy:
    """Forwards everything to one engine.

    Args:
        engine_url: Root of the engine's interface.
        api_key: Its key, for the counts that the proxy itself reads.
        kind: Which engine it is.
    """

    def __init__(self, engine_url: str, api_key: str, kind: EngineKind) -> None:
        self.turns: list[RecordedTurn] = []
        self.url = ""
        self._engine_url = engine_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._kind = kind
        self._turn: RecordedTurn | None = None
        self._counts = (0, 0)
        self._client: httpx2.AsyncClient | None = None

    @contextlib.contextmanager
    def running(self) -> Generator["RecordingProxy"]:
        """Serve from a thread of its own inside the block."""
        app = Starlette(
            routes=[
                Route("/recorded/{what}/{number:int}", self._mark, methods=["POST"]),
                Route("/{path:path}", self._forward, methods=["GET", "POST"]),
            ]
        )
        # Named as TCP: asyncio turns off the delay of small packets only for sockets that say so, 40 ms an answer.
        with socket.socket(proto=socket.IPPROTO_TCP) as listening:
            listening.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_keep_alive=600))
            thread = threading.Thread(target=lambda: server.run([listening]), daemon=True)
            thread.start()
            try:
                while not server.started and thread.is_alive():
                    time.sleep(0.01)
                yield self
            finally:
                server.should_exit = True
                thread.join(10)

    def take_turns(self) -> list[RecordedTurn]:
        """What was recorded since the last call."""
        taken, self.turns = self.turns, []
        return taken

    def _engine(self) -> httpx2.AsyncClient:
        if self._client is None:
            # No idle connections: llama.cpp closes one after a stream, and a request could meet the closing one.
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
            self._client = httpx2.AsyncClient(timeout=None, trust_env=False, limits=limits)
        return self._client

    async def _mark(self, request: Request) -> Response:
        number = int(request.path_params["number"])
        if request.path_params["what"] == "begin":
            self._counts = await self._read_counts()
            self._turn = RecordedTurn(number)
        elif self._turn is not None:
            await asyncio.sleep(0.05)  # the engine counts a generation when it has ended
            prefilled, generated = await self._read_counts()
            self._turn.prefilled = prefilled - self._counts[0]
            self._turn.generated = generated - self._counts[1]
            self.turns.append(self._turn)
            self._turn = None
        return JSONResponse({})

    async def _read_counts(self) -> tuple[int, int]:
        text = (await self._engine().get(f"{self._engine_url}/metrics", headers=self._headers)).text
        if self._kind is EngineKind.VLLM:
            computed = _metric(text, "vllm:prompt_tokens_total") - _metric(text, "vllm:prefix_cache_hits_total")
            return computed, _metric(text, "vllm:generation_tokens_total")
        return _metric(text, "llamacpp:prompt_tokens_total"), _metric(text, "llamacpp:tokens_predicted_total")

    async def _forward(self, request: Request) -> Response:
        path = request.url.path
        body = await request.body()
        sent: Sent | None = None
        if self._turn is not None and path in _GENERATIONS:
            fields = json.loads(body)
            sent = Sent(path, fields, time.monotonic())
            self._turn.generations.append(sent)
            body = json.dumps(self._made_equal(path, fields), ensure_ascii=False).encode()
        elif self._turn is not None:
            self._turn.control += 1
        url = f"{self._engine_url}{path}" + (f"?{request.url.query}" if request.url.query else "")
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        onward = self._engine().build_request(request.method, url, content=body, headers=headers)
        answer = await self._engine().send(onward, stream=True)
        if sent is not None:
            sent.status = answer.status_code
        kept = {
            name: value for name, value in answer.headers.items() if name.lower() not in {*_HOP, "content-encoding"}
        }
        return StreamingResponse(_pass_on(answer, sent), answer.status_code, kept)

    def _made_equal(self, path: str, fields: dict[str, Any]) -> dict[str, Any]:
        if path == "/completion":
            return fields  # nothing is generated there: it computes a prompt
        schema = _schema_of(fields)
        if schema is None:
            caps = dict.fromkeys(("max_tokens", "max_completion_tokens") & fields.keys(), REPLY_TOKENS)
            return fields | _SEED | caps | {"ignore_eos": True, "temperature": 0.8, "top_p": 0.95}
        equal = fields | _SEED | {"temperature": 0}
        if self._kind is EngineKind.VLLM:
            # Its JSON has no white space already (`disable_any_whitespace`).
            wanted = {"name": "answer", "schema": with_first_values(schema), "strict": True}
            return equal | {"response_format": {"type": "json_schema", "json_schema": wanted}}
        # The engine's own grammar for a schema allows white space, as much as the model likes.
        equal = {name: value for name, value in equal.items() if name not in {"response_format", "json_schema"}}
        return equal | {"grammar": f"root ::= {compact_json(with_first_values(schema))}"}


def with_first_values(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of `work` that leaves one value for each enumeration."""
    if "enum" in schema:
        return schema | {"enum": schema["enum"][:1]}
    if schema.get("type") == "object":
        return schema | {"properties": {name: with_first_values(part) for name, part in schema["properties"].items()}}
    return schema | {"items": with_first_values(schema["items"])} if "items" in schema else schema


def compact_json(schema: dict[str, Any]) -> str:
    """A grammar for the JSON of a schema of `work`, without white space.

    Raises:
        ValueError: The schema has more than enumerations, objects and lists of a fixed length.
    """
    if "enum" in schema:
        return "(" + " | ".join(_literal(json.dumps(value)) for value in schema["enum"]) + ")"
    if schema.get("type") == "object":
        fields = [
            f"{_literal(json.dumps(name) + ':')} {compact_json(part)}" for name, part in schema["properties"].items()
        ]
        return '"{" ' + ' "," '.join(fields) + ' "}"'
    if schema.get("type") == "array" and schema["minItems"] == schema["maxItems"]:
        return '"[" ' + ' "," '.join([compact_json(schema["items"])] * schema["minItems"]) + ' "]"'
    message = f"no grammar for {schema}"
    raise ValueError(message)


def _literal(text: str) -> str:
    return json.dumps(text)


async def _pass_on(answer: httpx2.Response, sent: Sent | None) -> AsyncGenerator[bytes]:
    """Hand on what comes, line by line; that an answer ended at the length it was given is its proper end."""
    waiting = b""
    try:
        async for chunk in answer.aiter_bytes():
            lines, newline, waiting = (waiting + chunk).rpartition(b"\n")
            if newline:
                yield _CUT.sub(rb'\1"stop"', lines + newline) if sent is not None else lines + newline
        if waiting:
            yield _CUT.sub(rb'\1"stop"', waiting) if sent is not None else waiting
    finally:
        await answer.aclose()
        if sent is not None:
            sent.ended = time.monotonic()


def _schema_of(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema that a request asks for, in the ways that clients write it."""
    wanted: dict[str, Any] = body.get("response_format") or {}
    named: dict[str, Any] = wanted.get("json_schema") or {}
    return named.get("schema") or wanted.get("schema") or body.get("json_schema")


def _metric(text: str, name: str) -> int:
    """The sum of a counter over its labels."""
    found = re.findall(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? ([0-9.e+]+)$", text, re.MULTILINE)
    return round(sum(float(value) for value in found))
