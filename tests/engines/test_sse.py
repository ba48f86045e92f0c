"""The SSE parser: the same events for every way of cutting the bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.engines.failures import StreamFrameError
from repertory.engines.sse import SseEvent, SseParser


def parse(stream: bytes, cuts: list[int] | None = None) -> list[SseEvent]:
    parser = SseParser()
    events: list[SseEvent] = []
    edges = [0, *sorted(cuts or []), len(stream)]
    for start, end in pairwise(edges):
        events += parser.feed(stream[start:end])
    rest = parser.finish()
    return [*events, rest] if rest is not None else events


CASES: dict[str, tuple[bytes, list[SseEvent]]] = {
    "plain": (b"data: a\n\n", [SseEvent("a")]),
    "no space after the colon": (b"data:a\n\n", [SseEvent("a")]),
    "only one space is taken": (b"data:  a\n\n", [SseEvent(" a")]),
    "CR": (b"data: a\r\rdata: b\r\r", [SseEvent("a"), SseEvent("b")]),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", [SseEvent("a"), SseEvent("b")]),
    "mixed ends": (b"data: a\r\n\ndata: b\n\r\n", [SseEvent("a"), SseEvent("b")]),
    "byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [SseEvent("a")]),
    "a mark later is text": (b"data: \xef\xbb\xbfa\n\n", [SseEvent("\ufeffa")]),
    "line separator inside data": ("data: a\u2028b\u2029c\x85d\n\n".encode(), [SseEvent("a\u2028b\u2029c\x85d")]),
    "vertical tab and form feed inside data": (b"data: a\x0bb\x0cc\n\n", [SseEvent("a\x0bb\x0cc")]),
    "comments": (b": ping\n\n:\n\ndata: a\n: x\n\n", [SseEvent("a")]),
    "several data lines": (b"data: a\ndata\ndata: b\n\n", [SseEvent("a\n\nb")]),
    "event name": (b"event: error\ndata: x\n\ndata: y\n\n", [SseEvent("x", "error"), SseEvent("y")]),
    "a name without data is no event": (b"event: ping\n\ndata: y\n\n", [SseEvent("y")]),
    "id, retry and unknown fields": (b"id: 1\nretry: 5\nfoo: bar\ndata: a\n\n", [SseEvent("a")]),
    "empty data": (b"data\n\n", [SseEvent("")]),
    "error field of old llama.cpp": (b'error: {"code":500}\n\n', [SseEvent('{"code":500}', "error")]),
    "not UTF-8": (b"data: \xff\xfea\n\n", [SseEvent("\ufffd\ufffda")]),
    "NUL": (b"data: a\x00b\n\n", [SseEvent("a\0b")]),
    "open at the end": (b"data: a\n\ndata: [DONE]\n", [SseEvent("a"), SseEvent("[DONE]", closed=False)]),
    "cut in a line": (b'data: a\n\ndata: {"b', [SseEvent("a"), SseEvent('{"b', closed=False)]),
    "nothing": (b"", []),
    "only ends": (b"\r\n\n\r", []),
}


@pytest.mark.parametrize(("stream", "events"), CASES.values(), ids=CASES.keys())
def test_events(stream: bytes, events: list[SseEvent]) -> None:
    assert parse(stream) == events


@pytest.mark.parametrize(("stream", "events"), CASES.values(), ids=CASES.keys())
def test_g7_same_events_byte_by_byte(stream: bytes, events: list[SseEvent]) -> None:
    assert parse(stream, list(range(1, len(stream)))) == events


@pytest.mark.parametrize(("stream", "events"), CASES.values(), ids=CASES.keys())
def test_g7_same_events_for_every_two_pieces(stream: bytes, events: list[SseEvent]) -> None:
    for cut in range(len(stream) + 1):
        assert parse(stream, [cut]) == events


PIECES = st.sampled_from(
    [
        b"data:",
        b"data: ",
        b"event: error",
        b": c",
        b"\n",
        b"\r",
        b"\r\n",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        "é漢🙂".encode(),
    ]
)


@given(st.data())
def test_g7_same_events_for_every_chunking(data: st.DataObject) -> None:
    stream = b"".join(data.draw(st.lists(PIECES | st.binary(max_size=4), max_size=24)))
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=12))
    assert parse(stream, cuts) == parse(stream)


@given(st.lists(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"])), max_size=6))
def test_data_comes_back_as_it_was_sent(texts: list[str]) -> None:
    stream = "".join(f"data: {text}\n\n" for text in texts).encode()
    assert [event.data for event in parse(stream)] == texts


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 200, b"data: 12345678901234567890\n" * 20, b": " + b"y" * 200])
def test_an_event_without_end_is_refused(stream: bytes) -> None:
    parser = SseParser(max_event_bytes=100)
    pieces = [stream[start : start + 7] for start in range(0, len(stream), 7)]
    with pytest.raises(StreamFrameError, match="larger than 100 bytes"):
        list(map(parser.feed, pieces))


def test_the_bound_is_per_event() -> None:
    parser = SseParser(max_event_bytes=100)
    assert sum(len(parser.feed(b"data: 0123456789\n\n")) for _ in range(100)) == 100
