import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repertory.engines.embedded.gguf_header import read_gguf_header
from repertory.errors import ModelStoreError

MakeGguf = Callable[..., bytes]


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def head(pairs: int, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, pairs)


def test_reads_what_the_memory_of_a_model_depends_on(tmp_path: Path, make_gguf: MakeGguf) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(make_gguf(padding=100))
    header = read_gguf_header(path)
    assert (header.architecture, header.name, header.context_tokens) == ("qwen2", "Tiny", 32768)
    # 24 layers x 2 KV heads x (64 + 64) x 2 bytes: the published shape of Qwen2.5-Coder-0.5B
    assert header.kv_bytes_per_token() == 12288
    assert header.kv_bytes_per_token(1.0) == 6144
    assert header.file_bytes == path.stat().st_size


def test_kv_heads_may_differ_by_layer(tmp_path: Path) -> None:
    def number(key: str, value: int) -> bytes:
        return text(key) + struct.pack("<II", 4, value)

    heads = text("x.attention.head_count_kv") + struct.pack("<IIQ", 9, 5, 4) + struct.pack("<4i", 2, 0, 4, 0)
    pairs = [
        text("general.architecture") + struct.pack("<I", 8) + text("x"),
        number("x.block_count", 4),
        number("x.attention.head_count", 8),
        number("x.embedding_length", 512),
        number("x.attention.key_length", 32),
        heads,
    ]
    path = tmp_path / "m.gguf"
    path.write_bytes(head(len(pairs)) + b"".join(pairs))
    # six KV heads in all, keys of 32 and values of 512 / 8 = 64
    assert read_gguf_header(path).kv_bytes_per_token() == 6 * (32 + 64) * 2


def test_a_file_without_a_shape_gives_no_number(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(head(0))
    header = read_gguf_header(path)
    assert (header.architecture, header.context_tokens, header.kv_bytes_per_token()) == ("", None, None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "more bytes than the file has"),
        (b"GGUF", "more bytes than the file has"),
        (b"ELF\x00" * 8, "does not start with GGUF"),
        (head(0, version=1), "version 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version 50331648"),
        (head(1 << 60), "metadata entries"),
        (head(1) + struct.pack("<Q", 1 << 62), "key is too long"),
        (head(1) + text("k") + struct.pack("<IQ", 8, 1 << 50), "more bytes than the file has"),
        (head(1) + text("k") + struct.pack("<IIQ", 9, 6, 1 << 61), "array claims"),
        (head(1) + text("k") + struct.pack("<IIQ", 9, 8, 10_000_000), "more bytes than the file has"),
        (head(1) + text("k") + struct.pack("<IIQ", 9, 9, 1) + b"\0" * 64, "arrays"),
        (head(1) + text("k") + struct.pack("<I", 77), "unknown type 77"),
        (head(1) + struct.pack("<Q", 2) + b"\xff\xfe" + struct.pack("<II", 4, 1), "not a usable GGUF"),
    ],
)
def test_a_hostile_file_is_refused_in_words(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelStoreError, match=words) as caught:
        read_gguf_header(path)
    assert caught.value.where == str(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelStoreError, match="No such file"):
        read_gguf_header(tmp_path / "nix.gguf")


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_gives_anything_but_a_header_or_the_error(
    tmp_path: Path, make_gguf: MakeGguf, data: st.DataObject
) -> None:
    content = bytearray(make_gguf(padding=0))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "m.gguf"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        header = read_gguf_header(path)
    except ModelStoreError:
        return
    bytes_per_token = header.kv_bytes_per_token()
    assert bytes_per_token is None or bytes_per_token >= 0
