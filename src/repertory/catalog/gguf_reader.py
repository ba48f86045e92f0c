"""Walk over the head of a GGUF file, without trusting the file.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little-endian). Long strings and
arrays, such as the vocabulary, are walked over but not kept. Every length is checked against the file's size before it
is used.
"""

import io
import os
import struct
from dataclasses import dataclass
from typing import Any

__all__ = ("GgufError", "GgufHead", "GgufReader", "Scalar", "Value")

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


class GgufError(Exception):
    """What is wrong with the file, in words that go on after "this is not a usable GGUF model file:"."""


@dataclass(frozen=True)
class GgufHead:
    """What stands before the tensors.

    Attributes:
        metadata: Key to value; None for values too long to keep.
        items: Length of every array in the metadata.
        tensors: How many tensors are described after it; a claim.
    """

    metadata: dict[str, Value]
    items: dict[str, int]
    tensors: int


class GgufReader:
    """Reads an open file from its beginning, never past its end or past the limit of a header (256 MiB)."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.file_bytes = os.fstat(file.fileno()).st_size
        self._limit = min(self.file_bytes, _MAX_HEADER_BYTES)
        self._data = bytearray()
        self._position = 0

    def head(self) -> GgufHead:
        """Read magic, version and metadata.

        Raises:
            GgufError: It is not GGUF of a version that is known, or is cut off or damaged.
            OSError: The file can not be read.
        """
        if self._take(4) != _MAGIC:
            raise GgufError("it does not start with GGUF")
        version = self.uint32()
        if version not in (2, 3):
            message = f"GGUF version {version} is not known (2 and 3 are, little-endian)"
            raise GgufError(message)
        tensors, pairs = self.uint64(), self.uint64()
        if pairs > _MAX_PAIRS:
            message = f"it claims {pairs} metadata entries"
            raise GgufError(message)
        metadata: dict[str, Value] = {}
        items: dict[str, int] = {}
        for _ in range(pairs):
            key = self.name()
            kind = self.uint32()
            if kind == _ARRAY:
                metadata[key], items[key] = self._array()
            else:
                metadata[key] = self._value(kind)
        return GgufHead(metadata, items, tensors)

    def name(self) -> str:
        """A key or the name of a tensor."""
        length = self.uint64()
        if length > _MAX_KEY_BYTES:
            raise GgufError("a metadata key is too long")
        try:
            return self._take(length).decode()
        except UnicodeDecodeError as error:
            raise GgufError("a metadata key is not UTF-8") from error

    def uint32(self) -> int:
        """Four bytes."""
        return self._number(_UINT32)

    def uint64(self) -> int:
        """Eight bytes."""
        return self._number(_UINT64)

    def _value(self, kind: int) -> Value:
        if kind in _SCALARS:
            return self._number(_SCALARS[kind])
        if kind != _STRING:
            message = f"a metadata value has the unknown type {kind}"
            raise GgufError(message)
        length = self.uint64()
        if length > _KEPT_STRING_BYTES:
            self._advance(length)
            return None
        return self._take(length).decode("utf-8", "replace")

    def _array(self) -> tuple[Value, int]:
        kind, count = self.uint32(), self.uint64()
        if count > _MAX_ARRAY_ITEMS:
            message = f"a metadata array claims {count} items"
            raise GgufError(message)
        if kind in _SCALARS:
            if count <= _KEPT_ARRAY_ITEMS:
                return tuple(self._number(_SCALARS[kind]) for _ in range(count)), count
            self._advance(count * _SCALARS[kind].size)
        elif kind == _STRING:
            for _ in range(count):
                self._advance(self.uint64())
        else:
            raise GgufError("a metadata array holds arrays or an unknown type")
        return None, count

    def _take(self, count: int) -> bytes:
        start = self._advance(count)
        return bytes(self._data[start : self._position])

    def _number(self, layout: struct.Struct) -> Any:
        return layout.unpack_from(self._data, self._advance(layout.size))[0]

    def _advance(self, count: int) -> int:
        start = self._position
        end = start + count
        if end > self._limit:
            raise GgufError("its header claims more bytes than the file has")
        if end > len(self._data):
            self._data += self._file.read(max(_CHUNK_BYTES, end - len(self._data)))
            if end > len(self._data):
                raise GgufError("it ends inside its header")
        self._position = end
        return start
