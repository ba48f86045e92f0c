"""An engine for tests: a real HTTP server on this machine that answers from a script.

    async with ScriptedEngine(reply=lambda request: "Hello.") as engine:
        connected = await connect(engine.url)

The reply sees the request, so that a test can answer each agent by what stands in its prompt. Text and JSON values are
written in the dialect of the chosen engine; a `Script` is replayed byte for byte.
"""

import asyncio
import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from repertory.engines.profile import EngineKind
from repertory.testing.control_routes import ControlRoutes
from repertory.testing.dialects import Answer, split_tokens, write_answer
from repertory.testing.faults import Broken, failing
from repertory.testing.http_server import Connection, HttpServer
from repertory.testing.script import Script
from repertory.testing.scripted_request import ScriptedRequest
from repertory.testing.slot_memory import SlotMemory

__all__ = ("Reply", "ScriptedEngine", "in_order")

Reply = str | Mapping[str, object] | Sequence[object] | Answer | Script | Broken
"""Text; a JSON value, written as JSON; an `Answer` with thinking or its own end; exact bytes; or a broken answer."""

ReplySource = Reply | Callable[[ScriptedRequest], Reply | Awaitable[Reply]]

_GENERATION_PATHS = ("/v1/chat/completions", "/chat/completions", "/api/chat", "/completion")


class ScriptedEngine:
    """A scripted engine server; an async context manager.

    Args:
        reply: The answer to every generation, or a function that gives it.
        kind: Whose endpoints and dialect it has.
        model: The model's name.
        context_tokens: The context it reports (per slot); longer prompts are refused as the real engine does.
        slots: How many generations run at once; more wait.
        token_delay_s: Pause before each token.
        prefill_s_per_token: Pause before the first token, per prompt token that is not cached.
        routes: Answers for single paths, before any other; a `Script`, or a function that gives one.
        api_key: Refuse requests without this bearer token.
        port: The port to listen on; 0 takes a free one.
        slot_folder: Where llama.cpp's slot states are written as files.

    Attributes:
        requests: The generations received, in order.
        other_requests: All other requests.
        open_streams: Generations being sent now.
        peak_streams: The most at once so far.
        disconnects: Generations whose client left before the end.
        memory: What the slots hold.
    """

    def __init__(
        self,
        reply: ReplySource = "ok",
        *,
        kind: EngineKind = EngineKind.OPENAI,
        model: str = "scripted",
        context_tokens: int = 8192,
        slots: int = 8,
        token_delay_s: float = 0.0,
        prefill_s_per_token: float = 0.0,
        routes: Mapping[str, Script | Callable[[ScriptedRequest], Script]] | None = None,
        api_key: str | None = None,
        port: int = 0,
        slot_folder: Path | None = None,
    ) -> None:
        self.kind = kind
        self.model = model
        self.context_tokens = context_tokens
        self.slots = slots
        self.requests: list[ScriptedRequest] = []
        self.other_requests: list[ScriptedRequest] = []
        self.open_streams = 0
        self.peak_streams = 0
        self.disconnects = 0
        self.memory = SlotMemory(slots, shared=kind is not EngineKind.LLAMACPP, folder=slot_folder)
        self.busy_slots: set[int] = set()
        self._reply = reply
        self._token_delay_s = token_delay_s
        self._prefill_s_per_token = prefill_s_per_token
        self._routes = dict(routes or {})
        self._api_key = api_key
        self._control = ControlRoutes(self)
        self._slot_free = asyncio.Condition()
        self._server = HttpServer(self._serve, port)

    @property
    def url(self) -> str:
        """The address to connect to; it stays the same over `stop` and `start`."""
        return f"http://127.0.0.1:{self._server.port}/v1"

    async def start(self) -> None:
        """Listen."""
        await self._server.start()

    async def stop(self) -> None:
        """Stop listening and break all connections, as a crash does."""
        await self._server.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @contextmanager
    def in_thread(self) -> Generator[Self]:
        """Serve from a thread of its own, for tests that are not async (the command line)."""
        ready, loop = threading.Event(), asyncio.new_event_loop()
        finish = asyncio.Event()

        async def serve() -> None:
            async with self:
                ready.set()
                await finish.wait()

        thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
        thread.start()
        try:
            if not ready.wait(10):
                message = "the scripted engine did not start"
                raise RuntimeError(message)
            yield self
        finally:
            loop.call_soon_threadsafe(finish.set)
            thread.join(10)
            loop.close()

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The chat template of the scripted model."""
        turns = "".join(f"<|{item.get('role')}|>\n{item.get('content')}<|end|>\n" for item in messages)
        return f"{turns}<|assistant|>\n"

    def prompt_tokens(self, request: ScriptedRequest) -> list[str]:
        """The tokens of a request's rendered prompt."""
        raw = request.fields.get("prompt")
        return split_tokens(raw if isinstance(raw, str) else self.render(request.messages))

    async def _serve(self, connection: Connection, request: ScriptedRequest) -> None:
        path = request.path.partition("?")[0]
        if self._api_key is not None and request.headers.get("authorization") != f"Bearer {self._api_key}":
            self.other_requests.append(request)
            await connection.play(failing(401, "Unauthorized"))
        elif path in self._routes:
            self.other_requests.append(request)
            route = self._routes[path]
            await connection.play(route if isinstance(route, Script) else route(request))
        elif request.method == "POST" and path in _GENERATION_PATHS:
            await self._generate(connection, request)
        else:
            self.other_requests.append(request)
            await connection.play(self._control.answer(request))

    async def _generate(self, connection: Connection, request: ScriptedRequest) -> None:
        numbered = ScriptedRequest(len(self.requests), request.method, request.path, request.headers, request.body)
        self.requests.append(numbered)
        tokens = self.prompt_tokens(numbered)
        if len(tokens) >= self.context_tokens:
            await connection.play(self._control.overflow(len(tokens)))
            return
        slot = await self._take_slot(numbered.slot, tokens)
        self.open_streams += 1
        self.peak_streams = max(self.peak_streams, self.open_streams)
        try:
            script = await self._script(numbered, tokens, slot)
            if not await connection.play(script):
                self.disconnects += 1
        finally:
            self.open_streams -= 1
            async with self._slot_free:
                self.busy_slots.discard(slot)
                self._slot_free.notify_all()

    async def _take_slot(self, wanted: int | None, tokens: Sequence[str]) -> int:
        async with self._slot_free:
            while True:
                free = [slot for slot in range(self.slots) if slot not in self.busy_slots]
                if wanted is not None:
                    free = [slot for slot in free if slot == wanted]
                if free:
                    slot = self.memory.best_slot(tokens, free)
                    self.busy_slots.add(slot)
                    return slot
                await self._slot_free.wait()

    async def _script(self, request: ScriptedRequest, tokens: Sequence[str], slot: int) -> Script:
        cached = self.memory.take(tokens, slot)
        if request.path.startswith("/completion"):
            return self._control.completion(len(tokens), cached, slot)
        reply = self._reply(request) if callable(self._reply) else self._reply
        if inspect.isawaitable(reply):
            reply = await reply
        if isinstance(reply, Script):
            return reply
        answer = self._complete(_as_answer(reply), request, len(tokens), cached)
        script = write_answer(answer, self.kind, model=self.model, stream=request.streams)
        return reply.fault(script) if isinstance(reply, Broken) else script

    def _complete(self, answer: Answer, request: ScriptedRequest, prompt: int, cached: int) -> Answer:
        """Fill in the counts, and cut the answer at the request's cap as an engine does."""
        text, finish = answer.text, answer.finish_reason
        cap = request.max_tokens
        pieces = split_tokens(text)
        room = None if cap is None else max(0, cap - len(split_tokens(answer.reasoning)))
        if room is not None and len(pieces) > room:
            text, finish = "".join(pieces[:room]), "length"
        return Answer(
            text=text,
            reasoning=answer.reasoning,
            finish_reason=finish,
            prompt_tokens=answer.prompt_tokens or prompt,
            cached_tokens=answer.cached_tokens or cached,
            token_delay_s=answer.token_delay_s or self._token_delay_s,
            prefill_s=answer.prefill_s or self._prefill_s_per_token * (prompt - cached),
        )


def _as_answer(reply: object) -> Answer:
    if isinstance(reply, Broken):
        return _as_answer(reply.answer)
    if isinstance(reply, Answer):
        return reply
    return Answer(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False))


def in_order(*replies: Reply) -> Callable[[ScriptedRequest], Reply]:
    """Replies for the first, second, ... generation; the last one for all that follow."""
    return lambda request: replies[min(request.number, len(replies) - 1)]
