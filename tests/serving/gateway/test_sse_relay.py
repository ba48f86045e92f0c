import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.serving.gateway.sse_relay import EventRelay, UsageCount, read_usage
from repertory.testing import sse

WORDS = [
    {"choices": [{"index": 0, "delta": {"content": word}}]} for word in ("a", 'b "usage": {"x": 1}', "c\n\nd", "é")
]
COUNTS: dict[str, Any] = {
    "choices": [],
    "usage": {"prompt_tokens": 7, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5}},
}
STREAM = sse(*WORDS, COUNTS)


@given(st.lists(st.integers(1, len(STREAM) - 1), max_size=12), st.sampled_from([b"\n\n", b"\r\n\r\n"]))
def test_the_same_events_come_out_however_the_bytes_are_cut(cuts: list[int], end: bytes) -> None:
    stream = STREAM if end == b"\n\n" else STREAM.replace(b"\n\n", end)
    relay, out = EventRelay(), b""
    edges = [0, *sorted(set(cuts)), len(stream)]
    for start, stop in pairwise(edges):
        part = relay.feed(stream[start:stop])
        assert not part or part.endswith(end)
        out += part
    assert out == stream
    assert relay.ended
    assert relay.usage == UsageCount(prompt=7, output=4, cached=5)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_counts_nobody_asked_for_are_kept_back_and_nothing_else(size: int) -> None:
    relay = EventRelay(drop_usage=True)
    out = b"".join(relay.feed(STREAM[start : start + size]) for start in range(0, len(STREAM), size))
    assert out == sse(*WORDS)
    assert relay.usage.total == 11


def test_half_an_event_is_held_back() -> None:
    relay = EventRelay()
    assert relay.feed(b'data: {"a": 1}\n\ndata: {"b"') == b'data: {"a": 1}\n\n'
    assert not relay.ended
    assert relay.feed(b": 2}\n\n") == b'data: {"b": 2}\n\n'


def test_words_that_look_like_an_end_are_none() -> None:
    relay = EventRelay()
    relay.feed(sse({"choices": [{"delta": {"content": '"error" and "message_stop"'}}]}, done=False))
    assert not relay.ended


def test_an_event_without_end_is_refused() -> None:
    relay = EventRelay()
    with pytest.raises(ValueError, match="larger than"):
        relay.feed(b"data: " + b"x" * 9 * 1024 * 1024)


def test_a_model_can_not_forge_the_counts() -> None:
    forged = json.dumps({"content": '{"usage": {"prompt_tokens": 0, "completion_tokens": 0}}'}).encode()
    body = b'{"usage":{"prompt_tokens":10,"completion_tokens":20},"choices":[' + forged + b"]}"
    count = UsageCount()
    read_usage(body, count)
    assert (count.prompt, count.output) == (10, 20)


def test_the_counts_of_anthropics_api() -> None:
    count = UsageCount()
    start = b'{"usage":{"input_tokens":3,"cache_read_input_tokens":40,"output_tokens":1}}'
    read_usage(start, count)
    read_usage(b'{"usage": {"output_tokens": 9}}', count)
    assert count == UsageCount(prompt=43, output=9, cached=40)
