"""Ways in which engines misbehave, as scripts. Those that take a script break a good one."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from repertory.testing.dialects import sse
from repertory.testing.script import Cut, Hang, Pause, Script, Send, Step

__all__ = (
    "Broken",
    "broken_json",
    "chaotic",
    "cut",
    "failing",
    "in_band_error",
    "looping",
    "silent",
    "stalled",
    "without_end",
)


@dataclass(frozen=True)
class Broken:
    """A good answer, written in the engine's dialect and then broken.

    Attributes:
        answer: The good answer: text, or a JSON value.
        fault: Breaks the script; `functools.partial(cut, after_bytes=100)`, `without_end`, ...
    """

    answer: object
    fault: Callable[[Script], Script]


def chaotic(answer: object, random: Random, *, share: float = 0.3) -> object:
    """The answer, or in `share` of all cases the answer broken in one of the ways that engines are known for."""
    if random.random() >= share:
        return answer
    after = random.randrange(0, 2000)
    faults: list[Callable[[Script], Script]] = [
        lambda script: cut(script, after),
        lambda script: stalled(script, after),
        without_end,
        lambda script: in_band_error(script, "CUDA error: an illegal memory access", after_bytes=after),
        lambda script: broken_json(script, after_bytes=after),
        lambda _: failing(500),
        lambda _: failing(503, "overloaded"),
        lambda _: silent(),
        lambda _: looping("\n" * 8, opening='{"a":'),
    ]
    return Broken(answer, random.choice(faults))


def failing(status: int, message: str = "internal error", *, kind: str = "server_error") -> Script:
    """An answer with an HTTP error status and a text in OpenAI's shape."""
    body = json.dumps({"error": {"message": message, "type": kind, "code": status}}, ensure_ascii=False)
    return Script([Send(body.encode())], status=status, content_type="application/json")


def cut(script: Script, after_bytes: int) -> Script:
    """The connection breaks after so many bytes."""
    return replace(script, steps=[*_first_bytes(script, after_bytes), Cut()])


def stalled(script: Script, after_bytes: int) -> Script:
    """Nothing more comes after so many bytes, and the connection stays open."""
    return replace(script, steps=[*_first_bytes(script, after_bytes), Hang()])


def without_end(script: Script) -> Script:
    """The stream closes properly before it said that the answer is whole: no finish reason, no `[DONE]`."""
    kept = [step for step in script.steps if not isinstance(step, Send) or not _ends(step.data)]
    return replace(script, steps=kept)


def silent() -> Script:
    """The engine takes the request and sends nothing at all."""
    return Script([Hang()])


def in_band_error(script: Script, message: str, *, after_bytes: int = 0, event: str | None = None) -> Script:
    """An error inside the stream, after HTTP 200."""
    error = {"error": {"message": message, "type": "server_error", "code": 500}}
    name = f"event: {event}\n".encode() if event else b""
    frame = name + sse(error, done=False)
    if "ndjson" in script.content_type:
        frame = json.dumps({"error": message}).encode() + b"\n"
    return replace(script, steps=[*_first_events(script, after_bytes), Send(frame)])


def broken_json(script: Script, *, after_bytes: int = 0) -> Script:
    """A frame that is not JSON."""
    broken = b'{"choices": [{"delta": '
    frame = broken + b"\n" if "ndjson" in script.content_type else b"data: " + broken + b"\n\n"
    return replace(script, steps=[*_first_events(script, after_bytes), Send(frame)])


def looping(text: str, *, times: int = 1000, pause_s: float = 0.0, opening: str = "") -> Script:
    """A stream that repeats a text (white space, for the commonest loop) and ends with `length`."""
    pieces = [opening, *([text] * times)] if opening else [text] * times
    steps: list[Step] = []
    for piece in pieces:
        if pause_s:
            steps.append(Pause(pause_s))
        steps.append(Send(sse({"choices": [{"index": 0, "delta": {"content": piece}}]}, done=False)))
    steps.append(Send(sse({"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "length"}]})))
    return Script(steps)


def _first_bytes(script: Script, count: int) -> list[Step]:
    steps: list[Step] = []
    for step in script.steps:
        if not isinstance(step, Send):
            steps.append(step)
        elif count > 0:
            steps.append(Send(step.data[:count]))
            count -= len(step.data)
    return steps


def _first_events(script: Script, count: int) -> list[Step]:
    """Like `_first_bytes`, but no event is cut in two."""
    steps: list[Step] = []
    for step in script.steps:
        if isinstance(step, Send):
            count -= len(step.data)
            if count < 0:
                break
        steps.append(step)
    return steps


def _ends(data: bytes) -> bool:
    finish = b'"finish_reason": "' in data or b'"done_reason": "' in data
    return finish or b"[DONE]" in data
