"""Read the metadata at the head of a GGUF file, without trusting the file.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little-endian). Long arrays,
such as the vocabulary, are walked over but not kept. Every length is checked against the file's size before it is used.
"""

import io
import os
import struct
from dataclasses import dataclass
from pathlib import Path

from repertory.errors import ModelStoreError

__all__ = ("GgufHeader", "read_gguf_header")

_MAGIC = b"GGUF"
_UINT32, _UINT64 = struct.Struct("<I"), struct.Struct("<Q")
_LAYOUTS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_SCALARS = {kind: struct.Struct(layout) for kind, layout in _LAYOUTS.items()}
_STRING, _ARRAY = 8, 9
_CHUNK_BYTES = 4 * 1024 * 1024
_MAX_PAIRS = 65_536
_MAX_KEY_BYTES = 65_535
_MAX_HEADER_BYTES = 256 * 1024 * 1024
_MAX_ARRAY_ITEMS = 16_000_000
_KEPT_STRING_BYTES = 65_536
_KEPT_ARRAY_ITEMS = 4_096

Scalar = int | float | bool | str
Value = Scalar | tuple[Scalar, ...] | None


@dataclass(frozen=True)
class GgufHeader:
    """Metadata of one model file.

    Attributes:
        metadata: Key to value; None for values too long to keep.
        file_bytes: Size of the file.
    """

    metadata: dict[str, Value]
    file_bytes: int

    @property
    def architecture(self) -> str:
        """The name of the model's architecture, such as `qwen2`; empty when the file does not say."""
        value = self.metadata.get("general.architecture")
        return value if isinstance(value, str) else ""

    @property
    def name(self) -> str | None:
        """The name that the file gives its model."""
        value = self.metadata.get("general.name")
        return value if isinstance(value, str) else None

    @property
    def context_tokens(self) -> int | None:
        """The longest context the model was trained for, in tokens."""
        return self._int("context_length")

    def kv_bytes_per_token(self, bytes_per_value: float = 2.0) -> int | None:
        """Bytes of KV cache for one token: the sum over layers of KV heads x (key + value length) x bytes per value.

        An upper bound for models with sliding windows or layers without attention. None when the file does not say.
        """
        layers, heads = self._int("block_count"), self._int("attention.head_count")
        width = self._int("embedding_length")
        kv_heads = self.metadata.get(f"{self.architecture}.attention.head_count_kv", heads)
        head_width = width // heads if heads and width else None
        key = self._int("attention.key_length") or head_width
        value = self._int("attention.value_length") or head_width
        if not layers or key is None or value is None:
            return None
        if isinstance(kv_heads, tuple):
            all_heads = sum(int(count) for count in kv_heads if isinstance(count, int) and count > 0)
        elif isinstance(kv_heads, int) and kv_heads > 0:
            all_heads = layers * kv_heads
        else:
            return None
        return int(all_heads * (key + value) * bytes_per_value)

    def _int(self, key: str) -> int | None:
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


class _Reader:
    """Walks over the head of a file, never past its end or past the header's limit."""

    def __init__(self, file: io.BufferedReader, size: int) -> None:
        self._file = file
        self._limit = min(size, _MAX_HEADER_BYTES)
        self._data = bytearray()
        self._position = 0

    def take(self, count: int) -> bytes:
        start = self._advance(count)
        return bytes(self._data[start : self._position])

    def skip(self, count: int) -> None:
        self._advance(count)

    def number(self, layout: struct.Struct) -> Scalar:
        return layout.unpack_from(self._data, self._advance(layout.size))[0]

    def unsigned(self, layout: struct.Struct = _UINT64) -> int:
        return layout.unpack_from(self._data, self._advance(layout.size))[0]

    def _advance(self, count: int) -> int:
        start = self._position
        end = start + count
        if end > self._limit:
            raise _BadHeaderError("its header claims more bytes than the file has")
        if end > len(self._data):
            self._data += self._file.read(max(_CHUNK_BYTES, end - len(self._data)))
            if end > len(self._data):
                raise _BadHeaderError("it ends inside its header")
        self._position = end
        return start


class _BadHeaderError(Exception):
    pass


def read_gguf_header(path: Path) -> GgufHeader:
    """Read a model file's metadata.

    Raises:
        ModelStoreError: The file can not be read or is not a GGUF file that we know.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return GgufHeader(metadata=_read_pairs(_Reader(file, size)), file_bytes=size)
    except OSError as error:
        message = f"the model file can not be read: {error.strerror or error}"
        raise ModelStoreError(message, where=str(path)) from error
    except (_BadHeaderError, UnicodeDecodeError) as error:
        message = f"this is not a usable GGUF model file: {error}"
        raise ModelStoreError(message, where=str(path), hint="fetch it again, or name another file") from error


def _read_pairs(reader: _Reader) -> dict[str, Value]:
    if reader.take(4) != _MAGIC:
        raise _BadHeaderError("it does not start with GGUF")
    version = reader.unsigned(_UINT32)
    if version not in (2, 3):
        message = f"GGUF version {version} is not known (2 and 3 are, little-endian)"
        raise _BadHeaderError(message)
    reader.unsigned()  # number of tensors
    pairs = reader.unsigned()
    if pairs > _MAX_PAIRS:
        message = f"it claims {pairs} metadata entries"
        raise _BadHeaderError(message)
    metadata: dict[str, Value] = {}
    for _ in range(pairs):
        length = reader.unsigned()
        if length > _MAX_KEY_BYTES:
            raise _BadHeaderError("a metadata key is too long")
        key = reader.take(length).decode()
        metadata[key] = _read_value(reader, reader.unsigned(_UINT32))
    return metadata


def _read_value(reader: _Reader, kind: int) -> Value:
    if kind in _SCALARS:
        return reader.number(_SCALARS[kind])
    if kind == _STRING:
        return _read_string(reader)
    if kind == _ARRAY:
        return _read_array(reader)
    message = f"a metadata value has the unknown type {kind}"
    raise _BadHeaderError(message)


def _read_string(reader: _Reader) -> str | None:
    length = reader.unsigned()
    if length > _KEPT_STRING_BYTES:
        reader.skip(length)
        return None
    return reader.take(length).decode("utf-8", "replace")


def _read_array(reader: _Reader) -> Value:
    kind, count = reader.unsigned(_UINT32), reader.unsigned()
    if count > _MAX_ARRAY_ITEMS:
        message = f"a metadata array claims {count} items"
        raise _BadHeaderError(message)
    if kind in _SCALARS:
        if count > _KEPT_ARRAY_ITEMS:
            reader.skip(count * _SCALARS[kind].size)
            return None
        return tuple(reader.number(_SCALARS[kind]) for _ in range(count))
    if kind == _STRING:
        for _ in range(count):
            reader.skip(reader.unsigned())
        return None
    raise _BadHeaderError("a metadata array holds arrays or an unknown type")
