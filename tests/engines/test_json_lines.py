from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.engines.failures import StreamFrameError
from repertory.engines.json_lines import JsonLineParser


def parse(stream: bytes, cuts: list[int]) -> list[str]:
    parser = JsonLineParser()
    lines: list[str] = []
    edges = [0, *sorted(cuts), len(stream)]
    for start, end in pairwise(edges):
        lines += parser.feed(stream[start:end])
    rest = parser.finish()
    return [*lines, rest] if rest is not None else lines


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        (b'{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']),
        (b'{"a":1}\r\n\r\n{"b":2}', ['{"a":1}', '{"b":2}']),
        (b'\xef\xbb\xbf{"a":1}\n', ['{"a":1}']),
        ('{"a":"\u2028é漢🙂"}\n'.encode(), ['{"a":"\u2028é漢🙂"}']),
        (b"\n \n", []),
    ],
)
def test_lines(stream: bytes, lines: list[str]) -> None:
    assert parse(stream, []) == lines
    assert parse(stream, list(range(1, len(stream)))) == lines


@given(st.data())
def test_g7_same_lines_for_every_chunking(data: st.DataObject) -> None:
    pieces = st.sampled_from([b'{"a":1}', b"\n", b"\r\n", "é漢🙂".encode(), b"\xef\xbb\xbf"]) | st.binary(max_size=3)
    stream = b"".join(data.draw(st.lists(pieces, max_size=16)))
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    assert parse(stream, cuts) == parse(stream, [])


def test_a_line_without_end_is_refused() -> None:
    parser = JsonLineParser(max_line_bytes=50)
    with pytest.raises(StreamFrameError, match="larger than 50 bytes"):
        list(map(parser.feed, [b"0123456789"] * 10))
