"""Answers made to break a reader: too deep, mislabelled, with counts that can not be, or with words shown too early."""

import json
from typing import Any

import pytest
from tests.engines.conftest import Start

from repertory.engines.failures import (
    ContextExhaustedError,
    StreamEngineError,
    StreamFrameError,
    StreamIncompleteError,
)
from repertory.engines.json_text import load_json
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import ChatMessage, FinishReason, GenerateRequest, GenerationNote, TextDelta
from repertory.engines.tool_calls import ToolCallHold
from repertory.errors import EngineError, OutputError
from repertory.testing import Script, ScriptedEngine, Send, ask, ask_parts, sse

pytestmark = pytest.mark.virtual_time

KINDS = list(EngineKind)
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
DEEP = 100_000


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def stream(*frames: object, **script: Any) -> Script:
    return Script([Send(sse(*frames))], **script)


# Nesting


@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP, "[" * DEEP + "]" * DEEP, '["[[[", ' * DEEP])
def test_json_of_any_depth_is_an_ordinary_error(text: str) -> None:
    with pytest.raises(ValueError, match="nested deeper"):
        load_json(text)


def test_brackets_in_texts_are_no_nesting() -> None:
    lists: list[list[int]] = [[0]] * 300
    value = {"text": "[" * 900 + '"' + "{" * 900, "list": lists}
    assert load_json(json.dumps(value)) == value


@pytest.mark.parametrize("kind", KINDS)
async def test_a_frame_nested_without_end_is_a_typed_error(start: Start, kind: EngineKind) -> None:
    deep = "[" * DEEP
    body = f"{deep}\n".encode() if kind is EngineKind.OLLAMA else f"data: {deep}\n\n".encode()
    with pytest.raises(StreamFrameError):
        await ask(await start(ScriptedEngine(Script([Send(body)]), kind=kind)))


async def test_an_answer_nested_without_end_is_no_crash(start: Start) -> None:
    engine = await start(ScriptedEngine(stream(delta(content='{"a":' * 900), delta("stop"))))
    generation = await ask(engine, json_schema=SCHEMA, max_output_tokens=5000)
    assert generation.text.startswith('{"a":')


async def test_deep_thinking_is_no_answer_and_no_crash(start: Start) -> None:
    engine = await start(ScriptedEngine(stream(delta(reasoning="\n" + '{"a":' * 900), delta("stop"))))
    with pytest.raises(OutputError):
        await ask(engine, json_schema=SCHEMA)


async def test_tool_arguments_nested_without_end_are_cut(start: Start) -> None:
    call = {"index": 0, "function": {"name": "look", "arguments": "[" * 20_000}}
    engine = await start(ScriptedEngine(stream(delta(tool_calls=[call]), delta("tool_calls"))))
    generation = await ask(engine, tools=[{"name": "look"}])
    assert (generation.finish_reason, generation.tool_calls) == (FinishReason.LENGTH, ())


async def test_an_error_page_nested_without_end(start: Start) -> None:
    page = Script([Send(b"[" * DEEP)], status=500, content_type="application/json")
    with pytest.raises(EngineError):
        await ask(await start(ScriptedEngine(page)))


# Labels that lie


async def test_a_body_that_is_not_what_its_encoding_says(start: Start) -> None:
    script = stream(delta("stop", content="Hello."), headers={"Content-Encoding": "gzip"})
    with pytest.raises((StreamIncompleteError, EngineError)):
        await ask(await start(ScriptedEngine(script)))


async def test_events_labelled_as_json_are_read_as_events(start: Start) -> None:
    script = stream(delta(content="Hel"), delta("stop", content="lo."), content_type="application/json")
    assert (await ask(await start(ScriptedEngine(script)))).text == "Hello."


async def test_events_labelled_as_json_without_an_end_are_incomplete(start: Start) -> None:
    script = Script([Send(sse(delta(content="Hel"), done=False))], content_type="application/json")
    with pytest.raises(StreamIncompleteError):
        await ask(await start(ScriptedEngine(script)))


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        ({"object": "error", "message": "it broke", "code": 500}, StreamEngineError),
        ({"message": "KV cache is full"}, ContextExhaustedError),
        ({"detail": "it broke"}, StreamEngineError),
    ],
)
async def test_g8_an_error_object_without_the_word_in_its_place(start: Start, frame: object, error: type) -> None:
    with pytest.raises(error):
        await ask(await start(ScriptedEngine(stream(delta(content="Hel"), frame))))


# Counts that can not be


@pytest.mark.parametrize(("prompt", "output"), [(-1, 5), (True, 5), (9, -5), ("9", 5), (9.5, 5), (None, 5)])
async def test_counts_that_are_none_are_estimated(start: Start, prompt: object, output: object) -> None:
    usage: object = {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": output}}
    generation = await ask(await start(ScriptedEngine(stream(delta("stop", content="Hello."), usage))))
    assert generation.usage.estimated
    assert generation.usage.prompt > 0


async def test_more_cached_than_there_was_is_all_of_it(start: Start) -> None:
    details = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 70}}
    counts: object = {"choices": [], "usage": details}
    generation = await ask(await start(ScriptedEngine(stream(delta("stop", content="Hello."), counts))))
    assert (generation.usage.cached, generation.usage.prefill) == (9, 0)


# Tool calls


async def test_calls_that_all_stand_at_index_0_are_told_apart_by_their_ids(start: Start) -> None:
    pieces = [
        {"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{"at": '}},
        {"index": 0, "id": "c1", "function": {"arguments": '"sea"}'}},
        {"index": 0, "id": "c2", "function": {"name": "wait", "arguments": "{}"}},
    ]
    engine = await start(ScriptedEngine(stream(*(delta(tool_calls=[piece]) for piece in pieces), delta("tool_calls"))))
    generation = await ask(engine, tools=[{"name": "look"}, {"name": "wait"}])
    assert [(call.id, call.name, call.arguments) for call in generation.tool_calls] == [
        ("c1", "look", {"at": "sea"}),
        ("c2", "wait", {}),
    ]


@pytest.mark.parametrize("lead", ["", "Let me look.\n", "\n\n"])
@pytest.mark.parametrize("call", ['<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>', "[TOOL_CALLS] [{"])
async def test_g20_a_tool_call_in_the_text_is_never_streamed_to_the_person(start: Start, lead: str, call: str) -> None:
    parts = await ask_parts(await start(ScriptedEngine(lead + call)), tools=[{"name": "look"}])
    streamed = "".join(part.text for part in parts if isinstance(part, TextDelta))
    assert streamed.strip() == lead.strip()


async def test_g20_text_that_only_begins_like_a_call_is_shown(start: Start) -> None:
    text = "<tool box> is a name.\n[TOOLS] is another.\n<"
    parts = await ask_parts(await start(ScriptedEngine(text)), tools=[{"name": "look"}])
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == text


@pytest.mark.parametrize("text", ["a\n <tool_call>{}", "<tool_call", "a <tool_call>", "\n" * 200, "x\n[TOOL_CALLS]\ny"])
def test_what_is_held_back_does_not_depend_on_the_pieces(text: str) -> None:
    def held(pieces: list[str]) -> tuple[str, str]:
        hold = ToolCallHold()
        return "".join(map(hold.feed, pieces)), hold.finish()

    for size in range(1, 12):
        shown, rest = held([text[start : start + size] for start in range(0, len(text), size)])
        assert shown + rest == text
        assert "<tool_call>" not in shown or text == "a <tool_call>"


# Thinking


def opens(engine: OpenAIEngine, **changes: object) -> OpenAIEngine:
    engine.adopt(engine.profile.model_copy(update={"opens_thinking": True, **changes}))
    return engine


async def test_c7_an_answer_under_a_grammar_is_not_taken_for_thinking(start: Start) -> None:
    """llama.cpp is told not to think under a grammar; then the template opens no thinking either."""
    engine = opens(await start(ScriptedEngine('{"a": "x"}', kind=EngineKind.LLAMACPP)))
    parts = await ask_parts(engine, json_schema=SCHEMA)
    assert any(isinstance(part, TextDelta) for part in parts)
    generation = await ask(engine, json_schema=SCHEMA)
    assert (generation.text, generation.notes) == ('{"a": "x"}', ())


async def test_c9_where_only_thinking_keeps_the_grammar_it_is_not_turned_off(start: Start) -> None:
    scripted = ScriptedEngine('{"a": "x"}', kind=EngineKind.OLLAMA)
    engine = await start(scripted)
    engine.adopt(engine.profile.model_copy(update={"grammar_without_thinking": False}))
    await ask(engine, json_schema=SCHEMA, thinking=False)
    assert "think" not in scripted.requests[-1].fields
    await ask(engine, thinking=False)
    assert scripted.requests[-1].fields["think"] is False


@pytest.mark.parametrize(
    "tags", [("<seed:think>", "</seed:think>"), ("<|START_THINKING|>", "<|END_THINKING|>"), ("[THINK]", "[/THINK]")]
)
async def test_the_tags_of_many_models_are_known(start: Start, tags: tuple[str, str]) -> None:
    generation = await ask(await start(ScriptedEngine(f"{tags[0]}hm{tags[1]}\n42")))
    assert (generation.text, generation.reasoning) == ("42", "hm")
    assert generation.notes == (GenerationNote.LEAKED_THINKING,)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("thinking", "cap"), [(True, 300), (None, 300), (False, 100)])
async def test_c16_thinking_and_answer_have_reserves_of_their_own(
    start: Start, kind: EngineKind, thinking: bool | None, cap: int
) -> None:
    scripted = ScriptedEngine("Hello.", kind=kind)
    engine = await start(scripted)
    request = GenerateRequest(
        [ChatMessage("user", "Hello.")], max_output_tokens=100, max_thinking_tokens=200, thinking=thinking
    )
    async for _ in engine.generate(request):
        pass
    assert scripted.requests[0].max_tokens == cap
