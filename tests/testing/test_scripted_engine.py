"""The scripted engine itself: it sends exactly what it is told, and remembers what it was asked."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import httpx2
import pytest

from repertory.engines.connect import connect
from repertory.engines.profile import EngineKind
from repertory.testing import (
    Answer,
    Broken,
    Cut,
    Hang,
    Pause,
    Reply,
    Script,
    ScriptedEngine,
    ScriptedRequest,
    Send,
    ask,
    chaotic,
    cut,
    in_band_error,
    looping,
    sse,
    without_end,
)

pytestmark = pytest.mark.virtual_time


async def post(engine: ScriptedEngine, body: dict[str, object], path: str = "/chat/completions") -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.post(engine.url + path, json=body)


CHAT: dict[str, object] = {"model": "scripted", "messages": [{"role": "user", "content": "Hello."}]}


@pytest.mark.parametrize("body", [b"", b"data: x\n\n", bytes(range(256)), "é漢🙂\u2028".encode(), b"\r\n" * 100])
async def test_bytes_are_replayed_exactly(body: bytes) -> None:
    pieces = [Send(body[start : start + 3]) for start in range(0, len(body), 3)]
    async with ScriptedEngine(Script(pieces, status=207, headers={"X-Odd": "1"})) as engine:
        reply = await post(engine, CHAT)
    assert reply.content == body
    assert (reply.status_code, reply.headers["x-odd"]) == (207, "1")


async def test_each_send_is_one_write() -> None:
    async with (
        ScriptedEngine(Script([Send(b"one"), Pause(0.05), Send(b"two")])) as engine,
        httpx2.AsyncClient(trust_env=False) as client,
        client.stream("POST", engine.url + "/chat/completions", json=CHAT) as reply,
    ):
        assert [chunk async for chunk in reply.aiter_raw()] == [b"one", b"two"]


async def test_a_cut_is_seen_as_a_broken_connection() -> None:
    async with ScriptedEngine(Script([Send(b"half"), Cut()])) as engine:
        with pytest.raises(httpx2.TransportError):
            await post(engine, CHAT)


async def test_hanging_ends_with_the_client() -> None:
    async with ScriptedEngine(Script([Hang()])) as engine:
        async with anyio.create_task_group() as group:
            group.start_soon(post, engine, CHAT)
            with anyio.fail_after(30):
                while not engine.open_streams:  # noqa: ASYNC110 - the server has no event for it
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        with anyio.fail_after(30):
            while engine.open_streams:  # noqa: ASYNC110 - the server has no event for it
                await anyio.sleep(0.01)
        assert engine.disconnects == 1


async def test_the_reply_sees_the_request() -> None:
    def reply(request: ScriptedRequest) -> Reply:
        return {"n": request.number, "words": len(request.text.split()), "schema": request.json_schema is not None}

    async with ScriptedEngine(reply) as engine:
        connected = await connect(engine.url)
        assert (await ask(connected, "one two")).text == '{"n": 0, "words": 2, "schema": false}'
        assert (await ask(connected, json_schema={"type": "object"})).text == '{"n": 1, "words": 1, "schema": true}'
        await connected.aclose()


async def test_the_reply_may_be_a_coroutine() -> None:
    async def reply(_: ScriptedRequest) -> Reply:
        await anyio.lowlevel.checkpoint()
        return "later"

    async with ScriptedEngine(reply) as engine:
        assert (await post(engine, CHAT)).json()["choices"][0]["message"]["content"] == "later"


@pytest.mark.parametrize("kind", list(EngineKind))
async def test_answers_without_a_stream(kind: EngineKind) -> None:
    async with ScriptedEngine(Answer("hi", reasoning="hm"), kind=kind) as engine:
        path = "/api/chat" if kind is EngineKind.OLLAMA else "/v1/chat/completions"
        async with httpx2.AsyncClient(trust_env=False) as client:
            base = engine.url.removesuffix("/v1")
            body = (await client.post(base + path, json=CHAT | {"stream": False})).json()
    message = body["message"] if kind is EngineKind.OLLAMA else body["choices"][0]["message"]
    assert message["content"] == "hi"
    assert "hm" in message.values()


async def test_slots_limit_what_runs_at_once() -> None:
    async with ScriptedEngine("one two three", slots=2, token_delay_s=0.005) as engine:
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(post, engine, CHAT | {"stream": True})
        assert engine.peak_streams == 2


@pytest.mark.parametrize(("kind", "shared"), [(EngineKind.VLLM, True), (EngineKind.LLAMACPP, False)])
async def test_the_cache_is_that_of_the_engine(kind: EngineKind, shared: bool) -> None:
    async with ScriptedEngine("hi", kind=kind, slots=2) as engine:
        await post(engine, CHAT | {"id_slot": 0})
        usage = (await post(engine, CHAT | {"id_slot": 1})).json()["usage"]
        assert (usage["prompt_tokens_details"]["cached_tokens"] > 0) is shared


async def test_the_cap_is_kept() -> None:
    async with ScriptedEngine("one two three") as engine:
        choice = (await post(engine, CHAT | {"max_tokens": 2})).json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("one two", "length")


async def test_a_stopped_engine_comes_back_at_the_same_address() -> None:
    engine = ScriptedEngine("hi")
    async with engine:
        url = engine.url
        await engine.stop()
        with pytest.raises(httpx2.ConnectError):
            await post(engine, CHAT)
        await engine.start()
        assert engine.url == url
        assert (await post(engine, CHAT)).status_code == 200


def test_serving_from_a_thread() -> None:
    with ScriptedEngine("hi").in_thread() as engine:
        reply = httpx2.post(engine.url + "/chat/completions", json=CHAT, trust_env=False)
        assert reply.json()["choices"][0]["message"]["content"] == "hi"
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", urlsplit(engine.url).port or 0)) != 0


@pytest.mark.parametrize(
    "raw",
    [b"", b"GET", b"\r\n\r\n", b"A\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"POST /v1 HTTP/1.1\r\n"],
)
async def test_a_broken_request_does_not_stop_it(raw: bytes) -> None:
    async with ScriptedEngine("hi") as engine:
        _, writer = await asyncio.open_connection("127.0.0.1", urlsplit(engine.url).port)
        writer.write(raw)
        writer.close()
        await writer.wait_closed()
        assert (await post(engine, CHAT)).status_code == 200


async def test_faults_keep_whole_events() -> None:
    whole = Script([Send(sse({"n": number}, done=False)) for number in range(4)] + [Send(b"data: [DONE]\n\n")])
    assert in_band_error(whole, "x", after_bytes=20).body.startswith(b'data: {"n": 0}\n\ndata: {"error"')
    assert cut(whole, 5).body == b"data:"
    assert isinstance(cut(whole, 5).steps[-1], Cut)
    assert b"[DONE]" not in without_end(whole).body
    assert looping("  ", times=3, opening="{").body.count(b"choices") == 5
    assert whole.cut_into(1).body == whole.body


def test_chaos_is_reproducible_and_has_its_share() -> None:
    one, other = ([chaotic("fine", random) for _ in range(400)] for random in (Random(7), Random(7)))
    assert [reply == "fine" for reply in one] == [reply == "fine" for reply in other]
    assert 80 < sum(isinstance(reply, Broken) for reply in one) < 160


Fault = Callable[[Script], Script]


async def test_a_broken_answer_is_written_in_the_dialect_first() -> None:
    faults: list[Fault] = [without_end, partial(cut, after_bytes=10)]
    for fault in faults:
        async with ScriptedEngine(Broken({"a": 1}, fault)) as engine:
            assert isinstance(engine.url, str)
            body = CHAT | {"stream": True}
            send: Callable[[], Awaitable[httpx2.Response]] = partial(post, engine, body)
            if fault is without_end:
                assert b"[DONE]" not in (await send()).content
            else:
                with pytest.raises(httpx2.TransportError):
                    await send()
