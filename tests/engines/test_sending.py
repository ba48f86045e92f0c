"""How requests are sent: once, never after a cancel, never through a proxy (field reports G11 to G17, H9, H10)."""

import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

import anyio
import pytest

from repertory.engines.connect import connect
from repertory.engines.failures import (
    EngineBusyError,
    EngineFaultError,
    SchemaRejectedError,
    TemplateRejectedError,
)
from repertory.engines.http import EngineClient, EngineTimeouts, is_loopback
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest, TextDelta
from repertory.errors import (
    ContextBudgetError,
    EngineError,
    EngineTimeoutError,
    EngineUnavailableError,
    RepertoryError,
    UsageError,
)
from repertory.testing import Script, ScriptedEngine, Send, ask, failing, in_order, silent

pytestmark = pytest.mark.virtual_time

Start = Callable[[ScriptedEngine], Awaitable[OpenAIEngine]]

KINDS = list(EngineKind)
STREAMING_KINDS = [EngineKind.LLAMACPP, EngineKind.VLLM, EngineKind.OLLAMA]


def request(text: str = "Hello.", **more: object) -> GenerateRequest:
    base = {"messages": [ChatMessage("user", text)], "max_output_tokens": 4000, "deadline_s": 10.0}
    return GenerateRequest(**(base | more))  # pyright: ignore[reportArgumentType] - short names


async def first_text(engine: Engine, asked: GenerateRequest) -> None:
    async with aclosing(engine.generate(asked)) as parts:
        async for part in parts:
            if isinstance(part, TextDelta):
                return


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(5):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in another program's state
            await anyio.sleep(0.005)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (failing(500), EngineFaultError),
        (failing(502), EngineFaultError),
        (failing(503), EngineBusyError),
        (failing(429), EngineBusyError),
        (failing(400, "Conversation roles must alternate"), TemplateRejectedError),
        (failing(500, "jinja2 template error"), TemplateRejectedError),
    ],
)
async def test_g15_every_request_is_sent_once(start: Start, fault: Script, kind: type[EngineError]) -> None:
    scripted = ScriptedEngine(fault)
    with pytest.raises(kind):
        await ask(await start(scripted))
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_b1_a_refused_schema_is_told_apart(start: Start, kind: EngineKind) -> None:
    scripted = ScriptedEngine(failing(400, "json schema: minItems is not supported"), kind=kind)
    with pytest.raises(SchemaRejectedError) as caught:
        await ask(await start(scripted), json_schema={"type": "object"})
    assert caught.value.keywords == ("minItems",)


@pytest.mark.parametrize("kind", KINDS)
async def test_e1_the_servers_own_refusal_of_a_long_prompt(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine("hi", kind=kind, context_tokens=50))
    with pytest.raises(ContextBudgetError):
        await ask(engine, "word " * 100)


async def test_g16_nothing_listens_is_known_at_once(start: Start) -> None:
    scripted = ScriptedEngine("hi")
    engine = await start(scripted)
    await scripted.stop()
    before = anyio.current_time()
    with pytest.raises(EngineUnavailableError, match="nothing answers"):
        await ask(engine, deadline_s=60)
    assert anyio.current_time() - before < 30


async def test_b15_all_fail_when_the_engine_is_gone_and_work_when_it_is_back(start: Start) -> None:
    scripted = ScriptedEngine("hi", slots=2)
    engine = await start(scripted)
    await scripted.stop()
    failed = 0

    async def one() -> None:
        nonlocal failed
        try:
            await ask(engine)
        except EngineUnavailableError:
            failed += 1

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(one)
    assert failed == 20
    await scripted.start()
    assert (await ask(engine)).text == "hi"


async def test_a_crash_in_the_middle_of_an_answer(start: Start) -> None:
    scripted = ScriptedEngine("one two three four five six seven", token_delay_s=0.05)
    engine = await start(scripted)
    caught: list[RepertoryError] = []

    async def one() -> None:
        try:
            await ask(engine)
        except RepertoryError as error:
            caught.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(one)
        await until(lambda: scripted.open_streams == 1)
        await anyio.sleep(0.1)
        await scripted.stop()
    assert [type(error).__name__ for error in caught] == ["StreamIncompleteError"]


@pytest.mark.parametrize("kind", KINDS)
async def test_g11_a_request_cancelled_in_the_queue_is_never_sent(start: Start, kind: EngineKind) -> None:
    scripted = ScriptedEngine("one two three", kind=kind, slots=1, token_delay_s=0.05)
    engine = await start(scripted)
    engine.admission.limit = 1
    async with anyio.create_task_group() as group:
        group.start_soon(ask, engine)
        await until(lambda: scripted.open_streams == 1)
        with anyio.move_on_after(0.05):
            await ask(engine, "never sent")
    assert [asked.text for asked in scripted.requests] == ["Hello."]


async def test_g17_our_queue_holds_back_what_the_engine_can_not_run(start: Start) -> None:
    scripted = ScriptedEngine("one two three", slots=100, token_delay_s=0.002)
    engine = await start(scripted)
    engine.admission.limit = 3
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(ask, engine)
    assert scripted.peak_streams == 3
    assert len(scripted.requests) == 20


@pytest.mark.parametrize("kind", KINDS)
async def test_g9_leaving_the_stream_closes_the_connection(start: Start, kind: EngineKind) -> None:
    scripted = ScriptedEngine("word " * 500, kind=kind, token_delay_s=0.01)
    engine = await start(scripted)
    await first_text(engine, request())
    await until(lambda: scripted.open_streams == 0)
    assert scripted.disconnects == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_g9_cancelling_the_task_closes_the_connection(start: Start, kind: EngineKind) -> None:
    scripted = ScriptedEngine(silent(), kind=kind)
    engine = await start(scripted)
    with anyio.move_on_after(0.1):
        await ask(engine)
    await until(lambda: scripted.open_streams == 0)
    assert scripted.disconnects == 1
    assert engine.admission.inside == 0


@pytest.mark.parametrize("kind", STREAMING_KINDS)
async def test_g12_a_storm_of_cancels_leaves_the_others_unharmed(start: Start, kind: EngineKind) -> None:
    scripted = ScriptedEngine("one two three four five six", kind=kind, slots=4, token_delay_s=0.004)
    engine = await start(scripted)
    answers: list[str] = []

    async def survivor() -> None:
        answers.append((await ask(engine, deadline_s=20)).text)

    async def victim(number: int) -> None:
        with anyio.move_on_after(0.002 * (number % 10)):
            await ask(engine, deadline_s=20)

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(survivor)
            group.start_soon(victim, number)
    assert answers == ["one two three four five six"] * 20
    assert (engine.admission.inside, engine.admission.waiting) == (0, 0)
    await until(lambda: scripted.open_streams == 0)


async def test_priority_decides_who_is_sent_next(start: Start) -> None:
    scripted = ScriptedEngine("one two", slots=1, token_delay_s=0.02)
    engine = await start(scripted)
    engine.admission.limit = 1
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: ask(engine, "running"))
        await until(lambda: scripted.open_streams == 1)
        group.start_soon(lambda: ask(engine, "specialist", priority=2))
        group.start_soon(lambda: ask(engine, "coach", priority=0))
    assert [asked.text for asked in scripted.requests] == ["running", "coach", "specialist"]


async def test_the_deadline_counts_the_queue_too(start: Start) -> None:
    scripted = ScriptedEngine("one two three four", token_delay_s=0.1)
    engine = await start(scripted)
    engine.admission.limit = 1
    async with anyio.create_task_group() as group:
        group.start_soon(ask, engine)
        await until(lambda: scripted.open_streams == 1)
        with pytest.raises(EngineTimeoutError, match="waiting for a free place"):
            await ask(engine, deadline_s=0.1)


@pytest.mark.parametrize("kind", KINDS)
async def test_h10_unicode_is_sent_as_it_is(start: Start, kind: EngineKind) -> None:
    scripted = ScriptedEngine(lambda asked: asked.text, kind=kind)
    text = "汉字 🙂👩‍👩‍👧 e\u0301 עברית"
    assert (await ask(await start(scripted), text)).text == text
    assert text.encode() in scripted.requests[0].body
    assert b"\\u" not in scripted.requests[0].body


@pytest.mark.parametrize("kind", KINDS)
async def test_h10_a_schema_keeps_unicode_too(start: Start, kind: EngineKind) -> None:
    scripted = ScriptedEngine({"ziel": "größer"}, kind=kind)
    schema: dict[str, object] = {"type": "object", "properties": {"ziel": {"enum": ["größer", "小"]}}}
    await ask(await start(scripted), json_schema=schema)
    assert scripted.requests[0].json_schema == schema
    assert "größer".encode() in scripted.requests[0].body


async def test_no_proxy_for_engines_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with ScriptedEngine("hi") as scripted:
        engine = await connect(scripted.url)
        assert (await ask(engine)).text == "hi"
        await engine.aclose()


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("10.0.0.1", False),
        ("example.org", False),
        ("localhost.example.org", False),
        ("", False),
    ],
)
def test_what_is_this_machine(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://x/", "http://", "http://a b/", "file:///etc/passwd", "http://a:70000"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(UsageError, match="not an address"):
        EngineClient(url)


async def test_the_key_is_sent_and_never_shown(start: Start) -> None:
    async with ScriptedEngine("hi", api_key="s3cret") as scripted:
        engine = await connect(scripted.url, api_key="s3cret")
        assert (await ask(engine)).text == "hi"
        await scripted.stop()
        with pytest.raises(EngineUnavailableError) as caught:
            await ask(engine)
        assert "s3cret" not in str(caught.value)
        await engine.aclose()


@asynccontextmanager
async def black_hole() -> AsyncGenerator[str]:
    """A port that takes connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(8)
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


async def test_a_server_that_takes_connections_and_never_answers() -> None:
    async with black_hole() as url:
        client = EngineClient(url, timeouts=EngineTimeouts(control_s=0.1))
        with pytest.raises(EngineTimeoutError, match="no answer to GET /v1/models"):
            await client.get("/v1/models")
        await client.aclose()


async def test_a_huge_error_page_is_cut(start: Start) -> None:
    page = Script([Send(b"<p>" + b"x" * 1_000_000)], status=500, content_type="text/html")
    with pytest.raises(EngineFaultError) as caught:
        await ask(await start(ScriptedEngine(page)))
    assert len(str(caught.value)) < 600


async def test_the_answer_is_taken_before_a_slow_reader_is_done(start: Start) -> None:
    scripted = ScriptedEngine("Hi there, you.")
    engine = await start(scripted)
    engine.admission.limit = 1
    parts = engine.generate(request())
    async for part in parts:
        if not isinstance(part, TextDelta):
            break
    assert engine.admission.inside == 0
    await parts.aclose()


async def test_replies_in_order(start: Start) -> None:
    engine = await start(ScriptedEngine(in_order("one", "two")))
    assert [(await ask(engine)).text for _ in range(3)] == ["one", "two", "two"]


async def test_tools_are_sent_in_the_dialect(start: Start) -> None:
    scripted = ScriptedEngine("no")
    await ask(await start(scripted), tools=[{"name": "look", "parameters": {"type": "object"}}])
    sent = json.loads(scripted.requests[0].body)["tools"]
    assert sent == [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
