"""The gateway over real HTTP, in front of scripted engines."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx2
import pytest
from tests.serving.gateway.running import gateway_for, serving, upstream

from repertory.engines.profile import EngineKind
from repertory.serving.gateway.call import CallTimeouts
from repertory.serving.gateway.gateway import GatewayLimits
from repertory.serving.gateway.upstream import Address
from repertory.testing import (
    Broken,
    Hang,
    Pause,
    Script,
    ScriptedEngine,
    ScriptedRequest,
    Send,
    cut,
    failing,
    in_band_error,
    sse,
    stalled,
    without_end,
)

pytestmark = pytest.mark.virtual_time

CHAT = "/v1/chat/completions"
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello."}], "model": "scripted"}


def events(text: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def words(text: str) -> str:
    choices = [event["choices"] for event in events(text) if event != "[DONE]" and event.get("choices")]
    return "".join(choice[0]["delta"].get("content") or "" for choice in choices)


def error_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is waited for is in another process's hands
            await asyncio.sleep(0.01)


async def test_a_body_reaches_the_engine_byte_for_byte(engine: ScriptedEngine) -> None:
    body = b'{ "model":"scripted",\n "odd" : 1.50, "messages":[{"role":"user","content":"h\\u00e9 \xc3\xa9"}] }'
    async with serving(gateway_for(upstream(engine))) as client:
        answer = await client.post(CHAT, content=body, headers={"authorization": "Bearer of-the-client"})
    assert answer.json()["choices"][0]["message"]["content"] == "one two three"
    assert engine.requests[0].body == body
    assert "authorization" not in engine.requests[0].headers
    assert answer.headers["x-repertory-instance"] == "one"


async def test_an_agents_name_becomes_the_instances_own(engine: ScriptedEngine) -> None:
    async with serving(gateway_for(upstream(engine))) as client:
        answer = await client.post(CHAT, json=ASK | {"model": "coaching/shadow"})
        assert answer.status_code == 200
        metrics = (await client.get("/metrics")).text
    assert engine.requests[0].fields == ASK
    assert 'repertory_output_tokens_total{instance="one",name="coaching/shadow"} 4.0' in metrics


async def test_a_stream_comes_as_it_is_made_and_without_counts_nobody_asked_for(engine: ScriptedEngine) -> None:
    engine._token_delay_s = 0.02
    async with serving(gateway_for(upstream(engine))) as client:
        parts: list[str] = []
        async with client.stream("POST", CHAT, json=ASK | {"stream": True}) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            parts = [part async for part in answer.aiter_text()]
        asked = await client.post(CHAT, json=ASK | {"stream": True, "stream_options": {"include_usage": True}})
        metrics = (await client.get("/metrics")).text
    assert len(parts) > 2
    assert words("".join(parts)) == "one two three"
    assert all("usage" not in event for event in events("".join(parts))[:-1])
    assert events("".join(parts))[-1] == "[DONE]"
    assert [event["usage"]["completion_tokens"] for event in events(asked.text)[:-1] if event.get("usage")] == [4]
    assert engine.requests[0].fields["stream_options"] == {"include_usage": True}
    assert 'repertory_output_tokens_total{instance="one",name="scripted"} 8.0' in metrics
    assert 'repertory_time_to_first_token_seconds_count{instance="one",name="scripted"} 2.0' in metrics


async def test_a_client_that_leaves_a_stream_frees_the_engine(engine: ScriptedEngine) -> None:
    engine._reply = Script([Send(sse({"choices": [{"index": 0, "delta": {"content": "a"}}]}, done=False)), Hang()])
    gateway = gateway_for(upstream(engine), limits=GatewayLimits(call=CallTimeouts(stall_s=60)))
    async with serving(gateway) as client:
        async with client.stream("POST", CHAT, json=ASK | {"stream": True}) as answer:
            await anext(answer.aiter_bytes())
        await until(lambda: engine.disconnects == 1)
        await until(lambda: gateway.table.replicas[0].queue.inside == 0)
        assert "repertory_client_disconnects_total" in (await client.get("/metrics")).text


@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_leaves_before_the_first_token_frees_the_engine(
    engine: ScriptedEngine, stream: bool
) -> None:
    engine._reply = Script([Pause(30)])
    gateway = gateway_for(upstream(engine))
    async with serving(gateway) as client:
        with pytest.raises(httpx2.TimeoutException):
            await client.post(CHAT, json=ASK | {"stream": stream}, timeout=0.3)
        await until(lambda: engine.disconnects == 1)
        await until(lambda: gateway.table.replicas[0].queue.inside == 0)


async def test_a_client_that_leaves_the_line_is_never_sent(engine: ScriptedEngine) -> None:
    engine._reply = Script([Pause(0.6), Send(b"{}")], content_type="application/json")
    gateway = gateway_for(upstream(engine, concurrency=1))
    async with serving(gateway) as client:
        first = asyncio.create_task(client.post(CHAT, json=ASK))
        await until(lambda: len(engine.requests) == 1)
        with pytest.raises(httpx2.TimeoutException):
            await client.post(CHAT, json=ASK, timeout=0.1)
        assert (await first).status_code == 200
        await until(lambda: gateway.table.replicas[0].queue.inside == 0)
    assert len(engine.requests) == 1


async def test_an_urgent_request_is_sent_before_those_that_wait(engine: ScriptedEngine) -> None:
    go_on = asyncio.Event()

    async def reply(_: ScriptedRequest) -> str:
        await go_on.wait()
        return "done"

    engine._reply = reply
    gateway = gateway_for(upstream(engine, concurrency=1))
    async with serving(gateway) as client:
        tasks = [asyncio.create_task(client.post(CHAT, json=ASK | {"user": "first"}))]
        await until(lambda: len(engine.requests) == 1)
        for waiting, user, priority in ((1, "batch", 9), (2, "plain", 0)):
            tasks.append(asyncio.create_task(client.post(CHAT, json=ASK | {"user": user, "priority": priority})))
            await until(lambda waiting=waiting: gateway.table.replicas[0].queue.waiting == waiting)
        go_on.set()
        await asyncio.gather(*tasks)
    assert [request.fields["user"] for request in engine.requests] == ["first", "plain", "batch"]


async def test_a_dead_replica_costs_nobody_anything(engine: ScriptedEngine) -> None:
    async with ScriptedEngine("from the other") as dead:
        gone = upstream(dead, id="gone")
    async with serving(gateway_for(gone, upstream(engine))) as client:
        answers = [await client.post(CHAT, json=ASK | {"user": str(number)}) for number in range(4)]
        streams = [await client.post(CHAT, json=ASK | {"stream": True, "n": number}) for number in range(4)]
        metrics = (await client.get("/metrics")).text
    assert [answer.json()["choices"][0]["message"]["content"] for answer in answers] == ["one two three"] * 4
    assert [words(answer.text) for answer in streams] == ["one two three"] * 4
    assert 'repertory_instance_up{instance="gone"}' in metrics


@pytest.mark.parametrize(
    "broken",
    [
        failing(503, "overloaded"),
        Broken("lost", partial(cut, after_bytes=0)),
        Broken("lost", partial(cut, after_bytes=9)),
    ],
    ids=["busy", "cut before the first byte", "cut inside the first event"],
)
async def test_what_has_not_begun_is_sent_to_another_replica(engine: ScriptedEngine, broken: Any) -> None:
    async with ScriptedEngine(broken) as bad:
        gateway = gateway_for(upstream(bad, id="bad"), upstream(engine))
        async with serving(gateway) as client:
            prompts = [ASK | {"stream": True, "messages": [{"role": "user", "content": str(n)}]} for n in range(8)]
            answers = [await client.post(CHAT, json=prompt) for prompt in prompts]
        assert bad.requests
    assert [words(answer.text) for answer in answers] == ["one two three"] * 8


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (partial(cut, after_bytes=700), "stream_incomplete"),
        (partial(stalled, after_bytes=700), "stream_stalled"),
        (without_end, "stream_incomplete"),
    ],
    ids=["cut", "stalled", "without an end"],
)
async def test_what_breaks_later_ends_with_a_typed_error_and_is_not_sent_again(
    engine: ScriptedEngine, fault: Any, code: str
) -> None:
    engine._reply = Broken("one two three four five six", fault)
    async with serving(gateway_for(upstream(engine))) as client:
        answer = await client.post(CHAT, json=ASK | {"stream": True})
    *begun, last = events(answer.text)
    assert answer.status_code == 200
    assert begun[1]["choices"][0]["delta"]["content"] == "one"
    assert last["error"]["code"] == code
    assert "[DONE]" not in answer.text
    assert len(engine.requests) == 1


async def test_an_engines_own_error_in_the_stream_is_handed_on(engine: ScriptedEngine) -> None:
    engine._reply = Broken("one two", partial(in_band_error, message="out of memory", after_bytes=500))
    async with serving(gateway_for(upstream(engine))) as client:
        answer = await client.post(CHAT, json=ASK | {"stream": True})
    assert [event["error"]["message"] for event in events(answer.text) if "error" in event] == ["out of memory"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (failing(400, "maximum context length is 10 tokens"), (400, "context_overflow")),
        (failing(401, "no"), (502, "engine_key_refused")),
        (failing(422, "temperature: too hot"), (422, "engine_rejected")),
        (failing(500, "CUDA error"), (503, "engine_fault")),
        (Script([Hang()]), (504, "stream_stalled")),
    ],
)
async def test_refusals_are_typed(engine: ScriptedEngine, script: Script, expected: tuple[int, str]) -> None:
    engine._reply = script
    limits = GatewayLimits(call=CallTimeouts(first_byte_s=0.3))
    async with serving(gateway_for(upstream(engine), limits=limits)) as client:
        assert error_of(await client.post(CHAT, json=ASK)) == expected


async def test_an_engine_that_comes_back_is_used_again(engine: ScriptedEngine) -> None:
    async with serving(gateway_for(upstream(engine))) as client:
        assert (await client.post(CHAT, json=ASK)).status_code == 200
        await engine.stop()
        assert error_of(await client.post(CHAT, json=ASK)) == (503, "engine_unavailable")
        assert (await client.get("/readyz")).status_code == 503
        await engine.start()
        assert (await client.post(CHAT, json=ASK)).status_code == 200
        assert (await client.get("/readyz")).status_code == 200


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{", (400, "invalid_json")),
        (b"{}", (400, "model_missing")),
        (b'{"model": 7}', (400, "model_missing")),
        (b'{"model": "scripted", "model": "x"}', (400, "invalid_json")),
        (b'{"model": "scripted", "stream": "yes"}', (400, "invalid_value")),
        (b'{"model": "scripted", "priority": 1.5}', (400, "invalid_value")),
        (b'{"model": "scripted", "user": 5}', (400, "invalid_value")),
        (b'{"model": "skripted"}', (404, "model_not_found")),
        (b'{"model": "scripted", "messages": "' + b"x" * 2**20 + b'"}', (413, "body_too_large")),
    ],
)
async def test_bad_requests_never_reach_an_engine(
    engine: ScriptedEngine, body: bytes, expected: tuple[int, str]
) -> None:
    async with serving(gateway_for(upstream(engine))) as client:
        assert error_of(await client.post(CHAT, content=body)) == expected
    assert not engine.requests


async def test_a_body_without_a_length_is_bounded_too(engine: ScriptedEngine) -> None:
    async def endless() -> AsyncGenerator[bytes]:
        while True:
            yield b"x" * 65536

    async with serving(gateway_for(upstream(engine))) as client:
        try:
            answer = await client.post(CHAT, content=endless())
        except httpx2.TransportError:
            return  # closed while we were still sending
        assert error_of(answer) == (413, "body_too_large")


async def test_a_body_that_does_not_come_is_not_waited_for(engine: ScriptedEngine) -> None:
    async def slow() -> AsyncGenerator[bytes]:
        yield b'{"model": "scripted", '
        await asyncio.sleep(3)

    async with serving(gateway_for(upstream(engine))) as client:
        assert error_of(await client.post(CHAT, content=slow())) == (408, "body_timeout")


async def test_wrong_methods_and_other_paths(engine: ScriptedEngine) -> None:
    async with serving(gateway_for(upstream(engine))) as client:
        assert error_of(await client.get(CHAT)) == (405, "method_not_allowed")
        assert error_of(await client.post("/v1/models")) == (405, "method_not_allowed")
        assert (await client.get("/v1/nothing")).status_code == 404


async def test_web_pages_and_other_names_are_refused(engine: ScriptedEngine) -> None:
    async with serving(gateway_for(upstream(engine))) as client:
        for headers in ({"host": "rebound.example:8700"}, {"origin": "https://evil.example"}, {"origin": "null"}):
            for path in ("/v1/models", "/healthz", "/openapi.json"):
                assert error_of(await client.get(path, headers=headers)) == (403, "host_not_allowed")
            assert error_of(await client.post(CHAT, json=ASK, headers=headers)) == (403, "host_not_allowed")
        assert (await client.get("/healthz", headers={"origin": "http://localhost:3000"})).status_code == 200
    assert not engine.requests


async def test_models_are_listed_and_found_by_name(engine: ScriptedEngine) -> None:
    async with serving(gateway_for(upstream(engine, names=("big",), context_tokens=512))) as client:
        listed = (await client.get("/v1/models")).json()
        one = (await client.get("/v1/models/coaching/shadow")).json()
        assert (await client.get("/v1/models/coaching%2Fshadow")).json() == one
        assert error_of(await client.get("/v1/models/other")) == (404, "model_not_found")
    assert [entry["id"] for entry in listed["data"]] == ["big", "scripted", "coaching/shadow"]
    assert one["max_model_len"] == 512


async def test_other_endpoints_pass_through(engine: ScriptedEngine) -> None:
    seen: list[ScriptedRequest] = []

    def answer(request: ScriptedRequest) -> Script:
        seen.append(request)
        return Script([Send(b'{"usage":{"prompt_tokens":5,"total_tokens":5}}')], content_type="application/json")

    engine._routes |= {"/v1/embeddings": answer, "/v1/completions": answer}
    async with serving(gateway_for(upstream(engine))) as client:
        for path in ("/v1/embeddings", "/v1/completions"):
            assert (await client.post(path, json={"model": "scripted", "input": "x", "prompt": "y"})).status_code == 200
        metrics = (await client.get("/metrics")).text
    assert [request.path for request in seen] == ["/v1/embeddings", "/v1/completions"]
    assert 'repertory_prompt_tokens_total{instance="one",name="scripted"} 10.0' in metrics


async def test_shutting_down_lets_streams_end(engine: ScriptedEngine) -> None:
    engine._token_delay_s = 0.1
    gateway = gateway_for(upstream(engine))
    async with serving(gateway, drain_s=10) as client:
        streaming = asyncio.create_task(client.post(CHAT, json=ASK | {"stream": True}))
        await until(lambda: engine.open_streams == 1)
        await gateway.drain(10)
        assert words((await streaming).text) == "one two three"


async def test_what_still_runs_at_the_end_of_the_drain_ends_with_a_typed_error(engine: ScriptedEngine) -> None:
    engine._reply = Script([Send(sse({"choices": [{"index": 0, "delta": {"content": "a"}}]}, done=False)), Hang()])
    gateway = gateway_for(upstream(engine), limits=GatewayLimits(call=CallTimeouts(stall_s=60)))
    async with serving(gateway) as client:
        streaming = asyncio.create_task(client.post(CHAT, json=ASK | {"stream": True}))
        await until(lambda: len(engine.requests) == 1)
        draining = asyncio.create_task(gateway.drain(0.3))
        await asyncio.sleep(0.05)
        assert error_of(await client.post(CHAT, json=ASK)) == (503, "shutting_down")
        assert (await client.get("/readyz")).status_code == 503
        await draining
        answer = await streaming
    assert events(answer.text)[-1]["error"]["code"] == "shutting_down"
    await until(lambda: engine.disconnects == 1)


async def test_the_instances_key_is_sent_and_the_clients_never_is() -> None:
    async with ScriptedEngine("ok", api_key="of-the-engine") as engine:
        keyed = upstream(engine, address=Address(engine.url, "of-the-engine"))
        assert "of-the-engine" not in repr(keyed)
        async with serving(gateway_for(keyed)) as client:
            answer = await client.post(CHAT, json=ASK, headers={"authorization": "Bearer of-the-client"})
        assert answer.status_code == 200


async def test_new_instances_are_served_at_once(engine: ScriptedEngine) -> None:
    gateway = gateway_for(upstream(engine))
    async with ScriptedEngine("new", model="second", kind=EngineKind.VLLM) as second, serving(gateway) as client:
        assert error_of(await client.post(CHAT, json=ASK | {"model": "second"})) == (404, "model_not_found")
        gateway.serve([upstream(engine), upstream(second, id="two", agents=())])
        answer = await client.post(CHAT, json=ASK | {"model": "second"})
        assert answer.json()["choices"][0]["message"]["content"] == "new"
        gateway.serve([upstream(second, id="two", agents=())])
        assert error_of(await client.post(CHAT, json=ASK)) == (404, "model_not_found")
        metrics = (await client.get("/metrics")).text
    assert 'repertory_instance_up{instance="two"} 1.0' in metrics
    assert 'repertory_instance_up{instance="one"}' not in metrics


async def test_a_sleeping_instance_is_held_awake_for_each_request(engine: ScriptedEngine) -> None:
    held: list[str] = []

    @asynccontextmanager
    async def hold() -> AsyncGenerator[Address]:
        held.append("awake")
        yield Address(engine.url)
        held.append("free")

    asleep = upstream(engine, address=Address("http://127.0.0.1:1"), hold=hold)
    async with serving(gateway_for(asleep)) as client:
        assert words((await client.post(CHAT, json=ASK | {"stream": True})).text) == "one two three"
        assert held == ["awake", "free"]
        await client.post(CHAT, json=ASK)
    assert held == ["awake", "free"] * 2


async def test_a_full_line_says_so(engine: ScriptedEngine) -> None:
    engine._reply = Script([Pause(5)])
    gateway = gateway_for(upstream(engine, concurrency=1), limits=GatewayLimits(call=CallTimeouts(queue_s=0.2)))
    async with serving(gateway) as client:
        first = asyncio.create_task(client.post(CHAT, json=ASK))
        await until(lambda: len(engine.requests) == 1)
        assert error_of(await client.post(CHAT, json=ASK)) == (503, "queue_timeout")
        gateway.table.replicas[0].queue.max_waiting = 0
        answer = await client.post(CHAT, json=ASK)
        assert error_of(answer) == (503, "queue_full")
        assert int(answer.headers["retry-after"]) > 0
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
