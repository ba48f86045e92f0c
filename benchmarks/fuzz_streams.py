"""Claim: whatever bytes a server sends, in whatever pieces, reading them ends in an answer or a typed error.

Run: `python -m benchmarks.fuzz_streams --seconds 600` (the default is 20). The seed is printed, and can be given.
"""

import argparse
import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from random import Random

from benchmarks.machine import write_result
from repertory.engines.answer import AnswerReader
from repertory.engines.failures import failure_code
from repertory.engines.json_lines import JsonLineParser
from repertory.engines.openai_reader import ChatReader
from repertory.engines.protocol import ChatMessage, GenerateRequest, StreamPart, TextDelta
from repertory.engines.reasoning import ThinkSplitter
from repertory.engines.sse import SseEvent, SseParser
from repertory.errors import RepertoryError
from repertory.runtime.structured import AnswerSyntaxError, JsonWatch, TextWatch, parse_answer

FRAMES = [
    '{"choices":[{"index":0,"delta":{"content":"a"}}]}',
    '{"choices":[{"delta":{"reasoning":"<think>"}}]}',
    '{"choices":[{"delta":{},"finish_reason":"stop"}]}',
    '{"choices":null}',
    '{"error":{"message":"x"}}',
    '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
    '{"object":"error","message":"x"}',
    "[DONE]",
    '{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}}]}}]}',
    '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]}}]}',
    '{"choices":[{"delta":{"content":"{\\"a\\": \\"b\\"}"}}]}',
    '{"choices":[{"delta":{"content":"<think>b</think>\\n"}}]}',
    '{"choices":[{"delta":{"content":"\\n<tool_call>{"}}]}',
    '{"choices":[{"delta":{"content":[{"type":"text","text":"c"}]}}]}',
    '{"choices":[{"delta":{"reasoning_content":"{\\"a\\": \\"b\\"}"}}]}',
    '{"choices":[{"delta":{},"finish_reason":"length"}]}',
]
WORDS = [
    *FRAMES,
    "data:",
    "data: ",
    "event: error",
    ": ping",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\ufeff",
    "\u2028",
    "é漢🙂",
    "{",
    "}",
    "[",
    "]",
    '"choices"',
    "null",
    "1e999",
    "<think>",
    "</think>",
    "\0",
    "\x85",
    "<tool_call>",
    "[TOOL_CALLS]",
    ",",
    ":",
    '"',
]
DEEP = ["[" * 300, '{"a":' * 300]
PROMPT = [ChatMessage("user", "x")]
SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
REQUESTS = (
    GenerateRequest(PROMPT, 64),
    GenerateRequest(PROMPT, 64, json_schema=SCHEMA),
    GenerateRequest(PROMPT, 64, tools=[{"name": "f"}]),
)


def make_stream(random: Random) -> bytes:
    """Half-way sensible bytes: pieces of real streams, and bytes at random."""
    pieces: list[bytes] = []
    for _ in range(random.randrange(1, 40)):
        chance = random.random()
        if chance < 0.45:
            pieces.append(f"data: {random.choice(FRAMES)}\n\n".encode())
        elif chance < 0.94:
            pieces.append(random.choice(WORDS).encode())
        elif chance < 0.95:
            pieces.append(random.choice(DEEP).encode())
        else:
            pieces.append(random.randbytes(random.randrange(1, 5)))
    return b"".join(pieces)


def cut(stream: bytes, random: Random) -> list[bytes]:
    cuts = sorted(random.randrange(len(stream) + 1) for _ in range(random.randrange(0, 12)))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


def events_of(pieces: list[bytes]) -> list[SseEvent]:
    parser = SseParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    rest = parser.finish()
    return [*events, rest] if rest is not None else events


def lines_of(pieces: list[bytes]) -> list[str]:
    parser = JsonLineParser()
    lines = [line for piece in pieces for line in parser.feed(piece)]
    rest = parser.finish()
    return [*lines, rest] if rest is not None else lines


def split_of(pieces: list[str]) -> tuple[str, str]:
    splitter = ThinkSplitter()
    parts = [part for piece in pieces for part in splitter.feed(piece)] + splitter.finish()
    return "".join(p.text for p in parts if not p.thinking), "".join(p.text for p in parts if p.thinking)


def read(events: list[SseEvent], request: GenerateRequest) -> str:
    """How the answer in these events ends; raises only what is not typed."""
    with_schema = request.json_schema is not None
    watch, parts = JsonWatch() if with_schema else TextWatch(), list[StreamPart]()
    try:
        reader = ChatReader(AnswerReader(request, PROMPT, where="fuzz"), where="fuzz", with_schema=with_schema)
        for event in events:
            parts += reader.feed(event)
        held, generation = reader.answer.finish()
        parts += held
    except RepertoryError as error:
        return failure_code(error)
    streamed = "".join(part.text for part in parts if isinstance(part, TextDelta))
    watch.feed(streamed)
    with contextlib.suppress(AnswerSyntaxError):
        parse_answer(generation.text)
    if with_schema and generation.notes == ():
        assert streamed.strip() == generation.text.strip(), (streamed, generation)
    return "done"


def one_round(random: Random, ends: Counter[str]) -> None:
    stream = make_stream(random)
    pieces = cut(stream, random)
    events = events_of([stream])
    assert events_of(pieces) == events, (stream, pieces)
    assert events_of([bytes([byte]) for byte in stream]) == events, stream
    assert lines_of(pieces) == lines_of([stream]), (stream, pieces)
    text = stream.decode("utf-8", "replace")
    middle = random.randrange(len(text) + 1)
    assert split_of([text[:middle], text[middle:]]) == split_of([text]), text
    request = random.choice(REQUESTS)
    ends[read(events, request)] += 1
    content = json.dumps({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]})
    ends[read([SseEvent(content)], request)] += 1


def run(seconds: float, seed: int, clock: Callable[[], float] = time.monotonic) -> Counter[str]:
    """Fuzz for so long; an assertion or an untyped exception is a finding."""
    random, ends, end = Random(seed), Counter[str](), clock() + seconds
    while clock() < end:
        for _ in range(200):
            one_round(random, ends)
    return ends


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=20.0)
    arguments.add_argument("--seed", type=int, default=time.time_ns())
    options = arguments.parse_args()
    print(f"seed {options.seed}", flush=True)
    ends = run(options.seconds, options.seed)
    print(f"{sum(ends.values()):,} streams, all read: {dict(ends.most_common())}")
    write_result("fuzz_streams", {"seconds": options.seconds, "seed": options.seed, "ends": dict(ends)})
    if "internal" in ends:
        sys.exit(1)


if __name__ == "__main__":
    main()
