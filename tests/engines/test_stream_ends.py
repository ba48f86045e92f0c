"""When a stream counts as whole, and what it is when it does not (field reports G1 to G8, C, D)."""

import json
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from repertory.engines.failures import (
    ContextExhaustedError,
    EmptyAnswerError,
    ReasoningExhaustedError,
    SilentTruncationError,
    StreamEngineError,
    StreamFrameError,
    StreamIncompleteError,
    StreamStalledError,
    failure_code,
)
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import FinishReason, GenerationNote, ReasoningDelta, TextDelta
from repertory.errors import EngineTimeoutError, OutputError, StreamError
from repertory.testing import (
    Answer,
    Broken,
    Pause,
    Script,
    ScriptedEngine,
    Send,
    ask,
    ask_parts,
    broken_json,
    cut,
    in_band_error,
    sse,
    stalled,
    without_end,
)

pytestmark = pytest.mark.virtual_time

Start = Callable[[ScriptedEngine], Awaitable[OpenAIEngine]]
KINDS = list(EngineKind)
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def usage(prompt: int, output: int) -> dict[str, object]:
    choices: list[object] = []
    return {"choices": choices, "usage": {"prompt_tokens": prompt, "completion_tokens": output}}


def stream(*frames: object, done: bool = True) -> Script:
    return Script([Send(sse(*frames, done=done))])


@pytest.mark.parametrize("kind", KINDS)
async def test_a_whole_answer(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine("Hello, 漢字 🙂.", kind=kind))
    parts = await ask_parts(engine)
    generation = await ask(engine)
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == "Hello, 漢字 🙂."
    assert generation.text == "Hello, 漢字 🙂."
    assert generation.finish_reason is FinishReason.STOP
    assert not generation.usage.estimated
    assert generation.notes == ()


@pytest.mark.parametrize("kind", KINDS)
async def test_g7_the_same_answer_byte_by_byte(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine(Broken("Hé, 漢字 🙂.", partial(Script.cut_into, size=1)), kind=kind))
    assert (await ask(engine)).text == "Hé, 漢字 🙂."


@pytest.mark.parametrize("kind", KINDS)
async def test_g1_an_end_without_a_word_is_incomplete(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine(Broken("half an answer", without_end), kind=kind))
    with pytest.raises(StreamIncompleteError) as caught:
        await ask(engine)
    assert caught.value.partial == "half an answer"
    assert failure_code(caught.value) == "stream_incomplete"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [20, 100, 300, 500])
async def test_g1_a_broken_connection_is_incomplete(start: Start, kind: EngineKind, after: int) -> None:
    engine = await start(ScriptedEngine(Broken("one two three four five", partial(cut, after_bytes=after)), kind=kind))
    with pytest.raises(StreamIncompleteError) as caught:
        await ask(engine)
    assert caught.value.partial in "one two three four five"


async def test_g2_ollama_says_done_without_a_reason(start: Start) -> None:
    lines = [
        {"message": {"role": "assistant", "content": "Hi."}, "done": False},
        {"message": {"content": ""}, "done": True, "prompt_eval_count": 9, "eval_count": 3},
    ]
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    script = Script([Send(body)], content_type="application/x-ndjson")
    generation = await ask(await start(ScriptedEngine(script, kind=EngineKind.OLLAMA)))
    assert (generation.text, generation.finish_reason) == ("Hi.", FinishReason.STOP)
    assert GenerationNote.NO_FINISH_REASON in generation.notes


async def test_g3_done_without_a_finish_reason_is_whole(start: Start) -> None:
    engine = await start(ScriptedEngine(stream(delta(content="Hi."), usage(9, 2))))
    generation = await ask(engine)
    assert generation.text == "Hi."
    assert generation.notes == (GenerationNote.NO_FINISH_REASON,)


async def test_a_finish_reason_without_done_is_whole(start: Start) -> None:
    engine = await start(ScriptedEngine(stream(delta(content="Hi."), delta("stop"), usage(9, 2), done=False)))
    generation = await ask(engine)
    assert (generation.text, generation.usage.output) == ("Hi.", 2)


async def test_a_connection_left_open_after_the_end_does_not_hold_up(start: Start) -> None:
    whole = Broken("Hi.", lambda script: stalled(Script(script.steps[:-1]), 100_000))
    generation = await ask(await start(ScriptedEngine(whole)))
    assert generation.text == "Hi."
    assert generation.usage.estimated


async def test_done_in_a_line_without_an_end(start: Start) -> None:
    body = sse(delta(content="Hi."), delta("stop"), done=False) + b"data: [DONE]"
    assert (await ask(await start(ScriptedEngine(Script([Send(body)]))))).text == "Hi."


async def test_g8_a_byte_order_mark_does_not_swallow_the_first_event(start: Start) -> None:
    body = b"\xef\xbb\xbf" + sse(delta(content="Hi."), delta("stop"))
    assert (await ask(await start(ScriptedEngine(Script([Send(body)]))))).text == "Hi."


@pytest.mark.parametrize("kind", KINDS)
async def test_g8_broken_json_is_a_typed_error(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine(Broken("text", partial(broken_json, after_bytes=0)), kind=kind))
    with pytest.raises(StreamFrameError, match="not JSON"):
        await ask(engine)


@pytest.mark.parametrize("kind", KINDS)
async def test_g8_an_error_in_the_stream_is_a_typed_error(start: Start, kind: EngineKind) -> None:
    fault = partial(in_band_error, message="EngineCore died", after_bytes=0)
    engine = await start(ScriptedEngine(Broken("text", fault), kind=kind))
    with pytest.raises(StreamEngineError, match="EngineCore died"):
        await ask(engine)


@pytest.mark.parametrize("data", ['{"message":"it broke"}', '{"choices":null}', "it broke", '{"object":"error"}'])
async def test_g8_an_error_event_without_an_error_key(start: Start, data: str) -> None:
    engine = await start(ScriptedEngine(Script([Send(f"event: error\ndata: {data}\n\n".encode())])))
    with pytest.raises(StreamEngineError, match="broke the answer off"):
        await ask(engine)


@pytest.mark.parametrize("frame", ['{"choices":null}', '{"object":"x"}', "[]", "1", '"text"', "null"])
async def test_g8_a_frame_of_no_known_shape(start: Start, frame: str) -> None:
    engine = await start(ScriptedEngine(stream(frame)))
    with pytest.raises(StreamFrameError):
        await ask(engine)


async def test_old_llamacpp_writes_errors_in_a_field_of_their_own(start: Start) -> None:
    body = sse(delta(content="a"), done=False) + b'error: {"code":500,"message":"slot gone"}\n\n'
    engine = await start(ScriptedEngine(Script([Send(body)]), kind=EngineKind.LLAMACPP))
    with pytest.raises(StreamEngineError, match="slot gone"):
        await ask(engine)


async def test_e10_context_exhausted_inside_a_stream(start: Start) -> None:
    fault = partial(in_band_error, message="Context size has been exceeded.", after_bytes=300)
    engine = await start(ScriptedEngine(Broken("one two three", fault), kind=EngineKind.LLAMACPP))
    with pytest.raises(ContextExhaustedError):
        await ask(engine)


@pytest.mark.parametrize("kind", KINDS)
async def test_e11_a_stalled_stream_ends_by_itself(start: Start, kind: EngineKind) -> None:
    engine = await start(
        ScriptedEngine(Broken("one two three four five", partial(stalled, after_bytes=500)), kind=kind)
    )
    with pytest.raises(StreamStalledError):
        await ask(engine)


async def test_keep_alive_comments_are_no_progress(start: Start) -> None:
    steps = [Send(sse(delta(content="a"), done=False))]
    pings = [step for _ in range(100) for step in (Send(b": ping\n\n"), Pause(0.02))]
    engine = await start(ScriptedEngine(Script([*steps, *pings])))
    with pytest.raises(StreamStalledError):
        await ask(engine)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [0, 400])
async def test_the_deadline_ends_every_stream(start: Start, kind: EngineKind, after: int) -> None:
    engine = await start(ScriptedEngine(Broken("one two three four", partial(stalled, after_bytes=after)), kind=kind))
    with pytest.raises(EngineTimeoutError, match=r"deadline of 0\.1 s"):
        await ask(engine, deadline_s=0.1)


@pytest.mark.parametrize("reason", ["abort", "error", "content_filter"])
async def test_an_engine_that_breaks_off_says_so(start: Start, reason: str) -> None:
    engine = await start(ScriptedEngine(stream(delta(content="a"), delta(reason))))
    with pytest.raises(StreamEngineError, match=reason):
        await ask(engine)


async def test_an_unknown_finish_reason_is_noted(start: Start) -> None:
    generation = await ask(await start(ScriptedEngine(stream(delta(content="a"), delta("because")))))
    assert generation.notes == (GenerationNote.UNKNOWN_FINISH_REASON,)


async def test_an_engine_that_ignores_the_cap_is_stopped(start: Start) -> None:
    flood = Script([Send(sse(delta(content="x" * 10_000), done=False))] * 20)
    engine = await start(ScriptedEngine(flood))
    with pytest.raises(StreamFrameError, match="beyond the cap"):
        await ask(engine, max_output_tokens=10)


async def test_a_server_that_does_not_stream(start: Start) -> None:
    message = {"role": "assistant", "content": "Hi.", "reasoning": "hm"}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], **usage(9, 4)}
    body["choices"] = [{"message": message, "finish_reason": "stop"}]
    script = Script([Send(json.dumps(body).encode())], content_type="application/json")
    generation = await ask(await start(ScriptedEngine(script)))
    assert (generation.text, generation.reasoning, generation.usage.output) == ("Hi.", "hm", 4)


# C: reasoning models


@pytest.mark.parametrize("kind", KINDS)
async def test_thinking_is_kept_apart(start: Start, kind: EngineKind) -> None:
    parts = await ask_parts(await start(ScriptedEngine(Answer("Yes.", reasoning="Let me see."), kind=kind)))
    assert "".join(part.text for part in parts if isinstance(part, ReasoningDelta)) == "Let me see."
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == "Yes."


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_c11_both_names_of_the_field_are_read(start: Start, field: str) -> None:
    engine = await start(ScriptedEngine(stream(delta(**{field: "hm"}), delta(content="Yes."), delta("stop"))))
    generation = await ask(engine)
    assert (generation.reasoning, generation.text) == ("hm", "Yes.")


async def test_c11_the_same_thinking_in_both_fields_is_read_once(start: Start) -> None:
    engine = await start(
        ScriptedEngine(stream(delta(reasoning="hm", reasoning_content="hm"), delta("stop", content="a")))
    )
    assert (await ask(engine)).reasoning == "hm"


async def test_content_in_typed_pieces(start: Start) -> None:
    pieces = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Yes."}]
    generation = await ask(await start(ScriptedEngine(stream(delta(content=pieces), delta("stop")))))
    assert (generation.reasoning, generation.text) == ("hm", "Yes.")


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("text", ['{"a": "x"}', '\n{"a": "x"}\n', 'I think so.\n{"a": "x"}'])
async def test_c1_c3_an_answer_in_the_field_for_thinking(start: Start, field: str, text: str) -> None:
    engine = await start(ScriptedEngine(stream(delta(content=None, **{field: text}), delta("stop"))))
    generation = await ask(engine, json_schema=SCHEMA)
    assert json.loads(generation.text) == {"a": "x"}
    assert GenerationNote.MISROUTED_ANSWER in generation.notes


@pytest.mark.parametrize("text", ['{"b": 1}', "no JSON", '{"a": '])
async def test_c1_thinking_that_does_not_fit_the_schema_is_no_answer(start: Start, text: str) -> None:
    engine = await start(ScriptedEngine(stream(delta(reasoning=text), delta("stop"), usage(9, 4))))
    with pytest.raises(EmptyAnswerError) as caught:
        await ask(engine, json_schema=SCHEMA)
    assert caught.value.usage.output == 4


@pytest.mark.parametrize("content", [None, "", " \n"])
async def test_c2_no_content_is_a_typed_error(start: Start, content: str | None) -> None:
    engine = await start(ScriptedEngine(stream(delta(content=content), delta("stop"))))
    with pytest.raises(OutputError) as caught:
        await ask(engine)
    assert failure_code(caught.value) == "empty_answer"


async def test_c2_hiding_the_thinking_is_never_asked_for(start: Start) -> None:
    scripted = ScriptedEngine({"a": "x"}, kind=EngineKind.VLLM)
    await ask(await start(scripted), json_schema=SCHEMA, thinking=False)
    assert "include_reasoning" not in scripted.requests[0].fields


@pytest.mark.parametrize("kind", KINDS)
async def test_c15_thinking_that_eats_all_tokens(start: Start, kind: EngineKind) -> None:
    thought = Answer("", reasoning="so " * 40, finish_reason="length")
    with pytest.raises(ReasoningExhaustedError) as caught:
        await ask(await start(ScriptedEngine(thought, kind=kind)), max_output_tokens=40)
    assert caught.value.cap == 40
    assert caught.value.usage.output >= 40
    assert failure_code(caught.value) == "reasoning_exhausted"


async def test_c15_hidden_thinking_that_eats_all_tokens(start: Start) -> None:
    engine = await start(ScriptedEngine(stream(delta("length"), usage(9, 40))))
    with pytest.raises(ReasoningExhaustedError):
        await ask(engine, max_output_tokens=40)


async def test_an_answer_of_one_token_may_be_empty(start: Start) -> None:
    generation = await ask(await start(ScriptedEngine(stream(delta("length"), usage(9, 1)))), max_output_tokens=1)
    assert (generation.text, generation.finish_reason) == ("", FinishReason.LENGTH)


async def test_leaked_think_tags_never_reach_the_answer(start: Start) -> None:
    parts = await ask_parts(await start(ScriptedEngine("<think>hm, well</think>\n\nYes.")))
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == "Yes."
    generation = await ask(await start(ScriptedEngine("<think>hm, well</think>\n\nYes.")))
    assert (generation.text, generation.reasoning) == ("Yes.", "hm, well")
    assert generation.notes == (GenerationNote.LEAKED_THINKING,)


async def test_thinking_that_was_never_closed_is_no_answer(start: Start) -> None:
    with pytest.raises(EmptyAnswerError) as caught:
        await ask(await start(ScriptedEngine("<think>hm, well")))
    assert caught.value.reasoning == "hm, well"


@pytest.mark.parametrize("lead", ["<think>hm</think>", "hm</think>", "hm\n</think>\n\n"])
async def test_thinking_before_a_constrained_answer(start: Start, lead: str) -> None:
    generation = await ask(await start(ScriptedEngine(lead + '{"a": "x"}')), json_schema=SCHEMA)
    assert json.loads(generation.text) == {"a": "x"}
    assert "hm" in generation.reasoning


# D: truncation


CALL = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{"at": "sea"}'}}


async def test_d1_a_tool_call_cut_at_the_cap_is_cut_whatever_the_engine_says(start: Start) -> None:
    engine = await start(ScriptedEngine(stream(delta(tool_calls=[CALL]), delta("tool_calls"), usage(9, 20))))
    generation = await ask(engine, max_output_tokens=20, tools=[{"name": "look"}])
    assert generation.finish_reason is FinishReason.LENGTH
    assert generation.tool_calls == ()
    assert generation.notes == (GenerationNote.CUT_TOOL_CALL,)


async def test_d1_arguments_that_do_not_parse_are_cut(start: Start) -> None:
    half = CALL | {"function": {"name": "look", "arguments": '{"at": "se'}}
    engine = await start(ScriptedEngine(stream(delta(tool_calls=[half]), delta("tool_calls"), usage(9, 12))))
    generation = await ask(engine, tools=[{"name": "look"}])
    assert (generation.finish_reason, generation.tool_calls) == (FinishReason.LENGTH, ())


async def test_a_tool_call_in_pieces(start: Start) -> None:
    first = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": ""}}
    rest = [{"index": 0, "function": {"arguments": piece}} for piece in ('{"at"', ': "sea"}')]
    frames = [delta(tool_calls=[piece]) for piece in (first, *rest)]
    engine = await start(ScriptedEngine(stream(*frames, delta("tool_calls"), usage(9, 12))))
    generation = await ask(engine, tools=[{"name": "look"}])
    assert generation.finish_reason is FinishReason.TOOL_CALLS
    assert [(call.name, call.arguments) for call in generation.tool_calls] == [("look", {"at": "sea"})]


@pytest.mark.parametrize("arguments", ["", " ", "{}"])
async def test_a_tool_call_without_arguments(start: Start, arguments: str) -> None:
    call = {"index": 0, "function": {"name": "look", "arguments": arguments}}
    engine = await start(ScriptedEngine(stream(delta(tool_calls=[call]), delta("tool_calls"))))
    generation = await ask(engine, tools=[{"name": "look"}])
    assert [call.arguments for call in generation.tool_calls] == [{}]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "look", "arguments": {"at": "sea"}}\n</tool_call>',
        'Sure.\n<tool_call>{"name": "look", "arguments": {"at": "sea"}}',
        '[TOOL_CALLS] [{"name": "look", "arguments": {"at": "sea"}}]',
        '<function=look>{"at": "sea"}</function>',
    ],
)
async def test_g20_a_tool_call_left_in_the_text_is_read(start: Start, text: str) -> None:
    generation = await ask(await start(ScriptedEngine(text)), tools=[{"name": "look"}])
    assert generation.finish_reason is FinishReason.TOOL_CALLS
    assert [(call.name, call.arguments) for call in generation.tool_calls] == [("look", {"at": "sea"})]
    assert GenerationNote.LEAKED_TOOL_CALL in generation.notes
    assert generation.text == ""


async def test_g20_a_broken_tool_call_in_the_text_is_never_an_answer(start: Start) -> None:
    generation = await ask(await start(ScriptedEngine('<tool_call>\n{"name": "look", "arg')), tools=[{"name": "look"}])
    assert (generation.finish_reason, generation.tool_calls) == (FinishReason.LENGTH, ())


async def test_g20_without_tools_the_text_is_text(start: Start) -> None:
    text = "<tool_call> is how models call tools."
    assert (await ask(await start(ScriptedEngine(text)))).text == text


async def test_an_answer_cut_at_the_cap_says_so(start: Start) -> None:
    generation = await ask(await start(ScriptedEngine("one two three four five")), max_output_tokens=3)
    assert (generation.text, generation.finish_reason) == ("one two three", FinishReason.LENGTH)


# E: truncation that nobody mentions


async def test_e6_ollama_that_filled_its_context(start: Start) -> None:
    answer = Answer("yes", prompt_tokens=8190)
    engine = await start(ScriptedEngine(answer, kind=EngineKind.OLLAMA, context_tokens=8192))
    with pytest.raises(SilentTruncationError, match="8190"):
        await ask(engine)


@pytest.mark.parametrize("kind", KINDS)
async def test_e6_fewer_prompt_tokens_than_words_means_that_it_was_cut(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine(Answer("yes", prompt_tokens=1000), kind=kind))
    with pytest.raises(SilentTruncationError, match="1000 prompt tokens"):
        await ask(engine, "word " * 3000)


Fault = Callable[[Script], Script]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fault",
    [
        without_end,
        partial(cut, after_bytes=200),
        partial(broken_json, after_bytes=200),
        partial(stalled, after_bytes=300),
    ],
)
async def test_after_every_fault_the_place_is_free_again(start: Start, kind: EngineKind, fault: Fault) -> None:
    replies = iter([Broken("one two three four", fault), "fine"])
    engine: OpenAIEngine = await start(ScriptedEngine(lambda _: next(replies), kind=kind))
    with pytest.raises((StreamError, EngineTimeoutError)):
        await ask(engine)
    assert (engine.admission.inside, engine.admission.waiting) == (0, 0)
    assert (await ask(engine)).text == "fine"
