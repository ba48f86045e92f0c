"""The ways in which the chaos engine breaks a good answer; none of them can be taken for one."""

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random

from repertory.testing import (
    Answer,
    Broken,
    Script,
    Send,
    broken_json,
    cut,
    failing,
    in_band_error,
    silent,
    without_end,
)
from repertory.testing.script import Cut, Hang, Pause, Step

__all__ = ("DRIP_S", "FAULTS", "break_answer")

DRIP_S = 2.5
"""Seconds between two tokens of a slow drip: less than what counts as a stall, and far too slow for any deadline."""


def _events(script: Script, share: float) -> list[Step]:
    """The first part of a stream, whole events only, and never its end."""
    sent = [step for step in script.steps if isinstance(step, Send)]
    return list(sent[: max(1, int((len(sent) - 3) * share))])


def _cut_at(share: float) -> Callable[[Script], Script]:
    return lambda script: replace(script, steps=[*_events(script, share), Cut()])


def _stall_at(share: float) -> Callable[[Script], Script]:
    return lambda script: replace(script, steps=[*_events(script, share), Hang()])


def _error_at(share: float) -> Callable[[Script], Script]:
    def fault(script: Script) -> Script:
        return in_band_error(replace(script, steps=_events(script, share)), "CUDA error", after_bytes=1 << 30)

    return fault


def _garbage_at(share: float) -> Callable[[Script], Script]:
    return lambda script: broken_json(replace(script, steps=_events(script, share)), after_bytes=1 << 30)


def _half_a_frame(script: Script) -> Script:
    body = b"".join(step.data for step in _events(script, 0.6) if isinstance(step, Send))
    return cut(replace(script, steps=[Send(body)]), len(body) - 7)


def _keep_alive(script: Script) -> Script:
    ping = b"\n" if "ndjson" in script.content_type else b": ping\n\n"
    steps: list[Step] = [*_events(script, 0.3)]
    for _ in range(200):
        steps += [Pause(1.0), Send(ping)]
    return replace(script, steps=steps)


def _drip(script: Script) -> Script:
    steps: list[Step] = []
    for step in _events(script, 1.0):
        steps += [Pause(DRIP_S), step]
    return replace(script, steps=[*steps, Hang()])  # a short answer could be whole in time, and would be no fault


SCRIPT_FAULTS: dict[str, Callable[[Script], Script]] = {
    "cut at the beginning": _cut_at(0.0),
    "cut in the middle": _cut_at(0.6),
    "cut in a frame": _half_a_frame,
    "end without an end": without_end,
    "stall at the beginning": _stall_at(0.0),
    "stall in the middle": _stall_at(0.6),
    "error in the stream": _error_at(0.5),
    "garbage in the stream": _garbage_at(0.5),
    "keep-alives only": _keep_alive,
    "slow drip": _drip,
    "http 500": lambda _: failing(500),
    "http 503": lambda _: failing(503, "overloaded"),
    "silence": lambda _: silent(),
}
TEXT_FAULTS: dict[str, str] = {
    "white space loop": '{"a":' + " \n" * 600,
    "repetition loop": "I hear you and I see you. " * 200,
    "nothing": "",
}
JSON_FAULTS: dict[str, str] = {
    "wrong json": json.dumps({"a": 1}),
    "no json": "I can not answer that.",
    "list without end": '{"evidence": [' + '"m1", ' * 600,
    "nested without end": '{"evidence": ' + "[" * 600,
}
FAULTS = (*SCRIPT_FAULTS, *TEXT_FAULTS, *JSON_FAULTS, "cut at the cap")


def break_answer(answer: str, random: Random, *, json_wanted: bool) -> tuple[str, object]:
    """A fault's name, and what the engine answers with it."""
    names = [name for name in FAULTS if json_wanted or name not in JSON_FAULTS]
    name = random.choice(names)
    if name in SCRIPT_FAULTS:
        return name, Broken(answer, SCRIPT_FAULTS[name])
    if name == "cut at the cap":
        reason = "length"
        return name, Answer(answer[: len(answer) // 2], finish_reason=reason)
    return name, Answer(TEXT_FAULTS.get(name) or JSON_FAULTS.get(name, ""))
