"""Anthropic's endpoints: handed on where the engine has them, translated where it has not."""

import json
from typing import Any

import pytest
from tests.serving.gateway.running import gateway_for, serving, upstream

from repertory.engines.profile import EngineKind
from repertory.serving.gateway.messages_request import read_messages_request
from repertory.serving.gateway.messages_stream import MessagesRelay
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.testing import Answer, Hang, Script, ScriptedEngine, ScriptedRequest, Send, failing, sse

pytestmark = pytest.mark.virtual_time

MESSAGES = "/v1/messages"
ASK: dict[str, Any] = {
    "model": "scripted",
    "max_tokens": 50,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [{"role": "user", "content": "Hello."}],
}


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.split("\n") if line.startswith("data: ")]


async def test_an_engine_that_has_the_endpoint_gets_the_request_as_it_is(engine: ScriptedEngine) -> None:
    seen: list[ScriptedRequest] = []
    native = b'event: message_stop\ndata: {"type":"message_stop","usage":{"input_tokens":3,"output_tokens":2}}\n\n'

    def answer(request: ScriptedRequest) -> Script:
        seen.append(request)
        return Script([Send(native)]) if request.fields else failing(400, "empty")

    engine._routes[MESSAGES] = answer
    async with serving(gateway_for(upstream(engine))) as client:
        streams = [await client.post(MESSAGES, json=ASK | {"stream": True}) for _ in range(2)]
    assert [stream.content for stream in streams] == [native] * 2
    assert [request.fields for request in seen] == [{}, ASK | {"stream": True}, ASK | {"stream": True}]


@pytest.mark.parametrize("kind", [EngineKind.VLLM, EngineKind.SGLANG, EngineKind.OPENAI])
async def test_a_translated_answer_and_stream_say_the_same(kind: EngineKind) -> None:
    scripted = ScriptedEngine(Answer("Good day.", reasoning="Hm."), kind=kind)
    async with scripted as engine, serving(gateway_for(upstream(engine))) as client:
        whole = (await client.post(MESSAGES, json=ASK)).json()
        stream = events((await client.post(MESSAGES, json=ASK | {"stream": True})).text)
    assert [request.fields["messages"] for request in engine.requests[:1]] == [
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]
    ]
    assert [(block["type"], block.get("text") or block.get("thinking")) for block in whole["content"]] == [
        ("thinking", "Hm."),
        ("text", "Good day."),
    ]
    assert whole["stop_reason"] == "end_turn"
    kinds = [event["type"] for event in stream]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 2
    text = "".join(event["delta"].get("text", "") for event in stream if event["type"] == "content_block_delta")
    assert text == "Good day."
    assert stream[-2]["usage"]["output_tokens"] == whole["usage"]["output_tokens"] > 0


async def test_counting_tokens(engine: ScriptedEngine) -> None:
    async with ScriptedEngine("x", kind=EngineKind.OPENAI) as other:
        gateway = gateway_for(upstream(engine), upstream(other, id="two", served_model="other", agents=()))
        other.model = "other"
        body = {name: ASK[name] for name in ("messages", "system")}
        async with serving(gateway) as client:
            counts = [
                (await client.post(f"{MESSAGES}/count_tokens", json=body | {"model": name})).json()["input_tokens"]
                for name in ("scripted", "other")
            ]
    expected = len(engine.prompt_tokens(other.requests[0]))
    assert counts == [expected, expected]


async def test_errors_have_anthropics_shape(engine: ScriptedEngine) -> None:
    engine._reply = Script([Send(sse({"choices": [{"index": 0, "delta": {"content": "a"}}]}, done=False)), Hang()])
    async with serving(gateway_for(upstream(engine))) as client:
        unknown = (await client.post(MESSAGES, json=ASK | {"model": "nothing"})).json()
        broken = events((await client.post(MESSAGES, json=ASK | {"stream": True})).text)
        invalid = await client.post(MESSAGES, json=ASK | {"messages": [{"role": "user", "content": [{"type": "pdf"}]}]})
    assert (unknown["type"], unknown["error"]["type"]) == ("error", "not_found_error")
    assert (broken[-1]["type"], broken[-1]["error"]["code"]) == ("error", "stream_stalled")
    assert invalid.status_code == 400
    assert "messages.0.content" in invalid.json()["error"]["message"]


def test_a_conversation_with_tools_and_images() -> None:
    request = {
        "max_tokens": 5,
        "stop_sequences": ["END"],
        "top_k": 3,
        "tools": [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "QUJD"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "secret", "signature": "s"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "é"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a cat"}]},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
    }
    chat = read_messages_request(json.dumps(request).encode(), "m")
    call = {"id": "t1", "type": "function", "function": {"name": "look", "arguments": '{"at": "é"}'}}
    assert chat == {
        "model": "m",
        "max_tokens": 5,
        "stop": ["END"],
        "top_k": 3,
        "tools": [
            {
                "type": "function",
                "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
            }
        ],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}},
                ],
            },
            {"role": "assistant", "content": "I look.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "t1", "content": "a cat"},
            {"role": "user", "content": "And?"},
        ],
    }


UNTRANSLATABLE: list[dict[str, Any]] = [
    {"messages": []},
    {"messages": [{"role": "system", "content": "x"}]},
    {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
    {"messages": [{"role": "user", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]}]},
    {"max_tokens": 0},
]


@pytest.mark.parametrize("change", UNTRANSLATABLE)
def test_what_has_no_counterpart_is_refused_and_not_dropped(change: dict[str, Any]) -> None:
    with pytest.raises(GatewayError):
        read_messages_request(json.dumps(ASK | change).encode(), "m")


def test_a_stream_of_tool_calls() -> None:
    def chunk(delta: object, reason: str | None = None) -> bytes:
        return sse({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}, done=False)

    def call(index: int, **function: str) -> dict[str, object]:
        more = {"id": f"call{index}"} if "name" in function else {}
        return {"tool_calls": [{"index": index, "function": function, **more}]}

    stream = (
        chunk({"role": "assistant", "content": ""})
        + chunk({"content": "I look."})
        + chunk(call(0, name="look", arguments=""))
        + chunk(call(0, arguments='{"a":'))
        + chunk(call(0, arguments=" 1}"))
        + chunk(call(1, name="ask", arguments="{}"))
        + chunk({}, "tool_calls")
        + b"data: [DONE]\n\n"
    )
    relay = MessagesRelay("m")
    out = events("".join(relay.feed(stream[start : start + 5]).decode() for start in range(0, len(stream), 5)))
    starts = [event["content_block"] for event in out if event["type"] == "content_block_start"]
    assert [(block["type"], block.get("name"), block.get("id")) for block in starts] == [
        ("text", None, None),
        ("tool_use", "look", "call0"),
        ("tool_use", "ask", "call1"),
    ]
    pieces = [
        (event["index"], event["delta"]["partial_json"])
        for event in out
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "input_json_delta"
    ]
    assert pieces == [(1, '{"a":'), (1, " 1}"), (2, "{}")]
    assert out[-2]["delta"]["stop_reason"] == "tool_use"
    assert relay.ended
